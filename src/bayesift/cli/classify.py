"""`bayesift classify`: assign categories to new documents in batches of Arrow arrays."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, BinaryIO

import typer
from typer import Argument, Option

from bayesift.cli.console import busy, counting, print_guesses, print_note, print_problems
from bayesift.cli.options import EngineOptions, Jobs, ModelPath, Quiet, TableOptions
from bayesift.files import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

    from bayesift.arrays import FloatArray
    from bayesift.classifier import Predictions, TextClassifier
    from bayesift.corpora.streaming import TextBatch, VectorBatch

SEPARATOR = ";"
_SIGNIFICANT_DIGITS = 6
_OUTPUT_SUFFIXES = (".jsonl", ".csv", ".parquet")


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
            help="File that ends in .csv, .jsonl or .parquet; by default JSON lines on stdout.",
        ),
    ] = None,
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

    Texts are read and answered in batches, so that memory use does not grow with their number.
    """
    from bayesift.classifier import TextClassifier
    from bayesift.corpora.streaming import TextReader
    from bayesift.tables.loading import ProblemLog

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
    batches: Iterable[TextBatch | VectorBatch],
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
    from bayesift.threads import in_order_by

    def predict(
        batch: TextBatch | VectorBatch,
    ) -> tuple[TextBatch | VectorBatch, Predictions]:
        predictions = Predictions.of(classifier, batch.texts, top=top, abstain=abstain)
        # The scores of a text without words are those before any word; they tell nothing of it.
        predictions.decisions[batch.are_blank] = False
        return batch, predictions

    done = unsure = blank = 0
    shown = output is None and sys.stdout.isatty()  # the answers themselves are the progress
    with (
        open_output(output, unsure=abstain is not None) as writer,
        counting("classifying", None, quiet=quiet or shown) as progress,
    ):
        for batch, predictions in in_order_by(jobs, predict, batches):
            writer.write(batch.ids, predictions)
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


def _top(predictions: Predictions, names: Sequence[str]) -> list[tuple[pa.Array, pa.Array]]:
    """Return the category of each rank, under these names, and its rounded score."""
    import pyarrow as pa

    scores = _significant(predictions.scores)
    return [
        (predictions.at_rank(k, names), pa.array(scores[:, k]))
        for k in range(predictions.best.shape[1])
    ]


def _significant(values: FloatArray) -> FloatArray:
    """Round values to six significant digits."""
    import numpy as np

    sizes = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    scale = 10.0 ** np.clip(_SIGNIFICANT_DIGITS - 1 - sizes, 0, 300)
    rounded: FloatArray = np.round(values * scale) / scale
    return rounded


class _JsonLines:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, ids: pa.Array, predictions: Predictions) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [json.dumps(name, ensure_ascii=False) for name in predictions.categories]
        parts: list[Any] = ['{"id": ', _quoted(ids), ', "categories": [']
        parts += [pc.binary_join(predictions.assigned(names), ", "), '], "scores": {']
        for rank, (category, score) in enumerate(_top(predictions, names)):
            parts += [", " if rank else "", category, ": ", score.cast(pa.string())]
        parts.append("}")
        if predictions.unsure is not None:
            unsure = [json.dumps(reason, ensure_ascii=False) for reason in predictions.unsure]
            parts += [', "unsure": ', pa.array(unsure, pa.string())]
        rows = pc.binary_join_element_wise(*parts, "}\n", "")
        data = rows.cast(pa.large_string()).buffers()[2]
        if data is not None:
            self._stream.write(data)
        self._stream.flush()


def _quoted(ids: pa.Array) -> pa.Array:
    """Quote ids as JSON strings; only quotes, backslashes and control characters are escaped."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(ids, r'["\\\x00-\x1f]')).as_py():
        return pa.array([json.dumps(name, ensure_ascii=False) for name in ids.to_pylist()])
    return pc.binary_join_element_wise('"', ids, '"', "")


class _Csv:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._header = True

    def write(self, ids: pa.Array, predictions: Predictions) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        columns = {"id": ids, "categories": pc.binary_join(predictions.assigned(), SEPARATOR)}
        for rank, (category, score) in enumerate(_top(predictions, predictions.categories), 1):
            columns |= {f"category_{rank}": category, f"score_{rank}": score}
        if predictions.unsure is not None:
            columns["unsure"] = pa.array(predictions.unsure, pa.string())
        options = csv.WriteOptions(include_header=self._header, quoting_style="needed")
        csv.write_csv(pa.table(columns), self._stream, options)
        self._header = False
        self._stream.flush()


class _Parquet:
    def __init__(self, stream: IO[bytes], *, unsure: bool) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        scored = pa.struct([("category", pa.string()), ("score", pa.float64())])
        fields = [
            ("id", pa.string()),
            ("categories", pa.list_(pa.string())),
            ("top", pa.list_(scored)),
        ]
        self._schema = pa.schema([*fields, ("unsure", pa.string())] if unsure else fields)
        self.writer = parquet.ParquetWriter(stream, self._schema)

    def write(self, ids: pa.Array, predictions: Predictions) -> None:
        import pyarrow as pa

        arrays = [ids.cast(pa.string()), predictions.assigned(), predictions.ranked()]
        if predictions.unsure is not None:
            arrays.append(pa.array(predictions.unsure, pa.string()))
        self.writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))


@contextmanager
def open_output(
    path: Path | None, *, unsure: bool = False
) -> Iterator[_JsonLines | _Csv | _Parquet]:
    """Open a writer to a file of the kind its suffix names, or of JSON lines to stdout.

    `unsure` adds a column of reasons.
    """
    if path is None:
        yield _JsonLines(sys.stdout.buffer)
        return
    if path.suffix not in _OUTPUT_SUFFIXES:
        raise typer.BadParameter(
            f"{path} must end in {', '.join(_OUTPUT_SUFFIXES)}", param_hint="--output"
        )
    with whole_file(path) as stream:
        if path.suffix == ".parquet":
            parquet = _Parquet(stream, unsure=unsure)
            yield parquet
            parquet.writer.close()
        else:
            yield _JsonLines(stream) if path.suffix == ".jsonl" else _Csv(stream)
