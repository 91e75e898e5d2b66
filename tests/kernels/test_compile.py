import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numba.core import config

from bayesift.kernels import compile as compiling


def test_kernels_are_cached_by_name_and_leave_the_setting_of_others_alone(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(compiling, "cache_folder", lambda: str(tmp_path))
    before = config.CACHE_DIR
    double = compiling.kernel(lambda x: 2 * x)
    assert double(21) == 42
    assert before == config.CACHE_DIR
    names = [path.name for path in tmp_path.iterdir()]  # nothing of where this file is
    assert names
    assert all(name.startswith("test_compile.") for name in names)


def test_kernels_compile_without_a_cache(monkeypatch):
    monkeypatch.setattr(compiling, "cache_folder", lambda: None)
    assert compiling.kernel(lambda x: 2 * x)(21) == 42


def test_a_kernel_calls_kernels_and_intrinsics_that_were_not_used_before(monkeypatch):
    monkeypatch.setattr(compiling, "cache_folder", lambda: None)

    @compiling.intrinsic
    def opposite(typing_context, value):
        from numba import types

        return types.int64(types.int64), lambda context, builder, signature, given: builder.neg(
            given[0]
        )

    @compiling.inlined
    def twice(x):
        return 2 * opposite(x)

    @compiling.kernel
    def of_all(values):
        total = 0
        for value in values:
            total += twice(value)
        return total

    assert of_all(np.arange(4)) == -12


def test_kernels_import_no_compiler_and_pickle_by_name():
    program = """
import pickle, sys
from bayesift.kernels import counts, words
assert pickle.loads(pickle.dumps(words.find_words)) is words.find_words
print("numba" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_cache_folder_is_named_after_the_sources(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIFT_CACHE", str(tmp_path))
    folder = compiling._cache_folder()
    assert folder == str(tmp_path / "kernels" / compiling._sources_digest())
    monkeypatch.setenv("BAYESIFT_CACHE", "/dev/null")
    assert compiling._cache_folder() is None


def _aged(folder, days):
    folder.mkdir(parents=True)
    (folder / "kernel.nbi").write_bytes(b"compiled")
    then = time.time() - days * 24 * 3600
    os.utime(folder, (then, then))
    return folder


def test_cache_folders_of_other_sources_are_removed_after_thirty_days_without_use(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("BAYESIFT_CACHE", str(tmp_path))
    kernels = tmp_path / "kernels"
    old, recent = _aged(kernels / ("0" * 16), days=31), _aged(kernels / ("1" * 16), days=29)
    foreign, left_over = (
        _aged(kernels / "notes", days=99),
        _aged(kernels / f"{'2' * 16}.7.removed", days=0),
    )
    current = _aged(kernels / compiling._sources_digest(), days=99)
    assert compiling._cache_folder() == str(current)
    assert not old.exists()
    assert not left_over.exists()
    assert all(kept.exists() for kept in (recent, foreign, current / "kernel.nbi"))
    assert time.time() - current.stat().st_mtime < 3600


def test_removal_of_a_cache_folder_survives_another_process_that_removes_it_first(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("BAYESIFT_CACHE", str(tmp_path))
    old = _aged(tmp_path / "kernels" / ("0" * 16), days=31)
    rename = Path.rename

    def rename_late(folder, target):
        rename(folder, folder.with_name("elsewhere"))
        return rename(folder, target)

    monkeypatch.setattr(Path, "rename", rename_late)
    assert compiling._cache_folder() is not None
    assert not old.exists()


def test_the_digest_sees_every_source_of_the_package(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "compile.py"))
    before = compiling._sources_digest()
    (tmp_path / "inner" / "more.py").write_text("x = 1")
    assert compiling._sources_digest() != before
