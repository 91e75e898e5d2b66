"""Links: from a score to a probability, P(y = 1 | x) = psi(f)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.special import betaln

from bayesift.arrays import Array, FloatArray
from bayesift.kernels.likelihoods import LOG_F, LOGIT, PROBIT, SQUARED_HINGE, evaluate
from bayesift.models.base import named_or_given
from bayesift.state import storable


class Link(Protocol):
    """What solvers need of a link."""

    kind: ClassVar[str]

    @property
    def code(self) -> int:
        """The link of `bayesift.kernels.likelihoods`."""

    @property
    def parameters(self) -> Array:
        """The parameters the kernels take."""

    @property
    def curvature_bound(self) -> float:
        """No second derivative of the log-likelihood is larger in size."""

    @property
    def moderation(self) -> float:
        """The k for which psi(f / sqrt(1 + k v)) is close to the mean of psi at variance v."""


@storable("logit-link")
@dataclass(frozen=True, slots=True)
class Logit:
    """The logit link, psi(f) = 1 / (1 + exp(-f))."""

    kind: ClassVar[str] = "logit"
    code: ClassVar[int] = LOGIT
    curvature_bound: ClassVar[float] = 0.25
    moderation: ClassVar[float] = math.pi / 8.0

    @property
    def parameters(self) -> Array:
        """None are needed."""
        return np.zeros(3)


@storable("probit-link")
@dataclass(frozen=True, slots=True)
class Probit:
    """The probit link, psi(f) = Phi(f), the distribution function of the standard normal."""

    kind: ClassVar[str] = "probit"
    code: ClassVar[int] = PROBIT
    curvature_bound: ClassVar[float] = 1.0
    moderation: ClassVar[float] = 1.0

    @property
    def parameters(self) -> Array:
        """None are needed."""
        return np.zeros(3)


@storable("log-f-link")
@dataclass(frozen=True, slots=True)
class LogF:
    """The symmetric log-F link of Prentice (1976), a family that holds both.

    See `bayesift.kernels.likelihoods`.

    Parameters
    ----------
    shape : 1 is the logit link, 0 the probit link, everything between lies between; log-concave
        throughout

    Examples
    --------
    >>> probabilities(LogF(shape=0.5), np.array([0.0, 1.0])).round(4).tolist()
    [0.5, 0.7757]
    """

    shape: float = 0.5
    kind: ClassVar[str] = "log-f"

    def __post_init__(self) -> None:
        if not (self.shape == 0 or 1e-6 <= self.shape <= 1):
            raise ValueError(f"shape must be 0 or lie between 1e-6 and 1, got {self.shape!r}")

    @property
    def code(self) -> int:
        """The ends have kernels of their own."""
        return {0.0: PROBIT, 1.0: LOGIT}.get(float(self.shape), LOG_F)

    @property
    def parameters(self) -> Array:
        """M = 1 / shape, the scale of scores, and log 2 B(1/2, m)."""
        if self.code != LOG_F:
            return np.zeros(3)
        m = 1.0 / self.shape
        return np.array([m, np.sqrt(2.0 / (m + 1.0)), np.log(2.0) + betaln(0.5, m)])

    @property
    def curvature_bound(self) -> float:
        """That of the log density, m c^2 / 2 = 1 / (1 + shape), bounds that of its integral."""
        return 0.25 if self.shape == 1 else 1.0 / (1.0 + self.shape)

    @property
    def moderation(self) -> float:
        """That of the normal distribution with the same slope at 0, as MacKay's pi / 8."""
        slope = float(log_likelihoods(self, np.zeros(1))[1][0]) / 2.0
        return 2.0 * math.pi * slope**2


@dataclass(frozen=True, slots=True)
class SquaredHinge:
    """The loss max(0, 1 - t)^2 of a support vector machine, used instead of a link."""

    kind: ClassVar[str] = "squared-hinge"
    code: ClassVar[int] = SQUARED_HINGE
    curvature_bound: ClassVar[float] = 2.0

    @property
    def parameters(self) -> Array:
        """None are needed."""
        return np.zeros(3)

    @property
    def moderation(self) -> float:
        """There are no probabilities to moderate."""
        raise ValueError("the squared hinge has no probabilities")


LINKS: dict[str, type[Any]] = {link.kind: link for link in (Logit, Probit, LogF)}


def link_of(link: Any) -> Link:
    """Return a link, or the one of that name."""
    found: Link = named_or_given(link, LINKS, "link")
    return found


def log_likelihoods(link: Link, margins: FloatArray) -> tuple[Array, Array, Array]:
    """Return the log-likelihood of margins y f, its derivative and minus its second one."""
    if link.code == LOGIT:
        small = np.exp(-np.abs(margins))
        near = 1.0 / (1.0 + small)
        far = small * near
        return (
            np.minimum(margins, 0.0) - np.log1p(small),
            np.where(margins > 0.0, far, near),
            near * far,
        )
    if link.code == SQUARED_HINGE:
        below = np.maximum(1.0 - margins, 0.0)
        return -(below**2), 2.0 * below, 2.0 * (below > 0.0)
    flat = np.ascontiguousarray(margins, dtype=np.float64).ravel()
    parts = np.empty((3, len(flat)))
    evaluate(link.code, link.parameters, flat, *parts)
    logarithms, derivatives, curvatures = (part.reshape(np.shape(margins)) for part in parts)
    return logarithms, derivatives, curvatures


def probabilities(link: Link, scores: FloatArray) -> Array:
    """Probabilities psi of scores."""
    return np.exp(log_likelihoods(link, scores)[0])
