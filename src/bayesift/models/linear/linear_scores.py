"""What all classifiers with one hyperplane a category share: scores, decisions, explanations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesift.models.linear.weights import scores_of
from bayesift.validation import check_terms

Array = np.ndarray[Any, Any]


class LinearScores:
    """Scores x w + b of every category: above 0 is yes, and of several classes the largest wins.

    With an indicator matrix each category has its hyperplane; two classes share one, whose positive side is the second;
    more have one each.

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    coef_ : hyperplanes x terms, sparse when most weights are 0
    intercept_ : one a hyperplane

    Examples
    --------
    >>> from bayesift.models import RocchioClassifier
    >>> model = RocchioClassifier().fit([[1, 0], [0, 1]], ["grain", "crude"])
    >>> model.decision_function([[1, 0]]).round(2).tolist(), model.predict([[1, 0]]).tolist()
    ([0.71], ['grain'])
    """

    classes_: Array
    multilabel_: bool
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

    def contributions(self, X: Any, category: Any, *, against: Any = None) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the score of a category, documents x terms, and the intercept.

        Parameters
        ----------
        X : documents x terms
        category : one of `classes_`
        against : the class to compare with (labels only); the hyperplane of the category itself without
        """
        check_is_fitted(self)
        X = check_terms(self, X, reset=False)
        weights, intercept = self._linear_form(category)
        if against is not None and not self._is_binary():
            theirs, other = self._linear_form(against)
            weights, intercept = weights - theirs, intercept - other
        values = X.data * weights[X.indices]
        return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape), np.full(X.shape[0], intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return scores_of(check_terms(self, X, reset=False), self.coef_, self.intercept_)

    def _place(self, category: Any) -> tuple[int, float]:
        """The hyperplane of a category, and the sign with which it speaks for it."""
        places = np.flatnonzero(self.classes_ == category)
        if len(places) != 1:
            raise ValueError(f"no category {category!r}")
        return (0, 2.0 * places[0] - 1.0) if self._is_binary() else (int(places[0]), 1.0)

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        place, sign = self._place(category)
        row = self.coef_[[place]].toarray()[0] if sparse.issparse(self.coef_) else self.coef_[place]
        return sign * row, float(sign * self.intercept_[place])
