"""Linear classifiers with Bayesian priors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.categories import models_of, terms_of
from bayesift.models.linear.importance import importance_of
from bayesift.models.linear.kinds import describe_settings, described_settings
from bayesift.models.linear.linear_probabilities import LinearProbabilities
from bayesift.models.linear.links import link_of
from bayesift.models.linear.path import Path, Progress, column, default_scales, follow
from bayesift.models.linear.posterior_arrays import posteriors_from_arrays, posteriors_to_arrays
from bayesift.models.linear.priors import prior_of
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.scale import Choice, FixedScale
from bayesift.models.linear.scale_rules import scale_rule_of
from bayesift.models.linear.softmax import is_softmax
from bayesift.models.linear.solvers import solve_all
from bayesift.models.linear.weights import compact, from_arrays, scales_from, to_arrays
from bayesift.models.state import Arrays, Parameters, are_sorted, classes_of, describe_classes, expect
from bayesift.validation import Targets, check_sample_weight, check_targets, check_terms

Array = np.ndarray[Any, Any]


class SparseBayesClassifier(LinearProbabilities, ClassifierMixin, BaseEstimator):
    """Linear classifier at the mode of its posterior, for exchangeable links and priors.

        beta, b = argmax  sum_i w_i log psi(y_i (x_i beta + b)) + sum_j log p(beta_j)

    With an indicator matrix each category has a model of its own. Two class labels share one model; of more
    each is set against the rest and probabilities are normalised, or they share one softmax model.

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
    multiclass : for more than two class labels "one-vs-rest", or "softmax" (logit link): one model of all classes
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
        multiclass: str = "one-vs-rest",
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

    def fit_solutions(self, solutions: list[Solution], classes: Any, *, multilabel: bool) -> Self:
        """Take weights that were found elsewhere for the posterior with the prior as given.

        Parameters
        ----------
        solutions : one a model
        classes : the class labels, sorted; or the numbers of the categories
        multilabel : whether a document may have none or several categories

        Examples
        --------
        >>> found = Solution(np.array([1.0, -1.0]), 0.0, np.empty(0), 1, True)
        >>> model = SparseBayesClassifier().fit_solutions([found], ["crude", "grain"], multilabel=False)
        >>> model.predict([[1, 0], [0, 1]]).tolist()
        ['grain', 'crude']
        """
        if self.posterior != "mode":
            raise ValueError("without the documents only the mode is known; use posterior='mode'")
        self.classes_, self.multilabel_, self.softmax_ = np.asarray(classes), multilabel, False
        self.prior_scale_, self.validation_ = np.ones(len(solutions)), None
        self.n_features_in_ = len(solutions[0].coefficients)
        self._keep(solutions)
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
        if not (model.multilabel_ or are_sorted(model.classes_)):
            raise DataError("its classes are not sorted")
        model._keep_posteriors(
            posteriors_from_arrays(arrays, model.coef_.shape) if model.posterior == "normal" else None
        )
        return model

    def _read(self, X: Any, y: Any, sample_weight: Any, supports: Any) -> tuple[Targets, Problem]:
        """What is to be fitted, with the prior as given."""
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members, link = models_of(targets), link_of(self.link)
        coupled = is_softmax(self.multiclass, link, members.shape[0], multilabel=targets.multilabel)
        problem = Problem(
            rows=rows,
            members=members,
            importance=importance_of(self.class_weight, targets, None if coupled else members, weights),
            link=link,
            prior=prior_of(self.prior),
            intercept=self.intercept_row(),
            terms=terms_of(supports, (members.shape[0], rows.shape[1])),
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

    def intercept_row(self) -> Array:
        """The intercept as solvers take it: the row `intercept` of `bayesift.kernels.linear`.

        Examples
        --------
        >>> SparseBayesClassifier(intercept="flat").intercept_row().tolist()
        [1.0, 0.0, 0.0]
        """
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
