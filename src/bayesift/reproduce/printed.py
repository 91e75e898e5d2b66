"""What the papers printed: one data file a paper, with page, caption, values, and why ours differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@dataclass(frozen=True)
class Explanation:
    """Why cells differ from what was printed; rows and columns may hold wildcards."""

    text: str
    rows: Sequence[str] = ("*",)
    columns: Sequence[str] = ("*",)

    def covers(self, row: str, column: str) -> bool:
        """Whether it speaks of that cell."""
        pairs = ((row, self.rows), (column, self.columns))
        return all(any(fnmatchcase(name, pattern) for pattern in patterns) for name, patterns in pairs)


@dataclass(frozen=True)
class PrintedTable:
    """A table or figure as the paper has it.

    Parameters
    ----------
    title, section, caption : of the table; the texts at hand have no page numbers
    corpus : what ours is measured on
    measure : what the numbers are
    digits : decimals that were printed, by row or column where they differ
    columns, rows : printed values by row and column
    choices : what the paper leaves open, and what was chosen
    explanations : why values differ, the first that covers a cell counts
    other_data : why ours cannot be compared with the paper's numbers, if so
    """

    title: str
    section: str = ""
    caption: str = ""
    corpus: str = ""
    measure: str = ""
    digits: int | Mapping[str, int] = 1
    columns: Sequence[str] = ()
    rows: Mapping[str, Sequence[Any]] = ()  # type: ignore[assignment]
    choices: Sequence[str] = ()
    explanations: Sequence[Explanation] = ()
    other_data: str = ""

    @property
    def values(self) -> dict[tuple[str, str], Any]:
        """Printed values by row and column; None where the paper has no value."""
        rows = dict(self.rows) if self.rows else {}
        return {(r, c): v for r, values in rows.items() for c, v in zip(self.columns, values, strict=True)}

    def decimals(self, row: str, column: str) -> int:
        """How many decimals a value has."""
        if isinstance(self.digits, int):
            return self.digits
        return self.digits.get(row, self.digits.get(column, 1))

    def explanation(self, row: str, column: str) -> str:
        """Why a cell differs; empty if nobody knows."""
        return next((found.text for found in self.explanations if found.covers(row, column)), "")


@dataclass(frozen=True)
class Paper:
    """A paper and its tables by name.

    Examples
    --------
    >>> paper("sparse-bayes").tables["table-1"].values["corn", "SVM"]
    86.2
    """

    reference: str
    tables: Mapping[str, PrintedTable]


@cache
def paper(name: str) -> Paper:
    """What a paper printed."""
    text = files("bayesift.reproduce").joinpath("papers", f"{name}.yaml").read_text("utf-8")
    content = yaml.safe_load(text)
    shared = [Explanation(**entry) for entry in content.get("explanations", ())]
    tables = {place: _table(entry, shared) for place, entry in content["tables"].items()}
    return Paper(content["reference"], tables)


def printed_table(experiment: str) -> PrintedTable:
    """What was printed at the place of an experiment, such as "sparse-bayes:table-3"."""
    name, _, place = experiment.partition(":")
    return paper(name).tables[place or name]


def _table(entry: dict[str, Any], shared: list[Explanation]) -> PrintedTable:
    own = [Explanation(**explanation) for explanation in entry.pop("explanations", ())]
    return PrintedTable(**entry, explanations=(*own, *shared))
