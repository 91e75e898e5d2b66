"""One Gaussian process over a bounded basis, and what learning it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import linalg, sparse

from bayesift.arrays import Array, FloatArray
from bayesift.errors import DataError
from bayesift.kernels.gaussian_process import (
    DocumentBlock,
    keep_columns,
    learn_block,
    take_rows,
)
from bayesift.models.online.covariances import Covariance, Rows
from bayesift.models.online.likelihoods import Likelihood
from bayesift.state import expect_array, storable

BLOCK = 128  # documents whose covariances are computed together
CHECKED_EVERY = 1024  # updates between two looks at the inverse; a multiple of BLOCK
_PREDICTED_DOCUMENTS = 512
_LEAST_TOLERANCE = 1e-10
_LARGEST_INVERSE_ERROR = 1e-3  # how far Q K of a stored process may be from the identity


@dataclass(frozen=True)
class ProcessSettings:
    """What all processes of a classifier share; see `OnlineGaussianProcess`."""

    covariance: Covariance
    likelihood: Likelihood
    tolerance: float = 1e-3
    drift_tolerance: float = 1e-8
    least_error: float = 0.0


@storable("sparse-process")
@dataclass(frozen=True, eq=False)
class SparseProcess:
    """A Gaussian process over basis vectors.

    Its mean is k(x)' alpha, its covariance k0 + k(x)' C k(x').

    Parameters
    ----------
    rows : the basis vectors, sparse rows (indptr, indices, data)
    alpha, C : of the posterior
    Q : the inverse of the covariances of the basis vectors
    n_updates : examples learned so far
    log_evidence : of all labels, each before it was learned
    """

    rows: Rows
    alpha: FloatArray
    C: FloatArray
    Q: FloatArray
    n_updates: int = 0
    log_evidence: float = 0.0

    @classmethod
    def empty(cls) -> Self:
        """Return the prior."""
        rows = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
        return cls(rows, np.empty(0), np.empty((0, 0)), np.empty((0, 0)))

    @property
    def size(self) -> int:
        """How many basis vectors there are."""
        return len(self.alpha)

    def learn(
        self,
        documents: Rows,
        labels: Array,
        settings: ProcessSettings,
        *,
        budget: int,
        n_terms: int,
        n_epochs: int = 1,
    ) -> SparseProcess:
        """Learn these documents, labelled -1 and +1, in their order.

        The result does not depend on how they are batched.
        """
        process = self
        room = _Room(self, budget, n_epochs * len(labels))
        for _ in range(n_epochs):
            start = 0
            while start < len(labels):
                stop = min(start + BLOCK - process.n_updates % BLOCK, len(labels))
                block = _slice(documents, start, stop)
                process = room.learn_block(
                    process, block, labels[start:stop], settings, n_terms
                )
                if process.n_updates % CHECKED_EVERY == 0:
                    room.refresh(process.rows, settings, n_terms)
                start = stop
        return room.posterior_of(process)

    def fields(
        self, documents: Rows, settings: ProcessSettings, n_terms: int
    ) -> tuple[Array, Array]:
        """Means and variances of the fields of documents."""
        n_documents = len(documents[0]) - 1
        means = np.empty(n_documents)
        variances = np.empty(n_documents)
        for start in range(0, n_documents, _PREDICTED_DOCUMENTS):
            stop = min(start + _PREDICTED_DOCUMENTS, n_documents)
            rows = _stacked(self.rows, _slice(documents, start, stop))
            k, own = settings.covariance.between(rows, self.size, n_terms, self.size)
            means[start:stop] = k @ self.alpha
            variances[start:stop] = np.maximum(
                own + np.einsum("ij,ij->i", k @ self.C, k), 1e-12 * own
            )
        return means, variances

    def drift(self, settings: ProcessSettings, n_terms: int) -> float:
        """How far K Q is from the identity, on a probe of signs."""
        return _drift(self.Q, _basis_covariances(self.rows, settings, n_terms))

    def marginal(self, settings: ProcessSettings, n_terms: int) -> tuple[Array, Array]:
        """Mean and covariance of the fields of the basis vectors."""
        K = _basis_covariances(self.rows, settings, n_terms)
        return K @ self.alpha, K + K @ self.C @ K

    def check(self, settings: ProcessSettings, n_terms: int) -> None:
        """Refuse a stored process whose basis, mean and matrices do not belong together."""
        m = len(expect_array(self.alpha, "alpha", np.float64, (None,)))
        for name in ("C", "Q"):
            expect_array(getattr(self, name), name, np.float64, (m, m))
        for part, name in zip(self.rows, ("indptr", "indices", "data"), strict=True):
            expect_array(
                part,
                name,
                {"indptr": np.int64, "indices": np.int32}.get(name, np.float64),
                (None,),
            )
        indptr, indices, data = self.rows
        basis = sparse.csr_array((data, indices, indptr), shape=(m, n_terms))
        basis.check_format(full_check=True)
        if (
            not basis.has_canonical_format
            or self.n_updates < m
            or not np.isfinite(self.log_evidence)
        ):
            raise DataError("its basis vectors are not sorted, or more than its updates")
        with np.errstate(all="ignore"):
            means, covariance = self.marginal(settings, n_terms)
            sound = self.drift(settings, n_terms) < _LARGEST_INVERSE_ERROR and np.all(
                np.isfinite(means)
            )
            if not (
                sound
                and np.all(np.isfinite(covariance))
                and np.all(np.diagonal(covariance) > -_LARGEST_INVERSE_ERROR)
            ):
                raise DataError(
                    "not the state of a Gaussian process: its matrices do not belong to its "
                    "basis vectors"
                )


class _Room:
    """The posterior while documents are learned, with room for all basis vectors."""

    def __init__(self, process: SparseProcess, budget: int, n_updates: int) -> None:
        self.size = process.size
        self.budget = max(budget, process.size)
        self.room = min(self.budget, self.size + n_updates)
        self.alpha = np.zeros(self.room)
        self.C, self.Q = np.zeros((2, self.room, self.room))
        self.vectors = np.zeros((12, self.room))
        m = self.size
        self.alpha[:m] = process.alpha
        self.C[:m, :m] = process.C
        self.Q[:m, :m] = process.Q

    def learn_block(
        self,
        process: SparseProcess,
        block: Rows,
        labels: Array,
        settings: ProcessSettings,
        n_terms: int,
    ) -> SparseProcess:
        rows = _stacked(process.rows, block)
        gram, own = settings.covariance.between(rows, self.size, n_terms)
        columns = np.arange(self.room)
        log_evidences = np.empty(len(labels))
        state = columns, (self.alpha, self.C, self.Q), self.vectors, self.size, self.budget
        noise = settings.likelihood
        gates = (max(settings.tolerance, _LEAST_TOLERANCE), settings.least_error)
        documents = DocumentBlock(gram, own, labels, log_evidences)
        self.size = learn_block(documents, *state, *gates, noise.code, noise.parameters)
        # Added one by one, so that the sum does not depend on the batches.
        total = float(np.cumsum(np.concatenate(([process.log_evidence], log_evidences)))[-1])
        kept = take_rows(*rows, columns[: self.size])
        return replace(
            process, rows=kept, n_updates=process.n_updates + len(labels), log_evidence=total
        )

    def refresh(self, rows: Rows, settings: ProcessSettings, n_terms: int) -> None:
        """Make C symmetric to the last bit, and compute Q anew if rounding has moved it."""
        m = self.size
        C = self.C[:m, :m]
        Q = self.Q[:m, :m]
        C[:] = 0.5 * (C + C.T)
        K = _basis_covariances(rows, settings, n_terms)
        if _drift(Q, K) > settings.drift_tolerance:
            Q[:] = linalg.cho_solve(linalg.cho_factor(K, lower=True), np.eye(m))
        Q[:] = 0.5 * (Q + Q.T)

    def posterior_of(self, process: SparseProcess) -> SparseProcess:
        m = self.size
        return replace(
            process,
            alpha=self.alpha[:m].copy(),
            C=self.C[:m, :m].copy(),
            Q=self.Q[:m, :m].copy(),
        )


def restricted(documents: Rows, kept: Array | None) -> Rows:
    """Sparse rows with the kept columns alone (a mask; all without), numbered as before."""
    return documents if kept is None else keep_columns(*documents, kept)


def _basis_covariances(rows: Rows, settings: ProcessSettings, n_terms: int) -> Array:
    gram, own = settings.covariance.between(rows, 0, n_terms, len(rows[0]) - 1)
    np.fill_diagonal(gram, own)
    return gram


def _drift(Q: FloatArray, K: Array) -> float:
    probe = np.where(np.arange(len(Q)) * 2654435761 % 4294967296 < 2147483648, 1.0, -1.0)
    return float(np.max(np.abs(Q @ (K @ probe) - probe), initial=0.0))


def _slice(rows: Rows, start: int, stop: int) -> Rows:
    indptr, indices, data = rows
    first = indptr[start]
    last = indptr[stop]
    return indptr[start : stop + 1] - first, indices[first:last], data[first:last]


def _stacked(above: Rows, below: Rows) -> Rows:
    indptr = np.concatenate((above[0], above[0][-1] + below[0][1:]))
    return indptr, np.concatenate((above[1], below[1])), np.concatenate((above[2], below[2]))
