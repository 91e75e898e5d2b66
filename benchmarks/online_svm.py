"""Compare exact incremental support vector machines with Bayesian online classifiers.

The online paper leaves this comparison for later. An exact incremental SVM (Cauwenberghs & Poggio
2001) and Bayesian online classifiers on the first documents of a stream; every document is decided
before it is learned. Run with `python -m benchmarks.online_svm`. Feedback in groups of ten is a
command: `bayesift filter simulate reuters --routing 10`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.models.online import (
    OnlinePerceptron,
    OnlineStackedClassifier,
)
from benchmarks.online_streams import Stream, micro_f1, stream

N_DOCUMENTS, N_CATEGORIES = 1_000, 3
UNSEEN, RESERVE, MARGIN, BOUND = 0, 1, 2, 3
_LEAST, _RIDGE = 1e-10, 1e-6


class IncrementalSVM:
    """The support vector machine of the documents learned so far, exact after each of them.

        minimise 1/2 a'Qa - sum a over 0 <= a <= C,  Q_ij = y_i y_j K_ij

    The kernel K = x x' + 1 holds the bias. A new document's a grows from 0 while those at the
    margin (0 < a < C, slope g = Qa - 1 = 0) move with it so that their slopes stay 0; what reaches
    0, C or the margin changes its set.

    Parameters
    ----------
    kernel : K of all documents that may come
    labels : -1 and +1; that of a document is read when it is learned
    C : the largest a
    """

    def __init__(self, kernel: Array, labels: Array, C: float = 1.0) -> None:
        self.kernel, self.labels, self.C = kernel, labels, C
        self.alpha, self.slopes = np.zeros(len(labels)), np.zeros(len(labels))
        self.sets = np.full(len(labels), UNSEEN)
        self.margin: list[int] = []
        self._inverse = np.zeros((0, 0))

    @property
    def n_support(self) -> int:
        """Documents with a above 0."""
        return int(np.count_nonzero(self.alpha))

    def scores(self, documents: Array) -> Array:
        """Return the decision function."""
        used = np.flatnonzero(self.alpha)
        scores: Array = self.kernel[np.ix_(documents, used)] @ (self.alpha * self.labels)[used]
        return scores

    def learn(self, document: int) -> None:
        """Add a document."""
        self.slopes[document] = (
            self.labels[document] * self.scores(np.array([document]))[0] - 1.0
        )
        self.sets[document] = RESERVE
        while self.slopes[document] < -_LEAST and self.sets[document] == RESERVE:
            self._grow(document)

    def _grow(self, c: int) -> None:
        """Let a_c grow until some document changes its set."""
        seen, margin = np.flatnonzero(self.sets != UNSEEN), np.array(self.margin, dtype=int)
        signed = self.labels[seen] * self.labels[c] * self.kernel[seen, c]
        beta = -self._inverse @ (self.labels[margin] * self.labels[c] * self.kernel[margin, c])
        mutual = (self.labels[seen, np.newaxis] * self.labels[margin]) * self.kernel[
            np.ix_(seen, margin)
        ]
        gamma = signed + mutual @ beta
        rise = float(gamma[np.searchsorted(seen, c)])
        steps = [(self.C - self.alpha[c], c, BOUND)]
        if rise > _LEAST:
            steps.append((-self.slopes[c] / rise, c, MARGIN))
        steps += _first(self.alpha[margin], -beta, margin, RESERVE)
        steps += _first(self.C - self.alpha[margin], beta, margin, BOUND)
        for kind, side in ((RESERVE, 1.0), (BOUND, -1.0)):
            mask = (self.sets[seen] == kind) & (seen != c)
            steps += _first(
                side * self.slopes[seen[mask]], -side * gamma[mask], seen[mask], MARGIN
            )
        step, which, target = min(steps)
        self.alpha[c] += step
        self.alpha[margin] += step * beta
        self.slopes[seen] += step * gamma
        self._move(which, target)

    def _move(self, document: int, target: int) -> None:
        """Put a document into another set; the inverse of the margin's Q follows."""
        if self.sets[document] == MARGIN:
            self._shrink(self.margin.index(document))
            self.alpha[document] = self.C if target == BOUND else 0.0
        elif target == BOUND:
            self.alpha[document] = self.C
        if target == MARGIN:
            self.slopes[document] = 0.0
            self._widen(document)
        self.sets[document] = target

    def _widen(self, document: int) -> None:
        """Add a row to the inverse."""
        margin = np.array(self.margin, dtype=int)
        mutual = self.labels[margin] * self.labels[document] * self.kernel[margin, document]
        beta = -self._inverse @ mutual
        column, size = np.r_[beta, 1.0], len(margin)
        rest = float(self.kernel[document, document] + mutual @ beta)
        inverse = np.zeros((size + 1, size + 1))
        inverse[:size, :size] = self._inverse
        self._inverse = inverse + np.outer(column, column) / max(rest, _LEAST)
        self.margin.append(document)

    def _shrink(self, place: int) -> None:
        kept = np.delete(np.arange(len(self.margin)), place)
        pivot, row = self._inverse[place, place], self._inverse[place, kept]
        self._inverse = self._inverse[np.ix_(kept, kept)] - np.outer(row, row) / pivot
        del self.margin[place]


def _first(
    distances: Array, speeds: Array, documents: Array, target: int
) -> list[tuple[float, int, int]]:
    """Return the first of some documents that arrives, as (step, document, set)."""
    coming = np.flatnonzero(speeds > _LEAST)
    if not len(coming):
        return []
    steps = np.maximum(distances[coming], 0.0) / speeds[coming]
    best = int(np.argmin(steps))
    return [(float(steps[best]), int(documents[coming[best]]), target)]


def kernel_of(X: Any) -> Array:
    """X x' + 1 of all documents, with a ridge that keeps those which depend on others apart."""
    kernel: Array = (X @ X.T).toarray() + 1.0
    return kernel + _RIDGE * np.eye(len(kernel))


def print_stream(name: str = "Reuters, 10") -> None:
    """Progressive micro F1 over the largest categories."""
    documents = stream(name)
    if documents is None:
        return
    X, Y = documents.X[:N_DOCUMENTS], documents.Y[:N_DOCUMENTS, :N_CATEGORIES]
    short = Stream(name, X, Y, None)
    learners: dict[str, Callable[[Stream], tuple[Array, int]]] = {
        "incremental SVM": _svm_decisions,
        "perceptron, diagonal": lambda part: (_progressive(part, prior_variance=4.0), 0),
        "perceptron, moving priors": lambda part: (
            _progressive(part, prior="likelihood-ratio", prior_variance=64.0),
            0,
        ),
        "online stack": lambda part: (
            OnlineStackedClassifier().progressive_proba(part.X, part.Y),
            0,
        ),
    }
    print(f"{name}, first {N_DOCUMENTS:,} documents, {N_CATEGORIES} categories")
    print("| learner | micro F1 | documents kept | CPU s |\n|---|---|---|---|")
    for title, learner in learners.items():
        start = time.process_time()
        probabilities, kept = learner(short)
        print(
            f"| {title} | {micro_f1(Y, probabilities):.2f} | {kept:,} | "
            f"{time.process_time() - start:.1f} |",
            flush=True,
        )


def _progressive(part: Stream, **settings: Any) -> Array:
    model = OnlinePerceptron(covariance="diagonal", **settings).partial_fit(
        part.X[:2], part.Y[:2]
    )
    return np.vstack(
        [np.full((2, part.Y.shape[1]), 0.5), model.progressive_proba(part.X[2:], part.Y[2:])]
    )


def _svm_decisions(part: Stream) -> tuple[Array, int]:
    """Return decisions made before each document is learned, and the number of documents kept.

    A decision is 1 where the decision function is above 0.
    """
    kernel, decided, kept = kernel_of(part.X), np.zeros(part.Y.shape), 0
    for c, labels in enumerate(2.0 * part.Y.T - 1.0):
        machine = IncrementalSVM(kernel, labels)
        for i in range(len(labels)):
            decided[i, c] = float(machine.scores(np.array([i]))[0] > 0)
            machine.learn(i)
        kept = max(kept, int(np.count_nonzero(machine.sets != UNSEEN)))
    return decided, kept


if __name__ == "__main__":
    print_stream()
