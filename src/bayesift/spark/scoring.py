"""Texts to categories and probabilities, batch by batch; and the same for a DataFrame, or a stream of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from bayesift.classifier import Predictions, TextClassifier, deciding_terms
from bayesift.errors import DataError
from bayesift.spark.frames import check_column, check_new, map_batches, sql_type
from bayesift.spark.sharing import shared_model
from bayesift.spark.texts import read_texts

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

CATEGORIES, PROBABILITIES, SCORES, TERMS, ERRORS = "categories", "probabilities", "scores", "terms", "errors"


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
    >>> scored.schema.names, scored["categories"].to_pylist(), scored["errors"].to_pylist()
    (['id', 'categories', 'probabilities', 'errors'], [['grain'], None], [None, 'the text is missing'])
    """

    model: Callable[[], TextClassifier]
    text: str
    kept: tuple[str, ...] = ()
    top: int | None = 3
    terms: int = 0

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The answers to each batch."""
        for batch in batches:
            yield self.score(batch)

    def score(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The answers to one batch, row by row."""
        classifier = self.model()
        readable = read_texts(batch.column(self.text))
        answers = Predictions.of(classifier, readable.texts, top=self.top)
        name, field = score_names(classifier)
        columns = {column: batch.column(column) for column in self.kept}
        columns[CATEGORIES] = readable.spread(answers.assigned())
        columns[name] = readable.spread(answers.ranked(field))
        if self.terms:
            terms = deciding_terms(classifier, readable.texts, answers.decisions, top=self.terms)
            columns[TERMS] = readable.spread(terms)
        columns[ERRORS] = readable.errors
        return pa.RecordBatch.from_pydict(columns)


def score_names(classifier: TextClassifier) -> tuple[str, str]:
    """What the column of scores is called, and the field in it."""
    return (PROBABILITIES, "probability") if classifier.has_probabilities_ else (SCORES, "score")


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
    The kept columns, and `categories` (a list of names), `probabilities` (a list of structs, the highest first; called
    `scores` where the model has none), `terms` if wanted, `errors` (null, or why the text could not be read)

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
    kept = tuple(column for column in df.columns if column != text_col) if id_col is None else (id_col,)
    classifier = model if isinstance(model, TextClassifier) else TextClassifier.load(model)
    if classifier.vectorizer_ is None:
        raise DataError("the model was trained on vectors, not on texts")
    schema = _schema(df, kept, classifier, terms)
    scorer = Scorer(shared_model(df.sparkSession, classifier), text_col, kept, top, terms)
    return map_batches(df.select(*kept, text_col), scorer, schema)


def _schema(df: DataFrame, kept: tuple[str, ...], classifier: TextClassifier, terms: int) -> str:
    name, field = score_names(classifier)
    new = {CATEGORIES: "array<string>", name: f"array<struct<category: string, {field}: double>>"}
    if terms:
        new[TERMS] = "array<struct<category: string, term: string, contribution: double>>"
    new[ERRORS] = "string"
    check_new(kept, new)
    return ", ".join([*(sql_type(df, column) for column in kept), *map(" ".join, new.items())])
