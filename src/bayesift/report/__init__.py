"""Reports: one self-contained HTML page of an evaluation, a comparison or a filter.

`report_content` and `comparison_content` gather what to show; `evaluation_report` and
`comparison_report` write it.
"""

from bayesift.report.content import (
    CategoryWords,
    ComparisonContent,
    Confusion,
    EvaluationContent,
    Fact,
    Measure,
    Mistake,
    Span,
    System,
    WordWeight,
)
from bayesift.report.gather import comparison_content, report_content
from bayesift.report.pages import comparison_report, evaluation_report, filter_report
from bayesift.report.top_terms import top_terms

__all__ = [
    "CategoryWords",
    "ComparisonContent",
    "Confusion",
    "EvaluationContent",
    "Fact",
    "Measure",
    "Mistake",
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
