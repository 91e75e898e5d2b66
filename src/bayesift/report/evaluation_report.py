"""The report of one evaluated model."""

from __future__ import annotations

from bayesift.report.categories import categories_section
from bayesift.report.content import EvaluationContent
from bayesift.report.mistakes import mistakes_section
from bayesift.report.page import page
from bayesift.report.sections import (
    confusion_section,
    curves_section,
    scores_section,
    words_section,
)


def evaluation_report(content: EvaluationContent) -> str:
    """One self-contained HTML page; sections without content are left out.

    Examples
    --------
    >>> from bayesift.report import EvaluationContent, Measure
    >>> text = evaluation_report(EvaluationContent("Spam", (), (Measure("accuracy", 0.98, "Decided right."),), ()))
    >>> "<h1><bdi>Spam</bdi></h1>" in text, "Confusion" in text
    (True, False)
    """
    sections = [
        scores_section(content.measures) if content.measures else None,
        categories_section(content.categories) if content.categories else None,
        curves_section(content.curves, content.reliability) if content.curves or content.reliability else None,
        confusion_section(content.confusion) if content.confusion else None,
        words_section(content.words) if content.words else None,
        mistakes_section(content.mistakes) if content.mistakes else None,
    ]
    return page(content.title, content.facts, [part for part in sections if part is not None])
