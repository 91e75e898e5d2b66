"""How sure is a word: the factorised posterior of linear models under a spike-and-slab prior.

A weight comes from a wide normal, the slab, with probability pi, otherwise from the spike: it is 0, or from a narrow
normal. The posterior is approximated by a product of one such mixture per word and a normal for the intercept, which
maximises a lower bound of the log evidence (ELBO). The likelihood enters by a quadratic bound of each document, whose
mean under the posterior is known from mean m_i and variance v_i of its score:

    "tangent"     log psi(xi) + (y m - xi) / 2,  xi^2 = m^2 + v     Jaakkola & Jordan (2000); logit
    "curvature"   log psi(y m) - k v / 2                            k the largest curvature of the link: for logit
                  Bohning's bound (k = 1/4), for probit the truncated normals of Albert & Chib (k = 1)

The first is tight for words of which little is known, so that its inclusion probabilities are better; its mean goes
too far where scores are very uncertain (a spike of some width). All steps are in closed form and none lowers the ELBO.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import log_expit, logit, xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.kernels.likelihoods import LOGIT
from bayesift.kernels.spike_slab import sweep_terms
from bayesift.models.base import compact, for_each_model, models_of, scores_of, terms_of
from bayesift.models.linear.classifier import LinearProbabilitiesMixin
from bayesift.models.linear.links import link_of, log_likelihoods
from bayesift.models.linear.posterior import Posterior, variances_of
from bayesift.models.linear.priors import GaussianPrior, LaplacePrior, prior_of
from bayesift.models.linear.problem import Problem, Solution, document_weights
from bayesift.models.linear.solvers import solve_all
from bayesift.models.linear.solvers.newton import BLOCK, solve_by_newton
from bayesift.models.linear.solvers.variational import bound_curvature
from bayesift.state import expect_array, fits, storable
from bayesift.threads import in_threads
from bayesift.validation import check_sample_weight, check_targets, check_terms

BOUNDS = ("auto", "tangent", "curvature")

_INTERCEPT_VARIANCE = 1000.0
_INNER_ROUNDS = 10  # over the words that moved, between rounds over all
_STILL = 0.01  # of tol: a move not worth making
_RAISED = 1.0 + 1e-6  # times the prior's inclusion probability: documents speak for the word
_NEWTON_STEPS, _CONJUGATE_STEPS = 3, 5  # towards the mode of the background
_NEGLIGIBLE = 0.01  # an inclusion probability of which no more than this is left of a larger one


@dataclass(frozen=True)
class SpikeSlab:
    """The prior of a weight: N(0, slab) with probability `inclusion`, otherwise N(0, spike)."""

    inclusion: float
    slab: float
    spike: float

    def __post_init__(self) -> None:
        if not 0 < self.inclusion < 1:
            raise ValueError(f"inclusion must lie between 0 and 1, got {self.inclusion!r}")
        if not 0 <= self.spike < self.slab < np.inf:
            raise ValueError(f"variances must be 0 <= spike < slab, got {self.spike!r} and {self.slab!r}")

    def divergences(self, factors: Array) -> Array:
        """The Kullback-Leibler divergence from the prior of each weight, by the rows of `factors` in the kernel."""
        a, g, d = factors[:3]
        total = xlogy(a, a / self.inclusion) + xlogy(1.0 - a, (1.0 - a) / (1.0 - self.inclusion))
        for share, variance in ((a, self.slab), (1.0 - a, self.spike)):
            shrunk = 1.0 + d * variance
            total += 0.5 * share * (np.log(shrunk) - 1.0 + 1.0 / shrunk + variance * (g / shrunk) ** 2)
        return np.asarray(total)


@dataclass(frozen=True, eq=False)
class InclusionPosterior:
    """The factorised posterior of one category.

    Parameters
    ----------
    inclusion : the probability of each weight to come from the slab
    means, variances : of the weights
    intercept, intercept_variance : those of the intercept
    elbo : the lower bound of the log evidence after each round, up to a constant
    converged : whether the last round over all words moved none by more than the tolerance
    """

    inclusion: Array
    means: Array
    variances: Array
    intercept: float
    intercept_variance: float
    elbo: Array
    converged: bool


class _Ascent:
    """The posterior of one category while it is being found."""

    def __init__(self, problem: Problem, category: int, start: Solution, prior: SpikeSlab, bound: str) -> None:
        self.problem, self.prior, self.tangent = problem, prior, bound == "tangent"
        self.signs, self.importance = problem.signs(category), problem.importance_of(category)
        self.factors, self.costs = np.zeros((5, problem.n_terms)), np.zeros(problem.n_terms)
        self.factors[3] = start.coefficients
        self.scores = problem.rows @ self.factors[3] + start.intercept
        self.spreads = np.zeros(len(self.signs))
        self.intercept, self.intercept_variance = start.intercept, 0.0
        self.set_bound()

    def set_bound(self) -> None:
        """The quadratic bound of the likelihood that is best at the present posterior."""
        variances = self.spreads + self.intercept_variance
        margins = self.signs * self.scores
        if self.tangent:
            xi = np.sqrt(self.scores**2 + variances)
            self.curvatures = 2.0 * self.importance * bound_curvature(xi)
            self.residuals = 0.5 * self.importance * self.signs - self.curvatures * self.scores
            self.likelihood = float(self.importance @ (log_expit(xi) + 0.5 * (margins - xi)))
        else:
            largest = self.problem.link.curvature_bound
            logarithms, derivatives, _ = log_likelihoods(self.problem.link, margins)
            self.curvatures = largest * self.importance
            self.residuals = self.importance * self.signs * derivatives
            self.likelihood = float(self.importance @ (logarithms - 0.5 * largest * variances))

    def sweep(self, terms: Array, still: float) -> Array:
        """One round over these words and the intercept; how far each word moved."""
        columns, moves, prior = self.problem.columns, np.empty(len(terms)), self.prior
        arrays = self.curvatures, self.residuals, self.scores, self.spreads, self.factors, moves
        numbers = float(logit(prior.inclusion)), float(prior.spike), float(prior.slab), still
        sweep_terms(columns.indptr, columns.indices, columns.data, terms, *numbers, *arrays)
        changed = terms[moves > still]
        self.costs[changed] = prior.divergences(self.factors[:, changed])
        self._move_intercept()
        self.set_bound()
        return moves

    def _move_intercept(self) -> None:
        free, precision, centre = self.problem.intercept
        if free:
            self.intercept_variance = 1.0 / (precision + self.curvatures.sum())
            step = self.intercept_variance * (self.residuals.sum() - precision * (self.intercept - centre))
            self.intercept += step
            self.scores += step

    def elbo(self) -> float:
        """The lower bound of the log evidence; without the constants of the intercept's prior."""
        bound = self.likelihood - self.costs.sum()
        free, precision, centre = self.problem.intercept
        if free:
            square = (self.intercept - centre) ** 2 + self.intercept_variance
            bound += 0.5 * np.log(self.intercept_variance) - 0.5 * precision * square
        return float(bound)


def inclusion_posterior(
    problem: Problem, category: int, start: Solution, *, prior: SpikeSlab, bound: str = "auto"
) -> InclusionPosterior:
    """The posterior of one category's weights under this prior, from a start; the problem's own prior does not matter.

    It is done when a round over all words moves none by more than the problem's tolerance: neither its inclusion
    probability, nor its mean in units of what its documents tell of it.
    """
    ascent = _Ascent(problem, category, start, prior, bound_for(bound, problem))
    terms, tolerance, trace, converged = problem.terms_of(category), problem.tolerance, [], False
    for round_ in range(problem.max_iter):
        moves = ascent.sweep(terms, -1.0 if round_ == 0 else _STILL * tolerance)
        trace.append(ascent.elbo())
        converged = bool(np.all(moves <= tolerance))
        if converged:
            break
        active = terms[moves > tolerance]
        for _ in range(_INNER_ROUNDS):
            moves = ascent.sweep(active, _STILL * tolerance)
            trace.append(ascent.elbo())
            if np.all(moves <= tolerance):
                break
    inclusion, _, _, means, variances = ascent.factors
    intercept = ascent.intercept, ascent.intercept_variance
    return InclusionPosterior(inclusion, means, np.maximum(variances, 0.0), *intercept, np.array(trace), converged)


def bound_for(bound: str, problem: Problem) -> str:
    """The bound of this name, checked; "auto" is the tighter one."""
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {', '.join(BOUNDS)}, got {bound!r}")
    is_logit = problem.link.code == LOGIT
    if bound == "tangent" and not is_logit:
        raise ValueError("bound='tangent' is that of the logit link; use 'curvature'")
    return ("tangent" if is_logit else "curvature") if bound == "auto" else bound


@storable("spike-slab")
class SpikeSlabClassifier(LinearProbabilitiesMixin, ClassifierMixin, BaseEstimator):
    """Linear classifier that says of each word how probable it is that the word matters.

        y ~ psi(x (beta + u) + b),   beta_j ~ inclusion N(0, slab_variance) + (1 - inclusion) N(0, spike_variance)
                                     u_j ~ N(0, background_variance)

    beta is fitted by a factorised approximation of the posterior (`bayesift.models.linear.variational`). Of words that
    say the same, one is included and the others are not. Many words matter a little beside those; what they add is u,
    fitted afterwards, given the means of beta: three Newton steps of five conjugate directions towards its mode, which
    predict better than the mode. Words whose inclusion probability is neither above that of the prior nor above 1% have
    no part in beta, unless the spike has a width.

    Parameters
    ----------
    link : psi: "logit", "probit" or `LogF(shape)`
    inclusion : the prior probability of each word to matter
    slab_variance : of the weights that matter
    spike_variance : of the others; 0 sets them to 0 exactly. With some width an inclusion probability is that of a
        weight much larger than others
    background_variance : of what all words add beside those that matter; 0 for nothing, which leaves few weights and
        predicts worse
    bound : "tangent" (logit only), "curvature", or "auto": the first where it applies
    intercept : whether there is one; its prior is N(0, 1000), so that a posterior exists where all documents agree
    tol : when a category has converged: the largest move of a word in the last round
    max_iter : the largest number of rounds over all words
    class_weight : None, "balanced", or with class labels a weight per class
    n_jobs : threads over categories; -1 for all cores

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    coef_, intercept_ : means of beta + u, models x terms, and of the intercepts
    inclusion_ : the inclusion probability of each word that was kept, models x terms, sparse
    coef_variance_, intercept_variance_, posteriors_ : as of `SparseBayesClassifier`; words count as independent
    elbo_ : the lower bound of the log evidence after each round, an array per model

    References
    ----------
    Carbonetto & Stephens (2012), "Scalable variational inference for Bayesian variable selection in regression";
    Jaakkola & Jordan (2000), "Bayesian parameter estimation via variational methods".

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1]] * 20
    >>> y = (["grain"] * 2 + ["crude"] * 2) * 20
    >>> X = [[2 * (label == "grain"), *row[1:]] for row, label in zip(X, y)]
    >>> model = SpikeSlabClassifier(inclusion=0.1).fit(X, y)
    >>> model.inclusion_.toarray()[0].round(1).tolist()
    [1.0, 0.0, 0.0]
    """

    FITTED = (*LinearProbabilitiesMixin.FITTED, "inclusion_", "posteriors_")

    softmax_ = False
    inclusion_: sparse.csr_array

    def __init__(
        self,
        *,
        link: Any = "logit",
        inclusion: float = 0.01,
        slab_variance: float = 100.0,
        spike_variance: float = 0.0,
        background_variance: float = 10.0,
        bound: str = "auto",
        intercept: bool = True,
        tol: float = 3e-2,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.link = link
        self.inclusion = inclusion
        self.slab_variance = slab_variance
        self.spike_variance = spike_variance
        self.background_variance = background_variance
        self.bound = bound
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, feature_mask: Any = None) -> Self:
        """Find the posterior; under the tangent bound from the mode under a Laplace prior of the slab's variance.

        Under the other bound words that start with a weight would keep it too easily; there all start at 0.
        `feature_mask` (models x terms) says which terms each model may use, by default all.
        """
        prior = self._prior()
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members = models_of(targets)
        importance, balance = document_weights(self.class_weight, targets, members, weights)
        problem = Problem(
            rows=rows,
            members=members,
            importance=importance,
            balance=balance,
            link=link_of(self.link),
            prior=prior_of(LaplacePrior.of_variance(self.slab_variance)),
            intercept=np.array([1.0, 1.0 / _INTERCEPT_VARIANCE, 0.0]) if self.intercept else np.zeros(3),
            terms=terms_of(feature_mask, (members.shape[0], rows.shape[1])),
            tolerance=self.tol,
            max_iter=self.max_iter,
        )
        if bound_for(self.bound, problem) == "tangent":
            starts = solve_all(problem, "auto", [None] * members.shape[0], self.n_jobs)
        else:
            nothing = np.zeros(rows.shape[1])
            starts = [Solution(nothing, b, np.empty(0), 0, True) for b in problem.start_intercepts]
        found = for_each_model(
            lambda c: inclusion_posterior(problem, c, starts[c], prior=prior, bound=self.bound),
            members.shape[0],
            self.n_jobs,
        )
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self._keep(found)
        if self.background_variance:
            self._add_background(problem)
        late = sum(not posterior.converged for posterior in found)
        if late:
            message = f"{late} of {len(found)} models still moved after {self.max_iter} rounds; raise max_iter or tol"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _add_background(self, problem: Problem) -> None:
        """Add u and what it moves the intercepts by, given the means of beta."""
        prior = GaussianPrior(variance=self.background_variance)
        offsets = scores_of(problem.rows, self.coef_, self.intercept_)
        beside = problem.varied(prior=prior, tolerance=0.0, max_iter=_NEWTON_STEPS)
        _ = beside.design
        order = np.argsort(np.diff(problem.members.indptr), kind="stable")
        blocks = [order[k : k + BLOCK].tolist() for k in range(0, len(order), BLOCK)]
        weights, shifts = np.zeros(self.coef_.shape), np.zeros(len(order))

        def solve(block: list[int]) -> list[Solution]:
            starts: list[Solution | None] = [Solution(np.zeros(problem.n_terms), 0.0, np.empty(0), 0, True)] * len(
                block
            )
            return solve_by_newton(beside, block, starts, np.ascontiguousarray(offsets[:, block]), _CONJUGATE_STEPS)

        for block, solutions in zip(blocks, in_threads(solve, blocks, self.n_jobs), strict=True):
            for c, solution in zip(block, solutions, strict=True):
                weights[c], shifts[c] = solution.coefficients, solution.intercept
        self.coef_ = compact(weights + (self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_))
        self.intercept_ = self.intercept_ + shifts

    def inclusion_of(self, category: Any) -> Array:
        """The probability of each term to matter to a category; 0 for those that were left out."""
        check_is_fitted(self)
        probabilities: Array = self.inclusion_[[self._place(category)[0]]].toarray()[0]
        return probabilities

    def _prior(self) -> SpikeSlab:
        if not 0 <= self.background_variance < np.inf:
            raise ValueError(f"background_variance must be a number of at least 0, got {self.background_variance!r}")
        return SpikeSlab(self.inclusion, self.slab_variance, self.spike_variance)

    def _keep(self, found: list[InclusionPosterior]) -> None:
        inclusion = np.stack([posterior.inclusion for posterior in found])
        kept = inclusion > (0.0 if self.spike_variance else min(self.inclusion * _RAISED, _NEGLIGIBLE))
        self.inclusion_ = sparse.csr_array(np.where(kept, inclusion, 0.0))
        self.coef_ = compact(np.where(kept, np.stack([posterior.means for posterior in found]), 0.0))
        self.intercept_ = np.array([posterior.intercept for posterior in found])
        self.elbo_ = [posterior.elbo for posterior in found]
        self.n_iter_ = max(len(posterior.elbo) for posterior in found)
        terms = [np.flatnonzero(row).astype(np.int32) for row in kept]
        parts = [np.append(p.variances[t], p.intercept_variance) for p, t in zip(found, terms, strict=True)]
        self._keep_posteriors([Posterior(*part) for part in zip(terms, parts, strict=True)])

    def _post_load(self) -> None:
        super()._post_load()
        n_models, n_terms = self.coef_.shape
        _ = link_of(self.link), self._prior()
        probabilities = expect_array(self.inclusion_.data, "inclusion_", np.float64, (None,))
        if self.inclusion_.shape != (n_models, n_terms) or np.any((probabilities < 0) | (probabilities > 1)):
            raise DataError("inclusion_ must hold a probability for each model and term")
        if not (fits(self.posteriors_, list[Posterior]) and len(self.posteriors_) == n_models):
            raise DataError("the posterior is not one per model")
        if any(np.any(posterior.terms >= n_terms) for posterior in self.posteriors_):
            raise DataError("the terms of the posterior are not columns of the model")
        self.coef_variance_, self.intercept_variance_ = variances_of(self.posteriors_, n_terms)
