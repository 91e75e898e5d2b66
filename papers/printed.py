"""Printed values: one YAML file per paper, with captions, open choices, and explanations."""

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
class Explanation:
    """Why cells differ from the printed values; rows and columns may hold wildcards."""

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
    explanations : why values differ; the first that covers a cell counts
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
    explanations: Sequence[Explanation] = ()
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

    def explanation(self, row: str, column: str) -> str:
        """Why a cell differs; empty if unknown."""
        return next(
            (found.text for found in self.explanations if found.covers(row, column)), ""
        )


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
    shared = [Explanation(**entry) for entry in content.get("explanations", ())]
    tables = {place: _table(entry, shared) for place, entry in content["tables"].items()}
    return Paper(content["reference"], tables)


def printed_table(experiment: str) -> PrintedTable:
    """Return the printed table of an experiment, such as "sparse-bayes:table-3"."""
    name, _, place = experiment.partition(":")
    return paper(name).tables[place]


def _table(entry: dict[str, Any], shared: list[Explanation]) -> PrintedTable:
    own = [Explanation(**explanation) for explanation in entry.pop("explanations", ())]
    return PrintedTable(**entry, explanations=(*own, *shared))
