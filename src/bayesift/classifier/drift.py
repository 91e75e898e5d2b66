"""Drift of a stream: which words changed sides since when, and when calibration slipped.

Documents are counted in windows of equal length. When there are too many windows, neighbours are
merged, so that memory stays bounded and a stream always has at least half as many windows as are
allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse

from bayesift.arrays import FloatArray, IntArray, SparseRows
from bayesift.errors import DataError


@dataclass(frozen=True, slots=True)
class ChangedWord:
    """A word that spoke for a category and now speaks against it, or the other way round.

    Parameters
    ----------
    since : how many documents had been learned when it changed, up to the length of a window
    before, after : log odds ratios of word and category up to then, and from then on
    """

    word: str
    category: str
    since: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class CalibrationWindow:
    """Agreement of the probability of the likeliest category with labels, in a part of a stream.

    Parameters
    ----------
    first, last : numbers of the documents, in the order they were learned, from 1
    confidence, accuracy : mean probability of the likeliest category, and how often it was right
    slipped : whether the two differ by more than chance explains
    """

    first: int
    last: int
    confidence: float
    accuracy: float
    slipped: bool


@dataclass
class _Window:
    """Sums over documents.

    `sums` are their number, how often the likeliest category was right, and mean and variance of
    that as predicted; `held` counts documents, words x (1 + categories), with all documents in
    column 0, and `members` those of a column.
    """

    sums: FloatArray = field(default_factory=lambda: np.zeros(4))
    held: SparseRows = field(default_factory=lambda: sparse.csr_array((1, 1)))
    members: FloatArray = field(default_factory=lambda: np.zeros(1))

    @property
    def n(self) -> int:
        """The number of documents."""
        return int(self.sums[0])

    def plus(self, other: _Window) -> _Window:
        """Add the sums of both."""
        shape = tuple(np.maximum(self.held.shape, other.held.shape).tolist())
        held = _resized(self.held, shape) + _resized(other.held, shape)
        members = np.zeros(shape[1])
        for part in (self, other):
            members[: len(part.members)] += part.members
        return _Window(self.sums + other.sums, held, members)


@dataclass
class StreamDrift:
    """Watches what a stream brings, and tells how it changed.

    Parameters
    ----------
    window : how many documents a window has at first
    max_windows : how many windows there are before neighbours are merged
    strength : standard errors by which a word must have spoken for one side, and later for the
        other; and by which calibration must be off. The default leaves few false alarms among
        millions of pairs of word and category.

    Examples
    --------
    >>> drift = StreamDrift(window=50)
    >>> rows, member = np.tile(np.eye(2), (200, 1)), np.tile(np.eye(2), (200, 1))
    >>> member[200:] = 1 - member[200:]  # each word now comes with the other category
    >>> drift.add(rows, member, np.where(member[::-1], 0.1, 0.9))
    >>> change = drift.changed_words(["up", "down"], ["good", "bad"])[0]
    >>> change.word, change.since, change.before > 0 > change.after
    ('up', 200, True)
    """

    window: int = 100
    max_windows: int = 32
    strength: float = 4.0
    _windows: list[_Window] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if (
            self.window < 1
            or self.max_windows < 2
            or self.max_windows % 2
            or not self.strength > 0
        ):
            raise ValueError("window and strength must be positive, and max_windows even")

    def add(self, rows: Any, member: Any, probabilities: Any) -> None:
        """Count documents x words and x categories, and the probabilities predicted of these."""
        X = sparse.csr_array(rows)
        Y = np.asarray(member, dtype=np.float64)
        P = np.asarray(probabilities, dtype=np.float64)
        start = 0
        while start < X.shape[0]:
            if not self._windows or self._windows[-1].n >= self.window:
                self._open_window()
            end = min(start + self.window - self._windows[-1].n, X.shape[0])
            self._windows[-1] = self._windows[-1].plus(
                _counted(X[start:end], Y[start:end], P[start:end])
            )
            start = end

    def calibration(self) -> list[CalibrationWindow]:
        """Compute confidence and accuracy of each window."""
        found = []
        first = 1
        for window in self._windows:
            n, hits, expected, variance = window.sums.tolist()
            off = abs(hits - expected) > self.strength * math.sqrt(variance + 1.0)
            found.append(
                CalibrationWindow(first, first + window.n - 1, expected / n, hits / n, off)
            )
            first += window.n
        return found

    def changed_words(
        self, words: Sequence[str], categories: Sequence[str]
    ) -> list[ChangedWord]:
        """Find the words that changed sides, the largest changes first.

        `words` and `categories` name the columns.
        """
        found: list[tuple[float, ChangedWord]] = []
        for index, category in enumerate(categories):
            for column, cut, before, after in self._changes(1 + index):
                change = ChangedWord(words[column], category, cut, before, after)
                found.append((abs(after - before), change))
        found.sort(key=lambda pair: -pair[0])
        return [change for _, change in found]

    def to_record(self) -> dict[str, Any]:
        """Return all counts as JSON can hold them."""
        windows = []
        for window in self._windows:
            held = window.held.tocoo()
            parts = {
                "words": held.row,
                "columns": held.col,
                "counts": held.data,
                "members": window.members,
            }
            listed = {name: array.astype(int).tolist() for name, array in parts.items()}
            windows.append(
                {"sums": window.sums.tolist(), "shape": list(window.held.shape), **listed}
            )
        return {
            "window": self.window,
            "max_windows": self.max_windows,
            "strength": self.strength,
            "windows": windows,
        }

    @classmethod
    def from_record(cls, record: Any) -> Self:
        """Read what `to_record` returned; raises `DataError` if it is something else."""
        try:
            drift = cls(record["window"], record["max_windows"], record["strength"])
            for part in record["windows"]:
                entries = (
                    np.array(part["counts"], dtype=np.float64),
                    (part["words"], part["columns"]),
                )
                held = sparse.csr_array(entries, shape=tuple(part["shape"]))
                sums, members = (
                    np.array(part[name], dtype=np.float64) for name in ("sums", "members")
                )
                drift._windows.append(_Window(sums, held, members))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not the counts of a stream's drift ({error})") from error
        return drift

    def _open_window(self) -> None:
        if len(self._windows) == self.max_windows:
            pairs = zip(self._windows[::2], self._windows[1::2], strict=True)
            self._windows = [first.plus(second) for first, second in pairs]
            self.window *= 2
        self._windows.append(_Window())

    def _changes(self, index: int) -> Iterator[tuple[int, int, float, float]]:
        """Find column, documents before the change, and both log odds ratios of changed words."""
        columns, held, joint, sizes, members = self._cumulated(index)
        if len(sizes) < 2 or not len(columns):
            return
        cuts = slice(0, len(sizes) - 1)
        before, before_error = _log_odds_ratio(
            held[cuts], joint[cuts], sizes[cuts], members[cuts]
        )
        rest = (part[-1] - part[cuts] for part in (held, joint, sizes, members))
        after, after_error = _log_odds_ratio(*rest)
        weakest = np.minimum(np.abs(before) / before_error, np.abs(after) / after_error)
        changed = (before * after < 0) & (weakest >= self.strength)
        distance = np.where(
            changed, np.abs(after - before) / np.hypot(before_error, after_error), -1.0
        )
        best = np.argmax(distance, axis=0)
        for word in np.flatnonzero(changed.any(axis=0)).tolist():
            cut = int(best[word])
            yield (
                int(columns[word]),
                int(sizes[cut, 0]),
                float(before[cut, word]),
                float(after[cut, word]),
            )

    def _cumulated(
        self, index: int
    ) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Find columns of words frequent enough to change sides, and cumulate their counts.

        The counts are windows x words and windows x 1.
        """
        whole = tuple(
            np.max([window.held.shape for window in self._windows], axis=0, initial=1).tolist()
        )
        total = np.zeros(whole[0])
        for window in self._windows:
            total[: window.held.shape[0]] += window.held[:, [0]].toarray()[:, 0]
        columns = np.flatnonzero(total >= self.strength**2)
        held, joint = np.zeros((2, len(self._windows), len(columns)))
        sizes, members = np.zeros((2, len(self._windows), 1))
        for row, window in enumerate(self._windows):
            counts = _resized(window.held, (whole[0], max(whole[1], index + 1)))[columns][
                :, [0, index]
            ].toarray()
            held[row], joint[row] = counts.T
            sizes[row] = window.n
            members[row] = window.members[index] if index < len(window.members) else 0
        held, joint, sizes, members = (
            part.cumsum(axis=0) for part in (held, joint, sizes, members)
        )
        return columns, held, joint, sizes, members


def _counted(X: SparseRows, Y: FloatArray, P: FloatArray) -> _Window:
    """Sum over some documents."""
    groups = np.hstack([np.ones((X.shape[0], 1)), Y])
    held = sparse.csr_array((X != 0).astype(np.float64).T @ sparse.csr_array(groups))
    top = np.arange(len(P)), np.argmax(P, axis=1)
    variances = P[top] * (1 - P[top])
    sums = np.array([len(P), Y[top].sum(), P[top].sum(), variances.sum()])
    return _Window(sums, held, groups.sum(axis=0))


def _resized(matrix: SparseRows, shape: tuple[int, ...]) -> SparseRows:
    wider = matrix.copy()
    wider.resize(shape)
    return wider


def _log_odds_ratio(
    held: FloatArray, joint: FloatArray, sizes: FloatArray, members: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute the log odds ratio of word and category, and its standard error.

    1/2 is added to each count.
    """
    cells = (
        np.array([joint, held - joint, members - joint, sizes - held - members + joint]) + 0.5
    )
    a, b, c, d = np.log(cells)
    return a - b - c + d, np.sqrt((1 / cells).sum(axis=0))
