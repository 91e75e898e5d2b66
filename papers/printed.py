"""Printed values: one YAML file per paper, with captions, open choices, and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from papers.experiment import MODULES


@dataclass(frozen=True)
class Note:
    """What is known of cells that differ; rows and columns may hold wildcards."""

    text: str
    rows: Sequence[str] = ("*",)
    columns: Sequence[str] = ("*",)

    def covers(self, row: str, column: str) -> bool:
        """Whether it applies to that cell."""
        pairs = ((row, self.rows), (column, self.columns))
        return all(
            any(fnmatchcase(name, pattern) for pattern in patterns) for name, patterns in pairs
        )


@dataclass(frozen=True)
class PrintedTable:
    """A table or figure as the paper has it.

    Parameters
    ----------
    title, section, caption : of the table; our copies of the papers have no page numbers
    corpus : what ours is measured on
    measure : what the numbers are
    digits : decimals that were printed, by row or column where they differ
    columns, rows : printed values by row and column
    choices : what the paper leaves open, and what was chosen
    notes : what is known of values that differ; the first that covers a cell counts
    other_data : why ours cannot be compared with the paper's numbers, if so
    """

    title: str
    section: str = ""
    caption: str = ""
    corpus: str = ""
    measure: str = ""
    digits: int | Mapping[str, int] = 1
    columns: Sequence[str] = ()
    rows: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    choices: Sequence[str] = ()
    notes: Sequence[Note] = ()
    other_data: str = ""

    @property
    def values(self) -> dict[tuple[str, str], Any]:
        """Printed values by row and column; None where the paper has no value."""
        return {
            (r, c): v
            for r, values in self.rows.items()
            for c, v in zip(self.columns, values, strict=True)
        }

    def decimals(self, row: str, column: str) -> int:
        """Return the number of decimals of a value."""
        if isinstance(self.digits, int):
            return self.digits
        return self.digits.get(row, self.digits.get(column, 1))

    def note(self, row: str, column: str) -> str:
        """Return what is known of a cell that differs; empty if nothing is."""
        return next((found.text for found in self.notes if found.covers(row, column)), "")


@dataclass(frozen=True)
class Paper:
    """A paper and its tables by name."""

    reference: str
    tables: Mapping[str, PrintedTable]


@cache
def paper(name: str) -> Paper:
    """Return what a paper printed.

    Examples
    --------
    >>> paper("sparse-bayes").tables["table-1"].values["corn", "SVM"]
    86.2
    """
    content = yaml.safe_load(
        Path(__file__).with_name(f"{MODULES[name]}.yaml").read_text("utf-8")
    )
    shared = [Note(**entry) for entry in content.get("notes", ())]
    tables = {place: _table(entry, shared) for place, entry in content["tables"].items()}
    return Paper(content["reference"], tables)


def printed_table(experiment: str) -> PrintedTable:
    """Return the printed table of an experiment, such as "sparse-bayes:table-3"."""
    name, _, place = experiment.partition(":")
    return paper(name).tables[place]


def _table(entry: dict[str, Any], shared: list[Note]) -> PrintedTable:
    own = [Note(**note) for note in entry.pop("notes", ())]
    return PrintedTable(**entry, notes=(*own, *shared))
