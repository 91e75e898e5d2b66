"""Vocabularies, contingency tables and term scores of a DataFrame.

Partial counts of batches are summed by Spark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from sklearn.base import clone

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.classifier.labels import LabelForm
from bayesift.errors import DataError
from bayesift.features import SCORES, TermTables
from bayesift.models.naive_bayes.language_models import CategoryCounts
from bayesift.spark import counting
from bayesift.spark.counting import (
    CATEGORY,
    EVERY,
    TERM,
    TOTAL,
    DocumentColumns,
    PairCounter,
    Survey,
)
from bayesift.spark.session import check_column, collect, map_batches, refuse_stream
from bayesift.spark.sharing import shared_vectorizer
from bayesift.text import TermVectorizer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_LABELS = ("string", "array<string>", "int", "bigint", "smallint", "boolean")


class Surveyed(NamedTuple):
    """What one pass over documents tells: the fitted vectorizer, and the categories.

    None without labels.
    """

    vectorizer: TermVectorizer
    form: LabelForm | None


def columns_of(
    df: DataFrame, text_col: str, label_col: str | None, separator: str | None
) -> DocumentColumns:
    """Check and return the columns of texts and labels."""
    check_column(df, text_col, ("string", "binary"), "the text")
    if label_col is not None:
        check_column(df, label_col, _LABELS, "the categories")
    return DocumentColumns(text_col, label_col, separator)


def survey(
    df: DataFrame,
    columns: DocumentColumns,
    vectorizer: TermVectorizer | None = None,
    *,
    skip_bad: bool = False,
) -> Surveyed:
    """Learn the vocabulary and the categories of a DataFrame.

    Skip_bad omits texts that cannot be read.
    """
    from pyspark.sql import functions as F  # noqa: N812

    refuse_stream(df, "a vocabulary")
    wanted = TermVectorizer() if vectorizer is None else vectorizer
    partial = map_batches(
        df.select(*columns.names), Survey(columns, _portable(wanted)), counting.SURVEY_SCHEMA
    )
    summed = partial.groupBy("kind", "name").agg(
        F.sum("documents").alias("documents"), F.sum("occurrences").alias("n")
    )
    if isinstance(wanted.min_df, int) and not (wanted.drop_frequent or wanted.drop_rare):
        # Rare terms are most of them, and need not come to the driver.
        summed = summed.where((F.col("kind") != TERM) | (F.col("documents") >= wanted.min_df))
    rows = collect(summed)
    totals = _named(rows, TOTAL)
    n_documents = totals[counting.DOCUMENTS]
    n_unreadable = totals[counting.UNREADABLE]
    if n_unreadable and not skip_bad:
        share = f"{n_unreadable:,} of {n_documents + n_unreadable:,}"
        raise DataError(
            f"{share} texts cannot be read; `score` says why; skip_bad (--skip-bad) omits them"
        )
    terms = rows.filter(pc.equal(rows["kind"], TERM)).combine_chunks()
    names = terms["name"].cast(pa.large_string()).combine_chunks()
    fitted: TermVectorizer = clone(_portable(wanted)).fit_frequencies(
        names, np.asarray(terms["documents"]), np.asarray(terms["n"]), n_documents
    )
    if columns.label is None:
        form = None
    else:
        form = _form(sorted(_named(rows, CATEGORY)), totals[counting.UNLIKE_ONE] == 0)
    return Surveyed(fitted, form)


def _portable(vectorizer: TermVectorizer) -> TermVectorizer:
    """Return the same vectorizer without what belongs to this process."""
    portable: TermVectorizer = clone(vectorizer).set_params(progress=None, n_jobs=None)
    return portable


def _named(rows: pa.Table, kind: str) -> dict[str, int]:
    chosen = rows.filter(pc.equal(rows["kind"], kind))
    return dict(zip(chosen["name"].to_pylist(), chosen["documents"].to_pylist(), strict=True))


def _form(categories: list[str], single: bool) -> LabelForm:
    if not categories:
        raise DataError("no document has a category; is the right column named?")
    if single:
        return LabelForm("single", tuple(categories))
    return LabelForm("sets", tuple(categories), container="list")


def vocabulary(
    df: DataFrame,
    text_col: str = "text",
    *,
    vectorizer: TermVectorizer | None = None,
    skip_bad: bool = False,
) -> TermVectorizer:
    """Fit the vectorizer to the texts of a DataFrame, with the columns of a local `fit`.

    Parameters
    ----------
    df : with a column of strings, or of bytes in UTF-8
    text_col : that column
    vectorizer : unfitted; says what a term is, and which to leave out
    skip_bad : leave out texts that cannot be read, instead of refusing the documents

    Examples
    --------
    >>> vocabulary(spark.read.parquet("news"),
    ...     vectorizer=TermVectorizer(min_df=5))  # doctest: +SKIP
    """
    return survey(
        df, columns_of(df, text_col, None, None), vectorizer, skip_bad=skip_bad
    ).vectorizer


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The counts of every (category, term) that occurs, sorted, and their margins.

    These are the documents of each category, and for each term its documents and the sums of its
    weights and their squares.
    """

    category: Array
    term: Array
    documents: Array
    weight: Array
    sizes: Array
    term_documents: Array
    term_weights: Array
    term_squares: Array
    n_documents: float

    @classmethod
    def of(cls, rows: pa.Table, n_categories: int, n_terms: int) -> PairCounts:
        """Sum the counts of rows as `PairCounter` gives them."""
        category, term, documents, weight, squares = (
            np.asarray(rows[name]) for name in rows.column_names
        )
        sizes = np.zeros(n_categories)
        margins = np.zeros((3, n_terms))
        of_terms = (category == EVERY) & (term != EVERY)
        of_categories = (category != EVERY) & (term == EVERY)
        margins[:, term[of_terms]] = documents[of_terms], weight[of_terms], squares[of_terms]
        sizes[category[of_categories]] = documents[of_categories]
        everything = documents[(category == EVERY) & (term == EVERY)]
        pairs = np.flatnonzero((category != EVERY) & (term != EVERY))
        pairs = pairs[np.lexsort((term[pairs], category[pairs]))]
        columns = (category[pairs], term[pairs], documents[pairs], weight[pairs])
        return cls(*columns, sizes, margins[0], margins[1], margins[2], float(everything.sum()))

    def tables(self) -> TermTables:
        """As term scores take them."""
        parts = (self.term_documents, self.term_weights, self.term_squares)
        joint = self._matrix(self.documents)
        cross = self._matrix(self.weight)
        return TermTables(int(self.n_documents), self.sizes, *parts, joint, cross)

    def category_counts(self) -> CategoryCounts:
        """As naive Bayes takes them."""
        margins = self.sizes, self.term_weights, self.term_documents, self.n_documents
        return CategoryCounts(self._matrix(self.weight), self.documents, *margins)

    def taking(self, terms: IntArray) -> PairCounts:
        """Return the counts of these terms only, ascending columns."""
        index = np.full(len(self.term_documents), -1, dtype=np.int32)
        index[terms] = np.arange(len(terms), dtype=np.int32)
        kept = index[self.term] >= 0
        pairs = (
            self.category[kept],
            index[self.term[kept]],
            self.documents[kept],
            self.weight[kept],
        )
        margins = (
            self.term_documents[terms],
            self.term_weights[terms],
            self.term_squares[terms],
        )
        return PairCounts(*pairs, self.sizes, *margins, self.n_documents)

    def _matrix(self, values: FloatArray) -> SparseRows:
        shape = len(self.sizes), len(self.term_documents)
        indptr = np.searchsorted(self.category, np.arange(shape[0] + 1)).astype(np.int32)
        return sparse.csr_array((values, self.term.astype(np.int32), indptr), shape=shape)


def pair_counts(df: DataFrame, columns: DocumentColumns, surveyed: Surveyed) -> PairCounts:
    """Count every (category, term) of a DataFrame; sums of whole numbers are exact."""
    from pyspark.sql import functions as F  # noqa: N812

    assert surveyed.form is not None
    shared = shared_vectorizer(df.sparkSession, surveyed.vectorizer)
    counter = PairCounter(columns, surveyed.form.categories, shared)
    partial = map_batches(df.select(*columns.names), counter, counting.PAIR_SCHEMA)
    sums = [F.sum(name).alias(name) for name in ("documents", "weight", "squares")]
    rows = collect(partial.groupBy("category", "term").agg(*sums))
    return PairCounts.of(
        rows, len(surveyed.form.categories), len(surveyed.vectorizer.vocabulary_)
    )


@dataclass(frozen=True, eq=False)
class TermScores:
    """Scores of terms (categories x terms), and the counts they come from."""

    terms: list[str]
    categories: tuple[str, ...]
    scores: FloatArray
    tables: TermTables


def term_scores(
    df: DataFrame,
    text_col: str = "text",
    label_col: str = "label",
    *,
    by: str = "likelihood-ratio",
    vectorizer: TermVectorizer | None = None,
    separator: str | None = None,
    skip_bad: bool = False,
) -> TermScores:
    """Score the terms of a labelled DataFrame, in two passes over it.

    Parameters
    ----------
    df : with a column of texts and one of categories: a name, a list of names, or a string to split
    text_col, label_col : those columns
    by : a name of `bayesift.features.SCORES`
    vectorizer, skip_bad : as in `vocabulary`
    separator : what stands between several categories of a string

    Examples
    --------
    >>> term_scores(spark.read.parquet("news"), label_col="topics",
    ...     by="chi2").scores.shape  # doctest: +SKIP
    """
    if by not in SCORES:
        raise DataError(f"no score {by!r}; there are: {', '.join(SCORES)}")
    columns = columns_of(df, text_col, label_col, separator)
    surveyed = survey(df, columns, vectorizer, skip_bad=skip_bad)
    assert surveyed.form is not None
    tables = pair_counts(df, columns, surveyed).tables()
    terms = surveyed.vectorizer.vocabulary_.names
    return TermScores(terms, surveyed.form.categories, SCORES[by](tables), tables)
