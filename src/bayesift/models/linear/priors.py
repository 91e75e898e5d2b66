"""Priors of weights: what is believed of each before a document is seen.

Every (category, term) may have a mode, a scale and a sign of its own: parameters are numbers or
arrays that broadcast to categories x terms. Priors with a concave logarithm have the `penalty` of
`bayesift.kernels.linear`; every prior is a scale mixture of normals, which is what EM needs:
`spread` gives the standard deviation it expects of a weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.models.base import named_or_given
from bayesift.state import storable


class Prior(Protocol):
    """What solvers need of a prior."""

    kind: ClassVar[str]
    convex: ClassVar[bool]
    smooth: ClassVar[bool]
    mode: Any
    sign: Any

    @property
    def strengths(self) -> tuple[Any, Any]:
        """The factors of |beta - mode| and of (beta - mode)^2 / 2 in minus the log prior."""

    @property
    def variances(self) -> Any:
        """Variances of the weights about their modes."""

    def rescaled(self, factor: Any) -> Prior:
        """Return the prior with all standard deviations multiplied.

        A column of factors has one per category.
        """

    def spread(self, distance: FloatArray, category: int) -> Array:
        """Return 1 / sqrt(E[1 / tau | distance]), tau the variance, distance = beta - mode."""

    def cost(self, distance: FloatArray, category: int) -> float:
        """Minus the log prior, without constants."""


@storable("gaussian-prior")
@dataclass(frozen=True)
class GaussianPrior:
    """Normal, of this variance about the mode: ridge.

    Parameters
    ----------
    variance : of each weight
    mode : its most probable value
    sign : 1 or -1 keeps a weight from being negative or positive, 0 leaves it free

    Examples
    --------
    >>> GaussianPrior(variance=10.0).strengths
    (0.0, 0.1)
    >>> GaussianPrior(variance=10.0).rescaled(2.0).variance
    40.0
    """

    variance: Any = 1.0
    mode: Any = 0.0
    sign: Any = 0
    kind: ClassVar[str] = "gaussian"
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_positive("variance", self.variance)
        _check_numbers(mode=self.mode, sign=self.sign)

    @property
    def strengths(self) -> tuple[Any, Any]:
        """The factors of |beta - mode| and of (beta - mode)^2 / 2."""
        return 0.0, 1.0 / self.variance

    @property
    def variances(self) -> Any:
        """Variances of the weights about their modes."""
        return self.variance

    def rescaled(self, factor: Any) -> GaussianPrior:
        """Return the prior with all standard deviations multiplied."""
        return replace(self, variance=self.variance * factor**2)

    def spread(self, distance: FloatArray, category: int) -> Array:
        """Return the standard deviation, whatever the weight."""
        return np.sqrt(row_of(self.variance, category, len(distance)))

    def cost(self, distance: FloatArray, category: int) -> float:
        """Return the sum of distance^2 / (2 variance)."""
        return float(
            np.sum(distance**2 / (2.0 * row_of(self.variance, category, len(distance))))
        )


@storable("laplace-prior")
@dataclass(frozen=True)
class LaplacePrior:
    """Double exponential, exp(-sqrt(gamma) |beta - mode|): the lasso.

    Most weights end at their mode exactly.

    Parameters
    ----------
    gamma : the square of the factor lambda of |beta - mode|; the variance is 2 / gamma
    mode, sign : as in `GaussianPrior`

    Examples
    --------
    >>> LaplacePrior(gamma=4.0).strengths
    (2.0, 0.0)
    >>> LaplacePrior.of_variance(0.5)
    LaplacePrior(gamma=4.0, mode=0.0, sign=0)
    """

    gamma: Any = 1.0
    mode: Any = 0.0
    sign: Any = 0
    kind: ClassVar[str] = "laplace"
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_positive("gamma", self.gamma)
        _check_numbers(mode=self.mode, sign=self.sign)

    @classmethod
    def of_variance(cls, variance: Any, *, mode: Any = 0.0, sign: Any = 0) -> LaplacePrior:
        """Return the prior of this variance, 2 / gamma."""
        _check_positive("variance", variance)
        return cls(gamma=2.0 / variance, mode=mode, sign=sign)

    @property
    def strengths(self) -> tuple[Any, Any]:
        """The factors of |beta - mode| and of (beta - mode)^2 / 2."""
        return np.sqrt(self.gamma)[()] if np.ndim(self.gamma) else float(
            np.sqrt(self.gamma)
        ), 0.0

    @property
    def variances(self) -> Any:
        """Variances of the weights about their modes, 2 / gamma."""
        return 2.0 / self.gamma

    def rescaled(self, factor: Any) -> LaplacePrior:
        """Return the prior with all standard deviations multiplied."""
        return replace(self, gamma=self.gamma / factor**2)

    def spread(self, distance: FloatArray, category: int) -> Array:
        """E[1 / tau] = sqrt(gamma) / |distance| (Figueiredo & Jain.

        The paper's gamma / |beta| is a misprint).
        """
        return np.sqrt(np.abs(distance)) / row_of(self.gamma, category, len(distance)) ** 0.25

    def cost(self, distance: FloatArray, category: int) -> float:
        """Return the sum of sqrt(gamma) |distance|."""
        return float(
            np.sum(np.sqrt(row_of(self.gamma, category, len(distance))) * np.abs(distance))
        )


@storable("jeffreys-prior")
@dataclass(frozen=True)
class JeffreysPrior:
    """Jeffreys' prior of the variance, p(tau) ~ 1/tau: sparse without a parameter.

    So p(beta) ~ 1/|beta|.

    The posterior is unbounded at 0 and has many local modes; the one found is that which EM reaches
    from the ridge solution (eq. 14 of Eyheramendy et al.).

    Examples
    --------
    >>> JeffreysPrior().spread(np.array([0.5, -2.0]), 0).tolist()
    [0.5, 2.0]
    """

    kind: ClassVar[str] = "jeffreys"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    mode: ClassVar[float] = 0.0
    sign: ClassVar[int] = 0

    @property
    def strengths(self) -> tuple[Any, Any]:
        """Refuse: the logarithm of the prior is not concave."""
        raise ValueError("the Jeffreys prior is not log-concave; use solver='em'")

    @property
    def variances(self) -> Any:
        """Refuse: the prior has no scale, so it has no variances."""
        raise ValueError("the Jeffreys prior has no scale to choose")

    def rescaled(self, factor: Any) -> JeffreysPrior:
        """Refuse: 1 / |beta| has no scale."""
        raise ValueError("the Jeffreys prior has no scale to choose")

    def spread(self, distance: FloatArray, category: int) -> Array:
        """E[1 / tau] = 1 / distance^2."""
        return np.abs(distance)

    def cost(self, distance: FloatArray, category: int) -> float:
        """Return the sum of log |distance| over the weights that are not 0."""
        return float(np.sum(np.log(np.abs(distance[distance != 0]))))


@storable("gamma-prior")
@dataclass(frozen=True)
class GammaPrior:
    """A gamma prior of the precision 1 / tau of each weight (Tipping 2001).

    The prior of the weight is then Student's t.

    Two solvers take it. "ard" (automatic relevance determination) integrates weights out and finds
    the variance tau of each that makes the labels most probable: most variances, and with them
    weights, end at 0. "em" finds a mode of the weights under Student's t. With shape and rate 0,
    Tipping's choice, the latter is Jeffreys' prior.

    Parameters
    ----------
    shape, rate : of the gamma distribution, as p(1 / tau) ~ (1 / tau)^(shape - 1) exp(-rate / tau)

    Examples
    --------
    >>> GammaPrior(shape=1.5, rate=4.0).spread(np.array([0.0, 4.0]), 0).round(4).tolist()
    [1.4142, 2.4495]
    """

    shape: float = 0.0
    rate: float = 0.0
    kind: ClassVar[str] = "gamma"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    mode: ClassVar[float] = 0.0
    sign: ClassVar[int] = 0

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not 0 <= value < np.inf
            ):
                raise ValueError(f"{name} must be a number of at least 0, got {value!r:.60}")

    @property
    def strengths(self) -> tuple[Any, Any]:
        """Refuse: the logarithm of the prior is not concave."""
        raise ValueError("the gamma prior is not log-concave; use solver='ard' or 'em'")

    @property
    def variances(self) -> Any:
        """Refuse: the variances are what is estimated."""
        raise ValueError(
            "the gamma prior estimates the scale of each weight; none can be chosen"
        )

    def rescaled(self, factor: Any) -> GammaPrior:
        """Refuse: the scale of each weight is estimated."""
        raise ValueError(
            "the gamma prior estimates the scale of each weight; none can be chosen"
        )

    def spread(self, distance: FloatArray, category: int) -> Array:
        """E[1 / tau] = (shape + 1/2) / (rate + distance^2 / 2)."""
        return np.sqrt((self.rate + 0.5 * distance**2) / (self.shape + 0.5))

    def cost(self, distance: FloatArray, category: int) -> float:
        """Return the sum of (shape + 1/2) log(1 + distance^2 / (2 rate)).

        Of (2 shape + 1) log |distance| if rate is 0.
        """
        if self.rate == 0:
            return float(
                (2.0 * self.shape + 1.0) * np.sum(np.log(np.abs(distance[distance != 0])))
            )
        return float((self.shape + 0.5) * np.sum(np.log1p(distance**2 / (2.0 * self.rate))))


PRIORS: dict[str, type[Any]] = {
    prior.kind: prior for prior in (GaussianPrior, LaplacePrior, JeffreysPrior, GammaPrior)
}


def prior_of(prior: Any) -> Prior:
    """Return a prior, or the one of that name with its default parameters."""
    found: Prior = named_or_given(prior, PRIORS, "prior")
    return found


def row_of(parameter: Any, category: int, n_terms: int) -> Array:
    """One category's row of a parameter that broadcasts to categories x terms."""
    return np.ascontiguousarray(np.broadcast_to(_values_of(parameter, category), (n_terms,)))


def _values_of(parameter: Any, category: int) -> Array:
    """One category's values of a parameter, which broadcast to its terms."""
    values = np.asarray(parameter, dtype=np.float64)
    return values[category if values.shape[0] > 1 else 0] if values.ndim == 2 else values


def penalty_rows(prior: Prior, category: int, n_terms: int) -> Array:
    """Return the penalty of one category's weights, in the layout of `bayesift.kernels.linear`."""
    rows = np.empty((5, n_terms))
    for row, parameter in zip(rows[:3], (*prior.strengths, prior.mode), strict=True):
        row[:] = _values_of(parameter, category)
    sign = _values_of(prior.sign, category)
    rows[3] = np.where(sign > 0, 0.0, -np.inf)
    rows[4] = np.where(sign < 0, 0.0, np.inf)
    return rows


def is_shared(prior: Prior) -> bool:
    """Whether all categories have the same prior."""
    return not any(np.ndim(value) == 2 for value in vars(prior).values())


def shares_scale(prior: Prior) -> bool:
    """Whether the priors of all categories differ in their modes at most."""
    return not any(np.ndim(value) == 2 for name, value in vars(prior).items() if name != "mode")


def _check_numbers(**parameters: Any) -> None:
    for name, value in parameters.items():
        if np.asarray(value).dtype.kind not in "biuf" or not np.all(np.isfinite(value)):
            raise ValueError(
                f"{name} must be a number or an array of numbers, got {value!r:.60}"
            )


def _check_positive(name: str, value: Any) -> None:
    if (
        np.asarray(value).dtype.kind not in "iuf"
        or not np.all(np.asarray(value) > 0)
        or not np.all(np.isfinite(value))
    ):
        raise ValueError(f"{name} must be positive, got {value!r:.60}")
