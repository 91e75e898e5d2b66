"""Any classifier with any decision rule."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from bayesift.thresholds.folds import category_folds
from bayesift.thresholds.registry import threshold_rule
from bayesift.thresholds.responses import Response, category_scores, response_method, take_rows
from bayesift.thresholds.rule import ThresholdRule

Array = np.ndarray[Any, Any]


def _has_probabilities(self: ThresholdedClassifier) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class ThresholdedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Decides by a threshold rule on the scores of another classifier.

    With an indicator matrix for y, each category is assigned above its own threshold. With class labels: of two classes
    the second is predicted above its threshold; of several, that with the largest score minus threshold.

    Parameters
    ----------
    estimator : any classifier with `predict_proba` or `decision_function`
    rule : a name of `THRESHOLD_RULES`, or a rule; "auto" is "bayes" where there are probabilities, otherwise "sign"
    cv : None fits the rule on the scores of the training documents themselves; a number of folds, or a splitter, on the
        scores of documents held out. Folds are dealt by `category_folds`; documents that are never held out count with
        their training scores
    response : the scores to use: "predict_proba", "decision_function", or "auto", the first of them there is
    random_state : deals the folds

    Attributes
    ----------
    estimator_ : fitted on all documents
    rule_ : the fitted rule
    classes_ : the class labels, or the columns of the indicator matrix
    multilabel_ : whether y was an indicator matrix

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "ham", "ham", "spam", "spam"]
    >>> model = ThresholdedClassifier(LogisticRegression(), rule="max-f1").fit(X, y)
    >>> model.predict([[1.2], [1.8]]).tolist()
    ['ham', 'spam']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        rule: str | ThresholdRule = "max-f1",
        cv: Any = None,
        response: Response = "auto",
        random_state: int | None = 0,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.cv = cv
        self.response = response
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, then the rule on its scores."""
        rule = self._new_rule()
        method = response_method(self.estimator, self.response, probabilities=rule.needs_probabilities)
        y, self.multilabel_ = _target(y)
        X, y = indexable(X, y)
        self.estimator_, self._method = clone(self.estimator).fit(X, y), method
        self.classes_ = np.arange(y.shape[1]) if self.multilabel_ else np.unique(y)
        Y = y if self.multilabel_ else y[:, None] == self.classes_
        scores = self._sample_scores(X, y, Y)
        self.rule_ = rule.fit(Y[:, [1]] if self._binary else Y, scores)
        return self

    @classmethod
    def assembled(cls, estimator: Any, rule: ThresholdRule, *, multilabel: bool) -> Self:
        """The classifier of an estimator and a rule that are fitted already."""
        classifier = cls(estimator, rule=rule)
        classifier.estimator_, classifier.rule_, classifier.multilabel_ = estimator, rule, multilabel
        classifier.classes_ = np.arange(len(estimator.classes_)) if multilabel else np.asarray(estimator.classes_)
        classifier._method = response_method(estimator, "auto", probabilities=rule.needs_probabilities)
        return classifier

    def predict(self, X: Any) -> Array:
        """Class labels, or an indicator matrix."""
        scores = self.decision_scores(X)
        if self.multilabel_:
            return self.rule_.decide(scores).astype(np.int64)
        labels: Array = self.classes_[self.choose(scores)]
        return labels

    def choose(self, scores: Array) -> Array:
        """The place in `classes_` of the class predicted for documents with these decision scores."""
        if self._binary:
            return self.rule_.decide(scores)[:, 0].astype(np.intp)
        places: Array = np.argmax(scores - self.rule_.thresholds_for(scores), axis=1)
        return places

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the classifier, as it gives them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def decision_scores(self, X: Any) -> Array:
        """The scores the rule decides on: documents x categories, one column for two classes."""
        check_is_fitted(self)
        return self._scores_of(self.estimator_, X)

    def decision_function(self, X: Any) -> Array:
        """Scores minus thresholds: yes above 0; of several classes the largest. A vector for two classes."""
        scores = self.decision_scores(X)
        margins: Array = scores - self.rule_.thresholds_for(scores)
        return margins[:, 0] if self._binary else margins

    @property
    def n_features_in_(self) -> int:
        """How many features the classifier was fitted with."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """The names of the features, where the classifier knows them."""
        check_is_fitted(self)
        names: Array = self.estimator_.feature_names_in_
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rule_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_label = getattr(inner.classifier_tags, "multi_label", False)
        return tags

    @property
    def _binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def _new_rule(self) -> ThresholdRule:
        if not isinstance(self.rule, str):
            rule: ThresholdRule = clone(self.rule)
            return rule
        by_kind = "bayes" if hasattr(self.estimator, "predict_proba") else "sign"
        return threshold_rule(by_kind if self.rule == "auto" else self.rule)

    def _sample_scores(self, X: Any, y: Any, Y: Any) -> Array:
        """Training scores, or those of documents when they are held out."""
        scores = self._scores_of(self.estimator_, X)
        for train, held_out in self._splits(X, y, Y):
            fold = clone(self.estimator).fit(take_rows(X, train), y[train])
            scores[held_out] = self._scores_of(fold, take_rows(X, held_out))
        return scores

    def _scores_of(self, estimator: Any, X: Any) -> Array:
        return category_scores(estimator, X, self._method, n_categories=1 if self._binary else len(self.classes_))

    def _splits(self, X: Any, y: Any, Y: Any) -> Iterator[tuple[Array, Array]]:
        if self.cv is None:
            return
        if not isinstance(self.cv, Integral):
            yield from check_cv(self.cv).split(X, y)
            return
        folds = category_folds(Y, n_folds=int(self.cv), random_state=self.random_state)
        for fold in range(int(self.cv)):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _target(y: Any) -> tuple[Any, bool]:
    """Class labels as a vector, or an indicator matrix of which rows can be taken; and whether it is one.

    A sparse y is an indicator even if it has one column; a dense column holds labels.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    assert_all_finite(y, input_name="y")
    if sparse.issparse(y) and y.shape[1] == 1:
        return sparse.csr_array(y), True
    check_classification_targets(y)
    if type_of_target(y, input_name="y") == "multilabel-indicator":
        return (sparse.csr_array(y) if sparse.issparse(y) else np.asarray(y)), True
    return column_or_1d(y, warn=True), False
