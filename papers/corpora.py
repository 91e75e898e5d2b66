"""The corpora of the experiments, whole or as a sample, and their fingerprints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.corpora import CATALOGUE, data_directory, load, load_reuters
from bayesift.records import Corpus

QUICK_TRAIN, QUICK_TEST = 2_000, 1_500
_TEST_FOLDS = 4


@dataclass(frozen=True)
class Part:
    """A corpus or a part of it: catalogue name, title, and a loader of "train" and "test"."""

    entry: str
    title: str
    load: Callable[[], Corpus]


def _sms_spam() -> Corpus:
    """SMS spam has no split: one message in four is held out, stratified by class."""
    from bayesift.thresholds import category_folds

    corpus = load("sms-spam")
    test = category_folds(corpus.indicator, n_folds=_TEST_FOLDS, random_state=0) == 0
    documents = (
        replace(d, split="test" if t else "train")
        for d, t in zip(corpus, test.tolist(), strict=True)
    )
    return replace(corpus, documents=tuple(documents))


PARTS = {
    "reuters-labelled": Part(
        "reuters", "Reuters-21578, labelled documents", lambda: load_reuters(subset="labelled")
    ),
    "reuters": Part(
        "reuters", "Reuters-21578, ModApte", lambda: load_reuters(subset="modapte")
    ),
    "20newsgroups": Part("20newsgroups", "20 Newsgroups by date", lambda: load("20newsgroups")),
    "ohsumed": Part("ohsumed", "OHSUMED-20000", lambda: load("ohsumed")),
    "ohsumed-trec9": Part("ohsumed-trec9", "OHSUMED of TREC-9", lambda: load("ohsumed-trec9")),
    "rcv1-sample": Part("rcv1-sample", "a sample of RCV1-v2", lambda: load("rcv1-sample")),
    "sms-spam": Part("sms-spam", "SMS Spam Collection", _sms_spam),
}


@lru_cache(maxsize=2)
def corpus_part(name: str, quick: bool) -> Corpus:
    """Return a corpus by its name in `PARTS`; a quick run samples documents in their order.

    Categories with fewer than three training documents or no test document in the sample are left
    out.
    """
    corpus = PARTS[name].load()
    if not quick:
        return corpus
    kept = [
        _sample(corpus, split, size)
        for split, size in (("train", QUICK_TRAIN), ("test", QUICK_TEST))
    ]
    sample = corpus.select(np.sort(np.concatenate(kept)))
    learned, tested = (sample.split(split).category_counts() for split in ("train", "test"))
    return sample.with_categories(c for c in corpus.categories if learned[c] >= 3 and tested[c])


def _sample(corpus: Corpus, split: str, size: int) -> Any:
    rows = np.array([i for i, document in enumerate(corpus) if document.split == split])
    return (
        rows
        if len(rows) <= size
        else np.random.default_rng(0).choice(rows, size, replace=False)
    )


def is_present(name: str) -> bool:
    """Whether the data directory has the corpus of this part."""
    return CATALOGUE[PARTS[name].entry].is_present()


def corpus_fingerprint(name: str) -> str:
    """SHA-256 of the files of a corpus in the data directory."""
    entry, directory = CATALOGUE[PARTS[name].entry], data_directory()
    place = next(directory / path for path in entry.paths if (directory / path).exists())
    folder = place if place.is_dir() else place.parent
    files = (
        [place]
        if folder == directory
        else sorted(path for path in folder.rglob("*") if path.is_file())
    )
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(directory).as_posix()}\0{_digest(path)}\n".encode())
    return digest.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def matrix_of(positions: Sequence[int], shape: Sequence[int]) -> sparse.csr_array:
    """Documents x categories with 1 at the flat positions, which is how results store decisions.

    Examples
    --------
    >>> matrix_of([0, 3], (2, 2)).toarray().tolist()
    [[1, 0], [0, 1]]
    """
    rows, columns = np.divmod(np.array(positions, dtype=np.int64), shape[1])
    return sparse.csr_array(
        (np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=tuple(shape)
    )
