"""Labels, and where a search starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.models.linear.problem import Problem, Solution

Array = np.ndarray[Any, Any]

_RAREST = 1e-13  # share of the documents that a class without any counts as, so that its logarithm is finite


def labels_of(problem: Problem) -> Array:
    """The number of the class of each document.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import LaplacePrior, Logit
    >>> members = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1]], dtype=np.int8))
    >>> labels_of(Problem(sparse.csr_array((3, 1)), members, np.ones(3), Logit(), LaplacePrior(), np.zeros(3))).tolist()
    [1, 0, 1]
    """
    labels = np.empty(problem.members.shape[1], dtype=np.int64)
    labels[problem.members.indices] = np.repeat(np.arange(problem.members.shape[0]), np.diff(problem.members.indptr))
    return labels


def start_of(problem: Problem, starts: list[Solution | None]) -> tuple[Array, Array]:
    """Weights, classes x terms, and intercepts: those given, or the modes of the prior and the logarithms of shares."""
    n_classes = problem.members.shape[0]
    weights, intercepts = np.zeros((n_classes, problem.n_terms)), _shares(problem)
    for c, start in enumerate(starts):
        terms = problem.terms_of(c)
        weights[c, terms] = (problem.mode(c) if start is None else start.coefficients)[terms]
        if start is not None:
            intercepts[c] = start.intercept
    return weights, intercepts


def _shares(problem: Problem) -> Array:
    free, _, centre = problem.intercept
    if not free:
        return np.full(problem.members.shape[0], centre)
    mass = problem.members @ problem.importance
    logarithms = np.log(np.maximum(mass, _RAREST * mass.sum()))
    return np.asarray(logarithms - logarithms.mean())
