from numba.core import config

from bayesift.kernels import compile as compiling


def test_cached_kernels_leave_the_setting_of_others_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_CACHE", str(tmp_path))
    before = config.CACHE_DIR
    double = compiling.kernel(lambda x: 2 * x)
    assert double(21) == 42
    assert before == config.CACHE_DIR
    assert list(tmp_path.rglob("*.nbi"))


def test_kernels_compile_without_a_cache(monkeypatch):
    monkeypatch.setattr(compiling, "_CACHE", None)
    assert compiling.kernel(lambda x: 2 * x)(21) == 42


def test_cache_folder_is_named_after_the_sources(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESIFT_CACHE", str(tmp_path))
    folder = compiling._cache_folder()
    assert folder == str(tmp_path / "kernels" / compiling._sources_digest())
    monkeypatch.setenv("BAYESIFT_CACHE", "/dev/null")
    assert compiling._cache_folder() is None
