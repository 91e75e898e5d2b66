"""Normal posteriors over the weights of one model, by how they hold their covariance: full, diagonal, low rank.

Column 0 is the bias, the others are the model's terms in the order in which they came. All three
are updated by the same rule and differ in what of the covariance they keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.kernels.online_compression import apply_pending_mean
from bayesift.kernels.online_experts import COUNT as TERM_COUNT
from bayesift.kernels.online_experts import PRECISION, SHIFT, count_tables
from bayesift.kernels.online_low_rank import learn_low_rank, low_rank_fields
from bayesift.kernels.online_moving_prior import learn_moving, moving_fields, moving_spreads
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
from bayesift.state import expect_array, storable

PENDING = 32  # rank-one terms that wait to be added to a full covariance together
WAITING = 16  # documents between two compressions of a low-rank posterior
LARGEST_FULL = 10_000  # weights of a full covariance: 800 MB


@dataclass(frozen=True, slots=True)
class Dynamics:
    """The prior variance of every weight, and the share of the mean kept before each document (1: all)."""

    prior: float = 1.0
    keep: float = 1.0


LearnedFields = tuple[float, Array]
tables = cache(count_tables)


class _Posterior:
    """The arrays that kernels update, the mean first, under the names that files have for them."""

    NAMES: ClassVar[tuple[str, ...]]
    _parts: tuple[Array, ...]

    @property
    def size(self) -> int:
        """How many weights there are, the bias among them."""
        return len(self._parts[0])

    def mean(self) -> Array:
        """The mean of the weights."""
        mean: Array = self._parts[-1][MEAN_SCALE] * self._parts[0]
        return mean

    def to_content(self) -> dict[str, Any]:
        """The arrays it consists of, by the names of the constructor."""
        return dict(zip(self.NAMES, self._parts, strict=True))


@storable("full-posterior")
class FullPosterior(_Posterior):
    """Mean and whole covariance."""

    kind: ClassVar[str] = "full"
    NAMES = ("mean", "covariance", "pending", "weights", "clock")
    _parts: tuple[Array, Array, Array, Array, Array]

    def __init__(
        self, mean: Array, covariance: Array, pending: Array, weights: Array, clock: Array
    ) -> None:
        self._parts = mean, covariance, pending, weights, clock

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """The prior of that many weights."""
        _check_full(size)
        covariance = dynamics.prior * np.eye(size)
        return cls(
            np.zeros(size), covariance, np.zeros((PENDING, size)), np.zeros(PENDING), new_clock()
        )

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        _check_full(size)
        mean, covariance, pending, weights, clock = self._parts
        wider = np.diag(np.full(size, (dynamics.prior - clock[RIDGE]) / clock[SCALE]))
        wider[: self.size, : self.size] = covariance
        more = ((0, 0), (0, size - self.size))
        self._parts = np.pad(mean, more[1]), wider, np.pad(pending, more), weights, clock

    def learn(
        self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics
    ) -> LearnedFields:
        """Update with each row in turn.

        Gives the log evidence, and the fields before each update.
        """
        fields = np.empty((2, len(signs)))
        noise, matrix = (
            (likelihood.code, likelihood.parameters),
            (rows.indptr, rows.indices, rows.data),
        )
        return learn_full(
            *noise, *matrix, signs, dynamics.keep, dynamics.prior, *self._parts, fields
        ), fields

    def fields(self, rows: sparse.csr_array) -> Array:
        """Means and variances of the fields of rows, 2 x documents."""
        fields = np.empty((2, rows.shape[0]))
        full_fields(rows.indptr, rows.indices, rows.data, *self._parts, fields)
        return fields

    def move_prior(self, change: Array, dynamics: Dynamics) -> None:
        """Move the mean of the prior: mean += C change / prior.

        What documents said of the weights stays.
        """
        self._parts[0][:] += (
            self.covariance() @ change / (dynamics.prior * self._parts[-1][MEAN_SCALE])
        )

    def covariance(self) -> Array:
        """The covariance of the weights."""
        _, covariance, pending, weights, clock = (part.copy() for part in self._parts)
        flush(covariance, pending, weights, clock)
        whole: Array = clock[SCALE] * covariance + np.diag(np.full(self.size, clock[RIDGE]))
        return whole

    def _post_load(self) -> None:
        """Refuse a stored posterior whose parts do not fit together.

        Kernels change what remains.
        """
        mean, covariance, pending, weights, clock = map(writable, self._parts)
        self._parts = mean, covariance, pending, weights, clock
        _check_full(len(mean))
        expect_array(mean, "mean", np.float64, (None,))
        expect_array(covariance, "covariance", np.float64, (len(mean), len(mean)))
        expect_array(pending, "pending", np.float64, (PENDING, len(mean)))
        expect_array(weights, "weights", np.float64, (PENDING,))
        check_clock(clock, PENDING)
        if not np.array_equal(covariance, covariance.T):
            raise DataError("the covariance is not symmetric")
        if np.any(clock[SCALE] * np.diagonal(covariance) + clock[RIDGE] <= 0):
            raise DataError("a variance is not above 0")


@storable("diagonal-posterior")
class DiagonalPosterior(_Posterior):
    """Mean and variances: weights count as independent."""

    kind: ClassVar[str] = "diagonal"
    NAMES = ("mean", "variances", "clock")
    _parts: tuple[Array, Array, Array]

    def __init__(self, mean: Array, variances: Array, clock: Array) -> None:
        self._parts = mean, variances, clock

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """The prior of that many weights."""
        return cls(np.zeros(size), np.full(size, float(dynamics.prior)), new_clock())

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        mean, variances, clock = self._parts
        more = np.full(size - self.size, (dynamics.prior - clock[RIDGE]) / clock[SCALE])
        self._parts = np.pad(mean, (0, len(more))), np.concatenate([variances, more]), clock

    def learn(
        self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics
    ) -> LearnedFields:
        """Update with each row in turn.

        Gives the log evidence, and the fields before each update.
        """
        fields = np.empty((2, len(signs)))
        noise, matrix = (
            (likelihood.code, likelihood.parameters),
            (rows.indptr, rows.indices, rows.data),
        )
        return learn_diagonal(
            *noise, *matrix, signs, dynamics.keep, dynamics.prior, *self._parts, fields
        ), fields

    def fields(self, rows: sparse.csr_array) -> Array:
        """Means and variances of the fields of rows, 2 x documents."""
        fields = np.empty((2, rows.shape[0]))
        diagonal_fields(rows.indptr, rows.indices, rows.data, *self._parts, fields)
        return fields

    def covariance(self) -> Array:
        """The covariance of the weights, a diagonal matrix."""
        _, variances, clock = self._parts
        return np.diag(clock[SCALE] * variances + clock[RIDGE])

    def _post_load(self) -> None:
        """Refuse a stored posterior whose parts do not fit together.

        Kernels change what remains.
        """
        mean, variances, clock = map(writable, self._parts)
        self._parts = mean, variances, clock
        expect_array(mean, "mean", np.float64, (None,))
        expect_array(variances, "variances", np.float64, mean.shape)
        check_clock(clock, 0)
        if np.any(clock[SCALE] * variances + clock[RIDGE] <= 0):
            raise DataError("a variance is not above 0")


@storable("moving-posterior")
class MovingPosterior(_Posterior):
    """Independent weights whose prior variances follow the likelihood ratio of their terms.

    What documents said is kept apart from the prior (`bayesift.kernels.online_moving_prior`), which
    moves with the counts of documents. Nothing is forgotten.
    """

    kind: ClassVar[str] = "moving"
    NAMES = ("naturals", "frequencies", "totals", "largest")
    _parts: tuple[Array, Array, Array, Array]

    def __init__(self, naturals: Array, frequencies: Array, totals: Array, largest: Array) -> None:
        self._parts = naturals, frequencies, totals, largest

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """The prior of that many weights."""
        return cls(
            np.zeros((3, size)), np.zeros(size), np.zeros(2), np.array([float(dynamics.prior)])
        )

    @property
    def size(self) -> int:
        """How many weights there are, the bias among them."""
        return len(self._parts[1])

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights of terms that no document had; nothing else moves."""
        naturals, frequencies, totals, largest = self._parts
        more = (0, size - self.size)
        self._parts = np.pad(naturals, ((0, 0), more)), np.pad(frequencies, more), totals, largest

    def learn(
        self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics
    ) -> LearnedFields:
        """Update with each row in turn.

        Gives the log evidence, and the fields before each update.
        """
        fields, room = np.empty((2, len(signs))), np.empty(int(np.diff(rows.indptr).max(initial=0)))
        noise, matrix = (
            (likelihood.code, likelihood.parameters),
            (rows.indptr, rows.indices, rows.data),
        )
        naturals, frequencies, totals, largest = self._parts
        prior, state = (largest[0], tables()), (naturals, frequencies, totals)
        return learn_moving(*noise, *matrix, signs, *prior, *state, fields, room), fields

    def fields(self, rows: sparse.csr_array) -> Array:
        """Means and variances of the fields of rows, 2 x documents."""
        fields = np.empty((2, rows.shape[0]))
        naturals, frequencies, totals, largest = self._parts
        moving_fields(
            rows.indptr,
            rows.indices,
            rows.data,
            largest[0],
            tables(),
            naturals,
            frequencies,
            totals,
            fields,
        )
        return fields

    def mean(self) -> Array:
        """The mean of the weights."""
        mean: Array = self._parts[0][SHIFT] * self._variances()
        return mean

    def covariance(self) -> Array:
        """The covariance of the weights, a diagonal matrix."""
        return np.diag(self._variances())

    def _variances(self) -> Array:
        spreads = np.empty(self.size)
        naturals, frequencies, totals, largest = self._parts
        moving_spreads(largest[0], tables(), naturals, frequencies, totals, spreads)
        return spreads

    def _post_load(self) -> None:
        """Refuse a stored posterior whose parts do not fit together.

        Kernels change what remains.
        """
        naturals, frequencies, totals, largest = map(writable, self._parts)
        self._parts = naturals, frequencies, totals, largest
        expect_array(frequencies, "frequencies", np.float64, (None,))
        expect_array(naturals, "naturals", np.float64, (3, len(frequencies)))
        expect_array(totals, "totals", np.float64, (2,))
        expect_array(largest, "largest", np.float64, (1,))
        counts = naturals[TERM_COUNT]
        whole = all(np.array_equal(part, np.floor(part)) for part in (counts, frequencies, totals))
        if (
            not whole
            or np.any(naturals[PRECISION] < 0)
            or largest[0] <= 0
            or not 0 <= totals[1] <= totals[0]
        ):
            raise DataError("the counts of the weights do not fit")
        outside, rest = frequencies - counts, totals[0] - totals[1]
        if np.any((counts < 0) | (counts > totals[1]) | (outside < 0) | (outside > rest)):
            raise DataError("the counts of the weights do not fit")


@storable("low-rank-posterior")
class LowRankPosterior(_Posterior):
    """Mean and a precision P + W W', P diagonal; see `bayesift.kernels.online_low_rank`.

    The last documents (`rows`) wait, until WAITING of them are taken into P and W together.
    """

    kind: ClassVar[str] = "low-rank"
    NAMES = ("mean", "precision", "factors", "triangle", "roots", "coefficients")
    _parts: tuple[Array, Array, Array, Array, Array, Array]

    def __init__(
        self,
        mean: Array,
        precision: Array,
        factors: Array,
        triangle: Array,
        roots: Array,
        coefficients: Array,
        rows: tuple[Array, Array, Array],
    ) -> None:
        self._parts = mean, precision, factors, triangle, roots, coefficients
        self._rows = _rows(*rows, len(mean))

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics, *, rank: int) -> Self:
        """The prior of that many weights."""
        width = rank + WAITING
        precision, factors, triangle = (
            np.full(size, 1.0 / dynamics.prior),
            np.zeros((rank, size)),
            np.eye(width),
        )
        return cls(
            np.zeros(size),
            precision,
            factors,
            triangle,
            np.zeros(WAITING),
            np.zeros(width),
            _NO_ROWS,
        )

    @property
    def rank(self) -> int:
        """How many components the precision has beside its diagonal."""
        return int(self._parts[2].shape[0])

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        mean, precision, factors, triangle, roots, coefficients = self._parts
        more = size - self.size
        precision = np.concatenate([precision, np.full(more, 1.0 / dynamics.prior)])
        factors = np.pad(factors, ((0, 0), (0, more)))
        self._parts = np.pad(mean, (0, more)), precision, factors, triangle, roots, coefficients
        self._rows = _rows(self._rows.indptr, self._rows.indices, self._rows.data, size)

    def learn(
        self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics
    ) -> LearnedFields:
        """Update with each row in turn.

        Gives the log evidence, and the fields before each update.
        """
        fields, waiting = np.empty((2, len(signs))), self._rows.shape[0]
        indptr, indices, data = matrix = self._after_waiting(rows)
        noise, workspace = (likelihood.code, likelihood.parameters), np.zeros(self.size)
        total, left = learn_low_rank(
            *noise,
            *matrix,
            signs,
            0,
            waiting,
            dynamics.keep,
            dynamics.prior,
            *self._parts,
            workspace,
            fields,
        )
        first = waiting + len(signs) - left
        start = indptr[first]
        self._rows = _rows(
            indptr[first:] - start, indices[start:].copy(), data[start:].copy(), self.size
        )
        return total, fields

    def fields(self, rows: sparse.csr_array) -> Array:
        """Means and variances of the fields of rows, 2 x documents."""
        fields = np.empty((2, rows.shape[0]))
        count, workspace = self._rows.shape[0], np.zeros(self.size)
        low_rank_fields(*self._after_waiting(rows), count, *self._parts, workspace, fields)
        return fields

    def mean(self) -> Array:
        """The mean of the weights."""
        mean, precision, factors, _, _, coefficients = self._parts
        settled, waiting = mean.copy(), self._rows
        matrix = (waiting.indptr, waiting.indices, waiting.data, 0, waiting.shape[0])
        apply_pending_mean(*matrix, settled, precision, factors, coefficients.copy())
        return settled

    def covariance(self) -> Array:
        """The covariance of the weights as a dense matrix."""
        _, precision, factors, _, roots, _ = self._parts
        waiting = self._rows.toarray() * roots[: self._rows.shape[0], np.newaxis]
        inverse: Array = np.linalg.inv(
            np.diag(precision) + factors.T @ factors + waiting.T @ waiting
        )
        return inverse

    def to_content(self) -> dict[str, Any]:
        """The arrays it consists of, by the names of the constructor."""
        rows = self._rows.indptr, self._rows.indices, self._rows.data
        return {**super().to_content(), "rows": rows}

    def _post_load(self) -> None:
        """Refuse a stored posterior whose parts do not fit together.

        Kernels change what remains.
        """
        mean, precision, factors, triangle, roots, coefficients = map(writable, self._parts)
        self._parts = mean, precision, factors, triangle, roots, coefficients
        width = self.rank + WAITING
        shapes = {
            "mean": (None,),
            "precision": mean.shape,
            "factors": (None, self.size),
            "triangle": (width, width),
        }
        shapes |= {"roots": (WAITING,), "coefficients": (width,)}
        for (name, shape), part in zip(shapes.items(), self._parts, strict=True):
            expect_array(part, name, np.float64, shape)
        if np.any(precision <= 0) or np.any(np.diagonal(triangle) <= 0) or np.any(roots < 0):
            raise DataError("the precision is not above 0")
        rows = self._rows
        if (
            rows.indptr.dtype != np.int64
            or rows.indices.dtype != np.int32
            or rows.data.dtype != np.float64
        ):
            raise DataError("the documents that wait are not rows of numbers")
        rows.check_format(full_check=True)
        if not 0 <= rows.shape[0] < WAITING or not np.all(np.isfinite(rows.data)):
            raise DataError("the documents that wait do not fit")

    def _after_waiting(self, rows: sparse.csr_array) -> tuple[Array, Array, Array]:
        """The rows that wait and then these, as CSR arrays."""
        waiting = self._rows
        indptr = np.concatenate([waiting.indptr, rows.indptr[1:] + waiting.indptr[-1]])
        return (
            indptr,
            np.concatenate([waiting.indices, rows.indices]),
            np.concatenate([waiting.data, rows.data]),
        )


_NO_ROWS = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)


def _rows(indptr: Array, indices: Array, data: Array, size: int) -> sparse.csr_array:
    """Rows whose arrays keep their types."""
    rows = sparse.csr_array((len(indptr) - 1, size))
    rows.indptr, rows.indices, rows.data = indptr, indices, data
    return rows


def new_clock() -> Array:
    """Nothing waits, nothing was forgotten; see `bayesift.kernels.online_perceptron`."""
    return np.array([0.0, 1.0, 0.0, 1.0])


def check_clock(clock: Array, places: int) -> None:
    """Refuse a clock that no posterior can have."""
    expect_array(clock, "clock", np.float64, (4,))
    if not (0 <= clock[COUNT] <= places and clock[COUNT] % 1 == 0):
        raise DataError("the updates that wait do not fit")
    if not (0 < clock[SCALE] <= 1 and clock[RIDGE] >= 0 and 0 < clock[MEAN_SCALE] <= 1):
        raise DataError("the record of what was forgotten does not fit")


def writable(array: Array) -> Array:
    """A copy that kernels may change."""
    return np.array(array, order="C")


def _check_full(size: int) -> None:
    if size > LARGEST_FULL:
        raise ValueError(
            f"a full covariance of {size:,} weights is too large; use feature_mask or covariance='low-rank'"
        )
