"""Weights of all categories: sparse when most are 0, dense otherwise; scores and state."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.scoring import add_sparse_scores
from bayesift.models.state import Arrays

Array = np.ndarray[Any, Any]

_SPARSE_BELOW = 0.25  # share of weights that are not 0


def compact(weights: Array) -> Any:
    """Categories x terms, as a sparse array when most weights are 0.

    Examples
    --------
    >>> sparse.issparse(compact(np.eye(8))), sparse.issparse(compact(np.ones((2, 2))))
    (True, False)
    """
    few = np.count_nonzero(weights) < _SPARSE_BELOW * weights.size
    return sparse.csr_array(weights) if few else weights


def scores_of(X: sparse.csr_array, coefficients: Any, intercepts: Array) -> Array:
    """X coefficients' + intercepts, documents x categories.

    Examples
    --------
    >>> scores_of(sparse.csr_array([[1.0, 2.0]]), np.array([[1.0, 1.0]]), np.array([0.5])).tolist()
    [[3.5]]
    """
    if not sparse.issparse(coefficients):
        scores: Array = X @ coefficients.T + intercepts
        return scores
    by_term = sparse.csr_array(coefficients.T)
    scores = np.tile(intercepts, (X.shape[0], 1))
    add_sparse_scores(X.indptr, X.indices, X.data, by_term.indptr, by_term.indices, by_term.data, scores)
    return scores


def to_arrays(coefficients: Any, intercepts: Array) -> Arrays:
    """Plain arrays for a file.

    Examples
    --------
    >>> sorted(to_arrays(np.ones((1, 2)), np.zeros(1)))
    ['coefficients', 'intercepts']
    """
    if not sparse.issparse(coefficients):
        return {"coefficients": coefficients, "intercepts": intercepts}
    return {
        "data": coefficients.data,
        "indices": coefficients.indices,
        "indptr": coefficients.indptr,
        "n_terms": np.array(coefficients.shape[1]),
        "intercepts": intercepts,
    }


def from_arrays(arrays: Arrays) -> tuple[Any, Array]:
    """The inverse of `to_arrays`; refuses what does not fit together.

    Examples
    --------
    >>> from_arrays(to_arrays(np.ones((1, 2)), np.zeros(1)))[0].tolist()
    [[1.0, 1.0]]
    """
    try:
        intercepts = _floats(arrays["intercepts"], 1)
        if "coefficients" in arrays:
            dense = _floats(arrays["coefficients"], 2)
            if len(dense) != len(intercepts):
                raise DataError("the intercepts are not one a category")
            return dense, intercepts
        shape = (len(intercepts), int(arrays["n_terms"].item()))
        parts = (_floats(arrays["data"], 1), arrays["indices"], arrays["indptr"])
        if any(part.dtype.kind != "i" for part in parts[1:]):
            raise DataError("indices must be whole numbers")
        weights = sparse.csr_array(parts, shape=shape)
        weights.check_format()
        if np.any(np.diff(weights.indptr) < 0):
            raise DataError("the weights are not in order")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"not the weights of a linear model: {error}") from error
    return weights, intercepts


def _floats(array: Array, n_dimensions: int) -> Array:
    if array.dtype != np.float64 or array.ndim != n_dimensions or not np.all(np.isfinite(array)):
        raise DataError("weights must be finite numbers")
    return array
