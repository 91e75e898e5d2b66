import importlib
import sys

import pytest

from papers import store as stores
from papers.contenders import definition_of
from papers.experiment import Task
from papers.store import Store, code_version, content_key, reached_code
from tests.papers import work


def test_the_key_tells_settings_functions_and_modules_apart():
    tasks = [
        Task.of(work.mark, "a", number=1, folder="x"),
        Task.of(work.mark, "a", number=2, folder="x"),
        Task.of(work.fail, "a", number=1),
        Task.of(work.mark, "a", number=1, folder="x", also=("bayesift.files",)),
    ]
    assert len({content_key(task) for task in tasks}) == len(tasks)
    assert content_key(tasks[0]) == content_key(
        Task.of(work.mark, "another label", folder="x", number=1)
    )


@pytest.mark.corpus("sms-spam")
def test_the_key_knows_the_corpus():
    plain, with_corpus = (
        Task.of(work.mark, "a", number=1, folder="x", corpora=c) for c in ((), ("sms-spam",))
    )
    assert content_key(plain) != content_key(with_corpus)


def test_a_file_that_is_not_whole_counts_as_not_there(tmp_path):
    store = Store(tmp_path)
    store.keep("key", {"value": 1}, {})
    (tmp_path / "results" / "key.json").write_text('{"value": ')
    assert store.result("key") is None


def test_results_depend_on_what_measures_them_and_not_on_pages():
    reached = set(reached_code("papers.sparse_bayes:measure_setting"))
    assert {
        "bayesift.models.linear.classifier",
        "bayesift.kernels.newton_steps",
        "bayesift.records",
    } <= reached
    assert {
        "papers.sparse_bayes:Setting",
        "papers.sparse_bayes:_thresholds",
        "papers.corpora:corpus_part",
    } <= reached
    assert not {
        name for name in reached if ".report" in name or ".cli" in name or ".charts" in name
    }
    assert not {
        name
        for name in reached
        if name.startswith("papers.online") or name.endswith(":TABLE_1")
    }


def test_a_contender_depends_on_no_other():
    reached = set(reached_code("papers.leaderboards:measure_contender", definition_of("knn")))
    assert {
        "papers.contenders:KNN",
        "papers.leaderboards:_out_of_fold",
        "papers.forecasts:PlattLines",
    } <= reached
    assert (
        not {
            "papers.contenders:JURY",
            "papers.contenders:OURS",
            "papers.contenders:VowpalWabbit",
        }
        & reached
    )


@pytest.fixture
def trial(tmp_path, monkeypatch):
    """Write files of a package and give the version of a definition in it."""
    caches = (code_version, stores._file, stores._definition, stores._names, stores._is_module)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(stores, "_FILES", "trial_files")
    monkeypatch.setattr(stores, "_DEFINITIONS", "trial_definitions")

    def version(name, **files):
        for package in ("trial_files", "trial_definitions"):
            (tmp_path / package).mkdir(exist_ok=True)
            (tmp_path / package / "__init__.py").touch()
        for place, text in files.items():
            (tmp_path / f"{place.replace('__', '/')}.py").write_text(text)
        importlib.invalidate_caches()
        for function in caches:
            function.cache_clear()
        return code_version(name)

    yield version
    for function in caches:
        function.cache_clear()
    for package in ("trial_files", "trial_definitions"):
        sys.modules.pop(package, None)  # looking for a module imports its package


def test_another_source_is_another_version(trial):
    a, b = "from trial_files import b\n", "x = 1\n"
    first = trial("trial_files.a", trial_files__a=a, trial_files__b=b)
    assert set(reached_code("trial_files.a")) == {
        "trial_files",
        "trial_files.a",
        "trial_files.b",
    }
    assert trial("trial_files.a") == first
    assert trial("trial_files.a", trial_files__b="x = 2\n") != first


def test_definitions_count_one_by_one(trial):
    a = """
from trial_files.b import x
from trial_definitions.c import shared, unused

TABLE = 1
FACTOR = 2

def measure():
    import trial_files.d
    return FACTOR * shared(x)

def other():
    return TABLE
"""
    c = "def shared(x):\n    return x\n\ndef unused():\n    return 1\n"
    files = {
        "trial_definitions__a": a,
        "trial_definitions__c": c,
        "trial_files__b": "x = 1\n",
        "trial_files__d": "y = 1\n",
    }
    measure = "trial_definitions.a:measure"
    first = trial(measure, **files)
    assert set(reached_code(measure)) == {
        measure,
        *(f"trial_definitions.a:{name}" for name in ("FACTOR", "shared", "x")),
        "trial_definitions.c:shared",
        "trial_files.b",
        "trial_files.d",
    }
    for place, text in {
        "trial_definitions__a": a.replace("TABLE = 1", "TABLE = 3  # of another kind"),
        "trial_definitions__c": c.replace("return 1", "return 2"),
    }.items():
        assert trial(measure, **{**files, place: text}) == first
    for place, text in {
        "trial_definitions__a": a.replace("FACTOR = 2", "FACTOR = 3"),
        "trial_definitions__c": c.replace("return x", "return -x"),
        "trial_files__b": "x = 2\n",
        "trial_files__d": "y = 2\n",
    }.items():
        assert trial(measure, **{**files, place: text}) != first
