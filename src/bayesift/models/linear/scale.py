"""Rules that choose the scale of a prior.

By norms, by held-out log-likelihood, by evidence, or fixed.

Cross-validation holds a fold out by giving its documents no importance: no matrix is copied. Each
fold starts from its own mode at the last scale, never from that of all documents: a start that has
seen the held-out documents would bias the estimate wherever a solver stops short of the mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone

from bayesift.arrays import Array, FloatArray
from bayesift.folds import deal_folds
from bayesift.models.base import scores_of, stack_rows
from bayesift.models.linear.evidence import log_evidence, softmax_log_evidence
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.path import (
    AHEAD,
    MinimumSearch,
    Progress,
    ScaleChoice,
    Validation,
    default_scales,
    prior_spread,
    rescaled,
    search_scales,
)
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers import solve_all, solve_path
from bayesift.state import storable
from bayesift.threads import in_threads


@storable("evidence-scale")
@dataclass(frozen=True)
class Evidence:
    """The scale of a Gaussian or Laplace prior with the highest evidence (`log_evidence`).

    No document is held out.

    `shared` models have the same scale, that with the highest total; classes of a softmax model
    always have.
    """

    shared: bool = False
    kind: ClassVar[str] = "evidence"

    def choose(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, progress: Progress | None
    ) -> ScaleChoice:
        """Choose the scales of all models."""
        self.check(problem)
        shared = self.shared or problem.coupled
        return search_scales(
            problem,
            EvidenceLosses(problem, solver, n_jobs, shared=shared),
            progress,
            shared=shared,
        )

    @staticmethod
    def check(problem: LinearProblem) -> None:
        """Refuse a problem whose evidence is not known."""
        prior = problem.prior
        if not prior.convex:
            raise ValueError(
                f"the evidence needs a Gaussian or Laplace prior, not a {prior.kind} one"
            )
        if not prior.smooth and np.any(prior.sign):
            raise ValueError(
                "the evidence of a Laplace prior with sign constraints is not known"
            )


class EvidenceLosses:
    """Minus the log evidence at any scale; each model starts from its mode of the last call."""

    def __init__(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, *, shared: bool
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.n_jobs = n_jobs
        self.shared = shared
        self.last: list[Solution | None] = [None] * problem.members.shape[0]
        _ = problem.columns, problem.norms, problem.start_intercepts

    def __call__(
        self, scales: FloatArray, models: list[int], factors: FloatArray | None = None
    ) -> tuple[Array, Array]:
        """Return the losses of models, one scale each, and no standard errors.

        Their total where models share a scale.
        """
        everyone = list(range(len(self.last)))
        last = self.last
        named = everyone if self.shared else models
        every = np.ones(len(everyone))
        every[named] = scales
        at_scale = self.problem.varied(prior=rescaled(self.problem.prior, every, factors))
        found = solve_all(
            at_scale, self.solver, [last[c] for c in named], self.n_jobs, categories=named
        )
        for c, solution in zip(named, found, strict=True):
            last[c] = solution
        losses = np.array(self._evidence(at_scale, named, found))
        losses = np.array([losses.sum()]) if self.shared else losses
        return losses, np.full(len(losses), np.nan)

    def _evidence(
        self, problem: LinearProblem, models: list[int], found: list[Solution]
    ) -> list[float]:
        if problem.coupled:
            return [-softmax_log_evidence(problem, found)]
        pairs = list(zip(models, found, strict=True))
        return list(in_threads(lambda pair: -log_evidence(problem, *pair), pairs, self.n_jobs))


Rule = Literal["best", "one-standard-error"]

_BLOCK_STEP, _BLOCK_REACH = np.log(2.0), np.log(64.0)  # of the factor of a block
_LEAST_TOLERANCE = (
    0.03  # of the strength of a Laplace prior: a tenth of the step between two scales
)


class ScaleRule(Protocol):
    """Chooses how strong the prior of each model is."""

    kind: ClassVar[str]

    def choose(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, progress: Progress | None
    ) -> ScaleChoice:
        """Choose the scales of all models."""


@dataclass(frozen=True)
class FixedScale:
    """The standard deviations of the prior, all multiplied by one number."""

    factor: float = 1.0
    kind: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise ValueError(f"prior_scale must be positive, got {self.factor!r}")

    def choose(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, progress: Progress | None
    ) -> ScaleChoice:
        """Choose the given factor, for all models."""
        return ScaleChoice(np.full(problem.members.shape[0], float(self.factor)))


@storable("norm-scale")
@dataclass(frozen=True)
class NormBased:
    """BBR's default: variance = number of terms / mean squared norm of the documents.

    With variances that differ the same mean prior variance of a document's score, which is the
    number of terms. Laplace: lambda = sqrt(2 / variance).

    References
    ----------
    Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization

    Examples
    --------
    >>> NormBased().kind
    'norm'
    """

    kind: ClassVar[str] = "norm"

    def choose(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, progress: Progress | None
    ) -> ScaleChoice:
        """Choose the scale by the norms of the documents."""
        n_terms = [len(problem.terms_of(c)) for c in range(problem.members.shape[0])]
        return ScaleChoice(np.sqrt(np.maximum(n_terms, 1) / prior_spread(problem)))


class HeldOutFolds:
    """Held-out losses at any scale.

    Each fold starts from its modes of the last call, fold -1 is never held out.
    """

    def __init__(
        self, problem: LinearProblem, solver: str, folds: Array, n_jobs: int | None
    ) -> None:
        n_models = problem.members.shape[0]
        n_folds = int(folds.max()) + 1
        if problem.prior.smooth:
            tolerance = problem.tolerance
        else:
            tolerance = max(problem.tolerance, _LEAST_TOLERANCE)
        self.problem = problem.varied(tolerance=tolerance)
        self.solver = solver
        self.n_jobs = n_jobs
        self.held_out = [np.flatnonzero(folds == fold) for fold in range(n_folds)]
        _ = self.problem.columns, self.problem.norms
        self.parts = [self._without(documents) for documents in self.held_out]
        self.last: list[list[Solution | None]] = [[None] * n_models for _ in self.parts]

    def losses(
        self, scales: FloatArray, models: list[int], factors: FloatArray | None = None
    ) -> tuple[Array, Array]:
        """Minus the held-out log-likelihoods of models, one scale each, and what documents weigh.

        Folds x models.
        """
        return next(self.along(scales[np.newaxis], models, factors))

    def along(
        self, steps: Array, models: list[int], factors: FloatArray | None = None
    ) -> Iterator[tuple[Array, Array]]:
        """`losses` of each row of scales, in order; all are computed at once."""
        every = np.repeat(
            steps[:, :1], self.problem.members.shape[0], axis=1
        )  # so that a shared scale stays one
        every[:, models] = steps
        priors = [rescaled(self.problem.prior, row, factors) for row in every]
        folds = [
            self._fold(k, [part.varied(prior=prior) for prior in priors], models)
            for k, part in enumerate(self.parts)
        ]
        for step in zip(*folds, strict=True):
            losses, weights = (np.array(rows) for rows in zip(*step, strict=True))
            yield losses, weights

    def _without(self, documents: Array) -> LinearProblem:
        importance = self.problem.importance.copy()
        importance[documents] = 0.0
        part = self.problem.varied(importance=importance)
        _ = part.start_intercepts  # shared by all scales
        if part.balance is None:
            _ = part.sums
        return part

    def _fold(
        self, fold: int, problems: list[LinearProblem], models: list[int]
    ) -> list[tuple[Array, Array]]:
        """Losses and weights of the documents of a fold, one per model, for each problem."""
        documents = self.held_out[fold]
        last = self.last[fold]
        found = solve_path(
            problems, self.solver, [last[c] for c in models], self.n_jobs, categories=models
        )
        for c, solution in zip(models, found[-1], strict=True):
            last[c] = solution
        return list(held_out_losses(self.problem, documents, models, found))


def held_out_losses(
    problem: LinearProblem, documents: Array, models: list[int], found: list[list[Solution]]
) -> Iterator[tuple[Array, Array]]:
    """Return minus the log-likelihood of documents under each model, and their weight.

    There is one of each for each list of solutions.

    A softmax class has its own documents only.
    """
    rows = problem.rows[documents]
    members = problem.members[models][:, documents].toarray()
    importance = np.broadcast_to(problem.importance[documents], members.shape)
    if problem.balance is not None:
        importance = np.stack([problem.importance_of(c)[documents] for c in models])
    for solutions in found:
        coefficients = stack_rows([solution.weights for solution in solutions])
        intercepts = np.array([solution.intercept for solution in solutions])
        scores = scores_of(rows, coefficients, intercepts).T
        if problem.coupled:
            logarithms = members * log_softmax(scores, axis=0)
        else:
            logarithms = log_likelihoods(problem.link, np.where(members, scores, -scores))[0]
        yield -np.sum(importance * logarithms, axis=1), importance.sum(axis=1)


def mean_and_error(losses: FloatArray, weights: FloatArray) -> tuple[Array, Array]:
    """Return the mean loss of a document and its standard error over folds, per model."""
    mean: FloatArray = losses.sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
    of_folds = losses / np.maximum(weights, 1e-300)
    return mean, np.std(of_folds, axis=0, ddof=1) / np.sqrt(len(losses))


def together(losses: FloatArray, weights: FloatArray) -> tuple[Array, Array]:
    """Losses of documents summed over models, and weights averaged; both folds x 1."""
    return losses.sum(axis=1, keepdims=True), weights.mean(axis=1, keepdims=True)


def pick_scale(scales: FloatArray, losses: FloatArray, errors: FloatArray, rule: Rule) -> float:
    """Choose the scale with the least loss, or the strongest within one standard error."""
    best = int(np.nanargmin(losses))
    if rule == "best":
        return float(scales[best])
    near = (losses <= losses[best] + errors[best]) & (scales <= scales[best])
    return float(scales[near].min())


@storable("cross-validation-scale")
@dataclass(frozen=True)
class CrossValidation:
    """The best mean held-out log-likelihood over a path of scales.

    A path goes from the strongest prior to the weakest, and ends early when the loss has risen
    twice in a row and by more than a standard error above the best.

    Parameters
    ----------
    folds : how many; they spread every category
    rule : "best", or "one-standard-error", the strongest prior within one standard error of the
        best
    shared : whether all models have the same scale, that with the best total over models; classes
        of a softmax model always have
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
            raise ValueError(
                f"rule must be one of {', '.join(get_args(Rule))}, got {self.rule!r}"
            )
        if self.n_scales < 2:
            raise ValueError(f"n_scales must be at least 2, got {self.n_scales!r}")

    def choose(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, progress: Progress | None
    ) -> ScaleChoice:
        """Choose the scales of all models."""
        scales = default_scales(problem, self.n_scales, shared=self.shared or problem.coupled)
        return self.along(scales, problem, solver, n_jobs, progress)

    def along(
        self,
        scales: FloatArray,
        problem: LinearProblem,
        solver: str,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> ScaleChoice:
        """Choose the best of given scales, steps x models from the strongest prior on."""
        held_out = HeldOutFolds(
            problem, solver, folds_of(problem, self.folds, self.random_state), n_jobs
        )
        shared = self.shared or problem.coupled
        n_columns = 1 if shared else scales.shape[1]
        losses, errors = np.full((2, len(scales), n_columns), np.nan)
        going = list(range(scales.shape[1]))
        ahead: Iterator[tuple[Array, Array]] = iter(())
        asked: list[int] = []
        for step in range(len(scales)):
            if step % AHEAD == 0:
                asked = going
                ahead = held_out.along(scales[step : step + AHEAD, going], going)
            indices = [asked.index(c) for c in going]
            found = tuple(table[:, indices] for table in next(ahead))
            means = mean_and_error(*(together(*found) if shared else found))
            columns = [0] if shared else going
            losses[step, columns], errors[step, columns] = means
            done = [
                c for c in columns if _has_risen(losses[: step + 1, c], errors[: step + 1, c])
            ]
            if not shared:
                going = [c for c in going if c not in done]
            elif done:
                going = []
            if progress is not None:
                progress(step + 1 if going else len(scales), len(scales))
            if not going:
                break
        looked_at = scales[:, :n_columns]
        chosen = np.array(
            [
                pick_scale(looked_at[:, c], losses[:, c], errors[:, c], self.rule)
                for c in range(n_columns)
            ]
        )
        return ScaleChoice(
            np.broadcast_to(chosen, scales.shape[1]).copy(),
            Validation(looked_at, losses, errors, chosen),
        )


@storable("search-scale")
@dataclass(frozen=True)
class ScaleSearch:
    """The best mean held-out log-likelihood, searched for without a grid.

    Parameters as in `CrossValidation`.
    """

    folds: int = 10
    shared: bool = False
    random_state: int | None = 0
    kind: ClassVar[str] = "search"

    def choose(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, progress: Progress | None
    ) -> ScaleChoice:
        """Choose the scales of all models."""
        held_out = HeldOutFolds(
            problem, solver, folds_of(problem, self.folds, self.random_state), n_jobs
        )
        everyone = list(range(problem.members.shape[0]))
        shared = self.shared or problem.coupled

        def losses(scales: FloatArray, models: list[int]) -> tuple[Array, Array]:
            if not shared:
                return mean_and_error(*held_out.losses(scales, models))
            return mean_and_error(
                *together(*held_out.losses(np.full(len(everyone), scales[0]), everyone))
            )

        return search_scales(problem, losses, progress, shared=shared)


@storable("block-scales")
@dataclass(frozen=True)
class BlockScales:
    """A scale for each block of columns: how far each is to be trusted.

    Blocks are words, character n-grams or vectors.

    The scale that all blocks share is searched for first. Then each block but the largest is given
    a factor of its own, one after the other, by steps that start at the last modes, and the shared
    scale once more. All models have the same scales.

    Parameters
    ----------
    blocks : the names of the blocks and their numbers of columns, in the order of the columns; a
        `TextClassifier` fills in its own
    by : "folds", the held-out log-likelihood, or "evidence" for Gaussian priors
    folds, random_state : as in `CrossValidation`
    rounds : how often each block is searched

    Examples
    --------
    >>> X = [[1, 0, 0.9], [1, 0, 1.1], [0, 1, -1.0], [0, 1, -0.8], [1, 0, 1.2], [0, 1, -1.1]]
    >>> rule = BlockScales((("words", 2), ("vectors", 1)), by="evidence")
    >>> from bayesift.models.linear import SparseBayesClassifier
    >>> model = SparseBayesClassifier(prior="gaussian", prior_scale=rule).fit(X, [1, 1, 0, 0, 1, 0])
    >>> model.column_scales_.shape
    (3,)
    """

    blocks: tuple[tuple[str, int], ...] = ()
    by: Literal["folds", "evidence"] = "folds"
    folds: int = 5
    rounds: int = 1
    random_state: int | None = 0
    kind: ClassVar[str] = "blocks"

    def __post_init__(self) -> None:
        names = [name for name, _ in self.blocks]
        if len(set(names)) < len(names) or any(size < 1 for _, size in self.blocks):
            raise ValueError(
                "blocks must be pairs of distinct names and numbers of columns, got "
                f"{self.blocks!r}"
            )
        if self.by not in ("folds", "evidence"):
            raise ValueError(f"by must be 'folds' or 'evidence', got {self.by!r}")

    @classmethod
    def of(cls, transformer: Any, **parameters: Any) -> BlockScales:
        """Return the blocks of a fitted `ColumnTransformer` of scikit-learn."""
        parts = {
            name: part.stop - part.start for name, part in transformer.output_indices_.items()
        }
        return cls(tuple((name, size) for name, size in parts.items() if size), **parameters)

    def choose(
        self, problem: LinearProblem, solver: str, n_jobs: int | None, progress: Progress | None
    ) -> ScaleChoice:
        """Choose the scales of all models and the factors of all columns."""
        sizes = [size for _, size in self.blocks]
        if sum(sizes) != problem.n_terms:
            raise ValueError(
                f"the blocks have {sum(sizes):,} columns, but there are {problem.n_terms:,}"
            )
        losses = self._losses(problem, solver, n_jobs)
        shared = search_scales(
            problem, lambda scales, _: losses(float(scales[0]), None), progress, shared=True
        )

        def loss(logarithms: FloatArray) -> float:
            return float(
                losses(np.exp(logarithms[-1]), np.repeat(np.exp(logarithms[:-1]), sizes))[0][0]
            )

        logs = self.search(loss, float(np.log(shared.scales[0])))
        scales = np.full_like(shared.scales, np.exp(logs[-1]))
        return ScaleChoice(scales, shared.validation, np.repeat(np.exp(logs[:-1]), sizes))

    def search(self, loss: Callable[[Array], float], shared: float | None = 0.0) -> Array:
        """Find the logarithms of the factors of the blocks and of the scale that they share.

        `loss` is of such logarithms. The factor of the largest block stays one, and a shared scale
        of None too.
        """
        n_blocks = len(self.blocks)
        largest = int(np.argmax([size for _, size in self.blocks]))
        logs = np.append(np.zeros(n_blocks), shared or 0.0)
        indices = [
            index for index in range(n_blocks + (shared is not None)) if index != largest
        ]
        for _ in range(self.rounds):
            for index in indices:
                logs[index] = _best_along(logs, index, loss)
        return logs

    def progressive(self, model: Any, X: Any, y: Any) -> Array:
        """Return factors of columns for an online model without prior scales.

        X is multiplied by them, such as for the online stack.

        They have the least loss of labels that are predicted before they are learned, in the order
        of the documents. The model is not changed.

        Examples
        --------
        >>> from bayesift.models.online import OnlineStackedClassifier
        >>> X = np.array([[1, 0, 0.9], [1, 0, 1.1], [0, 1, -1.0], [0, 1, -0.8], [1, 0, 1.2],
        ...     [0, 1, -1.1]])
        >>> rule = BlockScales((("words", 2), ("vectors", 1)))
        >>> rule.progressive(OnlineStackedClassifier(), X, [1, 1, 0, 0, 1, 0]).shape
        (3,)
        """
        rows = sparse.csr_array(X)
        sizes = [size for _, size in self.blocks]
        labels = np.asarray(y)
        classes = np.unique(labels) if labels.ndim == 1 else np.arange(labels.shape[1])
        truth = labels[:, np.newaxis] == classes if labels.ndim == 1 else labels != 0

        def factors(logarithms: FloatArray) -> Array:
            return np.exp(np.repeat(logarithms[:-1], sizes))

        def loss(logarithms: FloatArray) -> float:
            scaled = sparse.csr_array(rows.multiply(factors(logarithms)[np.newaxis]))
            known = classes if labels.ndim == 1 else None
            found = clone(model).progressive_proba(scaled, labels, classes=known)
            of_truth = np.where(truth, found, 1.0 if labels.ndim == 1 else 1.0 - found)
            return -float(np.log(np.maximum(of_truth, 1e-300)).sum())

        if sum(sizes) != rows.shape[1]:
            raise ValueError(
                f"the blocks have {sum(sizes):,} columns, but there are {rows.shape[1]:,}"
            )
        return factors(self.search(loss, None))

    def _losses(
        self, problem: LinearProblem, solver: str, n_jobs: int | None
    ) -> Callable[..., tuple[Array, Array]]:
        """Return the total loss at a scale and factors of columns, and its standard error."""
        everyone = list(range(problem.members.shape[0]))
        if self.by == "evidence":
            Evidence().check(problem)
            evidence = EvidenceLosses(problem, solver, n_jobs, shared=True)
            return lambda scale, factors: evidence(
                np.full(len(everyone), scale), everyone, factors
            )
        held_out = HeldOutFolds(
            problem, solver, folds_of(problem, self.folds, self.random_state), n_jobs
        )

        def losses(scale: float, factors: FloatArray | None) -> tuple[Array, Array]:
            return mean_and_error(
                *together(*held_out.losses(np.full(len(everyone), scale), everyone, factors))
            )

        return losses


def _best_along(logs: FloatArray, index: int, loss: Callable[[Array], float]) -> float:
    """Find the best value of one of several logarithms of scales, the others fixed."""
    start = float(logs[index])
    search = MinimumSearch(
        start, _BLOCK_STEP, (start - _BLOCK_REACH, start + _BLOCK_REACH), _BLOCK_STEP / 2
    )
    while (value := search.next_point()) is not None:
        tried = logs.copy()
        tried[index] = value
        search.add(value, loss(tried))
    return search.best


def folds_of(problem: LinearProblem, n_folds: int, random_state: int | None) -> Array:
    """Return the fold in which each document is held out; see `deal_folds`."""
    return deal_folds(
        problem.members.T, n_folds=n_folds, random_state=random_state, groups=problem.groups
    )


def _has_risen(losses: FloatArray, errors: FloatArray) -> bool:
    """Whether the loss rose in the last two steps, to more than a standard error above the best."""
    if len(losses) < 3 or not losses[-3] < losses[-2] < losses[-1]:
        return False
    best = int(np.argmin(losses))
    return bool(losses[-1] > losses[best] + errors[best])


SCALE_RULES: dict[str, ScaleRule] = {
    "norm": NormBased(),
    "cross-validation": CrossValidation(),
    "one-standard-error": CrossValidation(rule="one-standard-error"),
    "search": ScaleSearch(),
    "evidence": Evidence(),
    "blocks": BlockScales(),
}
_KINDS: dict[str, type[Any]] = {
    rule.kind: rule for rule in (NormBased, CrossValidation, ScaleSearch, Evidence, BlockScales)
}


def scale_rule_of(prior_scale: Any) -> ScaleRule:
    """Return the rule of that name, a rule as it is, or the scale that a number fixes."""
    if isinstance(prior_scale, str):
        if prior_scale not in SCALE_RULES:
            raise ValueError(
                f"no prior_scale {prior_scale!r}; there are: {', '.join(SCALE_RULES)}, or a number"
            )
        return SCALE_RULES[prior_scale]
    if isinstance(prior_scale, int | float | np.integer | np.floating) and not isinstance(
        prior_scale, bool
    ):
        return FixedScale(float(prior_scale))
    if _KINDS.get(getattr(prior_scale, "kind", "")) is not type(prior_scale):
        raise ValueError(
            f"prior_scale must be None, a number or one of {', '.join(SCALE_RULES)}, got "
            f"{prior_scale!r}"
        )
    rule: ScaleRule = prior_scale
    return rule
