"""Reports: one self-contained HTML page of an evaluation or a comparison, for any browser and any screen.

`report_content` and `comparison_content` gather what to show; `evaluation_report` and `comparison_report` write it.
"""

from bayesift.report.comparison_report import comparison_report
from bayesift.report.content import (
    CategoryRow,
    CategoryWords,
    ComparisonContent,
    Confusion,
    Curve,
    EvaluationContent,
    Fact,
    Measure,
    Mistake,
    ReliabilityBin,
    Span,
    System,
    WordWeight,
)
from bayesift.report.evaluation_report import evaluation_report
from bayesift.report.filter_page import filter_report
from bayesift.report.gather import comparison_content, report_content
from bayesift.report.top_terms import top_terms

__all__ = [
    "CategoryRow",
    "CategoryWords",
    "ComparisonContent",
    "Confusion",
    "Curve",
    "EvaluationContent",
    "Fact",
    "Measure",
    "Mistake",
    "ReliabilityBin",
    "Span",
    "System",
    "WordWeight",
    "comparison_content",
    "comparison_report",
    "evaluation_report",
    "filter_report",
    "report_content",
    "top_terms",
]
