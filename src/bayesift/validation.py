"""Input checks that estimators share: one form of X, one form of y, whatever came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows

MAX_ENTRIES = (
    2**31 - 1
)  # rows, columns and stored values of one matrix: kernels take int32 indices


@dataclass(frozen=True, eq=False)
class Targets:
    """The members of each category, categories x documents, and the names of the categories.

    A document may have none or several categories if y was an indicator matrix (`multilabel`).
    Documents of one group are never on both sides of a fold; None if each is on its own.
    """

    members: sparse.csr_array
    classes: Array
    multilabel: bool
    groups: IntArray | None = None

    @classmethod
    def of_indicator(cls, indicator: SparseRows, names: Array | None = None) -> Targets:
        """Make the targets of a checked indicator matrix, documents x categories.

        It must have no stored zeros.
        """
        members = sparse.csr_array(indicator.T)
        if names is None:
            names = np.arange(members.shape[0])
        return cls(
            _as_members(members.indptr, members.indices, members.shape), names, multilabel=True
        )

    @property
    def n_documents(self) -> int:
        """The number of documents that y describes."""
        return int(self.members.shape[1])

    def members_over(self, classes: Array) -> sparse.csr_array:
        """Return the members of wider classes: these in the same order, others between them."""
        indices = np.arange(len(self.classes))
        if not self.multilabel:
            indices = np.searchsorted(classes, self.classes)
        lengths = np.zeros(len(classes), dtype=np.int32)
        lengths[indices] = np.diff(self.members.indptr)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        return _as_members(indptr, self.members.indices, (len(classes), self.n_documents))


class TermTagsMixin:
    """Tags of a classifier of documents x terms: X may be sparse, y an indicator matrix."""

    POSITIVE_ONLY: ClassVar[bool] = False
    POOR_SCORE: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.POSITIVE_ONLY
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = self.POOR_SCORE
        return tags


def check_terms(
    estimator: Any,
    X: Any,
    *,
    n_documents: int | None = None,
    reset: bool = True,
    may_grow: bool = False,
    non_negative: bool = False,
) -> sparse.csr_array:
    """X as rows of float64 with sorted int32 columns and without stored zeros.

    X itself stays as it is.

    The estimator (None for a plain function) gets (`reset`) or is held to `n_features_in_` and
    `feature_names_in_`; it stays as it is when X is refused. X may have more columns than it has
    seen if `may_grow`.
    """
    rows = X
    if not _are_finite_rows(X):
        checked = check_array(
            X, accept_sparse="csr", dtype=np.float64, estimator=estimator, input_name="X"
        )
        rows = sparse.csr_array(checked)
    if n_documents is not None and rows.shape[0] != n_documents:
        raise ValueError(
            f"inconsistent numbers of samples: X has {rows.shape[0]}, y has {n_documents}"
        )
    _check_size("X", rows)
    if not (rows.has_canonical_format and np.all(rows.data)):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    if non_negative and rows.nnz and rows.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}: X holds counts or "
            "weights"
        )
    if estimator is not None:
        wider = may_grow and rows.shape[1] > estimator.n_features_in_
        fits = X is rows and rows.shape[1] == getattr(estimator, "n_features_in_", None)
        if reset or not fits or hasattr(estimator, "feature_names_in_"):
            validate_data(estimator, X, reset=reset or wider, skip_check_array=True)
    indices, indptr = (
        rows.indices.astype(np.int32, copy=False),
        rows.indptr.astype(np.int32, copy=False),
    )
    return sparse.csr_array((rows.data, indices, indptr), shape=rows.shape)


def _are_finite_rows(X: Any) -> bool:
    """Whether X is what a vectorizer gives, which needs no check that takes long for one text."""
    return (
        isinstance(X, sparse.csr_array)
        and X.dtype == np.float64
        and min(X.shape) > 0
        and bool(np.isfinite(X.data).all())
    )


def check_targets(y: Any, *, classes: Any = None) -> Targets:
    """Read y as class labels, or as an indicator matrix (sparse, or of several columns).

    A dense single column counts as labels, as in scikit-learn. `classes` are labels that may appear
    elsewhere, or the names of the indicator's columns (0, 1, ... without).
    """
    if y is None:
        raise ValueError("the estimator requires y to be passed, but the target y is None")
    y = y if sparse.issparse(y) else np.asarray(y)
    is_indicator = sparse.issparse(y) or (y.ndim == 2 and y.shape[1] > 1)
    return _indicator_targets(y, classes) if is_indicator else _label_targets(y, classes)


def check_two_classes(classes: Array) -> None:
    """Refuse to learn one class only."""
    if len(classes) == 0:
        raise ValueError("there are no documents to learn from")
    if len(classes) == 1:
        raise ValueError(
            f"there is only one class, {classes.tolist()[0]!r}; a classifier needs two"
        )


def check_sample_weight(
    sample_weight: Any, n_documents: int, *, some_positive: bool = False
) -> FloatArray:
    """Return one non-negative weight per document; ones if none are given.

    `some_positive` refuses weights that are all zero.
    """
    if sample_weight is None:
        return np.ones(n_documents)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_documents,):
        raise ValueError(
            f"there must be one sample weight for each of the {n_documents} documents"
        )
    if np.any(weights < 0):
        raise ValueError("Negative values in data passed to sample_weight")
    if some_positive and not np.any(weights):
        raise ValueError("sample_weight is zero for every document")
    return np.ascontiguousarray(weights)


def check_groups(groups: Any, n_documents: int) -> IntArray | None:
    """Return the groups of documents as numbers; one without (None, NaN) is a group of its own.

    Examples
    --------
    >>> check_groups(["ann", "bob", None, "ann"], 4).tolist()
    [0, 1, 2, 0]
    """
    if groups is None:
        return None
    given = list(groups)
    if len(given) != n_documents:
        raise ValueError(
            f"there must be one group for each of the {n_documents} documents, not {len(given)}"
        )
    numbers: dict[Any, int] = {}
    found = np.empty(n_documents, dtype=np.int64)
    for row, group in enumerate(given):
        is_missing = group is None or group != group
        key = ("", row) if is_missing else group
        found[row] = numbers.setdefault(key, len(numbers))
    return found


def check_times(times: Any, n_documents: int) -> FloatArray | None:
    """Return the times of documents as numbers; NaN where a time is missing.

    Times are numbers, `datetime` objects or NumPy's dates.

    Examples
    --------
    >>> check_times(np.array(["2020-01-02", "NaT"], dtype="datetime64[D]"), 2).tolist()
    [18263.0, nan]
    """
    if times is None:
        return None
    given = np.asarray(times)
    if given.dtype.kind == "O":
        is_missing = np.array([time is None or time != time for time in given], dtype=bool)
        given = np.where(is_missing, np.datetime64("NaT"), given)
        given = given.astype("datetime64[us]")
    if given.dtype.kind not in "biufM" or given.shape != (n_documents,):
        raise ValueError(
            f"times must be one date or number for each of the {n_documents} documents"
        )
    seconds = given.astype(np.float64)
    if given.dtype.kind == "M":
        seconds[np.isnat(given)] = np.nan
    return seconds


def _indicator_targets(y: Any, classes: Any) -> Targets:
    indicator = sparse.csr_array(
        check_array(y, accept_sparse=True, dtype=np.float64, input_name="y")
    )
    _check_size("y", indicator)
    if not np.all((indicator.data == 0) | (indicator.data == 1)):
        raise ValueError("Unknown label type: an indicator matrix y holds nothing but 0 and 1")
    names = np.arange(indicator.shape[1]) if classes is None else np.asarray(classes)
    if names.shape != (indicator.shape[1],):
        raise ValueError(f"{len(names)} classes for the {indicator.shape[1]} columns of y")
    if not np.all(indicator.data):
        indicator = indicator.copy()  # y stays as it is
        indicator.eliminate_zeros()
    return Targets.of_indicator(indicator, names)


def _label_targets(y: Any, classes: Any) -> Targets:
    labels = column_or_1d(y, warn=True)
    if not are_names(labels):
        check_array(labels, ensure_2d=False, dtype=None, input_name="y")
        check_classification_targets(labels)
    names, codes = number_labels(labels)
    if classes is not None:
        wider = union_of_classes(names, np.asarray(classes))
        names, codes = wider, np.searchsorted(wider, names)[codes]
    indptr = np.zeros(len(names) + 1, dtype=np.int32)
    np.cumsum(np.bincount(codes, minlength=len(names)), out=indptr[1:])
    shape = (len(names), len(labels))
    return Targets(
        _as_members(indptr, np.argsort(codes, kind="stable"), shape), names, multilabel=False
    )


def are_names(labels: Any) -> bool:
    """Whether labels are a vector of text, which needs no further check."""
    is_vector = isinstance(labels, np.ndarray) and labels.ndim == 1
    return is_vector and (
        labels.dtype.kind in "US"
        or (labels.dtype == object and set(map(type, labels)) == {str})
    )


def number_labels(labels: Array) -> tuple[Array, IntArray]:
    """Return the distinct labels, sorted, and the number of each label.

    It is `np.unique` without sorting Python objects.

    Examples
    --------
    >>> number_labels(np.array(["oil", "corn", "oil"], dtype=object))
    (array(['corn', 'oil'], dtype=object), array([1, 0, 1]))
    """
    if labels.dtype != object or not are_names(labels):
        return np.unique(labels, return_inverse=True)
    values = labels.tolist()
    names = sorted(set(values))
    index = {name: j for j, name in enumerate(names)}
    return np.array(names, dtype=object), np.fromiter(
        (index[name] for name in values), np.intp, len(values)
    )


def union_of_classes(left: Array, right: Array) -> Array:
    """Return the classes of both, sorted; names and numbers do not mix."""
    if (left.dtype.kind in "biuf") != (right.dtype.kind in "biuf"):
        raise ValueError(
            f"classes cannot be both names and numbers: {left.tolist()} and {right.tolist()}"
        )
    return np.union1d(left, right)


def longer_names(left: Array, right: Array) -> Array:
    """Return the longer of two lists of column names, which must begin with the shorter one."""
    shorter, longer = sorted((left, right), key=len)
    if not np.array_equal(shorter, longer[: len(shorter)]):
        raise ValueError(
            f"the columns of y were {left.tolist()} before and are {right.tolist()} now"
        )
    return longer


def _check_size(name: str, rows: sparse.csr_array) -> None:
    """Refuse what int32 indices cannot address."""
    largest = max(rows.nnz, *rows.shape)
    if largest > MAX_ENTRIES:
        raise ValueError(
            f"{name} has {largest:,} rows, columns or entries, at most {MAX_ENTRIES:,} fit; learn "
            "in parts or on Spark"
        )


def _as_members(
    indptr: IntArray, indices: IntArray, shape: tuple[int, int]
) -> sparse.csr_array:
    ones = np.ones(len(indices), dtype=np.int8)
    return sparse.csr_array(
        (ones, indices.astype(np.int32), indptr.astype(np.int32)), shape=shape
    )
