"""Corpora for tests: found in the data directory, loaded once, and named when missing."""

import os
from functools import cache
from pathlib import Path

import hypothesis
import pytest

from bayesift.corpora import load
from tests.servers import new_database, postgres_server

# How long an example takes depends on the load of the machine: no test is about that.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

NOT_THERE = "not in the data directory: "
LONGEST = [
    "spark",
    "tests/laws/test_estimators.py",
    "tests/filtering/test_engine.py",
    # with the two before: the kernels are compiled when a browser waits for them
    "tests/service/test_reviewing.py",
    "browser",
    "tests/contracts/test_documentation.py",
]


def data_dir():
    """Only a directory that was named counts: tests do not look into the user's cache."""
    return Path(os.environ.get("BAYESIFT_DATA") or "no-data-directory")


def group_of(nodeid):
    """The tests of a file run in one process, so that its fixtures are made once.

    Likewise all that need Spark.
    """
    file = nodeid.partition("::")[0]
    if file.startswith("tests/spark/") or nodeid.endswith("[docs/guides/scale-out.md]"):
        return "spark"
    return "browser" if file.startswith("tests/browser/") else file


def pytest_collection_modifyitems(config, items):
    """Start the longest groups first under pytest-xdist, so that short ones are left at the end."""
    if hasattr(config, "workerinput"):
        places = {group: place for place, group in enumerate(LONGEST)}
        items.sort(key=lambda item: places.get(group_of(item.nodeid), len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A process of pytest-xdist takes one group after the other."""
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return GroupScheduling(config, log)


def pytest_runtest_setup(item):
    names = [name for mark in item.iter_markers("corpus") for name in mark.args]
    missing = [name for name in names if not (data_dir() / name).exists()]
    if missing:
        pytest.skip(f"{NOT_THERE}{', '.join(missing)}")


def pytest_terminal_summary(terminalreporter):
    # From the reports, since with pytest-xdist tests are skipped in other processes.
    reasons = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])]
    missing = {
        name
        for reason in reasons
        for name in reason.partition(NOT_THERE)[2].split(", ")
        if name
    }
    if missing:
        terminalreporter.section("corpora that were not there (set BAYESIFT_DATA)")
        for name in sorted(missing):
            terminalreporter.line(f"{name}: the tests that need it were skipped")


@pytest.fixture(scope="session")
def corpus_named():
    """Load a corpus by its name, once in a session."""
    return cache(lambda name: load(name, data_dir=data_dir()))


@pytest.fixture
def write(tmp_path):
    """Write a file of text or bytes and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture(scope="session")
def postgres():
    """The address of a PostgreSQL server of our own."""
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    """None for SQLite, the address of a new database for PostgreSQL."""
    return (
        None if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))
    )
