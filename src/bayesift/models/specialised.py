"""Two classifiers, one for common categories and one for rare ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.models.state import Arrays, Parameters, expect
from bayesift.validation import check_targets, check_terms

Array = np.ndarray[Any, Any]
Criterion = Literal["macro", "micro"]

_PARTS = ("common", "rare")


def _have_probabilities(self: SpecialisedClassifier) -> bool:
    return all(hasattr(part, "predict_proba") for part in (self.common, self.rare))


class SpecialisedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """One classifier for categories with many documents, another for those with few.

    Chai, Ng & Chieu (2002) conclude that Bayesian classifiers do better on common categories and margin classifiers on
    rare ones. Where common begins is chosen on the training documents: both classifiers decide documents that they
    were not trained on, fold by fold, and the boundary is the one with the highest F1. For indicator matrices only.

    Parameters
    ----------
    common, rare : any two classifiers that take indicator matrices, such as an `OnlineGaussianProcess` and a
        `MarginClassifier`, alone or within a `ThresholdedClassifier`
    boundary : the number of documents from which a category is common; None chooses it
    criterion : what the boundary is chosen by, "macro" or "micro" F1
    cv : how many folds
    random_state : deals the folds

    Attributes
    ----------
    boundary_ : the number of documents from which a category is common
    boundaries_, criteria_ : the boundaries that were tried and their F1; None when the boundary was given
    is_common_ : of each category
    common_, rare_ : the fitted classifiers, each of its own categories; None when it has none
    classes_ : the numbers of the categories

    Notes
    -----
    It can be stored when both parts can (`bayesift.models.STORABLE`): scikit-learn's and `MarginClassifier` cannot.

    Examples
    --------
    >>> from bayesift.models import NaiveBayesClassifier, OnlineGaussianProcess
    >>> X, Y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], [[1, 0], [1, 0], [1, 0], [0, 1]]
    >>> model = SpecialisedClassifier(OnlineGaussianProcess(), NaiveBayesClassifier(), boundary=2).fit(X, Y)
    >>> model.is_common_.tolist(), model.predict([[1, 0, 0]]).tolist()
    ([True, False], [[1, 0]])
    """

    classes_: Array
    boundary_: int
    boundaries_: Array | None
    criteria_: Array | None
    is_common_: Array

    def __init__(
        self,
        common: Any,
        rare: Any,
        *,
        boundary: int | None = None,
        criterion: Criterion = "macro",
        cv: int = 5,
        random_state: int | None = 0,
    ) -> None:
        self.common = common
        self.rare = rare
        self.boundary = boundary
        self.criterion = criterion
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, supports: Any = None) -> Self:
        """Choose the boundary and fit both parts to their categories.

        Parameters
        ----------
        X, y : documents x terms, and an indicator matrix
        supports : categories x terms, the terms the common part may use; or a function of X and y that gives them,
            which is asked in every fold anew
        """
        if self.criterion not in ("macro", "micro"):
            raise ValueError(f"criterion must be 'macro' or 'micro', got {self.criterion!r}")
        targets = check_targets(y)
        if not targets.multilabel:
            raise ValueError("a SpecialisedClassifier takes an indicator matrix, not class labels")
        rows = check_terms(self, X, n_documents=targets.n_documents)
        Y = sparse.csr_array(targets.members.T).toarray().astype(np.int64)
        sizes = Y.sum(axis=0)
        if self.boundary is None:
            boundaries, criteria = self._try_boundaries(rows, Y, supports)
            self.boundaries_, self.criteria_ = boundaries, criteria
            self.boundary_ = int(boundaries[np.argmax(criteria)])
        else:
            self.boundaries_ = self.criteria_ = None
            self.boundary_ = int(self.boundary)
        self.classes_, self.is_common_ = targets.classes, sizes >= self.boundary_
        self.common_ = self._fitted("common", rows, Y, np.flatnonzero(self.is_common_), supports)
        self.rare_ = self._fitted("rare", rows, Y, np.flatnonzero(~self.is_common_), None)
        return self

    def predict(self, X: Any) -> Array:
        """An indicator matrix: what each part decides of its categories."""
        return self._joined(X, lambda part, rows: part.predict(rows)).astype(np.int64)

    def decision_function(self, X: Any) -> Array:
        """Documents x categories, above 0 for yes: margins, or probabilities minus 1/2 of parts without margins."""
        return self._joined(X, _margins)

    @available_if(_have_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probabilities, documents x categories, where both parts have them."""
        return self._joined(X, lambda part, rows: part.predict_proba(rows))

    @available_if(_have_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(self.predict_proba(X))
        return logarithms

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs; refused when a part cannot be stored."""
        check_is_fitted(self)
        parameters: Parameters = {
            "boundary": self.boundary_,
            "is_common": self.is_common_.tolist(),
            "n_terms": int(self.n_features_in_),
        }
        arrays: Arrays = {}
        for name in _PARTS:
            part = getattr(self, f"{name}_")
            parameters[name], more = (None, {}) if part is None else _state_of(part)
            arrays |= {f"{name}.{key}": array for key, array in more.items()}
        return parameters, arrays

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical decisions; refuses what does not fit together."""
        parts = {name: _stored_part(parameters.get(name), arrays, name) for name in _PARTS}
        is_common = expect(parameters, "is_common", list)
        if not is_common or not all(isinstance(flag, bool) for flag in is_common):
            raise DataError("which categories are common is not said")
        common, rare = parts["common"], parts["rare"]
        model = cls(rare if common is None else common, common if rare is None else rare)
        model.boundary_, model.boundaries_, model.criteria_ = expect(parameters, "boundary", int), None, None
        model.is_common_, model.classes_ = np.array(is_common), np.arange(len(is_common))
        model.n_features_in_ = expect(parameters, "n_terms", int)
        model.common_, model.rare_ = common, rare
        for part, n_categories in zip(parts.values(), (sum(is_common), len(is_common) - sum(is_common)), strict=True):
            known = 0 if part is None else len(part.classes_)
            if known != n_categories or (known and not part.multilabel_):
                raise DataError("the parts do not fit the categories")
            if known and part.n_features_in_ != model.n_features_in_:
                raise DataError("the parts do not fit the terms")
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _fitted(self, name: str, X: Any, Y: Array, categories: Array, supports: Any) -> Any:
        """A part fitted to some of the categories; None for none."""
        if len(categories) == 0:
            return None
        chosen: Any = Y[:, categories]
        # A dense single column would count as class labels.
        target = sparse.csr_array(chosen) if len(categories) == 1 else chosen
        if supports is None:
            return clone(getattr(self, name)).fit(X, target)
        terms = sparse.csr_array(supports(X, Y) if callable(supports) else supports)[categories]
        return clone(getattr(self, name)).fit(X, target, supports=terms)

    def _splits(self, n_documents: int) -> Iterator[tuple[Array, Array]]:
        yield from KFold(self.cv, shuffle=True, random_state=self.random_state).split(np.empty(n_documents))

    def _try_boundaries(self, X: Any, Y: Array, supports: Any) -> tuple[Array, Array]:
        """All boundaries between categories of different sizes, and the F1 of each over documents held out."""
        everything = np.arange(Y.shape[1])
        decided = {name: np.zeros(Y.shape, dtype=bool) for name in _PARTS}
        for train, held_out in self._splits(len(Y)):
            for name, terms in (("common", supports), ("rare", None)):
                part = self._fitted(name, X[train], Y[train], everything, terms)
                decided[name][held_out] = np.asarray(part.predict(X[held_out])) != 0
        sizes = Y.sum(axis=0)
        boundaries = np.append(np.unique(sizes), sizes.max() + 1)
        counted = [_counts(Y, decided[name]) for name in _PARTS]
        f1 = [_f1(np.where(sizes >= boundary, *counted), self.criterion) for boundary in boundaries]
        return boundaries, np.array(f1)

    def _joined(self, X: Any, ask: Any) -> Array:
        """What both parts say, each in the columns of its categories."""
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False)
        answers = np.empty((rows.shape[0], len(self.classes_)))
        for part, categories in ((self.common_, self.is_common_), (self.rare_, ~self.is_common_)):
            if part is not None:
                answers[:, categories] = np.asarray(ask(part, rows)).reshape(rows.shape[0], -1)
        return answers


def _margins(part: Any, rows: Any) -> Any:
    if hasattr(part, "decision_function"):
        return part.decision_function(rows)
    return part.predict_proba(rows) - 0.5


def _counts(Y: Array, decided: Array) -> Array:
    """True positives, and positives of both kinds together, of each category."""
    return np.stack([(Y * decided).sum(axis=0), Y.sum(axis=0) + decided.sum(axis=0)])


def _f1(counts: Array, criterion: Criterion) -> float:
    right, together = counts.sum(axis=1, keepdims=True) if criterion == "micro" else counts
    return float(np.mean(2.0 * right / np.maximum(together, 1)))


def _state_of(part: Any) -> tuple[Parameters, Arrays]:
    from bayesift.models.storable import STORABLE

    kind = next((kind for kind, stored in STORABLE.items() if type(part) is stored), None)
    if kind is None:
        raise DataError(f"a {type(part).__name__} cannot be saved, so its SpecialisedClassifier cannot either")
    parameters, arrays = part.get_state()
    return {"kind": kind, "parameters": parameters}, arrays


def _stored_part(description: Any, arrays: Arrays, name: str) -> Any:
    from bayesift.models.storable import STORABLE

    if description is None:
        return None
    if not isinstance(description, dict) or not isinstance(description.get("kind"), str):
        raise DataError(f"the {name} part is not described")
    kind = STORABLE.get(description["kind"])
    if kind is None or kind is SpecialisedClassifier:
        raise DataError(f"unknown kind of model {description['kind']!r:.40}")
    mine = {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
    return kind.from_state(expect(description, "parameters", dict), mine)
