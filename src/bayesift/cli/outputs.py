"""Where classified documents go: CSV, JSON lines or Parquet, a batch at a time, without a Python object a document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import typer

from bayesift.files import whole_file

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from bayesift.classifier import Answers

    Array = np.ndarray[Any, Any]

SEPARATOR = ";"
_DIGITS = 6
_KINDS = (".jsonl", ".csv", ".parquet")


def _top(answers: Answers, names: Sequence[str]) -> list[tuple[pa.Array, pa.Array]]:
    """For each rank the category, under these names, and its score, rounded."""
    import pyarrow as pa

    scores = _significant(answers.scores)
    return [(answers.at_rank(k, names), pa.array(scores[:, k])) for k in range(answers.best.shape[1])]


def _significant(values: Array) -> Array:
    """Values rounded to a few significant digits."""
    import numpy as np

    sizes = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    scale = 10.0 ** np.clip(_DIGITS - 1 - sizes, 0, 300)
    rounded: Array = np.round(values * scale) / scale
    return rounded


class Writer(Protocol):
    """Takes the answers to batches."""

    def write(self, ids: pa.Array, answers: Answers) -> None:
        """Write the answers to documents of these ids."""
        ...


class _JsonLines:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, ids: pa.Array, answers: Answers) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [json.dumps(name, ensure_ascii=False) for name in answers.categories]
        parts: list[Any] = ['{"id": ', _quoted(ids), ', "categories": [']
        parts += [pc.binary_join(answers.assigned(names), ", "), '], "scores": {']
        for rank, (category, score) in enumerate(_top(answers, names)):
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

    def write(self, ids: pa.Array, answers: Answers) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        columns = {"id": ids, "categories": pc.binary_join(answers.assigned(), SEPARATOR)}
        for rank, (category, score) in enumerate(_top(answers, answers.categories), 1):
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

    def write(self, ids: pa.Array, answers: Answers) -> None:
        import pyarrow as pa

        arrays = [ids.cast(pa.string()), answers.assigned(), answers.ranked()]
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
