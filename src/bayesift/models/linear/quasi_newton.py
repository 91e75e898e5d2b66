"""L-BFGS and its orthant-wise form for many models at once (`bayesift.models.linear.asking`).

Under a Laplace prior the steps are those of OWL-QN (Andrew & Gao 2007): the gradient is the smallest of the
subgradients, a step keeps within the orthant it starts for, and what would leave it becomes 0; under a Gaussian prior
nothing of this happens and they are those of L-BFGS. The first guess of the Hessian is its diagonal, at first where all
documents have the share of the category for probability, and after a few steps where the models then are: that halves
the steps that are left.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.linear import L2, MODE
from bayesift.models.linear.asking import Answer, Descent, Documents, Settings, Terms, taking
from bayesift.models.linear.problem import Solution

Array = np.ndarray[Any, Any]

MEMORY = 20
_LOOK_AGAIN = 5  # steps, before the diagonal of the Hessian is asked for
_LEAST = 1e-10


def minimise(documents: Documents, weights: Array, terms: Terms, settings: Settings) -> tuple[list[Solution], Array]:
    """The modes of all models, and bounds of the shares of their objectives that are left to gain.

    Parameters
    ----------
    documents : answer questions
    weights : where to start; weights x models, the intercepts last
    terms : the prior
    settings : when to stop

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> penalty = np.zeros((5, 2, 1)); penalty[3], penalty[4], penalty[0, 0] = -np.inf, np.inf, 1.0
    >>> centre = np.array([[3.0], [2.0]])
    >>> ask = lambda w, models: (0.5 * np.sum((w - centre) ** 2, axis=0), w - centre)
    >>> documents = SimpleNamespace(slopes=ask, curvatures=lambda w, models: np.ones(w.shape))
    >>> found, gaps = minimise(documents, np.zeros((2, 1)), Terms(penalty, np.ones((2, 1))), Settings())
    >>> found[0].coefficients.round(6).tolist(), round(found[0].intercept, 6)
    ([2.0], 2.0)
    """
    search = _Search(documents, weights, terms, settings)
    for number in range(settings.max_iter):
        if not search.going.any():
            break
        if number == _LOOK_AGAIN:
            search.look_again()
        search.step()
    return search.solutions(), search.gaps()


class _Search(Descent):
    """Models on their way, and what their last steps taught."""

    def __init__(self, documents: Documents, weights: Array, terms: Terms, settings: Settings) -> None:
        super().__init__(weights, terms, settings)
        self.documents = documents
        self.inverse = 1.0 / np.maximum(terms.curvatures + terms.penalty[L2], _LEAST)
        self.steps: list[tuple[Array, Array, Array]] = []
        self.begin(self._ask(self.weights, np.arange(weights.shape[1])))

    def look_again(self) -> None:
        """The diagonal of the Hessian where the models are."""
        columns = np.flatnonzero(self.going)
        curvatures = self.documents.curvatures(taking(self.weights, columns), columns.tolist())
        self.count()
        penalty = taking(self.terms.penalty, columns)
        self.inverse[:, columns] = 1.0 / np.maximum(curvatures + penalty[L2], _LEAST)

    def step(self) -> None:
        """One step of every model that is going."""
        columns = np.flatnonzero(self.going)
        terms, start = self.terms.taking(columns), self.weights[:, columns]
        smooth = self._smooth(columns)
        slope = terms.slope(start, taking(self.gradients, columns))
        direction = self._direction(slope, columns)
        direction[terms.edged(start) & (direction * slope >= 0)] = 0.0

        def trial(places: Array, lengths: Array) -> Array:
            begun = taking(start, places)
            new = begun + lengths * taking(direction, places)
            return terms.taking(places).kept_within(new, begun, taking(slope, places))

        def promised(places: Array, new: Array, _: Array) -> Array:
            return _products(taking(slope, places), new - taking(start, places))

        self.search(columns, trial, promised, self._ask)
        self._remember(columns, start, smooth)

    def _ask(self, weights: Array, models: Array) -> Answer:
        answer = self.documents.slopes(weights, models.tolist())
        self.count()
        return answer

    def _smooth(self, columns: Array) -> Array:
        """The gradient of all but the factors of |w - mode|."""
        penalty = taking(self.terms.penalty, columns)
        smooth: Array = taking(self.gradients, columns) + penalty[L2] * (taking(self.weights, columns) - penalty[MODE])
        return smooth

    def _remember(self, columns: Array, start: Array, smooth: Array) -> None:
        moves, changes = np.zeros(self.weights.shape), np.zeros(self.weights.shape)
        moves[:, columns] = self.weights[:, columns] - start
        changes[:, columns] = self._smooth(columns) - smooth
        self.steps = [*self.steps[-MEMORY + 1 :], (moves, changes, _products(moves, changes))]

    def _direction(self, slope: Array, columns: Array) -> Array:
        """Minus the inverse Hessian that the last steps imply, times the slope: the two loops of L-BFGS."""
        inverse = taking(self.inverse, columns)
        q, shares, scale = slope.copy(), [], np.ones(len(columns))
        for number, step in enumerate(reversed(self.steps)):
            s, y, p = (taking(part, columns) for part in step)
            bent = np.einsum("jc,jc,jc->c", y, inverse, y)
            known = p > 1e-12 * bent
            share = np.where(known, _products(s, q) / np.where(known, p, 1.0), 0.0)
            q -= share * y
            shares.append((known, share))
            if number == 0:
                scale = np.where(known, p / np.where(known, bent, 1.0), 1.0)
        q *= scale * inverse
        for step, (known, share) in zip(self.steps, reversed(shares), strict=True):
            s, y, p = (taking(part, columns) for part in step)
            back = _products(y, q) / np.where(known, p, 1.0)
            q += s * np.where(known, share - back, 0.0)
        return -q


def _products(a: Array, b: Array) -> Array:
    """Of columns with columns."""
    products: Array = np.einsum("jc,jc->c", a, b)
    return products
