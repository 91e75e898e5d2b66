"""Any classifier with any decision rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.folds import deal_folds
from bayesift.state import storable
from bayesift.thresholds.empirical import (
    MaxF1,
    MinimumErrors,
    PrecisionTarget,
    RecallTarget,
    SCut,
    Utility,
)
from bayesift.thresholds.rules import (
    Bayes,
    ExpectedF1,
    PCut,
    RCut,
    Sign,
    ThresholdRule,
    label_matrix,
    score_matrix,
)
from bayesift.validation import are_names, check_groups, number_labels

Response = Literal["auto", "predict_proba", "decision_function"]

_AUTO_SHRINKAGE = 50.0  # of the thresholds of "auto" towards the best common one

THRESHOLD_RULES: Mapping[str, type[ThresholdRule]] = MappingProxyType(
    {
        "bayes": Bayes,
        "sign": Sign,
        "max-f1": MaxF1,
        "expected-f1": ExpectedF1,
        "minimum-errors": MinimumErrors,
        "scut": SCut,
        "rcut": RCut,
        "pcut": PCut,
        "utility": Utility,
        "precision-target": PrecisionTarget,
        "recall-target": RecallTarget,
    }
)
for _name, _rule in THRESHOLD_RULES.items():
    storable(f"{_name}-rule")(_rule)


def threshold_rule(name: str, **parameters: Any) -> ThresholdRule:
    """Return a new rule by its name in `THRESHOLD_RULES`."""
    if name not in THRESHOLD_RULES:
        raise ValueError(f"no threshold rule {name!r}; there are: {', '.join(THRESHOLD_RULES)}")
    return THRESHOLD_RULES[name](**parameters)


def category_folds(
    Y: Any, *, n_folds: int, random_state: int | None = 0, groups: Array | None = None
) -> Array:
    """Return the fold in which each document is held out, -1 for none; see `deal_folds`."""
    return deal_folds(
        label_matrix(Y), n_folds=n_folds, random_state=random_state, groups=groups
    )


def _has_probabilities(self: ThresholdedClassifier) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class ThresholdedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Decides by a threshold rule on the scores of another classifier.

    With an indicator matrix for y, each category is assigned above its own threshold. With class
    labels: of two classes the second is predicted above its threshold; of several, that with the
    largest score minus threshold.

    Parameters
    ----------
    estimator : any classifier with `predict_proba` or `decision_function`
    rule : a name of `THRESHOLD_RULES`, or a rule; "auto" is "bayes" where there are probabilities,
        otherwise "sign"; of an estimator that keeps held-out probabilities (`AutoClassifier`) and
        an indicator matrix it is "max-f1" on them
    cv : None fits the rule on held-out scores that the estimator kept, else on the training scores;
        a number of folds, or a splitter, on out-of-fold scores. Folds are those of
        `category_folds`; documents that are never held out count with their training scores
    response : the scores to use: "predict_proba", "decision_function", or "auto", the first that
        exists
    random_state : seed of the folds

    Attributes
    ----------
    estimator_ : fitted on all documents
    rule_ : the fitted rule
    classes_ : the class labels, or the columns of the indicator matrix
    multilabel_ : whether y was an indicator matrix

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]], ["ham", "ham", "ham", "ham", "spam",
    ...     "spam"]
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

    def fit(self, X: Any, y: Any, groups: Any = None, **fit_params: Any) -> Self:
        """Fit the classifier, then the rule on its scores.

        `fit_params`, such as `sample_weight` or `feature_mask`, go to the classifier; the rule
        counts every document once. Documents of one of the `groups` are held out together, by the
        classifier too, if it takes groups.
        """
        self.check_rule()
        y = _target(y)
        X, y = indexable(X, y)
        groups = check_groups(groups, y.shape[0])
        options = with_groups(self.estimator, fit_params, groups)
        fitted = clone(self.estimator).fit(X, y, **options)
        return self.fit_rule(fitted, X, y, groups, **fit_params)

    def check_rule(self) -> None:
        """Refuse a rule that needs scores which the classifier does not give."""
        needs_probabilities = self.new_rule().needs_probabilities
        response_method(self.estimator, self.response, probabilities=needs_probabilities)

    def fit_rule(
        self, fitted: Any, X: Any, y: Any, groups: IntArray | None = None, **fit_params: Any
    ) -> Self:
        """Fit the rule to the scores of a classifier.

        Parameters
        ----------
        fitted : the classifier, fitted to X and y with `fit_params`
        y : a vector of labels, or an indicator matrix that can be indexed by rows
        groups : the group of each document, as numbers
        """
        rule = self.new_rule()
        self.estimator_ = fitted
        self._method = response_method(
            fitted, self.response, probabilities=rule.needs_probabilities
        )
        self.multilabel_ = y.ndim == 2
        if self.multilabel_:
            self.classes_ = np.arange(y.shape[1])
            Y = y
        else:
            self.classes_, codes = number_labels(y)
            Y = codes[:, None] == np.arange(len(self.classes_))
        if rule.needs_scores and "sample_weight" in fit_params:
            _refuse_weightless(Y, fit_params["sample_weight"])
        held_out = getattr(fitted, "held_out_", None) if self.cv is None else None
        if self.rule == "auto" and self.multilabel_ and held_out is not None:
            rule = MaxF1(shrinkage=_AUTO_SHRINKAGE)
        if rule.needs_scores and held_out is not None and self._method == "predict_proba":
            self.rule_ = rule.fit(held_out.labels, held_out.probabilities)
            return self
        scores = None
        if rule.needs_scores:
            scores = self._sample_scores(X, y, Y, groups, fit_params)
        self.rule_ = rule.fit(Y[:, [1]] if self._binary else Y, scores)
        return self

    @classmethod
    def assembled(cls, estimator: Any, rule: ThresholdRule, *, multilabel: bool) -> Self:
        """Return the classifier of an estimator and a rule that are fitted already."""
        classifier = cls(estimator, rule=rule)
        classifier.estimator_ = estimator
        classifier.rule_ = rule
        classifier.multilabel_ = multilabel
        if multilabel:
            classifier.classes_ = np.arange(len(estimator.classes_))
        else:
            classifier.classes_ = np.asarray(estimator.classes_)
        classifier._method = response_method(
            estimator, "auto", probabilities=rule.needs_probabilities
        )
        return classifier

    def predict(self, X: Any) -> Array:
        """Class labels, or an indicator matrix."""
        scores = self.decision_scores(X)
        if self.multilabel_:
            return self.rule_.decide(scores).astype(np.int64)
        return self.classes_[self.choose(scores)]

    def choose(self, scores: FloatArray) -> Array:
        """Return the index in `classes_` of the class predicted by these decision scores."""
        if self._binary:
            return self.rule_.decide(scores)[:, 0].astype(np.intp)
        chosen: IntArray = np.argmax(scores - self.rule_.thresholds_for(scores), axis=1)
        return chosen

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classifier, as it gives them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def decision_scores(self, X: Any) -> Array:
        """Return the scores the rule decides on, documents x categories (1 for two classes)."""
        check_is_fitted(self)
        return self._score(self.estimator_, X)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores minus thresholds; a vector for two classes."""
        scores = self.decision_scores(X)
        margins: FloatArray = scores - self.rule_.thresholds_for(scores)
        return margins[:, 0] if self._binary else margins

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during `fit`."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features seen during `fit`, where the classifier has them."""
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

    def new_rule(self) -> ThresholdRule:
        """Return the unfitted rule."""
        if not isinstance(self.rule, str):
            rule: ThresholdRule = clone(self.rule)
            return rule
        by_kind = "bayes" if hasattr(self.estimator, "predict_proba") else "sign"
        return threshold_rule(by_kind if self.rule == "auto" else self.rule)

    def _sample_scores(
        self, X: Any, y: Any, Y: Any, groups: IntArray | None, fit_params: dict[str, Any]
    ) -> Array:
        """Training scores, replaced by out-of-fold scores where documents are held out."""
        scores = self._score(self.estimator_, X)
        for train, held_out in self._splits(X, y, Y, groups):
            part = {
                name: value[train] if name == "sample_weight" else value
                for name, value in fit_params.items()
            }
            if groups is not None:
                part = with_groups(self.estimator, part, groups[train])
            fold = clone(self.estimator).fit(take_rows(X, train), y[train], **part)
            scores[held_out] = self._score(fold, take_rows(X, held_out))
        return scores

    def _score(self, estimator: Any, X: Any) -> Array:
        return category_scores(
            estimator, X, self._method, n_categories=1 if self._binary else len(self.classes_)
        )

    def _splits(
        self, X: Any, y: Any, Y: Any, groups: IntArray | None
    ) -> Iterator[tuple[Array, Array]]:
        from sklearn.model_selection import check_cv

        if self.cv is None:
            return
        if not isinstance(self.cv, Integral):
            yield from check_cv(self.cv).split(X, y, groups)
            return
        folds = category_folds(
            Y, n_folds=int(self.cv), random_state=self.random_state, groups=groups
        )
        for fold in range(int(self.cv)):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def with_groups(
    estimator: Any, fit_params: dict[str, Any], groups: IntArray | None
) -> dict[str, Any]:
    """Add the groups of documents to the arguments of a classifier that takes them."""
    if groups is None or not has_fit_parameter(estimator, "groups"):
        return fit_params
    return {**fit_params, "groups": groups}


def _target(y: Any) -> Any:
    """Return class labels as a vector, or an indicator matrix that can be indexed by rows.

    A sparse y is an indicator even if it has one column; a dense column holds labels.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if are_names(y):
        return y
    assert_all_finite(y, input_name="y")
    if sparse.issparse(y) and y.shape[1] == 1:
        return sparse.csr_array(y)
    check_classification_targets(y)
    if type_of_target(y, input_name="y") != "multilabel-indicator":
        return column_or_1d(y, warn=True)
    return sparse.csr_array(y) if sparse.issparse(y) else np.asarray(y)


def _refuse_weightless(Y: Any, sample_weight: Any) -> None:
    """Refuse a class of whose documents none has a weight: a rule cannot set its threshold."""
    if np.any((np.asarray(sample_weight) > 0) @ Y == 0):
        raise DataError("sample_weight is 0 for all documents of one of the classes")


def response_method(estimator: Any, response: Response, *, probabilities: bool) -> str:
    """Return the method that gives scores; "auto" prefers probabilities."""
    if response not in get_args(Response):
        raise ValueError(
            f"response must be one of {', '.join(get_args(Response))}, got {response!r}"
        )
    wanted = [response] if response != "auto" else ["predict_proba", "decision_function"]
    if probabilities:
        wanted = [method for method in wanted if method == "predict_proba"]
    for method in wanted:
        if hasattr(estimator, method):
            return method
    need = "predict_proba, which its rule needs" if probabilities else " or ".join(wanted)
    raise TypeError(f"{type(estimator).__name__} has no {need}")


def category_scores(estimator: Any, X: Any, method: str, *, n_categories: int) -> Array:
    """Scores of a fitted classifier, documents x categories.

    Of two probabilities for one category the second.
    """
    output = getattr(estimator, method)(X)
    if isinstance(output, list):  # one matrix per category, as trees and neighbours return them
        output = np.column_stack(
            [_positive(p, c) for p, c in zip(output, estimator.classes_, strict=True)]
        )
    scores = score_matrix(output)
    if n_categories == 1 and scores.shape[1] == 2:
        return scores[:, [1]]
    if scores.shape[1] != n_categories:
        raise DataError(
            f"{type(estimator).__name__} gives scores of {scores.shape[1]} categories, there "
            f"are {n_categories}; "
            "every training part must hold every class"
        )
    return scores


def _positive(probabilities: FloatArray, classes: Array) -> Array:
    """Return the probability of class 1; 0 when the category was never seen."""
    column: Array = probabilities[:, np.asarray(classes) == 1].sum(axis=1)
    return column


def take_rows(X: Any, rows: Array) -> Any:
    """Return the rows of a matrix, a table or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return X[rows]
