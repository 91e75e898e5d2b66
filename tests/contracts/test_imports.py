import json
import os
import subprocess
import sys

import pytest

import bayesift


def run_python(program, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_nothing_heavy():
    loaded = json.loads(run_python("import sys, json, bayesift; print(json.dumps(list(sys.modules)))"))
    assert not {"numba", "numpy", "scipy", "sklearn", "pyarrow", "matplotlib"} & set(loaded)


@pytest.mark.parametrize("module", ["bayesift.text", "bayesift.datasets", "bayesift.cli"])
def test_plots_stay_optional(module):
    program = f"import sys; sys.modules['matplotlib'] = None; import {module}"
    run_python(program)


def test_every_exported_name_is_there_and_documented():
    for name in bayesift.__all__:
        assert getattr(bayesift, name).__doc__, name
    assert set(bayesift.__all__) == set(bayesift._HOME)
    assert set(bayesift.__all__) <= set(dir(bayesift))


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bayesift.nonsense  # noqa: B018


def test_missing_extra_names_the_install_command():
    program = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
from bayesift import MissingExtraError
from bayesift.text import zipf_figure
try:
    zipf_figure(["a"], np.array([1]))
except MissingExtraError as error:
    print(error)
"""
    assert 'pip install "bayesift[plots]"' in run_python(program)


def test_kernels_run_where_nothing_can_be_written():
    program = "from bayesift import TermVectorizer; print(TermVectorizer().fit_transform(['corn oats']).sum())"
    assert run_python(program, BAYESIFT_CACHE="/dev/null/nowhere").strip() == "2.0"
