"""A filter in a pipe: JSON lines in (documents, judgements), JSON lines out (what is retrieved).

    {"id": "17", "title": ..., "text": ...}                                  a document
    {"judge": {"profile": "grain", "id": "17", "relevant": true}}            a judgement; with "text" for a document
                                                                             that was not retrieved
    {"undo": {"profile": "grain", "id": "17"}}                               a judgement is taken back
    {"teach": {"profile": "grain", "word": "tonnes", "strength": 0.5}}       a word speaks for the profile, below 0
                                                                             against it; 0 takes it back
    {"pause": {"profile": "grain"}}, {"resume": {"profile": "grain"}}        nothing is retrieved in between

Out comes a line for every document and profile that retrieves it, with why:

    {"id": "17", "profile": "grain", "why": "relevant", "probability": 0.87, "gain": 0.02}

Memory does not grow with the stream: what is kept are relevant documents, those that wait for a judgement (bounded),
and the ids of judged ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from bayesift.errors import DataError
from bayesift.filtering.engine import Decision
from bayesift.filtering.output import OutputMark
from bayesift.filtering.saving import OpenFilter, save_checkpoint
from bayesift.records import Document

STREAM = "<stdin>"
_ORDERS: dict[str, dict[str, type]] = {
    "judge": {"profile": str, "id": str, "relevant": bool},
    "undo": {"profile": str, "id": str},
    "teach": {"profile": str, "word": str, "strength": float},
    "pause": {"profile": str},
    "resume": {"profile": str},
}


class FilterRun:
    """Feeds lines to a filter that lives in a folder.

    A checkpoint is only written when all that was read is done and all answers to it are written; it knows how far that
    was. A run that is killed is gone on with, exactly, by `open_filter(folder, roll_back=True)` and the lines after
    its position, once what was written after the checkpoint is cut off (`OutputMark.cut`).

    Parameters
    ----------
    folder : where the filter lives
    opened : the filter
    batch : documents that are looked at together; a judgement is always learned before the next document is looked at
    save_every : lines after which a checkpoint is written
    report : called with each bad line's problem; without it the first bad line is raised
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
        self.engine, self._log, self.position = opened.engine, opened.log, opened.position
        self._batch = batch
        self._save_every = save_every
        self._report = report
        self._output = output
        self.n_lines = 0
        self.n_retrieved = 0

    def feed(self, lines: Iterable[str], *, skip: int = 0) -> Iterator[str]:
        """Lines of output, each to be written before the next is asked for; a checkpoint at the start and at the end.

        The first `skip` lines of input are passed over, they were read by an earlier run.
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
        """All that was read is done."""
        self._log.position = self.position + self.n_lines
        self.save()

    def _flush(self, waiting: list[Document]) -> Iterator[str]:
        decisions = self.engine.observe_many(waiting) if waiting else []
        waiting.clear()
        self.n_retrieved += len(decisions)
        return map(_decision_line, decisions)

    def _apply(self, kind: str, order: dict[str, Any], number: int) -> None:
        try:
            self._obey(kind, order, order["profile"])
        except DataError as error:
            raise DataError(error.message, file=STREAM, line=number) from error

    def _obey(self, kind: str, order: dict[str, Any], profile: str) -> None:
        if kind == "undo":
            self.engine.take_back(profile, order["id"])
        elif kind == "teach":
            self.engine.teach(profile, order["word"], order["strength"])
        elif kind in ("pause", "resume"):
            self.engine.pause(profile, kind == "pause")
        else:
            text = order.get("text")
            document = order["id"] if text is None else Document(order["id"], text)
            self.engine.judge(profile, document, order["relevant"])


def _decision_line(decision: Decision) -> str:
    assert decision.probability is not None
    assert decision.gain is not None
    return json.dumps(
        {
            "id": decision.document,
            "profile": decision.profile,
            "why": decision.why,
            "probability": round(decision.probability, 6),
            "gain": round(decision.gain, 6),
        },
        ensure_ascii=False,
    )


def _parsed(line: str, number: int) -> Document | tuple[str, dict[str, Any]] | None:
    """A document or an order with its kind; None for an empty line."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError("not JSON", file=STREAM, line=number) from error
    if not isinstance(record, dict):
        raise DataError("not a JSON object", file=STREAM, line=number)
    for kind, wanted in _ORDERS.items():
        if kind in record:
            return kind, _checked_order(kind, record[kind], wanted, number)
    text, title, name = record.get("text", ""), record.get("title") or "", _name(record.get("id"))
    if name is None or not isinstance(text, str) or not isinstance(title, str):
        raise DataError('neither a document ("id" and "text") nor a judgement ("judge")', file=STREAM, line=number)
    return Document(name, text, title=title)


def _checked_order(kind: str, order: Any, wanted: dict[str, type], number: int) -> dict[str, Any]:
    if isinstance(order, dict):
        checked: dict[str, Any] = {**order, "id": _name(order.get("id")), "strength": _number(order.get("strength"))}
        typed = all(isinstance(checked.get(name), expected) for name, expected in wanted.items())
        if typed and isinstance(checked.get("text"), str | None):
            return checked
    raise DataError(f"{kind} needs {', '.join(wanted)}", file=STREAM, line=number)


def _name(given: Any) -> str | None:
    """An id as text; numbers are taken as they are written."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    return str(given) or None


def _number(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= sys.float_info.max:
        return None
    return float(given)
