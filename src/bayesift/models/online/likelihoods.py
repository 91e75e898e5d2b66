"""Likelihoods of online models: from a field h to the probability of a label, P(y = 1 | h)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.online_moments import (
    EXACT,
    FLIP,
    GAUSSIAN,
    LOGIT,
    PAPER,
    PROBIT,
    evaluate_moments,
    expected_gains,
    information_gains,
)
from bayesift.models.base import named_or_given
from bayesift.state import storable

Gain = Literal["exact", "gaussian", "paper"]

GAINS: dict[str, int] = {"exact": EXACT, "gaussian": GAUSSIAN, "paper": PAPER}
LOGIT_BY_PROBIT = 1.6474  # the sigma0 with which the paper's probit stands for a logit


class _Field(ABC):
    """What every likelihood answers about labels under normal fields; arguments broadcast."""

    __slots__ = ()

    @property
    @abstractmethod
    def code(self) -> int:
        """The likelihood of `bayesift.kernels.online_moments`."""

    @property
    @abstractmethod
    def parameters(self) -> Array:
        """The parameters the kernels take."""

    def moments(self, y: Any, mean: Any, variance: Any) -> tuple[Array, Array, Array]:
        """Log evidence log Z of labels y (-1 or +1), d log Z / d mean, and d2 log Z / d mean2."""
        labels, means, variances, shape = _flat(y, mean, variance)
        parts = np.empty((3, len(means)))
        evaluate_moments(self.code, self.parameters, labels, means, variances, *parts)
        log_evidence, first, second = (part.reshape(shape) for part in parts)
        return log_evidence, first, second

    def log_evidence(self, y: Any, mean: Any, variance: Any) -> FloatArray:
        """Return the logarithm of P(y) with the field integrated out."""
        return self.moments(y, mean, variance)[0]

    def predictive(self, mean: Any, variance: Any) -> Array:
        """P(y = 1) with the field integrated out."""
        return np.exp(self.log_evidence(1.0, mean, variance))

    def information_gain(
        self, y: Any, mean: Any, variance: Any, *, kind: Gain = "exact"
    ) -> FloatArray:
        """How many bits a label y (-1 or +1) tells about the field, and so about the weights.

        `kind` is "exact", the Kullback-Leibler distance of the true posterior from the prior;
        "gaussian", that of the normal posterior after the update; or "paper", Chai, Ng & Chieu's
        formula, which may be negative.

        Examples
        --------
        >>> noise = FlipNoise(0.1)
        >>> [round(float(noise.information_gain(1, 0.0, 1.0, kind=kind)), 3) for kind in ("exact",
        ...     "gaussian", "paper")]
        [0.531, 0.377, 0.203]
        """
        labels, means, variances, shape = _flat(y, mean, variance)
        gains = np.empty(len(means))
        information_gains(
            _gain_code(kind), self.code, self.parameters, labels, means, variances, gains
        )
        return gains.reshape(shape)

    def expected_information_gain(
        self, mean: Any, variance: Any, *, kind: Gain = "exact"
    ) -> FloatArray:
        """Return the mean information gain over both labels, before the label is known.

        `kind` as in `information_gain`.
        """
        _, means, variances, shape = _flat(1.0, mean, variance)
        gains = np.empty(len(means))
        expected_gains(_gain_code(kind), self.code, self.parameters, means, variances, gains)
        return gains.reshape(shape)


@storable("probit-noise")
@dataclass(frozen=True, slots=True)
class ProbitNoise(_Field):
    """P(y | h) = Phi(y h / sigma0): normal noise of standard deviation sigma0 on the field.

    Examples
    --------
    >>> ProbitNoise(1.0).predictive([1.0], [3.0]).round(6).tolist()
    [0.691462]
    """

    sigma0: float = 0.5
    kind: ClassVar[str] = "probit"

    def __post_init__(self) -> None:
        if not (isinstance(self.sigma0, int | float) and 0 < self.sigma0 < np.inf):
            raise ValueError(f"sigma0 must be above 0, got {self.sigma0!r}")

    @property
    def code(self) -> int:
        """The likelihood of `bayesift.kernels.online_moments`."""
        return PROBIT

    @property
    def parameters(self) -> Array:
        """The standard deviation of the noise."""
        return np.array([self.sigma0], dtype=np.float64)


@storable("logit-noise")
@dataclass(frozen=True, slots=True)
class LogitNoise(_Field):
    """P(y | h) = 1 / (1 + exp(-y h)): logistic noise on the field.

    `by` is "quadrature", exact to rounding; or "probit", the paper's stand-in with sigma0 = 1.6474,
    in closed form.
    """

    by: Literal["quadrature", "probit"] = "quadrature"
    kind: ClassVar[str] = "logit"

    def __post_init__(self) -> None:
        if self.by not in ("quadrature", "probit"):
            raise ValueError(f"by must be 'quadrature' or 'probit', got {self.by!r}")

    @property
    def code(self) -> int:
        """The likelihood of `bayesift.kernels.online_moments`."""
        return LOGIT if self.by == "quadrature" else PROBIT

    @property
    def parameters(self) -> Array:
        """The standard deviation of the probit that stands for it."""
        return np.array([LOGIT_BY_PROBIT])


@storable("flip-noise")
@dataclass(frozen=True, slots=True)
class FlipNoise(_Field):
    """P(y | h) = kappa + (1 - 2 kappa) [y h > 0]: signs flipped with probability kappa."""

    kappa: float = 0.1
    kind: ClassVar[str] = "flip"

    def __post_init__(self) -> None:
        if not (isinstance(self.kappa, int | float) and 0 < self.kappa < 0.5):
            raise ValueError(f"kappa must lie between 0 and 1/2, got {self.kappa!r}")

    @property
    def code(self) -> int:
        """The likelihood of `bayesift.kernels.online_moments`."""
        return FLIP

    @property
    def parameters(self) -> Array:
        """The probability of a flip."""
        return np.array([self.kappa], dtype=np.float64)


Likelihood = ProbitNoise | LogitNoise | FlipNoise
LIKELIHOODS: dict[str, type[Any]] = {
    noise.kind: noise for noise in (ProbitNoise, LogitNoise, FlipNoise)
}


def likelihood_of(likelihood: Any) -> Likelihood:
    """Return a likelihood, or the one of that name."""
    own = isinstance(likelihood, ProbitNoise | LogitNoise | FlipNoise)
    found: Likelihood = (
        likelihood if own else named_or_given(likelihood, LIKELIHOODS, "likelihood")
    )
    return found


def _gain_code(kind: str) -> int:
    if kind not in GAINS:
        raise ValueError(f"no information gain {kind!r}; there are: {', '.join(GAINS)}")
    return GAINS[kind]


def _flat(y: Any, mean: Any, variance: Any) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """Labels, means and variances as flat arrays of one length, and their common shape."""
    parts = np.broadcast_arrays(
        *(np.asarray(part, dtype=np.float64) for part in (y, mean, variance))
    )
    if not np.all(np.abs(parts[0]) == 1):
        raise ValueError("labels of a field are -1 and +1")
    labels, means, variances = (np.array(part, order="C").ravel() for part in parts)
    return labels, means, variances, parts[0].shape
