"""`bayesift classify`: categories for new documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesift.cli.corpora import Encoding, IdColumn, SkipBad, TextColumn, TitleColumn, print_problems
from bayesift.cli.options import ModelPath, Quiet, counting
from bayesift.cli.outputs import Classified, open_output

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier
    from bayesift.datasets import TextRecord

_BATCH = 16_384


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
    quiet: Quiet = False,
) -> None:
    """Put documents into categories; memory does not grow with their number."""
    from bayesift.classifier import TextClassifier
    from bayesift.datasets import Columns, ProblemLog, read_texts

    classifier = TextClassifier.load(model)
    n_top = min(top, len(classifier.categories_))
    log = ProblemLog(skip=skip_bad)
    records = read_texts(
        sys.stdin.buffer if documents == "-" else Path(documents),
        columns=Columns(text=text, id=identity, title=title),
        encoding=encoding or "utf-8",
        log=log,
    )
    done = 0
    with open_output(output, n_top, flush=stream) as writer, counting("documents", None, quiet=quiet) as progress:
        for batch in _batches(records, 1 if stream else _BATCH):
            writer.write(_classified(classifier, batch, n_top))
            done += len(batch)
            progress(done)
    print_problems(log.problems)
    if output is not None and not quiet:
        print(f"{output}: {done:,} documents classified", file=sys.stderr)


def _batches(records: Iterator[TextRecord], size: int) -> Iterator[list[TextRecord]]:
    while batch := list(islice(records, size)):
        yield batch


def _classified(classifier: TextClassifier, batch: list[TextRecord], n_top: int) -> Classified:
    import numpy as np

    decisions, scores = classifier.decide([record.text for record in batch])
    names = classifier.categories_
    assigned: list[list[str]] = [[] for _ in batch]
    for row, column in zip(*np.nonzero(decisions), strict=True):
        assigned[row].append(names[column])
    best = _best(scores, n_top)
    values = np.take_along_axis(scores, best, axis=1).tolist()
    top = [
        [(names[j], value) for j, value in zip(row, row_values, strict=True)]
        for row, row_values in zip(best.tolist(), values, strict=True)
    ]
    return Classified([record.id for record in batch], assigned, top)


def _best(scores: Any, n_top: int) -> Any:
    """Columns of the highest scores of each row, best first."""
    import numpy as np

    return np.argsort(-scores, axis=1, kind="stable")[:, :n_top]
