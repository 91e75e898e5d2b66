"""Texts in the forms people have them, read for an estimator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

if TYPE_CHECKING:
    from bayesift.classifier.labels import Labels

Column = tuple[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts, or term vectors, as a vectorizer or a model takes them.

    Parameters
    ----------
    values : strings in a list, an iterator or an Arrow array; or a matrix of term vectors
    are_vectors : whether they are vectors
    index : the index of a pandas object
    columns : the columns of a table that hold text
    table : all columns of a table
    """

    values: Any
    are_vectors: bool = False
    index: Any = None
    columns: tuple[Column, ...] = ()
    table: tuple[Column, ...] = ()

    @property
    def n_texts(self) -> int | None:
        """How many there are; None for an iterator."""
        if self.are_vectors:
            return int(self.values.shape[0])
        return len(self.values) if hasattr(self.values, "__len__") else None

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """The names of the columns of text; None if the texts are no table."""
        return tuple(name for name, _ in self.columns) or None

    def take(self, rows: Array) -> Texts:
        """Return the texts of these rows."""
        if self.are_vectors:
            return replace(self, values=self.values[rows])
        table = tuple((name, [values[row] for row in rows]) for name, values in self.table)
        if isinstance(self.values, pa.Array | pa.ChunkedArray):
            return replace(self, values=self.values.take(pa.array(rows)), table=table)
        return replace(self, values=[self.values[row] for row in rows], table=table)

    def whole(self) -> Texts:
        """Return the texts with an iterator read to its end."""
        return self if self.n_texts is not None else replace(self, values=list(self.values))

    def refuse_labels(self, target: Labels) -> None:
        """Refuse a table one of whose text columns holds the labels: it would give them away."""
        if len(self.columns) < 2 or target.form.multilabel:
            return
        labels = [str(label) for label in target.y]
        for name, values in self.columns:
            if [str(values[row]) for row in target.rows] == labels:
                raise DataError(
                    f"the column {name!r} holds the labels; give only the columns of text"
                )


def read_texts(
    given: Any, *, columns: Sequence[str] | None = None, besides: Sequence[str] = ()
) -> Texts:
    r"""Read texts in any form.

    These are a sequence or iterator of strings, of `Document`, or of dictionaries; a pandas or
    polars Series; a table (DataFrame, Arrow table, array of strings) whose columns of text are
    joined by line breaks; an Arrow array; or a `Corpus`. Rows of numbers are term vectors: an
    array, a sparse matrix, lists, or a table of numbers only.

    Parameters
    ----------
    columns : the columns of a table to take, instead of all that hold text
    besides : columns of a table that are no text, even if they hold strings

    Examples
    --------
    >>> read_texts([{"id": 1, "title": "Grain", "text": "Corn rose."}]).values
    ['Grain\nCorn rose.']
    """
    if isinstance(given, Texts):
        return given
    if isinstance(given, str | bytes | bytearray):
        raise DataError(
            f"texts must be a list of texts, not one {type(given).__name__}: put it in brackets, "
            "[text]"
        )
    if sparse.issparse(given):
        return Texts(given, are_vectors=True)
    if (
        given is None
        or isinstance(given, Mapping)
        or not (isinstance(given, Iterable) or hasattr(given, "__array__"))
    ):
        kind = "None" if given is None else f"a {type(given).__name__}"
        raise DataError(f"texts must be a list of texts, a column or a table, not {kind}")
    if isinstance(given, Corpus):
        if given.vectors is None:
            return Texts(given.text_column, table=tuple(given.others.items()))
        return Texts(given.vectors, are_vectors=True)
    if hasattr(given, "to_arrow"):  # polars
        given = given.to_arrow()
    if isinstance(given, pa.Table | pa.RecordBatch):
        held = zip(given.column_names, given.columns, strict=True)
        return _joined([(name, column.to_pylist()) for name, column in held], columns, besides)
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return Texts(_arrow_strings(given))
    if hasattr(given, "iloc"):  # pandas
        return _of_pandas(given, columns, besides)
    if hasattr(given, "__array__"):
        return _of_array(np.asarray(given))
    return _of_items(given, columns, besides)


def _arrow_strings(given: Any) -> Any:
    held = given.type.value_type if pa.types.is_dictionary(given.type) else given.type
    if not (
        pa.types.is_string(held)
        or pa.types.is_large_string(held)
        or pa.types.is_string_view(held)
    ):
        raise DataError(f"texts must be strings, not {given.type}")
    if given.null_count:
        raise DataError(f"text {given.to_pylist().index(None)} is missing, not a string")
    return given if held is given.type else given.cast(held)


def _of_pandas(given: Any, columns: Sequence[str] | None, besides: Sequence[str]) -> Texts:
    if given.ndim == 2:
        if (
            all(getattr(dtype, "kind", "O") in "biuf" for dtype in given.dtypes)
            and columns is None
        ):
            return Texts(
                np.asarray(given, dtype=np.float64), are_vectors=True, index=given.index
            )
        held = [(str(name), given.iloc[:, j].tolist()) for j, name in enumerate(given.columns)]
        return replace(_joined(held, columns, besides), index=given.index)
    if getattr(given.dtype, "kind", "O") in "biufcmM":
        raise DataError(f"texts must be strings, the column {given.name!r} holds {given.dtype}")
    return Texts(given.tolist(), index=given.index)


def _of_array(given: Array) -> Texts:
    if given.dtype.kind == "c":
        raise DataError(
            "Complex data not supported: texts must be strings, vectors real numbers"
        )
    if given.ndim == 2:
        columns = []
        if given.dtype.kind in "OU":
            columns = [(str(j), given[:, j].tolist()) for j in range(given.shape[1])]
        if not any(_holds_text(values) for _, values in columns):
            return Texts(given.astype(np.float64), are_vectors=True)
        return replace(_joined(columns, None, ()), columns=(), table=())
    if given.ndim != 1 or given.dtype.kind not in "OU":
        kind = (
            f"an array of {given.dtype} with {given.ndim} "
            f"dimension{'s' if given.ndim != 1 else ''}"
        )
        raise DataError(
            f"texts must be strings, not {kind}. Reshape your data to rows if they are vectors"
        )
    return Texts(given.tolist())


def _of_items(
    given: Iterable[Any], columns: Sequence[str] | None, besides: Sequence[str]
) -> Texts:
    items: Any = given
    if isinstance(given, Sequence):
        first = given[0] if len(given) else None
    else:
        iterator: Iterator[Any] = iter(given)
        first = next(iterator, None)
        items = iterator if first is None else chain([first], iterator)
    if isinstance(first, Document):
        return Texts([document.full_text for document in items])
    if isinstance(first, Mapping):
        return _of_records(list(items), columns, besides)
    if isinstance(first, list | tuple | np.ndarray) and len(first):
        if isinstance(first[0], int | float | np.number):
            return _of_array(np.array(list(items)))
        if len(first) == 1:
            return Texts([row[0] if len(row) == 1 else row for row in items])
    return Texts(items)


def _of_records(
    records: list[Any], columns: Sequence[str] | None, besides: Sequence[str]
) -> Texts:
    for index, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise DataError(
                f"text {index} is of type {type(record).__name__}, others are dictionaries"
            )
    names = dict.fromkeys(name for record in records for name in record)
    return _joined(
        [(str(name), [record.get(name) for record in records]) for name in names],
        columns,
        besides,
    )


def _joined(table: list[Column], wanted: Sequence[str] | None, besides: Sequence[str]) -> Texts:
    """Join the columns of text of a table by line breaks.

    A row must have text in one of them.
    """
    names = [name for name, _ in table]
    for name in wanted or ():
        if name not in names:
            raise DataError(f"no column {name!r}; there are: {', '.join(names)}")
    kept = [
        (name, values)
        for name, values in table
        if name not in besides and (_holds_text(values) if wanted is None else name in wanted)
    ]
    if not kept:
        raise DataError(f"no column holds text; there are: {', '.join(names) or 'none'}")
    texts = []
    for index, row in enumerate(zip(*(values for _, values in kept), strict=True)):
        parts = [part for part in row if isinstance(part, str)]
        for part, (name, _) in zip(row, kept, strict=True):
            if not isinstance(part, str) and not is_missing(part):
                raise DataError(
                    f"text {index} is of type {type(part).__name__} in the column {name!r}, not a "
                    "string"
                )
        if not parts:
            raise DataError(f"text {index} is missing, not a string")
        texts.append("\n".join(part for part in parts if part))
    return Texts(texts, columns=tuple(kept), table=tuple(table))


def _holds_text(values: list[Any]) -> bool:
    return isinstance(next((value for value in values if not is_missing(value)), None), str)


def is_missing(value: Any) -> bool:
    """Whether a value of a table is None, NaN or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and value != value
