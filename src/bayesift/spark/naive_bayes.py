"""Naive Bayes from the counts of a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.features import SelectTerms
from bayesift.models import LEARNERS, NaiveBayesClassifier
from bayesift.models.naive_bayes.kinds import describe_smoothing
from bayesift.models.state import describe_classes
from bayesift.spark.deciding import fixed_rule
from bayesift.spark.vocabulary import columns_of, pair_counts, survey
from bayesift.text import TermVectorizer
from bayesift.thresholds import ThresholdedClassifier, ThresholdRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    """Naive Bayes of a labelled DataFrame, in two passes over it; the counts are those of a local fit, to the last bit.

    Parameters
    ----------
    df : with a column of texts and one of categories: a name, a list of names, or a string to split
    text_col, label_col : those columns
    model : a naive Bayes learner of `bayesift.models.LEARNERS`, or an unfitted classifier
    vectorizer : unfitted; None takes the weighting the model wants
    selection : which terms to keep; all without
    threshold : a rule that learns nothing from scores: "auto", "bayes", "sign" or a calibrated utility
    separator : what stands between several categories of a string
    skip_bad : leave out texts that cannot be read, instead of refusing the documents

    Examples
    --------
    >>> fit_naive_bayes(spark.read.parquet("news"), label_col="topics").save("model.zip")  # doctest: +SKIP
    """
    learner = _learner(model)
    columns = columns_of(df, text_col, label_col, separator)
    surveyed = survey(df, columns, vectorizer, skip_bad=skip_bad)
    form = surveyed.form
    assert form is not None
    rule = fixed_rule(threshold, form, probabilities=True)
    counts = pair_counts(df, columns, surveyed)
    chosen = None
    if selection is not None:
        chosen = clone(selection).fit_tables(counts.tables(), form.categories)
        counts = counts.taking(np.flatnonzero(chosen.get_support()))
    classes = np.arange(len(form.categories)) if form.multilabel else np.array(form.categories, dtype=object)
    parameters: dict[str, Any] = {
        "smoothing": describe_smoothing(learner.smoothing),
        "priors": learner.priors,
        "classes": describe_classes(classes),
        "multilabel": form.multilabel,
    }
    fitted = NaiveBayesClassifier.from_state(parameters, counts.category_counts().to_arrays())
    estimator = ThresholdedClassifier.assembled(fitted, rule, multilabel=form.multilabel)
    return TextClassifier.assembled(form, estimator, surveyed.vectorizer, chosen)


def _learner(model: str | NaiveBayesClassifier) -> NaiveBayesClassifier:
    made = LEARNERS[model].make() if isinstance(model, str) and model in LEARNERS else model
    if not isinstance(made, NaiveBayesClassifier):
        kinds = [name for name, kind in LEARNERS.items() if isinstance(kind.make(), NaiveBayesClassifier)]
        raise DataError(f"{model!r:.60} is no naive Bayes learner of ours; these are: {', '.join(kinds)}")
    return made
