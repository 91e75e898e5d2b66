"""Decision rules: scores in, decisions out, category by category."""

from bayesift.thresholds.bayes import Bayes
from bayesift.thresholds.classifier import ThresholdedClassifier
from bayesift.thresholds.empirical import EmpiricalRule, MaxF1, MinimumErrors, PrecisionTarget, RecallTarget, SCut
from bayesift.thresholds.expected_f1 import ExpectedF1, expected_f1_thresholds
from bayesift.thresholds.folds import category_folds
from bayesift.thresholds.intervals import threshold_intervals
from bayesift.thresholds.ranks import PCut, RCut
from bayesift.thresholds.registry import THRESHOLD_RULES, threshold_rule
from bayesift.thresholds.rule import ThresholdRule
from bayesift.thresholds.sign import Sign
from bayesift.thresholds.utility import Utility

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
    "threshold_intervals",
    "threshold_rule",
]
