"""A classifier measured on a labelled DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bayesift.arrays import Array
from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.evaluation import Contingency, Scores
from bayesift.evaluation.scores import evaluate_counts
from bayesift.spark.counting import EVERY, DocumentColumns
from bayesift.spark.frames import collect, map_batches, refuse_stream
from bayesift.spark.sharing import shared_model
from bayesift.spark.texts import indicator_of_labels
from bayesift.spark.vocabulary import columns_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame


MEASURE_SCHEMA = "category int, a double, b double, c double, d double, e double"
_SMALLEST = np.finfo(np.float64).eps


@dataclass(frozen=True)
class SparkEvaluation:
    """How well a classifier did; what needs all scores in one order (average precision) is left out.

    Parameters
    ----------
    measures : precision, recall, F1, accuracy
    log_loss, brier_score : of the probabilities, as `bayesift.evaluation` has them; None where the model has none
    n_unreadable : texts that were left out
    """

    measures: Scores
    log_loss: float | None
    brier_score: float | None
    n_unreadable: int


@dataclass(frozen=True)
class Measurer:
    """Decides labelled batches and counts what is right; all batches give one row per category, and one for all.

    Rows of categories: true positives, assigned, positives, log losses and squared errors of each forecast. The row of
    all: documents, those decided right, those without exactly one known category, unreadable ones, and the log losses
    of the true classes.
    """

    model: Callable[[], TextClassifier]
    columns: DocumentColumns

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The sums over all batches."""
        total: Array | None = None
        for batch in batches:
            part = self.measure(batch)
            total = part if total is None else total + part
        if total is not None:
            numbers = pa.array(np.append(np.arange(len(total) - 1), EVERY).astype(np.int32))
            yield pa.RecordBatch.from_arrays([numbers, *map(pa.array, total.T)], ["category", *"abcde"])

    def measure(self, batch: pa.RecordBatch) -> Array:
        """The sums of one batch, one row per category and one for all."""
        classifier = self.model()
        texts, labels, errors = self.columns.read(batch)
        truth = indicator_of_labels(labels, pa.array(classifier.categories_, pa.string())).toarray().astype(bool)
        decisions, scores = classifier.decide(texts)
        forecasts = np.clip(scores, _SMALLEST, 1.0 - _SMALLEST)
        losses = -np.log(np.where(truth, forecasts, 1.0 - forecasts)) if classifier.has_probabilities_ else 0.0 * scores
        squares = (scores - truth) ** 2 if classifier.has_probabilities_ else 0.0 * scores
        columns = (truth & decisions, decisions, truth, losses, squares)
        by_category = np.stack([np.sum(column, axis=0) for column in columns], axis=1).astype(float)
        right = np.count_nonzero((truth == decisions).all(axis=1))
        unlike_one = np.count_nonzero(truth.sum(axis=1) != 1)
        everything = [len(texts), right, unlike_one, len(errors) - errors.null_count, losses[truth].sum()]
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
    df : with a column of texts and one of categories; categories the model does not know are left out
    model : a classifier, or the path of one that was saved
    text_col, label_col : those columns
    separator : what stands between several categories of a string

    Examples
    --------
    >>> evaluate(spark.read.parquet("news"), "model.zip", label_col="topics").measures.micro.f1  # doctest: +SKIP
    """
    from pyspark.sql import functions as F  # noqa: N812

    refuse_stream(df, "an evaluation")
    columns = columns_of(df, text_col, label_col, separator)
    classifier = model if isinstance(model, TextClassifier) else TextClassifier.load(model)
    measurer = Measurer(shared_model(df.sparkSession, classifier), columns)
    partial = map_batches(df.select(*columns.names), measurer, MEASURE_SCHEMA)
    rows = collect(partial.groupBy("category").agg(*(F.sum(name).alias(name) for name in "abcde")).orderBy("category"))
    if rows.num_rows == 0:
        raise DataError("there are no documents to evaluate")
    sums = np.stack([np.asarray(rows[name]) for name in "abcde"])
    return _evaluation(classifier, sums[:, 1:], sums[:, 0])


def _evaluation(classifier: TextClassifier, by_category: Array, everything: Array) -> SparkEvaluation:
    n_documents, n_right, unlike_one, n_unreadable, loss_of_truth = everything
    if not n_documents or not by_category[2].sum():
        raise DataError("no text that can be read has a category the model knows; is the right column named?")
    right, assigned, positives = by_category[:3].astype(np.int64)
    counts = Contingency(right, assigned, positives, int(n_documents))
    measures = evaluate_counts(counts, n_right / n_documents, classifier.categories_)
    if not classifier.has_probabilities_:
        return SparkEvaluation(measures, None, None, int(n_unreadable))
    whole = not classifier.multilabel_ and unlike_one == 0
    n_forecasts = n_documents if whole else n_documents * len(classifier.categories_)
    loss = loss_of_truth if whole else by_category[3].sum()
    return SparkEvaluation(measures, loss / n_forecasts, by_category[4].sum() / n_forecasts, int(n_unreadable))
