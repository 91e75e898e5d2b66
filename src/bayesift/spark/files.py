"""Parquet to Parquet: executors read and write the files themselves.

Spark only hands out the work.

Through a DataFrame every row goes from Parquet to Spark's rows, to Arrow, and back the same way,
which takes longer than scoring it. Here a task reads some row groups into Arrow batches, scores
them and writes one file, which is renamed when it is whole: a task that is lost is run again, and
what it left is removed at the end.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import fs, parquet

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.spark.scoring import ERRORS, Scorer
from bayesift.spark.session import check_new
from bayesift.spark.sharing import shared_model

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BATCH = 1 << 15
_TASKS_PER_CORE = 4


@dataclass(frozen=True)
class RowGroups:
    """Some row groups of a Parquet file, and the number of their rows."""

    file: str
    groups: tuple[int, ...]
    n_rows: int


def score_files(
    spark: SparkSession,
    source: str | Path,
    target: str | Path,
    model: TextClassifier | str | Path,
    text_col: str = "text",
    id_col: str | None = None,
    *,
    top: int | None = 3,
    terms: int = 0,
) -> tuple[int, int]:
    """Put the texts of Parquet files into categories, and write Parquet files.

    They have the columns of `score`.

    Source and target are paths, or addresses that Arrow knows (`s3://`, `hdfs://`), which every
    executor can reach.

    Parameters
    ----------
    spark : the session
    source : a Parquet file, or a folder of them without partitions in the names of its folders
    target : a folder that is not there yet
    model : a classifier, or the path of one that was saved; it is sent to each executor once
    text_col, id_col, top, terms : as in `score`

    Returns
    -------
    How many rows were written, and how many of them could not be read

    Examples
    --------
    >>> score_files(spark, "news", "sorted", "model.zip", id_col="id")  # doctest: +SKIP
    """
    if (top is not None and top < 0) or terms < 0:
        raise DataError("top and terms must not be negative")
    system, place = _located(source)
    files = _files_of(system, place, source)
    new, folder = _located(target)
    if new.get_file_info(folder).type != fs.FileType.NotFound:
        raise DataError("is there already; Spark writes a new folder", file=target)
    classifier = model if isinstance(model, TextClassifier) else TextClassifier.load(model)
    if classifier.vectorizer_ is None:
        raise DataError("the model was trained on vectors, not on texts")
    kept = _kept_columns(system, files, text_col, id_col)
    tasks = list(
        enumerate(
            _tasks(system, files, spark.sparkContext.defaultParallelism * _TASKS_PER_CORE)
        )
    )
    new.create_dir(folder, recursive=True)
    work = _Work(
        str(source),
        str(target),
        Scorer(shared_model(spark, classifier), text_col, kept, top, terms),
        uuid.uuid4().hex,
    )
    found = spark.sparkContext.parallelize(tasks, max(1, len(tasks))).map(work).collect()
    for left in new.get_file_info(fs.FileSelector(folder)):
        if left.base_name.startswith("."):
            new.delete_file(left.path)
    new.open_output_stream(f"{folder}/_SUCCESS").close()
    return sum(n_rows for n_rows, _ in found), sum(n_errors for _, n_errors in found)


@dataclass(frozen=True)
class _Work:
    """Scores some row groups on an executor and writes them to one file."""

    source: str
    target: str
    scorer: Scorer
    job: str

    def __call__(self, task: tuple[int, RowGroups]) -> tuple[int, int]:
        number, part = task
        system, _ = _located(self.source)
        new, folder = _located(self.target)
        name = f"part-{number:05d}-{self.job}.parquet"
        begun = f"{folder}/.{name}-{uuid.uuid4().hex}"
        n_rows = n_errors = 0
        writer: parquet.ParquetWriter | None = None
        with (
            system.open_input_file(part.file) as stream,
            new.open_output_stream(begun) as output,
        ):
            wanted = [*self.scorer.kept, self.scorer.text]
            batches = parquet.ParquetFile(stream).iter_batches(
                _BATCH, row_groups=list(part.groups), columns=wanted
            )
            for scored in self.scorer(batches):
                writer = writer or parquet.ParquetWriter(
                    output, scored.schema, compression="snappy"
                )
                writer.write_batch(scored)
                n_rows += scored.num_rows
                n_errors += scored.num_rows - scored[ERRORS].null_count
            if writer is not None:
                writer.close()
        if writer is None:
            new.delete_file(begun)
        else:
            new.move(begun, f"{folder}/{name}")
        return n_rows, n_errors


def _located(place: str | Path) -> tuple[fs.FileSystem, str]:
    if "://" in str(place):
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(str(place))
        return found
    return fs.LocalFileSystem(), str(Path(place).absolute())


def _files_of(system: fs.FileSystem, place: str, source: str | Path) -> list[str]:
    if system.get_file_info(place).type == fs.FileType.File:
        return [place]
    if system.get_file_info(place).type == fs.FileType.NotFound:
        raise DataError("file or folder not found", file=source)
    held = system.get_file_info(fs.FileSelector(place, recursive=True))
    files = sorted(
        info.path
        for info in held
        if info.type == fs.FileType.File
        and info.path.endswith(".parquet")
        and not info.base_name.startswith((".", "_"))
    )
    if not files:
        raise DataError("holds no Parquet files", file=source)
    if any("=" in path.removeprefix(place) for path in files):
        raise DataError(
            "has partitions in the names of its folders; read it as a DataFrame and use `score`",
            file=source,
        )
    return files


def _kept_columns(
    system: fs.FileSystem, files: list[str], text_col: str, id_col: str | None
) -> tuple[str, ...]:
    schema = _schema_of(system, files[0])
    for name, what in ((text_col, "the text"), (id_col, "the id")):
        if name is not None and name not in schema.names:
            there = ", ".join(map(repr, schema.names)) or "none"
            raise DataError(f"no column {name!r} for {what}; there are: {there}")
    kind = schema.field(text_col).type
    known = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
    )
    if not any(check(kind) for check in known):
        raise DataError(
            f"column {text_col!r} for the text is of type {kind}, not string or binary"
        )
    kept = (
        tuple(name for name in schema.names if name != text_col)
        if id_col is None
        else (id_col,)
    )
    check_new(kept, ("categories", "probabilities", "scores", "terms", ERRORS))
    for file in files[1:]:
        missing = {text_col, *kept} - set(_schema_of(system, file).names)
        if missing:
            raise DataError(
                f"no column {sorted(missing)[0]!r}, which other files have", file=file
            )
    return kept


def _schema_of(system: fs.FileSystem, file: str) -> Any:
    with system.open_input_file(file) as stream:
        return parquet.read_schema(stream)


def _tasks(system: fs.FileSystem, files: list[str], n_tasks: int) -> Iterator[RowGroups]:
    """About so many parts of about the same number of rows, each of one file."""
    sizes: dict[str, list[int]] = {}
    for file in files:
        with system.open_input_file(file) as stream:
            metadata = parquet.read_metadata(stream)
            sizes[file] = [
                metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)
            ]
    enough = max(1, sum(map(sum, sizes.values())) // max(1, n_tasks))
    for file, rows in sizes.items():
        begin = 0
        for end in range(1, len(rows) + 1):
            n_rows = sum(rows[begin:end])
            if n_rows >= enough or end == len(rows):
                yield RowGroups(file, tuple(range(begin, end)), n_rows)
                begin = end
