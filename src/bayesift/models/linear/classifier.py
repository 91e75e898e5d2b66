"""Linear classifiers with Bayesian priors."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.linear.importance import importance_of
from bayesift.models.linear.kinds import describe_settings, described_settings
from bayesift.models.linear.links import link_of, log_likelihoods, probabilities
from bayesift.models.linear.priors import prior_of
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.softmax import is_softmax, solve_softmax
from bayesift.models.linear.solvers import solve_all
from bayesift.models.linear.weights import compact, from_arrays, scores_of, to_arrays
from bayesift.models.state import Arrays, Parameters, classes_of, describe_classes, expect
from bayesift.validation import Targets, check_sample_weight, check_targets, check_terms

Array = np.ndarray[Any, Any]


class SparseBayesClassifier(ClassifierMixin, BaseEstimator):
    """Linear classifier at the mode of its posterior, for exchangeable links and priors.

        beta, b = argmax  sum_i w_i log psi(y_i (x_i beta + b)) + sum_j log p(beta_j)

    With an indicator matrix each category has a model of its own. Two class labels share one model; of more
    each is set against the rest and probabilities are normalised, or they share one softmax model.

    Parameters
    ----------
    link : psi: "logit", "probit" or `LogF(shape)`, the family that holds both
    prior : `LaplacePrior`, `GaussianPrior` or `JeffreysPrior`, with numbers or arrays that broadcast to models x terms;
        or "laplace", "gaussian" or "jeffreys"
    intercept : "flat" (no prior), a `GaussianPrior`, or None for no intercept
    solver : "auto", "coordinate", "newton", "lbfgs", "em" or "ecm"; all reach the same mode where it is unique
    tol : the largest violation of the optimality conditions, relative to the prior's strength (Laplace), or the norm of
        the gradient relative to the start (Gaussian)
    max_iter : rounds of the solver
    multiclass : for more than two class labels "one-vs-rest", or "softmax" (logit link): one model of all classes
    class_weight : None, "balanced", or with class labels a weight a class
    warm_start : start from the weights of the last fit
    n_jobs : threads over categories; -1 for all cores; a softmax model, whose classes are coupled, uses one

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    softmax_ : whether the classes share one softmax model
    coef_ : models x terms, sparse when most weights are 0
    intercept_ : one a model
    solutions_ : the `Solution` of each model
    n_iter_ : the rounds of the slowest model

    References
    ----------
    Eyheramendy, Genkin, Ju, Lewis & Madigan (2003), eqs. 1-14.

    Examples
    --------
    >>> from bayesift.models import LaplacePrior
    >>> X = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]]
    >>> model = SparseBayesClassifier(prior=LaplacePrior(gamma=0.01)).fit(X, ["grain", "grain", "crude", "crude"])
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    classes_: Array
    multilabel_: bool
    softmax_: bool
    coef_: Any
    intercept_: Array

    def __init__(
        self,
        *,
        link: Any = "logit",
        prior: Any = "laplace",
        intercept: Any = "flat",
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        multiclass: str = "one-vs-rest",
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.link = link
        self.prior = prior
        self.intercept = intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, supports: Any = None) -> Self:
        """Find the mode; `supports` (models x terms) says which terms each model may use, all without it."""
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents)
        if not np.any(weights):
            raise ValueError("sample_weight is zero for every document")
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members = _models_of(targets)
        link = link_of(self.link)
        softmax = is_softmax(self.multiclass, link, members.shape[0], multilabel=targets.multilabel)
        problem = Problem(
            rows=rows,
            members=members,
            importance=importance_of(self.class_weight, targets, None if softmax else members, weights),
            link=link,
            prior=prior_of(self.prior),
            intercept=self._intercept_row(),
            terms=None if supports is None else _supported(supports, (members.shape[0], rows.shape[1])),
            tolerance=self.tol,
            max_iter=self.max_iter,
        )
        starts = self._starts(problem)
        if softmax:
            solutions = solve_softmax(problem, self.solver, starts)
        else:
            solutions = solve_all(problem, self.solver, starts, self.n_jobs)
        self.classes_, self.multilabel_, self.softmax_ = targets.classes, targets.multilabel, softmax
        self._keep(solutions)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores x beta + b, documents x models; one dimension for two classes."""
        scores = self._scores(X)
        return scores[:, 0] if self._is_binary() else scores

    def predict(self, X: Any) -> Array:
        """The most probable class, or the indicator of the categories more probable than not."""
        scores = self._scores(X)
        if self.multilabel_:
            return (scores > 0).astype(np.int64)
        best = (scores[:, 0] > 0).astype(int) if self._is_binary() else np.argmax(scores, axis=1)
        classes: Array = self.classes_[best]
        return classes

    def predict_proba(self, X: Any) -> Array:
        """P(c | d), documents x categories; at the mode of the weights."""
        scores = self._scores(X)
        if self.multilabel_:
            return probabilities(link_of(self.link), scores)
        return np.exp(self._log_proba(scores))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of P(c | d), documents x categories."""
        return self._log_proba(self._scores(X))

    def contributions(self, X: Any, category: Any, *, against: Any = None) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the score of a category, documents x terms, and the intercept.

        Parameters
        ----------
        X : documents x terms
        category : one of `classes_`
        against : the class to compare with (labels only); the rest of the category without

        Examples
        --------
        >>> model = SparseBayesClassifier(prior="gaussian").fit([[2, 0], [0, 1]], [0, 1])
        >>> terms, prior = model.contributions([[1, 1]], 1)
        >>> bool(terms.toarray()[0, 0] <= 0 <= terms.toarray()[0, 1])
        True
        """
        check_is_fitted(self)
        X = check_terms(self, X, reset=False)
        weights, intercept = self._linear_form(category)
        if against is not None and not self._is_binary():
            theirs, other = self._linear_form(against)
            weights, intercept = weights - theirs, intercept - other
        values = X.data * weights[X.indices]
        return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape), np.full(X.shape[0], intercept)

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and arrays."""
        check_is_fitted(self)
        settings, arrays = describe_settings(self.get_params(deep=False))
        parameters: Parameters = {
            "settings": settings,
            "classes": describe_classes(self.classes_),
            "multilabel": self.multilabel_,
            "softmax": self.softmax_,
        }
        return parameters, {**to_arrays(self.coef_, self.intercept_), **arrays}

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical probabilities; refuses what does not fit together."""
        model = cls(**described_settings(expect(parameters, "settings", dict), arrays))
        model.multilabel_ = expect(parameters, "multilabel", bool)
        model.softmax_ = expect(parameters, "softmax", bool)
        model.coef_, model.intercept_ = from_arrays(arrays)
        n_models, model.n_features_in_ = model.coef_.shape
        n_classes = 2 if n_models == 1 and not model.multilabel_ else n_models
        model.classes_ = classes_of(expect(parameters, "classes", dict), n_classes)
        if model.softmax_ and (model.multilabel_ or n_models == 1):
            raise DataError("a softmax model has three class labels or more")
        if not model.multilabel_ and not np.array_equal(model.classes_, np.unique(model.classes_)):
            raise DataError("its classes are not sorted")
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _intercept_row(self) -> Array:
        """The row `intercept` of `bayesift.kernels.linear`."""
        if self.intercept is None:
            return np.zeros(3)
        if isinstance(self.intercept, str):
            if self.intercept != "flat":
                raise ValueError(f"intercept must be 'flat', a GaussianPrior or None, got {self.intercept!r}")
            return np.array([1.0, 0.0, 0.0])
        absolute, square = self.intercept.strengths
        if absolute:
            raise ValueError("the prior of the intercept must be a GaussianPrior")
        return np.array([1.0, float(square), float(self.intercept.mode)])

    def _starts(self, problem: Problem) -> list[Solution | None]:
        n_models = problem.members.shape[0]
        if not (self.warm_start and hasattr(self, "coef_") and self.coef_.shape == (n_models, problem.n_terms)):
            return [None] * n_models
        weights = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        return [Solution(w, float(b), np.empty(0), 0, True) for w, b in zip(weights, self.intercept_, strict=True)]

    def _keep(self, solutions: list[Solution]) -> None:
        self.solutions_ = solutions
        self.coef_ = compact(np.stack([solution.coefficients for solution in solutions]))
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.n_iter_ = max(1, *(solution.iterations for solution in solutions), 1)
        late = sum(not solution.converged for solution in solutions)
        if late:
            message = (
                f"{late} of {len(solutions)} models did not converge in {self.max_iter} rounds; raise max_iter or tol"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return scores_of(check_terms(self, X, reset=False), self.coef_, self.intercept_)

    def _log_proba(self, scores: Array) -> Array:
        link = link_of(self.link)
        if self._is_binary():
            return log_likelihoods(link, scores * [[-1.0, 1.0]])[0]
        logarithms = scores if self.softmax_ else log_likelihoods(link, scores)[0]
        return logarithms if self.multilabel_ else logarithms - logsumexp(logarithms, axis=1, keepdims=True)

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        places = np.flatnonzero(self.classes_ == category)
        if len(places) != 1:
            raise ValueError(f"no category {category!r}")
        place, sign = (0, 2.0 * places[0] - 1.0) if self._is_binary() else (places[0], 1.0)
        row = self.coef_[[place]].toarray()[0] if sparse.issparse(self.coef_) else self.coef_[place]
        return sign * row, float(sign * self.intercept_[place])


def _models_of(targets: Targets) -> sparse.csr_array:
    """The documents that each model calls positive: of two classes the second is enough."""
    if targets.multilabel:
        return targets.members
    if len(targets.classes) < 2:
        raise ValueError(f"y has only one class, {targets.classes[0]!r}; a classifier needs two")
    return targets.members[[1]] if len(targets.classes) == 2 else targets.members


def _supported(supports: Any, shape: tuple[int, int]) -> list[Array]:
    """The columns each model may use."""
    rows = sparse.csr_array(supports)
    if rows.shape != shape:
        raise ValueError(f"supports must be models x terms, {shape}, not {rows.shape}")
    rows.eliminate_zeros()
    return [np.sort(rows.indices[rows.indptr[c] : rows.indptr[c + 1]]).astype(np.int32) for c in range(shape[0])]
