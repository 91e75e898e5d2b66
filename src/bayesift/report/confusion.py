"""The confusion matrix as a table of shaded cells.

A table and not a picture: names wrap, numbers can be copied, screen readers announce rows and columns, and on a phone
it scrolls under its row names.
"""

from __future__ import annotations

from collections.abc import Sequence

from bayesift.report.content import Confusion
from bayesift.report.html import Markup, element, join, name_of, shortened


def confusion_table(confusion: Confusion) -> Markup:
    """Rows are the true categories, columns the decided ones; a cell is darker, the larger its share of the row.

    Examples
    --------
    >>> table = confusion_table(Confusion(("ham", "spam"), ((9, 1), (0, 5)), n_categories=2))
    >>> table.count("<td"), "ham decided as spam: 1 of 10" in table
    (4, True)
    """
    head = element(
        "tr",
        element("th", "true category", scope="col"),
        (
            element("th", i, scope="col", title=shortened(name), aria_label=shortened(name))
            for i, name in enumerate(confusion.categories, 1)
        ),
    )
    body = (_row(confusion, i) for i in range(len(confusion.categories)))
    table = element("table", element("thead", head), element("tbody", body), class_="confusion")
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label="confusion matrix")


def largest_confusions(confusion: Confusion, limit: int = 10) -> list[tuple[str, str, int]]:
    """True category, decided category and count of the most frequent mistakes.

    Examples
    --------
    >>> largest_confusions(Confusion(("ham", "spam"), ((9, 1), (3, 5)), n_categories=2))
    [('spam', 'ham', 3), ('ham', 'spam', 1)]
    """
    names = confusion.categories
    found = [
        (names[i], names[j], count)
        for i, row in enumerate(confusion.counts)
        for j, count in enumerate(row)
        if i != j and count
    ]
    return sorted(found, key=lambda entry: -entry[2])[:limit]


def _row(confusion: Confusion, i: int) -> Markup:
    counts = confusion.counts[i]
    name = element("th", element("span", i + 1, class_="number"), " ", name_of(confusion.categories[i]), scope="row")
    return element("tr", name, join(_cell(confusion.categories, counts, i, j) for j in range(len(counts))))


def _cell(names: Sequence[str], counts: Sequence[int], i: int, j: int) -> Markup:
    count, total = counts[j], sum(counts)
    if not count:
        return element("td")
    # The square root makes the few mistakes beside many right decisions visible.
    heat = (count / total) ** 0.5
    return element(
        "td",
        f"{count}",
        class_="right" if i == j else "wrong",
        style=f"--heat:{100 * heat:.0f}%",
        title=f"{shortened(names[i])} decided as {shortened(names[j])}: {count:,} of {total:,}",
    )
