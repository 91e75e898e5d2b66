"""`bayesift classify`: categories for new documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli.corpora import Encoding, IdColumn, SkipBad, TextColumn, TitleColumn, print_problems
from bayesift.cli.engines import EngineOptions, classify_on_spark
from bayesift.cli.groups import grouped
from bayesift.cli.options import ModelPath, Quiet, counting
from bayesift.cli.outputs import open_output


@grouped
def classify(
    model: ModelPath,
    documents: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="CSV, TSV, JSON lines or Parquet; - reads JSON lines, or a text a line, from stdin."
        ),
    ] = "-",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File that ends in .csv, .jsonl or .parquet; JSON lines on stdout without.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="List so many categories with their probability.", min=0)] = 3,
    stream: Annotated[
        bool, typer.Option("--stream", help="Answer each document at once, instead of in batches.")
    ] = False,
    text: TextColumn = None,
    identity: IdColumn = None,
    title: TitleColumn = None,
    encoding: Encoding = None,
    skip_bad: SkipBad = False,
    *,
    engine: EngineOptions,
    quiet: Quiet = False,
) -> None:
    """Put documents into categories; memory does not grow with their number."""
    from bayesift.classifier import Answers, TextClassifier
    from bayesift.datasets import Columns, ProblemLog, TextReader

    columns = Columns(text=text, id=identity, title=title)
    if engine.is_spark:
        classify_on_spark(engine, model, documents, output, top, columns, quiet=quiet)
        return
    classifier = TextClassifier.load(model)
    log = ProblemLog(skip=skip_bad)
    reader = TextReader(
        sys.stdin.buffer if documents == "-" else Path(documents),
        columns,
        encoding or "utf-8",
        log,
        batch=1 if stream else None,
    )
    done = 0
    with open_output(output) as writer, counting("documents", None, quiet=quiet) as progress:
        for batch in reader:
            writer.write(batch.ids, Answers.of(classifier, batch.texts, top=top))
            done += len(batch.ids)
            progress(done)
    print_problems(log.problems)
    if output is not None and not quiet:
        print(f"{output}: {done:,} documents classified", file=sys.stderr)
