"""Scores, decisions, explanations and probabilities of classifiers with one hyperplane per category."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax, logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.models.base.categories import CategoriesMixin
from bayesift.models.linear.links import link_of, log_likelihoods, probabilities
from bayesift.models.linear.posterior import Posterior, normalised_bounds, posterior_of, score_interval, variances_of
from bayesift.models.linear.priors import prior_of
from bayesift.models.linear.problem import Problem, Solution
from bayesift.models.linear.weights import compact, scores_of
from bayesift.state import expect_array
from bayesift.validation import Targets, check_terms


class LinearScoresMixin(CategoriesMixin):
    """Scores x w + b of every category: positive ones are assigned; of several classes the one with the largest score.

    With an indicator matrix each category has its hyperplane (a row of `coef_`, sparse when most weights are 0, and an
    entry of `intercept_`); two classes share one, whose positive side is the second; more have one each.
    """

    FITTED: ClassVar[tuple[str, ...]] = ("classes_", "multilabel_", "coef_", "intercept_")

    coef_: Any
    intercept_: Array
    n_features_in_: int

    def decision_function(self, X: Any) -> Array:
        """Scores, documents x hyperplanes; one dimension for two classes."""
        scores = self._scores(X)
        return scores[:, 0] if self._is_binary() else scores

    def predict(self, X: Any) -> Array:
        """The class with the largest score, or the indicator of the categories with a positive one."""
        scores = self._scores(X)
        if self.multilabel_:
            return (scores > 0).astype(np.int64)
        best = (scores[:, 0] > 0).astype(int) if self._is_binary() else np.argmax(scores, axis=1)
        classes: Array = self.classes_[best]
        return classes

    def _set_hyperplanes(self, targets: Targets, weights: Any, intercepts: Array) -> Self:
        """Keep what was learned."""
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self.coef_ = weights if sparse.issparse(weights) else compact(weights)
        self.intercept_ = intercepts
        return self

    def _post_load(self) -> None:
        """Refuse stored hyperplanes that do not fit together."""
        n_models = len(expect_array(self.intercept_, "intercept_", np.float64, (None,)))
        weights = self.coef_.data if sparse.issparse(self.coef_) else self.coef_
        expect_array(weights, "coef_", np.float64, (None,) if sparse.issparse(self.coef_) else (n_models, None))
        if self.coef_.shape[0] != n_models:
            raise DataError("the intercepts are not one per model")
        self.n_features_in_ = self.coef_.shape[1]
        self._check_classes(n_models)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return scores_of(check_terms(self, X, reset=False), self.coef_, self.intercept_)

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        place, sign = self._place(category)
        row = self.coef_[[place]].toarray()[0] if sparse.issparse(self.coef_) else self.coef_[place]
        return sign * row, float(sign * self.intercept_[place])


class LogOddsMixin(LinearScoresMixin):
    """P(c | d) from linear scores that are log odds, or logarithms of the probabilities of several classes."""

    def predict_proba(self, X: Any) -> Array:
        """P(c | d), documents x categories."""
        scores = self._scores(X)
        return expit(scores) if self.multilabel_ else np.exp(self._log_proba(scores))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of P(c | d), documents x categories."""
        return self._log_proba(self._scores(X))

    def _log_proba(self, scores: Array) -> Array:
        several = not (self.multilabel_ or self._is_binary())
        sided = scores * [[-1.0, 1.0]] if self._is_binary() else scores
        logarithms: Array = log_softmax(scores, axis=1) if several else log_expit(sided)
        return logarithms


class LinearProbabilitiesMixin(LinearScoresMixin):
    """P(c | d) from linear scores, and with posterior="normal" its uncertainty."""

    link: Any
    prior: Any
    posterior: str
    softmax_: bool
    solutions_: list[Solution]
    posteriors_: Any  # a list of `Posterior`, with posterior="normal"

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
        """P(c | d) averaged over the posterior of the weights: less extreme than at the mode."""
        scores, deviations = self._scores(X), self._deviations(X)
        moderated = scores / np.sqrt(1.0 + link_of(self.link).moderation * deviations**2)
        return np.exp(self._log_proba(moderated))

    def score_std(self, X: Any) -> Array:
        """The standard deviation of each score under the posterior, as `decision_function` is shaped."""
        deviations = self._deviations(X)
        return deviations[:, 0] if self._is_binary() else deviations

    def probability_interval(self, X: Any, *, mass: float = 0.9) -> tuple[Array, Array]:
        """The ends of the credible interval of each P(c | d); of several classes, the other scores stay at the mode."""
        scores = self._scores(X)
        low, high = score_interval(scores, self._deviations(X), mass)
        if not (self.multilabel_ or self._is_binary()):
            return normalised_bounds(*map(self._log_potentials, (scores, low, high)))
        ends = np.exp(self._log_proba(low)), np.exp(self._log_proba(high))
        return np.minimum(*ends), np.maximum(*ends)

    def contribution_std(self, X: Any, category: Any) -> sparse.csr_array:
        """The standard deviations of `contributions(X, category)` under the posterior, documents x terms."""
        self._check_has_posterior()
        X = check_terms(self, X, reset=False)
        row = self.coef_variance_[[self._place(category)[0]]].toarray()[0]
        return sparse.csr_array((np.abs(X.data) * np.sqrt(row[X.indices]), X.indices, X.indptr), shape=X.shape)

    def _check_posterior(self) -> None:
        if self.posterior not in ("mode", "normal"):
            raise ValueError(f"posterior must be 'mode' or 'normal', got {self.posterior!r}")
        if self.posterior == "normal" and not prior_of(self.prior).convex:
            raise ValueError(f"posterior='normal' needs a log-concave prior, not a {prior_of(self.prior).kind} one")

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

    def _log_potentials(self, scores: Array) -> Array:
        """Unnormalised log probabilities of the classes."""
        return scores if self.softmax_ else log_likelihoods(link_of(self.link), scores)[0]

    def _log_proba(self, scores: Array) -> Array:
        if self._is_binary():
            return self._log_potentials(scores * [[-1.0, 1.0]])
        logarithms = self._log_potentials(scores)
        return logarithms if self.multilabel_ else logarithms - logsumexp(logarithms, axis=1, keepdims=True)
