"""Where classified documents go: CSV, JSON lines or Parquet, written as they come."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import typer

from bayesift.files import whole_file

SEPARATOR = ";"
_KINDS = (".jsonl", ".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class Classified:
    """A batch of classified documents.

    Parameters
    ----------
    ids : of the documents
    assigned : the categories of each
    top : the most probable categories of each with their scores, best first
    """

    ids: Sequence[str]
    assigned: Sequence[Sequence[str]]
    top: Sequence[Sequence[tuple[str, float]]]


class Writer(Protocol):
    """Takes batches."""

    def write(self, batch: Classified) -> None:
        """Write a batch."""
        ...


class _JsonLines:
    def __init__(self, stream: IO[str], *, flush: bool) -> None:
        self._stream = stream
        self._flush = flush

    def write(self, batch: Classified) -> None:
        quoted = _Quoted()
        lines = []
        for name, assigned, top in zip(batch.ids, batch.assigned, batch.top, strict=True):
            categories = ", ".join([quoted[category] for category in assigned])
            scores = ", ".join([f"{quoted[category]}: {score:.6g}" for category, score in top])
            lines.append(f'{{"id": {json.dumps(name)}, "categories": [{categories}], "scores": {{{scores}}}}}\n')
        self._stream.write("".join(lines))
        if self._flush:
            self._stream.flush()


class _Quoted(dict[str, str]):
    """Category names as JSON, each made once."""

    def __missing__(self, name: str) -> str:
        self[name] = json.dumps(name, ensure_ascii=False)
        return self[name]


class _Csv:
    def __init__(self, stream: IO[str], n_top: int, *, flush: bool) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._stream = stream
        self._flush = flush
        numbered = [f"{what}_{k}" for k in range(1, n_top + 1) for what in ("category", "score")]
        self._writer.writerow(["id", "categories", *numbered])

    def write(self, batch: Classified) -> None:
        self._writer.writerows(
            [name, SEPARATOR.join(assigned), *(part for c, s in top for part in (c, f"{s:.6g}"))]
            for name, assigned, top in zip(batch.ids, batch.assigned, batch.top, strict=True)
        )
        if self._flush:
            self._stream.flush()


class _Parquet:
    def __init__(self, stream: IO[bytes]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        scored = pa.struct([("category", pa.string()), ("score", pa.float64())])
        self._schema = pa.schema(
            [("id", pa.string()), ("categories", pa.list_(pa.string())), ("top", pa.list_(scored))]
        )
        self.writer = parquet.ParquetWriter(stream, self._schema)

    def write(self, batch: Classified) -> None:
        import pyarrow as pa

        top = [[{"category": category, "score": score} for category, score in row] for row in batch.top]
        columns: list[Any] = [list(batch.ids), [list(row) for row in batch.assigned], top]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, self._schema, strict=True)]
        self.writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))


@contextmanager
def open_output(path: Path | None, n_top: int, *, flush: bool) -> Iterator[Writer]:
    """A writer to a file, by its suffix, or to stdout as JSON lines."""
    if path is None:
        yield _JsonLines(sys.stdout, flush=flush)
        return
    if path.suffix not in _KINDS:
        raise typer.BadParameter(f"{path} must end in {', '.join(_KINDS)}", param_hint="--output")
    with whole_file(path, "wb" if path.suffix == ".parquet" else "w") as stream:
        if path.suffix == ".parquet":
            parquet = _Parquet(stream)
            yield parquet
            parquet.writer.close()
        else:
            yield _JsonLines(stream, flush=flush) if path.suffix == ".jsonl" else _Csv(stream, n_top, flush=flush)
