"""Tables as rows with their place: CSV, TSV, JSON lines and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesift.datasets.lines import bare_suffix, describe_damage, read_lines
from bayesift.datasets.problems import ProblemLog
from bayesift.errors import DataError

MAX_CHARACTERS = 5_000_000

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
SUFFIXES = (*DELIMITERS, *JSON_LINES, *PARQUET)


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table and the line it starts on (in Parquet: its number), counted from 1."""

    line: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class TableReader:
    r"""Reads the rows of one table; records that cannot be read go to the log.

    Parameters
    ----------
    path : a file whose suffix is one of `SUFFIXES`, with .gz or .zst after it where it is text
    log : where problems are reported
    encoding : of CSV, TSV and JSON lines
    max_characters : longest field that is accepted

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "news.csv"
    ...     _ = file.write_text("text,label\nwheat rose,grain\n")
    ...     list(TableReader(file))
    [Row(line=2, values={'text': 'wheat rose', 'label': 'grain'})]
    """

    path: Path
    log: ProblemLog = field(default_factory=ProblemLog)
    encoding: str = "utf-8"
    max_characters: int = MAX_CHARACTERS

    def __iter__(self) -> Iterator[Row]:
        suffix = bare_suffix(self.path)
        if suffix in DELIMITERS:
            rows = self._read_delimited(DELIMITERS[suffix])
        elif suffix in JSON_LINES:
            return self.parse_json(read_lines(self.path, self.encoding))
        elif suffix in PARQUET:
            rows = self._read_parquet()
        else:
            raise DataError(f"unknown kind of table; its name must end in {', '.join(SUFFIXES)}", file=self.path)
        return (row for row in rows if not self._is_bad(row))

    def _report(self, message: str, line: int) -> None:
        self.log.report(message, file=self.path, line=line)

    def _is_bad(self, row: Row) -> bool:
        for name, value in row.values.items():
            if not isinstance(value, str):
                continue
            damage = describe_damage(value, self.encoding)
            if damage is None and len(value) > self.max_characters:
                damage = f"{len(value):,} characters, more than the {self.max_characters:,} allowed"
            if damage is not None:
                self._report(f"column {name!r}: {damage}", row.line)
                return True
        return False

    def _read_delimited(self, delimiter: str) -> Iterator[Row]:
        # A process-wide limit: it is only ever raised, so that no other reader is cut short.
        csv.field_size_limit(max(csv.field_size_limit(), self.max_characters))
        records = self._read_records(delimiter)
        start, header = next(records, (0, []))
        if not header:
            raise DataError("is empty: there is not even a header line", file=self.path)
        if delimiter == "," and len(header) == 1 and ";" in header[0]:
            yield from self._read_delimited(";")
            return
        self._check_header(header, start)
        for line, record in records:
            if len(record) == len(header):
                yield Row(line, dict(zip(header, record, strict=True)))
            else:
                self._report(f"number of fields is {len(record)}; in the header it is {len(header)}", line)

    def _read_records(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(read_lines(self.path, self.encoding, newline=""), delimiter=delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                record = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._report(self._describe(error, line, reader.line_num), line)
                continue
            if record:
                yield line, record

    def _describe(self, error: csv.Error, first: int, last: int) -> str:
        extent = f"; lines {first} to {last} are lost" if last > first else ""
        if "field limit" in str(error):
            return f"a field has more than the {csv.field_size_limit():,} characters allowed{extent}"
        return f"not a delimited record ({error}){extent}"

    def _check_header(self, header: list[str], line: int) -> None:
        damage = describe_damage("".join(header), self.encoding)
        twice = sorted({name for name in header if header.count(name) > 1})
        if damage is None and twice:
            damage = f"the header names a column twice: {', '.join(map(repr, twice))}"
        if damage is not None:
            raise DataError(damage, file=self.path, line=line)

    def parse_json(self, lines: Iterable[str], *, first: int = 1) -> Iterator[Row]:
        """Rows of lines that hold a JSON object each, the first line numbered `first`; blank lines are passed over."""
        for line, text in enumerate(lines, first):
            if not text.strip():
                continue
            damage = describe_damage(text, self.encoding)
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
                self._report(damage, line)
            elif not self._is_bad(row := Row(line, value)):
                yield row

    def _read_parquet(self) -> Iterator[Row]:
        import pyarrow
        from pyarrow import parquet

        if not self.path.is_file():
            raise DataError("there is no such file", file=self.path)
        number = 0
        try:
            with parquet.ParquetFile(self.path) as table:
                for batch in table.iter_batches(batch_size=4096):
                    for values in batch.to_pylist():
                        number += 1
                        yield Row(number, values)
        except (pyarrow.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise DataError(f"cannot be read as Parquet ({reason})", file=self.path, line=number or None) from error
