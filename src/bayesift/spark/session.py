"""The seam to Spark: a session, checked columns, functions of Arrow batches."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from bayesift.errors import BayesiftError, DataError, require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


LOOPBACK = "127.0.0.1"
_RETRIES = 4  # of a task, in a local run too: losing a Python process must not lose the job


def check_java() -> None:
    """Say in one line that Java is missing, before Spark says it in fifty."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        raise BayesiftError(
            "Spark needs Java 17 or newer, and there is no `java` on the path nor a JAVA_HOME"
        )


def running_session() -> SparkSession | None:
    """Return the session of this process, if there is one."""
    require("pyspark", extra="spark")
    require("pandas", extra="spark")
    check_java()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        from pyspark.sql import SparkSession

        return SparkSession.getActiveSession()


def spark_session(
    master: str = "local[*]",
    *,
    progress: bool = False,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a session on this master: the one that is running, or a new one.

    Parameters
    ----------
    master : such as "local[4]", "spark://host:7077" or "yarn"; a local one listens on loopback only
    progress : whether Spark shows its bars on stderr
    settings : more of Spark's configuration; they win over ours

    Examples
    --------
    >>> spark = spark_session("local[2]")  # doctest: +SKIP
    """
    running = running_session()
    if running is not None:
        return running
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("bayesift").master(_with_retries(master))
    builder = builder.config("spark.python.daemon.module", "bayesift.spark.daemon")
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        builder = builder.config("spark.driver.host", LOOPBACK).config(
            "spark.driver.bindAddress", LOOPBACK
        )
        builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", str(progress).lower()).config(
        "spark.log.level", "ERROR"
    )
    for name, value in (settings or {}).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BayesiftError(f"no session with Spark at {master!r}: {reason[:300]}") from error


def _with_retries(master: str) -> str:
    """Return a local master that tries a lost task again, as clusters do."""
    if master == "local":
        return f"local[1,{_RETRIES}]"
    if master.startswith("local[") and "," not in master:
        return f"{master[:-1]},{_RETRIES}]"
    return master


BatchFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def map_batches(df: DataFrame, function: BatchFunction, schema: str) -> DataFrame:
    """Map a function over the Arrow batches of each partition."""
    with warnings.catch_warnings():
        # Spark says it does not know pandas 3; only Arrow is used here.
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        return df.mapInArrow(function, schema)


def collect(df: DataFrame) -> pa.Table:
    """Collect the rows of a DataFrame, partition after partition, as one table."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        table: pa.Table = df.toArrow()
    return table.combine_chunks()


def check_column(df: DataFrame, name: str, kinds: tuple[str, ...], what: str) -> str:
    """Return the type of a column; refuse it if it is missing or of another type."""
    if name not in df.columns:
        raise DataError(
            f"no column {name!r} for {what}; there are: "
            f"{', '.join(map(repr, df.columns)) or 'none'}"
        )
    kind: str = df.schema[name].dataType.simpleString()
    if kinds and kind not in kinds:
        raise DataError(
            f"column {name!r} for {what} is of type {kind}, not {' or '.join(kinds)}"
        )
    return kind


def check_new(kept: Iterable[str], new: Iterable[str]) -> None:
    """Refuse columns that would stand twice in the result."""
    twice = set(kept) & set(new)
    if twice:
        name = sorted(twice)[0]
        raise DataError(
            f"the result has a column {name!r} of its own; rename it, or name only an id to be kept"
        )


def sql_type(df: DataFrame, column: str) -> str:
    """Return a column as a schema names it."""
    name = column.replace("`", "``")
    return f"`{name}` {df.schema[column].dataType.simpleString()}"


def with_titles(df: DataFrame, text: str, title: str) -> DataFrame:
    """Return the texts with their titles in front, as `Document.full_text` has them.

    A missing text stays missing.
    """
    from pyspark.sql import functions as F  # noqa: N812

    binary = check_column(df, text, ("string", "binary"), "the text") == "binary"
    check_column(df, title, ("string",), "the title")
    head = F.coalesce(df[title], F.lit(""))
    head, line = (
        (F.encode(head, "utf-8"), F.lit(bytearray(b"\n"))) if binary else (head, F.lit("\n"))
    )
    joined = F.when(F.length(head) == 0, df[text]).when(F.length(df[text]) == 0, head)
    return df.withColumn(text, joined.otherwise(F.concat(head, line, df[text])))


def refuse_stream(df: DataFrame, what: str) -> None:
    """Refuse a stream where all rows are needed."""
    if df.isStreaming:
        raise DataError(f"{what} needs all documents; this is a stream")
