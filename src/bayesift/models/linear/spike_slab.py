"""How sure is a word: linear models with an inclusion probability for every word and category."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.models.base import compact, for_each_model, models_of, scores_of, terms_of
from bayesift.models.linear.classifier import LinearProbabilitiesMixin
from bayesift.models.linear.links import link_of
from bayesift.models.linear.posterior import WeightPosterior, variances_of
from bayesift.models.linear.priors import LaplacePrior, prior_of
from bayesift.models.linear.problem import LinearProblem, Solution, document_weights
from bayesift.models.linear.solvers import solve_all
from bayesift.models.linear.variational import (
    InclusionPosterior,
    SpikeSlab,
    check_bound,
    inclusion_posterior,
)
from bayesift.state import expect_array, fits, storable
from bayesift.validation import check_sample_weight, check_targets, check_terms

_INTERCEPT_VARIANCE = 1000.0
_START_TOLERANCE = 3.0  # times tol
_RAISED_FACTOR = (
    1.0 + 1e-6
)  # times the prior's inclusion probability: documents speak for the word
_NEGLIGIBLE_SHARE = (
    0.01  # an inclusion probability of which no more than this is left of a larger one
)


@storable("spike-slab")
class SpikeSlabClassifier(LinearProbabilitiesMixin, ClassifierMixin, BaseEstimator):
    """Linear classifier that says of each word how probable it is that the word matters.

        y ~ psi(x (beta + u) + b),   beta_j ~ inclusion N(0, slab_variance) + (1 - inclusion) N(0,
        spike_variance)
                                     u_j ~ N(0, background_variance)

    beta is fitted by a factorised approximation of the posterior
    (`bayesift.models.linear.variational`). Of words that say the same, one is included and the
    others are not. Many words matter a little beside those; what they add is u, fitted afterwards,
    given the posterior of beta: two conjugate directions towards its mode, which predict better
    than the mode. Of words whose inclusion probability is neither above that of the prior nor above
    1% nothing is kept but the mean, and without a background not even that, unless the spike has a
    width.

    Parameters
    ----------
    link : psi: "logit", "probit" or `LogF(shape)`
    inclusion : the prior probability of each word to matter
    slab_variance : of the weights that matter
    spike_variance : of the others; 0 sets them to 0 exactly. With some width an inclusion
        probability is that of a weight much larger than others
    background_variance : of what all words add beside those that matter; 0 for nothing, which
        leaves few weights and predicts worse
    bound : how the likelihood enters: "expected", or the strict but looser bounds "tangent" (logit
        only), "curvature"
    intercept : whether there is one; its prior is N(0, 1000), so that a posterior exists where all
        documents agree
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
    coef_variance_, intercept_variance_, posteriors_ : as of `SparseBayesClassifier`; words count as
        independent
    elbo_ : the lower bound of the log evidence after each round, an array per model

    References
    ----------
    Carbonetto & Stephens (2012), "Scalable variational inference for Bayesian variable selection in
    regression"; Jaakkola & Jordan (2000), "Bayesian parameter estimation via variational methods".

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1]] * 20
    >>> y = (["grain"] * 2 + ["crude"] * 2) * 20
    >>> X = [[2 * (label == "grain"), *row[1:]] for row, label in zip(X, y)]
    >>> model = SpikeSlabClassifier(inclusion=0.1).fit(X, y)
    >>> (model.inclusion_of("grain") > 0.5).tolist()
    [True, False, False]
    """

    FITTED = (*LinearProbabilitiesMixin.FITTED, "inclusion_", "posteriors_")

    softmax_ = False
    inclusion_: SparseRows

    def __init__(
        self,
        *,
        link: Any = "logit",
        inclusion: float = 0.01,
        slab_variance: float = 30.0,
        spike_variance: float = 0.0,
        background_variance: float = 30.0,
        bound: str = "expected",
        intercept: bool = True,
        tol: float = 0.1,
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
        """Find the posterior, from near the mode under a Laplace prior of the slab's variance.

        Under bound="curvature" words that start with a weight would keep it too easily; there all
        start at 0. `feature_mask` (models x terms) says which terms each model may use, by default
        all.
        """
        prior = self._prior()
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        members = models_of(targets)
        importance, balance = document_weights(self.class_weight, targets, members, weights)
        problem = LinearProblem(
            rows=rows,
            members=members,
            importance=importance,
            balance=balance,
            link=link_of(self.link),
            prior=prior_of(LaplacePrior.of_variance(self.slab_variance)),
            intercept=np.array([1.0, 1.0 / _INTERCEPT_VARIANCE, 0.0])
            if self.intercept
            else np.zeros(3),
            terms=terms_of(feature_mask, (members.shape[0], rows.shape[1])),
            tolerance=self.tol,
            max_iter=self.max_iter,
        )
        if check_bound(self.bound, problem) == "curvature":
            nothing = np.zeros(rows.shape[1])
            starts = [
                Solution(nothing, b, np.empty(0), 0, True) for b in problem.start_intercepts
            ]
        else:
            starts = solve_all(
                problem.varied(tolerance=_START_TOLERANCE * self.tol),
                "auto",
                [None] * members.shape[0],
                self.n_jobs,
            )
        settings: dict[str, Any] = {
            "prior": prior,
            "bound": self.bound,
            "background_variance": self.background_variance,
        }
        found = for_each_model(
            lambda c: inclusion_posterior(problem, c, starts[c], **settings),
            members.shape[0],
            self.n_jobs,
        )
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        self._keep(found)
        late = sum(not posterior.converged for posterior in found)
        if late:
            message = (
                f"{late} of {len(found)} models still moved after {self.max_iter} "
                "rounds; raise max_iter or tol"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def inclusion_of(self, category: Any) -> Array:
        """Return the probability of each term to matter to a category; 0 if it was left out."""
        check_is_fitted(self)
        probabilities: FloatArray = self.inclusion_[[self._place(category)[0]]].toarray()[0]
        return probabilities

    def _prior(self) -> SpikeSlab:
        if not 0 <= self.background_variance < np.inf:
            raise ValueError(
                "background_variance must be a number of at least 0, got "
                f"{self.background_variance!r}"
            )
        return SpikeSlab(self.inclusion, self.slab_variance, self.spike_variance)

    def _deviations(self, X: Any) -> FloatArray:
        """Return variances of scores; weights are independent of one another."""
        check_is_fitted(self)
        X = check_terms(self, X, reset=False)
        squares = sparse.csr_array((X.data**2, X.indices, X.indptr), shape=X.shape)
        return np.sqrt(scores_of(squares, self.coef_variance_, self.intercept_variance_))

    def _keep(self, found: list[InclusionPosterior]) -> None:
        inclusion = np.stack([posterior.inclusion for posterior in found])
        kept = inclusion > (
            0.0
            if self.spike_variance
            else min(self.inclusion * _RAISED_FACTOR, _NEGLIGIBLE_SHARE)
        )
        self.inclusion_ = sparse.csr_array(np.where(kept, inclusion, 0.0))
        means = np.stack([posterior.means + posterior.background for posterior in found])
        self.coef_ = compact(means if self.background_variance else np.where(kept, means, 0.0))
        self.intercept_ = np.array(
            [posterior.intercept + posterior.shift for posterior in found]
        )
        self.elbo_ = [posterior.elbo for posterior in found]
        self.n_iter_ = max(len(posterior.elbo) for posterior in found)
        terms = [np.flatnonzero(row).astype(np.int32) for row in kept]
        parts = [
            np.append(p.variances[t], p.intercept_variance)
            for p, t in zip(found, terms, strict=True)
        ]
        self._keep_posteriors(
            [WeightPosterior(*part) for part in zip(terms, parts, strict=True)]
        )

    def _post_load(self) -> None:
        super()._post_load()
        n_models, n_terms = self.coef_.shape
        _ = link_of(self.link), self._prior()
        probabilities = expect_array(self.inclusion_.data, "inclusion_", np.float64, (None,))
        if self.inclusion_.shape != (n_models, n_terms) or np.any(
            (probabilities < 0) | (probabilities > 1)
        ):
            raise DataError("inclusion_ must hold a probability for each model and term")
        if not (
            fits(self.posteriors_, list[WeightPosterior]) and len(self.posteriors_) == n_models
        ):
            raise DataError("the posterior is not one per model")
        if any(np.any(posterior.terms >= n_terms) for posterior in self.posteriors_):
            raise DataError("the terms of the posterior are not columns of the model")
        self.coef_variance_, self.intercept_variance_ = variances_of(self.posteriors_, n_terms)
