"""How strong a prior: what a rule that chooses its scale needs, and BBR's default.

A scale multiplies the standard deviations of the prior about its modes, for all weights of a model alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from bayesift.models.linear.path import Progress, prior_spread
from bayesift.models.linear.problem import Problem

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Validation:
    """What each scale that was looked at is worth; a column a model, or one for all where they share a scale.

    Parameters
    ----------
    scales : what the standard deviations of the prior were multiplied by, steps x models
    losses : minus the mean held-out log-likelihood, or minus the log evidence; NaN where a search ended before
    errors : the standard error of each loss over the folds; NaN for the evidence
    chosen : the scale of each column
    """

    scales: Array
    losses: Array
    errors: Array
    chosen: Array


@dataclass(frozen=True, eq=False)
class Choice:
    """One scale a model, and how it was found."""

    scales: Array
    validation: Validation | None = None


class ScaleRule(Protocol):
    """Chooses how strong the prior of each model is."""

    kind: ClassVar[str]

    def choose(self, problem: Problem, solver: str, n_jobs: int | None, progress: Progress | None) -> Choice:
        """The scales of all models."""
        ...


@dataclass(frozen=True)
class FixedScale:
    """The standard deviations of the prior, all multiplied by one number.

    Examples
    --------
    >>> FixedScale(2.0)
    FixedScale(factor=2.0)
    """

    factor: float = 1.0
    kind: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise ValueError(f"prior_scale must be positive, got {self.factor!r}")

    def choose(self, problem: Problem, solver: str, n_jobs: int | None, progress: Progress | None) -> Choice:
        """The factor, for all models."""
        return Choice(np.full(problem.members.shape[0], float(self.factor)))


@dataclass(frozen=True)
class NormBased:
    """BBR's default: variance = number of terms / mean squared norm of the documents.

    With variances that differ the same mean prior variance of a document's score, which is the number of terms.
    Laplace: lambda = sqrt(2 / variance).

    References
    ----------
    Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization

    Examples
    --------
    >>> NormBased().kind
    'norm'
    """

    kind: ClassVar[str] = "norm"

    def choose(self, problem: Problem, solver: str, n_jobs: int | None, progress: Progress | None) -> Choice:
        """The scale that the norms of the documents ask for."""
        n_terms = [len(problem.terms_of(c)) for c in range(problem.members.shape[0])]
        return Choice(np.sqrt(np.maximum(n_terms, 1) / prior_spread(problem)))
