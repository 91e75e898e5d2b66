"""Normal posteriors over the weights of one model: full, diagonal or low-rank covariance.

Column 0 is the bias, the others are the model's terms in the order in which they came. All
posteriors are updated by the same rule and differ in what of the covariance they keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.entries import Entries, entries_of
from bayesift.kernels.online_compression import LowRankArrays, apply_pending_mean
from bayesift.kernels.online_experts import COUNT as TERM_COUNT
from bayesift.kernels.online_experts import PRECISION, SHIFT, count_tables
from bayesift.kernels.online_low_rank import learn_low_rank, low_rank_fields
from bayesift.kernels.online_moving_prior import (
    MovingArrays,
    learn_moving,
    moving_fields,
    moving_spreads,
)
from bayesift.kernels.online_perceptron import (
    COUNT,
    MEAN_SCALE,
    RIDGE,
    SCALE,
    DiagonalArrays,
    FullArrays,
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
    """The prior variance of weights, and the share of the mean kept before each document."""

    prior: float = 1.0
    keep: float = 1.0  # 1 keeps all


LearnedFields = tuple[float, FloatArray]
tables = cache(count_tables)


class _Posterior:
    """A named tuple of arrays that kernels update, under the names that files have for them."""

    _arrays: Any

    @property
    def size(self) -> int:
        """The number of weights, the bias among them."""
        return len(self._arrays.mean)

    def learn(
        self, rows: SparseRows, signs: FloatArray, likelihood: Likelihood, dynamics: Dynamics
    ) -> LearnedFields:
        """Update with each row in turn; returns log evidence and the fields before."""
        fields = np.empty((2, len(signs)))
        return self._learn(rows, signs, likelihood, dynamics, fields), fields

    def fields(self, rows: SparseRows) -> FloatArray:
        """Return means and variances of the fields of rows, 2 x documents."""
        fields = np.empty((2, rows.shape[0]))
        self._write_fields(rows, fields)
        return fields

    def to_content(self) -> dict[str, Any]:
        """Return the arrays by the names of the constructor."""
        content: dict[str, Any] = self._arrays._asdict()
        return content

    def _learn(
        self,
        rows: SparseRows,
        signs: FloatArray,
        likelihood: Likelihood,
        dynamics: Dynamics,
        fields: FloatArray,
    ) -> float:
        raise NotImplementedError

    def _write_fields(self, rows: SparseRows, fields: FloatArray) -> None:
        raise NotImplementedError

    def _own_arrays(self) -> None:
        """Copy arrays that were read from a file, as kernels change them."""
        self._arrays = type(self._arrays)(
            *(np.array(array, order="C") for array in self._arrays)
        )


class _ScaledPosterior(_Posterior):
    """A posterior whose stored numbers are multiplied by the scales of its clock."""

    def mean(self) -> FloatArray:
        """Return the mean of the weights."""
        mean: FloatArray = self._arrays.clock[MEAN_SCALE] * self._arrays.mean
        return mean


@storable("full-posterior")
class FullPosterior(_ScaledPosterior):
    """Mean and whole covariance."""

    kind: ClassVar[str] = "full"
    _arrays: FullArrays

    def __init__(
        self,
        mean: FloatArray,
        covariance: FloatArray,
        pending: FloatArray,
        weights: FloatArray,
        clock: FloatArray,
    ) -> None:
        self._arrays = FullArrays(mean, covariance, pending, weights, clock)

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """Return the prior of that many weights."""
        _check_full(size)
        covariance = dynamics.prior * np.eye(size)
        pending = np.zeros((PENDING, size))
        return cls(np.zeros(size), covariance, pending, np.zeros(PENDING), new_clock())

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        _check_full(size)
        mean, covariance, pending, weights, clock = self._arrays
        wider = np.diag(np.full(size, (dynamics.prior - clock[RIDGE]) / clock[SCALE]))
        wider[: self.size, : self.size] = covariance
        more = (0, size - self.size)
        pending = np.pad(pending, ((0, 0), more))
        self._arrays = FullArrays(np.pad(mean, more), wider, pending, weights, clock)

    def _learn(
        self,
        rows: SparseRows,
        signs: FloatArray,
        likelihood: Likelihood,
        dynamics: Dynamics,
        fields: FloatArray,
    ) -> float:
        noise = likelihood.code, likelihood.parameters
        forgetting = dynamics.keep, dynamics.prior
        return learn_full(*noise, entries_of(rows), signs, *forgetting, self._arrays, fields)

    def _write_fields(self, rows: SparseRows, fields: FloatArray) -> None:
        full_fields(entries_of(rows), self._arrays, fields)

    def move_prior(self, change: FloatArray, dynamics: Dynamics) -> None:
        """Move the mean of the prior: mean += C change / prior.

        What documents said of the weights stays.
        """
        scale = dynamics.prior * self._arrays.clock[MEAN_SCALE]
        self._arrays.mean[:] += self.covariance() @ change / scale

    def covariance(self) -> FloatArray:
        """Return the covariance of the weights."""
        _, covariance, pending, weights, clock = (array.copy() for array in self._arrays)
        flush(covariance, pending, weights, clock)
        whole: FloatArray = clock[SCALE] * covariance + np.diag(
            np.full(self.size, clock[RIDGE])
        )
        return whole

    def _post_load(self) -> None:
        """Refuse a stored posterior whose arrays do not fit together."""
        self._own_arrays()
        mean, covariance, pending, weights, clock = self._arrays
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
class DiagonalPosterior(_ScaledPosterior):
    """Mean and variances: weights count as independent."""

    kind: ClassVar[str] = "diagonal"
    _arrays: DiagonalArrays

    def __init__(self, mean: FloatArray, variances: FloatArray, clock: FloatArray) -> None:
        self._arrays = DiagonalArrays(mean, variances, clock)

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """Return the prior of that many weights."""
        return cls(np.zeros(size), np.full(size, float(dynamics.prior)), new_clock())

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        mean, variances, clock = self._arrays
        more = np.full(size - self.size, (dynamics.prior - clock[RIDGE]) / clock[SCALE])
        mean = np.pad(mean, (0, len(more)))
        self._arrays = DiagonalArrays(mean, np.concatenate([variances, more]), clock)

    def _learn(
        self,
        rows: SparseRows,
        signs: FloatArray,
        likelihood: Likelihood,
        dynamics: Dynamics,
        fields: FloatArray,
    ) -> float:
        noise = likelihood.code, likelihood.parameters
        forgetting = dynamics.keep, dynamics.prior
        return learn_diagonal(
            *noise, entries_of(rows), signs, *forgetting, self._arrays, fields
        )

    def _write_fields(self, rows: SparseRows, fields: FloatArray) -> None:
        diagonal_fields(entries_of(rows), self._arrays, fields)

    def covariance(self) -> FloatArray:
        """Return the covariance of the weights, a diagonal matrix."""
        _, variances, clock = self._arrays
        return np.diag(clock[SCALE] * variances + clock[RIDGE])

    def _post_load(self) -> None:
        """Refuse a stored posterior whose arrays do not fit together."""
        self._own_arrays()
        mean, variances, clock = self._arrays
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
    _arrays: MovingArrays

    def __init__(
        self,
        naturals: FloatArray,
        frequencies: FloatArray,
        totals: FloatArray,
        largest: FloatArray,
    ) -> None:
        self._arrays = MovingArrays(naturals, frequencies, totals, largest)

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics) -> Self:
        """Return the prior of that many weights."""
        largest = np.array([float(dynamics.prior)])
        return cls(np.zeros((3, size)), np.zeros(size), np.zeros(2), largest)

    @property
    def size(self) -> int:
        """The number of weights, the bias among them."""
        return len(self._arrays.frequencies)

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights of terms that no document had; nothing else moves."""
        naturals, frequencies, totals, largest = self._arrays
        more = (0, size - self.size)
        naturals = np.pad(naturals, ((0, 0), more))
        self._arrays = MovingArrays(naturals, np.pad(frequencies, more), totals, largest)

    def _learn(
        self,
        rows: SparseRows,
        signs: FloatArray,
        likelihood: Likelihood,
        dynamics: Dynamics,
        fields: FloatArray,
    ) -> float:
        noise = likelihood.code, likelihood.parameters
        room = np.empty(int(np.diff(rows.indptr).max(initial=0)))
        return learn_moving(
            *noise, entries_of(rows), signs, tables(), self._arrays, fields, room
        )

    def _write_fields(self, rows: SparseRows, fields: FloatArray) -> None:
        moving_fields(entries_of(rows), tables(), self._arrays, fields)

    def mean(self) -> FloatArray:
        """Return the mean of the weights."""
        mean: FloatArray = self._arrays.naturals[SHIFT] * self._variances()
        return mean

    def covariance(self) -> FloatArray:
        """Return the covariance of the weights, a diagonal matrix."""
        return np.diag(self._variances())

    def _variances(self) -> FloatArray:
        spreads = np.empty(self.size)
        moving_spreads(tables(), self._arrays, spreads)
        return spreads

    def _post_load(self) -> None:
        """Refuse a stored posterior whose arrays do not fit together."""
        self._own_arrays()
        naturals, frequencies, totals, largest = self._arrays
        expect_array(frequencies, "frequencies", np.float64, (None,))
        expect_array(naturals, "naturals", np.float64, (3, len(frequencies)))
        expect_array(totals, "totals", np.float64, (2,))
        expect_array(largest, "largest", np.float64, (1,))
        counts = naturals[TERM_COUNT]
        whole = all(
            np.array_equal(part, np.floor(part)) for part in (counts, frequencies, totals)
        )
        outside = frequencies - counts
        rest = totals[0] - totals[1]
        fit = [
            whole,
            np.all(naturals[PRECISION] >= 0),
            largest[0] > 0,
            0 <= totals[1] <= totals[0],
            np.all((counts >= 0) & (counts <= totals[1])),
            np.all((outside >= 0) & (outside <= rest)),
        ]
        if not all(fit):
            raise DataError("the counts of the weights do not fit")


@storable("low-rank-posterior")
class LowRankPosterior(_Posterior):
    """Mean and a precision P + W W', P diagonal; see `bayesift.kernels.online_low_rank`.

    The last documents (`rows`) wait, until WAITING of them are taken into P and W together.
    """

    kind: ClassVar[str] = "low-rank"
    _arrays: LowRankArrays

    def __init__(
        self,
        mean: FloatArray,
        precision: FloatArray,
        factors: FloatArray,
        triangle: FloatArray,
        roots: FloatArray,
        coefficients: FloatArray,
        rows: tuple[Array, Array, Array],
    ) -> None:
        self._arrays = LowRankArrays(mean, precision, factors, triangle, roots, coefficients)
        self._rows = _rows(*rows, len(mean))

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics, *, rank: int) -> Self:
        """Return the prior of that many weights."""
        width = rank + WAITING
        return cls(
            mean=np.zeros(size),
            precision=np.full(size, 1.0 / dynamics.prior),
            factors=np.zeros((rank, size)),
            triangle=np.eye(width),
            roots=np.zeros(WAITING),
            coefficients=np.zeros(width),
            rows=_NO_ROWS,
        )

    @property
    def rank(self) -> int:
        """The number of components that the precision has beside its diagonal."""
        return int(self._arrays.factors.shape[0])

    def grow(self, size: int, dynamics: Dynamics) -> None:
        """Add weights at their prior; nothing else moves."""
        more = size - self.size
        precision = np.full(more, 1.0 / dynamics.prior)
        self._arrays = self._arrays._replace(
            mean=np.pad(self._arrays.mean, (0, more)),
            precision=np.concatenate([self._arrays.precision, precision]),
            factors=np.pad(self._arrays.factors, ((0, 0), (0, more))),
        )
        self._rows = _rows(*entries_of(self._rows), size)

    def _learn(
        self,
        rows: SparseRows,
        signs: FloatArray,
        likelihood: Likelihood,
        dynamics: Dynamics,
        fields: FloatArray,
    ) -> float:
        waiting = self._rows.shape[0]
        entries = self._after_waiting(rows)
        noise = likelihood.code, likelihood.parameters
        workspace = np.zeros(self.size)
        total, left = learn_low_rank(
            *noise, entries, signs, waiting, dynamics.keep, dynamics.prior, self._arrays,
            workspace, fields,
        )  # fmt: skip
        first = waiting + len(signs) - left
        start = entries.indptr[first]
        self._rows = _rows(
            entries.indptr[first:] - start,
            entries.indices[start:].copy(),
            entries.data[start:].copy(),
            self.size,
        )
        return total

    def _write_fields(self, rows: SparseRows, fields: FloatArray) -> None:
        waiting = self._rows.shape[0]
        workspace = np.zeros(self.size)
        low_rank_fields(self._after_waiting(rows), waiting, self._arrays, workspace, fields)

    def mean(self) -> FloatArray:
        """Return the mean of the weights."""
        settled = self._arrays._replace(
            mean=self._arrays.mean.copy(), coefficients=self._arrays.coefficients.copy()
        )
        apply_pending_mean(entries_of(self._rows), 0, self._rows.shape[0], settled)
        return settled.mean

    def covariance(self) -> FloatArray:
        """Return the covariance of the weights as a dense matrix."""
        _, precision, factors, _, roots, _ = self._arrays
        waiting = self._rows.toarray() * roots[: self._rows.shape[0], np.newaxis]
        whole = np.diag(precision) + factors.T @ factors + waiting.T @ waiting
        return np.linalg.inv(whole)

    def to_content(self) -> dict[str, Any]:
        """Return the arrays by the names of the constructor."""
        return {**super().to_content(), "rows": tuple(entries_of(self._rows))}

    def _post_load(self) -> None:
        """Refuse a stored posterior whose arrays do not fit together."""
        self._own_arrays()
        width = self.rank + WAITING
        shapes: dict[str, tuple[int | None, ...]] = {
            "mean": (None,),
            "precision": (self.size,),
            "factors": (None, self.size),
            "triangle": (width, width),
            "roots": (WAITING,),
            "coefficients": (width,),
        }
        for name, shape in shapes.items():
            expect_array(getattr(self._arrays, name), name, np.float64, shape)
        _, precision, _, triangle, roots, _ = self._arrays
        if np.any(precision <= 0) or np.any(np.diagonal(triangle) <= 0) or np.any(roots < 0):
            raise DataError("the precision is not above 0")
        rows = self._rows
        if [part.dtype for part in entries_of(rows)] != [np.int64, np.int32, np.float64]:
            raise DataError("the documents that wait are not rows of numbers")
        rows.check_format(full_check=True)
        if not 0 <= rows.shape[0] < WAITING or not np.all(np.isfinite(rows.data)):
            raise DataError("the documents that wait do not fit")

    def _after_waiting(self, rows: SparseRows) -> Entries:
        """Return the rows that wait and then these."""
        waiting = self._rows
        return Entries(
            np.concatenate([waiting.indptr, rows.indptr[1:] + waiting.indptr[-1]]),
            np.concatenate([waiting.indices, rows.indices]),
            np.concatenate([waiting.data, rows.data]),
        )


_NO_ROWS = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)


def _rows(indptr: IntArray, indices: IntArray, data: FloatArray, size: int) -> SparseRows:
    """Rows whose arrays keep their types."""
    rows = sparse.csr_array((len(indptr) - 1, size))
    rows.indptr = indptr
    rows.indices = indices
    rows.data = data
    return rows


def new_clock() -> FloatArray:
    """Return the clock of a new posterior: nothing waits, nothing was forgotten.

    Its layout is that of `bayesift.kernels.online_perceptron`.
    """
    return np.array([0.0, 1.0, 0.0, 1.0])


def check_clock(clock: FloatArray, most_pending: int) -> None:
    """Refuse a clock that no posterior can have."""
    expect_array(clock, "clock", np.float64, (4,))
    if not (0 <= clock[COUNT] <= most_pending and clock[COUNT] % 1 == 0):
        raise DataError("the updates that wait do not fit")
    if not (0 < clock[SCALE] <= 1 and clock[RIDGE] >= 0 and 0 < clock[MEAN_SCALE] <= 1):
        raise DataError("the record of what was forgotten does not fit")


def _check_full(size: int) -> None:
    if size > LARGEST_FULL:
        raise ValueError(
            f"a full covariance of {size:,} weights is too large; "
            "use feature_mask or covariance='low-rank'"
        )
