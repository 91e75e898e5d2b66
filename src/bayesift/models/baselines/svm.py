"""Support vector machines: linear, on naive Bayes features, and with a kernel."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.models.base import (
    LinearScoresMixin,
    Row,
    check_documents,
    compact_row,
    for_each_model,
    models_of,
    stack_rows,
    terms_of,
)
from bayesift.models.linear.links import SquaredHinge
from bayesift.models.linear.priors import prior_of
from bayesift.models.linear.problem import LinearProblem, document_weights
from bayesift.models.linear.solvers import solve_all
from bayesift.state import storable
from bayesift.validation import Targets, TermTagsMixin, check_terms

_MAX_ITER = {"squared_hinge": 20_000, "hinge": 100_000}
_LEAST_BLOCK_WORK = 1 << 20  # entries x categories, below which no kernel is worth loading


@storable("support-vectors")
class LinearSVM(LinearScoresMixin, ClassifierMixin, BaseEstimator):
    """A maximum-margin hyperplane for each category.

        w, b = argmin  |w|^2 / 2 + b^2 / 2 + C sum_i loss(y_i (x_i w + b))
        loss(m) = max(0, 1 - m)^2  or  max(0, 1 - m)

    The dual problem of the squared hinge is solved for blocks of categories at once
    (`bayesift.kernels.dual`), where entries x categories are a million or more; all else by
    scikit-learn's `LinearSVC` (liblinear).

    Scores are margins, not probabilities: decide with a rule that is fitted to scores (`scut`,
    `max-f1`), or by sign.

    Parameters
    ----------
    C : cost of margins below 1; "scale" is SVMlight's default, one over the mean squared length of
        the documents
    loss : "squared_hinge" or "hinge"
    class_weight : None, "balanced", or with class labels one weight per class
    dual : solve the dual problem, which copes with long and short documents alike, or the primal
        one, which is slow on raw counts and precise to many digits; "auto" is the dual where there
        are more terms than documents. The hinge loss has the dual only
    tol : tolerance of liblinear; of blocks of categories the objective is within tol^2 of its
        minimum
    random_state : seed of the order in which liblinear's dual solver takes the documents

    Examples
    --------
    >>> model = LinearSVM().fit([[1, 0], [0, 1], [0, 2]], ["grain", "crude", "crude"])
    >>> model.predict([[0, 1]]).tolist()
    ['crude']
    """

    def __init__(
        self,
        *,
        C: float | Literal["scale"] = 1.0,
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        class_weight: Any = None,
        dual: bool | Literal["auto"] = True,
        tol: float = 1e-4,
        random_state: int | None = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.class_weight = class_weight
        self.dual = dual
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, feature_mask: Any = None) -> Self:
        """Find the hyperplanes.

        `feature_mask` (hyperplanes x terms) limits the terms of each, all without it.
        """
        self._check_settings()
        return self.fit_checked(*check_documents(self, X, y, sample_weight), feature_mask)

    def fit_checked(
        self, rows: SparseRows, targets: Targets, weights: FloatArray, feature_mask: Any = None
    ) -> Self:
        """Find the hyperplanes for documents, targets and weights that were checked."""
        self._check_settings()
        members = models_of(targets)
        terms = terms_of(feature_mask, (members.shape[0], rows.shape[1]))
        importance, balance = document_weights(self.class_weight, targets, members, weights)
        costs = self._costs(rows, terms, weights, members.shape[0])
        balance = costs if balance is None else costs * balance
        if self._by_blocks(rows, members.shape[0]):
            given = (
                rows,
                members,
                importance,
                SquaredHinge(),
                prior_of("gaussian"),
                np.array([1.0, 1.0, 0.0]),
                terms,
            )
            found = _hyperplanes(
                LinearProblem(*given, self.tol, _MAX_ITER[self.loss], balance=balance)
            )
        else:
            limits = [None] * members.shape[0] if terms is None else terms
            each = zip(members, balance.T, limits, strict=True)
            found = [self._hyperplane(rows, part, importance, *rest) for part, *rest in each]
        coefficients, intercepts = zip(*found, strict=True)
        return self._set_hyperplanes(
            targets, stack_rows(list(coefficients)), np.array(intercepts)
        )

    def _check_settings(self) -> None:
        check_cost(self.C)
        if self.loss not in _MAX_ITER:
            raise ValueError(f"loss must be one of {', '.join(_MAX_ITER)}, got {self.loss!r}")

    def _costs(
        self, rows: SparseRows, terms: list[Array] | None, weights: FloatArray, n_models: int
    ) -> Array:
        """Return the cost of documents inside and outside of each category, 2 x categories."""
        if self.C != "scale":
            return np.full((2, n_models), float(self.C))
        parts = [rows] if terms is None else (rows[:, chosen] for chosen in terms)
        return np.tile(
            [scaled_cost(squared_lengths(part), weights) for part in parts],
            (2, n_models if terms is None else 1),
        )

    def _by_blocks(self, rows: SparseRows, n_models: int) -> bool:
        dual = rows.shape[1] > rows.shape[0] if self.dual == "auto" else self.dual
        return (
            bool(dual)
            and self.loss == "squared_hinge"
            and rows.nnz * n_models >= _LEAST_BLOCK_WORK
        )

    def _hyperplane(
        self,
        rows: SparseRows,
        members: SparseRows,
        importance: FloatArray,
        costs: Array,
        terms: IntArray | None,
    ) -> tuple[Row, float]:
        """Find the hyperplane of one category, by liblinear."""
        from sklearn.svm import LinearSVC

        positive = members.toarray().ravel() != 0
        weights = importance * np.where(positive, *costs)
        counted = weights > 0
        if positive[counted].all() or not positive[counted].any():  # nothing to separate
            return compact_row(np.zeros(rows.shape[1])), 1.0 if positive[
                counted
            ].any() else -1.0
        settings = {
            "loss": self.loss,
            "dual": self.dual,
            "tol": self.tol,
            "random_state": self.random_state,
        }
        machine = LinearSVC(C=1.0, max_iter=_MAX_ITER[self.loss], **settings)
        part = rows if terms is None else rows[:, terms]
        machine.fit(part[counted], positive[counted], sample_weight=weights[counted])
        row = (
            machine.coef_[0]
            if terms is None
            else _spread(machine.coef_[0], terms, rows.shape[1])
        )
        return compact_row(row), float(machine.intercept_[0])


def _hyperplanes(problem: LinearProblem) -> list[tuple[Row, float]]:
    """Find the hyperplanes of all categories, by blocks of them.

    Those with nothing to separate have no weights.
    """
    counted = (problem.importance > 0).astype(np.int64)
    inside = problem.members @ counted
    found = [(compact_row(np.zeros(problem.n_terms)), 1.0 if size else -1.0) for size in inside]
    separable = np.flatnonzero((inside > 0) & (inside < counted.sum()))
    solutions = solve_all(
        problem, "dual", [None] * len(separable), None, categories=separable.tolist()
    )
    for c, solution in zip(separable, solutions, strict=True):
        found[c] = solution.weights, solution.intercept
    late = sum(not solution.converged for solution in solutions)
    if late:
        warnings.warn(
            f"{late} machines did not converge; raise tol", ConvergenceWarning, stacklevel=3
        )
    return found


def _spread(values: FloatArray, columns: IntArray, n_columns: int) -> Array:
    """Return a row with values in some columns and 0 elsewhere."""
    row = np.zeros(n_columns)
    row[columns] = values
    return row


def check_cost(C: Any) -> None:
    """Refuse a cost that is neither "scale" nor a positive number."""
    if C != "scale" and not (isinstance(C, Real) and float(C) > 0):
        raise ValueError(f"C must be 'scale' or a number above 0, got {C!r}")


def scaled_cost(squares: FloatArray, weights: FloatArray | None = None) -> float:
    """One over the mean squared distance of documents from the origin; 1 where all are 0."""
    mean = float(np.average(squares, weights=weights))
    return 1.0 / mean if mean > 0 else 1.0


def squared_lengths(rows: SparseRows) -> Array:
    """Return the squared length of every document."""
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


@storable("nbsvm")
class NBSVMClassifier(TermTagsMixin, LinearScoresMixin, ClassifierMixin, BaseEstimator):
    """A support vector machine whose features are scaled by the log-count ratios of naive Bayes.

        r = log (p(t | c) + eps) / (p(t | not c) + eps),   eps = 2 alpha / all counts
        w, b = argmin SVM on x ∘ r,   score = x · (r ∘ w') + b'
        w' = (1 - beta) m + beta w,   b' = (1 - beta) m log P(c) / P(not c) + beta b,   m =
        mean(|w|)

    so that weights far from the mean, which rest on few documents, are drawn towards naive Bayes.
    Meant for binary weights (presence of terms).

    Parameters
    ----------
    alpha : pseudo-count of every term, shared between the category and the rest in proportion to
        their counts
    beta : 1 is the plain machine on scaled features, 0 naive Bayes
    C, dual, tol, random_state : as in `LinearSVM`

    Notes
    -----
    Wang & Manning have two classes of equal size: they add alpha to the counts of each and leave
    the machine's b as it is. Against a rest that is many times larger the first makes words that a
    category lacks speak for it, and the second sets a threshold for weights that are no longer
    there. For equal counts the ratios are theirs.

    References
    ----------
    Wang & Manning (2012), eqs. 1-5.

    Examples
    --------
    >>> model = NBSVMClassifier().fit([[1, 0], [1, 0], [0, 1], [1, 1]],
    ...     ["grain", "grain", "crude", "crude"])
    >>> model.predict([[0, 1], [1, 0]]).tolist()
    ['crude', 'grain']
    """

    POSITIVE_ONLY = True
    POOR_SCORE = True

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 0.25,
        C: float = 0.1,
        dual: bool = True,
        tol: float = 1e-4,
        random_state: int | None = 0,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.C = C
        self.dual = dual
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count, scale, and find the hyperplanes."""
        return self.fit_checked(*check_documents(self, X, y, sample_weight, non_negative=True))

    def fit_checked(self, rows: SparseRows, targets: Targets, weights: FloatArray) -> Self:
        """Find the hyperplanes for documents, targets and weights that were checked."""
        planes = [self._hyperplane(rows, members, weights) for members in models_of(targets)]
        coefficients, intercepts = zip(*planes, strict=True)
        return self._set_hyperplanes(targets, np.stack(coefficients), np.array(intercepts))

    def _hyperplane(
        self, rows: SparseRows, positives: SparseRows, weights: FloatArray
    ) -> tuple[FloatArray, float]:
        """Find the hyperplane of one category; its weights are those of unscaled features."""
        members = positives.toarray().ravel()
        counts = np.stack([(weights * members) @ rows, (weights * (1 - members)) @ rows])
        totals = counts.sum(axis=1, keepdims=True)
        shares = counts / np.where(totals > 0, totals, 1.0) + 2.0 * self.alpha / max(
            totals.sum(), 1.0
        )
        ratios = np.log(shares[0]) - np.log(shares[1])
        machine = LinearSVM(
            C=self.C, dual=self.dual, tol=self.tol, random_state=self.random_state
        )
        scaled = sparse.csr_array(
            (rows.data * ratios[rows.indices], rows.indices, rows.indptr), shape=rows.shape
        )
        targets = Targets.of_indicator(sparse.csr_array(members[:, np.newaxis]))
        machine.fit_checked(scaled, targets, weights)
        found = (
            machine.coef_.toarray()[0] if sparse.issparse(machine.coef_) else machine.coef_[0]
        )
        mean = (1.0 - self.beta) * np.mean(np.abs(found))
        positive = weights @ members
        prior = logit((positive + 0.5) / (weights.sum() + 1.0))
        return ratios * (mean + self.beta * found), float(
            mean * prior + self.beta * machine.intercept_[0]
        )


_PARAMETERS: dict[str, dict[str, Any]] = {
    "polynomial": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
}
_CACHE_MEGABYTES = 500  # megabytes of kernel values
_MOST_SHARED_DOCUMENTS = (
    12_000  # documents whose kernel values are computed once for all models: 1.2 GB
)
_BLOCK_DOCUMENTS = 1_000  # documents whose kernel values are computed together


class KernelSVM(TermTagsMixin, ClassifierMixin, BaseEstimator):
    """Support vector machine with a kernel and hinge loss, by scikit-learn's `SVC`.

    Scores are margins.

    With an indicator matrix each category has its own machine. With class labels there is one for
    two classes, and one per class against the rest for more. `LinearSVM` has the linear kernel.

    Parameters
    ----------
    kernel : "polynomial", (x.x' + 1)^2, or "rbf", exp(-|x - x'|^2 / 2): SVM-2 and SVM-R1 of Chai,
        Ng & Chieu (2002)
    C : cost of margins below 1; "scale" is SVMlight's default, one over the mean squared distance
        of documents from the origin in the kernel's space
    n_jobs : threads over categories; -1 for all cores

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    machines_ : the `SVC` of each model; None for a category with no document or all of them
    terms_ : the columns each model uses; None for all

    Examples
    --------
    >>> X = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]]
    >>> KernelSVM().fit(X,
    ...     ["grain", "grain", "crude", "crude"]).predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    classes_: Array
    multilabel_: bool
    machines_: list[Any]
    terms_: list[Array] | None

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        C: float | Literal["scale"] = "scale",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, feature_mask: Any = None) -> Self:
        """Fit the machines.

        `feature_mask` (models x terms) limits the terms of each, all without it.
        """
        if self.kernel not in _PARAMETERS:
            raise ValueError(
                f"kernel must be one of {', '.join(_PARAMETERS)}, got {self.kernel!r}"
            )
        check_cost(self.C)
        rows, targets, _ = check_documents(self, X, y)
        members = models_of(targets)
        self.terms_ = terms_of(feature_mask, (members.shape[0], rows.shape[1]))
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        self._constants = np.where(np.diff(members.indptr) == members.shape[1], 1.0, -1.0)
        share_values = (
            self.terms_ is None
            and members.shape[0] > 1
            and members.shape[1] <= _MOST_SHARED_DOCUMENTS
        )
        self._documents = rows if share_values else None
        columns = sparse.csc_array(rows)
        values = None if self._documents is None else self._values(rows, rows)
        cost = self._cost(rows)

        def learn(c: int) -> Any:
            from sklearn.svm import SVC

            positive = members[[c]].toarray()[0]
            if not 0 < positive.sum() < len(positive):
                return None
            if values is not None:
                return SVC(C=cost, kernel="precomputed", cache_size=_CACHE_MEGABYTES).fit(
                    values, positive
                )
            part = self._part(columns, c)
            return SVC(
                C=self._cost(part), cache_size=_CACHE_MEGABYTES, **_PARAMETERS[self.kernel]
            ).fit(part, positive)

        self.machines_ = for_each_model(learn, members.shape[0], self.n_jobs)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Margins, documents x models; one dimension for two classes."""
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False)
        if self._documents is None:
            margins = self._separate_margins(rows)
        else:
            margins = self._shared_margins(rows)
        return margins[:, 0] if self._is_binary() else margins

    def predict(self, X: Any) -> Array:
        """Return the class with the largest margin, or the indicator of positive margins."""
        margins = self.decision_function(X)
        if self.multilabel_:
            return (margins > 0).astype(np.int64)
        classes: Array = self.classes_[
            (margins > 0).astype(int) if self._is_binary() else np.argmax(margins, axis=1)
        ]
        return classes

    def _values(self, rows: SparseRows, others: SparseRows) -> Array:
        """Kernel values, rows x others."""
        values = np.empty((rows.shape[0], others.shape[0]))
        across = sparse.csc_array(others.T)
        lengths = squared_lengths(rows)
        other_lengths = squared_lengths(others)
        for start in range(0, rows.shape[0], _BLOCK_DOCUMENTS):
            block = slice(start, start + _BLOCK_DOCUMENTS)
            part = values[block]
            part[:] = (rows[block] @ across).toarray()
            if self.kernel == "polynomial":
                part += 1.0
                part *= part
            else:
                part -= 0.5 * (lengths[block, np.newaxis] + other_lengths)
                np.exp(part, out=part)
        return values

    def _shared_margins(self, rows: SparseRows) -> Array:
        """Margins of all models by the same kernel values, a block of documents at a time."""
        assert self._documents is not None
        weights = np.zeros((self._documents.shape[0], len(self.machines_)))
        constants = self._constants.copy()
        for c, machine in enumerate(self.machines_):
            if machine is not None:
                weights[machine.support_, c] = machine.dual_coef_[0]
                constants[c] = machine.intercept_[0]
        margins = np.empty((rows.shape[0], len(self.machines_)))
        for start in range(0, rows.shape[0], _BLOCK_DOCUMENTS):
            block = slice(start, start + _BLOCK_DOCUMENTS)
            margins[block] = self._values(rows[block], self._documents) @ weights + constants
        return margins

    def _separate_margins(self, rows: SparseRows) -> Array:
        """Margins of models with terms of their own."""
        columns = sparse.csc_array(rows)

        def score(c: int) -> Array:
            if self.machines_[c] is None:
                return np.full(columns.shape[0], self._constants[c])
            margins: FloatArray = self.machines_[c].decision_function(self._part(columns, c))
            return margins

        return np.column_stack(for_each_model(score, len(self.machines_), self.n_jobs))

    def _cost(self, X: Any) -> float:
        """C; "scale" is one over the mean of K(x, x) - 2 K(x, 0) + K(0, 0)."""
        if self.C != "scale":
            return float(self.C)
        squares = squared_lengths(X)
        polynomial = self.kernel == "polynomial"
        return scaled_cost(
            (squares + 1.0) ** 2 - 1.0 if polynomial else 2.0 - 2.0 * np.exp(-0.5 * squares)
        )

    def _part(self, columns: sparse.csc_array, model: int) -> Any:
        part = columns if self.terms_ is None else columns[:, self.terms_[model]]
        return sparse.csr_array(part)

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2
