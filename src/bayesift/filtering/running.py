"""Run a filter in a pipe: profiles of a YAML file, JSON lines in, JSON lines out.

Input lines are documents and judgements; output lines are retrievals.

Lines of input:

    {"id": "17", "title": ..., "text": ...}                              a document
    {"judge": {"profile": "grain", "id": "17", "relevant": true}}        a judgement (1)
    {"undo": {"profile": "grain", "id": "17"}}                           takes a judgement back
    {"teach": {"profile": "grain", "word": "tonnes", "strength": 0.5}}   strength of a word (2)
    {"pause": {"profile": "grain"}}                                      nothing is retrieved until
    {"resume": {"profile": "grain"}}                                     the profile is resumed

(1) with "text" for a document that was not retrieved; (2) below 0 if it speaks against relevance,
0 takes it back.

The output has a line for every retrieval:

    {"id": "17", "profile": "grain", "why": "relevant", "probability": 0.87, "gain": 0.02}

Memory does not grow with the stream: it holds relevant documents, pending ones (bounded), and the
ids of judged ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from bayesift.errors import DataError
from bayesift.filtering.engine import FilterEngine, add_described
from bayesift.filtering.events import Retrieved
from bayesift.filtering.saving import OpenFilter, OutputMark, save_checkpoint
from bayesift.filtering.vectors import VectorSpace
from bayesift.records import Document

STREAM = "<stdin>"
_COMMANDS: dict[str, dict[str, type]] = {
    "judge": {"profile": str, "id": str, "relevant": bool},
    "undo": {"profile": str, "id": str},
    "teach": {"profile": str, "word": str, "strength": float},
    "pause": {"profile": str},
    "resume": {"profile": str},
}
_TOP = {"profiles", "background", "stemmer", "stop_words"}
_PROFILE = {
    "name",
    "query",
    "expand",
    "words",
    "examples",
    "strategy",
    "goal",
    "settings",
    "options",
}


def engine_of(path: str | Path) -> FilterEngine:
    """Make the engine of a YAML file of profiles; files that it names are relative to it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "profiles.yaml"
    ...     _ = file.write_text("profiles: [{name: grain, query: wheat and corn}]")
    ...     sorted(engine_of(file).profiles)
    ['grain']
    """
    file = Path(path)
    described = _read_yaml(file)
    _only(described, _TOP, file)
    entries = described.get("profiles")
    if not isinstance(entries, list) or not entries:
        raise DataError("must list profiles", file=file)
    try:
        engine = FilterEngine(_space(described, file))
        for entry in entries:
            _add(engine, entry, file)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(str(error), file=file) from error
    return engine


def _space(described: Mapping[str, Any], file: Path) -> VectorSpace:
    options = {name: described[name] for name in ("stemmer", "stop_words") if name in described}
    background = described.get("background")
    if background is None:
        return VectorSpace(idf="running", **options)
    space = VectorSpace(idf="fixed", **options)
    space.learn_background(
        record["text"] for record in _records(file.parent / str(background), {"text": str})
    )
    return space


def _add(engine: FilterEngine, entry: Any, file: Path) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise DataError("every profile needs a name", file=file)
    _only(entry, _PROFILE, file)
    examples = []
    if entry.get("examples") is not None:
        records = _records(
            file.parent / str(entry["examples"]), {"text": str, "relevant": bool}
        )
        examples = [(record["text"], record["relevant"]) for record in records]
    add_described(engine, {**entry, "examples": examples})


def _read_yaml(file: Path) -> dict[str, Any]:
    import yaml

    try:
        described = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("no such file", file=file) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(
            f"cannot be read as YAML ({' '.join(str(error).split())})", file=file
        ) from error
    if not isinstance(described, dict):
        raise DataError("must list profiles", file=file)
    return described


def _records(path: Path, wanted: Mapping[str, type]) -> Iterator[dict[str, Any]]:
    """Read JSON objects, one per line, with fields of these types."""
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise DataError("not JSON", file=path, line=number) from error
                if not isinstance(record, dict) or any(
                    not isinstance(record.get(k), t) for k, t in wanted.items()
                ):
                    raise DataError(
                        f"must be an object with {' and '.join(wanted)}", file=path, line=number
                    )
                yield record
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=path) from error


def _only(given: Mapping[str, Any], known: set[str], file: Path) -> None:
    unknown = sorted(map(str, given.keys() - known))
    if unknown:
        raise DataError(
            f"unknown key {unknown[0]!r}; known are: {', '.join(sorted(known))}", file=file
        )


class FilterRun:
    """Feeds lines to the filter of a folder.

    A checkpoint is written only when everything read is processed and all answers are written; it
    records both positions. A killed run is resumed exactly by `open_filter(folder, roll_back=True)`
    and the lines after its position, once the output after the checkpoint is removed
    (`OutputMark.cut`).

    Parameters
    ----------
    folder : of the filter
    opened : the filter
    batch : documents that are scored together; a judgement is always learned before the next
        document is scored
    save_every : lines between two checkpoints
    report : called with the problem of each bad line; by default the first bad line raises
    output : where the answers are written, if that is a file

    Attributes
    ----------
    n_lines, n_retrieved : read and retrieved by this run
    """

    def __init__(
        self,
        folder: str | Path,
        opened: OpenFilter,
        *,
        batch: int = 256,
        save_every: int = 100_000,
        report: Callable[[DataError], None] | None = None,
        output: IO[str] | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._filter = opened
        self._log = opened.log
        self.position = opened.position
        self.engine = opened.engine
        self._batch = batch
        self._save_every = save_every
        self._report = report
        self._output = output
        self.n_lines = 0
        self.n_retrieved = 0

    def feed(self, lines: Iterable[str], *, skip: int = 0) -> Iterator[str]:
        """Yield lines of output, each to be written before the next is requested.

        A checkpoint is written at the start and at the end.

        The first `skip` lines of input are ignored, because an earlier run read them.
        """
        waiting: list[Document] = []
        self.save()
        saved = self.position
        for number, line in enumerate(lines, 1):
            if number <= skip:
                continue
            self.n_lines += 1
            try:
                record = _parsed(line, number)
                if isinstance(record, Document):
                    waiting.append(record)
                elif record is not None:
                    yield from self._flush(waiting)
                    self._apply(*record, number)
            except DataError as error:
                if self._report is None:
                    yield from self._flush(waiting)
                    self.n_lines -= 1
                    self._settle()
                    raise
                self._report(error)
            if len(waiting) >= self._batch:
                yield from self._flush(waiting)
            if not waiting:
                self._log.position = self.position + self.n_lines
                if self._log.position - saved >= self._save_every:
                    self.save()
                    saved = self._log.position
        yield from self._flush(waiting)
        self._settle()

    def save(self) -> None:
        """Write a checkpoint."""
        mark = None if self._output is None else OutputMark.of(self._output)
        save_checkpoint(self._folder, self.engine, self._log, mark)

    def _settle(self) -> None:
        """Record that everything read is processed."""
        self._log.position = self.position + self.n_lines
        self.save()

    def _flush(self, waiting: list[Document]) -> Iterator[str]:
        events = self._filter.observe(waiting) if waiting else []
        waiting.clear()
        self.n_retrieved += len(events)
        return map(_output_line, events)

    def _apply(self, kind: str, command: dict[str, Any], number: int) -> None:
        try:
            self._execute(kind, command, command["profile"])
        except DataError as error:
            raise DataError(error.message, file=STREAM, line=number) from error

    def _execute(self, kind: str, command: dict[str, Any], profile: str) -> None:
        if kind == "undo":
            self._filter.take_back(profile, command["id"])
        elif kind == "teach":
            self._filter.teach(profile, command["word"], command["strength"])
        elif kind in ("pause", "resume"):
            self._filter.pause(profile, kind == "pause")
        else:
            text = command.get("text")
            document = command["id"] if text is None else Document(command["id"], text)
            self._filter.judge(profile, document, command["relevant"])


def _output_line(event: Retrieved) -> str:
    assert event.probability is not None
    assert event.gain is not None
    numbers = {"probability": round(event.probability, 6), "gain": round(event.gain, 6)}
    return json.dumps(
        {"id": event.id, "profile": event.profile, "why": event.why, **numbers},
        ensure_ascii=False,
    )


def _parsed(line: str, number: int) -> Document | tuple[str, dict[str, Any]] | None:
    """Parse a document, or a command with its name; None for an empty line."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError("not JSON", file=STREAM, line=number) from error
    if not isinstance(record, dict):
        raise DataError("not a JSON object", file=STREAM, line=number)
    for kind, wanted in _COMMANDS.items():
        if kind in record:
            return kind, _checked_command(kind, record[kind], wanted, number)
    text = record.get("text", "")
    title = record.get("title") or ""
    name = _name(record.get("id"))
    if name is None or not isinstance(text, str) or not isinstance(title, str):
        raise DataError(
            'neither a document ("id" and "text") nor a judgement ("judge")',
            file=STREAM,
            line=number,
        )
    return Document(name, text, title=title)


def _checked_command(
    kind: str, command: Any, wanted: dict[str, type], number: int
) -> dict[str, Any]:
    if isinstance(command, dict):
        converted = {
            "id": _name(command.get("id")),
            "strength": _number(command.get("strength")),
        }
        checked: dict[str, Any] = {**command, **converted}
        typed = all(isinstance(checked.get(key), expected) for key, expected in wanted.items())
        if typed and isinstance(checked.get("text"), str | None):
            return checked
    raise DataError(f"{kind} needs {', '.join(wanted)}", file=STREAM, line=number)


def _name(given: Any) -> str | None:
    """Return an id as text; numbers are accepted."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    return str(given) or None


def _number(given: Any) -> float | None:
    if (
        isinstance(given, bool)
        or not isinstance(given, int | float)
        or not abs(given) <= sys.float_info.max
    ):
        return None
    return float(given)
