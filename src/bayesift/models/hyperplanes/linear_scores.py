"""What all classifiers with one hyperplane a category share: scores, decisions, explanations, state."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.linear.weights import compact, from_arrays, scores_of, to_arrays
from bayesift.models.state import Arrays, Parameters, classes_of, describe_classes, expect
from bayesift.validation import Targets, check_terms

Array = np.ndarray[Any, Any]


class LinearScores:
    """Scores x w + b of every category: above 0 is yes, and of several classes the largest wins.

    With an indicator matrix each category has its hyperplane; two classes share one, whose positive side is the second;
    more have one each. A class that learns supplies `fit`, which ends with `_keep`.

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
        weights, intercept = self._hyperplane(category)
        if against is not None and not self._is_binary():
            theirs, other = self._hyperplane(against)
            weights, intercept = weights - theirs, intercept - other
        values = X.data * weights[X.indices]
        return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape), np.full(X.shape[0], intercept)

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and arrays."""
        check_is_fitted(self)
        parameters: Parameters = {
            "settings": self._settings(),
            "classes": describe_classes(self.classes_),
            "multilabel": self.multilabel_,
        }
        return parameters, to_arrays(self.coef_, self.intercept_)

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical scores; refuses what does not fit together."""
        settings = expect(parameters, "settings", dict)
        try:
            model = cls(**cls._constructed(settings))
        except TypeError as error:
            raise DataError(f"not the settings of a {cls.__name__}: {error}") from error
        model.multilabel_ = expect(parameters, "multilabel", bool)
        model.coef_, model.intercept_ = from_arrays(arrays)
        n_hyperplanes, model.n_features_in_ = model.coef_.shape
        n_classes = 2 if n_hyperplanes == 1 and not model.multilabel_ else n_hyperplanes
        model.classes_ = classes_of(expect(parameters, "classes", dict), n_classes)
        if not model.multilabel_ and not np.array_equal(model.classes_, np.unique(model.classes_)):
            raise DataError("its classes are not sorted")
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _settings(self) -> Parameters:
        """The constructor's parameters as JSON can hold them."""
        settings: Parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        return settings

    @classmethod
    def _constructed(cls, settings: Parameters) -> Parameters:
        """The inverse of `_settings`."""
        return settings

    def _keep(self, targets: Targets, weights: Any, intercepts: Array) -> Self:
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self.coef_ = weights if sparse.issparse(weights) else compact(weights)
        self.intercept_ = intercepts
        return self

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        return scores_of(check_terms(self, X, reset=False), self.coef_, self.intercept_)

    def _hyperplane(self, category: Any) -> tuple[Array, float]:
        places = np.flatnonzero(self.classes_ == category)
        if len(places) != 1:
            raise ValueError(f"no category {category!r}")
        place, sign = (0, 2.0 * places[0] - 1.0) if self._is_binary() else (places[0], 1.0)
        row = self.coef_[[place]].toarray()[0] if sparse.issparse(self.coef_) else self.coef_[place]
        return sign * row, float(sign * self.intercept_[place])


def positives_of(targets: Targets) -> sparse.csr_array:
    """The documents on the positive side of each hyperplane: of two classes the second is enough.

    Examples
    --------
    >>> from bayesift.validation import check_targets
    >>> positives_of(check_targets(["a", "b", "b"])).toarray().tolist()
    [[0, 1, 1]]
    """
    if targets.multilabel:
        return targets.members
    if len(targets.classes) < 2:
        raise ValueError(f"y has only one class, {targets.classes[0]!r}; a classifier needs two")
    return targets.members[[1]] if len(targets.classes) == 2 else targets.members
