"""Normal posteriors over the weights of one model, by how they hold their covariance: full, diagonal, low rank.

Column 0 is the bias, the others are the model's terms in the order in which they came. All three are updated by the
same rule and differ in what of the covariance they keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.online_perceptron import (
    COUNT,
    MEAN_SCALE,
    RIDGE,
    SCALE,
    diagonal_fields,
    flush,
    full_fields,
    learn_diagonal,
    learn_full,
)
from bayesift.models.online.likelihoods import Likelihood
from bayesift.models.state import Arrays

Array = np.ndarray[Any, Any]

PENDING = 32  # rank-one terms that wait to be added to a full covariance together
LARGEST_FULL = 10_000  # weights of a full covariance: 800 MB


@dataclass(frozen=True, slots=True)
class Dynamics:
    """What happens to weights before each document.

    Parameters
    ----------
    prior : variance of every weight under the prior
    keep : share of the mean that stays, 1 if nothing is forgotten
    """

    prior: float = 1.0
    keep: float = 1.0


class Posterior(Protocol):
    """What the perceptron needs of a posterior."""

    kind: ClassVar[str]

    @property
    def size(self) -> int:
        """How many weights there are, the bias among them."""
        ...

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        ...

    def learn(self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics) -> LearnedFields:
        """Update with each row in turn; gives the log evidence, and the fields before each update."""
        ...

    def fields(self, rows: sparse.csr_array) -> Array:
        """Means and variances of the fields of rows, 2 x documents."""
        ...

    def mean(self) -> Array:
        """The mean of the weights."""
        ...

    def covariance(self) -> Array:
        """The covariance of the weights as a dense matrix."""
        ...

    def to_arrays(self) -> Arrays:
        """Plain arrays for a file."""
        ...


LearnedFields = tuple[float, Array]


class FullPosterior:
    """Mean and whole covariance.

    Examples
    --------
    >>> posterior = FullPosterior.at_prior(3, Dynamics(prior=2.0))
    >>> posterior.fields(sparse.csr_array([[1.0, 0.0, 2.0]])).tolist()
    [[0.0], [10.0]]
    """

    kind: ClassVar[str] = "full"

    def __init__(self, mean: Array, covariance: Array, pending: Array, weights: Array, clock: Array) -> None:
        self._parts = mean, covariance, pending, weights, clock

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """The prior of that many weights."""
        _check_full(size)
        covariance = dynamics.prior * np.eye(size)
        return cls(np.zeros(size), covariance, np.zeros((PENDING, size)), np.zeros(PENDING), new_clock())

    @property
    def size(self) -> int:
        """How many weights there are, the bias among them."""
        return len(self._parts[0])

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        _check_full(size)
        mean, covariance, pending, weights, clock = self._parts
        wider = np.diag(np.full(size, (dynamics.prior - clock[RIDGE]) / clock[SCALE]))
        wider[: self.size, : self.size] = covariance
        more = ((0, 0), (0, size - self.size))
        self._parts = np.pad(mean, more[1]), wider, np.pad(pending, more), weights, clock

    def learn(self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics) -> LearnedFields:
        """Update with each row in turn; gives the log evidence, and the fields before each update."""
        fields = np.empty((2, len(signs)))
        noise, matrix = (likelihood.code, likelihood.parameters), (rows.indptr, rows.indices, rows.data)
        return learn_full(*noise, *matrix, signs, dynamics.keep, dynamics.prior, *self._parts, fields), fields

    def fields(self, rows: sparse.csr_array) -> Array:
        """Means and variances of the fields of rows, 2 x documents."""
        fields = np.empty((2, rows.shape[0]))
        full_fields(rows.indptr, rows.indices, rows.data, *self._parts, fields)
        return fields

    def move_prior(self, change: Array, dynamics: Dynamics) -> None:
        """Move the mean of the prior: mean += C change / prior; what documents said of the weights stays.

        Examples
        --------
        >>> posterior = FullPosterior.at_prior(2, Dynamics(prior=2.0))
        >>> posterior.move_prior(np.array([0.0, 3.0]), Dynamics(prior=2.0))
        >>> posterior.mean().tolist()
        [0.0, 3.0]
        """
        self._parts[0][:] += self.covariance() @ change / (dynamics.prior * self._parts[-1][MEAN_SCALE])

    def mean(self) -> Array:
        """The mean of the weights."""
        mean: Array = self._parts[-1][MEAN_SCALE] * self._parts[0]
        return mean

    def covariance(self) -> Array:
        """The covariance of the weights."""
        _, covariance, pending, weights, clock = (part.copy() for part in self._parts)
        flush(covariance, pending, weights, clock)
        whole: Array = clock[SCALE] * covariance + np.diag(np.full(self.size, clock[RIDGE]))
        return whole

    def to_arrays(self) -> Arrays:
        """Plain arrays for a file."""
        return dict(zip(_FULL, self._parts, strict=True))

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The inverse of `to_arrays`; refuses what does not fit together."""
        mean, covariance, pending, weights, clock = (floats(arrays, name) for name in _FULL)
        size = len(mean)
        _check_full(size)
        shapes = covariance.shape, pending.shape, weights.shape
        if shapes != ((size, size), (PENDING, size), (PENDING,)) or not np.array_equal(covariance, covariance.T):
            raise DataError("the covariance does not fit the weights")
        check_clock(clock, PENDING)
        if np.any(clock[SCALE] * np.diagonal(covariance) + clock[RIDGE] <= 0):
            raise DataError("a variance is not above 0")
        return cls(mean, covariance, pending, weights, clock)


class DiagonalPosterior:
    """Mean and variances: weights count as independent.

    Examples
    --------
    >>> posterior = DiagonalPosterior.at_prior(2, Dynamics())
    >>> posterior.grow(3, Dynamics())
    >>> posterior.covariance().diagonal().tolist()
    [1.0, 1.0, 1.0]
    """

    kind: ClassVar[str] = "diagonal"

    def __init__(self, mean: Array, variances: Array, clock: Array) -> None:
        self._parts = mean, variances, clock

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """The prior of that many weights."""
        return cls(np.zeros(size), np.full(size, float(dynamics.prior)), new_clock())

    @property
    def size(self) -> int:
        """How many weights there are, the bias among them."""
        return len(self._parts[0])

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        mean, variances, clock = self._parts
        more = np.full(size - self.size, (dynamics.prior - clock[RIDGE]) / clock[SCALE])
        self._parts = np.pad(mean, (0, len(more))), np.concatenate([variances, more]), clock

    def learn(self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics) -> LearnedFields:
        """Update with each row in turn; gives the log evidence, and the fields before each update."""
        fields = np.empty((2, len(signs)))
        noise, matrix = (likelihood.code, likelihood.parameters), (rows.indptr, rows.indices, rows.data)
        return learn_diagonal(*noise, *matrix, signs, dynamics.keep, dynamics.prior, *self._parts, fields), fields

    def fields(self, rows: sparse.csr_array) -> Array:
        """Means and variances of the fields of rows, 2 x documents."""
        fields = np.empty((2, rows.shape[0]))
        diagonal_fields(rows.indptr, rows.indices, rows.data, *self._parts, fields)
        return fields

    def mean(self) -> Array:
        """The mean of the weights."""
        mean: Array = self._parts[-1][MEAN_SCALE] * self._parts[0]
        return mean

    def covariance(self) -> Array:
        """The covariance of the weights, a diagonal matrix."""
        _, variances, clock = self._parts
        return np.diag(clock[SCALE] * variances + clock[RIDGE])

    def to_arrays(self) -> Arrays:
        """Plain arrays for a file."""
        return dict(zip(_DIAGONAL, self._parts, strict=True))

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The inverse of `to_arrays`; refuses what does not fit together."""
        mean, variances, clock = (floats(arrays, name) for name in _DIAGONAL)
        check_clock(clock, 0)
        if variances.shape != mean.shape or np.any(clock[SCALE] * variances + clock[RIDGE] <= 0):
            raise DataError("the variances do not fit the weights")
        return cls(mean, variances, clock)


_FULL = ("mean", "covariance", "pending", "weights", "clock")
_DIAGONAL = ("mean", "variances", "clock")


def new_clock() -> Array:
    """Nothing waits, nothing was forgotten; see `bayesift.kernels.online_perceptron`.

    Examples
    --------
    >>> new_clock().tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    return np.array([0.0, 1.0, 0.0, 1.0])


def check_clock(clock: Array, places: int) -> None:
    """Refuse a clock that no posterior can have.

    Examples
    --------
    >>> check_clock(new_clock(), 8)
    """
    if clock.shape != (4,) or not (0 <= clock[COUNT] <= places and clock[COUNT] % 1 == 0):
        raise DataError("the updates that wait do not fit")
    if not (0 < clock[SCALE] <= 1 and clock[RIDGE] >= 0 and 0 < clock[MEAN_SCALE] <= 1):
        raise DataError("the record of what was forgotten does not fit")


def floats(arrays: Arrays, name: str) -> Array:
    """A named array of finite numbers, in a copy that may be written to.

    Examples
    --------
    >>> floats({"mean": np.zeros(1)}, "mean").tolist()
    [0.0]
    """
    array = arrays.get(name)
    if array is None or array.dtype != np.float64 or not np.all(np.isfinite(array)):
        raise DataError(f"{name!r} must be an array of finite numbers")
    return array.copy(order="C")


def _check_full(size: int) -> None:
    if size > LARGEST_FULL:
        raise ValueError(
            f"a full covariance of {size:,} weights is too large; choose terms (supports=...) or covariance='low-rank'"
        )
