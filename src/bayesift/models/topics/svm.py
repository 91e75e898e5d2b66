"""A linear support vector machine on topics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.state import Arrays, Parameters, classes_of, describe_classes, expect
from bayesift.models.topics.nested import encoder_for_categories, part_of, prefixed
from bayesift.models.topics.sparse_nmf import SparseNMF
from bayesift.validation import check_targets, check_terms

Array = np.ndarray[Any, Any]

_FOLDS = 3
_LEARNED = ("coefficients", "intercepts", "slopes", "shifts")


class TopicSVMClassifier(ClassifierMixin, BaseEstimator):
    """Topics by `SparseNMF`, then scikit-learn's `LinearSVC` of each category against the rest on codes of length one.

    Probabilities are 1 / (1 + exp(-(slope score + shift))), the line of each category fitted to scores of three-fold
    cross-validation (Platt); with class labels they are normalised.

    Parameters
    ----------
    encoder : a `SparseNMF`; None takes one with the paper's importance and penalty
    C : of the `LinearSVC`
    random_state : of the `LinearSVC` and the folds

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    encoder_ : the fitted encoder
    coef_, intercept_ : categories x topics, and one a category
    slopes_, shifts_ : from scores to log odds, one a category

    Examples
    --------
    >>> X = [[3, 2, 0, 0], [1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 2, 2], [0, 0, 1, 1], [0, 0, 1, 2]]
    >>> model = TopicSVMClassifier(encoder=SparseNMF(n_components=2))
    >>> model.fit(X, ["grain"] * 3 + ["crude"] * 3).predict([[1, 0, 0, 0], [0, 0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    classes_: Array
    multilabel_: bool
    encoder_: SparseNMF
    coef_: Array
    intercept_: Array

    def __init__(self, *, encoder: SparseNMF | None = None, C: float = 1.0, random_state: int | None = 0) -> None:
        self.encoder = encoder
        self.C = C
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find topics and fit a hyperplane to each category."""
        targets = check_targets(y)
        rows = check_terms(self, X, n_documents=targets.n_documents, non_negative=True)
        if not targets.multilabel and len(targets.classes) < 2:
            raise ValueError(f"y has only one class, {targets.classes[0]!r}; a classifier needs two")
        self.encoder_ = encoder_for_categories(self.encoder)
        codes = normalize(self.encoder_.fit_transform(rows))
        indicator = targets.members.toarray().T > 0
        self.coef_, self.intercept_ = self._hyperplanes(codes, indicator)
        self.slopes_, self.shifts_ = self._lines(codes, indicator)
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(c | d), documents x categories."""
        probabilities: Array = np.asarray(expit(self._scores(X) * self.slopes_ + self.shifts_))
        if not self.multilabel_:
            probabilities = np.maximum(probabilities, np.finfo(float).tiny)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of P(c | d), documents x categories."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class, or the indicator of the categories more probable than not."""
        probabilities = self.predict_proba(X)
        if self.multilabel_:
            return (probabilities > 0.5).astype(np.int64)
        classes: Array = self.classes_[np.argmax(probabilities, axis=1)]
        return classes

    def contributions(self, X: Any, category: Any) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the log odds of a category, documents x terms, and the log odds without any term.

        A topic's part of a code is shared among the terms that brought it (`SparseNMF.shares`); the sum over terms is
        the score up to the tolerance of the codes.

        Examples
        --------
        >>> X = [[3, 0], [1, 0], [2, 0], [0, 2], [0, 1], [0, 3]]
        >>> model = TopicSVMClassifier(encoder=SparseNMF(n_components=2)).fit(X, [0, 0, 0, 1, 1, 1])
        >>> terms, prior = model.contributions([[1, 1]], 1)
        >>> bool(terms.toarray()[0, 0] < 0 < terms.toarray()[0, 1])
        True
        """
        check_is_fitted(self)
        places = np.flatnonzero(self.classes_ == category)
        if len(places) != 1:
            raise ValueError(f"no category {category!r}")
        rows = check_terms(self, X, reset=False, non_negative=True)
        place, values = places[0], np.empty(rows.nnz)
        for i, code in enumerate(self.encoder_.transform(rows)):
            length = float(np.linalg.norm(code)) or 1.0
            shares = self.encoder_.shares(rows[[i]], code)[:, rows.indices[rows.indptr[i] : rows.indptr[i + 1]]]
            values[rows.indptr[i] : rows.indptr[i + 1]] = self.coef_[place] @ shares / length
        contributions = sparse.csr_array((self.slopes_[place] * values, rows.indices, rows.indptr), shape=rows.shape)
        prior = self.slopes_[place] * self.intercept_[place] + self.shifts_[place]
        return contributions, np.full(rows.shape[0], prior)

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and arrays."""
        check_is_fitted(self)
        encoder, arrays = self.encoder_.get_state()
        parameters: Parameters = {
            "C": float(self.C),
            "random_state": self.random_state if isinstance(self.random_state, int) else None,
            "encoder": encoder,
            "given": self.encoder is not None,
            "classes": describe_classes(self.classes_),
            "multilabel": self.multilabel_,
        }
        learned = (self.coef_, self.intercept_, self.slopes_, self.shifts_)
        return parameters, {**dict(zip(_LEARNED, learned, strict=True)), **prefixed("encoder", arrays)}

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical probabilities; refuses what does not fit together."""
        encoder = SparseNMF.from_state(expect(parameters, "encoder", dict), part_of(arrays, "encoder"))
        seed = None if parameters.get("random_state") is None else expect(parameters, "random_state", int)
        model = cls(
            encoder=clone(encoder) if expect(parameters, "given", bool) else None,
            C=float(expect(parameters, "C", float)),
            random_state=seed,
        )
        if not set(_LEARNED) <= set(arrays):
            raise DataError("the hyperplanes of its categories are missing")
        learned = [np.array(arrays[name]) for name in _LEARNED]
        if any(part.dtype != np.float64 or not np.all(np.isfinite(part)) for part in learned):
            raise DataError("the hyperplanes of its categories must be finite numbers")
        model.coef_, model.intercept_, model.slopes_, model.shifts_ = learned
        n_categories = len(model.intercept_) if model.intercept_.ndim == 1 else -1
        if model.coef_.shape != (n_categories, encoder.components_.shape[0]) or any(
            part.shape != (n_categories,) for part in (model.slopes_, model.shifts_)
        ):
            raise DataError("the hyperplanes of its categories do not fit together")
        model.encoder_, model.multilabel_ = encoder, expect(parameters, "multilabel", bool)
        model.classes_ = classes_of(expect(parameters, "classes", dict), n_categories)
        if not model.multilabel_ and not np.array_equal(model.classes_, np.unique(model.classes_)):
            raise DataError("its classes are not sorted")
        model.n_features_in_ = encoder.n_features_in_
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # of two features, codes of length one keep only an angle
        return tags

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False, non_negative=True)
        scores: Array = normalize(self.encoder_.transform(rows)) @ self.coef_.T + self.intercept_
        return scores

    def _hyperplanes(self, codes: Array, indicator: Array) -> tuple[Array, Array]:
        """A hyperplane a category; one that has all documents or none gets its sign as a constant."""
        coefficients, intercepts = np.zeros((indicator.shape[1], codes.shape[1])), np.zeros(indicator.shape[1])
        for c, positive in enumerate(indicator.T):
            if positive.all() or not positive.any():
                intercepts[c] = 1.0 if positive.all() else -1.0
            else:
                machine = LinearSVC(C=self.C, random_state=self.random_state).fit(codes, positive)
                coefficients[c], intercepts[c] = machine.coef_[0], machine.intercept_[0]
        return coefficients, intercepts

    def _lines(self, codes: Array, indicator: Array) -> tuple[Array, Array]:
        """Slope and shift of each category, from cross-validated scores."""
        slopes, shifts = np.ones(indicator.shape[1]), np.zeros(indicator.shape[1])
        n_folds = min(_FOLDS, len(codes))
        if n_folds < 2:
            return slopes, shifts
        scores = np.empty(indicator.shape)
        for train, test in KFold(n_folds, shuffle=True, random_state=self.random_state).split(codes):
            coefficients, intercepts = self._hyperplanes(codes[train], indicator[train])
            scores[test] = codes[test] @ coefficients.T + intercepts
        for c, positive in enumerate(indicator.T):
            if positive.any() and not positive.all():
                line = LogisticRegression().fit(scores[:, [c]], positive)
                slopes[c], shifts[c] = max(float(line.coef_[0, 0]), np.finfo(float).eps), float(line.intercept_[0])
        return slopes, shifts
