"""Streams of labelled documents in learning order, and measures of progressive predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.corpora import (
    load_enron,
    load_newsgroups,
    load_ohsumed,
    load_rcv1,
    load_reuters,
    load_sms_spam,
    load_trec_questions,
)
from bayesift.evaluation import evaluate_decisions, top_label_calibration_error
from bayesift.records import Corpus
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present

SEED = 0


@dataclass(frozen=True, eq=False)
class Stream:
    """Unit-length ltc vectors of Porter stems, a label column per decision, and texts if any."""

    name: str
    X: Any
    Y: Array
    texts: list[str] | None


def _stream(
    name: str,
    corpus: Corpus,
    order: Array | None = None,
    categories: slice = slice(None),
    stop_words: str | None = "english",
) -> Stream:
    documents = corpus if order is None else corpus.select(order)
    Y = documents.indicator.toarray().astype(np.float64)
    Y = Y[:, Y.any(axis=0)]
    if documents.is_single_label and Y.shape[1] == 2:
        Y = Y[:, [1]]
    Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[categories]]
    if documents.vectors is not None:
        return Stream(name, documents.vectors, Y, None)
    vectorizer = TermVectorizer(weighting="ltc", stop_words=stop_words, stemmer="porter")
    return Stream(name, vectorizer.fit_transform(documents.texts), Y, documents.texts)


def _reuters(name: str, categories: slice) -> Stream:
    corpus = load_reuters(subset="modapte").split("train")
    dates = [document.date for document in corpus]
    known = [date for date in dates if date is not None]
    order = sorted(range(len(corpus)), key=lambda i: dates[i] or known[0])
    return _stream(name, corpus, np.array(order), categories)


_MAKERS: dict[str, Callable[[], Stream]] = {
    "Reuters, 10": lambda: _reuters("Reuters, 10", slice(10)),
    "Reuters, 90": lambda: _reuters("Reuters, 90", slice(None)),
    "RCV1 sample": lambda: _stream("RCV1 sample", load_rcv1(folder="rcv1-sample")),
    "20 Newsgroups": lambda: _shuffled_stream("20 Newsgroups", load_newsgroups()),
    "OHSUMED": lambda: _shuffled_stream("OHSUMED", load_ohsumed()),
    "enron1": lambda: _stream("enron1", load_enron()),
    "SMS": lambda: _stream("SMS", load_sms_spam()),
    # The words that tell the kinds of questions apart (who, where, how) are stop words.
    "TREC questions": lambda: _shuffled_stream(
        "TREC questions", load_trec_questions(), stop_words=None
    ),
}
STREAMS = tuple(_MAKERS)


def _shuffled_stream(name: str, corpus: Corpus, **options: Any) -> Stream:
    return _stream(
        name, corpus, np.random.default_rng(SEED).permutation(len(corpus)), **options
    )


@cache
@if_present
def stream(name: str) -> Stream:
    """Return a stream of `STREAMS` by name, or None if its corpus is not in the data directory."""
    return _MAKERS[name]()


def log_loss(Y: Array, probabilities: Array) -> float:
    """Return the mean log loss of all decisions."""
    clipped = np.clip(probabilities, 1e-15, 1 - 1e-15)
    return float(-np.mean(np.where(Y > 0, np.log(clipped), np.log1p(-clipped))))


def micro_f1(Y: Array, probabilities: Array) -> float:
    """Micro F1 of all decisions at 1/2, in percent."""
    return 100 * evaluate_decisions(Y.astype(int), (probabilities > 0.5).astype(int)).micro.f1


def late_calibration_error(Y: Array, probabilities: Array) -> float:
    """Top-label ECE over the second half.

    Categories of which each document has one share a probability of 1.
    """
    late = slice(len(Y) // 2, None)
    Y, probabilities = Y[late].astype(int), probabilities[late]
    if Y.shape[1] > 1 and np.all(Y.sum(axis=1) == 1):
        probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    return float(top_label_calibration_error(Y, probabilities))


def line_of(name: str, title: str, Y: Array, probabilities: Array, seconds: float) -> str:
    """One line of a table."""
    loss, f1, error = (
        log_loss(Y, probabilities),
        micro_f1(Y, probabilities),
        late_calibration_error(Y, probabilities),
    )
    return (
        f"| {name} | {title} | {loss:.4f} | {f1:.2f} | {error:.4f} | "
        f"{Y.size / seconds / 1000:,.0f} |"
    )
