"""Linear classifiers with Bayesian priors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.linear.importance import importance_of
from bayesift.models.linear.kinds import describe_settings, described_settings
from bayesift.models.linear.links import link_of, log_likelihoods, probabilities
from bayesift.models.linear.path import Path, Progress, column, default_scales, follow
from bayesift.models.linear.posterior import Posterior, normalised_bounds, posterior_of, score_interval
from bayesift.models.linear.posterior_arrays import posteriors_from_arrays, posteriors_to_arrays, variances_of
from bayesift.models.linear.priors import prior_of
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.scale import Choice, FixedScale
from bayesift.models.linear.scale_rules import scale_rule_of
from bayesift.models.linear.softmax import is_softmax
from bayesift.models.linear.solvers import solve_all
from bayesift.models.linear.weights import compact, from_arrays, scales_from, scores_of, to_arrays
from bayesift.models.state import Arrays, Parameters, classes_of, describe_classes, expect
from bayesift.validation import Targets, check_sample_weight, check_targets, check_terms

Array = np.ndarray[Any, Any]


class SparseBayesClassifier(ClassifierMixin, BaseEstimator):
    """Linear classifier at the mode of its posterior, for exchangeable links and priors.

        beta, b = argmax  sum_i w_i log psi(y_i (x_i beta + b)) + sum_j log p(beta_j)

    With an indicator matrix each category has a model of its own. Two class labels share one model; more share one
    softmax model (`bayesift.models.linear.softmax`), or each is set against the rest and probabilities are normalised.

    Parameters
    ----------
    link : psi: "logit", "probit" or `LogF(shape)`, the family that holds both
    prior : `LaplacePrior`, `GaussianPrior` or `JeffreysPrior`, with numbers or arrays that broadcast to models x terms;
        or "laplace", "gaussian" or "jeffreys"
    prior_scale : what to multiply the standard deviations of the prior by: nothing (None), a number, or how to choose
        it: "norm", "cross-validation", "one-standard-error", "search", "evidence" (Gaussian priors), or `NormBased`,
        `CrossValidation`, `ScaleSearch` or `Evidence` with parameters
    intercept : "flat" (no prior), a `GaussianPrior`, or None for no intercept
    solver : "auto" or one of `SOLVERS`; all but "variational" reach the same mode where it is unique
    tol : the largest violation of the optimality conditions, relative to the prior's strength (Laplace), or the square
        root of the share of the objective that may be left to gain (Gaussian)
    max_iter : rounds of the solver
    multiclass : "softmax" or "one-vs-rest" for more than two class labels; "auto" is softmax with the logit link
    class_weight : None, "balanced", or with class labels a weight a class
    warm_start : start from the weights of the last fit
    n_jobs : threads over categories; -1 for all cores; a softmax model, whose classes are coupled, uses one
    posterior : "mode" keeps the weights at the mode alone; "normal" also how sure they are, by the normal (Laplace)
        approximation about the mode, which `score_std` and `predict_proba_integrated` need; classes of a softmax model
        count as independent there
    progress : called with how much of the work is done and how much there is; first the choice of a scale, then the fit

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    softmax_ : whether the classes share one softmax model
    coef_ : models x terms, sparse when most weights are 0
    intercept_ : one a model
    prior_scale_ : what the standard deviations of the prior were multiplied by, one a model
    validation_ : what each scale was worth, the `Validation` of the choice; None where nothing was compared
    solutions_ : the `Solution` of each model
    n_iter_ : the rounds of the slowest model
    posteriors_, coef_variance_, intercept_variance_ : with posterior="normal", the `Posterior` of each model, and the
        variances of the weights (sparse, 0 for those that count as known) and of the intercepts

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
        prior_scale: Any = None,
        intercept: Any = "flat",
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        multiclass: str = "auto",
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        posterior: str = "mode",
        progress: Progress | None = None,
    ) -> None:
        self.link = link
        self.prior = prior
        self.prior_scale = prior_scale
        self.intercept = intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.posterior = posterior
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None, supports: Any = None) -> Self:
        """Find the mode; `supports` (models x terms) says which terms each model may use, all without it.

        An error or an interrupt leaves the classifier as it was.
        """
        before = dict(self.__dict__)
        try:
            self._check_posterior()
            targets, problem = self._read(X, y, sample_weight, supports)
            choice = self._choose_scale(problem)
            if self.prior_scale is not None:
                problem = problem.varied(prior=problem.prior.rescaled(column(choice.scales)))
            solutions = solve_all(
                problem, self.solver, self._starts(problem), self.n_jobs, progress=self._report(problem)
            )
        except BaseException:
            self.__dict__ = before
            raise
        self.classes_, self.multilabel_, self.softmax_ = targets.classes, targets.multilabel, problem.coupled
        self.prior_scale_, self.validation_ = choice.scales, choice.validation
        self._keep(solutions)
        self._keep_posteriors(self._posteriors_of(problem))
        return self

    def path(
        self, X: Any, y: Any, *, scales: Any = None, n_scales: int = 20, sample_weight: Any = None, supports: Any = None
    ) -> Path:
        """Weights along a sequence of scales of the prior, each found from the one before; fits nothing.

        Parameters
        ----------
        X, y, sample_weight, supports : as in `fit`
        scales : what the standard deviations of the prior are multiplied by, ascending: one row a step, for all models
            or a column a model; without, `n_scales` of them from the strongest prior that leaves all weights at their
            modes to one a thousand times weaker

        Examples
        --------
        >>> path = SparseBayesClassifier().path([[2, 0], [1, 0], [0, 1], [0, 2]], [0, 0, 1, 1], n_scales=3)
        >>> path.sizes.ravel().tolist()
        [0, 2, 2]
        """
        problem = self.problem(X, y, sample_weight, supports)
        n_models = problem.members.shape[0]
        if scales is None:
            steps = default_scales(problem, n_scales)
        else:
            given = np.asarray(scales, dtype=float)
            steps = np.broadcast_to(given[:, np.newaxis] if given.ndim == 1 else given, (len(given), n_models))
        return follow(problem, self.solver, steps, self.n_jobs, self.progress)

    def problem(self, X: Any, y: Any, sample_weight: Any = None, supports: Any = None) -> Problem:
        """What `fit` would solve, with the prior as given; fits nothing.

        Examples
        --------
        >>> SparseBayesClassifier().problem([[2, 0], [0, 1]], [0, 1]).n_terms
        2
        """
        unfitted: Self = clone(self)
        return unfitted._read(X, y, sample_weight, supports)[1]

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

    def predict_proba_integrated(self, X: Any) -> Array:
        """P(c | d) averaged over the posterior of the weights, documents x categories: less sure than at the mode."""
        scores, deviations = self._scores(X), self._deviations(X)
        moderated = scores / np.sqrt(1.0 + link_of(self.link).moderation * deviations**2)
        return np.exp(self._log_proba(moderated))

    def score_std(self, X: Any) -> Array:
        """The standard deviation of each score under the posterior, as `decision_function` is shaped."""
        deviations = self._deviations(X)
        return deviations[:, 0] if self._is_binary() else deviations

    def probability_interval(self, X: Any, *, mass: float = 0.9) -> tuple[Array, Array]:
        """The ends of the interval that holds this much of the posterior of each probability, documents x categories.

        Of several classes, the scores of the others stay at the mode.
        """
        scores = self._scores(X)
        low, high = score_interval(scores, self._deviations(X), mass)
        if not (self.multilabel_ or self._is_binary()):
            return normalised_bounds(*map(self._log_potentials, (scores, low, high)))
        ends = np.exp(self._log_proba(low)), np.exp(self._log_proba(high))
        return np.minimum(*ends), np.maximum(*ends)

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

    def contribution_std(self, X: Any, category: Any) -> sparse.csr_array:
        """The standard deviations of `contributions(X, category)` under the posterior, documents x terms."""
        self._check_has_posterior()
        X = check_terms(self, X, reset=False)
        row = self.coef_variance_[[self._place(category)[0]]].toarray()[0]
        return sparse.csr_array((np.abs(X.data) * np.sqrt(row[X.indices]), X.indices, X.indptr), shape=X.shape)

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
        arrays |= posteriors_to_arrays(self.posteriors_) if self.posterior == "normal" else {}
        return parameters, {**to_arrays(self.coef_, self.intercept_), "prior_scale": self.prior_scale_, **arrays}

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical probabilities; refuses what does not fit together."""
        model = cls(**described_settings(expect(parameters, "settings", dict), arrays))
        model.multilabel_ = expect(parameters, "multilabel", bool)
        model.softmax_ = expect(parameters, "softmax", bool)
        model.coef_, model.intercept_ = from_arrays(arrays)
        n_models, model.n_features_in_ = model.coef_.shape
        model.prior_scale_, model.validation_ = scales_from(arrays, n_models), None
        n_classes = 2 if n_models == 1 and not model.multilabel_ else n_models
        model.classes_ = classes_of(expect(parameters, "classes", dict), n_classes)
        if model.softmax_ and (model.multilabel_ or n_models == 1):
            raise DataError("a softmax model has three class labels or more")
        if not (model.multilabel_ or _are_sorted(model.classes_)):
            raise DataError("its classes are not sorted")
        model._keep_posteriors(
            posteriors_from_arrays(arrays, model.coef_.shape) if model.posterior == "normal" else None
        )
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, supports: Any) -> tuple[Targets, Problem]:
        """What is to be fitted, with the prior as given."""
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members, link = _models_of(targets), link_of(self.link)
        coupled = is_softmax(self.multiclass, link, members.shape[0], multilabel=targets.multilabel)
        problem = Problem(
            rows=rows,
            members=members,
            importance=importance_of(self.class_weight, targets, None if coupled else members, weights),
            link=link,
            prior=prior_of(self.prior),
            intercept=self._intercept_row(),
            terms=None if supports is None else _supported(supports, (members.shape[0], rows.shape[1])),
            tolerance=self.tol,
            max_iter=self.max_iter,
            coupled=coupled,
        )
        return targets, problem

    def _choose_scale(self, problem: Problem) -> Choice:
        rule = FixedScale() if self.prior_scale is None else scale_rule_of(self.prior_scale)
        return rule.choose(problem, self.solver, self.n_jobs, self.progress)

    def _report(self, problem: Problem) -> Callable[[int], None] | None:
        progress, total = self.progress, problem.members.shape[0]
        return None if progress is None else lambda done: progress(done, total)

    def _check_posterior(self) -> None:
        if self.posterior not in ("mode", "normal"):
            raise ValueError(f"posterior must be 'mode' or 'normal', got {self.posterior!r}")
        if self.posterior == "normal" and not prior_of(self.prior).convex:
            raise ValueError(f"posterior='normal' needs a log-concave prior, not a {prior_of(self.prior).kind} one")

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

    def _posteriors_of(self, problem: Problem) -> list[Posterior] | None:
        if self.posterior != "normal":
            return None
        if problem.coupled:
            shares = softmax(scores_of(problem.rows, self.coef_, self.intercept_), axis=1)
            curvatures: list[Any] = list((problem.importance[:, np.newaxis] * shares * (1.0 - shares)).T)
        else:
            curvatures = [None] * len(self.solutions_)
        pairs = enumerate(zip(self.solutions_, curvatures, strict=True))
        return [posterior_of(problem, category, solution, given) for category, (solution, given) in pairs]

    def _keep_posteriors(self, posteriors: list[Posterior] | None) -> None:
        if posteriors is not None:
            self.posteriors_ = posteriors
            self.coef_variance_, self.intercept_variance_ = variances_of(posteriors, self.coef_.shape[1])
        elif hasattr(self, "posteriors_"):
            del self.posteriors_, self.coef_variance_, self.intercept_variance_

    def _deviations(self, X: Any) -> Array:
        self._check_has_posterior()
        columns = sparse.csc_array(check_terms(self, X, reset=False))
        variances = np.column_stack([posterior.score_variances(columns) for posterior in self.posteriors_])
        deviations: Array = np.sqrt(variances)
        return deviations

    def _check_has_posterior(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "posteriors_"):
            raise ValueError("the model was fitted without its posterior; fit it with posterior='normal'")

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return scores_of(check_terms(self, X, reset=False), self.coef_, self.intercept_)

    def _log_potentials(self, scores: Array) -> Array:
        """Logarithms of what is normalised over classes to give their probabilities."""
        return scores if self.softmax_ else log_likelihoods(link_of(self.link), scores)[0]

    def _log_proba(self, scores: Array) -> Array:
        if self._is_binary():
            return self._log_potentials(scores * [[-1.0, 1.0]])
        logarithms = self._log_potentials(scores)
        return logarithms if self.multilabel_ else logarithms - logsumexp(logarithms, axis=1, keepdims=True)

    def _place(self, category: Any) -> tuple[int, float]:
        """The model of a category, and the sign with which it speaks for it."""
        places = np.flatnonzero(self.classes_ == category)
        if len(places) != 1:
            raise ValueError(f"no category {category!r}")
        return (0, 2.0 * places[0] - 1.0) if self._is_binary() else (int(places[0]), 1.0)

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        place, sign = self._place(category)
        row = self.coef_[[place]].toarray()[0] if sparse.issparse(self.coef_) else self.coef_[place]
        return sign * row, float(sign * self.intercept_[place])


def _models_of(targets: Targets) -> sparse.csr_array:
    """The documents that each model calls positive: of two classes the second is enough."""
    if targets.multilabel:
        return targets.members
    if len(targets.classes) < 2:
        raise ValueError(f"y has only one class, {targets.classes[0]!r}; a classifier needs two")
    return targets.members[[1]] if len(targets.classes) == 2 else targets.members


def _are_sorted(classes: Array) -> bool:
    try:
        return bool(np.all(classes[:-1] < classes[1:]))
    except TypeError:  # names and numbers
        return False


def _supported(supports: Any, shape: tuple[int, int]) -> list[Array]:
    """The columns each model may use."""
    rows = sparse.csr_array(supports)
    if rows.shape != shape:
        raise ValueError(f"supports must be models x terms, {shape}, not {rows.shape}")
    rows.eliminate_zeros()
    return [np.sort(rows.indices[rows.indptr[c] : rows.indptr[c + 1]]).astype(np.int32) for c in range(shape[0])]
