"""Decision rules: scores in, decisions out, category by category."""

from bayesift.thresholds.classifier import (
    THRESHOLD_RULES,
    ThresholdedClassifier,
    category_folds,
    threshold_rule,
)
from bayesift.thresholds.empirical import (
    EmpiricalRule,
    MaxF1,
    MinimumErrors,
    PrecisionTarget,
    RecallTarget,
    SCut,
    Utility,
)
from bayesift.thresholds.rules import (
    Bayes,
    ExpectedF1,
    PCut,
    RCut,
    Sign,
    ThresholdRule,
    expected_f1_thresholds,
)

__all__ = [
    "THRESHOLD_RULES",
    "Bayes",
    "EmpiricalRule",
    "ExpectedF1",
    "MaxF1",
    "MinimumErrors",
    "PCut",
    "PrecisionTarget",
    "RCut",
    "RecallTarget",
    "SCut",
    "Sign",
    "ThresholdRule",
    "ThresholdedClassifier",
    "Utility",
    "category_folds",
    "expected_f1_thresholds",
    "threshold_rule",
]
