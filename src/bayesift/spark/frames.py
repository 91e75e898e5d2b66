"""The seam to Spark: columns are checked before a job starts, functions of Arrow batches run on every partition."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from bayesift.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BatchFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def map_batches(df: DataFrame, function: BatchFunction, schema: str) -> DataFrame:
    """The DataFrame that a function makes of the Arrow batches of each partition."""
    with warnings.catch_warnings():
        # Spark says it does not know pandas 3; only Arrow is used here.
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        return df.mapInArrow(function, schema)


def collect(df: DataFrame) -> pa.Table:
    """The rows of a DataFrame, partition after partition, as one table of this process."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        table: pa.Table = df.toArrow()
    return table.combine_chunks()


def check_column(df: DataFrame, name: str, kinds: tuple[str, ...], what: str) -> str:
    """The type of a column; refused when it is not there or of another type than one of `kinds`."""
    if name not in df.columns:
        raise DataError(f"no column {name!r} for {what}; there are: {', '.join(map(repr, df.columns)) or 'none'}")
    kind: str = df.schema[name].dataType.simpleString()
    if kinds and kind not in kinds:
        raise DataError(f"column {name!r} for {what} is of type {kind}, not {' or '.join(kinds)}")
    return kind


def check_new(kept: Iterable[str], new: Iterable[str]) -> None:
    """Refuse columns that would stand twice in the result."""
    twice = set(kept) & set(new)
    if twice:
        name = sorted(twice)[0]
        raise DataError(f"the result has a column {name!r} of its own; rename it, or name only an id to be kept")


def sql_type(df: DataFrame, column: str) -> str:
    """A column as a schema names it."""
    name = column.replace("`", "``")
    return f"`{name}` {df.schema[column].dataType.simpleString()}"


def with_titles(df: DataFrame, text: str, title: str) -> DataFrame:
    """The texts with their titles in front, as `Document.full_text` has them; a missing text stays missing."""
    from pyspark.sql import functions as F  # noqa: N812

    binary = check_column(df, text, ("string", "binary"), "the text") == "binary"
    check_column(df, title, ("string",), "the title")
    head = F.coalesce(df[title], F.lit(""))
    head, line = (F.encode(head, "utf-8"), F.lit(bytearray(b"\n"))) if binary else (head, F.lit("\n"))
    joined = F.when(F.length(head) == 0, df[text]).when(F.length(df[text]) == 0, head)
    return df.withColumn(text, joined.otherwise(F.concat(head, line, df[text])))


def refuse_stream(df: DataFrame, what: str) -> None:
    """Refuse a stream where all rows are needed."""
    if df.isStreaming:
        raise DataError(f"{what} needs all documents; this is a stream")
