"""What classifiers with one model per category share: positives, terms, explanations, threads over models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.state import StateMixin, check_classes
from bayesift.threads import in_threads
from bayesift.validation import Targets, check_terms, check_two_classes

Answer = TypeVar("Answer")


class CategoriesMixin(StateMixin):
    """A classifier with one model per category; two class labels share one, whose positive side is the second."""

    classes_: Array
    multilabel_: bool

    def contributions(self, X: Any, category: Any, *, against: Any = None) -> tuple[sparse.csr_array, Array]:
        """The contribution of each term to the score of a category, documents x terms, and the intercept.

        `against` is the class to compare with (labels only); by default the rest of the category.
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

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        """The weights of all terms and the intercept of the score of a category."""
        raise NotImplementedError

    def _check_classes(self, n_models: int) -> None:
        """Refuse stored classes that do not fit the models."""
        n_classes = 2 if n_models == 1 and not self.multilabel_ else n_models
        check_classes(self.classes_, n_classes, multilabel=self.multilabel_)

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def _place(self, category: Any) -> tuple[int, float]:
        """The model of a category, and the sign of its scores for that category."""
        places = np.flatnonzero(self.classes_ == category)
        if len(places) != 1:
            raise ValueError(f"no category {category!r}")
        return (0, 2.0 * places[0] - 1.0) if self._is_binary() else (int(places[0]), 1.0)


def named_or_given(value: Any, kinds: dict[str, type[Any]], what: str) -> Any:
    """A value of one of these kinds, or the default one of that name."""
    if isinstance(value, str):
        if value not in kinds:
            raise ValueError(f"no {what} {value!r}; there are: {', '.join(kinds)}")
        return kinds[value]()
    if type(value) not in kinds.values():
        raise ValueError(f"not a {what}: {value!r}")
    return value


def models_of(targets: Targets) -> sparse.csr_array:
    """The documents that each model calls positive, models x documents: of two classes the second is enough."""
    if targets.multilabel:
        return targets.members
    check_two_classes(targets.classes)
    return targets.members[[1]] if len(targets.classes) == 2 else targets.members


def signs_of(members: sparse.csr_array) -> Array:
    """Labels -1 and +1, models x documents."""
    signs = np.full(members.shape, -1.0)
    for c in range(members.shape[0]):
        signs[c, members.indices[members.indptr[c] : members.indptr[c + 1]]] = 1.0
    return signs


def terms_of(feature_mask: Any, shape: tuple[int, int], earlier: Sequence[Array] | None = None) -> list[Array] | None:
    """The columns each model may use, None for all; those it used `earlier` stay."""
    if feature_mask is None:
        if earlier is not None and len(earlier) < shape[0]:
            raise ValueError("feature_mask must name the terms of new categories, as the others have theirs")
        return None if earlier is None else list(earlier)
    rows = sparse.csr_array(feature_mask, copy=True)
    if rows.shape != shape:
        raise ValueError(f"feature_mask must be models x terms, {shape}, not {rows.shape}")
    rows.eliminate_zeros()
    terms = [np.sort(rows.indices[rows.indptr[c] : rows.indptr[c + 1]]).astype(np.int32) for c in range(shape[0])]
    for c, columns in enumerate(earlier or ()):
        terms[c] = np.union1d(columns, terms[c]).astype(np.int32)
    return terms


def for_each_model(work: Callable[[int], Answer], n_models: int, n_jobs: int | None) -> list[Answer]:
    """The results for models 0, 1, ..., computed by threads (-1 for all cores)."""
    return list(in_threads(work, range(n_models), n_jobs))
