"""The evidence of a prior, by Laplace's approximation.

It is the likelihood of labels with the weights integrated out.

log p(y | scale) ~ log p(y | mode) + log p(mode) + (k / 2) log 2 pi - 1/2 log |X'HX + P|

P holds the precisions of a Gaussian prior, H the curvatures at the mode, k the number of weights.
What is left of the determinant is that of I + B, B = H^1/2 X P^-1 X' H^1/2, times the one number
that the intercept adds, its precision + h^1/2' (I + B)^-1 h^1/2. A flat intercept has density 1.

Up to a size both come from a Cholesky factor, of terms or of documents, whichever are fewer.
Beyond, by Lanczos quadrature: log |I + B| is the mean of z' log(I + B) z over random signs z
(Ubaru, Chen & Saad 2017), the same signs at every scale, so that what is compared is not noise.

Under a Laplace prior of rate r the posterior has a kink at the prior's mode, where most weights
stand. Along one of them, the others at the mode, its integral is known: with s and h the slope and
the curvature of the log-likelihood,

    J = integral of exp(s u - h u^2 / 2 - r (|b + u| - |b|)) du,
    b the distance of the weight from its prior's mode

by two normal distribution functions. The evidence is p(y | mode) p(mode) times the product of all
J, corrected for the correlation of the weights as if the prior were normal, of its own precision
r^2 / 2: times the square root of prod (h_j + r^2 / 2) / |X'HX + r^2 / 2|. Weights at the kink
count, too: what documents say of one of them they do not say of another once more. (Correcting for
those off the kink alone prefers priors that are too strong.)

A softmax model has one evidence for all classes, with the Hessian of all classes and terms. Flat
intercepts have a density of 1 on each direction but the common one, which changes no probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.special import erfcx, log_ndtr, log_softmax

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.products import times, transposed_times
from bayesift.models.base import scores_of, stack_rows
from bayesift.models.linear.links import log_likelihoods
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers.softmax import NormalModel, labels_of

_LARGEST_DETERMINANT = 1500  # terms or documents of an exact determinant
_PROBES, _STEPS, _CHECK = (
    7,
    150,
    3,
)  # of Lanczos quadrature: columns, steps at most, steps between two looks
_TOLERANCE_NATS = 0.02  # that they may still change
_LITTLE_CURVATURE = 1e-12
_NOISE_SHARE = 1e-10  # of the largest diagonal: a step that leads nowhere


def log_evidence(
    problem: LinearProblem,
    category: int,
    solution: Solution,
    *,
    largest: int = _LARGEST_DETERMINANT,
) -> float:
    """Return the log evidence of one model with a Gaussian or Laplace prior at its mode.

    Its determinant is exact up to `largest` terms or documents.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(2)), sparse.csr_array(np.array([[1, 0]]))
    >>> problem = LinearProblem(rows, members, np.ones(2), Logit(), GaussianPrior(variance=1e-9),
    ...     np.zeros(3))
    >>> round(log_evidence(problem, 0, Solution(np.zeros(2), 0.0, np.empty(0), 0, True)), 6)
    -1.386294
    """
    penalty = problem.penalty(category)
    terms = problem.terms_of(category)
    scores = problem.rows @ solution.coefficients + solution.intercept
    signs = problem.signs(category)
    importance = problem.importance_of(category)
    _, slopes, curvatures = log_likelihoods(problem.link, signs * scores)
    roots = np.sqrt(importance * curvatures)
    deviations = np.zeros(problem.n_terms)
    value = -problem.objective(category, solution.coefficients, solution.intercept)
    if problem.prior.smooth:
        deviations[terms] = 1.0 / np.sqrt(penalty[1, terms])
    else:
        integrals = KinkIntegrals(
            solution.coefficients[terms] - penalty[2, terms],
            (problem.columns.T @ (importance * signs * slopes))[terms],
            (squared(problem.columns).T @ (importance * curvatures))[terms],
            penalty[0, terms],
        )
        deviations[terms] = integrals.deviations
        value += integrals.log_total
    exact = min(len(terms), problem.rows.shape[0]) <= largest
    determinant, form = (
        _exact(problem, roots, deviations, terms)
        if exact
        else _by_lanczos(problem, roots, deviations)
    )
    value -= 0.5 * determinant
    free, precision, _ = problem.intercept
    if not free:
        return float(value)
    return float(
        value
        + 0.5 * np.log(precision if precision else 2.0 * np.pi)
        - 0.5 * np.log(precision + form)
    )


def _exact(
    problem: LinearProblem, roots: FloatArray, deviations: FloatArray, terms: IntArray
) -> tuple[float, float]:
    """Log |I + B| and h^1/2' (I + B)^-1 h^1/2; on the side of terms by Woodbury's identity."""
    used = problem.columns[:, terms] if len(terms) < problem.n_terms else problem.columns
    design = sparse.csr_array(
        sparse.diags_array(roots) @ used @ sparse.diags_array(deviations[terms])
    )
    if design.shape[0] <= design.shape[1]:
        factor = linalg.cholesky(
            np.eye(design.shape[0]) + (design @ design.T).toarray(), lower=True
        )
        half = linalg.solve_triangular(factor, roots, lower=True)
        form = half @ half
    else:
        factor = linalg.cholesky(
            np.eye(design.shape[1]) + (design.T @ design).toarray(), lower=True
        )
        half = linalg.solve_triangular(factor, design.T @ roots, lower=True)
        form = roots @ roots - half @ half
    return 2.0 * float(np.sum(np.log(np.diagonal(factor)))), float(form)


def _by_lanczos(
    problem: LinearProblem, roots: FloatArray, deviations: FloatArray
) -> tuple[float, float]:
    """Estimate as `_exact`, with seven columns of random signs for the determinant."""
    rows = problem.rows
    n_documents = len(roots)
    starts = np.empty((n_documents, _PROBES + 1))
    starts[:, :-1] = np.random.default_rng(0).choice([-1.0, 1.0], size=(n_documents, _PROBES))
    starts[:, -1] = np.maximum(roots, _LITTLE_CURVATURE)
    inner = np.empty((problem.n_terms, _PROBES + 1))
    outer = np.empty_like(starts)
    left = roots[:, np.newaxis]
    variances = (deviations**2)[:, np.newaxis]

    def one_and_b(vectors: FloatArray) -> Array:
        transposed_times(rows.indptr, rows.indices, rows.data, left * vectors, inner)
        np.multiply(inner, variances, out=inner)
        times(rows.indptr, rows.indices, rows.data, inner, outer)
        return np.asarray(vectors + left * outer)

    spectra = lanczos_spectra(one_and_b, starts)
    logs = [spectrum.form(np.log) for spectrum in spectra[:-1]]
    return float(np.mean(logs)), spectra[-1].form(np.reciprocal)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of a matrix as one vector z sees them.

    They are few: nodes of Gauss's quadrature.

    Parameters
    ----------
    nodes : eigenvalues, at least `_LITTLE_CURVATURE`
    shares : the squared length of z that falls to each
    """

    nodes: FloatArray
    shares: FloatArray

    def form(self, function: Callable[[Array], Array]) -> float:
        """Return the quadratic form z' f(A) z."""
        return float(self.shares @ function(self.nodes))


def lanczos_spectra(product: Callable[[Array], Array], starts: FloatArray) -> list[Spectrum]:
    """Find the spectra of a positive definite matrix, one for each column of `starts`.

    Steps end when they hardly change z' log(A) z. The basis is not kept orthogonal: what rounding
    adds are copies of eigenvalues that are found already, which share their weight (Golub & Meurant
    2010, section 4.1).
    """
    sizes = np.sum(starts**2, axis=0)
    vector = starts / np.sqrt(sizes)
    before = np.zeros_like(starts)
    side = np.zeros(len(sizes))
    diagonals: list[Array] = []
    sides: list[Array] = []
    last = np.inf
    for k in range(_STEPS):
        image = product(vector)
        diagonals.append(np.sum(image * vector, axis=0))
        image -= diagonals[-1] * vector + side * before
        side = np.sqrt(np.sum(image**2, axis=0))
        side[side <= _NOISE_SHARE * np.max(diagonals)] = 0.0
        if k % _CHECK == _CHECK - 1 or not side.any():
            spectra = _spectra(np.array(diagonals), np.array(sides), sizes)
            total = float(np.mean([spectrum.form(np.log) for spectrum in spectra]))
            if abs(total - last) <= _TOLERANCE_NATS or not side.any():
                break
            last = total
        sides.append(side)
        before = vector
        vector = np.divide(image, side, out=np.zeros_like(image), where=side > 0.0)
    return spectra


def _spectra(diagonals: FloatArray, sides: Array, sizes: Array) -> list[Spectrum]:
    """Of tridiagonal matrices, one for each column."""
    found = []
    for column, size in enumerate(sizes):
        side = sides[:, column] if len(sides) else np.empty(0)
        nodes, vectors = linalg.eigh_tridiagonal(
            diagonals[:, column], side, lapack_driver="stev"
        )
        found.append(Spectrum(np.maximum(nodes, _LITTLE_CURVATURE), size * vectors[0] ** 2))
    return found


@dataclass(frozen=True, eq=False)
class KinkIntegrals:
    """The integrals J along each weight under a Laplace prior.

    Parameters
    ----------
    distances : of the weights from the prior's modes, 0 for those that stand there
    slopes, curvatures : of the log-likelihood along each weight, at the mode of the posterior
    rates : of the prior
    """

    distances: FloatArray
    slopes: FloatArray
    curvatures: FloatArray
    rates: FloatArray

    @property
    def deviations(self) -> Array:
        """Those of the prior, sqrt(2) / rate."""
        return np.asarray(np.sqrt(2.0) / self.rates)

    @property
    def log_total(self) -> float:
        """The sum of log(rate / 2 J), and of log(1 + 2 h / rate^2) / 2."""
        curvatures = np.maximum(self.curvatures, (1e-8 * self.rates) ** 2)
        sides = np.where(self.distances < 0, -1.0, 1.0)
        roots = np.sqrt(curvatures)
        far = np.abs(self.distances) * np.sqrt(curvatures)
        same = _half((self.rates - sides * self.slopes) / roots, far)
        other = _half(
            (self.rates + sides * self.slopes) / roots, -far
        ) + 2.0 * self.rates * np.abs(self.distances)
        heights = np.logaddexp(same, other) + 0.5 * np.log(2.0 * np.pi / curvatures)
        scaled = np.log1p(2.0 * self.curvatures / self.rates**2)
        return float(np.sum(np.log(self.rates / 2.0) + heights) + 0.5 * np.sum(scaled))


def _half(pull: Array, far: Array) -> Array:
    """Return the log integral of exp(-pull v - v^2 / 2) / sqrt(2 pi) over v > -far."""
    end = far - pull
    tail = np.log(0.5 * erfcx(np.maximum(-end, 0.0) / np.sqrt(2.0))) + 0.5 * far * (
        2.0 * pull - far
    )
    return np.asarray(np.where(end < 0, tail, log_ndtr(end) + 0.5 * pull**2))


def squared(columns: sparse.csc_array) -> sparse.csc_array:
    """Return the matrix of the squares of the entries."""
    return sparse.csc_array(
        (columns.data**2, columns.indices, columns.indptr), shape=columns.shape
    )


def softmax_log_evidence(
    problem: LinearProblem, solutions: list[Solution], *, largest: int = _LARGEST_DETERMINANT
) -> float:
    """Return the log evidence of a softmax model at its mode.

    Its determinant is exact up to `largest` weights and intercepts.

    Examples
    --------
    >>> from bayesift.models.linear import GaussianPrior, Logit
    >>> rows, members = sparse.csr_array(np.eye(3)), sparse.csr_array(np.eye(3))
    >>> problem = LinearProblem(rows, members, np.ones(3), Logit(), GaussianPrior(1e-9),
    ...     np.zeros(3), coupled=True)
    >>> nothing = [Solution(np.zeros(3), 0.0, np.empty(0), 0, True)] * 3
    >>> round(softmax_log_evidence(problem, nothing), 6)
    -3.295837
    """
    intercepts = np.array([solution.intercept for solution in solutions])
    coefficients = stack_rows([solution.weights for solution in solutions])
    logarithms = log_softmax(scores_of(problem.rows, coefficients, intercepts), axis=1)
    shares = np.exp(logarithms)
    n_classes = len(solutions)
    free, precision, centre = problem.intercept
    value = float(problem.importance @ logarithms[np.arange(len(shares)), labels_of(problem)])
    value -= 0.5 * float(precision * np.sum((intercepts - centre) ** 2))
    deviations = np.zeros((n_classes, problem.n_terms))
    for c, solution in enumerate(solutions):
        height, deviations[c] = _class_height(problem, c, solution.coefficients, shares[:, c])
        value += height
    if free:
        value += 0.5 * (
            n_classes * np.log(precision)
            if precision
            else (n_classes - 1) * np.log(2.0 * np.pi)
        )
    hessian = _SoftmaxHessian(problem, deviations, shares)
    small = np.count_nonzero(deviations) + n_classes <= largest
    return float(value - 0.5 * (hessian.exact() if small else hessian.by_lanczos()))


def _class_height(
    problem: LinearProblem, c: int, weights: FloatArray, shares: FloatArray
) -> tuple[float, Array]:
    """Return the log prior of a class at the mode, with integrals J for a Laplace prior.

    And deviations of its weights.
    """
    terms = problem.terms_of(c)
    penalty = problem.penalty(c)
    distances = np.zeros(problem.n_terms)
    deviations = np.zeros(problem.n_terms)
    distances[terms] = (weights - penalty[2])[terms]
    height = -problem.prior.cost(distances, c)
    if problem.prior.smooth:
        deviations[terms] = 1.0 / np.sqrt(penalty[1, terms])
        return height, deviations
    residuals = -problem.importance * shares
    residuals[problem.positives(c)] += problem.importance[problem.positives(c)]
    integrals = KinkIntegrals(
        distances[terms],
        (problem.columns.T @ residuals)[terms],
        (squared(problem.columns).T @ (problem.importance * shares * (1.0 - shares)))[terms],
        penalty[0, terms],
    )
    deviations[terms] = integrals.deviations
    return height + integrals.log_total, deviations


class _SoftmaxHessian:
    """The Hessian of all classes in units of the prior, for its log determinant."""

    def __init__(
        self, problem: LinearProblem, deviations: FloatArray, shares: FloatArray
    ) -> None:
        self.problem = problem
        self.deviations = deviations
        self.shares = shares
        self.free, self.precision, _ = problem.intercept
        self.common = 1.0 / len(deviations) if self.free and not self.precision else 0.0

    def exact(self) -> float:
        """From the matrix itself: its blocks are X_a' diag(w p_a (1[a = b] - p_b)) X_b."""
        n_classes = len(self.deviations)
        last = np.full((self.problem.rows.shape[0], 1), self.free)
        parts = []
        for row in self.deviations:
            used = np.flatnonzero(row)
            columns = self.problem.columns[:, used] @ sparse.diags_array(row[used])
            parts.append(sparse.csc_array(sparse.hstack([columns, last])))

        def block(a: int, b: int) -> Array:
            curvatures = (
                self.problem.importance
                * self.shares[:, a]
                * (float(a == b) - self.shares[:, b])
            )
            return np.asarray(
                (parts[a].T @ sparse.csc_array(parts[b] * curvatures[:, np.newaxis])).toarray()
            )

        whole: Array = np.block(
            [[block(a, b) for b in range(n_classes)] for a in range(n_classes)]
        )
        ends = np.cumsum([part.shape[1] for part in parts]) - 1
        ridge = np.ones(len(whole))
        ridge[ends] = self.precision if self.free else 1.0
        whole[np.diag_indices_from(whole)] += ridge
        whole[np.ix_(ends, ends)] += self.common
        return 2.0 * float(np.sum(np.log(np.diagonal(linalg.cholesky(whole, lower=True)))))

    def by_lanczos(self) -> float:
        """Return the mean over seven columns of random signs, each by Lanczos quadrature."""
        model = NormalModel(
            self.problem, self.problem.rows, np.zeros_like(self.deviations), self.deviations
        )
        shares = np.zeros((len(self.shares), model.spread.shape[1]))
        shares[:, : model.n_classes] = self.shares
        moves = model.spread > 0
        if self.common:
            model.ridge[-1] = 0.0
        random = np.random.default_rng(0)
        total = 0.0

        def product(vectors: FloatArray) -> Array:
            vector = vectors.reshape(moves.shape)
            image = model.hessian_product(vector, shares)
            image[-1, : model.n_classes] += self.common * vector[-1, : model.n_classes].sum()
            return image.reshape(-1, 1)

        for _ in range(_PROBES):
            signs = np.where(moves, random.choice([-1.0, 1.0], size=moves.shape), 0.0)
            (spectrum,) = lanczos_spectra(product, signs.reshape(-1, 1))
            total += spectrum.form(np.log)
        return total / _PROBES
