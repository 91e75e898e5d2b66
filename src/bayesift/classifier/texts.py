"""Texts in the forms people have them, read for an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from bayesift.arrays import Array, BoolArray
from bayesift.errors import DataError, DataWarning
from bayesift.records import Corpus, Document

if TYPE_CHECKING:
    from bayesift.classifier.labels import Labels

Column = tuple[str, list[Any]]

_LISTED_COLUMNS = 8  # names in a warning


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

    def with_width(self, n_columns: int) -> Texts:
        """Return vectors with so many columns: a file has as many as its highest term.

        Terms that the model does not know are left out, as unknown words are.
        """
        rows = sparse.csr_array(self.values)
        width = min(n_columns, rows.shape[1])
        kept = rows[:, :width]
        return replace(
            self,
            values=sparse.csr_array(
                (kept.data, kept.indices, kept.indptr), shape=(rows.shape[0], n_columns)
            ),
        )

    def whole(self) -> Texts:
        """Return the texts with an iterator read to its end."""
        return self if self.n_texts is not None else replace(self, values=list(self.values))

    def have_text(self) -> BoolArray:
        """Whether each text holds more than white space; term vectors always do."""
        values = self.values
        if self.are_vectors:
            return np.ones(values.shape[0], dtype=bool)
        if isinstance(values, pa.Array | pa.ChunkedArray):
            strings = values.cast(pa.large_string())  # views cannot be trimmed
            lengths = pc.utf8_length(pc.utf8_trim_whitespace(strings)).to_numpy()
            has_text: BoolArray = lengths > 0
            return has_text
        # What is not a string is refused by the vectorizer, with its index.
        return np.array(
            [not isinstance(text, str) or bool(text and not text.isspace()) for text in values],
            dtype=bool,
        )

    def warn_of_columns(self, besides: Sequence[str] = ()) -> None:
        """Name the columns of a table that are joined to one text, and those that are not used."""
        taken = [name for name, _ in self.columns]
        if not taken:
            return
        ignored = [name for name, _ in self.table if name not in (*taken, *besides)]
        parts = []
        if len(taken) > 1:
            parts.append(f"the columns {_listed(taken)} are joined to one text")
        if ignored:
            verb = "column {} is" if len(ignored) == 1 else "columns {} are"
            unused = f"the {verb.format(_listed(ignored))} not used"
            parts.append(unused if taken[1:] else f"{unused}, the text is {taken[0]!r}")
        if parts:
            warnings.warn("; ".join(parts), DataWarning, stacklevel=3)

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

    A missing text (None, NaN, pandas' NA, an Arrow null, a row whose columns of text are all
    missing) is an empty text, whatever holds it. Predictions treat it so; `fit` and `partial_fit`
    leave out texts that are empty or blank, with a `DataWarning`.

    Parameters
    ----------
    columns : the columns of a table to take, instead of all that hold text. A column that no row
        has is refused; other columns may come or be left out
    besides : columns of a table that are no text, even if they hold strings

    Examples
    --------
    >>> read_texts([{"id": 1, "title": "Grain", "text": "Corn rose."}]).values
    ['Grain\nCorn rose.']
    >>> read_texts(["corn", None, float("nan")]).values
    ['corn', '', '']
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
    strings = given if held is given.type else given.cast(held)
    return strings.fill_null("") if given.null_count else strings


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
    # A column without any text may have become one of NaN.
    if getattr(given.dtype, "kind", "O") in "biufcmM" and not given.isna().all():
        raise DataError(f"texts must be strings, the column {given.name!r} holds {given.dtype}")
    return Texts(_filled(given.tolist()), index=given.index)


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
    return Texts(_filled(given.tolist()))


def _of_items(
    given: Iterable[Any], columns: Sequence[str] | None, besides: Sequence[str]
) -> Texts:
    items: Any = given
    iterator: Iterator[Any] = iter(given)
    first, before = _first_present(iterator)
    if not isinstance(given, Sequence):
        items = chain(before, iterator)
    if isinstance(first, Document):
        return Texts(["" if is_missing(item) else item.full_text for item in items])
    if isinstance(first, Mapping):
        return _of_records(list(items), columns, besides)
    if isinstance(first, list | tuple | np.ndarray) and len(first):
        if isinstance(first[0], int | float | np.number):
            return _of_array(np.array(list(items)))
        if len(first) == 1:
            return Texts(_filled([row[0] if len(row) == 1 else row for row in items]))
    if isinstance(items, Sequence):
        return Texts(_filled(items))
    return Texts("" if is_missing(text) else text for text in items)


def _first_present(iterator: Iterator[Any]) -> tuple[Any, list[Any]]:
    """Return the first item that is not missing, or else None, and all items up to it."""
    before = []
    for item in iterator:
        before.append(item)
        if not is_missing(item):
            return item, before
    return None, before


def _filled(texts: Sequence[Any]) -> Sequence[Any]:
    """Return texts with an empty text for each that is missing."""
    if all(isinstance(text, str) for text in texts):
        return texts
    return ["" if is_missing(text) else text for text in texts]


def _of_records(
    records: list[Any], columns: Sequence[str] | None, besides: Sequence[str]
) -> Texts:
    records = [{} if is_missing(record) else record for record in records]
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
    """Join the columns of text of a table by line breaks."""
    names = [name for name, _ in table]
    for name in wanted or ():
        if name not in names:
            raise DataError(
                f"no column {name!r}, which the model was fitted to; there are: "
                f"{', '.join(names) or 'none'}"
            )
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
        texts.append("\n".join(part for part in parts if part))
    return Texts(texts, columns=tuple(kept), table=tuple(table))


def _holds_text(values: list[Any]) -> bool:
    return isinstance(next((value for value in values if not is_missing(value)), None), str)


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names[:_LISTED_COLUMNS]]
    if len(names) > _LISTED_COLUMNS:
        quoted.append(f"{len(names) - _LISTED_COLUMNS:,} more")
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def is_missing(value: Any) -> bool:
    """Whether a value of a table is None, NaN or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and value != value
