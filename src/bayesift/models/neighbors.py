"""Nearest neighbours by cosine."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.kernels.neighbors import nearest_rows
from bayesift.models.linear.weights import from_arrays, to_arrays
from bayesift.models.state import Arrays, Parameters, classes_of, describe_classes, expect
from bayesift.validation import check_targets, check_terms

Array = np.ndarray[Any, Any]


class NeighborsClassifier(ClassifierMixin, BaseEstimator):
    """The categories of the most similar training documents.

        P(c | d) = (sum of cos(d, n) over neighbours n in c + prior · share of c) / (sum over all neighbours + prior)

    with the share of c among the training documents, (n_c + 1/2) / (n + 1). A document without a term in common with
    any other gets these shares.

    Parameters
    ----------
    k : how many neighbours count
    prior : how many neighbours of the same text the shares of the categories are worth

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix

    References
    ----------
    Yang & Liu (1999); `k` is theirs on Reuters.

    Examples
    --------
    >>> model = NeighborsClassifier(k=2).fit([[1, 0], [1, 1], [0, 1]], ["grain", "grain", "crude"])
    >>> model.predict_proba([[1, 0]]).round(2).tolist()
    [[0.14, 0.86]]
    """

    classes_: Array
    multilabel_: bool

    def __init__(self, *, k: int = 45, prior: float = 1.0) -> None:
        self.k = k
        self.prior = prior

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the documents."""
        if self.k < 1:
            raise ValueError(f"k must be at least 1, got {self.k!r}")
        if self.prior <= 0:
            raise ValueError(f"prior must be positive, got {self.prior!r}")
        targets = check_targets(y)
        rows = normalize(check_terms(self, X, n_documents=targets.n_documents))
        if not targets.multilabel and len(targets.classes) < 2:
            raise ValueError(f"y has only one class, {targets.classes[0]!r}; a classifier needs two")
        self.classes_, self.multilabel_ = targets.classes, targets.multilabel
        self._remember(rows, sparse.csr_array(targets.members.T))
        return self

    def kneighbors(self, X: Any) -> tuple[Array, Array]:
        """The nearest training documents of each document and their cosines, nearest first."""
        check_is_fitted(self)
        rows = normalize(check_terms(self, X, reset=False))
        n_neighbors = min(self.k, self._documents.shape[0])
        found = np.empty((rows.shape[0], n_neighbors), dtype=np.int64)
        cosines = np.empty(found.shape)
        by_term = self._by_term
        nearest_rows(
            rows.indptr, rows.indices, rows.data, by_term.indptr, by_term.indices, by_term.data,
            np.empty(self._documents.shape[0]), found, cosines,
        )  # fmt: skip
        return found, cosines

    def predict_proba(self, X: Any) -> Array:
        """The share of each category in the votes, documents x categories."""
        found, cosines = self.kneighbors(X)
        worth, ends = cosines.clip(0.0), np.arange(len(found) + 1) * found.shape[1]
        shape = (len(found), self._documents.shape[0])
        votes: Array = (sparse.csr_array((worth.ravel(), found.ravel(), ends), shape=shape) @ self._members).toarray()
        votes += self.prior * self._shares()
        votes /= worth.sum(axis=1, keepdims=True) + self.prior
        return votes

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of P(c | d), documents x categories."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The class with most votes, or the indicator of the categories of more than half."""
        votes = self.predict_proba(X)
        if self.multilabel_:
            return (votes > 0.5).astype(np.int64)
        classes: Array = self.classes_[np.argmax(votes, axis=1)]
        return classes

    def contributions(self, X: Any, category: Any) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the probability of a category through its neighbours, and what the prior adds.

        Examples
        --------
        >>> model = NeighborsClassifier(k=2).fit([[1, 0], [1, 1], [0, 1]], ["grain", "grain", "crude"])
        >>> model.contributions([[1, 0]], "grain")[0].toarray().round(2).tolist()
        [[0.63, 0.0]]
        """
        places = np.flatnonzero(self.classes_ == category)
        if len(places) != 1:
            raise ValueError(f"no category {category!r}")
        found, cosines = self.kneighbors(X)
        rows = normalize(check_terms(self, X, reset=False))
        member = self._members[:, places].toarray().ravel()
        totals = cosines.clip(0.0).sum(axis=1) + self.prior
        for d in range(rows.shape[0]):
            near = found[d, cosines[d] > 0]
            centre = self._documents[near].T @ member[near]
            stretch = slice(rows.indptr[d], rows.indptr[d + 1])
            rows.data[stretch] *= centre[rows.indices[stretch]] / totals[d]
        return rows, self.prior * self._shares()[places[0]] / totals

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and the documents as arrays."""
        check_is_fitted(self)
        parameters: Parameters = {
            "k": self.k,
            "prior": float(self.prior),
            "classes": describe_classes(self.classes_),
            "multilabel": self.multilabel_,
        }
        nothing = np.zeros(self._documents.shape[0])
        members = {f"members.{name}": array for name, array in to_arrays(self._members, nothing).items()}
        return parameters, {**to_arrays(self._documents, nothing), **members}

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The classifier of `get_state`, with identical probabilities; refuses what does not fit together."""
        model = cls(k=expect(parameters, "k", int), prior=expect(parameters, "prior", float))
        model.multilabel_ = expect(parameters, "multilabel", bool)
        documents, _ = from_arrays({name: array for name, array in arrays.items() if not name.startswith("members.")})
        named = {name.removeprefix("members."): array for name, array in arrays.items() if name.startswith("members.")}
        members, _ = from_arrays(named)
        if not sparse.issparse(documents) or not sparse.issparse(members) or documents.shape[0] != members.shape[0]:
            raise DataError("not the documents of a neighbours model")
        if model.k < 1 or not model.prior > 0 or not np.all(members.data == 1):
            raise DataError("not a neighbours model")
        model.classes_ = classes_of(expect(parameters, "classes", dict), members.shape[1])
        model.n_features_in_ = documents.shape[1]
        model._remember(documents, members)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _remember(self, documents: sparse.csr_array, members: sparse.csr_array) -> None:
        self._documents, self._members = documents, members.astype(np.float64)
        self._by_term = sparse.csc_array(documents)

    def _shares(self) -> Array:
        n_documents = self._members.shape[0]
        shares: Array = (self._members.sum(axis=0) + 0.5) / (n_documents + 1.0)
        return shares if self.multilabel_ else shares / shares.sum()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")
