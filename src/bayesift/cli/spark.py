"""Fit, classify and evaluate on Apache Spark, with Parquet in and out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesift.cli.console import print_note
from bayesift.cli.options import CorpusOptions, LearnerOptions
from bayesift.errors import BayesiftError, DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from bayesift.classifier import TextClassifier
    from bayesift.spark import SparkEvaluation
    from bayesift.tables import Columns, TableLayout


@contextmanager
def session(master: str, *, quiet: bool) -> Iterator[SparkSession]:
    """Open a Spark session, stopped at the end unless it was running before.

    Errors of Spark become one line.
    """
    from bayesift.spark import running_session, spark_session

    running = running_session()
    spark = running or spark_session(master, progress=not quiet and sys.stderr.isatty())
    try:
        yield spark
    except BayesiftError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise DataError(f"Spark failed: {_first_line(error)}") from error
    finally:
        if running is None:
            spark.stop()


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if "Error: " in line or "Exception: " in line]
    return (named or lines or [type(error).__name__])[-1 if named else 0][:300]


def _read_parquet(
    spark: SparkSession,
    path: str,
    wanted: Columns,
    layout: TableLayout | None = None,
    *,
    labelled: bool = False,
) -> tuple[DataFrame, str, Columns]:
    """Read documents of Parquet: titles before texts, the text column, and all columns.

    Columns that are not named are those of the layout.
    """
    from bayesift.spark import with_titles

    df = spark.read.parquet(path)
    if layout is not None:
        wanted = layout.fill(wanted, df.columns, file=path, labels=labelled)
    columns = wanted.resolve(df.columns, file=path)
    if labelled and columns.label is None:
        raise DataError("no column of categories; name it with --label", file=path)
    assert columns.text is not None
    return (
        df if columns.title is None else with_titles(df, columns.text, columns.title),
        columns.text,
        columns,
    )


def classify_on_spark(
    master: str,
    model: Path,
    documents: str,
    output: Path | None,
    top: int,
    wanted: Columns,
    *,
    quiet: bool,
) -> int:
    """Classify a Parquet file or folder into a new folder; return the number of documents."""
    from bayesift.classifier import TextClassifier

    if output is None or documents == "-":
        raise typer.BadParameter(
            "Spark reads and writes Parquet: name INPUT and --output", param_hint="--engine"
        )
    if output.exists():
        raise DataError("exists; Spark needs the name of a new folder", file=output)
    classifier = TextClassifier.load(model)
    with session(master, quiet=quiet) as spark:
        n_documents, n_errors = _classify(spark, classifier, documents, output, top, wanted)
    if not quiet:
        print_note(
            f"{output}: {n_documents:,} documents classified, {n_errors:,} could not be read"
        )
    return n_documents


def _classify(
    spark: SparkSession,
    classifier: TextClassifier,
    documents: str,
    output: Path,
    top: int,
    wanted: Columns,
) -> tuple[int, int]:
    """Let executors read and write the files.

    A DataFrame is used where texts have titles or folders are partitions.
    """
    from pyspark.sql import functions as F  # noqa: N812

    from bayesift.spark import score, score_files

    df, text, columns = _read_parquet(spark, documents, wanted, classifier.layout_)
    if columns.title is None and not any(Path(documents).rglob("*=*")):
        return score_files(spark, documents, output, classifier, text, columns.id, top=top)
    score(df, classifier, text, columns.id, top=top).write.parquet(str(output))
    written = spark.read.parquet(str(output)).agg(F.count("*"), F.count("errors")).first()
    assert written is not None
    return int(written[0]), int(written[1])


def fit_on_spark(
    master: str,
    model: str,
    corpus: str,
    learner: LearnerOptions,
    source: CorpusOptions,
    parameters: dict[str, Any],
    *,
    quiet: bool,
) -> TextClassifier:
    """Fit a classifier to a labelled Parquet file."""
    from bayesift.spark import fit_naive_bayes, fit_one_vs_rest
    from bayesift.tables import TableLayout

    unfitted = learner.classifier(model, parameters=parameters)
    names = ("model", "vectorizer", "selection", "threshold")
    options: dict[str, Any] = {name: getattr(unfitted, name) for name in names}
    options |= {"separator": source.separator, "skip_bad": source.skip_bad}
    with session(master, quiet=quiet) as spark:
        df, text, columns = _read_parquet(spark, corpus, source.columns, labelled=True)
        if model.startswith("naive-bayes"):
            classifier = fit_naive_bayes(df, text, columns.label or "", **options)
        else:
            options["threshold_cv"] = learner.threshold_folds
            classifier = fit_one_vs_rest(df, text, columns.label or "", **options).classifier
        classifier.layout_ = TableLayout(columns, source.separator)
        return classifier


def evaluate_on_spark(
    master: str, model: Path, corpus: str, source: CorpusOptions, *, quiet: bool
) -> SparkEvaluation:
    """Evaluate a model on a labelled Parquet file."""
    from bayesift.classifier import TextClassifier
    from bayesift.spark import evaluate

    classifier = TextClassifier.load(model)
    with session(master, quiet=quiet) as spark:
        layout = classifier.layout_
        df, text, columns = _read_parquet(spark, corpus, source.columns, layout, labelled=True)
        separator = source.separator
        if separator is None and layout is not None:
            separator = layout.separator
        return evaluate(df, classifier, text, columns.label or "", separator=separator)
