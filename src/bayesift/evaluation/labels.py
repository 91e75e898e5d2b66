"""Labels, decisions and scores as the measures read them: documents x categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.errors import DataError

Array = np.ndarray[Any, Any]


def indicator(y: Any, labels: Sequence[Any] | Array | None = None) -> sparse.csr_array:
    """The documents x categories matrix of 0 and 1; class labels are spread over the columns named by `labels`.

    Examples
    --------
    >>> indicator(["corn", "oil", "corn"], labels=["corn", "oil"]).toarray()
    array([[1, 0],
           [0, 1],
           [1, 0]], dtype=int32)
    """
    matrix = y if sparse.issparse(y) else np.asarray(y)
    if matrix.ndim == 1:
        return _spread(matrix, labels)
    if matrix.ndim != 2:
        raise DataError(f"labels must be class labels or documents x categories, got {matrix.ndim} dimensions")
    rows = sparse.csr_array(matrix)
    if not np.isin(rows.data, (0, 1)).all():
        raise DataError("labels must be 0 or 1: a column a category, 1 where the document belongs to it")
    counted = rows.astype(np.int32)
    counted.eliminate_zeros()
    return counted


def aligned(Y: Any, *decisions: Any, labels: Sequence[Any] | None = None) -> tuple[sparse.csr_array, ...]:
    """Labels and the decisions of one or more systems, of the same documents and categories; class labels are spread.

    Examples
    --------
    >>> truth, decided = aligned(["corn", "oil"], ["oil", "oil"])
    >>> decided.toarray().tolist()
    [[0, 1], [0, 1]]
    """
    if labels is None and all(np.ndim(part) == 1 for part in (Y, *decisions)):
        labels = np.unique(np.concatenate([np.asarray(part) for part in (Y, *decisions)])).tolist()
    truth, *decided = (indicator(part, labels) for part in (Y, *decisions))
    for matrix in decided:
        if truth.shape != matrix.shape:
            raise DataError(f"labels are {_shape(truth)}, decisions {_shape(matrix)} (documents x categories)")
    if not truth.shape[0]:
        raise DataError("there are no documents to measure on")
    return truth, *decided


def scored(Y: Any, scores: Any, labels: Sequence[Any] | None = None) -> tuple[Array, Array]:
    """Labels as booleans and the finite scores of the same documents and categories; one column may be a vector.

    Examples
    --------
    >>> positive, scores = scored([1, 0], [0.8, 0.3])
    >>> positive.tolist(), scores.tolist()
    ([[True], [False]], [[0.8], [0.3]])
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, None]
        Y = Y if sparse.issparse(Y) else np.asarray(Y).reshape(len(values), -1)
    positive = indicator(Y, labels).toarray().astype(bool)
    if positive.shape != values.shape:
        raise DataError(f"labels are {_shape(positive)}, scores {_shape(values)} (documents x categories)")
    if not len(values):
        raise DataError("there are no documents to measure on")
    if not np.isfinite(values).all():
        raise DataError("scores must be finite numbers")
    return positive, values


def _spread(y: Array, labels: Sequence[Any] | Array | None) -> sparse.csr_array:
    columns = {label: j for j, label in enumerate((np.unique(y) if labels is None else np.asarray(labels)).tolist())}
    unknown = sorted({str(label) for label in y.tolist() if label not in columns})
    if unknown:
        raise DataError(f"class labels that are not among the labels: {', '.join(unknown[:5])}")
    indices = np.array([columns[label] for label in y.tolist()], dtype=np.int32)
    ones, starts = np.ones(len(y), dtype=np.int32), np.arange(len(y) + 1, dtype=np.int32)
    return sparse.csr_array((ones, indices, starts), shape=(len(y), len(columns)))


def _shape(matrix: Any) -> str:
    return " x ".join(str(extent) for extent in matrix.shape)
