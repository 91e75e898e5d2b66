"""A session with Spark, and what to say when there is none."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bayesift.errors import BayesiftError
from bayesift.extras import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
_RETRIES = 4  # of a task, in a local run too: a lost Python process is no lost job


def check_java() -> None:
    """Say in one line that Java is missing, before Spark says it in fifty."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        raise BayesiftError("Spark needs Java 17 or newer, and there is no `java` on the path nor a JAVA_HOME")


def running_session() -> SparkSession | None:
    """The session of this process, if there is one."""
    require("pyspark", extra="spark")
    require("pandas", extra="spark")
    check_java()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*pandas", FutureWarning)
        from pyspark.sql import SparkSession

        return SparkSession.getActiveSession()


def spark_session(
    master: str = "local[*]", *, progress: bool = False, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A session on this master: the one that is running, or a new one.

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
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        builder = builder.config("spark.driver.host", LOOPBACK).config("spark.driver.bindAddress", LOOPBACK)
        builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", str(progress).lower()).config("spark.log.level", "ERROR")
    for name, value in (settings or {}).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BayesiftError(f"no session with Spark at {master!r}: {reason[:300]}") from error


def _with_retries(master: str) -> str:
    """A local master that tries a lost task again, as clusters do."""
    if master == "local":
        return f"local[1,{_RETRIES}]"
    if master.startswith("local[") and "," not in master:
        return f"{master[:-1]},{_RETRIES}]"
    return master
