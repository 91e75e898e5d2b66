"""The scale of the prior with the best held-out log-likelihood.

A fold is held out by giving its documents no importance: no matrix is copied, and the documents' scores are there to
judge. Each fold starts from its own mode at the last scale, never from that of all documents: a start that has seen
what is held out leaves a trace of it wherever a solver stops short of the mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy.special import log_softmax

from bayesift.folds import deal_folds
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.path import Progress, column, default_scales
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.scale import Choice, Validation
from bayesift.models.linear.search import search_scales
from bayesift.models.linear.solvers import solve_all
from bayesift.models.linear.weights import compact, scores_of

Array = np.ndarray[Any, Any]
Rule = Literal["best", "one-standard-error"]

_TOLERANCE = 0.03  # of the strength of a Laplace prior: a tenth of the step between two scales


class HeldOut:
    """Held-out losses at any scale; each fold starts from its modes of the last call.

    Parameters
    ----------
    problem, solver : what is fitted, and how
    folds : the fold of each document; -1 is never held out
    n_jobs : threads over models
    """

    def __init__(self, problem: Problem, solver: str, folds: Array, n_jobs: int | None) -> None:
        n_models, n_folds = problem.members.shape[0], int(folds.max()) + 1
        tolerance = problem.tolerance if problem.prior.smooth else max(problem.tolerance, _TOLERANCE)
        self.problem = problem.varied(tolerance=tolerance)
        self.solver, self.n_jobs = solver, n_jobs
        self.held_out = [np.flatnonzero(folds == fold) for fold in range(n_folds)]
        _ = self.problem.columns, self.problem.norms
        self.parts = [self._without(documents) for documents in self.held_out]
        self.last: list[list[Solution | None]] = [[None] * n_models for _ in self.parts]

    def losses(self, scales: Array, models: list[int]) -> tuple[Array, Array]:
        """Minus the held-out log-likelihoods of the models, one scale each, and what their documents weigh.

        Both are folds x models.
        """
        every = np.ones(self.problem.members.shape[0])
        every[models] = scales
        prior = self.problem.prior.rescaled(column(every))
        totals = [self._fold(k, part.varied(prior=prior), models) for k, part in enumerate(self.parts)]
        losses, weights = (np.array(rows) for rows in zip(*totals, strict=True))
        return losses, weights

    def _without(self, documents: Array) -> Problem:
        importance = self.problem.importance.copy()
        importance[..., documents] = 0.0
        part = self.problem.varied(importance=importance)
        _ = part.start_intercepts  # shared by all scales
        if importance.ndim == 1:
            _ = part.sums
        return part

    def _fold(self, fold: int, problem: Problem, models: list[int]) -> tuple[Array, Array]:
        """Losses and weights of the documents of a fold, one a model."""
        documents, last = self.held_out[fold], self.last[fold]
        found = solve_all(problem, self.solver, [last[c] for c in models], self.n_jobs, categories=models)
        for c, solution in zip(models, found, strict=True):
            last[c] = solution
        return held_out_losses(self.problem, documents, models, found)


def held_out_losses(
    problem: Problem, documents: Array, models: list[int], solutions: list[Solution]
) -> tuple[Array, Array]:
    """Minus the log-likelihood of documents under each model, and what they weigh; a softmax class has its own only.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(2)), sparse.csr_array(np.array([[1, 0]]))
    >>> problem = Problem(rows, members, np.ones(2), Logit(), GaussianPrior(), np.zeros(3))
    >>> nothing = Solution(np.zeros(2), 0.0, np.empty(0), 0, True)
    >>> held_out_losses(problem, np.array([0, 1]), [0], [nothing])[0].round(3).tolist()
    [1.386]
    """
    coefficients = compact(np.stack([solution.coefficients for solution in solutions]))
    intercepts = np.array([solution.intercept for solution in solutions])
    scores = scores_of(problem.rows[documents], coefficients, intercepts).T
    members = problem.members[models][:, documents].toarray()
    shared = problem.importance.ndim == 1
    importance = np.broadcast_to(
        problem.importance[documents] if shared else problem.importance[models][:, documents], scores.shape
    )
    if problem.coupled:
        logarithms = members * log_softmax(scores, axis=0)
    else:
        logarithms = log_likelihoods(problem.link, np.where(members, scores, -scores))[0]
    return -np.sum(importance * logarithms, axis=1), importance.sum(axis=1)


def mean_and_error(losses: Array, weights: Array) -> tuple[Array, Array]:
    """The mean loss of a document and its standard error over the folds, one a model, from folds x models.

    Examples
    --------
    >>> mean, error = mean_and_error(np.array([[1.0], [3.0]]), np.array([[1.0], [1.0]]))
    >>> mean.tolist(), error.tolist()
    ([2.0], [1.0])
    """
    mean: Array = losses.sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
    of_folds = losses / np.maximum(weights, 1e-300)
    return mean, np.std(of_folds, axis=0, ddof=1) / np.sqrt(len(losses))


def together(losses: Array, weights: Array) -> tuple[Array, Array]:
    """Losses of documents summed over models, and weights averaged; both folds x 1.

    Examples
    --------
    >>> losses, weights = together(np.array([[1.0, 2.0]]), np.array([[4.0, 4.0]]))
    >>> losses.tolist(), weights.tolist()
    ([[3.0]], [[4.0]])
    """
    return losses.sum(axis=1, keepdims=True), weights.mean(axis=1, keepdims=True)


def pick_scale(scales: Array, losses: Array, errors: Array, rule: Rule) -> float:
    """The scale with the least loss, or the strongest prior within one standard error of it.

    Examples
    --------
    >>> scales, losses = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0.9, 0.52, 0.5, 0.7])
    >>> pick_scale(scales, losses, np.full(4, 0.03), "best")
    4.0
    >>> pick_scale(scales, losses, np.full(4, 0.03), "one-standard-error")
    2.0
    """
    best = int(np.nanargmin(losses))
    if rule == "best":
        return float(scales[best])
    near = (losses <= losses[best] + errors[best]) & (scales <= scales[best])
    return float(scales[near].min())


@dataclass(frozen=True)
class CrossValidation:
    """The best mean held-out log-likelihood over a path of scales.

    A path goes from the strongest prior to the weakest, and ends early when the loss has risen twice in a row and by
    more than a standard error above the best.

    Parameters
    ----------
    folds : how many; they spread every category
    rule : "best", or "one-standard-error", the strongest prior within one standard error of the best
    shared : whether all models have the same scale, that with the best total over models; classes of a softmax model
        always have
    n_scales : the length of the path
    random_state : deals the folds

    Examples
    --------
    >>> CrossValidation(folds=5, rule="one-standard-error")
    CrossValidation(folds=5, rule='one-standard-error', shared=False, n_scales=20, random_state=0)
    """

    folds: int = 10
    rule: Rule = "best"
    shared: bool = False
    n_scales: int = 20
    random_state: int | None = 0
    kind: ClassVar[str] = "cross-validation"

    def __post_init__(self) -> None:
        if self.rule not in get_args(Rule):
            raise ValueError(f"rule must be one of {', '.join(get_args(Rule))}, got {self.rule!r}")
        if self.n_scales < 2:
            raise ValueError(f"n_scales must be at least 2, got {self.n_scales!r}")

    def choose(self, problem: Problem, solver: str, n_jobs: int | None, progress: Progress | None) -> Choice:
        """The scales of all models."""
        scales = default_scales(problem, self.n_scales, shared=self.shared or problem.coupled)
        return self.along(scales, problem, solver, n_jobs, progress)

    def along(
        self, scales: Array, problem: Problem, solver: str, n_jobs: int | None, progress: Progress | None = None
    ) -> Choice:
        """The best of given scales, steps x models from the strongest prior to the weakest."""
        held_out = HeldOut(problem, solver, folds_of(problem, self.folds, self.random_state), n_jobs)
        shared = self.shared or problem.coupled
        n_columns = 1 if shared else scales.shape[1]
        losses, errors = np.full((2, len(scales), n_columns), np.nan)
        going = list(range(scales.shape[1]))
        for step, row in enumerate(scales):
            found = held_out.losses(row[going], going)
            means = mean_and_error(*(together(*found) if shared else found))
            columns = [0] if shared else going
            losses[step, columns], errors[step, columns] = means
            done = [c for c in columns if _has_risen(losses[: step + 1, c], errors[: step + 1, c])]
            going = [c for c in going if c not in done] if not shared else [] if done else going
            if progress is not None:
                progress(step + 1 if going else len(scales), len(scales))
            if not going:
                break
        looked_at = scales[:, :n_columns]
        chosen = np.array(
            [pick_scale(looked_at[:, c], losses[:, c], errors[:, c], self.rule) for c in range(n_columns)]
        )
        return Choice(np.broadcast_to(chosen, scales.shape[1]).copy(), Validation(looked_at, losses, errors, chosen))


@dataclass(frozen=True)
class ScaleSearch:
    """The best mean held-out log-likelihood, searched for without a grid.

    Parameters
    ----------
    folds, shared, random_state : as in `CrossValidation`

    Examples
    --------
    >>> ScaleSearch(folds=5).kind
    'search'
    """

    folds: int = 10
    shared: bool = False
    random_state: int | None = 0
    kind: ClassVar[str] = "search"

    def choose(self, problem: Problem, solver: str, n_jobs: int | None, progress: Progress | None) -> Choice:
        """The scales of all models."""
        held_out = HeldOut(problem, solver, folds_of(problem, self.folds, self.random_state), n_jobs)
        everyone = list(range(problem.members.shape[0]))
        shared = self.shared or problem.coupled

        def losses(scales: Array, models: list[int]) -> tuple[Array, Array]:
            if not shared:
                return mean_and_error(*held_out.losses(scales, models))
            return mean_and_error(*together(*held_out.losses(np.full(len(everyone), scales[0]), everyone)))

        return search_scales(problem, losses, progress, shared=shared)


def folds_of(problem: Problem, n_folds: int, random_state: int | None) -> Array:
    """The fold in which each document is held out; see `deal_folds`.

    Examples
    --------
    >>> from scipy import sparse
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(4)), sparse.csr_array(np.array([[1, 1, 0, 0]]))
    >>> problem = Problem(rows, members, np.ones(4), Logit(), GaussianPrior(), np.zeros(3))
    >>> sorted(folds_of(problem, 2, 0).tolist())
    [0, 0, 1, 1]
    """
    return deal_folds(problem.members.toarray().astype(bool).T, n_folds=n_folds, random_state=random_state)


def _has_risen(losses: Array, errors: Array) -> bool:
    """Whether the loss rose in the last two steps, to more than a standard error above the best."""
    if len(losses) < 3 or not losses[-3] < losses[-2] < losses[-1]:
        return False
    best = int(np.argmin(losses))
    return bool(losses[-1] > losses[best] + errors[best])
