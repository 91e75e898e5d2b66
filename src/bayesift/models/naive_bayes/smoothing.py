"""Smoothings: from counted words to language models p(w | c).

With n the count of word w in category c, N the size of the category, K the size of the vocabulary and q(w) the
collection model:

    maximum likelihood      n / N
    Laplace                 (n + alpha) / (N + alpha K)
    Dirichlet               (n + mu q(w)) / (N + mu)
    Jelinek-Mercer          (1 - lambda) n / N + lambda q(w)
    absolute discounting    max(n - delta, 0) / N + (what was taken away) / N q(w)

A smoothing is called with `Bags` and gives log probabilities, terms x categories; the probabilities of a category sum
to one. A category without words gets the background (nothing at all under maximum likelihood).

References: Zhai & Lafferty (2004), table I; McCallum, Rosenfeld, Mitchell & Ng (1998) for the shrinkage next door.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from bayesift.models.naive_bayes.bags import Bags

Array = np.ndarray[Any, Any]


class Smoothing(Protocol):
    """What turns bags of words into log probabilities, terms x categories; `kind` names it in model files."""

    kind: ClassVar[str]

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        ...


@dataclass(frozen=True, slots=True)
class MaximumLikelihood:
    """n / N: no smoothing; words unseen in a category rule it out.

    Examples
    --------
    >>> MaximumLikelihood()
    MaximumLikelihood()
    """

    kind: ClassVar[str] = "maximum-likelihood"

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        return bags.log_mixtures(_inverse(bags.sizes), np.zeros_like(bags.sizes), bags.background)


@dataclass(frozen=True, slots=True)
class Laplace:
    """(n + alpha) / (N + alpha K): every word counted alpha times more.

    Examples
    --------
    >>> Laplace(alpha=0.1)
    Laplace(alpha=0.1)
    """

    alpha: float = 1.0
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        _check("alpha", self.alpha, self.alpha > 0, "above 0; without smoothing use MaximumLikelihood")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        added = self.alpha * bags.n_terms
        scale = 1 / (bags.sizes + added)
        return bags.log_mixtures(scale, added * scale, np.full(bags.n_terms, 1 / bags.n_terms))


@dataclass(frozen=True, slots=True)
class Dirichlet:
    """(n + mu q(w)) / (N + mu): mu words of the collection added to every category.

    Examples
    --------
    >>> Dirichlet(mu=500)
    Dirichlet(mu=500)
    """

    mu: float = 2000.0
    kind: ClassVar[str] = "dirichlet"

    def __post_init__(self) -> None:
        _check("mu", self.mu, self.mu > 0, "above 0; without smoothing use MaximumLikelihood")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        scale = 1 / (bags.sizes + self.mu)
        return bags.log_mixtures(scale, self.mu * scale, bags.background)


@dataclass(frozen=True, slots=True)
class JelinekMercer:
    """(1 - lambda) n / N + lambda q(w): a fixed share of the collection in every category.

    Examples
    --------
    >>> JelinekMercer(lambda_=0.1)
    JelinekMercer(lambda_=0.1)
    """

    lambda_: float = 0.5
    kind: ClassVar[str] = "jelinek-mercer"

    def __post_init__(self) -> None:
        _check("lambda_", self.lambda_, 0 < self.lambda_ <= 1, "above 0 and at most 1")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        share = np.where(bags.sizes > 0, self.lambda_, 1.0)
        return bags.log_mixtures((1 - share) * _inverse(bags.sizes), share, bags.background)


@dataclass(frozen=True, slots=True)
class AbsoluteDiscounting:
    """max(n - delta, 0) / N, and what was taken away spread over the collection model.

    Examples
    --------
    >>> AbsoluteDiscounting(delta=0.5)
    AbsoluteDiscounting(delta=0.5)
    """

    delta: float = 0.7
    kind: ClassVar[str] = "absolute-discounting"

    def __post_init__(self) -> None:
        _check("delta", self.delta, 0 < self.delta <= 1, "above 0 and at most 1")

    def __call__(self, bags: Bags) -> Array:
        """Log probabilities, terms x categories."""
        scale = _inverse(bags.sizes)
        share = np.where(bags.sizes > 0, bags.discounted(self.delta) * scale, 1.0)
        return bags.log_mixtures(scale, share, bags.background, self.delta)


def _inverse(sizes: Array) -> Array:
    return np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _check(name: str, value: float, valid: bool, bounds: str) -> None:
    if not (np.isfinite(value) and valid):
        raise ValueError(f"{name} must be {bounds}, got {value!r}")
