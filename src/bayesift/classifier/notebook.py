"""What notebooks show of explanations, evaluations and fitted classifiers.

Everything that comes from texts is escaped. Colours are those of the charts and readable on dark
pages too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from bayesift.charts.svg import clean

if TYPE_CHECKING:
    from bayesift.classifier.explanation import CategoryExplanation, Explanation
    from bayesift.evaluation import Scores

_FOR, _AGAINST = "#0b6bb0", "#b8480a"
_LISTED = 10
_BAR = Markup(
    '<div style="position: relative; width: 160px; height: 10px"><div style="{}"></div></div>'
)
_CELL_STYLE = "padding: 2px 10px 2px 0; text-align: {}"
_CELL, _HEAD = Markup('<td style="{}">{}</td>'), Markup('<th style="{}">{}</th>')


def explanation_html(explanation: Explanation) -> str:
    """Draw the terms of each category, with bars to the right for and to the left against it."""
    parts = [_of_category(category) for category in explanation.categories]
    total = explanation.known + explanation.unseen
    seen = f"{explanation.unseen:,} of {total:,} tokens are not terms of the model"
    names = ", ".join(explanation.unseen_terms[:_LISTED]) + (
        ", ..." if len(explanation.unseen_terms) > _LISTED else ""
    )
    return _box(*parts, _line(f"{seen}: {names}" if names else seen))


def evaluation_html(measures: Scores, note: str = "") -> str:
    """Draw the averages and the largest categories."""
    head = f"{measures.n_documents:,} documents, accuracy {measures.accuracy:.4f}"
    averages = (("micro average", measures.micro), ("macro average", measures.macro))
    rows = [
        (name, "", _number(a.precision), _number(a.recall), _number(a.f1))
        for name, a in averages
    ]
    present = [row for row in measures.categories if row.positives]
    largest = sorted(present, key=lambda row: -row.positives)[:_LISTED]
    rows += [
        (
            row.category,
            f"{row.positives:,}",
            _number(row.precision),
            _number(row.recall),
            _number(row.f1),
        )
        for row in largest
    ]
    parts = [_table(("", "documents", "precision", "recall", "F1"), rows)]
    if measures.probabilities is not None:
        p = measures.probabilities
        parts.append(_line(f"log loss {p.log_loss:.4f}, Brier score {p.brier_score:.4f}"))
    left = len(present) - len(largest)
    more = [f"and {left:,} smaller categories"] if left else []
    notes = [*more, measures.describe_absent(), note]
    return _box(_heading(head), *parts, *(_line(line) for line in notes if line))


def classifier_html(classifier: Any) -> str:
    """Describe what a fitted classifier has learned, in one line and its categories."""
    names, corpus = classifier.categories_, classifier.corpus_
    listed = ", ".join(names[:_LISTED]) + (
        f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    )
    kind = type(classifier.model_).__name__
    facts = [f"{kind} with {classifier.estimator_.n_features_in_:,} terms"]
    if corpus:
        facts.append(
            f"learned from {corpus['documents']:,} documents"
            + (f" of {corpus['name']}" * bool(corpus["name"]))
        )
    several = "none, one or several of" if classifier.multilabel_ else "one of"
    lines = [", ".join(facts), f"{several} {len(names):,} categories: {listed}"]
    if classifier.expected_quality_ is not None:
        lines += classifier.expected_quality_.describe()
    return _box(*map(_line, lines))


def _of_category(category: CategoryExplanation) -> Markup:
    decided = "assigned" if category.assigned else "not assigned"
    limit = (
        "" if category.threshold is None else f", above {category.threshold:.3g} it is assigned"
    )
    head = f"{category.category}: {category.score:.4g} ({decided}{limit})"
    largest = max((abs(term.contribution) for term in category.terms), default=0) or 1.0
    rows = [("before any term", "", f"{category.prior:+.3f}", "")]
    rows += [
        (
            term.term,
            f"{term.weight:.3g}",
            f"{term.contribution:+.3f}",
            _bar(term.contribution / largest),
        )
        for term in category.terms
    ]
    return _heading(head) + _table(("term", "weight", "log odds", ""), rows)


def _bar(share: float) -> Markup:
    """Draw a bar from the middle, to the right for positive and to the left for negative shares."""
    side, colour = ("left", _FOR) if share >= 0 else ("right", _AGAINST)
    style = (
        f"position: absolute; {side}: 50%; width: {abs(share) * 50:.1f}%; height: 10px; "
        f"background: {colour}"
    )
    return Markup(
        '<div style="position: relative; width: 160px; height: 10px"><div style="{}"></div></div>'
    ).format(style)


def _table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> Markup:
    body = Markup().join(_row(_CELL, row) for row in rows)
    return Markup(
        '<table style="border-collapse: collapse"><thead>{}</thead><tbody>{}</tbody></table>'
    ).format(_row(_HEAD, headings), body)


def _row(cell: Markup, values: Sequence[Any]) -> Markup:
    made = Markup()
    for index, value in enumerate(values):
        content = value if isinstance(value, Markup) else escape(clean(value))
        made += cell.format(_CELL_STYLE.format("left" if index == 0 else "right"), content)
    return Markup("<tr>{}</tr>").format(made)


def _heading(text: str) -> Markup:
    return Markup('<p style="margin: 8px 0 2px"><b>{}</b></p>').format(clean(text))


def _line(text: str) -> Markup:
    return Markup('<p style="margin: 2px 0">{}</p>').format(clean(text))


def _box(*parts: Markup) -> str:
    return str(Markup('<div class="bayesift">{}</div>').format(Markup().join(parts)))


def _number(value: float) -> str:
    return f"{value:.4f}"
