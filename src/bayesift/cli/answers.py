"""Files of answers: the columns of the input and those of the predictions, batch by batch."""

from __future__ import annotations

import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from bayesift.cli.console import print_note
from bayesift.errors import DataError, require
from bayesift.files import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

    from bayesift.arrays import FloatArray
    from bayesift.classifier import Predictions

    Columns = Mapping[str, pa.Array]

OUTPUT_SUFFIXES = (".csv", ".tsv", ".xlsx", ".jsonl", ".parquet")
_SUFFIX_OF_INPUT = {
    ".tab": ".tsv",
    ".pq": ".parquet",
    **dict.fromkeys((".xlsm", ".xlsb", ".xls", ".ods"), ".xlsx"),
}
SEPARATOR = ";"
_SIGNIFICANT_DIGITS = 6
_TAKEN = "_predicted"  # ends the name of an answer that is a column of the input already
_MAX_SHEET_ROWS = 1_048_576
_MAX_CELL_CHARACTERS = 32_767
_MAX_EXACT_DIGITS = 15  # of a number in a spreadsheet
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # in a spreadsheet
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*[1-9])?")


def output_path(output: Path, documents: str) -> Path:
    """Return the file to write: without a suffix, it gets that of the format that came in.

    Examples
    --------
    >>> output_path(Path("answers"), "mails.ods").name
    'answers.xlsx'
    """
    if not output.name:
        raise typer.BadParameter("names no file", param_hint="--output")
    if output.suffix:
        if output.suffix.lower() not in OUTPUT_SUFFIXES:
            raise typer.BadParameter(
                f"{output} must end in {', '.join(OUTPUT_SUFFIXES)}", param_hint="--output"
            )
        return output
    from bayesift.tables.loading import bare_suffix

    suffix = "" if documents == "-" else bare_suffix(Path(documents))
    suffix = _SUFFIX_OF_INPUT.get(suffix, suffix)
    return output.with_name(output.name + (suffix if suffix in OUTPUT_SUFFIXES else ".jsonl"))


@contextmanager
def open_answers(
    path: Path | None, delimiter: Callable[[], str | None]
) -> Iterator[AnswerWriter]:
    """Open a writer to a file of the kind its suffix names, or of JSON lines to stdout.

    `delimiter` is asked for when the first batch is there: that of the input, if it has one.
    """
    if path is None:
        yield JsonLinesWriter(sys.stdout.buffer)
        return
    suffix = path.suffix.lower()
    with whole_file(path) as stream:
        writer: AnswerWriter
        if suffix == ".parquet":
            writer = ParquetWriter(stream)
        elif suffix == ".xlsx":
            writer = ExcelWriter(stream)
        elif suffix == ".jsonl":
            writer = JsonLinesWriter(stream)
        else:
            writer = CsvWriter(stream, (lambda: "\t") if suffix == ".tsv" else delimiter)
        yield writer
        writer.close()


class AnswerWriter(ABC):
    """Writes batches of answers beside the columns of their input."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._names: dict[str, str] | None = None

    @abstractmethod
    def write(self, columns: Columns, predictions: Predictions) -> None:
        """Write a batch."""

    def close(self) -> None:  # noqa: B027 - most writers are done with their last batch
        """Write what is written at the end."""

    def _renamed(self, answers: Columns, taken: Collection[str]) -> dict[str, pa.Array]:
        """Name the answers; one with the name of a column of the input gets a suffix."""
        if self._names is None:
            self._names = {}
            for name in answers:
                free = name
                while free in taken:
                    free += _TAKEN
                self._names[name] = free
            changed = [f"{new!r}" for old, new in self._names.items() if old != new]
            if changed:
                print_note(
                    f"the input has columns of these names: the answers are {', '.join(changed)}"
                )
        return {self._names[name]: column for name, column in answers.items()}


class JsonLinesWriter(AnswerWriter):
    """Writes one JSON object per document."""

    def write(self, columns: Columns, predictions: Predictions) -> None:
        """Write a batch, joined by Arrow."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = {name: json_cells(column) for name, column in columns.items()}
        cells |= self._renamed(_json_answers(predictions), columns)
        parts: list[Any] = []
        for name, column in cells.items():
            parts += [", " if parts else "{", _quoted(name), ": ", column]
        parts += ["}\n", ""]
        wide = [pa.scalar(p, pa.large_string()) if isinstance(p, str) else p for p in parts]
        rows = pc.binary_join_element_wise(*wide)
        data = rows.buffers()[2]
        if data is not None:
            self._stream.write(data)
        self._stream.flush()


def _json_answers(predictions: Predictions) -> dict[str, pa.Array]:
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [_quoted(name) for name in predictions.categories]
    found = {
        "categories": _enclosed("[", pc.binary_join(predictions.assigned(names), ", "), "]")
    }
    scores: list[Any] = []
    for category, score in _top(predictions, names):
        scores += [", " if scores else "", category, ": ", score.cast(pa.string())]
    if scores:
        found["scores"] = _enclosed("{", pc.binary_join_element_wise(*scores, ""), "}")
    else:
        found["scores"] = pa.repeat(pa.scalar("{}", pa.large_string()), len(predictions.best))
    if predictions.unsure is not None:
        reasons = [json.dumps(reason, ensure_ascii=False) for reason in predictions.unsure]
        found["unsure"] = pa.array(reasons, pa.large_string())
    return found


def _enclosed(opening: str, cells: pa.Array, closing: str) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    wide = (pa.scalar(sign, pa.large_string()) for sign in (opening, closing, ""))
    first, last, nothing = wide
    return pc.binary_join_element_wise(first, cells.cast(pa.large_string()), last, nothing)


def json_cells(column: pa.Array) -> pa.Array:
    r"""Return the cells of a column as JSON.

    Texts without quotes, backslashes and control characters, and numbers, are no Python objects.

    Examples
    --------
    >>> import pyarrow as pa
    >>> json_cells(pa.array(['a "b"', None])).to_pylist()
    ['"a \\"b\\""', 'null']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    cells = None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if not pc.any(pc.match_substring_regex(column, r'["\\\x00-\x1f]')).as_py():
            cells = _enclosed('"', column, '"')
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        cells = column.cast(pa.large_string())
    elif pa.types.is_floating(kind):
        finite = pc.if_else(pc.is_finite(column), column, None)
        cells = finite.cast(pa.large_string())
    if cells is None:
        values = [_as_json(value) for value in column.to_pylist()]
        return pa.array(values, pa.large_string())
    return cells.fill_null("null")


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _flat_answers(predictions: Predictions) -> dict[str, pa.Array]:
    """Return the answers as cells of a table without lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {"categories": pc.binary_join(predictions.assigned(), SEPARATOR)}
    for rank, (category, score) in enumerate(_top(predictions, predictions.categories), 1):
        columns |= {f"category_{rank}": category, f"score_{rank}": score}
    if predictions.unsure is not None:
        columns["unsure"] = pa.array(predictions.unsure, pa.string())
    return columns


def _top(predictions: Predictions, names: Sequence[str]) -> list[tuple[pa.Array, pa.Array]]:
    """Return the category of each rank, under these names, and its rounded score."""
    import pyarrow as pa

    scores = _significant(predictions.scores)
    return [
        (predictions.at_rank(k, names), pa.array(scores[:, k]))
        for k in range(predictions.best.shape[1])
    ]


def _significant(values: FloatArray) -> FloatArray:
    """Round values to six significant digits."""
    import numpy as np

    sizes = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    scale = 10.0 ** np.clip(_SIGNIFICANT_DIGITS - 1 - sizes, 0, 300)
    rounded: FloatArray = np.round(values * scale) / scale
    return rounded


def _flat(column: pa.Array) -> pa.Array:
    """Return a column that a cell can hold: lists and objects are written as JSON."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_nested(column.type):
        return column
    cells = [None if value is None else _as_json(value) for value in column.to_pylist()]
    return pa.array(cells, pa.large_string())


class CsvWriter(AnswerWriter):
    """Writes delimited text, with the delimiter of the input where it has one.

    What a spreadsheet would run as a formula gets a leading apostrophe.
    """

    def __init__(self, stream: IO[bytes], delimiter: Callable[[], str | None]) -> None:
        super().__init__(stream)
        self._delimiter = delimiter
        self._header = True

    def write(self, columns: Columns, predictions: Predictions) -> None:
        """Write a batch."""
        import pyarrow as pa
        from pyarrow import csv

        from bayesift.tables.cells import guarded_cell, guarded_column

        cells = {name: _flat(column) for name, column in columns.items()}
        cells |= self._renamed(_flat_answers(predictions), columns)
        names = [guarded_cell(name) for name in cells]
        guarded = [guarded_column(column) for column in cells.values()]
        options = csv.WriteOptions(
            include_header=self._header,
            quoting_style="needed",
            delimiter=self._delimiter() or ",",
        )
        csv.write_csv(pa.table(guarded, names=names), self._stream, options)
        self._header = False
        self._stream.flush()


class ExcelWriter(AnswerWriter):
    """Writes the sheet of a spreadsheet; what looks like a formula stays text."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        openpyxl = require("openpyxl", extra="excel")
        self._book = openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet("answers")
        self._n_rows = 0

    def write(self, columns: Columns, predictions: Predictions) -> None:
        """Write a batch."""
        cells = {name: _flat(column) for name, column in columns.items()}
        cells |= self._renamed(_flat_answers(predictions), columns)
        if not self._n_rows:
            self._append(list(cells), list(cells))
        names = list(cells)
        for row in zip(*(column.to_pylist() for column in cells.values()), strict=True):
            self._append(row, names)

    def _append(self, row: Sequence[Any], names: Sequence[str]) -> None:
        self._n_rows += 1
        if self._n_rows > _MAX_SHEET_ROWS:
            raise DataError(
                f"a sheet of Excel holds {_MAX_SHEET_ROWS:,} rows; write CSV instead"
            )
        cells = []
        for name, value in zip(names, row, strict=True):
            if isinstance(value, str) and len(value) > _MAX_CELL_CHARACTERS:
                raise DataError(
                    f"row {self._n_rows}: column {name!r} has {len(value):,} characters, and a "
                    f"cell of Excel holds {_MAX_CELL_CHARACTERS:,}; write CSV instead"
                )
            cells.append(self._cell(value))
        self._sheet.append(cells)

    def _cell(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if _NUMBER.fullmatch(value) and len(value) <= _MAX_EXACT_DIGITS:
            return float(value) if "." in value else int(value)  # as the input has it
        text = _FORBIDDEN.sub(" ", value)
        if not text.startswith("="):
            return text
        cell = require("openpyxl.cell", extra="excel").WriteOnlyCell(self._sheet, value=text)
        cell.data_type = "s"
        return cell

    def close(self) -> None:
        """Write the file."""
        self._book.save(self._stream)


class ParquetWriter(AnswerWriter):
    """Writes Parquet; columns have the types of the first batch."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self._writer: Any = None

    def write(self, columns: Columns, predictions: Predictions) -> None:
        """Write a batch."""
        import pyarrow as pa
        from pyarrow import parquet

        answers = {"categories": predictions.assigned(), "top": predictions.ranked()}
        if predictions.unsure is not None:
            answers["unsure"] = pa.array(predictions.unsure, pa.string())
        table = pa.table({**columns, **self._renamed(answers, columns)})
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._stream, table.schema)
        try:
            self._writer.write_table(table.cast(self._writer.schema))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            reason = str(error).partition("\n")[0]
            raise DataError(
                f"a column changes its type ({reason}); write JSON lines or CSV instead"
            ) from error

    def close(self) -> None:
        """Write the end of the file; without answers it has no columns."""
        import pyarrow as pa
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._stream, pa.schema([("id", pa.string())]))
        self._writer.close()
