"""Predictions of batches of texts as Arrow arrays, and their evaluation on labelled texts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.classifier.abstention import reasons, unsure_texts
from bayesift.classifier.labels import check_lengths, read_labels
from bayesift.classifier.notebook import evaluation_html
from bayesift.classifier.text_classifier import TextClassifier
from bayesift.classifier.texts import Texts
from bayesift.errors import DataError, DataWarning
from bayesift.evaluation import Scores, evaluate_decisions
from bayesift.kernels.ranking import highest
from bayesift.records import Corpus
from bayesift.records.corpus import indicator_of
from bayesift.records.table import DocumentTable

_BATCH = 1000  # documents scored between two reports of progress


@dataclass(frozen=True, slots=True)
class Predictions:
    """The decisions on a batch of documents and their highest scores, as Arrow arrays.

    Parameters
    ----------
    categories : names of the columns
    decisions : documents x categories, whether assigned
    best : documents x k, columns of the highest scores, best first
    scores : documents x k, those scores
    unsure : why the classifier abstained on a document, None where it decided; None where it was
        not to abstain

    Examples
    --------
    >>> classifier = TextClassifier(model="naive-bayes").fit(["corn", "oil"], ["grain", "crude"])
    >>> predictions = Predictions.of(classifier, ["corn"], top=1)
    >>> assigned = predictions.assigned().to_pylist()
    >>> assigned, predictions.at_rank(0).to_pylist(), predictions.scores.round(3).tolist()
    ([['grain']], ['grain'], [[0.667]])
    """

    categories: Sequence[str]
    decisions: BoolArray
    best: IntArray
    scores: FloatArray
    unsure: Sequence[str | None] | None = None

    @classmethod
    def of(
        cls,
        classifier: TextClassifier,
        texts: Any,
        *,
        top: int | None = None,
        abstain: float | None = None,
    ) -> Predictions:
        """Classify texts and keep the `top` highest scores of each, or all.

        `abstain` as in `predict`.
        """
        unsure: list[str | None] | None = None
        if abstain is None:
            decisions, scores = classifier.decide(texts)
        else:
            doubts = classifier.doubts(texts)
            scores, unsure = doubts.probabilities, [None] * len(doubts.n_terms)
            rows = np.flatnonzero(unsure_texts(doubts, abstain, classifier.abstention_))
            decisions = classifier.decisions_of(scores)
            decisions[rows] = False
            for row, reason in zip(
                rows,
                reasons(doubts, rows, classifier.categories_, classifier.abstention_),
                strict=True,
            ):
                unsure[row] = reason
        n_categories = scores.shape[1]
        best = np.empty(
            (len(scores), n_categories if top is None else min(top, n_categories)),
            dtype=np.int64,
        )
        if best.shape[1]:
            highest(scores, best)
        return cls(
            classifier.categories_,
            decisions,
            best,
            np.take_along_axis(scores, best, axis=1),
            unsure,
        )

    def assigned(self, names: Sequence[str] | None = None) -> pa.ListArray:
        """Return the assigned categories of each document.

        `names` replaces the names of the categories.
        """
        offsets = np.concatenate([[0], np.cumsum(self.decisions.sum(axis=1))]).astype(np.int32)
        return pa.ListArray.from_arrays(
            offsets, self._named(np.nonzero(self.decisions)[1], names)
        )

    def ranked(self, score: str = "score") -> pa.ListArray:
        """Return the highest scores of each document.

        They are lists of structs with the fields `category` and `score`.
        """
        n, k = self.best.shape
        parts = [self._named(self.best.ravel()), pa.array(self.scores.ravel())]
        pairs = pa.StructArray.from_arrays(parts, ["category", score])
        return pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32) * k, pairs)

    def at_rank(self, k: int, names: Sequence[str] | None = None) -> pa.Array:
        """Return the category of each document at rank k, from 0."""
        return self._named(self.best[:, k], names)

    def _named(self, columns: IntArray, names: Sequence[str] | None = None) -> pa.Array:
        return pa.array(self.categories if names is None else names, pa.string()).take(
            pa.array(columns)
        )


def deciding_terms(
    classifier: TextClassifier, texts: Any, decisions: BoolArray, *, top: int
) -> pa.ListArray:
    """Return the `top` terms that contribute most to each assigned category of each text.

    Examples
    --------
    >>> classifier = TextClassifier().fit(["corn", "oil"], ["grain", "crude"])
    >>> found = deciding_terms(classifier, ["oil oil corn"], np.array([[True, False]]), top=1)
    >>> found.values.field("term").to_pylist()
    ['oil']
    """
    model = classifier.model_
    if not hasattr(model, "contributions"):
        raise DataError(f"a {type(model).__name__} cannot explain its decisions")
    X, names = classifier.vectors(texts), pa.array(classifier.terms())
    parts = []
    for j in np.flatnonzero(decisions.any(axis=0)):
        rows = np.flatnonzero(decisions[:, j])
        contributions, _ = model.contributions(
            X[rows], int(j) if classifier.multilabel_ else model.classes_[j]
        )
        parts.append(_largest(contributions[:, : len(names)], rows, int(j), top))
    document, category, term, value = (
        map(np.concatenate, zip(*parts, strict=True)) if parts else np.empty((4, 0))
    )
    order = np.argsort(document, kind="stable")
    arrays = [
        pa.array(classifier.categories_, pa.string()).take(
            pa.array(category[order].astype(np.int64))
        ),
        names.take(pa.array(term[order].astype(np.int64))),
        pa.array(value[order]),
    ]
    ends = np.searchsorted(document[order], np.arange(len(decisions) + 1))
    terms = pa.StructArray.from_arrays(arrays, ["category", "term", "contribution"])
    return pa.ListArray.from_arrays(ends.astype(np.int32), terms)


def _largest(
    contributions: Any, rows: IntArray, category: int, top: int
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return document, category, term and value of the largest contributions of each row."""
    owner = np.repeat(np.arange(len(rows)), np.diff(contributions.indptr))
    order = np.lexsort((-np.abs(contributions.data), owner))
    rank = np.arange(len(order)) - contributions.indptr[owner[order]]
    kept = order[rank < top]
    return (
        rows[owner[kept]],
        np.full(len(kept), category),
        contributions.indices[kept],
        contributions.data[kept],
    )


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The decisions of a classifier on labelled texts, and their measures.

    Truth, decisions and scores are documents x categories of the classifier. Labels that the
    classifier does not know have no column there; in the measures they are categories that were
    never assigned, so that they count as errors.

    Attributes
    ----------
    unknown_labels : labels that the classifier does not know, with the number of their documents,
        most frequent first
    n_unknown_documents : documents with such a label
    """

    corpus: Corpus
    truth: sparse.csr_array
    decisions: BoolArray
    scores: FloatArray
    measures: Scores
    unknown_labels: Mapping[str, int]
    n_unknown_documents: int

    def describe_unknown(self, limit: int = 5) -> str:
        """One sentence about the labels that the classifier does not know.

        Empty if it knows them all.
        """
        if not self.unknown_labels:
            return ""
        n, total = self.n_unknown_documents, len(self.corpus)
        named = [
            f"{name!r} ({count:,})" for name, count in list(self.unknown_labels.items())[:limit]
        ]
        if len(self.unknown_labels) > limit:
            named.append(f"and {len(self.unknown_labels) - limit:,} more")
        have = "document has a label" if n == 1 else "documents have labels"
        names = ", ".join(named)
        return (
            f"{n:,} of {total:,} {have} the model does not know: {names}; they count as errors"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the measures and the unknown labels, ready for JSON."""
        unknown = {
            "unknown_labels": dict(self.unknown_labels),
            "n_unknown_documents": self.n_unknown_documents,
        }
        return {**self.measures.to_dict(), **unknown}

    def __repr__(self) -> str:
        unknown = self.describe_unknown(limit=2)
        return f"Evaluation({self.measures.summary()}{unknown and '; '}{unknown})"

    def _repr_html_(self) -> str:
        return evaluation_html(self.measures, self.describe_unknown())


def evaluate(
    classifier: TextClassifier,
    X: Any,
    y: Any = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Classify labelled texts, or the documents of a corpus, and measure the decisions.

    Texts without a label are left out with a `DataWarning`, unless the classifier may assign none.
    A label that the classifier does not know counts as an error. Log loss and Brier score of one
    category per document are those of the documents with a known label, since the classifier gives
    no probability to the others. Macro averages are over the categories that the texts have.

    Parameters
    ----------
    classifier : fitted
    X, y : texts and labels in any form of `read_texts` and `read_labels`; or a labelled `Corpus`
        alone. At least one of the labels must be known to the classifier
    progress : is called with the number of documents classified so far

    Examples
    --------
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier(model="naive-bayes")
    >>> _ = classifier.fit(texts, ["grain", "grain", "oil", "oil"])
    >>> evaluate(classifier, ["corn", "oil prices"], ["grain", "oil"])
    Evaluation(2 documents: accuracy 1.0000, macro F1 1.0000, log loss 0.2209)
    """
    texts = classifier.read(X).whole()
    corpus = _labelled_corpus(classifier, X, y, texts)
    unknown = _unknown_labels(classifier, corpus)
    if not classifier.multilabel_:
        texts = texts.take(np.flatnonzero(corpus.n_labels))
        corpus = labelled_part(corpus)
    truth = indicator_of(
        (document.categories for document in corpus), classifier.categories_, skip_unknown=True
    )
    scores = _scores(classifier, texts, progress)
    decisions = classifier.decisions_of(scores)
    strangers = indicator_of(
        (document.categories for document in corpus), tuple(unknown), skip_unknown=True
    )
    measures = _measure(classifier, truth, decisions, scores)
    if unknown:
        measures = _count_unknown(
            measures, classifier, (truth, strangers), decisions, scores, list(unknown)
        )
    n_unknown = int(np.count_nonzero(np.diff(strangers.indptr)))
    return Evaluation(corpus, truth, decisions, scores, measures, unknown, n_unknown)


def _labelled_corpus(classifier: TextClassifier, X: Any, y: Any, texts: Texts) -> Corpus:
    """Return the corpus given, or one of texts and labels; texts are named by their rows."""
    if isinstance(X, Corpus):
        if y is not None:
            raise DataError("a corpus has its own labels; evaluate takes no y beside it")
        return X
    if y is None:
        raise DataError("there are no labels: give evaluate(classifier, texts, labels)")
    labels = read_labels(y, multilabel=classifier.multilabel_ or None)
    check_lengths(texts, labels, None)
    names, indicator = classifier.label_form_.named_indicator(labels)
    n_texts = labels.n_given
    table = DocumentTable(
        pa.chunked_array([list(map(str, range(n_texts)))], pa.string()),
        _text_column(texts),
        indicator,
        names,
    )
    vectors = sparse.csr_array(texts.values) if texts.are_vectors else None
    return Corpus(table, names, vectors=vectors)


def _text_column(texts: Texts) -> pa.ChunkedArray:
    values = texts.values
    if texts.are_vectors:
        values = [""] * values.shape[0]
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, pa.Array):
        return pa.chunked_array([values])
    return pa.chunked_array([values], pa.large_string())


def labelled_part(corpus: Corpus) -> Corpus:
    """Return the documents with a label; a `DataWarning` tells how many have none."""
    part = corpus.labelled()
    if missing := len(corpus) - len(part):
        message = f"{missing:,} of {len(corpus):,} documents without a label left out"
        warnings.warn(message, DataWarning, stacklevel=3)
    return part


def _unknown_labels(classifier: TextClassifier, corpus: Corpus) -> dict[str, int]:
    """Return the labels that the classifier does not know, the most frequent first.

    An error if it knows none.
    """
    if not len(corpus):
        raise DataError("there are no documents to evaluate")
    counts = Counter(name for document in corpus for name in document.categories)
    if not counts:
        raise DataError(
            "no document has a label, so that there is nothing to measure by; --label names their "
            "column"
        )
    known = set(classifier.categories_)
    unknown = {name: count for name, count in counts.most_common() if name not in known}
    if len(unknown) == len(counts):
        theirs, ours = (
            ", ".join(map(repr, list(names)[:3])) for names in (unknown, classifier.categories_)
        )
        raise DataError(
            f"the model knows none of the labels ({theirs}, ...); its own are {ours}, ..."
        )
    return unknown


def _scores(
    classifier: TextClassifier, texts: Texts, progress: Callable[[int], None] | None
) -> FloatArray:
    n_texts = texts.n_texts or 0
    step = n_texts if progress is None else _BATCH
    parts = []
    for start in range(0, n_texts, step):
        end = min(start + step, n_texts)
        part = texts.take(np.arange(start, end))
        parts.append(classifier.scores_of(classifier.features_.transform(part)))
        if progress is not None:
            progress(end)
    return np.concatenate(parts)


def _measure(
    classifier: TextClassifier,
    truth: sparse.csr_array,
    decisions: BoolArray,
    scores: FloatArray,
) -> Scores:
    """Compute the measures.

    If every document has one category, its probabilities are one forecast over all categories.
    """
    names = list(classifier.categories_)
    probabilities = scores if classifier.has_probabilities_ else None
    if classifier.multilabel_ or (np.diff(truth.indptr) != 1).any():
        return evaluate_decisions(truth, decisions, probabilities, categories=names)
    decided = [names[j] for j in np.argmax(decisions, axis=1)]
    return evaluate_decisions(
        [names[j] for j in truth.indices], decided, probabilities, categories=names
    )


def _count_unknown(
    measures: Scores,
    classifier: TextClassifier,
    labels: tuple[sparse.csr_array, sparse.csr_array],
    decisions: BoolArray,
    scores: FloatArray,
    unknown: list[str],
) -> Scores:
    """Count unknown labels as categories that were never assigned and have no probability."""
    truth, strangers = labels
    names = [*classifier.categories_, *unknown]
    decided = np.hstack([decisions, np.zeros(strangers.shape, dtype=bool)])
    counted = evaluate_decisions(sparse.hstack(labels, format="csr"), decided, categories=names)
    rows = (*measures.categories, *counted.categories[len(measures.categories) :])
    probabilities = measures.probabilities
    one_each = (np.diff(truth.indptr) + np.diff(strangers.indptr) == 1).all()
    if probabilities is not None and one_each and not classifier.multilabel_:
        known = np.flatnonzero(np.diff(truth.indptr))
        of_known = _measure(
            classifier, truth[known], decisions[known], scores[known]
        ).probabilities
        assert of_known is not None
        probabilities = replace(
            probabilities, log_loss=of_known.log_loss, brier_score=of_known.brier_score
        )
    return replace(counted, categories=rows, probabilities=probabilities)
