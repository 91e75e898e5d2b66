"""Decision rules where no scores of training documents are at hand."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from bayesift.classifier.labels import LabelForm
from bayesift.errors import DataError
from bayesift.thresholds import THRESHOLD_RULES, Bayes, Sign, ThresholdRule, Utility, threshold_rule


def fixed_rule(threshold: str | ThresholdRule, form: LabelForm, *, probabilities: bool) -> ThresholdRule:
    """A rule that learns nothing from scores, ready to decide; others are refused.

    Parameters
    ----------
    threshold : the name of a rule, or a rule
    form : the categories that are decided on
    probabilities : whether "auto" stands for a rule on probabilities

    Examples
    --------
    >>> fixed_rule("auto", LabelForm("sets", ("crude", "grain")), probabilities=True).thresholds_.tolist()
    [0.5, 0.5]
    """
    by_kind = "bayes" if probabilities else "sign"
    named = by_kind if threshold == "auto" else threshold
    if isinstance(named, str) and named not in THRESHOLD_RULES:
        raise DataError(f"no rule {named!r}; there are: auto, {', '.join(THRESHOLD_RULES)}")
    rule: ThresholdRule = threshold_rule(named) if isinstance(named, str) else clone(named)
    if not isinstance(rule, Bayes | Sign) and not (isinstance(rule, Utility) and rule.calibrated):
        raise DataError(
            f"{type(rule).__name__} learns from the scores of documents; on Spark use bayes, sign or utility"
        )
    n_scores = 1 if not form.multilabel and len(form.categories) == 2 else len(form.categories)
    return rule.fit(np.zeros((1, n_scores)), np.full((1, n_scores), 0.5))
