"""A review while it is screened: its log, the queue that ranks its records, and one reviewer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from bayesift.arrays import FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.knowledge import Coverage
from bayesift.references import Reference
from bayesift.screening.chances import calibration
from bayesift.screening.full_texts import MAX_PDF_BYTES, FullTextFile
from bayesift.screening.project import Project
from bayesift.screening.queue import ReviewQueue
from bayesift.screening.relevance import Pool
from bayesift.screening.review_log import (
    ABSTRACT,
    FULL_TEXT,
    Record,
    ReviewReading,
    Stage,
    Verdict,
    seen_by,
    with_decisions,
)
from bayesift.screening.stopping.finds import FindsForecast, StoppingEstimate
from bayesift.text import ENGLISH_STOP_WORDS, TextEmbedder, WordVectors

_QUERY = "query"  # the id of what is sought, among numbers of records
_MIN_RECORDS_TO_SAVE = 2_000  # the vectors of fewer are made in a moment
_RECALL = 0.95
_CONFIDENCE = 0.95
# How the methods paragraph names the parts of a record's vector.
_PART_NAMES = {
    "directions": "main directions of the words",
    "keywords": "keywords",
    "dense": "mean of word vectors",
}
# Grade of a record that was included by its abstract and excluded by its full text.
_FULL_TEXT_EXCLUDED_GRADE = 0.1
# Largest rank of a record that was read in the order of the ranking; others were skipped.
_MAX_RANK_IN_ORDER = 20


@dataclass(frozen=True)
class Progress:
    """How far a review is.

    Parameters
    ----------
    n_records : to screen
    n_included, n_maybe, n_excluded : decided so far
    n_waiting, n_conflict : waiting for a second reviewer, and decided in two ways
    since_find : decisions since the last record that was not excluded
    estimate : of what is left, for 95% recall; its caveat says why it cannot be told yet
    """

    n_records: int
    n_included: int
    n_maybe: int
    n_excluded: int
    n_waiting: int
    n_conflict: int
    since_find: int
    estimate: StoppingEstimate

    @property
    def n_decided(self) -> int:
        """How many records are decided for good."""
        return self.n_included + self.n_maybe + self.n_excluded

    @property
    def n_open(self) -> int:
        """How many records have no decision."""
        return self.n_records - self.n_decided - self.n_waiting - self.n_conflict

    def stopping_line(self) -> str:
        """Say in a sentence what is known of the records that are left."""
        return unfinished_line(self.n_open, self.n_waiting, self.n_conflict) or str(
            self.estimate
        )

    def end_line(self) -> str:
        """Say what others still have to do when nothing is left for a reviewer."""
        return unfinished_line(0, self.n_waiting, self.n_conflict)


def unfinished_line(n_open: int, n_waiting: int, n_conflict: int) -> str:
    """Say what is still to be done once every record has a decision; "" before.

    Examples
    --------
    >>> unfinished_line(0, 0, 0)
    'all records are decided'
    >>> unfinished_line(0, 30, 1)
    'every record has a decision; 30 wait for a second reviewer, 1 is in conflict'
    """
    if n_open:
        return ""
    parts = []
    if n_waiting:
        parts.append(
            f"{n_waiting:,} {'waits' if n_waiting == 1 else 'wait'} for a second reviewer"
        )
    if n_conflict:
        parts.append(f"{n_conflict:,} {'is' if n_conflict == 1 else 'are'} in conflict")
    if not parts:
        return "all records are decided"
    return f"every record has a decision; {', '.join(parts)}"


@dataclass(frozen=True)
class PoolTexts:
    """The texts that are ranked: records, what is sought, and records of an older review.

    Keywords and subject terms are a part of their own, besides being words of the text; so are word
    vectors if given.
    """

    texts: tuple[str, ...]
    titles: tuple[str, ...]
    keywords: tuple[str, ...]
    word_vectors: WordVectors | None = None

    @classmethod
    def of_log(cls, log: ReviewReading, word_vectors: WordVectors | None = None) -> PoolTexts:
        """Collect the texts of a review as it is now; word vectors are the installed ones."""
        wanted = "\n".join(part for part in (log.settings.query, log.settings.criteria) if part)
        sought = Reference(title=wanted)
        documents = [record.reference for record in log.records.values()]
        documents += [sought, *log.prior]
        return cls(
            texts=tuple(document.text for document in documents),
            titles=tuple(document.title for document in documents),
            keywords=tuple("; ".join(document.keywords) for document in documents),
            word_vectors=word_vectors or WordVectors.installed(),
        )

    @property
    def digest(self) -> str:
        """The digest of all that the vectors depend on."""
        meanings = self.word_vectors.digest if self.word_vectors else ""
        content = "\0".join((*self.texts, *self.titles, *self.keywords, meanings))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def vectors(self) -> Pool:
        """Make the vectors of the texts, with parts for titles, keywords and word vectors."""
        dense = (
            TextEmbedder(self.word_vectors).fit_transform(self.texts)
            if self.word_vectors
            else None
        )
        return Pool.of_texts(
            self.texts, titles=self.titles, keywords=self.keywords, dense=dense
        )


@dataclass(frozen=True)
class OrderedReading:
    """The records that were read in the order of a ranking.

    Parameters
    ----------
    order : for each whether it was relevant
    n_documents : these, and those that may still be read in this order
    found_before : relevant records that were found in another way
    """

    order: Mapping[str, bool]
    n_documents: int
    found_before: int


class RankedRecords:
    """The records of a review in the order of their relevance, as its reviewers teach it.

    The query and the inclusion criteria are a document that is known to be relevant, so that
    records are ranked before the first decision. Labels of an older review are scores of a model of
    them, weighed by how well they agree with the decisions. "maybe" counts as relevant until
    it is decided, and a record that was included by its abstract and excluded by its full text
    counts as a tenth of a relevant one.

    Parameters
    ----------
    log : of the review, or one person's view of it, which teaches only what that person may see
    snapshots : folder for the vectors of large reviews, which take some time to make
    pool : the vectors of its `PoolTexts`, if they were made before
    word_vectors : for a further part of the similarity, small in weight: the mean of the vectors of
        the words
    fit : whether to fit the model at once; otherwise `queue.refit` must follow

    Attributes
    ----------
    estimated : the number of events at the last estimate of what is left, and the estimate; None
        before one

    Examples
    --------
    >>> from bayesift.screening import ReviewLog
    >>> titles = ["Corn prices", "Gold mines of Peru", "Corn harvest", "Silver mines of Peru"]
    >>> log = ReviewLog([Reference(title=title) for title in titles], [1, 2, 3, 4])
    >>> log.accept(log.prepare("decide", [{"by": "ann", "record": "2", "verdict": "included"}]))
    >>> RankedRecords(log).next("ann").reference.title
    'Silver mines of Peru'
    """

    def __init__(
        self,
        log: ReviewReading,
        *,
        snapshots: Path | None = None,
        pool: Pool | None = None,
        word_vectors: WordVectors | None = None,
        fit: bool = True,
    ) -> None:
        self.log = log
        self._snapshots = snapshots
        self._word_vectors = word_vectors
        self.load(pool)
        if fit:
            self.queue.refit()

    def load(self, pool: Pool | None = None) -> None:
        """Begin again from the log, after records were joined or split, or the settings changed."""
        log = self.log
        self.ids = list(log.records)
        self.estimated: tuple[int, StoppingEstimate] | None = None
        self._calibrated: tuple[int, FloatArray, tuple[float, float]] | None = None
        self._row = {record: row for row, record in enumerate(self.ids)}
        self._n_held = np.zeros(len(self.ids), dtype=np.int16)
        self._has_text = np.array([log.records[record].has_text for record in self.ids])
        documents = PoolTexts.of_log(log, self._word_vectors)
        pool = pool or self._pool(documents)
        extra = [_QUERY, *(f"prior {number}" for number in range(len(log.prior)))]
        self.queue = ReviewQueue.of_pool(pool, ids=[*self.ids, *extra])
        if log.prior:
            self._weigh_prior(log.prior, extra[1:])
        if documents.texts[len(self.ids)]:
            self.queue.judge(_QUERY, True)
        for record in log.decided():
            if record in self._row:
                self.learn(record)
        if log.words:
            self.queue.set_words(log.words)

    def _pool(self, documents: PoolTexts) -> Pool:
        if not any(text.strip() for text in documents.texts[: len(self.ids)]):
            raise DataError("no record has a title or an abstract")
        if len(documents.texts) < _MIN_RECORDS_TO_SAVE or self._snapshots is None:
            return documents.vectors()
        saved = Pool.load(self._snapshots, documents.digest)
        if saved is None:
            saved = documents.vectors()
            saved.save(self._snapshots, documents.digest)
        return saved

    def _weigh_prior(self, labelled: Sequence[Reference], names: Sequence[str]) -> None:
        """Give the queue the scores of a model of the older review."""
        teacher = self.queue.unjudged()
        for name, reference in zip(names, labelled, strict=True):
            teacher.judge(name, bool(reference.included))
        teacher.refit()
        self.queue.set_outside_scores(teacher.scores)

    def next(
        self, reviewer: str, *, stage: Stage = ABSTRACT, without: Collection[str] = ()
    ) -> Record | None:
        """Return the most relevant record that a reviewer may decide on, or None.

        If nothing relevant was found for long, it is now and then one unlike all decided ones
        (`ReviewQueue.explores`). Records of `without` come after all others, and before them
        those without any text.
        """
        rows = self.open_rows(reviewer, stage)
        kept = [row for row in rows if self.ids[row] not in without] if without else rows
        chosen = np.asarray(kept if len(kept) else rows, dtype=np.int64)
        if self._has_text[chosen].any():
            chosen = chosen[self._has_text[chosen]]
        explored = stage == ABSTRACT and len(chosen) and self.queue.explores()
        row = self.queue.farthest(chosen)[0] if explored else self._best(chosen)
        return None if row is None else self.log.records[self.ids[row]]

    def place(self, record: str, reviewer: str, stage: Stage = ABSTRACT) -> dict[str, Any]:
        """Return the rank of a record among those open to a reviewer, and its score.

        A record without any text has neither.
        """
        scores = self.scores
        row = self.row_of(record)
        if not self._has_text[row]:
            return {"rank": None, "score": None}
        rank = 1 + int(np.count_nonzero(scores[self.open_rows(reviewer, stage)] > scores[row]))
        return {"rank": rank, "score": round(float(scores[row]), 6)}

    @property
    def scores(self) -> FloatArray:
        """The score of every record; -inf for those without any text, which come last."""
        return np.where(self._has_text, self.queue.scores[: len(self.ids)], -np.inf)

    def learn(self, record: str) -> None:
        """Note how a record stands now, after a decision on it or after one was taken back.

        The ranking follows with the next `refit` of the queue.
        """
        row = self._row[record]
        self._n_held[row] = len(self.log.decisions_on(record))
        verdict = self.log.verdict(record)
        if verdict is None:
            if self.queue.labels[row]:
                self.queue.withdraw(record)
            return
        of_full_text = self.log.verdict(record, FULL_TEXT)
        grade = _FULL_TEXT_EXCLUDED_GRADE if of_full_text == "excluded" else 1.0
        label = -1 if verdict == "excluded" else 1
        # A second decision that says the same changes nothing.
        if (self.queue.labels[row], self.queue.grades[row]) != (label, grade):
            self.queue.judge(record, label > 0, grade=grade)

    def open_rows(self, reviewer: str, stage: Stage = ABSTRACT) -> IntArray:
        """Return the rows that a reviewer may decide on next."""
        most = self.log.settings.reviewers_per_record
        if stage == FULL_TEXT:
            chosen = [
                self._row[record]
                for record in self.log.stage_records(FULL_TEXT)
                if record in self._row
                and len(held := self.log.decisions_on(record, stage)) < most
                and reviewer not in held
            ]
            return np.array(chosen, dtype=np.int64)
        is_open = self._n_held < most
        if most > 1:
            for row in np.flatnonzero(is_open & (self._n_held > 0)):
                is_open[row] = reviewer not in self.log.decisions_on(self.ids[row])
        return np.flatnonzero(is_open)

    def search(self, text: str) -> list[Record]:
        """Return the records that hold all these words, the most relevant first."""
        words = text.casefold().split()
        scores = self.scores
        found = [
            record
            for record in self.log.records.values()
            if all(w in _whole(record) for w in words)
        ]
        return sorted(found, key=lambda record: -scores[self._row[record.id]]) if words else []

    def informative_words(self, record: str, n: int = 20) -> dict[str, float]:
        """Return the words of a record with the largest weights for or against its relevance.

        Words such as "and" are left out: they count for the rank, but mean nothing to a reader.
        """
        weights = self.queue.word_weights(record)
        shown = []
        for word, weight in weights.items():
            if weight and " " not in word and word not in ENGLISH_STOP_WORDS:
                shown.append((word, weight))
        shown.sort(key=lambda one: -abs(one[1]))
        return dict(shown[:n])

    def ranks(self) -> dict[str, tuple[int, float]]:
        """Return the rank and the probability of relevance of every record."""
        scores = self.scores
        order = np.argsort(-scores, kind="stable")
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(1, len(order) + 1)
        return {
            record: (int(ranks[row]), float(self._chance(scores[row])))
            for record, row in self._row.items()
        }

    def references(
        self, *, only: Collection[str] = (), sources: bool = False
    ) -> list[Reference]:
        """Return the records with decisions, reasons, ranks and probabilities, for a file.

        Parameters
        ----------
        only : those that are "included", "excluded", "maybe", "waiting" (for a second reviewer),
            in "conflict", or "open"; all by default
        sources : every source of a record instead of one reference for all
        """
        ranks = self.ranks()
        written: list[Reference] = []
        for record in self.log.records.values():
            status = self.log.final_status(record.id)
            if only and status not in only:
                continue
            rank, probability = ranks[record.id]
            told = {
                "record": record.id,
                "decision": "" if status == "open" else status,
                "stage": FULL_TEXT if self.log.status(record.id, FULL_TEXT) != "open" else "",
                "rank": str(rank) if record.has_text else "",
                "probability": f"{probability:.4f}" if record.has_text else "",
                "sources": "; ".join(record.origins),
            }
            described = with_decisions(record, self.log, told)
            added: dict[str, Any] = {
                "decisions": described.decisions,
                "annotations": described.annotations,
            }
            written += (
                [replace(source, **added) for source in record.sources]
                if sources
                else [described]
            )
        return written

    def place_in_pool(self, record: str) -> tuple[int, float]:
        """Return the rank among all records, and the probability of relevance."""
        scores = self.scores
        return 1 + int(
            np.count_nonzero(scores > scores[self.row_of(record)])
        ), self.probability(record)

    def probability(self, record: str) -> float:
        """Return how probable it is that a record is relevant, by the decisions so far.

        It is 0 for a record without any text, of which nothing can be said.
        """
        return self._chance(float(self.scores[self.row_of(record)]))

    def _chance(self, score: float) -> float:
        if score == -np.inf:
            return 0.0
        return float(expit(np.polyval(self._calibration(), score)))

    def describe(self) -> str:
        """Say in sentences how records are ranked, with which settings, and when to stop."""
        model = self.queue.model
        found = self.queue.n_found
        parts = []
        for part in model.parts:
            name = _PART_NAMES.get(part.name, part.name)
            parts.append(f"{name} {part.weight(found):.2g}")
        vectors = self._word_vectors or WordVectors.installed()
        named = f"word vectors {vectors.source!r}" if vectors else "no word vectors"
        return (
            "It ranks the records by a linear model (logistic loss, Gaussian prior of variance "
            f"{model.settings.variance:g}; {model.settings.share:.0%} of the weight on relevant "
            f"records) of {', '.join(parts)} (their weights at this point), with {named}, "
            "learned again after every decision. What is left is estimated from "
            "when relevant records were found (FindsForecast); it advises to stop when "
            f"{_RECALL:.0%} recall is reached with a probability of {_CONFIDENCE:.0%}."
        )

    def progress(self) -> Progress:
        """Return how far the review is, and what is left."""
        if self.estimated is None or self.estimated[0] != len(self.log.events):
            self.estimated = self.estimating()()
        statuses = self.log.count_statuses()
        return Progress(
            n_records=len(self.ids),
            n_included=statuses["included"],
            n_maybe=statuses["maybe"],
            n_excluded=statuses["excluded"],
            n_waiting=statuses["waiting"],
            n_conflict=statuses["conflict"],
            since_find=self.since_find(),
            estimate=self.estimated[1],
        )

    def since_find(self) -> int:
        """Count the decisions since the last record that was not excluded."""
        finds = list(self._finds().values())
        return next((n for n, found in enumerate(reversed(finds)) if found), len(finds))

    def estimating(self) -> Callable[[], tuple[int, StoppingEstimate]]:
        """Return a function that estimates what is left, and gives the number of events now.

        It may run in another thread. Relevant records that were not read in the order of the
        ranking count as a start of the review.
        """
        reading = self.reading()
        moment = len(self.log.events)
        n_documents = reading.n_documents
        read = list(reading.order.values()) or [False] * (n_documents == 0)
        before = reading.found_before

        def compute() -> tuple[int, StoppingEstimate]:
            forecast = FindsForecast(max(1, n_documents))
            return moment, forecast.estimate(read, recall=_RECALL, found_before=before)

        return compute

    def reading(self) -> OrderedReading:
        """Return which records were read in the order of the ranking, and what was found.

        Open records without any text are not among those that are left to read: the ranking
        tells nothing of them.
        """
        finds = self._finds()
        order = {
            record: found for record, found in finds.items() if self._read_in_order(record)
        }
        without_text = int(np.count_nonzero(~self._has_text & (self._n_held == 0)))
        return OrderedReading(
            order=order,
            n_documents=len(self.ids) - len(finds) + len(order) - without_text,
            found_before=sum(finds.values()) - sum(order.values()),
        )

    def _finds(self) -> dict[str, bool]:
        """Return whether each decided record was not excluded, in the order of the decisions."""
        decided = (record for record in self.log.decided() if record in self._row)
        return {record: self.log.verdict(record) != "excluded" for record in decided}

    def _read_in_order(self, record: str) -> bool:
        """Return whether the first decision that holds was made when the ranking offered it."""
        ranks = [decision.rank for decision in self.log.decisions_on(record).values()]
        return ranks[0] is not None and ranks[0] <= _MAX_RANK_IN_ORDER

    def row_of(self, record: str) -> int:
        """Return the row of a record in the pool."""
        if record not in self._row:
            raise DataError(f"no record {record!r:.40} in this project")
        return self._row[record]

    def _best(self, rows: Sequence[int] | IntArray) -> int | None:
        indices = np.asarray(rows, dtype=np.int64)
        if not len(indices):
            return None
        return int(indices[np.argmax(self.scores[indices])])

    def _calibration(self) -> tuple[float, float]:
        """Return slope and intercept from scores to log odds, as of the last event."""
        scores = self.queue.scores
        moment = len(self.log.events)
        known = self._calibrated
        if known is None or known[0] != moment or known[1] is not scores:
            unseen = self.queue.unseen
            some = scores[unseen[unseen < len(self.ids)]]
            known = moment, scores, calibration(some, list(self._finds().values()))
            self._calibrated = known
        return known[2]


class Review:
    """One reviewer's work on a project: the next record, decisions, search, progress.

    Parameters
    ----------
    project : open for writing, to decide
    reviewer : name under which decisions are kept
    word_vectors : for a further part of the similarity, as in `RankedRecords`

    Attributes
    ----------
    seen : what the reviewer may see of the project
    ranked : the records in the order of their relevance

    Examples
    --------
    >>> import tempfile
    >>> from bayesift.references import Reference, ReferenceList
    >>> from bayesift.screening import Project, ProjectSettings
    >>> titles = ["Corn prices", "Gold mines of Peru", "Corn harvest", "Silver mines of Peru"]
    >>> records = ReferenceList(tuple(Reference(title=title) for title in titles))
    >>> settings = ProjectSettings(query="gold mines")
    >>> project = Project.create(tempfile.mkdtemp(), records, settings=settings)
    >>> review = Review(project, "ann")
    >>> record = review.next()
    >>> record.reference.title
    'Gold mines of Peru'
    >>> review.decide(record.id, "included")
    >>> review.next().reference.title
    'Silver mines of Peru'
    >>> project.close()
    """

    def __init__(
        self, project: Project, reviewer: str, *, word_vectors: WordVectors | None = None
    ) -> None:
        self.project, self.reviewer = project, reviewer
        self.seen = seen_by(reviewer, project)
        self.ranked = RankedRecords(
            self.seen, snapshots=project.snapshot_folder, word_vectors=word_vectors
        )
        self._skipped: list[str] = []

    def next(self) -> Record | None:
        """Return the most relevant record that is open, or None when all are decided."""
        return self.ranked.next(self.reviewer, without=self._skipped)

    def decide(
        self,
        record: str,
        verdict: Verdict,
        *,
        reasons: Sequence[str] = (),
        seconds: float | None = None,
    ) -> None:
        """Keep a decision and learn from it; when this returns, it is on disk."""
        self.project.append(
            "decide",
            by=self.reviewer,
            record=record,
            verdict=verdict,
            reasons=list(reasons) or None,
            **self.ranked.place(record, self.reviewer),
            seconds=None if seconds is None else round(seconds, 1),
        )
        self._learn(record)
        if record in self._skipped:
            self._skipped.remove(record)

    def undo(self) -> Record:
        """Take back the reviewer's last decision; returns its record."""
        record = self.project.last_decision(self.reviewer)
        if record is None:
            raise DataError("no decision to take back")
        self.project.append("undo", by=self.reviewer, record=record)
        self._learn(record)
        return self.project.records[record]

    def _learn(self, record: str) -> None:
        self.ranked.learn(record)
        self.ranked.queue.refit()

    def skip(self, record: str) -> None:
        """Show a record again only after all others; a new session forgets it."""
        self.ranked.row_of(record)
        self._skipped.append(record)

    def note(self, record: str, text: str) -> None:
        """Keep a note on a record."""
        self.project.append("note", by=self.reviewer, record=record, text=text)

    def set_words(self, words: dict[str, float]) -> Coverage:
        """Set the words that speak for or against relevance, as in `ReviewQueue.set_words`."""
        coverage = self.ranked.queue.set_words(words)
        self.ranked.queue.refit()
        self.project.append("words", by=self.reviewer, words=words)
        return coverage

    def set_highlights(self, *, include: Sequence[str], exclude: Sequence[str]) -> None:
        """Set the words to highlight in records, which do not change the ranking."""
        self.project.append(
            "settings",
            by=self.reviewer,
            highlight_include=list(include),
            highlight_exclude=list(exclude),
        )

    def attach(self, record: str, path: str | Path, *, replace: bool = False) -> FullTextFile:
        """Attach the PDF of a full text to a record.

        A file that the record has is replaced if the reviewer attached it, or if it shall be.
        """
        path = Path(path).expanduser()
        try:
            if path.stat().st_size > MAX_PDF_BYTES:
                raise DataError(f"has more than the {MAX_PDF_BYTES:,} bytes allowed", file=path)
            content = path.read_bytes()
        except OSError as error:
            message = f"cannot be read ({error.strerror or error})"
            raise DataError(message, file=path) from error
        held = self.project.full_text_files.get(record)
        replaces = held.digest if held and (replace or held.by == self.reviewer) else ""
        self.project.attach(record, path.name, content, by=self.reviewer, replaces=replaces)
        return self.project.full_text_files[record]

    def split(self, record: str) -> None:
        """Make records of their own of the sources of a record."""
        self.project.append("split", by=self.reviewer, record=record)
        self.ranked.load()
        self.ranked.queue.refit()

    def search(self, text: str) -> list[Record]:
        """Return the records that hold all these words, the most relevant first."""
        return self.ranked.search(text)

    def informative_words(self, record: str, n: int = 20) -> dict[str, float]:
        """Return the words of a record with the largest weights for or against its relevance."""
        return self.ranked.informative_words(record, n)

    def probability(self, record: str) -> float:
        """Return how probable it is that a record is relevant."""
        return self.ranked.probability(record)

    def progress(self) -> Progress:
        """Return how far the review is, and what is left."""
        return self.ranked.progress()


def _whole(record: Record) -> str:
    reference = record.reference
    return " ".join(
        (reference.text, *reference.authors, reference.journal, reference.doi, record.id)
    ).casefold()
