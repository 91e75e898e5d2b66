"""Covariance functions of Gaussian processes over documents: how alike the fields of two documents are a priori.

Each is a function of two term vectors plus `jitter` where the vectors are equal, which keeps matrices of covariances
well conditioned. A document that is seen again is the same input, jitter included.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse
from sklearn.gaussian_process.kernels import Kernel

from bayesift.errors import DataError
from bayesift.kernels.covariances import (
    LINEAR,
    POLYNOMIAL,
    RBF,
    add_to_equal,
    covariances,
    own_covariances,
    squared_norms,
)

Array = np.ndarray[Any, Any]
Rows = tuple[Array, Array, Array]


class Covariance(Protocol):
    """A covariance function of sparse rows (indptr, indices, data)."""

    def between(self, rows: Rows, first: int, n_terms: int, n_others: int | None = None) -> tuple[Array, Array]:
        """Covariances of rows first.. with rows 0 .. n_others (without it: all before each), and with themselves."""
        ...


@dataclass(frozen=True, slots=True)
class _OfProducts:
    """What covariances that follow from x.x', |x|^2 and |x'|^2 share."""

    code: ClassVar[int]

    @property
    def parameters(self) -> Array:
        """Constant, degree or length, and jitter."""
        raise NotImplementedError

    def between(self, rows: Rows, first: int, n_terms: int, n_others: int | None = None) -> tuple[Array, Array]:
        """Covariances of rows first.. with rows 0 .. n_others (without it: all before each), and with themselves.

        Examples
        --------
        >>> rows = np.array([0, 1, 2]), np.array([0, 0], dtype=np.int32), np.array([1.0, 2.0])
        >>> gram, own = LinearCovariance().between(rows, 1, 1, 1)
        >>> gram.tolist(), own.tolist()
        ([[3.0]], [5.0001])
        """
        indptr, indices, data = rows
        n_rows, parameters = len(indptr) - 1, self.parameters
        norms, own = np.empty(n_rows), np.empty(n_rows - first)
        squared_norms(indptr, data, norms)
        own_covariances(self.code, parameters, norms[first:], own)
        gram = np.empty((n_rows - first, n_rows if n_others is None else n_others))
        others = -1 if n_others is None else n_others
        covariances(self.code, parameters, indptr, indices, data, norms, first, others, np.zeros(n_terms), gram)
        return gram, own


def _check_positive(**numbers: Any) -> None:
    for name, number in numbers.items():
        least = 0 if name in ("constant", "jitter") else None
        if not (isinstance(number, int | float) and np.isfinite(number) and (number > 0 or number == least)):
            raise ValueError(f"{name} must be a number {'from' if least == 0 else 'above'} 0, got {number!r}")


@dataclass(frozen=True, slots=True)
class LinearCovariance(_OfProducts):
    """x.x' + constant, plus jitter: the field of a perceptron with a bias (GP-1).

    Parameters
    ----------
    constant : the variance of the bias
    jitter : added where x equals x'

    Examples
    --------
    >>> LinearCovariance(constant=-1.0)
    Traceback (most recent call last):
    ValueError: constant must be a number from 0, got -1.0
    """

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


@dataclass(frozen=True, slots=True)
class PolynomialCovariance(_OfProducts):
    """(x.x' + constant)^degree, plus jitter: terms and their conjunctions (GP-2).

    Parameters
    ----------
    degree : a whole number
    constant : how much lower degrees count
    jitter : added where x equals x'

    Examples
    --------
    >>> PolynomialCovariance(degree=3).kind
    'polynomial'
    """

    degree: int = 2
    constant: float = 1.0
    jitter: float = 1e-4
    kind: ClassVar[str] = "polynomial"
    code: ClassVar[int] = POLYNOMIAL

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or not isinstance(self.degree, int) or not 1 <= self.degree <= 20:
            raise ValueError(f"degree must be a whole number from 1 to 20, got {self.degree!r}")
        _check_positive(constant=self.constant, jitter=self.jitter)

    @property
    def parameters(self) -> Array:
        """Constant, degree, jitter."""
        return np.array([self.constant, self.degree, self.jitter], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class RBFCovariance(_OfProducts):
    """exp(-|x - x'|^2 / 2 length^2), plus jitter: neighbours are alike (GP-R1).

    Parameters
    ----------
    length : how far a neighbourhood reaches
    jitter : added where x equals x'

    Examples
    --------
    >>> RBFCovariance(length=0.0)
    Traceback (most recent call last):
    ValueError: length must be a number above 0, got 0.0
    """

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


@dataclass(frozen=True, slots=True)
class KernelCovariance:
    """Any kernel of scikit-learn, plus jitter; rows are made dense a block at a time.

    Parameters
    ----------
    kernel : of `sklearn.gaussian_process.kernels`, with the parameters it has; they are not optimised
    jitter : added where x equals x'

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
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"not a kernel of scikit-learn: {self.kernel!r}")
        _check_positive(jitter=self.jitter)

    def between(self, rows: Rows, first: int, n_terms: int, n_others: int | None = None) -> tuple[Array, Array]:
        """As the other covariances."""
        indptr, indices, data = rows
        dense = sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_terms)).toarray()
        gram: Array = np.array(self.kernel(dense[first:], dense[:n_others]), dtype=np.float64)
        own: Array = np.array(self.kernel.diag(dense[first:]), dtype=np.float64) + self.jitter
        add_to_equal(indptr, indices, data, first, self.jitter, gram)
        return gram, own


COVARIANCES: dict[str, type[Any]] = {
    kind.kind: kind for kind in (LinearCovariance, PolynomialCovariance, RBFCovariance)
}


def covariance_of(kernel: Any) -> Covariance:
    """A covariance, the one of that name, or that of a scikit-learn kernel.

    Examples
    --------
    >>> covariance_of("rbf")
    RBFCovariance(length=1.0, jitter=0.0001)
    """
    if isinstance(kernel, str):
        if kernel not in COVARIANCES:
            raise ValueError(f"no kernel {kernel!r}; there are: {', '.join(COVARIANCES)}")
        named: Covariance = COVARIANCES[kernel]()
        return named
    if isinstance(kernel, Kernel):
        return KernelCovariance(kernel)
    if not isinstance(kernel, _OfProducts | KernelCovariance):
        raise ValueError(f"not a kernel: {kernel!r}")
    return kernel


def describe_covariance(kernel: Any) -> dict[str, Any] | str:
    """A covariance as JSON can hold it; a name stays a name. Kernels of scikit-learn are refused.

    Examples
    --------
    >>> describe_covariance(PolynomialCovariance())
    {'kind': 'polynomial', 'degree': 2, 'constant': 1.0, 'jitter': 0.0001}
    """
    given = covariance_of(kernel)
    if isinstance(kernel, str):
        return kernel
    if not isinstance(given, _OfProducts):
        raise DataError(f"a process with a kernel of scikit-learn cannot be saved; these can: {', '.join(COVARIANCES)}")
    return {"kind": given.kind, **asdict(given)}  # type: ignore[attr-defined]


def described_covariance(description: Any) -> Any:
    """The inverse of `describe_covariance`.

    Examples
    --------
    >>> described_covariance({"kind": "rbf", "length": 2.0})
    RBFCovariance(length=2.0, jitter=0.0001)
    """
    fields = {"kind": description} if isinstance(description, str) else description
    if not isinstance(fields, dict) or not isinstance(fields.get("kind"), str) or fields["kind"] not in COVARIANCES:
        raise DataError(f"no kernel {description!r:.40}; there are: {', '.join(COVARIANCES)}")
    if isinstance(description, str):
        return description
    try:
        return COVARIANCES[fields["kind"]](**{name: value for name, value in fields.items() if name != "kind"})
    except (TypeError, ValueError) as error:
        raise DataError(f"not a {fields['kind']} kernel: {error}") from error
