"""A full disk, and one that breaks, at every write: nothing acknowledged is lost."""

import json

import pytest

from tests.faults import built, run_preloaded


def fail_every_write(tmp_path, kind, every):
    library = built(tmp_path)
    said = run_preloaded(library, "tests.faults.driver", kind, library, tmp_path, every)
    found = json.loads(said.splitlines()[-1])
    print(kind, found)
    assert found["writes"] > 10
    assert found["acknowledged"] > 0


def test_some_writes_of_a_project_fail(tmp_path):
    fail_every_write(tmp_path, "project", every=7)


def test_some_writes_of_a_service_fail(tmp_path):
    fail_every_write(tmp_path, "service", every=89)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["project", "service"])
def test_every_write_fails_once(tmp_path, kind):
    fail_every_write(tmp_path, kind, every=1)
