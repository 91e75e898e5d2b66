"""Texts to categories and probabilities, batch by batch, for a DataFrame or a stream of rows.

And their evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bayesift.arrays import Array
from bayesift.classifier import Predictions, TextClassifier, deciding_terms
from bayesift.errors import DataError
from bayesift.evaluation import Contingency, Scores
from bayesift.evaluation.scores import evaluate_counts
from bayesift.spark.counting import EVERY, DocumentColumns, indicator_of_labels, read_texts
from bayesift.spark.session import (
    check_column,
    check_new,
    collect,
    map_batches,
    refuse_stream,
    sql_type,
)
from bayesift.spark.sharing import shared_model
from bayesift.spark.vocabulary import columns_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame


CATEGORIES = "categories"
PROBABILITIES = "probabilities"
SCORES = "scores"
TERMS = "terms"
ERRORS = "errors"


@dataclass(frozen=True)
class Scorer:
    """Decides the texts of Arrow batches; knows nothing of where they come from.

    Parameters
    ----------
    model : gives the classifier; called when the first batch is there
    text : the column of the text
    kept : columns to hand on as they are
    top : how many categories to list with their probability; None for all
    terms : how many terms to list for each assigned category

    Examples
    --------
    >>> classifier = TextClassifier().fit(["corn", "oil"], ["grain", "crude"])
    >>> batch = pa.RecordBatch.from_pydict({"id": [1, 2], "text": ["corn", None]})
    >>> scored = next(Scorer(lambda: classifier, "text", ("id",), top=1)(iter([batch])))
    >>> scored.schema.names
    ['id', 'categories', 'probabilities', 'errors']
    >>> scored["categories"].to_pylist(), scored["errors"].to_pylist()
    ([['grain'], None], [None, 'the text is missing'])
    """

    model: Callable[[], TextClassifier]
    text: str
    kept: tuple[str, ...] = ()
    top: int | None = 3
    terms: int = 0

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Answer each batch."""
        for batch in batches:
            yield self.score(batch)

    def score(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Answer one batch, row by row."""
        classifier = self.model()
        readable = read_texts(batch.column(self.text))
        answers = Predictions.of(classifier, readable.texts, top=self.top)
        name, field = score_names(classifier)
        columns = {column: batch.column(column) for column in self.kept}
        columns[CATEGORIES] = readable.spread(answers.assigned())
        columns[name] = readable.spread(answers.ranked(field))
        if self.terms:
            terms = deciding_terms(
                classifier, readable.texts, answers.decisions, top=self.terms
            )
            columns[TERMS] = readable.spread(terms)
        columns[ERRORS] = readable.errors
        return pa.RecordBatch.from_pydict(columns)


def score_names(classifier: TextClassifier) -> tuple[str, str]:
    """Return the name of the column of scores, and of the field in it."""
    return (
        (PROBABILITIES, "probability") if classifier.has_probabilities_ else (SCORES, "score")
    )


def score(
    df: DataFrame,
    model: TextClassifier | str | Path,
    text_col: str = "text",
    id_col: str | None = None,
    *,
    top: int | None = 3,
    terms: int = 0,
) -> DataFrame:
    """Put the texts of a DataFrame, or of a stream, into categories.

    Parameters
    ----------
    df : with a column of strings, or of bytes in UTF-8
    model : a classifier, or the path of one that was saved; it is sent to each executor once
    text_col : the column of the text
    id_col : the column that names a row; all columns but the text are kept without
    top : how many categories to list with their probability; None for all
    terms : how many terms to list for each assigned category, those with the largest contributions

    Returns
    -------
    The kept columns, and `categories` (a list of names), `probabilities` (a list of structs, the
    highest first; called `scores` where the model has none), `terms` if wanted, `errors` (null, or
    why the text could not be read)

    Examples
    --------
    >>> scored = score(spark.read.parquet("news"), "model.zip", id_col="id")  # doctest: +SKIP
    >>> scored.write.parquet("sorted")  # doctest: +SKIP
    """
    if (top is not None and top < 0) or terms < 0:
        raise DataError("top and terms must not be negative")
    check_column(df, text_col, ("string", "binary"), "the text")
    if id_col is not None:
        check_column(df, id_col, (), "the id")
    if id_col is None:
        kept = tuple(column for column in df.columns if column != text_col)
    else:
        kept = (id_col,)
    classifier = model if isinstance(model, TextClassifier) else TextClassifier.load(model)
    if classifier.vectorizer_ is None:
        raise DataError("the model was trained on vectors, not on texts")
    schema = _schema(df, kept, classifier, terms)
    scorer = Scorer(shared_model(df.sparkSession, classifier), text_col, kept, top, terms)
    return map_batches(df.select(*kept, text_col), scorer, schema)


def _schema(
    df: DataFrame, kept: tuple[str, ...], classifier: TextClassifier, terms: int
) -> str:
    name, field = score_names(classifier)
    new = {
        CATEGORIES: "array<string>",
        name: f"array<struct<category: string, {field}: double>>",
    }
    if terms:
        new[TERMS] = "array<struct<category: string, term: string, contribution: double>>"
    new[ERRORS] = "string"
    check_new(kept, new)
    return ", ".join([*(sql_type(df, column) for column in kept), *map(" ".join, new.items())])


MEASURE_SCHEMA = "category int, a double, b double, c double, d double, e double"
_SMALLEST = np.finfo(np.float64).eps


@dataclass(frozen=True)
class SparkEvaluation:
    """How well a classifier did.

    What needs all scores in one order (average precision) is left out.

    Parameters
    ----------
    measures : precision, recall, F1, accuracy
    log_loss, brier_score : of the probabilities, as `bayesift.evaluation` has them; None where the
        model has none
    n_unreadable : texts that were left out
    """

    measures: Scores
    log_loss: float | None
    brier_score: float | None
    n_unreadable: int


@dataclass(frozen=True)
class Measurer:
    """Decides labelled batches and counts what is right.

    All batches give one row per category, and one for all.

    Rows of categories: true positives, assigned, positives, log losses and squared errors of each
    forecast. The row of all: documents, those decided right, those without exactly one known
    category, unreadable ones, and the log losses of the true classes.
    """

    model: Callable[[], TextClassifier]
    columns: DocumentColumns

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Sum over all batches."""
        total: Array | None = None
        for batch in batches:
            part = self.measure(batch)
            total = part if total is None else total + part
        if total is not None:
            numbers = pa.array(np.append(np.arange(len(total) - 1), EVERY).astype(np.int32))
            yield pa.RecordBatch.from_arrays(
                [numbers, *map(pa.array, total.T)], ["category", *"abcde"]
            )

    def measure(self, batch: pa.RecordBatch) -> Array:
        """Sum over one batch, one row per category and one for all."""
        classifier = self.model()
        texts, labels, errors = self.columns.read(batch)
        truth = (
            indicator_of_labels(labels, pa.array(classifier.categories_, pa.string()))
            .toarray()
            .astype(bool)
        )
        decisions, scores = classifier.decide(texts)
        forecasts = np.clip(scores, _SMALLEST, 1.0 - _SMALLEST)
        if classifier.has_probabilities_:
            losses = -np.log(np.where(truth, forecasts, 1.0 - forecasts))
        else:
            losses = 0.0 * scores
        squares = (scores - truth) ** 2 if classifier.has_probabilities_ else 0.0 * scores
        columns = (truth & decisions, decisions, truth, losses, squares)
        by_category = np.stack([np.sum(column, axis=0) for column in columns], axis=1).astype(
            float
        )
        right = np.count_nonzero((truth == decisions).all(axis=1))
        unlike_one = np.count_nonzero(truth.sum(axis=1) != 1)
        everything = [
            len(texts),
            right,
            unlike_one,
            len(errors) - errors.null_count,
            losses[truth].sum(),
        ]
        return np.vstack([by_category, everything])


def evaluate(
    df: DataFrame,
    model: TextClassifier | str | Path,
    text_col: str = "text",
    label_col: str = "label",
    *,
    separator: str | None = None,
) -> SparkEvaluation:
    """Decide the texts of a labelled DataFrame and measure the decisions.

    Parameters
    ----------
    df : with a column of texts and one of categories; categories the model does not know are left
        out
    model : a classifier, or the path of one that was saved
    text_col, label_col : those columns
    separator : what stands between several categories of a string

    Examples
    --------
    >>> evaluate(spark.read.parquet("news"), "model.zip",
    ...     label_col="topics").measures.micro.f1  # doctest: +SKIP
    """
    from pyspark.sql import functions as F  # noqa: N812

    refuse_stream(df, "an evaluation")
    columns = columns_of(df, text_col, label_col, separator)
    classifier = model if isinstance(model, TextClassifier) else TextClassifier.load(model)
    measurer = Measurer(shared_model(df.sparkSession, classifier), columns)
    partial = map_batches(df.select(*columns.names), measurer, MEASURE_SCHEMA)
    rows = collect(
        partial.groupBy("category")
        .agg(*(F.sum(name).alias(name) for name in "abcde"))
        .orderBy("category")
    )
    if rows.num_rows == 0:
        raise DataError("there are no documents to evaluate")
    sums = np.stack([np.asarray(rows[name]) for name in "abcde"])
    return _evaluation(classifier, sums[:, 1:], sums[:, 0])


def _evaluation(
    classifier: TextClassifier, by_category: Array, everything: Array
) -> SparkEvaluation:
    n_documents, n_right, unlike_one, n_unreadable, loss_of_truth = everything
    if not n_documents or not by_category[2].sum():
        raise DataError(
            "no text that can be read has a category the model knows; is the right column named?"
        )
    right, assigned, positives = by_category[:3].astype(np.int64)
    counts = Contingency(right, assigned, positives, int(n_documents))
    measures = evaluate_counts(counts, n_right / n_documents, classifier.categories_)
    if not classifier.has_probabilities_:
        return SparkEvaluation(measures, None, None, int(n_unreadable))
    whole = not classifier.multilabel_ and unlike_one == 0
    n_forecasts = n_documents if whole else n_documents * len(classifier.categories_)
    loss = loss_of_truth if whole else by_category[3].sum()
    return SparkEvaluation(
        measures, loss / n_forecasts, by_category[4].sum() / n_forecasts, int(n_unreadable)
    )
