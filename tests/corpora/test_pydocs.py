import os
import subprocess
import sys

import pytest

from bayesift.corpora import load_pydocs, pydocs
from bayesift.errors import DataError


@pytest.fixture(scope="module")
def corpus():
    return load_pydocs()


def test_is_large_enough_and_single_label(corpus):
    assert len(corpus) >= 2_500
    assert len(corpus.categories) >= 15
    assert corpus.is_single_label
    assert min(corpus.category_counts().values()) >= 40
    assert not any(name.startswith("_") for name in corpus.categories)


def test_split_is_about_seventy_to_thirty(corpus):
    share = len(corpus.split("test")) / len(corpus)
    assert 0.25 < share < 0.35
    assert all(
        set(part.category_counts().values()).isdisjoint({0})
        for part in map(corpus.split, corpus.splits)
    )


def test_documents_speak_for_themselves(corpus):
    assert all(d.text == d.text.strip() and d.text and not d.title for d in corpus)
    assert all(d.id.partition(".")[0] == d.categories[0] for d in corpus)


def test_does_not_depend_on_the_run(corpus):
    code = (
        "import json, email; from bayesift.corpora import load_pydocs; "
        "print(load_pydocs().fingerprint)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == corpus.fingerprint


def test_python_without_sources(monkeypatch, tmp_path):
    monkeypatch.setattr(pydocs.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(DataError, match="without its sources"):
        load_pydocs()


def test_definitions_under_conditions_and_private_names():
    source = """
def a(): "A."
def _b(): "Private."
if True:
    class C:
        "C."
        def d(self): "D."
        def __enter__(self): "Special."
        def e(self): pass
else:
    def a(): "Another a."
"""
    found = list(pydocs._documented(pydocs.ast.parse(source), "m"))
    assert found == [
        ("m.a", "A."),
        ("m.C", "C."),
        ("m.C.d", "D."),
        ("m.C.__enter__", "Special."),
        ("m.a", "Another a."),
    ]
