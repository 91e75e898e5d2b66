import importlib

import pytest

from bayesift.reproduce import versions
from bayesift.reproduce.experiment import Task
from bayesift.reproduce.store import Store, content_key
from bayesift.reproduce.versions import code_version, reached_modules
from tests.reproduce import work


def test_the_key_tells_settings_functions_and_modules_apart():
    tasks = [
        Task.of(work.mark, "a", number=1, folder="x"),
        Task.of(work.mark, "a", number=2, folder="x"),
        Task.of(work.fail, "a", number=1),
        Task.of(work.mark, "a", number=1, folder="x", modules=("bayesift.files",)),
    ]
    assert len({content_key(task) for task in tasks}) == len(tasks)
    assert content_key(tasks[0]) == content_key(Task.of(work.mark, "another label", folder="x", number=1))


@pytest.mark.corpus("sms-spam")
def test_the_key_knows_the_corpus():
    plain, with_corpus = (Task.of(work.mark, "a", number=1, folder="x", corpora=c) for c in ((), ("sms-spam",)))
    assert content_key(plain) != content_key(with_corpus)


def test_a_file_that_is_not_whole_counts_as_not_there(tmp_path):
    store = Store(tmp_path)
    store.keep("key", {"value": 1}, {})
    (tmp_path / "results" / "key.json").write_text('{"value": ')
    assert store.result("key") is None


def test_results_depend_on_what_measures_them_and_not_on_pages():
    reached = reached_modules("bayesift.reproduce.sparse_bayes.measuring")
    assert {"bayesift.models.linear.classifier", "bayesift.kernels.working_set", "bayesift.records"} <= reached
    assert not {name for name in reached if ".report" in name or ".cli" in name or name.endswith(".markdown")}
    assert "bayesift.reproduce.online.measuring" not in reached


def test_another_source_is_another_version(tmp_path, monkeypatch):
    package = tmp_path / "bayesift_trial"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from bayesift_trial import b\n")
    (package / "b.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(versions, "_PACKAGE", "bayesift_trial")
    importlib.invalidate_caches()

    def version():
        for function in (code_version, versions._imported, versions._is_module, versions._source):
            function.cache_clear()
        return code_version("bayesift_trial.a")

    first = version()
    assert reached_modules("bayesift_trial.a") == {"bayesift_trial", "bayesift_trial.a", "bayesift_trial.b"}
    assert version() == first
    (package / "b.py").write_text("x = 2\n")
    assert version() != first
    for function in (code_version, versions._imported, versions._is_module, versions._source):
        function.cache_clear()
