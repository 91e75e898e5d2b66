"""The posterior whose precision is diagonal plus low rank, for whole vocabularies."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.online_compression import settle_mean
from bayesift.kernels.online_low_rank import learn_low_rank, low_rank_fields
from bayesift.models.online.likelihoods import Likelihood
from bayesift.models.online.posteriors import Dynamics, LearnedFields, floats
from bayesift.models.state import Arrays

Array = np.ndarray[Any, Any]

WAITING = 16  # documents between two compressions


class LowRankPosterior:
    """Mean and a precision P + W W', P diagonal; see `bayesift.kernels.online_low_rank`.

    The last documents (`rows`) wait, until WAITING of them are taken into P and W together.

    Examples
    --------
    >>> posterior = LowRankPosterior.at_prior(3, Dynamics(prior=2.0), rank=1)
    >>> posterior.fields(sparse.csr_array([[1.0, 0.0, 2.0]])).tolist()
    [[0.0], [10.0]]
    """

    kind: ClassVar[str] = "low-rank"

    def __init__(
        self,
        mean: Array,
        precision: Array,
        factors: Array,
        triangle: Array,
        roots: Array,
        coefficients: Array,
        rows: sparse.csr_array,
    ) -> None:
        self._parts = mean, precision, factors, triangle, roots, coefficients
        self._rows = rows

    @classmethod
    def at_prior(cls, size: int, dynamics: Dynamics, *, rank: int) -> Self:
        """The prior of that many weights."""
        width = rank + WAITING
        precision, factors, triangle = np.full(size, 1.0 / dynamics.prior), np.zeros((rank, size)), np.eye(width)
        return cls(np.zeros(size), precision, factors, triangle, np.zeros(WAITING), np.zeros(width), _no_rows(size))

    @property
    def size(self) -> int:
        """How many weights there are, the bias among them."""
        return len(self._parts[0])

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

    def learn(self, rows: sparse.csr_array, signs: Array, likelihood: Likelihood, dynamics: Dynamics) -> LearnedFields:
        """Update with each row in turn; gives the log evidence, and the fields before each update."""
        fields, waiting = np.empty((2, len(signs))), self._rows.shape[0]
        indptr, indices, data = self._after_waiting(rows)
        total, left = learn_low_rank(
            likelihood.code,
            likelihood.parameters,
            indptr,
            indices,
            data,
            signs,
            0,
            waiting,
            dynamics.keep,
            dynamics.prior,
            *self._parts,
            np.zeros(self.size),
            fields,
        )
        first = waiting + len(signs) - left
        start = indptr[first]
        self._rows = _rows(indptr[first:] - start, indices[start:].copy(), data[start:].copy(), self.size)
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
        settle_mean(*matrix, settled, precision, factors, coefficients.copy())
        return settled

    def covariance(self) -> Array:
        """The covariance of the weights as a dense matrix."""
        _, precision, factors, _, roots, _ = self._parts
        waiting = self._rows.toarray() * roots[: self._rows.shape[0], np.newaxis]
        inverse: Array = np.linalg.inv(np.diag(precision) + factors.T @ factors + waiting.T @ waiting)
        return inverse

    def to_arrays(self) -> Arrays:
        """Plain arrays for a file."""
        rows = {"indptr": self._rows.indptr, "indices": self._rows.indices, "data": self._rows.data}
        return {**dict(zip(_PARTS, self._parts, strict=True)), **rows}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The inverse of `to_arrays`; refuses what does not fit together."""
        mean, precision, factors, triangle, roots, coefficients = (floats(arrays, name) for name in _PARTS)
        if factors.ndim != 2 or mean.shape != factors.shape[1:] or mean.shape != precision.shape:
            raise DataError("the precision does not fit the weights")
        width = factors.shape[0] + WAITING
        if (triangle.shape, roots.shape, coefficients.shape) != ((width, width), (WAITING,), (width,)):
            raise DataError("the documents that wait do not fit")
        if np.any(precision <= 0) or np.any(np.diagonal(triangle) <= 0) or np.any(roots < 0):
            raise DataError("the precision is not above 0")
        return cls(mean, precision, factors, triangle, roots, coefficients, _checked_rows(arrays, len(mean)))

    def _after_waiting(self, rows: sparse.csr_array) -> tuple[Array, Array, Array]:
        """The rows that wait and then these, as CSR arrays."""
        waiting = self._rows
        indptr = np.concatenate([waiting.indptr, rows.indptr[1:] + waiting.indptr[-1]])
        return indptr, np.concatenate([waiting.indices, rows.indices]), np.concatenate([waiting.data, rows.data])


_PARTS = ("mean", "precision", "factors", "triangle", "roots", "coefficients")


def _no_rows(size: int) -> sparse.csr_array:
    return _rows(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0), size)


def _rows(indptr: Array, indices: Array, data: Array, size: int) -> sparse.csr_array:
    """Rows whose arrays keep their types."""
    rows = sparse.csr_array((len(indptr) - 1, size))
    rows.indptr, rows.indices, rows.data = indptr, indices, data
    return rows


def _checked_rows(arrays: Arrays, size: int) -> sparse.csr_array:
    indptr, indices = arrays.get("indptr"), arrays.get("indices")
    if indptr is None or indices is None or indptr.dtype != np.int64 or indices.dtype != np.int32 or indptr.ndim != 1:
        raise DataError("the documents that wait are missing")
    try:
        rows = _rows(indptr.copy(), indices.copy(), floats(arrays, "data"), size)
        rows.check_format()
    except (ValueError, IndexError) as error:
        raise DataError(f"the documents that wait do not fit: {error}") from error
    if not 0 <= rows.shape[0] < WAITING or np.any(np.diff(indptr) < 0):
        raise DataError("the documents that wait do not fit")
    return rows
