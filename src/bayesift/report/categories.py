"""The table of categories: a row and a bar for each, the largest first."""

from __future__ import annotations

from collections.abc import Sequence

from bayesift.report.bars import score_bar
from bayesift.report.content import CategoryRow
from bayesift.report.html import Markup, element, join, name_of
from bayesift.report.numbers import score
from bayesift.report.page import Section

# What a column is called, in full, and its class; `.ranking` gives way on narrow screens.
_SCORES = (
    ("F1", "F1: harmonic mean of precision and recall", "numeric"),
    ("prec.", "precision", "numeric"),
    ("recall", "recall", "numeric"),
    ("avg. prec.", "average precision", "numeric ranking"),
)


def categories_section(rows: Sequence[CategoryRow]) -> Section:
    """Every category with its scores; a script lets readers sort by any column.

    Examples
    --------
    >>> part = categories_section([CategoryRow("corn", 3, 2, 1.0, 0.67, 0.8), CategoryRow("oil", 9, 9, 1.0, 1.0, 1.0)])
    >>> part.markup.index("oil") < part.markup.index("corn")
    True
    """
    key = element(
        "p",
        "The bar is F1; the upper tick ",
        element("span", class_="key precision"),
        " is precision, the lower tick ",
        element("span", class_="key recall"),
        " recall. The largest categories come first.",
        class_="soft",
    )
    ordered = sorted(rows, key=lambda row: (-row.documents, row.category))
    table = element(
        "table",
        element("thead", _head()),
        element("tbody", map(_row, ordered)),
        class_="categories sortable",
    )
    return Section("categories", "Categories", join(key, table))


def _head() -> Markup:
    return element(
        "tr",
        element("th", "category", scope="col"),
        element("th", "docs", scope="col", title="documents that belong to it", class_="numeric"),
        element("th", "F1, precision, recall", scope="col", class_="bar-cell"),
        (element("th", short, scope="col", title=full, class_=kind) for short, full, kind in _SCORES),
    )


def _row(row: CategoryRow) -> Markup:
    values = (row.f1, row.precision, row.recall, row.average_precision)
    return element(
        "tr",
        element("th", name_of(row.category), scope="row"),
        element("td", f"{row.documents:,}", class_="numeric", data_value=row.documents),
        element("td", score_bar(row.f1, row.precision, row.recall), class_="bar-cell"),
        (
            element("td", score(value, 2), class_=kind, data_value=-1 if value is None else f"{value:.6f}")
            for value, (_, _, kind) in zip(values, _SCORES, strict=True)
        ),
    )
