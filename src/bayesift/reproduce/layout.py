"""A finding as rows of text: the one layout that the terminal, Markdown and HTML show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesift.evaluation import Estimate
from bayesift.reproduce.findings import Cell, Finding, OtherReading

MARKS = {"agrees": "", "differs": "≠", "not comparable": "°", "ours alone": "", "missing": "–"}


@dataclass(frozen=True)
class Shown:
    """A cell as text.

    Parameters
    ----------
    paper, ours, difference, interval : empty where there is none
    mark : what its flag is shown by
    note : number of its explanation among the notes, 0 for none
    """

    paper: str = ""
    ours: str = ""
    difference: str = ""
    interval: str = ""
    mark: str = ""
    note: int = 0

    @property
    def line(self) -> str:
        """In one line.

        Examples
        --------
        >>> Shown("86.2", "88.0", "+1.8", "84.9 to 90.1").line
        '86.2 → 88.0 (+1.8) [84.9 to 90.1]'
        """
        change = f" ({self.difference})" if self.difference else ""
        interval = f" [{self.interval}]" if self.interval else ""
        mark = f" {self.mark}{self.note or ''}" if self.mark else ""
        return f"{self.paper} → {self.ours}{change}{interval}{mark}" if self.paper else f"{self.ours}{interval}{mark}"


@dataclass(frozen=True)
class Layout:
    """A finding laid out.

    Parameters
    ----------
    columns : headings
    rows : a label and its cells; None where there is nothing
    notes : explanations, numbered from 1
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Shown | None, ...]], ...]
    notes: tuple[str, ...]


def lay_out(finding: Finding) -> Layout:
    """Rows and columns in the order of the cells, with numbered notes."""
    columns = tuple(dict.fromkeys(cell.column for cell in finding.cells))
    rows = tuple(dict.fromkeys(cell.row for cell in finding.cells))
    notes = list(dict.fromkeys(cell.explanation for cell in finding.cells if cell.explanation))
    shown = {(c.row, c.column): _shown(c, finding.printed.decimals(c.row, c.column), notes) for c in finding.cells}
    lines = tuple((row, tuple(shown.get((row, column)) for column in columns)) for row in rows)
    return Layout(columns, lines, tuple(notes))


def _shown(cell: Cell, decimals: int, notes: list[str]) -> Shown:
    difference = cell.difference
    interval = "" if cell.lower is None else f"{number(cell.lower, decimals)} to {number(cell.upper, decimals)}"
    return Shown(
        number(cell.paper, decimals),
        number(cell.ours, decimals),
        "" if difference is None else f"{difference:+,.{decimals}f}",
        interval,
        MARKS[cell.flag],
        notes.index(cell.explanation) + 1 if cell.explanation else 0,
    )


def number(value: float | str | None, decimals: int) -> str:
    """A value with so many decimals; texts as they are.

    Examples
    --------
    >>> number(1234.56, 1), number("<<", 1), number(None, 1)
    ('1,234.6', '<<', '')
    """
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,.{decimals}f}"


def others_table(others: Sequence[OtherReading]) -> list[list[str]]:
    """Other readings as a heading and rows of text."""
    measures = list(dict.fromkeys(name for other in others for name in other.values))
    rows = [["", "what is done", *measures]]
    for other in others:
        values = [_measured(other.values[name]) if name in other.values else "" for name in measures]
        rows.append([other.subject, other.choice, *values])
    return rows


def _measured(value: Estimate | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value.value:,}" if float(value.value).is_integer() and value.lower is None else f"{value.value:.2f}"
