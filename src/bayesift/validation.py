"""Input checks that estimators share: one form of X, one form of y, whatever came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Targets:
    """Which documents belong to which categories.

    Parameters
    ----------
    members : categories x documents; a row lists the documents of a category in their order
    classes : the name of each category
    multilabel : whether y was an indicator matrix, so that a document may have none or several categories
    """

    members: sparse.csr_array
    classes: Array
    multilabel: bool

    @property
    def n_documents(self) -> int:
        """How many documents y describes."""
        return int(self.members.shape[1])

    def members_over(self, classes: Array) -> sparse.csr_array:
        """The members of each of these classes: all of ours in the same order, and others between or after them."""
        places = np.arange(len(self.classes)) if self.multilabel else np.searchsorted(classes, self.classes)
        lengths = np.zeros(len(classes), dtype=np.int32)
        lengths[places] = np.diff(self.members.indptr)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        return _as_members(indptr, self.members.indices, (len(classes), self.n_documents))


def check_terms(
    estimator: Any,
    X: Any,
    *,
    n_documents: int | None = None,
    reset: bool = True,
    may_grow: bool = False,
    non_negative: bool = False,
) -> sparse.csr_array:
    """X as rows of float64 with sorted int32 columns and without stored zeros; X itself stays as it is.

    Parameters
    ----------
    estimator : gets (`reset`) or is held to `n_features_in_` and `feature_names_in_`; None for a plain function
    X : documents x terms, sparse or dense; when it is refused, the estimator stays as it is
    n_documents : how many documents y describes
    may_grow : whether X may have more columns than the estimator has seen so far
    non_negative : refuse negative values

    Examples
    --------
    >>> check_terms(None, [[0, 2], [1, 0]]).indices.tolist()
    [1, 0]
    """
    rows = sparse.csr_array(check_array(X, accept_sparse="csr", dtype=np.float64, estimator=estimator, input_name="X"))
    if n_documents is not None and rows.shape[0] != n_documents:
        raise ValueError(f"inconsistent numbers of samples: X has {rows.shape[0]}, y has {n_documents}")
    if not (rows.has_canonical_format and np.all(rows.data)):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    if non_negative and rows.nnz and rows.data.min() < 0:
        raise ValueError(f"Negative values in data passed to {type(estimator).__name__}: X holds counts or weights")
    if estimator is not None:
        wider = may_grow and rows.shape[1] > estimator.n_features_in_
        validate_data(estimator, X, reset=reset or wider, skip_check_array=True)
    small = max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max
    index = np.int32 if small else np.int64
    indices, indptr = rows.indices.astype(index, copy=False), rows.indptr.astype(index, copy=False)
    return sparse.csr_array((rows.data, indices, indptr), shape=rows.shape)


def check_targets(y: Any, *, classes: Any = None) -> Targets:
    """Read y as class labels (one dimension) or as an indicator matrix (sparse, or dense with several columns).

    Parameters
    ----------
    y : labels or indicator; a dense single column counts as labels, as in scikit-learn
    classes : labels that may appear elsewhere, or the names of the indicator's columns (0, 1, ... without)

    Examples
    --------
    >>> check_targets(["b", "a", "b"]).members.toarray()
    array([[0, 1, 0],
           [1, 0, 1]], dtype=int8)
    >>> check_targets([[1, 0], [1, 1]], classes=["earn", "acq"]).classes.tolist()
    ['earn', 'acq']
    """
    if y is None:
        raise ValueError("the estimator requires y to be passed, but the target y is None")
    y = y if sparse.issparse(y) else np.asarray(y)
    is_indicator = sparse.issparse(y) or (y.ndim == 2 and y.shape[1] > 1)
    return _indicator_targets(y, classes) if is_indicator else _label_targets(y, classes)


def check_sample_weight(sample_weight: Any, n_documents: int, *, some_positive: bool = False) -> Array:
    """One non-negative weight a document, ones when there are none; `some_positive` refuses nothing but zeros.

    Examples
    --------
    >>> check_sample_weight(None, 3).tolist()
    [1.0, 1.0, 1.0]
    """
    if sample_weight is None:
        return np.ones(n_documents)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weights.shape != (n_documents,):
        raise ValueError(f"there must be one sample weight for each of the {n_documents} documents")
    if np.any(weights < 0):
        raise ValueError("Negative values in data passed to sample_weight")
    if some_positive and not np.any(weights):
        raise ValueError("sample_weight is zero for every document")
    return np.ascontiguousarray(weights)


def _indicator_targets(y: Any, classes: Any) -> Targets:
    indicator = sparse.csr_array(check_array(y, accept_sparse=True, dtype=np.float64, input_name="y"))
    if not np.all((indicator.data == 0) | (indicator.data == 1)):
        raise ValueError("Unknown label type: an indicator matrix y holds nothing but 0 and 1")
    names = np.arange(indicator.shape[1]) if classes is None else np.asarray(classes)
    if names.shape != (indicator.shape[1],):
        raise ValueError(f"{len(names)} classes for the {indicator.shape[1]} columns of y")
    members = sparse.csr_array(indicator.T)
    members.eliminate_zeros()
    return Targets(_as_members(members.indptr, members.indices, members.shape), names, multilabel=True)


def _label_targets(y: Any, classes: Any) -> Targets:
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind not in "US":
        check_array(labels, ensure_2d=False, dtype=None, input_name="y")
        check_classification_targets(labels)
    names, codes = np.unique(labels, return_inverse=True)
    if classes is not None:
        wider = union_of_classes(names, np.asarray(classes))
        names, codes = wider, np.searchsorted(wider, names)[codes]
    indptr = np.zeros(len(names) + 1, dtype=np.int32)
    np.cumsum(np.bincount(codes, minlength=len(names)), out=indptr[1:])
    shape = (len(names), len(labels))
    return Targets(_as_members(indptr, np.argsort(codes, kind="stable"), shape), names, multilabel=False)


def union_of_classes(left: Array, right: Array) -> Array:
    """The classes of both, sorted; names and numbers do not mix.

    Examples
    --------
    >>> union_of_classes(np.array(["b"]), np.array(["a", "b"])).tolist()
    ['a', 'b']
    """
    if (left.dtype.kind in "biuf") != (right.dtype.kind in "biuf"):
        raise ValueError(f"classes cannot be both names and numbers: {left.tolist()} and {right.tolist()}")
    return np.union1d(left, right)


def longer_names(left: Array, right: Array) -> Array:
    """The longer of two lists of column names, which has to begin with the shorter one.

    Examples
    --------
    >>> longer_names(np.array(["earn"]), np.array(["earn", "acq"])).tolist()
    ['earn', 'acq']
    """
    shorter, longer = sorted((left, right), key=len)
    if not np.array_equal(shorter, longer[: len(shorter)]):
        raise ValueError(f"the columns of y were {left.tolist()} before and are {right.tolist()} now")
    return longer


def _as_members(indptr: Array, indices: Array, shape: tuple[int, int]) -> sparse.csr_array:
    ones = np.ones(len(indices), dtype=np.int8)
    return sparse.csr_array((ones, indices.astype(np.int32), indptr.astype(np.int32)), shape=shape)
