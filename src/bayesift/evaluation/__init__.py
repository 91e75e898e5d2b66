"""Measures of decisions, rankings, probabilities and filters; significance; charts."""

from bayesift.evaluation.bootstrap import Estimate, bootstrap_f1, bootstrap_mean, paired_bootstrap
from bayesift.evaluation.calibration import (
    ReliabilityCurve,
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability_curve,
    reliability_diagram,
    top_label_calibration_error,
    top_label_curve,
)
from bayesift.evaluation.filtering import linear_utility, scaled_utility, t9p, t9u, zero_returns
from bayesift.evaluation.measures import Contingency, accuracy, f1, precision, recall
from bayesift.evaluation.ranking import (
    PrecisionRecallCurve,
    average_precision,
    average_time_to_discovery,
    precision_recall_plot,
    r_precision,
    work_saved,
)
from bayesift.evaluation.scores import Scores, category_f1_bars, evaluate_decisions
from bayesift.evaluation.significance import (
    PairedTest,
    SignificanceTable,
    holm,
    macro_sign_test,
    mcnemar_test,
    micro_sign_test,
    significance_table,
)

__all__ = [
    "Contingency",
    "Estimate",
    "PairedTest",
    "PrecisionRecallCurve",
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
    "top_label_calibration_error",
    "top_label_curve",
    "work_saved",
    "zero_returns",
]
