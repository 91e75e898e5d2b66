"""Columns of the user's table as numbers: a block beside the words."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesift.classifier.texts import Column, is_missing
from bayesift.errors import DataError
from bayesift.state import storable

# Without leading zeros, which codes have. 1,234 may be a thousand and more, so it is a name.
_NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)(\.\d+|,\d{1,2}|,\d{4,})?([eE][-+]?\d+)?")


@storable("number-column")
@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Numbers of a table: centred and scaled to a standard deviation of one.

    Missing values are 0, and a second column marks them.
    """

    name: str
    mean: float
    deviation: float
    may_miss: bool

    @property
    def names(self) -> list[str]:
        """Names of the columns that it becomes."""
        return [self.name, *[f"{self.name} is missing"] * self.may_miss]

    @classmethod
    def learn(cls, name: str, values: list[Any]) -> Self:
        """Learn the mean and the deviation of the numbers that are not missing."""
        given = np.array([float(value) for value in values if not is_missing(value)])
        deviation = float(given.std()) if len(given) else 1.0
        return cls(
            name,
            float(given.mean()) if len(given) else 0.0,
            deviation or 1.0,
            len(given) < len(values),
        )

    def rows(self, values: list[Any]) -> sparse.csr_array:
        """Rows of one column, or of two if values may be missing."""
        numbers_of = np.array(
            [
                self.mean if is_missing(v) else _number(self.name, k, v)
                for k, v in enumerate(values)
            ]
        )
        missing = np.array([is_missing(value) for value in values], dtype=np.float64)
        columns = [(numbers_of - self.mean) / self.deviation, *[missing] * self.may_miss]
        return sparse.csr_array(np.column_stack(columns))


@storable("category-column")
@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """Categories of a table: a column of 0 and 1 for each value of the training rows.

    Others are rows of 0.
    """

    name: str
    values: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Names of the columns that it becomes."""
        return [f"{self.name}={value}" for value in self.values]

    @classmethod
    def learn(cls, name: str, values: list[Any]) -> Self:
        """Learn the distinct values, sorted."""
        return cls(
            name, tuple(sorted({str(value) for value in values if not is_missing(value)}))
        )

    def rows(self, values: list[Any]) -> sparse.csr_array:
        """Rows with a 1 in the column of their value."""
        index = {value: j for j, value in enumerate(self.values)}
        columns = np.array(
            [-1 if is_missing(value) else index.get(str(value), -1) for value in values]
        )
        held = np.flatnonzero(columns >= 0)
        entries = np.ones(len(held)), (held, columns[held])
        return sparse.csr_array(entries, shape=(len(values), len(self.values)))


@storable("table-columns")
@dataclass(frozen=True, slots=True)
class TableColumns:
    """Columns of a table as a block of numbers.

    Rows have a mean square length of about one, as term vectors have.

    Examples
    --------
    >>> table = [("price", [1.0, 3.0, None]), ("country", ["DE", "AT", "DE"])]
    >>> block = TableColumns.learn(["price", "country"], table)
    >>> block.names
    ['price', 'price is missing', 'country=AT', 'country=DE']
    >>> block.rows(table).toarray().round(2).tolist()
    [[-0.71, 0.0, 0.0, 0.71], [0.71, 0.0, 0.71, 0.0], [0.0, 0.71, 0.0, 0.71]]
    """

    columns: tuple[NumberColumn | CategoryColumn, ...]

    @classmethod
    def learn(cls, names: Sequence[str], table: Sequence[Column]) -> Self:
        """Numbers where all values are numbers, else categories."""
        return cls(
            tuple(_kind_of(values).learn(name, values) for name, values in _pick(names, table))
        )

    @property
    def names(self) -> list[str]:
        """Names of the columns that the block has."""
        return [name for column in self.columns for name in column.names]

    def rows(self, table: Sequence[Column]) -> sparse.csr_array:
        """Return the block of the rows of a table."""
        picked = _pick([column.name for column in self.columns], table)
        parts = [
            column.rows(values)
            for column, (_, values) in zip(self.columns, picked, strict=True)
        ]
        return sparse.csr_array(sparse.hstack(parts) / math.sqrt(len(parts)))


def _pick(names: Sequence[str], table: Sequence[Column]) -> list[Column]:
    held = dict(table)
    for name in names:
        if name not in held:
            there = f"there are: {', '.join(held)}" if held else "give a table with it"
            raise DataError(f"no column {name!r}; {there}")
    return [(name, held[name]) for name in names]


def _kind_of(values: list[Any]) -> type[NumberColumn] | type[CategoryColumn]:
    given = [value for value in values if not is_missing(value)]
    return (
        NumberColumn
        if all(isinstance(value, numbers.Real) for value in given)
        else CategoryColumn
    )


def read_numbers(column: Column) -> Column:
    """Read the cells of a column of text as numbers, if all of them are.

    Examples
    --------
    >>> read_numbers(("price", ["1", "2.5", None, "3,5"]))
    ('price', [1.0, 2.5, None, 3.5])
    >>> read_numbers(("postcode", ["01067", "1"]))
    ('postcode', ['01067', '1'])
    """
    name, cells = column
    found = [None if is_missing(cell) else _read_number(cell) for cell in cells]
    n_given = sum(not is_missing(cell) for cell in cells)
    if n_given and n_given == sum(number is not None for number in found):
        return name, found
    return column


def _read_number(cell: str) -> float | None:
    if not _NUMBER.fullmatch(cell):
        return None
    return float(cell.replace(",", "."))


def _number(name: str, index: int, value: Any) -> float:
    if isinstance(value, str):  # a cell of a file
        read = _read_number(value)
        value = value if read is None else read
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise DataError(
            f"row {index} has {value!r:.40} in the column {name!r}, which is one of numbers"
        )
    return float(value)
