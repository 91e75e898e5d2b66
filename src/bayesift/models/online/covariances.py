"""Covariance functions of Gaussian processes over documents.

They say how alike the fields of two documents are a priori.

Each is a function of two term vectors plus `jitter` where the vectors are equal, which keeps
matrices of covariances well conditioned. A document that is seen again is the same input, jitter
included.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.gaussian_process import (
    LINEAR,
    POLYNOMIAL,
    RBF,
    add_to_equal,
    covariances,
    own_covariances,
    squared_norms,
)
from bayesift.models.base import named_or_given
from bayesift.state import storable, storable_late

Rows = tuple[Array, Array, Array]


_FOREIGN = "sklearn.gaussian_process.kernels"
_FOREIGN_KINDS = (
    "ConstantKernel",
    "DotProduct",
    "Exponentiation",
    "ExpSineSquared",
    "Matern",
    "Product",
    "RationalQuadratic",
    "RBF",
    "Sum",
    "WhiteKernel",
)


@cache
def _register_foreign() -> Any:
    """scikit-learn's module of kernels, whose classes files may hold from now on."""
    module = import_module(_FOREIGN)
    for name in _FOREIGN_KINDS:
        storable(f"sklearn-{name}")(getattr(module, name))
    return module


def _is_foreign(kernel: Any) -> bool:
    """Tell whether it is a kernel of scikit-learn; its module is then imported."""
    return _FOREIGN in sys.modules and isinstance(kernel, _register_foreign().Kernel)


storable_late("sklearn-", _register_foreign)


class Covariance(Protocol):
    """A covariance function of sparse rows (indptr, indices, data)."""

    def between(
        self, rows: Rows, first: int, n_terms: int, n_others: int | None = None
    ) -> tuple[Array, Array]:
        """Return covariances of rows first.. with rows before n_others, and with themselves.

        Without n_others: with all rows before each.
        """


@dataclass(frozen=True, slots=True)
class _OfProducts:
    """What covariances that follow from x.x', |x|^2 and |x'|^2 share."""

    code: ClassVar[int]

    @property
    def parameters(self) -> Array:
        """Constant, degree or length, and jitter."""
        raise NotImplementedError

    def between(
        self, rows: Rows, first: int, n_terms: int, n_others: int | None = None
    ) -> tuple[Array, Array]:
        """Return covariances of rows first.. with rows before n_others, and with themselves.

        Without n_others: with all rows before each.
        """
        indptr, indices, data = rows
        n_rows = len(indptr) - 1
        parameters = self.parameters
        norms = np.empty(n_rows)
        own = np.empty(n_rows - first)
        squared_norms(indptr, data, norms)
        own_covariances(self.code, parameters, norms[first:], own)
        gram = np.empty((n_rows - first, n_rows if n_others is None else n_others))
        others = -1 if n_others is None else n_others
        covariances(
            self.code,
            parameters,
            indptr,
            indices,
            data,
            norms,
            first,
            others,
            np.zeros(n_terms),
            gram,
        )
        return gram, own


def _check_positive(**numbers: Any) -> None:
    for name, number in numbers.items():
        least = 0 if name in ("constant", "jitter") else None
        if not (
            isinstance(number, int | float)
            and np.isfinite(number)
            and (number > 0 or number == least)
        ):
            raise ValueError(
                f"{name} must be a number {'from' if least == 0 else 'above'} 0, got {number!r}"
            )


@storable("linear-covariance")
@dataclass(frozen=True, slots=True)
class LinearCovariance(_OfProducts):
    """x.x' + constant, plus jitter where x = x': a perceptron with a bias (GP-1)."""

    constant: float = 1.0
    jitter: float = 1e-4
    kind: ClassVar[str] = "linear"
    code: ClassVar[int] = LINEAR

    def __post_init__(self) -> None:
        _check_positive(constant=self.constant, jitter=self.jitter)

    @property
    def parameters(self) -> Array:
        """Constant, nothing, jitter."""
        return np.array([self.constant, 1.0, self.jitter], dtype=np.float64)


@storable("polynomial-covariance")
@dataclass(frozen=True, slots=True)
class PolynomialCovariance(_OfProducts):
    """(x.x' + constant)^degree, plus jitter where x = x': terms and their conjunctions (GP-2)."""

    degree: int = 2
    constant: float = 1.0
    jitter: float = 1e-4
    kind: ClassVar[str] = "polynomial"
    code: ClassVar[int] = POLYNOMIAL

    def __post_init__(self) -> None:
        if (
            isinstance(self.degree, bool)
            or not isinstance(self.degree, int)
            or not 1 <= self.degree <= 20
        ):
            raise ValueError(f"degree must be a whole number from 1 to 20, got {self.degree!r}")
        _check_positive(constant=self.constant, jitter=self.jitter)

    @property
    def parameters(self) -> Array:
        """Constant, degree, jitter."""
        return np.array([self.constant, self.degree, self.jitter], dtype=np.float64)


@storable("rbf-covariance")
@dataclass(frozen=True, slots=True)
class RBFCovariance(_OfProducts):
    """exp(-|x - x'|^2 / 2 length^2), plus jitter where x = x': neighbours are alike (GP-R1)."""

    length: float = 1.0
    jitter: float = 1e-4
    kind: ClassVar[str] = "rbf"
    code: ClassVar[int] = RBF

    def __post_init__(self) -> None:
        _check_positive(length=self.length, jitter=self.jitter)

    @property
    def parameters(self) -> Array:
        """Nothing, length, jitter."""
        return np.array([0.0, self.length, self.jitter], dtype=np.float64)


@storable("kernel-covariance")
@dataclass(frozen=True, slots=True)
class KernelCovariance:
    """Any kernel of scikit-learn with fixed parameters, plus jitter.

    Rows are made dense a block at a time.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> rows = np.array([0, 1, 2]), np.array([0, 0], dtype=np.int32), np.array([1.0, 2.0])
    >>> KernelCovariance(RBF()).between(rows, 1, 1, 1)[0].round(4).tolist()
    [[0.6065]]
    """

    kernel: Any
    jitter: float = 1e-4
    kind: ClassVar[str] = "scikit-learn"

    def __post_init__(self) -> None:
        if not _is_foreign(self.kernel):
            raise ValueError(f"not a kernel of scikit-learn: {self.kernel!r}")
        _check_positive(jitter=self.jitter)

    def between(
        self, rows: Rows, first: int, n_terms: int, n_others: int | None = None
    ) -> tuple[Array, Array]:
        """As the other covariances."""
        indptr, indices, data = rows
        dense = sparse.csr_array(
            (data, indices, indptr), shape=(len(indptr) - 1, n_terms)
        ).toarray()
        gram: FloatArray = np.array(
            self.kernel(dense[first:], dense[:n_others]), dtype=np.float64
        )
        own: FloatArray = (
            np.array(self.kernel.diag(dense[first:]), dtype=np.float64) + self.jitter
        )
        add_to_equal(indptr, indices, data, first, self.jitter, gram)
        return gram, own


COVARIANCES: dict[str, type[Any]] = {
    kind.kind: kind for kind in (LinearCovariance, PolynomialCovariance, RBFCovariance)
}


def covariance_of(kernel: Any) -> Covariance:
    """Return a covariance, the one of that name, or that of a scikit-learn kernel."""
    if _is_foreign(kernel):
        return KernelCovariance(kernel)
    own = isinstance(kernel, _OfProducts | KernelCovariance)
    found: Covariance = kernel if own else named_or_given(kernel, COVARIANCES, "kernel")
    return found
