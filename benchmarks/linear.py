"""The problem that races of linear models share."""

from __future__ import annotations

from functools import cache
from typing import Any

from scipy import sparse

from bayesift.corpora import load_ohsumed, load_rcv1, load_reuters
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present

RATE, GAP = 0.1, 1e-6
_EVERY = 3  # category of matrices on which a peer would take minutes for all


@cache
@if_present
def reuters() -> tuple[Any, Any]:
    """Return unit-length ltc vectors of the training documents of Reuters-21578 (ModApte).

    The vocabulary holds the words of at least three documents.
    """
    train = load_reuters(subset="modapte").split("train")
    return TermVectorizer(weighting="ltc", min_df=3).fit_transform(train.texts), train.indicator


def _some(Y: Any) -> Any:
    return sparse.csr_array(sparse.csc_array(Y)[:, ::_EVERY])


def _reuters(**options: Any) -> tuple[Any, Any]:
    train = load_reuters(subset="modapte").split("train")
    return TermVectorizer(weighting="ltc", min_df=3, **options).fit_transform(
        train.texts
    ), _some(train.indicator)


@cache
@if_present
def stems() -> tuple[Any, Any]:
    """Reuters-21578 as `reuters`, stems in place of words, every third category."""
    return _reuters(stemmer="english")


@cache
@if_present
def pairs() -> tuple[Any, Any]:
    """Reuters-21578 as `reuters`, words and pairs of words, every third category."""
    return _reuters(ngram_range=(1, 2))


@cache
@if_present
def ohsumed() -> tuple[Any, Any]:
    """Return unit-length ltc vectors of the training documents of OHSUMED and every third category.

    OHSUMED has 23 categories.
    """
    train = load_ohsumed().split("train")
    return TermVectorizer(weighting="ltc", min_df=3).fit_transform(train.texts), _some(
        train.indicator
    )


@cache
@if_present
def rcv1_sample() -> tuple[Any, Any]:
    """Return the training vectors of the sample of RCV1 and every third topic."""
    train = load_rcv1(folder="rcv1-sample").split("train")
    return sparse.csr_array(train.vectors), _some(train.indicator)
