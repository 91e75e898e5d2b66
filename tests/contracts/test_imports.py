import ast
import graphlib
import json
import os
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

import bayesift


def run_python(program, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_nothing_heavy():
    loaded = json.loads(
        run_python("import sys, json, bayesift; print(json.dumps(list(sys.modules)))")
    )
    assert not {"numba", "numpy", "scipy", "sklearn", "pyarrow", "matplotlib"} & set(loaded)


def test_charts_need_no_other_package():
    program = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
from bayesift.text import zipf_figure
print(zipf_figure(["a"], np.array([1])).to_svg())
"""
    assert run_python(program).startswith("<svg ")


@pytest.mark.parametrize("module", ["bayesift.text", "bayesift.corpora", "bayesift.cli"])
def test_the_service_stays_optional(module):
    run_python(
        f"import sys; sys.modules['fastapi'] = sys.modules['sqlalchemy'] = None; import {module}"
    )


def test_every_exported_name_is_there_and_documented():
    for name in bayesift.__all__:
        assert getattr(bayesift, name).__doc__, name
    assert set(bayesift.__all__) == set(bayesift._HOME)
    assert set(bayesift.__all__) <= set(dir(bayesift))


def test_the_stub_names_what_is_looked_up_on_first_use():
    stub = ast.parse(Path(bayesift.__file__).with_suffix(".pyi").read_text("utf-8"))
    homes = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            homes |= {alias.name: node.module for alias in node.names}
        if isinstance(node, ast.Assign):
            listed = ast.literal_eval(node.value)
    assert homes == bayesift._HOME
    assert listed == bayesift.__all__


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        bayesift.nonsense  # noqa: B018


def test_missing_extra_names_the_install_command():
    program = """
import sys
sys.modules["pyspark"] = None
from bayesift import MissingExtraError
from bayesift.errors import require
try:
    require("pyspark.sql", extra="spark")
except MissingExtraError as error:
    print(error)
"""
    assert 'pip install "bayesift[spark]"' in run_python(program)


def test_kernels_run_where_nothing_can_be_written():
    program = """
import numpy as np
from bayesift import TermVectorizer
from bayesift.kernels.counts import _kept_per_row
kept = np.zeros(2, dtype=np.int64)
_kept_per_row(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([-1, 0]), kept)
print(kept)
"""
    assert run_python(program, BAYESIFT_CACHE="/dev/null/nowhere").strip() == "[1 1]"


def test_modules_import_one_another_in_one_direction():
    graph = grimp.build_graph("bayesift", cache_dir=None, exclude_type_checking_imports=True)
    graphlib.TopologicalSorter(
        {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}
    ).prepare()
