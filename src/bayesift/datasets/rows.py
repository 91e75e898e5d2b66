"""Rows of a table: what is wrong with one, and the rows of JSON, of fastText's lines and of Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from bayesift.datasets.encodings import describe_damage
from bayesift.datasets.loading import ProblemLog
from bayesift.errors import DataError

MAX_CHARACTERS = 5_000_000
FASTTEXT = "__label__"


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table and the line it starts on (without lines: its number), counted from 1."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class RowChecks:
    """Reports what cannot be read of a table to a log."""

    path: Path
    log: ProblemLog = field(default_factory=ProblemLog)
    encoding: str = "utf-8"
    max_characters: int = MAX_CHARACTERS

    def report(self, message: str, line: int) -> None:
        """Refuse the table, or count the row."""
        self.log.report(message, file=self.path, line=line)

    def accept(self, row: Row) -> bool:
        """Whether all text of a row can be used; what cannot is reported."""
        for name, value in row.values.items():
            if not isinstance(value, str):
                continue
            damage = describe_damage(value, self.encoding)
            if damage is not None and "decoded" in damage:
                damage += "; name the right one with --encoding"
            if damage is None and len(value) > self.max_characters:
                damage = f"{len(value):,} characters, more than the {self.max_characters:,} allowed"
            if damage is not None:
                self.report(f"column {name!r}: {damage}", row.line)
                return False
        return True


def read_json_lines(lines: Iterable[str], checks: RowChecks, *, first: int = 1) -> Iterator[Row]:
    """Rows of lines with one JSON object each, numbered from `first`; blank lines are skipped."""
    for line, text in enumerate(lines, first):
        if not text.strip():
            continue
        damage = describe_damage(text, checks.encoding)
        value: Any = None
        try:
            value = None if damage else json.loads(text)
        except json.JSONDecodeError as error:
            damage = f"not JSON ({error.msg} at column {error.colno})"
        except (ValueError, RecursionError) as error:
            damage = f"not JSON that can be read ({error})"
        if damage is None and not isinstance(value, dict):
            damage = 'not a JSON object; each line must be one, such as {"text": "..."}'
        if damage is not None:
            checks.report(damage, line)
        elif checks.accept(row := Row(line, value)):
            yield row


def holds_json_lines(start: str) -> bool:
    """Whether a text that starts with an object has one object per line, and is not one document."""
    first, newline, rest = start.partition("\n")
    try:
        document = json.loads(first)
    except (ValueError, RecursionError):
        return not newline  # the start of a long line, or else of an object with many lines
    return bool(rest.strip()) or find_objects(document) is None


def read_json(lines: Iterable[str], checks: RowChecks) -> Iterator[Row]:
    """Rows of one JSON document: an array of objects, an object that holds one, or one with an array per column."""
    try:
        document = json.loads("".join(lines))
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg} at column {error.colno})"
        raise DataError(message, file=checks.path, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON that can be read ({error})", file=checks.path) from error
    objects = find_objects(document)
    if objects is None:
        raise DataError("is JSON, but holds no array of objects, such as [{...}, {...}]", file=checks.path)
    for number, value in enumerate(objects, 1):
        if not isinstance(value, dict):
            checks.report("not a JSON object, as the others of the array", number)
        elif checks.accept(row := Row(number, value)):
            yield row


def find_objects(document: Any) -> list[Any] | None:
    """The objects of a JSON document.

    Examples
    --------
    >>> find_objects({"n": 1, "data": [{"text": "corn"}]})
    [{'text': 'corn'}]
    >>> find_objects({"text": ["corn", "oil"], "label": {"0": "grain", "1": "crude"}})
    [{'text': 'corn', 'label': 'grain'}, {'text': 'oil', 'label': 'crude'}]
    """
    if isinstance(document, list):
        return document if any(isinstance(value, dict) for value in document) else None
    if not isinstance(document, dict):
        return None
    arrays = [value for value in document.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    if len(arrays) == 1:
        return arrays[0]
    # As pandas writes a table: every column an array, or an object with the number of the row as key.
    columns = {k: list(v.values()) if isinstance(v, dict) else v for k, v in document.items()}
    if columns and all(isinstance(v, list) for v in columns.values()) and len({len(v) for v in columns.values()}) == 1:
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return None


def read_fasttext(lines: Iterable[str], checks: RowChecks) -> Iterator[Row]:
    """Rows of lines that start with their labels, each with `__label__` before it."""
    for line, text in enumerate(lines, 1):
        rest, labels = text.strip(), []
        while rest.startswith(FASTTEXT):
            label, _, rest = rest.removeprefix(FASTTEXT).partition(" ")
            labels.append(label)
            rest = rest.lstrip()
        if (rest or labels) and checks.accept(row := Row(line, {"text": rest, "label": labels})):
            yield row


def read_parquet(source: Path | BinaryIO, checks: RowChecks) -> Iterator[Row]:
    """Rows of a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        place = source if isinstance(source, Path) else pyarrow.BufferReader(source.read())
        with parquet.ParquetFile(place) as table:
            for batch in table.iter_batches(batch_size=4096):
                for values in batch.to_pylist():
                    number += 1
                    if checks.accept(row := Row(number, values)):
                        yield row
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"cannot be read as Parquet ({reason})", file=checks.path, line=number or None) from error
