"""Measures of decisions, rankings, probabilities and filters; significance; pictures."""

from bayesift.evaluation.bootstrap import (
    BootstrapDifference,
    Estimate,
    F1Estimates,
    bootstrap_f1,
    bootstrap_mean,
    paired_bootstrap,
)
from bayesift.evaluation.calibration import (
    ReliabilityCurve,
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability_curve,
    wilson_interval,
)
from bayesift.evaluation.contingency import Contingency
from bayesift.evaluation.filtering import linear_utility, scaled_utility, t9p, t9u, zero_returns
from bayesift.evaluation.measures import accuracy, f1, precision, recall
from bayesift.evaluation.plots import category_f1_bars, precision_recall_plot, reliability_diagram
from bayesift.evaluation.ranking import PrecisionRecallCurve, average_precision, r_precision
from bayesift.evaluation.reading import average_time_to_discovery, work_saved
from bayesift.evaluation.scores import (
    Averages,
    CategoryScores,
    Probabilities,
    Scores,
    evaluate_counts,
    evaluate_decisions,
)
from bayesift.evaluation.significance import PairedTest, holm, macro_sign_test, mcnemar_test, micro_sign_test
from bayesift.evaluation.significance_table import SignificanceTable, significance_table

__all__ = [
    "Averages",
    "BootstrapDifference",
    "CategoryScores",
    "Contingency",
    "Estimate",
    "F1Estimates",
    "PairedTest",
    "PrecisionRecallCurve",
    "Probabilities",
    "ReliabilityCurve",
    "Scores",
    "SignificanceTable",
    "accuracy",
    "average_precision",
    "average_time_to_discovery",
    "bootstrap_f1",
    "bootstrap_mean",
    "brier_score",
    "category_f1_bars",
    "evaluate_counts",
    "evaluate_decisions",
    "expected_calibration_error",
    "f1",
    "holm",
    "linear_utility",
    "log_loss",
    "macro_sign_test",
    "mcnemar_test",
    "micro_sign_test",
    "paired_bootstrap",
    "precision",
    "precision_recall_plot",
    "r_precision",
    "recall",
    "reliability_curve",
    "reliability_diagram",
    "scaled_utility",
    "significance_table",
    "t9p",
    "t9u",
    "wilson_interval",
    "work_saved",
    "zero_returns",
]
