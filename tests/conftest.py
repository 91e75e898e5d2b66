"""Corpora for tests: found in the data directory, loaded once, and named when they are not there."""

import os
from functools import cache
from pathlib import Path

import pytest

from bayesift.datasets import load
from tests.servers import new_database, postgres_server

MISSING = pytest.StashKey[set[str]]()


def data_dir():
    """Only a directory that was named counts: tests do not look into the user's cache."""
    return Path(os.environ.get("BAYESIFT_DATA") or "no-data-directory")


def pytest_configure(config):
    config.stash[MISSING] = set()


def pytest_runtest_setup(item):
    names = [name for mark in item.iter_markers("corpus") for name in mark.args]
    missing = [name for name in names if not (data_dir() / name).exists()]
    if missing:
        item.config.stash[MISSING].update(missing)
        pytest.skip(f"not in the data directory: {', '.join(missing)}")


def pytest_terminal_summary(terminalreporter, config):
    missing = sorted(config.stash[MISSING])
    if missing:
        terminalreporter.section("corpora that were not there (set BAYESIFT_DATA)")
        for name in missing:
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
    return None if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))
