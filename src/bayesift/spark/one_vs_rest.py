"""Linear models of a DataFrame: categories dealt out to executors, or blocks of rows that answer questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from sklearn.base import clone

from bayesift.classifier import TextClassifier
from bayesift.classifier.labels import LabelForm
from bayesift.classifier.text_classifier import own_terms
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.models import LEARNERS, SparseBayesClassifier, make_learner
from bayesift.spark.blocks import BLOCK_SCHEMA, BlockMaker
from bayesift.spark.counting import DocumentColumns
from bayesift.spark.deciding import fixed_rule
from bayesift.spark.fan_out import SparkWorkers
from bayesift.spark.frames import map_batches
from bayesift.spark.models import shared_vectorizer
from bayesift.spark.row_blocks import Margins, RowBlocks, check_learner, fit_row_blocks
from bayesift.spark.vocabulary import PairCounts, Surveyed, columns_of, pair_counts, survey
from bayesift.text import TermVectorizer
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Array = np.ndarray[Any, Any]
Strategy = Literal["auto", "categories", "rows"]

MATRIX_BYTES = 4 * 1024**3
_BYTES_OF_ENTRY = 24  # a number and a place, by rows and by columns


@dataclass(frozen=True, eq=False)
class OneVsRestFit:
    """A fitted classifier, and how it was found.

    Parameters
    ----------
    classifier : text in, categories out
    strategy : "categories" or "rows"
    gaps : with "rows", a bound of the share of each model's objective that is left to gain; None with "categories",
        whose solvers meet the tolerance of the model
    """

    classifier: TextClassifier
    strategy: str
    gaps: Array | None


def fit_one_vs_rest(
    df: DataFrame,
    text_col: str = "text",
    label_col: str = "label",
    *,
    model: str | SparseBayesClassifier = "logistic-laplace",
    vectorizer: TermVectorizer | None = None,
    selection: SelectTerms | None = None,
    threshold: str | ThresholdRule = "auto",
    threshold_cv: int | None = None,
    strategy: Strategy = "auto",
    tolerance: float | None = None,
    separator: str | None = None,
    skip_bad: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> OneVsRestFit:
    """A linear model a category of a labelled DataFrame.

    Parameters
    ----------
    df : with a column of texts and one of categories: a name, a list of names, or a string to split
    text_col, label_col : those columns
    model : a linear learner of `bayesift.models.LEARNERS`, or an unfitted `SparseBayesClassifier`
    vectorizer : unfitted; None takes the weighting the model wants
    selection : which terms to keep; all without
    threshold, threshold_cv : as in `TextClassifier`; with "rows" only rules that learn nothing from scores
    strategy : "categories" gathers the vectors of all documents in one matrix, which every executor maps, and deals out
        categories; folds, paths and searches of the prior's scale too. "rows" leaves blocks of documents where they are
        and asks them for gradients. "auto" takes the first up to 4 GiB
    tolerance : with "rows", the share of the objective that may be left to gain, by its bound; see `fit_row_blocks`
    separator : what stands between several categories of a string
    skip_bad : leave out texts that cannot be read, instead of refusing the documents
    progress : with "rows", called with how many models are done and how many questions their successors asked

    Examples
    --------
    >>> fit = fit_one_vs_rest(spark.read.parquet("news"), label_col="topics")  # doctest: +SKIP
    >>> fit.classifier.save("model.zip")  # doctest: +SKIP
    """
    if strategy not in get_args(Strategy):
        raise DataError(f"strategy must be one of {', '.join(get_args(Strategy))}, got {strategy!r}")
    learner = _learner(model)
    if strategy == "rows":
        check_learner(learner)
    columns = columns_of(df, text_col, label_col, separator)
    wanted = TermVectorizer(weighting=_weighting(model)) if vectorizer is None else vectorizer
    surveyed = survey(df, columns, wanted, skip_bad=skip_bad)
    form = surveyed.form
    assert form is not None
    counts = None if selection is None and strategy == "categories" else pair_counts(df, columns, surveyed)
    chosen = None
    if selection is not None and counts is not None:
        chosen = clone(selection).fit_tables(counts.tables(), form.categories)
        counts = counts.taking(np.flatnonzero(chosen.get_support()))
    n_terms = len(surveyed.vectorizer.vocabulary_) if counts is None else len(counts.term_documents)
    with RowBlocks(_blocks(df, columns, surveyed, chosen), n_terms, len(form.categories)) as blocks:
        if strategy == "auto":
            strategy = "categories" if blocks.sizes()[1] * _BYTES_OF_ENTRY <= MATRIX_BYTES else "rows"
        if strategy == "categories":
            estimator = _by_categories(blocks, learner, form, chosen, threshold, threshold_cv)
            gaps = None
        else:
            assert counts is not None
            estimator, gaps = _by_rows(blocks, learner, form, counts, threshold, tolerance, progress)
    return OneVsRestFit(TextClassifier.assembled(form, estimator, surveyed.vectorizer, chosen), strategy, gaps)


def _learner(model: str | SparseBayesClassifier) -> SparseBayesClassifier:
    made = make_learner(model) if isinstance(model, str) and model in LEARNERS else model
    if not isinstance(made, SparseBayesClassifier):
        linear = [name for name, kind in LEARNERS.items() if isinstance(kind.make(), SparseBayesClassifier)]
        raise DataError(f"{model!r:.60} is no linear model of ours; these are: {', '.join(linear)}")
    return made


def _weighting(model: str | SparseBayesClassifier) -> Any:
    return LEARNERS[model].weighting if isinstance(model, str) else "tf"


def _blocks(df: DataFrame, columns: DocumentColumns, surveyed: Surveyed, chosen: SelectTerms | None) -> DataFrame:
    assert surveyed.form is not None
    kept = None if chosen is None else np.flatnonzero(chosen.get_support())
    shared = shared_vectorizer(df.sparkSession, surveyed.vectorizer)
    maker = BlockMaker(columns, surveyed.form.categories, shared, kept)
    return map_batches(df.select(*columns.names), maker, BLOCK_SCHEMA)


def _by_categories(
    blocks: RowBlocks,
    learner: SparseBayesClassifier,
    form: LabelForm,
    chosen: SelectTerms | None,
    threshold: str | ThresholdRule,
    threshold_cv: int | None,
) -> ThresholdedClassifier:
    """The local fit, but for who solves."""
    X, labels = blocks.gathered()
    names = np.array(form.categories, dtype=object)
    y = labels if form.multilabel else names[labels.indices]
    dealt: Any = clone(learner).set_params(n_jobs=SparkWorkers(blocks.df.sparkSession))
    estimator = ThresholdedClassifier(dealt, rule=threshold, cv=threshold_cv)
    estimator.fit(X, y, **own_terms(dealt, chosen, multilabel=form.multilabel))
    estimator.estimator_.set_params(n_jobs=None)
    estimator.set_params(estimator=clone(learner))
    return estimator


def _by_rows(
    blocks: RowBlocks,
    learner: SparseBayesClassifier,
    form: LabelForm,
    counts: PairCounts,
    threshold: str | ThresholdRule,
    tolerance: float | None,
    progress: Callable[[int, int], None] | None,
) -> tuple[ThresholdedClassifier, Array]:
    rule = fixed_rule(threshold, form, probabilities=True)
    margins = Margins(int(counts.n_documents), counts.sizes, counts.term_squares)
    n_categories = len(form.categories)
    models = [1] if not form.multilabel and n_categories == 2 else list(range(n_categories))
    solutions, gaps = fit_row_blocks(blocks, learner, margins, models, tolerance=tolerance, progress=progress)
    classes = np.arange(n_categories) if form.multilabel else np.array(form.categories, dtype=object)
    fitted = clone(learner).fit_solutions(solutions, classes, multilabel=form.multilabel)
    return ThresholdedClassifier.assembled(fitted, rule, multilabel=form.multilabel), gaps
