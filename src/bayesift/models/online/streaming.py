"""What online classifiers share: probabilities and decisions.

Labels, batches and state of those that may grow.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

import numpy as np
from scipy.special import log_expit, logsumexp
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.models.base import CategoriesMixin, check_documents, models_of
from bayesift.state import check_classes
from bayesift.validation import (
    Targets,
    check_targets,
    check_terms,
    longer_names,
    union_of_classes,
)


class ProbabilitiesMixin(CategoriesMixin):
    """Probabilities and decisions of a classifier that supplies `predict_log_proba`."""

    def predict(self, X: Any) -> Array:
        """Return the most probable class, or the indicator of probabilities above 1/2."""
        logarithms = self.predict_log_proba(X)
        if self.multilabel_:
            decisions: Array = (logarithms > np.log(0.5)).astype(np.int64)
            return decisions
        classes: Array = self.classes_[np.argmax(logarithms, axis=1)]
        return classes

    def predict_proba(self, X: Any) -> FloatArray:
        """P(c | d), documents x categories."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of P(c | d), documents x categories."""
        raise NotImplementedError

    def _normalised(self, logarithms: FloatArray) -> FloatArray:
        """Of class labels, logarithms of probabilities that add up to one."""
        return (
            logarithms
            if self.multilabel_
            else logarithms - logsumexp(logarithms, axis=1, keepdims=True)
        )

    def _known(self, y: Any) -> Any:
        """Return the classes that labels may have; columns of an indicator name themselves."""
        return None if self.multilabel_ or np.ndim(y) != 1 else self.classes_

    def _check_form(self, targets: Targets) -> None:
        """Refuse labels where there was an indicator matrix, and the other way round."""
        if targets.multilabel != self.multilabel_:
            raise ValueError(
                "y was an indicator matrix before and is labels now, or the other way round"
            )


class StreamingMixin(ProbabilitiesMixin):
    """A classifier that learns documents one after another, with new terms and categories.

    It supplies `_check_settings`, `_start`, `_grow` and `_run`.
    """

    n_features_in_: int
    shuffle: bool
    random_state: int | None

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the documents in random order; or in their own with `shuffle=False`."""
        self._check_settings()
        return self.fit_checked(*check_documents(self, X, y))

    def fit_checked(self, rows: SparseRows, targets: Targets, weights: FloatArray) -> Self:
        """Learn from documents and targets that were checked; the weights do not count."""
        self._check_settings()
        models_of(targets)  # refuses a single class
        labels = _labels_of(targets, targets.classes)
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        self.n_features_in_ = rows.shape[1]
        self._start(rows.shape[1], labels.shape[1])
        if self.shuffle:
            order = np.random.default_rng(self.random_state).permutation(len(labels))
            rows = rows[order]
            labels = labels[order]
        self._learn_all(rows, labels)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from the next documents of a stream, once.

        The result does not depend on how a stream is cut.

        X may have more columns than before, and y new classes or columns; the first documents may
        be of one class. `classes` are further labels that may come.
        """
        self._learn(X, y, classes)
        return self

    def progressive_proba(self, X: Any, y: Any, classes: Any = None) -> FloatArray:
        """Learn as `partial_fit`, and return P(c | d) of each document before its label.

        Test, then train: progressive validation. It may start a model.
        """
        return np.exp(self._log_proba(self._learn(X, y, classes)))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of P(c | d), documents x categories."""
        return self._log_proba(self.predict_log_odds(X))

    def predict_log_odds(self, X: Any) -> FloatArray:
        """Log odds of each category, or of the second of two classes, documents x models.

        Not normalised.
        """
        return self.scores_checked(self._rows(X))

    def scores_checked(self, rows: SparseRows) -> FloatArray:
        """Return log odds of checked rows, documents x models; they are not normalised."""
        return self._run(rows, None)

    def _check_settings(self) -> None:
        """Refuse parameters that make no sense."""
        raise NotImplementedError

    def _start(self, n_terms: int, n_models: int) -> None:
        """Begin with nothing learned."""
        raise NotImplementedError

    def _grow(self, known: Array, n_terms: int, n_models: int) -> None:
        """Add terms and categories; `known` are all classes."""
        raise NotImplementedError

    def _run(self, rows: SparseRows, labels: Array | None) -> Array:
        """Log odds of documents x models, each before it is learned, if there are labels."""
        raise NotImplementedError

    def _learn_all(self, rows: SparseRows, labels: Array) -> None:
        """Learn the documents of a `fit`."""
        self._run(rows, labels)

    def _learn(self, X: Any, y: Any, classes: Any) -> Array:
        """Learn the next documents; gives their log odds before."""
        return self._learn_batch(*self._check_batch(X, y, classes))

    def _check_batch(
        self, X: Any, y: Any, classes: Any
    ) -> tuple[SparseRows, FloatArray, Array, bool]:
        """Check the next documents; return them, their labels, all classes and their form."""
        self._check_settings()
        first = not self.__sklearn_is_fitted__()
        targets = check_targets(
            y, classes=classes if first or classes is not None else self._known(y)
        )
        known = targets.classes if first else self._all_classes(targets)
        labels = _labels_of(targets, known)
        rows = check_terms(
            self, X, n_documents=targets.n_documents, reset=first, may_grow=not first
        )
        return rows, labels, known, targets.multilabel

    def _learn_batch(
        self, rows: SparseRows, labels: FloatArray, known: Array, multilabel: bool
    ) -> FloatArray:
        """Learn documents that were checked; gives their log odds before."""
        if self.__sklearn_is_fitted__():
            self._grow(known, rows.shape[1], labels.shape[1])
        else:
            self._start(rows.shape[1], labels.shape[1])
        self.classes_ = known
        self.multilabel_ = multilabel
        return self._run(rows, labels)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def _all_classes(self, targets: Targets) -> Array:
        """Return the classes so far and the new ones."""
        self._check_form(targets)
        join = longer_names if self.multilabel_ else union_of_classes
        return join(self.classes_, targets.classes)

    def _rows(self, X: Any) -> SparseRows:
        check_is_fitted(self)
        return check_terms(self, X, reset=False)

    def _check_models(self, n_models: int) -> None:
        """Refuse stored classes that do not fit the models.

        A stream may have seen one class only.
        """
        alone = not self.multilabel_ and n_models == 1 and len(self.classes_) == 1
        check_classes(self.classes_, 1, multilabel=False) if alone else self._check_classes(
            n_models
        )

    def _places(self, known: Array) -> Array:
        """Where the models so far are among all classes."""
        return (
            np.arange(len(self.classes_))
            if self.multilabel_
            else np.searchsorted(known, self.classes_)
        )

    def _log_proba(self, scores: FloatArray) -> FloatArray:
        if self._is_binary():
            sided: Array = log_expit(scores * [[-1.0, 1.0]])
            return sided
        return self._normalised(log_expit(scores))


class KernelArrays:
    """A dataclass of arrays that kernels change in place."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was pickled, in arrays of its own: pickled ones may have come read-only."""
        for name, value in state.items():
            setattr(self, name, np.array(value) if isinstance(value, np.ndarray) else value)

    def _take_arrays(self) -> None:
        """Copy arrays that were read from a file, for the same reason."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                setattr(self, field.name, np.array(value, order="C"))


def models_over(targets: Targets, classes: Array) -> SparseRows:
    """Return the documents that each model calls positive, models x documents."""
    members = targets.members_over(classes)
    return members[[1]] if not targets.multilabel and len(classes) == 2 else members


def _labels_of(targets: Targets, classes: Array) -> Array:
    """0 and 1, documents x models."""
    return np.ascontiguousarray(models_over(targets, classes).toarray().T, dtype=np.float64)
