"""A review while it is screened: the project on disk, the queue that ranks its records, and one reviewer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from bayesift.arrays import Array
from bayesift.datasets.references import Reference
from bayesift.errors import DataError
from bayesift.screening.project import Project, Record, Verdict
from bayesift.screening.queue import ReviewQueue
from bayesift.screening.relevance import Pool
from bayesift.screening.stopping import RankDecay, RemainingRelevant
from bayesift.text import ENGLISH_STOP_WORDS

LEAST_FINDS = 10  # finds before the number of relevant records that are left is estimated
_QUERY = "query"  # the id of what is looked for, among numbers of records
_SAVED_FROM = 2_000  # records; the vectors of fewer are made in a moment
_PRIOR_VARIANCE = 4.0
_STEPS = 25


@dataclass(frozen=True)
class Progress:
    """How far a review is.

    Parameters
    ----------
    n_records : to screen
    n_included, n_maybe, n_excluded : decided so far
    since_find : decisions since the last record that was not excluded
    remaining : posterior of the number of relevant records among the others; None before `LEAST_FINDS` finds
    """

    n_records: int
    n_included: int
    n_maybe: int
    n_excluded: int
    since_find: int
    remaining: RemainingRelevant | None

    @property
    def n_decided(self) -> int:
        """How many records have a decision."""
        return self.n_included + self.n_maybe + self.n_excluded

    def stopping_line(self, recall: float = 0.95) -> str:
        """What is known of the records that are left, in a sentence."""
        found = self.n_included + self.n_maybe
        if self.n_decided == self.n_records:
            return "all records are decided"
        if self.remaining is None:
            return f"too early to say what is left ({found} of {LEAST_FINDS} finds)"
        low, high = self.remaining.interval()
        chance = self.remaining.probability_of_recall(recall)
        return (
            f"about {self.remaining.mean:.0f} relevant left ({low} to {high}), "
            f"{recall:.0%} recall with probability {chance:.2f}"
        )


class Review:
    """One reviewer's work on a project: the next record, decisions, search, progress.

    The query and the inclusion criteria of the project are a document that is known to be relevant, so that records
    are ranked before the first decision. "maybe" counts as relevant until somebody decides.

    Parameters
    ----------
    project : open for writing, to decide
    reviewer : name under which decisions are kept
    prior : labelled records of an older review; what they say is weighed by how well it agrees with the decisions

    Examples
    --------
    >>> import tempfile
    >>> from bayesift.datasets.references import Reference, ReferenceList
    >>> from bayesift.screening import Project, ProjectSettings
    >>> titles = ["Corn prices", "Gold mines of Peru", "Corn harvest in Iowa", "Silver mines of Peru"]
    >>> records = ReferenceList(tuple(Reference(title=title) for title in titles))
    >>> project = Project.create(tempfile.mkdtemp(), records, settings=ProjectSettings(query="gold mines"))
    >>> review = Review(project, "ann")
    >>> record = review.next()
    >>> record.reference.title
    'Gold mines of Peru'
    >>> review.decide(record.id, "included")
    >>> review.next().reference.title
    'Silver mines of Peru'
    >>> project.close()
    """

    def __init__(self, project: Project, reviewer: str, *, prior: Sequence[Reference] = ()) -> None:
        self.project, self.reviewer = project, reviewer
        self._prior = prior
        self._skipped: list[str] = []
        self._load()

    def _load(self) -> None:
        project = self.project
        self.ids = list(project.records)
        vars(self).pop("_decay", None)
        self._row = {record: row for row, record in enumerate(self.ids)}
        wanted = "\n".join(part for part in (project.settings.query, project.settings.criteria) if part)
        labelled = [reference for reference in self._prior if reference.included is not None]
        references = [record.reference for record in project.records.values()]
        texts = [*(reference.text for reference in references), wanted, *(reference.text for reference in labelled)]
        titles = [*(reference.title for reference in references), wanted, *(reference.title for reference in labelled)]
        pool = self._pool(texts, titles)
        extra = [_QUERY, *(f"prior {number}" for number in range(len(labelled)))]
        self.queue = ReviewQueue(pool.X, ids=[*self.ids, *extra], index=pool.index, parts=pool.parts)
        if labelled:
            self._weigh_prior(labelled, extra[1:])
        if wanted:
            self.queue.judge(_QUERY, True)
        for record in project.decisions:
            if record in self._row:
                self._learn(record)
        if project.words:
            self.queue.set_words(project.words)

    def _pool(self, texts: Sequence[str], titles: Sequence[str]) -> Pool:
        if not any(text.strip() for text in texts[: len(self.ids)]):
            raise DataError("no record has a title or an abstract", file=self.project.folder)
        digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
        if len(texts) < _SAVED_FROM:
            return Pool.of_texts(texts, titles=titles)
        saved = Pool.load(self.project.snapshot_folder, digest)
        if saved is None:
            saved = Pool.of_texts(texts, titles=titles)
            saved.save(self.project.snapshot_folder, digest)
        return saved

    def _weigh_prior(self, labelled: Sequence[Reference], names: Sequence[str]) -> None:
        """Scores of a model of the older review, as a witness of the queue."""
        teacher = self.queue.unjudged()
        for name, reference in zip(names, labelled, strict=True):
            teacher.judge(name, bool(reference.included))
        self.queue.set_witness(teacher.scores)

    @cached_property
    def _decay(self) -> RankDecay:
        return RankDecay(len(self.ids))

    def next(self) -> Record | None:
        """The record to decide on next: the most relevant one that is open; None when all are decided."""
        row = self._best(self._open_rows(skipped=False))
        if row is None:
            row = self._best(self._open_rows(skipped=True))
        return None if row is None else self.project.records[self.ids[row]]

    def decide(
        self, record: str, verdict: Verdict, *, reasons: Sequence[str] = (), seconds: float | None = None
    ) -> None:
        """Keep a decision and learn from it; when this returns, it is on disk."""
        row = self._row_of(record)
        scores = self.queue.scores[: len(self.ids)]
        rank = 1 + int(np.count_nonzero(scores[self._open_rows(skipped=True)] > scores[row]))
        self.project.append(
            "decide",
            by=self.reviewer,
            record=record,
            verdict=verdict,
            reasons=list(reasons) or None,
            rank=rank,
            score=round(float(scores[row]), 6),
            seconds=None if seconds is None else round(seconds, 1),
        )
        self._learn(record)
        if record in self._skipped:
            self._skipped.remove(record)

    def undo(self) -> Record:
        """Take back the reviewer's last decision; returns its record."""
        record = self.project.last_decision(self.reviewer)
        if record is None:
            raise DataError("there is no decision to take back")
        self.project.append("undo", by=self.reviewer, record=record)
        self._learn(record)
        return self.project.records[record]

    def skip(self, record: str) -> None:
        """Show a record again only after all others; a new session forgets it."""
        self._row_of(record)
        self._skipped.append(record)

    def note(self, record: str, text: str) -> None:
        """Keep a note on a record."""
        self.project.append("note", by=self.reviewer, record=record, text=text)

    def set_words(self, words: dict[str, float]) -> None:
        """Say which words speak for or against relevance, as in `ReviewQueue.set_words`."""
        self.queue.set_words(words)
        self.project.append("words", by=self.reviewer, words=words)

    def split(self, record: str) -> None:
        """Make records of their own of the sources of a record that are not the same publication after all."""
        self.project.append("split", by=self.reviewer, record=record)
        self._load()

    def search(self, text: str) -> list[Record]:
        """The records that hold all these words, the most relevant first."""
        words = text.casefold().split()
        scores = self.queue.scores
        found = [record for record in self.project.records.values() if all(w in _whole(record) for w in words)]
        return sorted(found, key=lambda record: -scores[self._row[record.id]]) if words else []

    def informative_words(self, record: str, n: int = 20) -> dict[str, float]:
        """The words of a record that speak loudest for (positive) or against (negative) its relevance.

        Words such as "and" are left out: they count for the rank, but tell a reader nothing.
        """
        weights = self.queue.word_weights(record)
        told = [word for word in weights if " " not in word and word not in ENGLISH_STOP_WORDS and weights[word]]
        return {word: weights[word] for word in sorted(told, key=lambda word: -abs(weights[word]))[:n]}

    def ranks(self) -> dict[str, tuple[int, float]]:
        """Rank and probability of relevance of every record."""
        scores = self.queue.scores[: len(self.ids)]
        order = np.argsort(-scores, kind="stable")
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(1, len(order) + 1)
        chances = expit(np.polyval(self._calibration(), scores))
        return {record: (int(places[row]), float(chances[row])) for record, row in self._row.items()}

    def probability(self, record: str) -> float:
        """How probable it is that a record is relevant, by how scores and decisions went together so far."""
        score = self.queue.scores[self._row_of(record)]
        return float(expit(np.polyval(self._calibration(), score)))

    def progress(self) -> Progress:
        """How far the review is, and what is left."""
        verdicts = {record: self.project.verdict(record) for record in self.project.decisions if record in self._row}
        counts = {kind: sum(v == kind for v in verdicts.values()) for kind in ("included", "maybe", "excluded")}
        finds = [verdict != "excluded" for verdict in verdicts.values()]
        remaining = None
        if sum(finds) >= LEAST_FINDS and len(finds) < len(self.ids):
            remaining = self._decay.remaining(finds)
        since = finds[::-1].index(True) if any(finds) else len(finds)
        return Progress(len(self.ids), counts["included"], counts["maybe"], counts["excluded"], since, remaining)

    def _learn(self, record: str) -> None:
        verdict = self.project.verdict(record)
        if verdict is None:
            self.queue.withdraw(record)
        else:
            self.queue.judge(record, verdict != "excluded")

    def _open_rows(self, *, skipped: bool) -> Array:
        """The rows that this reviewer may decide on next."""
        is_open = np.ones(len(self.ids), dtype=bool)
        most = self.project.settings.reviewers_per_record
        for record, held in self.project.decisions.items():
            if record in self._row and (self.reviewer in held or len(held) >= most):
                is_open[self._row[record]] = False
        if not skipped:
            is_open[[self._row[record] for record in self._skipped if record in self._row]] = False
        return np.flatnonzero(is_open)

    def _best(self, rows: Array) -> int | None:
        scores = self.queue.scores
        return int(rows[np.argmax(scores[rows])]) if len(rows) else None

    def _row_of(self, record: str) -> int:
        if record not in self._row:
            raise DataError(f"no record {record!r:.40} in this project")
        return self._row[record]

    def _calibration(self) -> tuple[float, float]:
        """Slope and intercept of logistic regression of decisions on the score that each record had before its own.

        Such scores were made without the decision, so that they are as good as those of records still open. Priors:
        slope N(1, 4), intercept about the share of relevant decisions, of which one in twenty is presumed.
        """
        pairs = [
            (decision.score, decision.verdict != "excluded")
            for record, held in self.project.decisions.items()
            if record in self._row
            for decision in held.values()
            if decision.score is not None
        ]
        scores = np.array([score for score, _ in pairs], dtype=np.float64)
        found = np.array([relevant for _, relevant in pairs], dtype=np.float64)
        centre = np.array([1.0, float(logit((found.sum() + 1.0) / (len(found) + 20.0)))])
        design = np.column_stack([scores, np.ones(len(scores))])
        mode = centre.copy()
        for _ in range(_STEPS):
            chance = expit(design @ mode)
            gradient = design.T @ (found - chance) - (mode - centre) / _PRIOR_VARIANCE
            hessian = (design.T * (chance * (1.0 - chance))) @ design + np.eye(2) / _PRIOR_VARIANCE
            step = np.linalg.solve(hessian, gradient)
            mode += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        return float(mode[0]), float(mode[1])


def _whole(record: Record) -> str:
    reference = record.reference
    return " ".join((reference.text, *reference.authors, reference.journal, reference.doi, record.id)).casefold()
