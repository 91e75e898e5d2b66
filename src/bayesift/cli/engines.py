"""Where the work is done: in this process, or on Apache Spark with Parquet in and out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesift.cli.corpora import CorpusOptions
from bayesift.cli.options import LearnerOptions
from bayesift.errors import BayesiftError, DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from bayesift.classifier import TextClassifier
    from bayesift.datasets import Columns
    from bayesift.spark import SparkEvaluation

_LOCAL, _SPARK = "local", "spark"


@dataclass(frozen=True)
class EngineOptions:
    """Who does the work."""

    engine: Annotated[str, typer.Option(help="local, or spark: Parquet in and out, on a cluster or on all cores.")] = (
        _LOCAL
    )
    master: Annotated[str, typer.Option(help="With --engine spark: local[*], spark://host:7077, yarn, ...")] = (
        "local[*]"
    )

    @property
    def is_spark(self) -> bool:
        """Whether Spark does it; another name is bad use."""
        if self.engine not in (_LOCAL, _SPARK):
            raise typer.BadParameter(f"no {self.engine!r}; there are: {_LOCAL}, {_SPARK}", param_hint="--engine")
        return self.engine == _SPARK

    @contextmanager
    def session(self, *, quiet: bool) -> Iterator[SparkSession]:
        """A session with Spark, ended with the work that began it; Spark shows its own progress on a terminal."""
        from bayesift.spark import running_session, spark_session

        running = running_session()
        spark = running or spark_session(self.master, progress=not quiet and sys.stderr.isatty())
        try:
            yield spark
        except BayesiftError:
            raise
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark", "py4j")):
                raise
            raise DataError(f"Spark gave up: {_first_line(error)}") from error
        finally:
            if running is None:
                spark.stop()


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if "Error: " in line or "Exception: " in line]
    return (said or lines or [type(error).__name__])[-1 if said else 0][:300]


def read_parquet(spark: SparkSession, path: str, wanted: Columns) -> tuple[DataFrame, Columns]:
    """The documents of a Parquet file or folder, titles in front of their texts, and which column holds what."""
    from bayesift.spark import with_titles

    df = spark.read.parquet(path)
    columns = wanted.resolve(df.columns, file=path)
    assert columns.text is not None
    return df if columns.title is None else with_titles(df, columns.text, columns.title), columns


def classify_on_spark(
    engine: EngineOptions, model: Path, documents: str, output: Path | None, top: int, wanted: Columns, *, quiet: bool
) -> None:
    """`bayesift classify --engine spark`."""
    from pyspark.sql import functions as F  # noqa: N812

    from bayesift.classifier import TextClassifier
    from bayesift.spark import score

    if output is None or documents == "-":
        raise typer.BadParameter("Spark reads and writes Parquet: name INPUT and --output", param_hint="--engine")
    _refuse_existing(output)
    classifier = TextClassifier.load(model)
    with engine.session(quiet=quiet) as spark:
        df, columns = read_parquet(spark, documents, wanted)
        assert columns.text is not None
        score(df, classifier, columns.text, columns.id, top=top).write.parquet(str(output))
        if not quiet:
            written = spark.read.parquet(str(output)).agg(F.count("*"), F.count("errors")).first()
            assert written is not None
            print(f"{output}: {written[0]:,} documents classified, {written[1]:,} could not be read", file=sys.stderr)


def fit_on_spark(
    engine: EngineOptions,
    model: str,
    corpus: str,
    learner: LearnerOptions,
    source: CorpusOptions,
    parameters: dict[str, Any],
    *,
    quiet: bool,
) -> tuple[TextClassifier, int]:
    """`bayesift fit --engine spark`: the classifier, and of how many documents."""
    from bayesift.spark import fit_naive_bayes, fit_one_vs_rest

    unfitted = learner.classifier(model, parameters=parameters)
    options: dict[str, Any] = {
        "model": unfitted.model,
        "vectorizer": unfitted.vectorizer,
        "selection": unfitted.selection,
        "threshold": unfitted.threshold,
        "separator": source.separator,
        "skip_bad": source.skip_bad,
    }
    with engine.session(quiet=quiet) as spark:
        df, columns = read_parquet(spark, corpus, source.columns)
        if columns.label is None:
            raise DataError("no column of categories; name it with --label", file=corpus)
        if model.startswith("naive-bayes"):
            classifier = fit_naive_bayes(df, columns.text or "", columns.label, **options)
        else:
            options["threshold_cv"] = learner.threshold_folds
            classifier = fit_one_vs_rest(df, columns.text or "", columns.label, **options).classifier
    assert classifier.vectorizer_ is not None
    return classifier, classifier.vectorizer_.n_documents_


def evaluate_on_spark(
    engine: EngineOptions, model: Path, corpus: str, source: CorpusOptions, *, quiet: bool
) -> SparkEvaluation:
    """`bayesift evaluate --engine spark`."""
    from bayesift.classifier import TextClassifier
    from bayesift.spark import evaluate

    classifier = TextClassifier.load(model)
    with engine.session(quiet=quiet) as spark:
        df, columns = read_parquet(spark, corpus, source.columns)
        if columns.label is None:
            raise DataError("no column of categories; name it with --label", file=corpus)
        return evaluate(df, classifier, columns.text or "", columns.label, separator=source.separator)


def _refuse_existing(output: Path) -> None:
    if output.exists():
        raise DataError("is there already; Spark writes a new folder", file=output)
