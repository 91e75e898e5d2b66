"""Texts without labels, one after the other: nothing is kept, so that any number can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bayesift.datasets.columns import Columns, read_name, read_text
from bayesift.datasets.lines import describe_damage, read_lines
from bayesift.datasets.problems import ProblemLog
from bayesift.datasets.rows import Row, TableReader

_STREAM = Path("<stdin>")


class TextRecord(NamedTuple):
    """A text and its id."""

    id: str
    text: str


def read_texts(
    source: Path | BinaryIO,
    *,
    columns: Columns | None = None,
    encoding: str = "utf-8",
    log: ProblemLog | None = None,
) -> Iterator[TextRecord]:
    r"""Read texts from a table, or from a stream that holds JSON lines or a text a line.

    Parameters
    ----------
    source : CSV, TSV, JSON lines or Parquet; or an open stream of bytes
    columns : where text, id and title stand; what is not named is guessed. Ids are line numbers without a column
    encoding : of text
    log : where records that cannot be read are reported; without it they are refused

    Examples
    --------
    >>> import io
    >>> list(read_texts(io.BytesIO(b'{"id": 7, "text": "corn"}\n{"text": "oil"}\n')))
    [TextRecord(id='7', text='corn'), TextRecord(id='2', text='oil')]
    >>> list(read_texts(io.BytesIO(b"corn\noil\n")))
    [TextRecord(id='1', text='corn'), TextRecord(id='2', text='oil')]
    """
    log = log or ProblemLog()
    wanted = columns or Columns()
    if isinstance(source, Path):
        return _from_rows(TableReader(source, log, encoding), wanted, source, log)
    lines = read_lines(_STREAM, encoding, stream=source)
    first = next((line for line in lines if line.strip()), "")
    lines = chain([first], lines)
    if first.lstrip().startswith("{"):
        return _from_rows(TableReader(_STREAM, log, encoding).parse_json(lines), wanted, _STREAM, log)
    return _from_lines(lines, encoding, log)


def _from_rows(rows: Iterable[Row], wanted: Columns, path: Path, log: ProblemLog) -> Iterator[TextRecord]:
    found: Columns | None = None
    for row in rows:
        if found is None:
            found = wanted.resolve(row.values, file=str(path), line=row.line)
        try:
            record = _record(row, found)
        except ValueError as error:
            log.report(str(error), file=path, line=row.line)
        else:
            yield record


def _record(row: Row, columns: Columns) -> TextRecord:
    values = row.values
    if columns.text not in values:
        there = ", ".join(map(repr, values)) or "none"
        raise ValueError(f"no column {columns.text!r}; there are: {there}")
    text = read_text(values, columns.text)
    title = read_text(values, columns.title)
    text = f"{title}\n{text}" if title else text
    if not text or text.isspace():
        raise ValueError("empty document")
    name = values.get(columns.id) if columns.id else None
    return TextRecord(str(row.line) if name is None else read_name(name), text)


def _from_lines(lines: Iterable[str], encoding: str, log: ProblemLog) -> Iterator[TextRecord]:
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if not text.strip():
            continue
        if damage := describe_damage(text, encoding):
            log.report(damage, file=_STREAM, line=number)
        else:
            yield TextRecord(str(number), text)
