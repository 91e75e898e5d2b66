"""`bayesift learn`: a pipe that predicts each document, then learns its label."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from typer import Argument, Option

from bayesift.cli.console import print_note
from bayesift.cli.options import (
    INPUT,
    OUTPUT,
    TERMS,
    CorpusOptions,
    Quiet,
    SkipBad,
    usage_errors,
)

if TYPE_CHECKING:
    from bayesift.classifier.stream import StreamAnswer, StreamFolder, StreamLearner


@dataclass(frozen=True)
class StateOptions:
    """What is kept of a stream between two runs."""

    state: Annotated[
        Path | None,
        Option(help="Folder that keeps what was learned; a later run continues from it."),
    ] = None
    save_every: Annotated[
        int, Option(help="Lines between two snapshots of the state.", min=1)
    ] = 20_000
    from_start: Annotated[
        bool,
        Option(
            "--from-start",
            help="The input starts from its beginning: skip the lines that the state has learned.",
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.from_start and self.state is None:
            raise typer.BadParameter("needs --state", param_hint="--from-start")


@dataclass(frozen=True)
class AnswerOptions:
    """What is printed about a stream."""

    PANEL: ClassVar[str] = OUTPUT

    reasons: Annotated[
        bool, Option("--reasons", help="List the words behind the likeliest category; slower.")
    ] = False
    top: Annotated[int, Option(help="How many probabilities and reasons to list.", min=1)] = 5
    no_answers: Annotated[
        bool, Option("--no-answers", help="Only learn; print no answers.")
    ] = False
    drift: Annotated[
        Path | None,
        Option(
            help="JSON file to write: words that changed sides, and when calibration slipped.",
            dir_okay=False,
        ),
    ] = None


@dataclass(frozen=True)
class FieldOptions:
    """The fields of a line."""

    PANEL: ClassVar[str] = INPUT

    id_field: Annotated[str, Option("--id", help="Field of the id.")] = "id"
    text_field: Annotated[str, Option("--text", help="Field of the text.")] = "text"
    label_field: Annotated[
        str, Option("--label", help="Field of the label, or of a list of labels.")
    ] = "label"
    skip_bad: SkipBad = False

    @property
    def names(self) -> tuple[str, str, str]:
        """Id, text and label."""
        return self.id_field, self.text_field, self.label_field


@dataclass(frozen=True)
class WordOptions:
    """The words of a stream."""

    PANEL: ClassVar[str] = TERMS

    max_terms: Annotated[
        int, Option(help="Ignore new words once so many are known, to bound memory.", min=1)
    ] = 100_000
    stop_words: Annotated[
        str | None, Option(help="Leave out the stop words of this language.")
    ] = None
    stemmer: Annotated[str | None, Option(help="porter, or a Snowball language.")] = None


def learn(
    documents: Annotated[
        str,
        Argument(
            metavar="DOCUMENTS",
            help="A file of JSON lines or a table; - for JSON lines from stdin.",
        ),
    ] = "-",
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="Save the model when the input ends: a folder, or a file that ends in .zip.",
        ),
    ] = None,
    stream: Annotated[
        bool, Option("--stream", help="Answer each line at once instead of in batches.")
    ] = False,
    wait: Annotated[
        int,
        Option(help="How many documents without a label to keep for late judgements.", min=0),
    ] = 10_000,
    *,
    kept: StateOptions,
    answers: AnswerOptions,
    fields: FieldOptions,
    words: WordOptions,
    quiet: Quiet = False,
) -> StreamLearner:
    """Predict each document of a stream, then learn its label.

    Reads JSON lines {"id": ..., "text": ..., "label": ...} and writes a line for each text: the
    categories predicted before its label was learned, their probabilities, and the loss. A text
    without a label is only predicted; its label may come later, as {"id": ..., "label": ...}. A
    label is one name or a list of names; new ones become categories. The rows of a table (CSV,
    Excel, Parquet) are such lines; its columns are guessed, or those of the table before it
    that the state has learned.
    """
    from bayesift.model_file import check_place

    if output is not None:
        check_place(output)
    learner = _new_learner(answers, words, wait)
    run = _Run(learner, fields, progress=_Progress(quiet=quiet))
    with (
        _opened(documents, fields, learner, quiet=quiet) as source,
        _folder_of(run, kept, quiet=quiet) as folder,
    ):
        lines = islice(source, learner.n_lines if kept.from_start else 0, None)
        _learn_lines(
            run, lines, folder, answers, size=1 if stream else 256, save_every=kept.save_every
        )
    if output is not None:
        learner.classifier.save(output)
    run.tell(quiet=quiet)
    if answers.drift is not None:
        _write_drift(learner, answers.drift, quiet=quiet)
    return learner


def _new_learner(answers: AnswerOptions, words: WordOptions, wait: int) -> StreamLearner:
    from bayesift.classifier.drift import StreamDrift
    from bayesift.classifier.stream import StreamLearner
    from bayesift.text import TermVectorizer
    from bayesift.text.language import stemmer, stop_words_of

    with usage_errors():
        # Refused now, not at the first text that is learned.
        if words.stop_words is not None:
            stop_words_of(words.stop_words)
        if words.stemmer is not None:
            stemmer(words.stemmer)
    vectorizer = TermVectorizer(stop_words=words.stop_words, stemmer=words.stemmer)
    told: dict[str, Any] = {"top": answers.top, "reasons": answers.reasons}
    told["drift"] = None if answers.drift is None else StreamDrift()
    return StreamLearner(vectorizer, max_terms=words.max_terms, max_waiting=wait, **told)


@contextmanager
def _folder_of(run: _Run, kept: StateOptions, *, quiet: bool) -> Iterator[StreamFolder | None]:
    """Open the folder that keeps what is learned, and save it at the end."""
    from bayesift.classifier.stream import StreamFolder

    if kept.state is None:
        yield None
        return
    folder = StreamFolder(kept.state)
    folder.open(run.learner, run.items)
    print_note(folder.note)
    run.resume(quiet=quiet)
    yield folder
    folder.save(run.learner)
    folder.close()


def _learn_lines(
    run: _Run,
    lines: Iterator[bytes],
    folder: StreamFolder | None,
    answers: AnswerOptions,
    *,
    size: int,
    save_every: int,
) -> None:
    """Learn and answer lines in batches."""
    saved = run.learner.n_lines
    while batch := list(islice(lines, size)):
        for answer in run.learn(batch):
            if not answers.no_answers:
                print(_answer_line(answer, reasons=answers.reasons))
        # Answers leave before their lines enter the journal: a line there is never answered again.
        sys.stdout.flush()
        if folder is not None:
            folder.add(batch)
            if run.learner.n_lines - saved >= save_every:
                folder.save(run.learner)
                saved = run.learner.n_lines


def _write_drift(learner: StreamLearner, path: Path, *, quiet: bool) -> None:
    from bayesift.files import whole_file

    changed = learner.changed_words()
    windows = learner.drift.calibration() if learner.drift is not None else []
    record = {
        "changed_words": [asdict(word) for word in changed],
        "calibration": [asdict(part) for part in windows],
    }
    with whole_file(path, "w") as stream:
        json.dump(record, stream, indent=2, ensure_ascii=False)
    if quiet:
        return
    for word in changed[:5]:
        side = "for" if word.after > 0 else "against"
        print_note(
            f"{word.word!r} speaks {side} {word.category!r} since document {word.since:,}"
        )
    slipped = [part for part in windows if part.slipped]
    since = (
        f", first in documents {slipped[0].first:,} to {slipped[0].last:,}" if slipped else ""
    )
    print_note(
        f"{len(changed):,} words changed sides; calibration slipped in {len(slipped)} of "
        f"{len(windows)} parts{since}"
    )


@contextmanager
def _opened(
    documents: str, fields: FieldOptions, learner: StreamLearner, *, quiet: bool
) -> Iterator[Iterable[bytes]]:
    """Open the lines of stdin, of a file of JSON lines, or those made of the rows of a table."""
    from bayesift.errors import DataError

    if documents == "-":
        yield _objects(sys.stdin.buffer, fields, learner)
        return
    path = Path(documents)
    try:
        with path.open("rb") as stream:
            if _is_table(path):
                yield _rows(path, fields, learner, quiet=quiet)
            else:
                yield _objects(stream, fields, learner)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise DataError(f"cannot be read ({error.strerror})", file=path) from error


def _is_table(path: Path) -> bool:
    from bayesift.tables.loading import PARQUET, bare_suffix
    from bayesift.tables.reader import DELIMITED
    from bayesift.tables.sheets import SPREADSHEETS

    return bare_suffix(path) in (*DELIMITED, *PARQUET, *SPREADSHEETS)


def _objects(
    stream: Iterable[bytes], fields: FieldOptions, learner: StreamLearner
) -> Iterator[bytes]:
    """Read JSON lines; their fields are the columns of the model."""
    from bayesift.tables import Columns, TableLayout

    identity, text, label = fields.names
    learner.layout = TableLayout(Columns(text=text, label=label, id=identity))
    yield from stream


def _rows(
    path: Path, fields: FieldOptions, learner: StreamLearner, *, quiet: bool
) -> Iterator[bytes]:
    """Convert the rows of a table to JSON lines; a column that was not named is guessed."""
    names = fields.names
    usual = FieldOptions().names
    identity, text, label = (
        None if name == other else name for name, other in zip(names, usual, strict=True)
    )
    table = CorpusOptions(text=text, label=label, identity=identity, skip_bad=fields.skip_bad)
    for chunk in table.chunks(str(path), quiet=quiet, layout=learner.layout):
        learner.layout = chunk.layout
        for document in chunk:
            labels = document.categories
            given = labels[0] if len(labels) == 1 else labels or None
            yield json.dumps(
                dict(zip(names, (document.id, document.full_text, given), strict=True))
            ).encode()


class _Run:
    """Learns batches of lines and counts what was wrong with them."""

    def __init__(
        self, learner: StreamLearner, fields: FieldOptions, *, progress: _Progress
    ) -> None:
        self.learner = learner
        self.progress = progress
        self.problems: list[str] = []
        self.n_problems = 0
        self._names = fields.names
        self._skip_bad = fields.skip_bad

    def items(self, lines: list[bytes]) -> list[Any]:
        """Read the items of lines; a bad line is refused, or counted and left out."""
        from bayesift.classifier.stream import StreamItem, read_items

        items = []
        for item in read_items(lines, self._names, self.learner.n_lines + 1):
            if isinstance(item, StreamItem):
                items.append(item)
            elif not self._skip_bad:
                raise item
            else:
                self._note(str(item))
                items.append(StreamItem(""))  # so that the line is counted
        return items

    def learn(self, lines: list[bytes]) -> list[StreamAnswer]:
        """Learn a batch of lines; gives the answers."""
        from bayesift.errors import DataError

        answers = self.learner.learn(self.items(lines))
        for name in filter(None, self.learner.unknown):
            message = (
                f"document {name!r} was judged, but it is unknown, was judged before, or "
                "waited too long"
            )
            if not self._skip_bad:
                raise DataError(message)
            self._note(message)
        self.progress.update(self.learner)
        return answers

    def resume(self, *, quiet: bool) -> None:
        """Say where a run goes on."""
        self.progress.skip(self.learner)
        if self.learner.n_lines and not quiet:
            print_note(f"continues after line {self.learner.n_lines:,}")

    def tell(self, *, quiet: bool) -> None:
        """Say what was done."""
        if self.n_problems:
            print_note(f"lines skipped: {self.n_problems:,}; the first: {self.problems[0]}")
        if not quiet:
            learner = self.learner
            if math.isnan(learner.mean_loss):
                loss = ""
            else:
                loss = f", mean log loss before learning {learner.mean_loss:.4f}"
            print_note(
                f"{learner.n_lines:,} lines read, {learner.n_learned:,} documents learned, "
                f"{len(learner.categories):,} categories{loss}"
            )

    def _note(self, message: str) -> None:
        self.n_problems += 1
        if len(self.problems) < 10:
            self.problems.append(message)


class _Progress:
    """Prints the progressive loss whenever the number of documents has doubled."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._next = 1
        self._n = 0
        self._loss = 0.0
        self._headed = False

    def skip(self, learner: StreamLearner) -> None:
        """Start from what was learned before."""
        self._n = learner.n_measured
        self._loss = learner.total_loss
        self._next = 2 * max(learner.n_measured, 1)

    def update(self, learner: StreamLearner) -> None:
        """Print a line if it is time."""
        if self._quiet or learner.n_measured < self._next:
            return
        if not self._headed:
            print_note("   documents  categories   mean loss  since last line")
            self._headed = True
        recent = (learner.total_loss - self._loss) / (learner.n_measured - self._n)
        print_note(
            f"{learner.n_measured:12,} {len(learner.categories):11,} {learner.mean_loss:11.4f} "
            f"{recent:16.4f}"
        )
        self.skip(learner)


def _answer_line(answer: StreamAnswer, *, reasons: bool) -> str:
    record: dict[str, Any] = {
        "id": answer.id,
        "categories": list(answer.categories),
        "scores": {name: float(f"{score:.6g}") for name, score in answer.scores.items()},
    }
    if answer.loss is not None:
        record["loss"] = float(f"{answer.loss:.6g}")
    if reasons:
        record["reasons"] = [[term, float(f"{value:.4g}")] for term, value in answer.reasons]
    return json.dumps(record, ensure_ascii=False)
