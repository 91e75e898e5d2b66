"""Models of a labelled DataFrame: naive Bayes, and linear models by rows or categories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from sklearn.base import clone

from bayesift.arrays import Array
from bayesift.classifier import TextClassifier
from bayesift.classifier.labels import LabelForm
from bayesift.classifier.model_options import fit_options, vectorizer_for
from bayesift.errors import DataError
from bayesift.features import Design, SelectTerms
from bayesift.models import LEARNERS, make_learner
from bayesift.models.linear import SparseBayesClassifier
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.spark.blocks import BLOCK_SCHEMA, BlockMaker
from bayesift.spark.counting import DocumentColumns
from bayesift.spark.row_blocks import RowBlocks, Totals, check_learner, fit_row_blocks
from bayesift.spark.session import map_batches
from bayesift.spark.sharing import SparkWorkers, shared_vectorizer
from bayesift.spark.vocabulary import PairCounts, Surveyed, columns_of, pair_counts, survey
from bayesift.text import TermVectorizer
from bayesift.thresholds import (
    THRESHOLD_RULES,
    Bayes,
    Sign,
    ThresholdedClassifier,
    ThresholdRule,
    Utility,
    threshold_rule,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Learner = TypeVar("Learner")
Strategy = Literal["auto", "categories", "rows"]

MATRIX_BYTES = 4 * 1024**3
_BYTES_OF_ENTRY = 24  # a number and a place, by rows and by columns


def fixed_rule(
    threshold: str | ThresholdRule, form: LabelForm, *, probabilities: bool
) -> ThresholdRule:
    """Return a rule that learns nothing from scores, ready to decide.

    Others are refused. "auto" is bayes or sign.
    """
    named = threshold
    if threshold == "auto":
        named = "bayes" if probabilities else "sign"
    if isinstance(named, str) and named not in THRESHOLD_RULES:
        raise DataError(f"no rule {named!r}; there are: auto, {', '.join(THRESHOLD_RULES)}")
    rule: ThresholdRule = threshold_rule(named) if isinstance(named, str) else clone(named)
    if not isinstance(rule, Bayes | Sign) and not (
        isinstance(rule, Utility) and rule.calibrated
    ):
        kind = type(rule).__name__
        raise DataError(
            f"{kind} learns from the scores of documents; on Spark use bayes, sign or utility"
        )
    n_scores = 1 if not form.multilabel and len(form.categories) == 2 else len(form.categories)
    return rule.fit(np.zeros((1, n_scores)), np.full((1, n_scores), 0.5))


def fit_naive_bayes(
    df: DataFrame,
    text_col: str = "text",
    label_col: str = "label",
    *,
    model: str | NaiveBayesClassifier = "naive-bayes",
    vectorizer: TermVectorizer | None = None,
    selection: SelectTerms | None = None,
    threshold: str | ThresholdRule = "auto",
    separator: str | None = None,
    skip_bad: bool = False,
) -> TextClassifier:
    """Naive Bayes of a labelled DataFrame, in two passes over it.

    The counts are those of a local fit, to the last bit.

    Parameters
    ----------
    df : with a column of texts and one of categories: a name, a list of names, or a string to split
    text_col, label_col : those columns
    model : a naive Bayes learner of `bayesift.models.LEARNERS`, or an unfitted classifier
    vectorizer : unfitted; None takes the weighting the model wants
    selection : which terms to keep; all by default
    threshold : a rule that learns nothing from scores: "auto", "bayes", "sign" or a calibrated
        utility
    separator : the separator of several categories in a string
    skip_bad : leave out texts that cannot be read, instead of refusing the documents

    Examples
    --------
    >>> fit_naive_bayes(spark.read.parquet("news"),
    ...     label_col="topics").save("model.zip")  # doctest: +SKIP
    """
    learner = _learner(model, NaiveBayesClassifier, "naive Bayes learner")
    columns = columns_of(df, text_col, label_col, separator)
    surveyed = survey(df, columns, vectorizer, skip_bad=skip_bad)
    form = surveyed.form
    assert form is not None
    rule = fixed_rule(threshold, form, probabilities=True)
    counts = pair_counts(df, columns, surveyed)
    chosen = None
    if selection is not None:
        chosen, counts = _select(selection, counts, form)
    fitted = clone(learner).fit_counts(
        counts.category_counts(), _classes(form), multilabel=form.multilabel
    )
    estimator = ThresholdedClassifier.assembled(fitted, rule, multilabel=form.multilabel)
    return TextClassifier.assembled(form, estimator, surveyed.vectorizer, chosen)


@dataclass(frozen=True, eq=False)
class OneVsRestFit:
    """A fitted classifier, and how it was found.

    Parameters
    ----------
    classifier : text in, categories out
    strategy : "categories" or "rows"
    gaps : with "rows", a bound of the share of each model's objective that is left to gain; None
        with "categories", whose solvers reach the tolerance of the model
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
    """Linear models of a labelled DataFrame, one per category.

    Parameters
    ----------
    df : with a column of texts and one of categories: a name, a list of names, or a string to split
    text_col, label_col : those columns
    model : a linear learner of `bayesift.models.LEARNERS`, or an unfitted `SparseBayesClassifier`
    vectorizer : unfitted; None takes the weighting the model wants
    selection : which terms to keep; all by default
    threshold, threshold_cv : as in `TextClassifier`; with "rows" only rules that learn nothing from
        scores
    strategy : "categories" collects the vectors of all documents in one matrix, which every
        executor maps, and distributes the categories; folds, paths and searches of the prior's
        scale too. "rows" leaves blocks of documents where they are and sums their gradients. "auto"
        takes the first up to 4 GiB
    tolerance : with "rows", the share of the objective that may be left to gain, by its bound; see
        `fit_row_blocks`
    separator : the separator of several categories in a string
    skip_bad : leave out texts that cannot be read, instead of refusing the documents
    progress : with "rows", called with the number of models that are done and of evaluations for
        the next ones

    Examples
    --------
    >>> fit = fit_one_vs_rest(spark.read.parquet("news"), label_col="topics")  # doctest: +SKIP
    >>> fit.classifier.save("model.zip")  # doctest: +SKIP
    """
    if strategy not in get_args(Strategy):
        raise DataError(
            f"strategy must be one of {', '.join(get_args(Strategy))}, got {strategy!r}"
        )
    learner = _learner(model, SparseBayesClassifier, "linear model")
    if strategy == "rows":
        check_learner(learner)
    columns = columns_of(df, text_col, label_col, separator)
    surveyed = survey(df, columns, vectorizer_for(model, vectorizer), skip_bad=skip_bad)
    form = surveyed.form
    assert form is not None
    if selection is None and strategy == "categories":
        counts = None
    else:
        counts = pair_counts(df, columns, surveyed)
    chosen = None
    if selection is not None and counts is not None:
        chosen, counts = _select(selection, counts, form)
    n_terms = (
        len(surveyed.vectorizer.vocabulary_) if counts is None else len(counts.term_documents)
    )
    with RowBlocks(
        _blocks(df, columns, surveyed, chosen), n_terms, len(form.categories)
    ) as blocks:
        if strategy == "auto":
            if blocks.sizes()[1] * _BYTES_OF_ENTRY <= MATRIX_BYTES:
                strategy = "categories"
            else:
                strategy = "rows"
        if strategy == "categories":
            estimator = _by_categories(blocks, learner, form, chosen, threshold, threshold_cv)
            gaps = None
        else:
            assert counts is not None
            estimator, gaps = _by_rows(
                blocks, learner, form, counts, threshold, tolerance, progress
            )
    return OneVsRestFit(
        TextClassifier.assembled(form, estimator, surveyed.vectorizer, chosen), strategy, gaps
    )


def _blocks(
    df: DataFrame, columns: DocumentColumns, surveyed: Surveyed, chosen: SelectTerms | None
) -> DataFrame:
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
    """Fit as locally, with solvers on executors."""
    X, labels = blocks.collect()
    names = np.array(form.categories, dtype=object)
    y = labels if form.multilabel else names[labels.indices]
    distributed: Any = clone(learner).set_params(n_jobs=SparkWorkers(blocks.df.sparkSession))
    estimator = ThresholdedClassifier(distributed, rule=threshold, cv=threshold_cv)
    options = fit_options(
        distributed, chosen, Design.of_words(X), None, multilabel=form.multilabel
    )
    estimator.fit(X, y, **options)
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
    totals = Totals(int(counts.n_documents), counts.sizes, counts.term_squares)
    n_categories = len(form.categories)
    models = [1] if not form.multilabel and n_categories == 2 else list(range(n_categories))
    solutions, gaps = fit_row_blocks(
        blocks, learner, totals, models, tolerance=tolerance, progress=progress
    )
    fitted = clone(learner).fit_solutions(solutions, _classes(form), multilabel=form.multilabel)
    return ThresholdedClassifier.assembled(fitted, rule, multilabel=form.multilabel), gaps


def _learner(model: Any, kind: type[Learner], what: str) -> Learner:
    made = make_learner(model) if isinstance(model, str) and model in LEARNERS else model
    if not isinstance(made, kind):
        names = [name for name, learner in LEARNERS.items() if isinstance(learner.make(), kind)]
        raise DataError(
            f"{model!r:.60} is not a {what} of bayesift; there are: {', '.join(names)}"
        )
    return made


def _select(
    selection: SelectTerms, counts: PairCounts, form: LabelForm
) -> tuple[SelectTerms, PairCounts]:
    """Fit the selection, and return it with the counts of its terms."""
    chosen = clone(selection).fit_tables(counts.tables(), form.categories)
    return chosen, counts.taking(np.flatnonzero(chosen.get_support()))


def _classes(form: LabelForm) -> Array:
    if form.multilabel:
        return np.arange(len(form.categories))
    return np.array(form.categories, dtype=object)
