"""Learn from a stream of texts: predict, then learn.

Judgements may come late; the state survives a kill.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import BoolArray, FloatArray, SparseRows
from bayesift.classifier.drift import ChangedWord, StreamDrift
from bayesift.classifier.labels import LabelForm
from bayesift.classifier.model_options import vectorizer_for
from bayesift.classifier.text_classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.journal import Journal, digest_of
from bayesift.models.online import OnlineStackedClassifier
from bayesift.tables import TableLayout
from bayesift.text import TermVectorizer
from bayesift.thresholds import ThresholdedClassifier

STATE = "stream.json"
JOURNAL = "journal.jsonl"
_MIN_PROBABILITY = 1e-15  # probability that a loss counts at least


@dataclass(frozen=True, slots=True)
class StreamItem:
    """A document of a stream, or a label that comes after it.

    Parameters
    ----------
    id : names the document
    text : None for a judgement of a document that came before
    labels : one label, several in a tuple, or None before the document is judged
    """

    id: str
    text: str | None = None
    labels: str | tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """What was predicted of a document before its label was learned.

    Parameters
    ----------
    scores : probabilities of the categories known by then, the largest first
    loss : the log loss of the label that came with the document, if one did
    reasons : the terms that added most to the log odds of the most probable category, and how much
    """

    id: str
    categories: tuple[str, ...]
    scores: dict[str, float]
    loss: float | None = None
    reasons: tuple[tuple[str, float], ...] = ()


@dataclass
class StreamLearner:
    """Learner of a stream: predicts every document, then learns its labels.

    Labels are one per document, or collections of any number; the first label says which. New
    labels become new categories. The results do not depend on how a stream is cut into batches.

    Parameters
    ----------
    vectorizer : unfitted; its weights should have no idf, which the model takes from the documents
        so far
    max_terms : once so many words are known, further ones are ignored, so that memory stays bounded
    max_waiting : how many documents without a label are kept for late judgements; beyond it the
        oldest is dropped
    top : how many probabilities and reasons an answer lists
    reasons : whether answers hold reasons
    drift : watches how the stream changes; None does not

    Attributes
    ----------
    n_lines, n_learned : how many items were read, and documents learned
    n_measured, total_loss : how many documents came with their label, and the sum of their losses
    unknown : ids of the last batch that were judged without having been read
    layout : the columns of the table that documents come from, kept in the classifier

    Examples
    --------
    >>> stream = StreamLearner()
    >>> spam = [("free prize", "spam"), ("prize draw", "spam")]
    >>> mails = [*spam, ("lunch today", "ham"), ("free lunch", "ham")] * 5
    >>> items = [StreamItem(str(i), text, label) for i, (text, label) in enumerate(mails)]
    >>> answers = stream.learn(items)
    >>> stream.learn([StreamItem("new", "a free prize draw")])[0].categories
    ('spam',)
    """

    vectorizer: TermVectorizer = field(default_factory=TermVectorizer)
    max_terms: int = 100_000
    max_waiting: int = 10_000
    top: int = 5
    reasons: bool = False
    drift: StreamDrift | None = None
    n_lines: int = field(default=0, init=False)
    n_learned: int = field(default=0, init=False)
    n_measured: int = field(default=0, init=False)
    total_loss: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.model = OnlineStackedClassifier(idf=True)
        self.categories: list[str] = []
        self.single: bool | None = None
        self.waiting: dict[str, str] = {}
        self.unknown: list[str] = []
        self.layout: TableLayout | None = None
        self.vectorizer = vectorizer_for("online-stack", self.vectorizer)

    def learn(self, items: Iterable[StreamItem]) -> list[StreamAnswer]:
        """Predict and learn items in their order; gives an answer for each that has a text.

        Judgements of documents that are not known are left out; their ids are in `unknown`.
        """
        batch, texts = self._with_texts(items)
        X = self._vectors(texts)
        answers: list[StreamAnswer] = []
        start = 0
        while start < len(batch):
            end = self._run_end(batch, start)
            answers += self._step(batch[start:end], X[start:end])
            start = end
        return answers

    @property
    def mean_loss(self) -> float:
        """The mean log loss of the predictions of documents that came with a label.

        Nan before the first.
        """
        if self.n_measured:
            return self.total_loss / self.n_measured
        return math.nan

    def changed_words(self) -> list[ChangedWord]:
        """Return the words that changed sides, the largest changes first; empty without `drift`."""
        if self.drift is None or not self.categories:
            return []
        return self.drift.changed_words(self.vectorizer.vocabulary_.names, self.categories)

    @property
    def classifier(self) -> TextClassifier:
        """A `TextClassifier` of what was learned so far; at least two categories are needed."""
        if len(self.categories) < 2:
            raise DataError("only one category was seen; a classifier needs two")
        single = bool(self.single)
        if single:
            form = LabelForm("single", self._names(), "str")
        else:
            form = LabelForm("sets", self._names(), "object", "list")
        rule = ThresholdedClassifier(self.model, rule="auto").new_rule()
        rule.fit(np.zeros((1, form.n_scores)), None)
        estimator = ThresholdedClassifier.assembled(self.model, rule, multilabel=not single)
        classifier = TextClassifier.assembled(form, estimator, self.vectorizer)
        classifier.layout_ = self.layout
        return classifier

    def _with_texts(self, items: Iterable[StreamItem]) -> tuple[list[StreamItem], list[str]]:
        """Return the items and their texts; those of late judgements were kept waiting."""
        batch = []
        texts = []
        self.unknown = []
        for item in items:
            self.n_lines += 1
            text = item.text
            if text is None:
                text = self.waiting.pop(item.id, None)
            elif item.labels is None:
                self.waiting[item.id] = text
                if len(self.waiting) > self.max_waiting:
                    del self.waiting[next(iter(self.waiting))]
            if text is None or (item.text is None and item.labels is None):
                self.unknown.append(item.id)
                continue
            self._check_form(item)
            batch.append(item)
            texts.append(text)
        return batch, texts

    def _check_form(self, item: StreamItem) -> None:
        if item.labels is None:
            return
        single = isinstance(item.labels, str)
        if self.single is None:
            self.single = single
        if single != self.single:
            raise DataError(
                f"document {item.id}: labels were {_FORMS[self.single]} before, and now are "
                f"{_FORMS[single]}"
            )

    def _vectors(self, texts: list[str]) -> SparseRows:
        """Make documents x words, at most `max_terms`; new words get the next columns."""
        if not texts:
            return sparse.csr_array((0, 1))
        if (
            not hasattr(self.vectorizer, "vocabulary_")
            or len(self.vectorizer.vocabulary_) < self.max_terms
        ):
            self.vectorizer = self.vectorizer.partial_fit(texts).first_terms(self.max_terms)
        X = self.vectorizer.transform(texts)
        # Texts without a known word still need a column, for the model's sake.
        X.resize((X.shape[0], max(X.shape[1], 1)))
        if self.categories:
            self.model.add_terms(X.shape[1])
        return X

    def _run_end(self, batch: list[StreamItem], start: int) -> int:
        """Find the end of the documents that the model may take together.

        A new category or a request for reasons ends them.
        """
        known = set(self.categories)
        kind = batch[start].labels is None
        if self.reasons or not known.issuperset(_as_tuple(batch[start].labels)):
            return start + 1
        for end in range(start + 1, len(batch)):
            if (batch[end].labels is None) != kind or not known.issuperset(
                _as_tuple(batch[end].labels)
            ):
                return end
        return len(batch)

    def _step(self, run: list[StreamItem], X: SparseRows) -> list[StreamAnswer]:
        """Predict, then learn documents that the model takes together."""
        names = self._names()
        reasons = [self._reasons(X)] if self.reasons else [()] * len(run)
        if run[0].labels is None or not (self.categories or run[0].labels):
            return self._answers(run, names, self._probabilities(X), [None] * len(run), reasons)
        # A new category cannot be predicted yet: the answer is that of the model before it.
        new = [label for label in _as_tuple(run[0].labels) if label not in self.categories]
        before = self._probabilities(X) if new else None
        self.categories += new
        after = self._learn(run, X)
        losses = self._losses(run, after)
        self.n_learned += len(run)
        if self.drift is not None:
            order = [self._names().index(name) for name in self.categories]
            self.drift.add(X, self._member(run)[:, order], after[:, order])
        for item, loss in zip(run, losses, strict=True):
            if item.text is not None:
                self.total_loss += loss
                self.n_measured += 1
        return self._answers(run, names, after if before is None else before, losses, reasons)

    def _learn(self, run: list[StreamItem], X: SparseRows) -> FloatArray:
        """Learn, and give the probabilities before each document."""
        if self.single:
            return self.model.progressive_proba(X, np.array([str(item.labels) for item in run]))
        index = {name: column for column, name in enumerate(self.categories)}
        rows = [row for row, item in enumerate(run) for _ in _as_tuple(item.labels)]
        columns = [index[label] for item in run for label in _as_tuple(item.labels)]
        shape = len(run), len(self.categories)
        return self.model.progressive_proba(
            X, sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        )

    def _names(self) -> tuple[str, ...]:
        """Return the categories in the order of their probabilities."""
        return tuple(sorted(self.categories) if self.single else self.categories)

    def _probabilities(self, X: SparseRows) -> FloatArray:
        if self.categories:
            return self.model.predict_proba(X)
        return np.zeros((X.shape[0], 0))

    def _member(self, run: list[StreamItem]) -> BoolArray:
        """Make documents x categories, in the order of their probabilities."""
        names = np.array(self._names())
        return np.array([np.isin(names, _as_tuple(item.labels)) for item in run])

    def _losses(self, run: list[StreamItem], probabilities: FloatArray) -> list[float]:
        """Compute the log loss of one label, or its mean over categories."""
        member = self._member(run)
        clipped = np.clip(probabilities, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
        if self.single:
            return [
                float(-np.log(row[index][0]))
                for row, index in zip(clipped, member, strict=True)
            ]
        losses: list[float] = (
            -np.where(member, np.log(clipped), np.log1p(-clipped)).mean(axis=1)
        ).tolist()
        return losses

    def _answers(
        self,
        run: list[StreamItem],
        names: Sequence[str],
        probabilities: FloatArray,
        losses: Sequence[float | None],
        reasons: Sequence[Any],
    ) -> list[StreamAnswer]:
        answers = []
        for item, row, loss, reason in zip(run, probabilities, losses, reasons, strict=True):
            if item.text is None:
                continue
            best = np.argsort(-row, kind="stable")
            assigned = best[:1] if self.single else best[row[best] > 0.5]
            scores = {names[index]: float(row[index]) for index in best[: self.top]}
            answers.append(
                StreamAnswer(
                    item.id, tuple(names[index] for index in assigned), scores, loss, reason
                )
            )
        return answers

    def _reasons(self, X: SparseRows) -> tuple[tuple[str, float], ...]:
        """Find the terms that add most to the log odds of the most probable category."""
        if len(self.categories) < 2:
            return ()
        best = self.model.classes_[np.argmax(self.model.predict_proba(X)[0])]
        parts, _ = self.model.contributions(X, best)
        order = np.argsort(-np.abs(parts.data), kind="stable")[: self.top]
        terms = self.vectorizer.vocabulary_.table.words.take(
            parts.indices[order].astype(np.int64)
        ).to_strings()
        return tuple(zip(terms, parts.data[order].tolist(), strict=True))


_FORMS = {True: "single", False: "lists"}


def _as_tuple(labels: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if labels is None:
        return ()
    if isinstance(labels, str):
        return (labels,)
    return labels


class StreamFolder:
    """A folder with the state of a `StreamLearner`: a snapshot and the lines after it.

    Lines are added to the journal after they were learned and answered. A process that is killed
    loses nothing but the batch it was working on: opening the folder learns the lines of the
    journal again, with the same result.

    Attributes
    ----------
    note : what was repaired on opening, to be shown; "" if nothing was
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.note = ""
        self._journal: Journal | None = None

    def open(self, learner: StreamLearner, parse: Any) -> None:
        """Bring a new learner to the state of the folder; `parse` makes items of lines."""
        self.folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(
            self.folder / JOURNAL, writing=True, header={"after": 0}, durable=False
        )
        self._journal = journal
        try:
            if (self.folder / STATE).exists():
                self._load(learner)
            saved = learner.n_lines
            after, lines = self._read_lines(journal, saved)
            for start in range(saved - after, len(lines), _LINES_PER_BATCH):
                learner.learn(parse(lines[start : start + _LINES_PER_BATCH]))
            self.note = journal.note
            if learner.n_lines > saved and len(learner.categories) > 1:
                self.save(learner)
            elif journal.is_old:
                self._begin_journal(after, lines)
        except BaseException:
            self.close()
            raise

    def add(self, lines: Sequence[bytes]) -> None:
        """Add lines that were learned to the journal."""
        assert self._journal is not None
        self._journal.append(map(_entry, lines))

    def save(self, learner: StreamLearner) -> None:
        """Write a snapshot and begin a new journal.

        A snapshot needs two categories; until then the journal holds everything.
        """
        if len(learner.categories) < 2:
            return
        model = f"model-{learner.n_lines}.zip"
        learner.classifier.save(self.folder / model)
        state: dict[str, Any] = {name: getattr(learner, name) for name in _SAVED}
        state["model"] = model
        if learner.drift is not None:
            state["drift"] = learner.drift.to_record()
        # The digest of the other values, as JSON writes them
        state["digest"] = digest_of(json.dumps(state).encode())
        with whole_file(self.folder / STATE, "w") as stream:
            json.dump(state, stream)
        self._begin_journal(learner.n_lines, [])
        for old in self.folder.glob("model-*.zip"):
            if old.name != model:
                with suppress(OSError):
                    old.unlink()

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()

    def _begin_journal(self, after: int, lines: Sequence[bytes]) -> None:
        """Replace the journal by one that follows a snapshot of so many lines."""
        self.close()
        self._journal = Journal.create(
            self.folder / JOURNAL, {"after": after}, map(_entry, lines), durable=False
        )

    def _load(self, learner: StreamLearner) -> None:
        path = self.folder / STATE
        try:
            state = json.loads(path.read_text("utf-8"))
            # Older versions wrote no digest, and nothing but these values.
            is_old = state.keys() <= {*_SAVED, "model", "drift"}
            digest = state.pop("digest", None)
            if not is_old and digest != digest_of(json.dumps(state).encode()):
                raise DataError("is damaged: its digest is not that of its content", file=path)
            for name in _SAVED:
                setattr(learner, name, state[name])
            if "drift" in state:
                learner.drift = StreamDrift.from_record(state["drift"])
            classifier = TextClassifier.load(self.folder / state["model"])
        except DataError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, OSError) as error:
            raise DataError(f"is not the state of a stream ({error})", file=path) from error
        model = classifier.model_
        if classifier.vectorizer_ is None or not isinstance(model, OnlineStackedClassifier):
            raise DataError("is not the model of a stream", file=self.folder / state["model"])
        learner.vectorizer = classifier.vectorizer_
        learner.layout = classifier.layout_
        learner.model = model

    def _read_lines(self, journal: Journal, saved: int) -> tuple[int, list[bytes]]:
        """Return the number of lines before the journal, and the lines in it."""
        entries = [content for _, content in journal.entries()]
        try:
            if journal.is_old:  # a header of its own, then the lines as they came
                after = int(json.loads(entries[0])["after"])
                lines = entries[1:]
            else:
                after = int(journal.header["after"])
                lines = []
                for entry in entries:
                    lines.append(json.loads(entry)["line"].encode("utf-8", "surrogateescape"))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError("is not the journal of a stream", file=journal.path) from error
        if not 0 <= after <= saved:
            raise DataError("does not follow the snapshot of its folder", file=journal.path)
        return after, lines


def _entry(line: bytes) -> bytes:
    """Return a line of the stream, whatever it holds, as an entry of the journal."""
    text = line.removesuffix(b"\n").decode("utf-8", "surrogateescape")
    return json.dumps({"line": text}).encode()


_LINES_PER_BATCH = 256
_SAVED = ("n_lines", "n_learned", "n_measured", "total_loss", "single", "categories", "waiting")


def read_items(
    lines: Iterable[bytes],
    names: tuple[str, str, str] = ("id", "text", "label"),
    first: int = 1,
) -> Iterator[Any]:
    """Yield a `StreamItem` per JSON line, or the `DataError` that says what is wrong with it.

    `names` are the fields of id, text and label; documents without an id are named by the number of
    their line.
    """
    for number, line in enumerate(lines, first):
        try:
            yield _read_item(line, names, number)
        except DataError as error:
            yield error


def _read_item(line: bytes, names: tuple[str, str, str], number: int) -> StreamItem:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise DataError(
            f"line {number} is not JSON; the name of a table ends in .csv, .tsv, .xlsx or .parquet"
        ) from error
    if not isinstance(record, dict):
        raise DataError(f"line {number} is not a JSON object")
    key, text, label = (record.get(name) for name in names)
    if text is not None and not isinstance(text, str):
        raise DataError(f"line {number}: {names[1]!r} is not a text")
    if text is None and (key is None or label is None):
        raise DataError(
            f"line {number} has no {names[1]!r}; a late judgement has {names[0]!r} and {names[2]!r}"
        )
    labels: str | tuple[str, ...] | None
    if label is None:
        labels = None
    elif isinstance(label, list):
        labels = tuple(map(str, label))
    else:
        labels = str(label)
    return StreamItem(str(number if key is None else key), text, labels)
