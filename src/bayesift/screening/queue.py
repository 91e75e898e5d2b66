"""The queue of a review: which documents of a fixed pool to judge next."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
from scipy import sparse

from bayesift.arrays import FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.knowledge import Coverage, TermIndex, TermKnowledge
from bayesift.knowledge.priors import resolve
from bayesift.model_file import ModelContent, load_model, save_model
from bayesift.screening.information import (
    Farthest,
    Order,
    expected_information,
    informative_positions,
    most_informative,
)
from bayesift.screening.relevance import Part, Pool, RelevanceModel, RelevanceSettings
from bayesift.state import expect_array
from bayesift.text import TermVectorizer
from bayesift.validation import check_terms

KIND = "review-queue"
UNDO_STEPS = 100
_CANDIDATES = 500  # documents of the highest scores among which the most informative are sought
_RELEVANT = "relevant"
_MIN_WORD_SCORE = 1e-100  # its square is still above 0
# The queue explores while few relevant documents are found, after many irrelevant ones in a row.
_MAX_FOUND_TO_EXPLORE = 5
_MIN_IRRELEVANT_TO_EXPLORE = 30
_EXPLORE_EVERY = 10  # documents
# Standard deviation of scores over a pool after the first judgements; median over reviews.
_SCORE_SPREAD = 0.24
# Prior of the reliability of outside scores, and how many irrelevant documents halve the trust in
# them before the first relevant one is found.
_RELIABILITY_MEAN = 0.3
_RELIABILITY_VARIANCE = 0.1
_HALVING_DOCUMENTS = 20.0


@dataclass(frozen=True, eq=False)
class _Step:
    """What `undo` restores: the label before a judgement, and the model before it."""

    row: int
    label: int
    grade: float
    duals: FloatArray
    fitted: bool


@dataclass(frozen=True, eq=False)
class Fit:
    """The model fitted after so many changes of a queue, and the scores of all documents."""

    n_changes: int
    model: RelevanceModel
    duals: FloatArray
    scores: FloatArray


class ReviewQueue:
    """A pool of documents, the judgements so far, and which documents to judge next.

    Judgements and words take effect with the next `refit` of the model
    (`bayesift.screening.relevance`), which starts from the last fit; `next_documents` refits by
    itself. The same calls give the same answers, even if the queue is saved and loaded in between.

    Parameters
    ----------
    X : the pool, documents x columns; rows have a length of about one, as those of `Pool.of_texts`
    ids : names of the documents; by default their row numbers as text
    index : the terms of the first columns; `set_words` needs it
    parts : of the columns, with weights that depend on how many relevant documents are found, as
        those of `Pool.of_texts`; by default all columns have the weight one throughout
    settings : hyperparameters of the model

    Attributes
    ----------
    labels : 1 for relevant, -1 for irrelevant, 0 for not yet judged
    grades : how much each document counts among the relevant ones; 1 unless `judge` was told
        another grade

    Examples
    --------
    >>> queue = ReviewQueue.of_texts(["corn prices", "gold prices", "corn harvest", "gold mines"])
    >>> queue.judge("0", True)
    >>> queue.judge("1", False)
    >>> queue.next_documents(1)
    ['2']
    >>> queue.undo(), queue.n_judged
    ('1', 1)
    """

    def __init__(
        self,
        X: Any,
        *,
        ids: Sequence[str] | None = None,
        index: TermIndex | None = None,
        parts: Sequence[Part] = (),
        settings: RelevanceSettings | None = None,
    ) -> None:
        rows = check_terms(None, X)
        n = rows.shape[0]
        self.ids = list(map(str, range(n) if ids is None else ids))
        self._row = {name: row for row, name in enumerate(self.ids)}
        if len(self._row) != n:
            raise DataError(f"{len(self._row)} different ids for {n} documents")
        self.index = index
        self._X = rows
        self._outside_scores: FloatArray | None = None
        self.model = RelevanceModel(rows, settings or RelevanceSettings(), parts)
        self.labels = np.zeros(n, dtype=np.int8)
        self.grades = np.ones(n)
        self._judged: dict[int, None] = {}
        self._farthest: Farthest | None = None
        self.words: dict[str, float] = {}
        self._word_offsets = np.zeros(n)
        self._duals = np.zeros(n)
        self._fitted = True
        self._n_changes = 0
        self._is_current = True  # without judgements the offsets are the scores
        self._scores = np.zeros(n)
        self._scores.flags.writeable = False
        self._steps: list[_Step] = []
        self._terms: list[str] | None = None

    @classmethod
    def of_texts(
        cls,
        texts: Iterable[str],
        *,
        ids: Sequence[str] | None = None,
        titles: Sequence[str] | None = None,
        vectorizer: TermVectorizer | None = None,
        settings: RelevanceSettings | None = None,
    ) -> Self:
        """Create the queue of texts, with `Pool.of_texts` unless a vectorizer is given."""
        if vectorizer is None:
            pool = Pool.of_texts(texts, titles=titles)
        else:
            X = vectorizer.fit_transform(texts)
            pool = Pool(X, TermIndex.of(vectorizer, X))
        return cls.of_pool(pool, ids=ids, settings=settings)

    @classmethod
    def of_pool(
        cls,
        pool: Pool,
        *,
        ids: Sequence[str] | None = None,
        settings: RelevanceSettings | None = None,
    ) -> Self:
        """Create the queue of vectors with their terms and parts."""
        return cls(
            pool.X,
            ids=ids,
            index=pool.index,
            parts=pool.parts,
            settings=settings,
        )

    def unjudged(self) -> ReviewQueue:
        """Create another queue of the same pool, without judgements, words or outside scores."""
        return ReviewQueue(
            self._X,
            ids=self.ids,
            index=self.index,
            parts=self.model.parts,
            settings=self.model.settings,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_judged(self) -> int:
        """How many documents are judged."""
        return int(np.count_nonzero(self.labels))

    @property
    def n_found(self) -> int:
        """How many of them are relevant."""
        return int(np.count_nonzero(self.labels > 0))

    @property
    def unseen(self) -> IntArray:
        """The rows of the documents that are not judged."""
        return np.flatnonzero(self.labels == 0)

    @property
    def scores(self) -> FloatArray:
        """The score of every document at the last `refit`; relevant ones have higher scores."""
        return self._scores

    @property
    def is_current(self) -> bool:
        """Whether the scores follow from all judgements and words."""
        return self._is_current

    def refit(self) -> None:
        """Fit the model to the judgements and score all documents, if anything changed."""
        if not self._is_current:
            self.install(self.fitting()())

    def fitting(self) -> Callable[[], Fit]:
        """Return a function that fits the model to the judgements of this moment.

        It reads nothing that later judgements change, so that it may run in another thread.
        """
        n_changes = self._n_changes
        fitted = self._fitted
        model = self.model.weighed(self.n_found)
        labels = self.labels.copy()
        grades = self.grades.copy()
        start = self._duals  # replaced by every change, never written to
        offsets = self._offsets()

        def compute() -> Fit:
            duals = start if fitted else model.fit(labels, start, offsets, grades)
            scores = model.scores(labels, duals, offsets)
            scores.flags.writeable = False
            return Fit(n_changes, model, duals, scores)

        return compute

    def install(self, fit: Fit) -> None:
        """Take in a fit, unless something changed since it was begun."""
        if fit.n_changes != self._n_changes:
            return
        self.model = fit.model
        self._duals = fit.duals
        self._scores = fit.scores
        self._fitted = True
        self._is_current = True

    def _changed(self, *, fitted: bool = False) -> None:
        """Note a change; `fitted` if the dual variables are those of a fit all the same."""
        self._n_changes += 1
        self._is_current = False
        self._fitted = fitted

    @property
    def since_find(self) -> int:
        """How many documents in a row were irrelevant, in the order of first judgements."""
        return sum(
            1 for _ in takewhile(lambda row: self.labels[row] < 0, reversed(self._judged))
        )

    def judge(self, document: str, relevant: bool, *, grade: float = 1.0) -> None:
        """Record a judgement; a later judgement of the same document replaces it.

        Parameters
        ----------
        document : its id
        relevant : whether it is
        grade : how much it counts among the relevant ones; above 0 and at most 1: less than 1 for a
            document that was included by its abstract and excluded by its full text
        """
        if not 0 < grade <= 1:
            raise ValueError(f"grade must lie above 0 and not above 1, got {grade!r}")
        row = self._row_of(document)
        label = 1 if relevant else -1
        self._steps.append(
            _Step(
                row, int(self.labels[row]), float(self.grades[row]), self._duals, self._fitted
            )
        )
        del self._steps[:-UNDO_STEPS]
        if self.labels[row] != label:
            self._duals = self._duals.copy()
            self._duals[row] = 0.0
        self.labels[row] = label
        self.grades[row] = grade
        self._judged.setdefault(row)
        self._changed()

    def withdraw(self, document: str) -> None:
        """Make a document unjudged again, whenever it was judged.

        The order of what is left follows at once.
        """
        row = self._row_of(document)
        self._steps.clear()
        self._duals = self._duals.copy()
        self._duals[row] = 0.0
        self.labels[row] = 0
        self.grades[row] = 1.0
        self._judged.pop(row, None)
        self._changed()

    def word_weights(self, document: str) -> dict[str, float]:
        """Return what each word and pair of words of a document adds to its score.

        The queue must have an `index`.
        """
        if self.index is None:
            raise DataError("this queue was made of vectors without their terms; give `index`")
        self.refit()
        vector = self.model.rows(np.array([self._row_of(document)]))
        columns = vector.indices
        parts = vector.data * self.model.weights(self.labels, self._duals)[columns]
        if self._terms is None:
            self._terms = list(self.index.columns)
        return {
            self._terms[j]: float(part)
            for j, part in zip(columns, parts, strict=True)
            if j < len(self._terms)
        }

    def undo(self) -> str:
        """Take back the last judgement, up to `UNDO_STEPS` of them; returns the document's id."""
        if not self._steps:
            raise DataError("no judgement to take back")
        step = self._steps.pop()
        self.labels[step.row] = step.label
        self.grades[step.row] = step.grade
        if not step.label:
            self._judged.pop(step.row)
        self._duals = step.duals
        self._changed(fitted=step.fitted)
        return self.ids[step.row]

    def set_words(self, words: Mapping[str, float]) -> Coverage:
        """Set how strongly words speak for relevance (or against it, below 0).

        Earlier words are replaced.

        A document that holds a word of strength 1 gains about one standard deviation of scores.
        Judgements overrule it: how far the words are right is learned like the weight of a term.

        Returns which words the pool has; the others have no effect.
        """
        if self.index is None:
            raise DataError("this queue was made of vectors without their terms; give `index`")
        knowledge = TermKnowledge.from_keywords({_RELEVANT: dict(words)})
        rows, coverage = resolve(knowledge, [_RELEVANT], self.index)
        modes = np.zeros(self._X.shape[1])
        for column, belief in rows[0].items():
            modes[column] = belief.mode or 0.0
        self.words = {word: float(strength) for word, strength in words.items()}
        self._set_word_offsets(self._X @ modes)
        return coverage

    def set_outside_scores(self, scores: FloatArray | None) -> None:
        """Take in scores from outside, such as from an older review; None removes them.

        A document gains r standard deviations of scores for each standard deviation of the outside
        scores. The reliability r is learned: the distance between the means of the outside scores
        of relevant and irrelevant documents, with a normal prior, so that useless scores soon have
        no effect.

        Parameters
        ----------
        scores : one per document, higher for those more probably relevant; not a number where
            nothing is known
        """
        given = (
            np.full(len(self), np.nan)
            if scores is None
            else np.asarray(scores, dtype=np.float64)
        )
        if given.shape != (len(self),):
            raise DataError(f"{given.shape} outside scores for {len(self)} documents")
        known = np.isfinite(given)
        spread = float(given[known].std()) if known.any() else 0.0
        self._outside_scores = (given - given[known].mean()) / spread if spread > 0 else None
        self._changed()
        self._steps.clear()

    @property
    def outside_reliability(self) -> float:
        """The posterior mean of the reliability r; 0 without outside scores."""
        if self._outside_scores is None:
            return 0.0
        known = np.isfinite(self._outside_scores)
        relevant, others = (
            self._outside_scores[known & (self.labels == label)] for label in (1, -1)
        )
        if not len(relevant) or not len(others):
            return _RELIABILITY_MEAN / (1.0 + len(others) / _HALVING_DOCUMENTS)
        precision = 1.0 / (1.0 / len(relevant) + 1.0 / len(others))
        distance = float(relevant.mean() - others.mean())
        return (_RELIABILITY_MEAN / _RELIABILITY_VARIANCE + precision * distance) / (
            1.0 / _RELIABILITY_VARIANCE + precision
        )

    def _offsets(self) -> FloatArray:
        """Return what is known of each document beforehand, in units of scores."""
        offsets = self._word_offsets
        if self._outside_scores is not None:
            offsets = offsets + np.nan_to_num(self._outside_scores) * (
                _SCORE_SPREAD * self.outside_reliability
            )
        return offsets

    def _set_word_offsets(self, values: FloatArray) -> None:
        """Give every document an offset for its words, and a column whose weight corrects it."""
        known = values[np.abs(values) > _MIN_WORD_SCORE]
        X = self._X
        if len(known):
            column = sparse.csr_array((values / math.sqrt(np.mean(known**2)))[:, np.newaxis])
            X = sparse.csr_array(sparse.hstack([X, column]))
        self.model = RelevanceModel(X, self.model.settings, self.model.parts)
        self._word_offsets = _SCORE_SPREAD * values
        self._changed()
        self._steps.clear()

    def next_documents(
        self, n: int = 1, *, by: Order = "relevance", information_share: float = 0.2
    ) -> list[str]:
        """Return the next documents to judge, best first.

        Parameters
        ----------
        n : how many; fewer when no more are left
        by : "relevance", the highest scores, but see `explores`; "information", those whose
            judgements are expected to tell most about the model, each given those before it, so
            that a batch holds no near copies; or a "mixture"
        information_share : share of informative documents in a mixture, spread evenly over the
            batch or, for single documents, over the judgements
        """
        if by not in get_args(Order):
            raise ValueError(f"by must be one of {', '.join(get_args(Order))}, got {by!r}")
        self.refit()
        scores = self._scores
        unseen = self.unseen
        ranked = unseen[np.argsort(-scores[unseen], kind="stable")]
        if by == "relevance":
            explored = np.array([self.explores(ahead) for ahead in range(n)], dtype=bool)
        else:
            explored = informative_positions(n, by, information_share, self.n_judged)
        if not explored.any():
            return [self.ids[row] for row in ranked[:n]]
        wanted = min(n, int(explored.sum()))
        teaching = iter(
            self.farthest(unseen, wanted)
            if by == "relevance"
            else self._informative(ranked[:_CANDIDATES], scores, wanted)
        )
        chosen: dict[int, None] = {}
        relevant = iter(ranked)
        for teaches in explored[: len(ranked)]:
            source = teaching if teaches else relevant
            row = next((int(row) for row in source if int(row) not in chosen), None)
            if row is None:
                row = next(int(row) for row in relevant if int(row) not in chosen)
            chosen[row] = None
        return [self.ids[row] for row in chosen]

    def explores(self, ahead: int = 0) -> bool:
        """Return whether the document that many positions ahead is chosen to explore.

        It is then unlike all judged ones. With at most five relevant documents found this is every
        tenth one, from 30 irrelevant documents in a row on: the start may have been unlucky.
        """
        dry = self.since_find + ahead
        return (
            0 < self.n_found <= _MAX_FOUND_TO_EXPLORE
            and dry >= _MIN_IRRELEVANT_TO_EXPLORE
            and dry % _EXPLORE_EVERY == 0
        )

    def farthest(self, rows: IntArray, n: int = 1) -> list[int]:
        """Choose the rows least similar to all judged documents.

        Similarity is that of the leading directions, if the pool has them.
        """
        if self._farthest is None:
            X = self._X
            first = 0
            for part in self.model.parts:
                if part.name == "directions":
                    columns = slice(first, first + part.n_columns)
                    X = self._X[:, columns].toarray().astype(np.float32)
                    break
                first += part.n_columns
            self._farthest = Farthest(X)
        return self._farthest.choose(rows, self._judged, n)

    def information_gain(self, rows: IntArray) -> FloatArray:
        """Return the expected information gain of judging each document, in nats."""
        self.refit()
        scores = self._scores
        covariance = self.model.covariance(rows, self.labels, scores, self.grades)
        return expected_information(scores[rows], np.diagonal(covariance))

    def _informative(self, candidates: IntArray, scores: FloatArray, n: int) -> list[int]:
        """Choose greedily the documents of the largest gain, each given those chosen before."""
        covariance = self.model.covariance(candidates, self.labels, scores, self.grades)
        return [
            int(candidates[index])
            for index in most_informative(scores[candidates], covariance, n)
        ]

    def _row_of(self, document: str) -> int:
        row = self._row.get(str(document))
        if row is None:
            raise DataError(f"no document {document!r:.60} in the pool")
        return row

    def save(self, path: str | Path) -> None:
        """Write judgements, words and the state of the model; the pool itself is not written."""
        header = {
            "kind": KIND,
            "documents": len(self),
            "settings": asdict(self.model.settings),
            "words": self.words,
            "fitted": self._fitted,
            "steps_fitted": [step.fitted for step in self._steps],
        }
        arrays = {
            "labels": self.labels,
            "grades": self.grades,
            "judged": np.array(list(self._judged), dtype=np.int64),
            "pulls": self._duals,
            "step_rows": np.array([step.row for step in self._steps], dtype=np.int64),
            "step_labels": np.array([step.label for step in self._steps], dtype=np.int8),
            "step_grades": np.array([step.grade for step in self._steps]),
            "step_pulls": np.array([step.duals for step in self._steps]).reshape(
                len(self._steps), len(self)
            ),
        }
        save_model(ModelContent(header, arrays, {"ids": self.ids}), path)

    def resume(self, path: str | Path) -> None:
        """Restore a saved queue of the same pool; refuses a damaged file or one of another pool."""
        content = load_model(path)
        try:
            settings, words, steps = _read_state(content, self.ids)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, DataError):
                raise DataError(error.message, file=path) from error
            raise DataError(f"not a saved review ({error})", file=path) from error
        self.model = RelevanceModel(self._X, settings, self.model.parts)
        if words or self.words:
            self.set_words(words)
        self.labels = content.arrays["labels"].copy()
        self.grades = content.arrays["grades"].copy()
        self._judged = dict.fromkeys(content.arrays["judged"].tolist())
        self._duals = content.arrays["pulls"]
        self._changed(fitted=bool(content.header["fitted"]))
        self.refit()
        self._steps = steps


def _read_state(
    content: ModelContent, ids: list[str]
) -> tuple[RelevanceSettings, dict[str, float], list[_Step]]:
    """Check what a file holds, and return settings, words and steps."""
    header = content.header
    arrays = content.arrays
    if header["kind"] != KIND:
        raise DataError(f"not a saved review but a {header['kind']!r:.40}")
    if content.lists["ids"] != ids:
        raise DataError("saved for another pool of documents")
    n = len(ids)
    n_steps = len(header["steps_fitted"])
    n_judged = int(np.count_nonzero(arrays["labels"]))
    above_zero = np.nextafter(0.0, 1.0)
    for name, dtype, shape, low, high in (
        ("pulls", np.float64, (n,), 0.0, np.inf),
        ("step_pulls", np.float64, (n_steps, n), 0.0, np.inf),
        ("labels", np.int8, (n,), -1, 1),
        ("step_labels", np.int8, (n_steps,), -1, 1),
        ("grades", np.float64, (n,), above_zero, 1.0),
        ("step_grades", np.float64, (n_steps,), above_zero, 1.0),
        ("judged", np.int64, (n_judged,), 0, n - 1),
        ("step_rows", np.int64, (n_steps,), 0, n - 1),
    ):
        values = expect_array(arrays[name], name, dtype, shape)
        if not np.all((values >= low) & (values <= high)):
            raise DataError(f"{name} must lie between {low} and {high}")
    if not np.array_equal(np.sort(arrays["judged"]), np.flatnonzero(arrays["labels"])):
        raise DataError("judged does not fit the labels")
    words = {str(word): float(strength) for word, strength in dict(header["words"]).items()}
    steps = map(
        _Step,
        arrays["step_rows"].tolist(),
        arrays["step_labels"].tolist(),
        arrays["step_grades"].tolist(),
        arrays["step_pulls"],
        map(bool, header["steps_fitted"]),
    )
    return RelevanceSettings(**header["settings"]), words, list(steps)
