"""Where classified documents go: CSV, JSON lines or Parquet, a batch at a time, without a Python object a document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import typer

from bayesift.files import whole_file

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Array = np.ndarray[Any, Any]

SEPARATOR = ";"
_DIGITS = 6
_KINDS = (".jsonl", ".csv", ".parquet")


@dataclass(frozen=True, slots=True)
class Classified:
    """A batch of classified documents.

    Parameters
    ----------
    ids : of the documents
    categories : names of the columns
    decisions : documents x categories, whether assigned
    best : documents x k, columns of the highest scores, best first
    scores : documents x k, those scores
    """

    ids: pa.Array
    categories: Sequence[str]
    decisions: Array
    best: Array
    scores: Array

    def assigned(self, names: Sequence[str]) -> pa.ListArray:
        """The assigned categories of each document under these names."""
        import numpy as np
        import pyarrow as pa

        offsets = np.concatenate([[0], np.cumsum(self.decisions.sum(axis=1))]).astype(np.int32)
        return pa.ListArray.from_arrays(offsets, pa.array(names).take(pa.array(np.nonzero(self.decisions)[1])))

    def top(self, names: Sequence[str]) -> list[tuple[pa.Array, pa.Array]]:
        """For each rank the category, under these names, and its score."""
        import pyarrow as pa

        known = pa.array(names)
        ranks = range(self.best.shape[1])
        scores = _significant(self.scores)
        return [(known.take(pa.array(self.best[:, k])), pa.array(scores[:, k])) for k in ranks]


def _significant(values: Array) -> Array:
    """Values rounded to a few significant digits."""
    import numpy as np

    sizes = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    scale = 10.0 ** np.clip(_DIGITS - 1 - sizes, 0, 300)
    rounded: Array = np.round(values * scale) / scale
    return rounded


class Writer(Protocol):
    """Takes batches."""

    def write(self, batch: Classified) -> None:
        """Write a batch."""
        ...


class _JsonLines:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, batch: Classified) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [json.dumps(name, ensure_ascii=False) for name in batch.categories]
        parts: list[Any] = ['{"id": ', _quoted(batch.ids), ', "categories": [']
        parts += [pc.binary_join(batch.assigned(names), ", "), '], "scores": {']
        for rank, (category, score) in enumerate(batch.top(names)):
            parts += [", " if rank else "", category, ": ", score.cast(pa.string())]
        rows = pc.binary_join_element_wise(*parts, "}}\n", "")
        data = rows.cast(pa.large_string()).buffers()[2]
        if data is not None:
            self._stream.write(data)
        self._stream.flush()


def _quoted(ids: pa.Array) -> pa.Array:
    """Ids as JSON; only those with a quote, a backslash or a control character need care."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(ids, r'["\\\x00-\x1f]')).as_py():
        return pa.array([json.dumps(name, ensure_ascii=False) for name in ids.to_pylist()])
    return pc.binary_join_element_wise('"', ids, '"', "")


class _Csv:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._header = True

    def write(self, batch: Classified) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        columns = {"id": batch.ids, "categories": pc.binary_join(batch.assigned(batch.categories), SEPARATOR)}
        for rank, (category, score) in enumerate(batch.top(batch.categories), 1):
            columns |= {f"category_{rank}": category, f"score_{rank}": score}
        options = csv.WriteOptions(include_header=self._header, quoting_style="needed")
        csv.write_csv(pa.table(columns), self._stream, options)
        self._header = False
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
        import numpy as np
        import pyarrow as pa

        n, k = batch.best.shape
        categories = pa.array(batch.categories).take(pa.array(batch.best.ravel()))
        scored = pa.StructArray.from_arrays([categories, pa.array(batch.scores.ravel())], ["category", "score"])
        top = pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32) * k, scored)
        arrays = [batch.ids.cast(pa.string()), batch.assigned(batch.categories), top]
        self.writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))


@contextmanager
def open_output(path: Path | None) -> Iterator[Writer]:
    """A writer to a file, by its suffix, or to stdout as JSON lines."""
    if path is None:
        yield _JsonLines(sys.stdout.buffer)
        return
    if path.suffix not in _KINDS:
        raise typer.BadParameter(f"{path} must end in {', '.join(_KINDS)}", param_hint="--output")
    with whole_file(path) as stream:
        if path.suffix == ".parquet":
            parquet = _Parquet(stream)
            yield parquet
            parquet.writer.close()
        else:
            yield _JsonLines(stream) if path.suffix == ".jsonl" else _Csv(stream)
