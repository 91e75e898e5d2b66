"""The factorised posterior of one category's weights under a spike-and-slab prior.

A weight comes from a wide normal, the slab, with probability pi, otherwise from the spike: it is 0,
or from a narrow normal. The posterior is approximated by a product of one such mixture per word and
a normal for the intercept, which maximises a lower bound of the log evidence (ELBO). The likelihood
enters by a quadratic model of each document at mean m_i and variance v_i of its score, and its mean
in the ELBO is

    "expected"    E log psi(y f),  f ~ N(m, v)
                  by quadrature (Opper & Archambeau 2009); all links
    "tangent"     log psi(xi) + (y m - xi) / 2,  xi^2 = m^2 + v
                  Jaakkola & Jordan (2000); logit
    "curvature"   log psi(y m) - k v / 2,  k the largest curvature of the link
                  for logit Bohning's bound (k = 1/4), for probit the truncated normals of
                  Albert & Chib (k = 1)

The first takes scores for normal, not a strict bound but nearer than the other two: documents
far from 0 tell little, and those two count them as if they told more (by factors of 15 and 75 at
probabilities of 0.993, logit, and 0.999, probit), which also takes more rounds. No round lowers the
ELBO.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit, logit

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.entries import entries_of
from bayesift.kernels.likelihoods import LOGIT
from bayesift.kernels.spike_slab import ScoreArrays, expected_likelihood, sweep_terms
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers.variational import bound_curvature

BOUNDS = ("expected", "tangent", "curvature")

_INNER_ROUNDS = 10  # over the words that moved, between rounds over all
_STILL_SHARE = 0.1  # of tol: a move not worth making
_CONJUGATE_STEPS = 2  # towards the mode of the background: more fit the documents too closely
_SLOWER_FACTOR = 0.9  # are rounds after one that went too far
_ROUNDING_SHARE, _SHORTEST_STEP = 1e-10, 2.0**-20  # of the ELBO; of a step


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
            raise ValueError(
                f"variances must be 0 <= spike < slab, got {self.spike!r} and {self.slab!r}"
            )


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
    background, shift : small weights of all words beside these, and what they add to the intercept
    """

    inclusion: Array
    means: FloatArray
    variances: FloatArray
    intercept: float
    intercept_variance: float
    elbo: Array
    converged: bool
    background: FloatArray
    shift: float


class _Ascent:
    """The posterior of one category while it is being found."""

    def __init__(
        self,
        problem: LinearProblem,
        category: int,
        start: Solution,
        prior: SpikeSlab,
        bound: str,
    ) -> None:
        self.problem = problem
        self.prior = prior
        self.bound = bound
        self.signs = problem.signs(category)
        self.importance = problem.importance_of(category)
        self.factors = np.zeros((6, problem.n_terms))
        self.factors[3] = start.coefficients
        self.scores = problem.rows @ self.factors[3] + start.intercept
        self.spreads, self.residuals, self.curvatures = np.zeros((3, len(self.signs)))
        self.intercept = start.intercept
        self.intercept_variance = 0.0
        self.rate = 1.0
        self.set_likelihood()

    def set_likelihood(self) -> None:
        """Set the quadratic model of the likelihood at the present posterior."""
        if self.bound == "expected":
            self._expect_likelihood()
            return
        variances = self.spreads + self.intercept_variance
        margins = self.signs * self.scores
        if self.bound == "tangent":
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

    def _expect_likelihood(self) -> None:
        link = self.problem.link
        moments = (self.scores, self.spreads, self.intercept_variance)
        documents = self.signs, self.importance, *moments, self.residuals, self.curvatures
        self.likelihood = expected_likelihood(link.code, link.parameters, *documents)

    def climb(self, terms: IntArray, still: float) -> Array:
        """Make a round that does not lower the ELBO; returns how far each word moved.

        Rounds under a bound never lower it. The others take a shorter step if they do, which as
        natural gradients (Khan & Lin 2017) raise it when they are short enough.
        """
        before = self.elbo()
        kept = self._state(terms)
        rate = self.rate
        while True:
            moves = self.sweep(terms, still, rate)
            if self.elbo() >= before - _ROUNDING_SHARE * abs(before) or rate <= _SHORTEST_STEP:
                return moves
            rate *= 0.5
            self.rate *= _SLOWER_FACTOR
            self._restore(terms, *kept)

    def sweep(self, terms: IntArray, still: float, rate: float = 1.0) -> Array:
        """One round over these words and the intercept, this share of the way.

        How far each of them moved.
        """
        columns = self.problem.columns
        moves = np.empty(len(terms) + 1)
        prior = self.prior
        documents = ScoreArrays(self.scores, self.spreads, self.curvatures, self.residuals)
        numbers = (
            float(logit(prior.inclusion)),
            float(prior.spike),
            float(prior.slab),
            still,
            rate,
        )
        sweep_terms(entries_of(columns), terms, *numbers, documents, self.factors, moves)
        moves[-1] = self._move_intercept(rate) / rate
        self.set_likelihood()
        return moves

    def _move_intercept(self, rate: float) -> float:
        free, precision, centre = self.problem.intercept
        if not free:
            return 0.0
        before = self.intercept_variance
        inverse = precision + self.curvatures.sum()
        if before:
            inverse = rate * inverse + (1.0 - rate) / before
        self.intercept_variance = 1.0 / inverse
        step = (
            rate
            * self.intercept_variance
            * (self.residuals.sum() - precision * (self.intercept - centre))
        )
        self.intercept += step
        self.scores += step
        widened = abs(0.5 * np.log(self.intercept_variance / before)) if before else np.inf
        return float(max(abs(step) * np.sqrt(inverse), widened))

    def elbo(self) -> float:
        """Return the lower bound of the log evidence, without constants of the intercept."""
        bound = self.likelihood - self.factors[5].sum()
        free, precision, centre = self.problem.intercept
        if free and self.intercept_variance:
            square = (self.intercept - centre) ** 2 + self.intercept_variance
            bound += 0.5 * np.log(self.intercept_variance) - 0.5 * precision * square
        return float(bound)

    def background(self, variance: float, terms: IntArray) -> tuple[Array, float]:
        """Draw weights u ~ N(0, variance) of words and a shift of the intercept.

        They are a step up the quadratic model of the likelihood, short enough to raise the
        likelihood itself.
        """
        free, precision, centre = self.problem.intercept
        used = np.zeros(self.problem.n_terms + 1)
        used[terms] = 1.0
        used[-1] = free
        precisions = np.append(
            np.full(self.problem.n_terms, 1.0 / variance), precision if free else 1.0
        )
        away = precision * (self.intercept - centre) * free
        step, moved = self._conjugate_directions(used, precisions, away)
        scores = self.scores
        before = self.likelihood
        cost = 0.5 * (precisions @ step**2)
        length = 1.0
        while length > _SHORTEST_STEP:
            self.scores = scores + length * moved
            self.set_likelihood()
            if self.likelihood - cost * length**2 - away * step[-1] * length >= before:
                return length * step[:-1], float(length * step[-1])
            length *= 0.5
        return np.zeros(self.problem.n_terms), 0.0

    def _conjugate_directions(
        self, used: Array, precisions: FloatArray, away: float
    ) -> tuple[Array, Array]:
        """Conjugate gradients towards the maximum of the model, and what they add to the scores.

        The shift is last.
        """
        rows = self.problem.rows
        turned = self.problem.columns.T
        diagonal = precisions + np.append(self.factors[2], self.curvatures.sum())
        residual = used * np.append(turned @ self.residuals, self.residuals.sum() - away)
        step = np.zeros(len(used))
        moved = np.zeros(len(self.scores))
        search = residual / diagonal
        power = residual @ search
        for left in reversed(range(_CONJUGATE_STEPS if power > 0 else 0)):
            scores = rows @ search[:-1] + search[-1]
            curved = self.curvatures * scores
            length = power / (curved @ scores + precisions @ search**2)
            step += length * search
            moved += length * scores
            if left:
                residual -= length * (
                    precisions * search + used * np.append(turned @ curved, curved.sum())
                )
                scaled = residual / diagonal
                power, before = residual @ scaled, power
                search = scaled + power / before * search
        return step, moved

    def _state(self, terms: IntArray) -> tuple[Array, Array, tuple[float, float]]:
        documents = np.stack([self.scores, self.spreads, self.residuals, self.curvatures])
        return self.factors[:, terms], documents, (self.intercept, self.intercept_variance)

    def _restore(
        self,
        terms: IntArray,
        factors: FloatArray,
        documents: Array,
        intercept: tuple[float, float],
    ) -> None:
        self.factors[:, terms] = factors
        self.scores, self.spreads, self.residuals, self.curvatures = documents.copy()
        self.intercept, self.intercept_variance = intercept


def inclusion_posterior(
    problem: LinearProblem,
    category: int,
    start: Solution,
    *,
    prior: SpikeSlab,
    bound: str = "expected",
    background_variance: float = 0.0,
) -> InclusionPosterior:
    """Find the posterior of one category's weights under this prior, from a start.

    The problem's own prior does not matter.

    It is done when a round over all words moves none by more than the problem's tolerance: neither
    its inclusion probability, nor its mean in units of what its documents tell of it.
    """
    ascent = _Ascent(problem, category, start, prior, check_bound(bound, problem))
    terms = problem.terms_of(category)
    tolerance = problem.tolerance
    converged = False
    moves = ascent.sweep(terms, -1.0)
    trace = [ascent.elbo()]
    for _ in range(problem.max_iter):
        active = terms[moves[:-1] > tolerance]
        for _ in range(_INNER_ROUNDS):
            moves = ascent.climb(active, _STILL_SHARE * tolerance)
            trace.append(ascent.elbo())
            if np.all(moves <= tolerance):
                break
        moves = ascent.climb(terms, _STILL_SHARE * tolerance)
        trace.append(ascent.elbo())
        converged = bool(np.all(moves <= tolerance))
        if converged:
            break
    inclusion, _, _, means, variances, _ = ascent.factors
    moments = (
        inclusion,
        means,
        np.maximum(variances, 0.0),
        ascent.intercept,
        ascent.intercept_variance,
    )
    if background_variance:
        beside = ascent.background(background_variance, terms)
    else:
        beside = (np.zeros(problem.n_terms), 0.0)
    return InclusionPosterior(*moments, np.array(trace), converged, *beside)


def check_bound(bound: str, problem: LinearProblem) -> str:
    """Check that the bound of this name applies to the problem's link, and return it."""
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {', '.join(BOUNDS)}, got {bound!r}")
    if bound == "tangent" and problem.link.code != LOGIT:
        raise ValueError(
            "bound='tangent' is that of the logit link; use 'expected' or 'curvature'"
        )
    return bound
