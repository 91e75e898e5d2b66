"""Ranking of a fixed pool, such as the records found for a systematic review."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.special import expit, xlogy

from bayesift.errors import DataError
from bayesift.filtering.pool import Pool
from bayesift.filtering.relevance import RelevanceModel, RelevanceSettings
from bayesift.knowledge import Coverage, TermIndex, TermKnowledge
from bayesift.knowledge.resolving import resolve
from bayesift.model_file import ModelContent, load_model, save_model
from bayesift.text import TermVectorizer
from bayesift.validation import check_terms

Array = np.ndarray[Any, Any]
Order = Literal["relevance", "information", "mixture"]

KIND = "review-queue"
UNDO_STEPS = 100
_CANDIDATES = 500  # documents of the highest scores among which information is sought
_RELEVANT = "relevant"


@dataclass(frozen=True, eq=False)
class _Step:
    """What `undo` puts back: the label a judgement changed, and the model before it."""

    row: int
    label: int
    pulls: Array
    fitted: bool


class ReviewQueue:
    """A pool of documents, the judgements so far, and which documents to look at next.

    Every judgement and every word typed in takes effect at once: the model (`bayesift.filtering.relevance`) is
    refitted from where it stood when the next documents are asked for. The same calls give the same answers, also
    when the queue is saved and read again in between.

    Parameters
    ----------
    X : the pool, documents x columns, of length one or so each as those of `Pool.of_texts` are
    ids : names of the documents; their row numbers, as text, without
    index : the terms of the first columns, which words typed in need
    settings : of the model

    Attributes
    ----------
    labels : 1 for relevant, -1 for irrelevant, 0 for not yet judged

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
        settings: RelevanceSettings | None = None,
    ) -> None:
        rows = check_terms(None, X)
        self.ids = [str(row) for row in range(rows.shape[0])] if ids is None else [str(name) for name in ids]
        self._row = {name: row for row, name in enumerate(self.ids)}
        if len(self._row) != rows.shape[0]:
            raise DataError(f"{len(self._row)} different ids for {rows.shape[0]} documents")
        self.index = index
        self.model = RelevanceModel(rows, settings or RelevanceSettings())
        self.labels = np.zeros(rows.shape[0], dtype=np.int8)
        self.words: dict[str, float] = {}
        self._offsets = np.zeros(rows.shape[0])
        self._pulls = np.zeros(rows.shape[0])
        self._fitted = True
        self._steps: list[_Step] = []

    @classmethod
    def of_texts(
        cls,
        texts: Iterable[str],
        *,
        ids: Sequence[str] | None = None,
        vectorizer: TermVectorizer | None = None,
        settings: RelevanceSettings | None = None,
    ) -> Self:
        """The queue of texts, as `Pool.of_texts` unless a vectorizer is given."""
        if vectorizer is None:
            pool = Pool.of_texts(texts)
        else:
            X = vectorizer.fit_transform(texts)
            pool = Pool(X, TermIndex.of(vectorizer, X))
        return cls(pool.X, ids=ids, index=pool.index, settings=settings)

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
    def unseen(self) -> Array:
        """The rows of the documents that are not judged."""
        return np.flatnonzero(self.labels == 0)

    @property
    def scores(self) -> Array:
        """The score of every document, higher for those more probably relevant; refits if something changed."""
        if not self._fitted:
            self._pulls = self.model.fit(self.labels, self._pulls, self._offsets)
            self._fitted = True
        return self.model.scores(self.labels, self._pulls, self._offsets)

    def judge(self, document: str, relevant: bool) -> None:
        """Take in a judgement; of a document judged before it is the last one that counts."""
        row, label = self._row_of(document), 1 if relevant else -1
        self._steps.append(_Step(row, int(self.labels[row]), self._pulls, self._fitted))
        del self._steps[:-UNDO_STEPS]
        if self.labels[row] != label:
            self._pulls = self._pulls.copy()
            self._pulls[row] = 0.0
        self.labels[row] = label
        self._fitted = False

    def undo(self) -> str:
        """Take back the last judgement, up to `UNDO_STEPS` of them; gives the document's id."""
        if not self._steps:
            raise DataError("no judgement to take back")
        step = self._steps.pop()
        self.labels[step.row] = step.label
        self._pulls, self._fitted = step.pulls, step.fitted
        return self.ids[step.row]

    def say(self, words: Mapping[str, float]) -> Coverage:
        """Say which words speak for (or, negative, against) relevance; what was said before is replaced.

        Parameters
        ----------
        words : what a document that holds the word gains in log odds of being relevant

        Returns
        -------
        which words the pool has; the others have no effect
        """
        if self.index is None:
            raise DataError("this queue was made of vectors without their terms; give `index`")
        knowledge = TermKnowledge.from_keywords({_RELEVANT: dict(words)})
        rows, coverage = resolve(knowledge, [_RELEVANT], self.index)
        modes = np.zeros(self.model.X.shape[1])
        for column, said in rows[0].items():
            modes[column] = said.mode or 0.0
        self.words = {word: float(strength) for word, strength in words.items()}
        self._offsets = self.model.X @ modes
        self._fitted = False
        self._steps.clear()
        return coverage

    def next_documents(self, n: int = 1, *, by: Order = "relevance", information_share: float = 0.2) -> list[str]:
        """The next documents to look at, the first first.

        Parameters
        ----------
        n : how many; fewer when no more are left
        by : "relevance", the highest scores; "information", those whose judgements are expected to say most about
            the model, each given those before it, so that a batch is no sheaf of near copies; or a "mixture"
        information_share : of a mixture, spread evenly over the batch; of single documents, over the judgements
        """
        if by not in get_args(Order):
            raise ValueError(f"by must be one of {', '.join(get_args(Order))}, got {by!r}")
        scores, unseen = self.scores, self.unseen
        ranked = unseen[np.argsort(-scores[unseen], kind="stable")]
        places = _information_places(n, by, information_share, self.n_judged)
        if not places.any():
            return [self.ids[row] for row in ranked[:n]]
        informative = iter(self._informative(ranked[:_CANDIDATES], scores, min(n, int(places.sum()))))
        chosen: dict[int, None] = {}
        relevant = iter(ranked)
        for wants_information in places[: len(ranked)]:
            source = informative if wants_information else relevant
            row = next((int(row) for row in source if int(row) not in chosen), None)
            if row is None:
                row = next(int(row) for row in relevant if int(row) not in chosen)
            chosen[row] = None
        return [self.ids[row] for row in chosen]

    def information_gain(self, rows: Array) -> Array:
        """How many nats the judgement of each document is expected to say about the model."""
        scores = self.scores
        covariance = self.model.variances(rows, self.labels, scores)
        return _information(scores[rows], np.diagonal(covariance))

    def _informative(self, candidates: Array, scores: Array, n: int) -> list[int]:
        """Greedily the documents of the largest gain; the covariance is that given those chosen before."""
        covariance = self.model.variances(candidates, self.labels, scores)
        chosen: list[int] = []
        for _ in range(min(n, len(candidates))):
            gains = _information(scores[candidates], np.diagonal(covariance))
            gains[chosen] = -np.inf
            best = int(np.argmax(gains))
            chosen.append(best)
            chance = expit(scores[candidates[best]])
            noise = 1.0 / max(chance * (1.0 - chance), 1e-6)
            column = covariance[:, best]
            covariance = covariance - np.outer(column, column) / (column[best] + noise)
        return [int(candidates[place]) for place in chosen]

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
            "pulls": self._pulls,
            "step_rows": np.array([step.row for step in self._steps], dtype=np.int64),
            "step_labels": np.array([step.label for step in self._steps], dtype=np.int8),
            "step_pulls": np.array([step.pulls for step in self._steps]).reshape(len(self._steps), len(self)),
        }
        save_model(ModelContent(header, arrays, {"ids": self.ids}), path)

    def resume(self, path: str | Path) -> None:
        """Go on where a queue of the same pool was saved; a file of another pool, or a damaged one, is refused."""
        content = load_model(path)
        try:
            settings, words, steps = _read_state(content, self.ids)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, DataError):
                raise DataError(error.message, file=path) from error
            raise DataError(f"not a saved review ({error})", file=path) from error
        self.model = RelevanceModel(self.model.X, settings)
        if words or self.words:
            self.say(words)
        self.labels = content.arrays["labels"].copy()
        self._pulls, self._fitted = content.arrays["pulls"], bool(content.header["fitted"])
        self._steps = steps


def _information_places(n: int, by: Order, share: float, n_judged: int) -> Array:
    """Which of the next n places go to information: in a mixture those where another whole one is due."""
    if not 0 <= share <= 1:
        raise ValueError(f"information_share must lie between 0 and 1, got {share!r}")
    if by != "mixture":
        return np.full(n, by == "information")
    due = np.floor(share * (n_judged + np.arange(n + 1)) + 1e-9)
    places: Array = np.diff(due) > 0
    return places


def _information(means: Array, variances: Array) -> Array:
    """H(E p) - E H(p) of labels with normal scores, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    chances = expit(means[:, np.newaxis] + np.sqrt(np.maximum(variances, 0.0))[:, np.newaxis] * nodes)
    weights = weights / math.sqrt(2.0 * math.pi)
    return _entropy(chances @ weights) - _entropy(chances) @ weights


def _entropy(p: Array) -> Array:
    entropy: Array = -xlogy(p, p) - xlogy(1.0 - p, 1.0 - p)
    return entropy


def _read_state(content: ModelContent, ids: list[str]) -> tuple[RelevanceSettings, dict[str, float], list[_Step]]:
    header, arrays = content.header, content.arrays
    if header["kind"] != KIND:
        raise DataError(f"not a saved review but a {header['kind']!r:.40}")
    if content.lists["ids"] != ids:
        raise DataError("saved for another pool of documents")
    n, steps = len(ids), len(header["steps_fitted"])
    shapes = {"labels": (n,), "pulls": (n,), "step_rows": (steps,), "step_labels": (steps,), "step_pulls": (steps, n)}
    for name, shape in shapes.items():
        kind = "f" if name.endswith("pulls") else "i"
        if arrays[name].shape != shape or arrays[name].dtype.kind != kind:
            raise DataError(f"{name} does not fit the pool")
    for name in ("pulls", "step_pulls"):
        if not np.all(np.isfinite(arrays[name])) or np.any(arrays[name] < 0):
            raise DataError(f"{name} must be finite and not negative")
    for name in ("labels", "step_labels"):
        if np.any(np.abs(arrays[name]) > 1):
            raise DataError(f"{name} must be -1, 0 or 1")
    if np.any((arrays["step_rows"] < 0) | (arrays["step_rows"] >= n)):
        raise DataError("step_rows does not fit the pool")
    words = {str(word): float(strength) for word, strength in dict(header["words"]).items()}
    columns = zip(arrays["step_rows"], arrays["step_labels"], arrays["step_pulls"], header["steps_fitted"], strict=True)
    history = [_Step(int(row), int(label), pulls, bool(fitted)) for row, label, pulls, fitted in columns]
    return RelevanceSettings(**header["settings"]), words, history
