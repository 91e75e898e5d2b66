"""Support vector machines on naive Bayes features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.arrays import Array
from bayesift.models.base.categories import models_of
from bayesift.models.baselines.linear_svm import LinearSVM
from bayesift.models.linear.mixins import LinearScoresMixin
from bayesift.state import storable
from bayesift.validation import TermTagsMixin, check_sample_weight, check_targets, check_terms


@storable("nbsvm")
class NBSVMClassifier(TermTagsMixin, LinearScoresMixin, ClassifierMixin, BaseEstimator):
    """A support vector machine whose features are scaled by the log-count ratios of naive Bayes.

        r = log (p(t | c) + eps) / (p(t | not c) + eps),   eps = 2 alpha / all counts
        w, b = argmin SVM on x ∘ r,   score = x · (r ∘ w') + b'
        w' = (1 - beta) m + beta w,   b' = (1 - beta) m log P(c) / P(not c) + beta b,   m = mean(|w|)

    so that weights far from the mean, which rest on few documents, are drawn towards naive Bayes. Meant for binary
    weights (presence of terms).

    Parameters
    ----------
    alpha : pseudo-count of every term, shared between the category and the rest in proportion to their counts
    beta : 1 is the plain machine on scaled features, 0 naive Bayes
    C, dual, tol, random_state : as in `LinearSVM`

    Notes
    -----
    Wang & Manning have two classes of equal size: they add alpha to the counts of each and leave the machine's b as it
    is. Against a rest that is many times larger the first makes words that a category lacks speak for it, and the
    second sets a threshold for weights that are no longer there. For equal counts the ratios are theirs.

    References
    ----------
    Wang & Manning (2012), eqs. 1-5.

    Examples
    --------
    >>> model = NBSVMClassifier().fit([[1, 0], [1, 0], [0, 1], [1, 1]], ["grain", "grain", "crude", "crude"])
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
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents, non_negative=True)
        planes = [self._hyperplane(rows, members, weights) for members in models_of(targets).toarray()]
        coefficients, intercepts = zip(*planes, strict=True)
        return self._set_hyperplanes(targets, np.stack(coefficients), np.array(intercepts))

    def _hyperplane(self, rows: sparse.csr_array, members: Array, weights: Array) -> tuple[Array, float]:
        """The hyperplane of one category, its weights those of the unscaled features."""
        counts = np.stack([(weights * members) @ rows, (weights * (1 - members)) @ rows])
        totals = counts.sum(axis=1, keepdims=True)
        shares = counts / np.where(totals > 0, totals, 1.0) + 2.0 * self.alpha / max(totals.sum(), 1.0)
        ratios = np.log(shares[0]) - np.log(shares[1])
        machine = LinearSVM(C=self.C, dual=self.dual, tol=self.tol, random_state=self.random_state)
        scaled = sparse.csr_array((rows.data * ratios[rows.indices], rows.indices, rows.indptr), shape=rows.shape)
        machine.fit(scaled, sparse.csr_array(members[:, np.newaxis]), weights)
        found = machine.coef_.toarray()[0] if sparse.issparse(machine.coef_) else machine.coef_[0]
        mean, positive = (1.0 - self.beta) * np.mean(np.abs(found)), weights @ members
        prior = logit((positive + 0.5) / (weights.sum() + 1.0))
        return ratios * (mean + self.beta * found), float(mean * prior + self.beta * machine.intercept_[0])
