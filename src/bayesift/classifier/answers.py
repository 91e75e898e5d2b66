"""What a classifier says of a batch of texts, as Arrow arrays: no Python object a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bayesift.classifier.text_classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.kernels.decisions import highest

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Answers:
    """The decisions on a batch of documents, and their highest scores.

    Parameters
    ----------
    categories : names of the columns
    decisions : documents x categories, whether assigned
    best : documents x k, columns of the highest scores, best first
    scores : documents x k, those scores

    Examples
    --------
    >>> answers = Answers.of(TextClassifier().fit(["corn", "oil"], ["grain", "crude"]), ["corn"], top=1)
    >>> answers.assigned().to_pylist(), answers.at_rank(0).to_pylist(), answers.scores.round(3).tolist()
    ([['grain']], ['grain'], [[0.667]])
    """

    categories: Sequence[str]
    decisions: Array
    best: Array
    scores: Array

    @classmethod
    def of(cls, classifier: TextClassifier, texts: Any, *, top: int | None = None) -> Answers:
        """Decide texts; `top` is how many of the highest scores to keep, all without it."""
        decisions, scores = classifier.decide(texts)
        n_categories = scores.shape[1]
        best = np.empty((len(scores), n_categories if top is None else min(top, n_categories)), dtype=np.int64)
        if best.shape[1]:
            highest(scores, best)
        return cls(classifier.categories_, decisions, best, np.take_along_axis(scores, best, axis=1))

    def assigned(self, names: Sequence[str] | None = None) -> pa.ListArray:
        """The assigned categories of each document, under their own or these names."""
        offsets = np.concatenate([[0], np.cumsum(self.decisions.sum(axis=1))]).astype(np.int32)
        return pa.ListArray.from_arrays(offsets, self._named(np.nonzero(self.decisions)[1], names))

    def ranked(self, score: str = "score") -> pa.ListArray:
        """For each document its highest scores, a list of structs with the fields "category" and `score`."""
        n, k = self.best.shape
        parts = [self._named(self.best.ravel()), pa.array(self.scores.ravel())]
        pairs = pa.StructArray.from_arrays(parts, ["category", score])
        return pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32) * k, pairs)

    def at_rank(self, k: int, names: Sequence[str] | None = None) -> pa.Array:
        """The category of each document at one rank, from 0 on."""
        return self._named(self.best[:, k], names)

    def _named(self, columns: Array, names: Sequence[str] | None = None) -> pa.Array:
        return pa.array(self.categories if names is None else names, pa.string()).take(pa.array(columns))


def deciding_terms(classifier: TextClassifier, texts: Any, decisions: Array, *, top: int) -> pa.ListArray:
    """For each text the terms that spoke loudest for or against its assigned categories.

    Parameters
    ----------
    classifier, texts : who decided what
    decisions : texts x categories, whether assigned
    top : how many terms a category

    Examples
    --------
    >>> classifier = TextClassifier().fit(["corn", "oil"], ["grain", "crude"])
    >>> deciding_terms(classifier, ["oil oil corn"], np.array([[True, False]]), top=1).values.field("term").to_pylist()
    ['oil']
    """
    model = classifier.estimator_.estimator_
    if not hasattr(model, "contributions"):
        raise DataError(f"a {type(model).__name__} cannot explain its decisions")
    X, names = classifier.vectors(texts), pa.array(classifier.terms())
    parts = []
    for j in np.flatnonzero(decisions.any(axis=0)):
        rows = np.flatnonzero(decisions[:, j])
        contributions, _ = model.contributions(X[rows], int(j) if classifier.multilabel_ else classifier.categories_[j])
        parts.append(_largest(contributions, rows, int(j), top))
    document, category, term, value = map(np.concatenate, zip(*parts, strict=True)) if parts else np.empty((4, 0))
    order = np.argsort(document, kind="stable")
    arrays = [
        pa.array(classifier.categories_, pa.string()).take(pa.array(category[order].astype(np.int64))),
        names.take(pa.array(term[order].astype(np.int64))),
        pa.array(value[order]),
    ]
    ends = np.searchsorted(document[order], np.arange(len(decisions) + 1))
    return pa.ListArray.from_arrays(
        ends.astype(np.int32), pa.StructArray.from_arrays(arrays, ["category", "term", "contribution"])
    )


def _largest(contributions: Any, rows: Array, category: int, top: int) -> tuple[Array, Array, Array, Array]:
    """Document, category, term and value of the largest contributions in size of each row."""
    owner = np.repeat(np.arange(len(rows)), np.diff(contributions.indptr))
    order = np.lexsort((-np.abs(contributions.data), owner))
    rank = np.arange(len(order)) - contributions.indptr[owner[order]]
    kept = order[rank < top]
    return rows[owner[kept]], np.full(len(kept), category), contributions.indices[kept], contributions.data[kept]
