"""Reports: one self-contained HTML page of an evaluation, a comparison, a filter or a model.

`report_content` and `comparison_content` gather what to show; `evaluation_report` and
`comparison_report` write it. `model_card` describes a model; the functions `plot_...` draw charts.
"""

from bayesift.report.card import ModelCard, model_card
from bayesift.report.content import (
    ComparisonContent,
    Confusion,
    EvaluationContent,
    Fact,
    Measure,
    Mistake,
    Span,
    System,
)
from bayesift.report.gather import comparison_content, report_content
from bayesift.report.pages import comparison_report, evaluation_report, filter_report
from bayesift.report.plots import (
    plot_confusion,
    plot_learning_curve,
    plot_reliability,
    plot_top_terms,
)

__all__ = [
    "ComparisonContent",
    "Confusion",
    "EvaluationContent",
    "Fact",
    "Measure",
    "Mistake",
    "ModelCard",
    "Span",
    "System",
    "comparison_content",
    "comparison_report",
    "evaluation_report",
    "filter_report",
    "model_card",
    "plot_confusion",
    "plot_learning_curve",
    "plot_reliability",
    "plot_top_terms",
    "report_content",
]
