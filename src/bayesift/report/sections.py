"""The sections of the report of one model."""

from __future__ import annotations

from collections.abc import Sequence

from bayesift.report.bars import word_bars
from bayesift.report.charts import N_SERIES, precision_recall_chart, reliability_chart
from bayesift.report.confusion import confusion_table, largest_confusions
from bayesift.report.content import CategoryWords, Confusion, Curve, Measure, ReliabilityBin
from bayesift.report.html import Markup, element, join, name_of
from bayesift.report.numbers import score
from bayesift.report.page import Section, tiles

_SHOWN_WORD_LISTS = 20


def scores_section(measures: Sequence[Measure]) -> Section:
    """The headline measures large, the others in a table.

    Examples
    --------
    >>> "<table" in scores_section([Measure("accuracy", 0.9, "Right.", headline=True)]).markup
    False
    """
    others = [measure for measure in measures if not measure.headline]
    rows = (
        element(
            "tr",
            element("th", measure.name, scope="row"),
            element("td", score(measure.value), class_="numeric"),
            element("td", measure.meaning, class_="soft"),
        )
        for measure in others
    )
    table = element("table", element("tbody", rows), class_="measures") if others else None
    return Section(
        "scores",
        "Scores",
        join(tiles(measure for measure in measures if measure.headline), table),
    )


def curves_section(curves: Sequence[Curve], bins: Sequence[ReliabilityBin]) -> Section:
    """Precision-recall curves and the reliability diagram, side by side where there is room.

    Examples
    --------
    >>> curves_section([Curve("corn", (1.0,), (0.5,), 0.5)], []).markup.count("<figure")
    1
    """
    parts = [
        _precision_recall(curves) if curves else None,
        _reliability(bins) if bins else None,
    ]
    return Section(
        "curves",
        "Curves",
        join(
            element("div", parts, class_="charts"),
        ),
    )


def confusion_section(confusion: Confusion) -> Section:
    """The most frequent mistakes in words, and the matrix.

    Examples
    --------
    >>> "ham" in confusion_section(Confusion(("ham", "spam"), ((9, 1), (0, 5)), n_categories=2)).markup
    True
    """
    shown = len(confusion.categories)
    part = (
        "" if shown == confusion.n_categories else f" The {shown} most confused of {confusion.n_categories} categories."
    )
    note = f"Rows are true categories, columns the decided ones by number; right decisions lie on the diagonal.{part}"
    mistakes = (
        element("li", name_of(true), " taken for ", name_of(decided), f": {count:,}")
        for true, decided, count in largest_confusions(confusion)
    )
    listed = element("ol", mistakes, class_="confusions")
    return Section(
        "confusion",
        "Confusion",
        join(
            element("p", note, class_="soft"),
            confusion_table(confusion),
            element("h3", "Most frequent mistakes", style="margin-top:1rem"),
            listed,
        ),
    )


def words_section(categories: Sequence[CategoryWords]) -> Section:
    """Small multiples of the words that say most for each category.

    Examples
    --------
    >>> from bayesift.report.content import WordWeight
    >>> "wheat" in words_section([CategoryWords("grain", (WordWeight("wheat", 1.5),))]).markup
    True
    """
    first, others = categories[:_SHOWN_WORD_LISTS], categories[_SHOWN_WORD_LISTS:]
    folded = (
        element("details", element("summary", f"{len(others):,} more categories"), _word_lists(others))
        if others
        else None
    )
    note = "The words that say most for a category: frequent in its documents, and more so than elsewhere."
    return Section(
        "words",
        "Words",
        join(
            element("p", note, class_="soft"),
            _word_lists(first),
            folded,
        ),
    )


def _precision_recall(curves: Sequence[Curve]) -> Markup:
    legend = (
        element(
            "li",
            element(
                "svg",
                element("line", class_=f"series-{i}", x1=0, y1=6, x2=36, y2=6),
                viewBox="0 0 36 12",
                aria_hidden="true",
            ),
            name_of(curve.name),
            element("span", score(curve.average_precision), title="average precision"),
        )
        for i, curve in enumerate(curves[:N_SERIES], 1)
    )
    ring = " The ring is where the decisions lie." if any(curve.decided for curve in curves) else ""
    return element(
        "figure",
        element("h3", "Precision and recall"),
        precision_recall_chart(curves),
        element("ul", legend, class_="legend"),
        element(
            "figcaption",
            f"What precision costs in recall as the threshold moves; average precision at the right.{ring}",
        ),
    )


def _reliability(bins: Sequence[ReliabilityBin]) -> Markup:
    return element(
        "figure",
        element("h3", "Reliability of the probabilities"),
        reliability_chart(bins),
        element(
            "figcaption",
            "Of the forecasts of 70%, about 70% should come true: on the broken line. Below it the model is too sure, "
            "above it too careful. Whiskers are 95% intervals.",
        ),
    )


def _word_lists(categories: Sequence[CategoryWords]) -> Markup:
    lists = (
        element("div", element("h3", name_of(category.category)), word_bars(category.words)) for category in categories
    )
    return join(element("div", lists, class_="multiples"))
