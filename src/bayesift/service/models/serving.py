"""A fitted model that answers: texts as it wants them, and requests that wait answered together."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesift.arrays import BoolArray, FloatArray
from bayesift.classifier import Explanation, TextClassifier
from bayesift.classifier.abstention import Doubts, reasons, unsure_texts
from bayesift.classifier.explanation import explain_texts
from bayesift.classifier.texts import Texts, is_missing
from bayesift.errors import DataError
from bayesift.kernels.ranking import highest
from bayesift.service.errors import BusyError
from bayesift.service.models.watch import ModelWatch

_MAX_TOGETHER = 2_000  # texts that are classified at once
_MAX_WAITING = 20_000  # texts
_TITLE = "title"
_TEXT = "text"


class Given(NamedTuple):
    """A text to classify, and the values of the columns that the model uses beside it."""

    text: str
    others: Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a model says of a text.

    Parameters
    ----------
    categories : assigned
    scores : the highest, best first
    unsure : why it abstained; None if it did not
    unseen : share of the text's words that it does not know; None if the model cannot tell
    """

    categories: list[str]
    scores: list[tuple[str, float]]
    unsure: str | None
    unseen: float | None


class _Scored(NamedTuple):
    """Scores and decisions of texts; `doubts` is None of a model without probabilities."""

    scores: FloatArray
    decisions: BoolArray
    blank: BoolArray
    doubts: Doubts | None

    def part(self, rows: slice) -> _Scored:
        doubts = self.doubts
        if doubts is not None:
            doubts = Doubts(
                doubts.probabilities[rows], doubts.n_terms[rows], doubts.n_known[rows]
            )
        return _Scored(self.scores[rows], self.decisions[rows], self.blank[rows], doubts)


class _Question(NamedTuple):
    given: Sequence[Given]
    scored: asyncio.Future[_Scored]


class ServedModel:
    """A version of a model in memory.

    Parameters
    ----------
    classifier : fitted
    pool : whose threads compute

    Attributes
    ----------
    version : its number
    watch : what it was asked
    """

    def __init__(self, classifier: TextClassifier, pool: Executor) -> None:
        self.classifier = classifier
        self.version = 0
        self.watch = ModelWatch(classifier.abstention_)
        self._pool = pool
        self._waiting: deque[_Question] = deque()
        self._task: asyncio.Task[None] | None = None

    @property
    def other_columns(self) -> list[str]:
        """The columns that the model uses beside the text."""
        return _other_columns(self.classifier)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns whose texts are joined, the title first."""
        classifier = self.classifier
        if classifier.text_columns_ is not None:
            return classifier.text_columns_
        if classifier.layout_ is None:
            return (_TITLE, _TEXT)
        columns = classifier.layout_.columns
        text = columns.text or _TEXT
        return (columns.title, text) if columns.title else (text,)

    def given(self, row: str | Mapping[str, Any]) -> Given:
        """Return a text, or a row of a table by the columns that the model was fitted to."""
        if isinstance(row, str):
            if self.other_columns:
                listed = ", ".join([*self.text_columns, *self.other_columns])
                raise DataError(f"the model takes objects with the fields {listed}, not a text")
            return Given(row, {})
        names = [name for name in self.text_columns if name in row]
        if not names:
            # The usual names, if those of the training table are not there.
            names = [name for name in (_TITLE, _TEXT) if name in row]
        if not names:
            raise DataError(f"the field {self.text_columns[-1]!r} with the text is missing")
        missing = [name for name in self.other_columns if name not in row]
        if missing:
            raise DataError(
                f"the field {missing[0]!r}, which the model was fitted to, is missing"
            )
        parts = []
        for name in names:
            value = row[name]
            if not isinstance(value, str) and not is_missing(value):
                raise DataError(f"the field {name!r} holds no text")
            if value:
                parts.append(value)
        return Given("\n".join(parts), {name: row[name] for name in self.other_columns})

    async def classify(
        self, given: Sequence[Given], *, top: int, abstain: float | None
    ) -> list[Answer]:
        """Answer a request; all that wait are classified together."""
        if abstain is not None and not self.classifier.has_probabilities_:
            raise DataError("a model without probabilities cannot abstain")
        if not given:
            return []
        begun = time.perf_counter()
        scored = await self._scored(given)
        answers = self._answers(scored, top, abstain)
        n_unsure = sum(answer.unsure is not None for answer in answers)
        self.watch.count([answer.categories for answer in answers], n_unsure)
        self.watch.seconds += time.perf_counter() - begun
        return answers

    async def explain(
        self, given: Given, *, categories: Sequence[str] | None, top: int
    ) -> Explanation:
        """Explain the categories of a text."""
        texts = self._texts([given])
        explain = partial(explain_texts, self.classifier, texts, categories=categories, top=top)
        explained = await asyncio.get_running_loop().run_in_executor(self._pool, explain)
        return explained[0]

    async def _scored(self, given: Sequence[Given]) -> _Scored:
        if sum(len(each.given) for each in self._waiting) > _MAX_WAITING:
            raise BusyError("too many texts wait for this model; try again")
        loop = asyncio.get_running_loop()
        scored: asyncio.Future[_Scored] = loop.create_future()
        self._waiting.append(_Question(given, scored))
        if self._task is None or self._task.done() or self._task.get_loop() is not loop:
            self._task = loop.create_task(self._work())
        return await scored

    async def _work(self) -> None:
        """Classify what waits, as much as fits at a time, until nothing waits."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            together = [self._waiting.popleft()]
            size = len(together[0].given)
            while self._waiting and size + len(self._waiting[0].given) <= _MAX_TOGETHER:
                together.append(self._waiting.popleft())
                size += len(together[-1].given)
            given = [text for each in together for text in each.given]
            try:
                scored = await loop.run_in_executor(self._pool, self._score, given)
            except Exception as error:
                for each in together:
                    if not each.scored.done():
                        each.scored.set_exception(error)
                continue
            first = 0
            for each in together:
                rows = slice(first, first + len(each.given))
                first = rows.stop
                if not each.scored.done():
                    each.scored.set_result(scored.part(rows))

    def _texts(self, given: Sequence[Given]) -> Texts:
        table = []
        for name in self.other_columns:
            table.append((name, [each.others[name] for each in given]))
        return Texts([each.text for each in given], table=tuple(table))

    def _score(self, given: Sequence[Given]) -> _Scored:
        texts = self._texts(given)
        blank = np.array([not each.text.strip() for each in given], dtype=bool)
        if not self.classifier.has_probabilities_:
            decisions, scores = self.classifier.decide(texts)
            decisions[blank] = False
            return _Scored(scores, decisions, blank, None)
        doubts = self.classifier.doubts(texts)
        decisions = self.classifier.decisions_of(doubts.probabilities)
        decisions[blank] = False
        self.watch.compare(doubts)
        return _Scored(doubts.probabilities, decisions, blank, doubts)

    def _answers(self, scored: _Scored, top: int, abstain: float | None) -> list[Answer]:
        classifier = self.classifier
        names = classifier.categories_
        n = len(scored.scores)
        why: list[str | None] = [None] * n
        decisions = scored.decisions
        if abstain is not None and scored.doubts is not None:
            unsure = unsure_texts(scored.doubts, abstain, classifier.abstention_)
            rows = np.flatnonzero(unsure | scored.blank)
            for row, reason in zip(
                rows,
                reasons(scored.doubts, rows, names, classifier.abstention_),
                strict=True,
            ):
                why[row] = reason
            decisions = decisions & ~unsure[:, np.newaxis]
        best = np.empty((n, min(top, len(names))), dtype=np.int64)
        if best.size:
            highest(scored.scores, best)
        unseen = _unseen_shares(scored.doubts, n)
        answers = []
        for i in range(n):
            assigned = [names[column] for column in np.flatnonzero(decisions[i])]
            ranked = [(names[column], float(scored.scores[i, column])) for column in best[i]]
            answers.append(Answer(assigned, ranked, why[i], unseen[i]))
        return answers


def open_model(path: Path, *, mapped: bool = False) -> TextClassifier:
    """Load a fitted model and classify a text by it, so that what fails fails here."""
    classifier = TextClassifier.load(path, mapped=mapped)
    if classifier.vectorizer_ is None:
        raise DataError("a model of vectors cannot be served: it takes no texts", file=path)
    table = tuple((name, [None]) for name in _other_columns(classifier))
    classifier.decide(Texts(["a text to try the model"], table=table))
    return classifier


def _other_columns(classifier: TextClassifier) -> list[str]:
    table = classifier.features_.table
    return [] if table is None else [column.name for column in table.columns]


def _unseen_shares(doubts: Doubts | None, n: int) -> list[float | None]:
    if doubts is None:
        return [None] * n
    shares = (doubts.n_terms - doubts.n_known) / np.maximum(doubts.n_terms, 1)
    listed: list[float | None] = shares.tolist()
    return listed
