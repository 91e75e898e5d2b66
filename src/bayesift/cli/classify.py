"""`bayesift classify`: assign categories to new documents in batches of Arrow arrays."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer
from typer import Argument, Option

from bayesift.cli.answers import open_answers, output_path
from bayesift.cli.console import busy, counting, print_guesses, print_note, print_problems
from bayesift.cli.options import OUTPUT, EngineOptions, Jobs, ModelPath, Quiet, TableOptions

if TYPE_CHECKING:
    from bayesift.classifier import Predictions, TextClassifier
    from bayesift.corpora.streaming import TextBatch, TextReader, VectorRows


def classify(
    model: ModelPath,
    documents: Annotated[
        str,
        Argument(
            metavar="INPUT",
            help="A table (CSV, TSV, JSON, Parquet, Excel) or a file with one text per line; - is "
            "stdin.",
        ),
    ] = "-",
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="File that ends in .csv, .tsv, .xlsx, .jsonl or .parquet; without such an end it "
            "has the format that came in. By default JSON lines on stdout.",
        ),
    ] = None,
    only_answers: Annotated[
        bool,
        Option(
            "--only-answers",
            help="Write ids and answers without the columns of the input.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    top: Annotated[int, Option(help="List this many categories with their scores.", min=0)] = 3,
    stream: Annotated[
        bool, Option("--stream", help="Answer each document at once, instead of in batches.")
    ] = False,
    abstain: Annotated[
        float | None,
        Option(
            metavar="RATE",
            help="Leave unsure documents without a category, with the reason in a column `unsure`: "
            "about this share of documents like those of the training (0.1: one in ten), and more "
            "of documents that differ from them.",
            min=0.0,
            max=1.0,
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = -1,
    *,
    source: TableOptions = TableOptions(),
    engine: EngineOptions = EngineOptions(),
    quiet: Quiet = False,
) -> int:
    """Assign categories to new texts.

    The columns of a table are those that the model was fitted to, as far as no others are named.
    Answers stand beside all columns of the input. Texts are read and answered in batches, so that
    memory use does not grow with their number.
    """
    from bayesift.classifier import TextClassifier
    from bayesift.corpora.streaming import TextReader
    from bayesift.tables.loading import ProblemLog

    if output is not None and not engine.is_spark:
        output = output_path(output, documents)
    if (
        output is not None
        and documents != "-"
        and output.resolve() == Path(documents).resolve()
    ):
        raise typer.BadParameter(
            f"{output} is the input; name another file", param_hint="--output"
        )
    if engine.is_spark:
        if abstain is not None:
            raise typer.BadParameter("not on Spark", param_hint="--abstain")
        from bayesift.cli.spark import classify_on_spark

        return classify_on_spark(
            engine.master, model, documents, output, top, source.columns, quiet=quiet
        )
    with busy(f"loading {model}", quiet=quiet):
        classifier = TextClassifier.load(model)
    if abstain is not None:
        _check_can_abstain(classifier, model, stream=stream, quiet=quiet)
    log = ProblemLog(skip=source.skip_bad)
    reader = TextReader(
        _opened_source(documents),
        source.columns,
        source.format,
        log,
        batch=1 if stream else None,
        layout=classifier.layout_,
        whole=not only_answers,
    )
    done, unsure, blank = _answer(
        classifier, reader, output, top, abstain, 1 if stream else jobs, quiet=quiet
    )
    print_problems(log.problems)
    if blank and not quiet:
        print_note(f"documents without text: {blank:,}; they have no category")
    if not quiet:
        print_guesses(documents, reader.notes)
    if output is not None and not quiet:
        told = "" if abstain is None else f", {unsure:,} of them unsure"
        print_note(f"{output}: {done:,} documents classified{told}")
    return done


def _answer(
    classifier: TextClassifier,
    reader: TextReader,
    output: Path | None,
    top: int,
    abstain: float | None,
    jobs: int,
    *,
    quiet: bool,
) -> tuple[int, int, int]:
    """Write the predictions of all batches.

    Returns the number of documents, of those it is unsure about, and of those without text.
    """
    from bayesift.classifier import Predictions
    from bayesift.classifier.texts import Texts
    from bayesift.corpora.streaming import TextBatch
    from bayesift.tables.loading import bare_suffix
    from bayesift.threads import in_order_by

    def predict(
        batch: TextBatch | VectorRows,
    ) -> tuple[TextBatch | VectorRows, Predictions]:
        given: Any = batch.texts
        if isinstance(batch, TextBatch):
            table = tuple((name, cells.to_pylist()) for name, cells in batch.others.items())
            given = Texts(batch.texts, table=table)
        predictions = Predictions.of(classifier, given, top=top, abstain=abstain)
        # The scores of a text without words are those before any word; they tell nothing of it.
        predictions.decisions[batch.are_blank] = False
        return batch, predictions

    def delimiter() -> str | None:
        came_in = bare_suffix(reader.source) if isinstance(reader.source, Path) else ""
        if output is not None and came_in == output.suffix.lower():
            return reader.delimiter
        return None

    done = unsure = blank = 0
    shown = output is None and sys.stdout.isatty()  # the answers themselves are the progress
    with (
        open_answers(output, delimiter) as writer,
        counting("classifying", None, quiet=quiet or shown) as progress,
    ):
        for batch, predictions in in_order_by(jobs, predict, reader):
            writer.write(batch.columns, predictions)
            unsure += sum(reason is not None for reason in predictions.unsure or ())
            blank += int(batch.are_blank.sum())
            done += len(batch.ids)
            progress(done)
    return done, unsure, blank


def _opened_source(documents: str) -> Path | BinaryIO:
    """Return the file of the documents, or stdin; a text instead of a file is refused."""
    from bayesift.errors import DataError

    if " " in documents and not Path(documents).exists():
        raise DataError(
            "no such file; to classify a text, pipe it in: echo TEXT | bayesift classify MODEL",
            file=documents,
        )
    if documents == "-":
        return sys.stdin.buffer
    return Path(documents)


def _check_can_abstain(
    classifier: TextClassifier, model: Path, *, stream: bool, quiet: bool
) -> None:
    """Refuse to abstain by a model without held-out documents to compare with."""
    from bayesift.errors import DataError

    if not classifier.has_probabilities_:
        raise DataError(
            "a model without probabilities cannot abstain; fit another one", file=model
        )
    if classifier.abstention_ is None and stream:
        raise DataError(
            "it holds no held-out documents to compare a document with; fit with --model auto",
            file=model,
        )
    if classifier.abstention_ is None and not quiet:
        print_note(
            f"{model} kept no documents held out (auto does, if there are enough): "
            "of every batch the least sure are left out"
        )
