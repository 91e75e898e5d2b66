"""Writes that fail or wait, by a small library that is preloaded into the programs under test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SOURCE = Path(__file__).with_name("shim.c")


def built(folder):
    """Compile the library into a folder; skip the test where that cannot be done."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler for the library that lets writes fail")
    library = Path(folder) / "faults.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the library that lets writes fail was not compiled: {done.stderr[:200]}")
    return library


def run_preloaded(library, *arguments, **environment):
    """Run a module of the tests with the library; return what it printed."""
    variables = {**os.environ, "LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1"}
    root = Path(__file__).parents[2]
    variables["PYTHONPATH"] = os.pathsep.join([str(root), *sys.path])
    command = [sys.executable, "-m", *map(str, arguments)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env=variables | environment,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    return done.stdout
