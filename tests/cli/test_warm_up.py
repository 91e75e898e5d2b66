import subprocess
import sys
from pathlib import Path

import pytest

from bayesift import DataError
from bayesift.cli import warm_up as command
from bayesift.kernels import compile as compiling


def test_kernels_are_prepared_and_counted(monkeypatch, capsys):
    monkeypatch.setattr(command, "_N_TEXTS", 30)
    folder = command.warm_up(models="naive-bayes")
    assert folder == Path(compiling.cache_folder())
    assert capsys.readouterr().out.startswith(f"{folder}: ")


def test_unknown_learners_and_places_are_refused(monkeypatch):
    with pytest.raises(DataError, match="no learner 'nonsense'"):
        command.warm_up(models="naive-bayes, nonsense")
    monkeypatch.setattr(compiling, "cache_folder", lambda: None)
    with pytest.raises(DataError, match="set BAYESIFT_CACHE to another folder"):
        command.warm_up()


@pytest.mark.parametrize(
    "arguments", ["explain missing.zip x", "classify missing.zip", "fit missing.csv", "--help"]
)
def test_commands_that_need_nothing_heavy_load_nothing_heavy(arguments):
    program = f"""
import sys
from bayesift.cli import main
try:
    main({arguments.split()!r})
except SystemExit as end:
    loaded = {{"numpy", "sklearn", "numba", "pyarrow"}} & set(sys.modules)
    print(sorted(loaded), end.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == f"[] {0 if arguments == '--help' else 1}"


def test_a_small_fit_compiles_nothing(tmp_path):
    corpus = tmp_path / "small.csv"
    corpus.write_text("text,label\n" + "corn and wheat,grain\noil tankers,crude\n" * 20)
    program = f"""
import sys
from bayesift.cli import main
try:
    main(["fit", {str(corpus)!r}, "-o", {str(tmp_path / "model.zip")!r}, "-q"])
except SystemExit as end:
    print("numba" in sys.modules, end.code or 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False 0"
