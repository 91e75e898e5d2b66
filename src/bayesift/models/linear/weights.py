"""Weights of all categories: sparse when most are 0, dense otherwise; scores and state."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.scoring import GROUP, sparse_scores
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
    scores = np.empty((X.shape[0], len(intercepts)))
    longest = int(np.diff(X.indptr).max(initial=0)) + 1
    scratch = np.zeros(len(intercepts) + GROUP), np.empty(longest, dtype=np.int32), np.empty(longest)
    sparse_scores(X.indptr, X.indices, X.data, *_by_groups(coefficients), intercepts, *scratch, scores)
    return scores


def _by_groups(coefficients: Any) -> tuple[Array, Array, Array, Array]:
    """Weights by term in the layout of `bayesift.kernels.scoring`: slots, groups, categories and weights."""
    by_term = sparse.csr_array(coefficients.T)
    counts = np.diff(by_term.indptr)
    used = counts > 0
    slots = np.where(used, np.cumsum(used), 0).astype(np.int32)
    sizes = -(-counts[used] // GROUP)
    groups = np.concatenate([[0, 0], np.cumsum(sizes)]).astype(np.int32)
    categories = np.tile(coefficients.shape[0] + np.arange(GROUP, dtype=np.int32), groups[-1])
    weights = np.zeros(len(categories))
    gaps = np.repeat(GROUP * groups[1:-1] - by_term.indptr[:-1][used], counts[used])
    places = np.arange(by_term.nnz) + gaps
    categories[places], weights[places] = by_term.indices, by_term.data
    return slots, groups, categories.reshape(-1, GROUP), weights.reshape(-1, GROUP)


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


def scales_from(arrays: Arrays, n_models: int) -> Array:
    """The scales of the priors of a file, one a model; ones where it holds none.

    Examples
    --------
    >>> scales_from({}, 2).tolist()
    [1.0, 1.0]
    """
    scales = _floats(arrays.get("prior_scale", np.ones(n_models)), 1)
    if scales.shape != (n_models,) or np.any(scales <= 0):
        raise DataError("prior_scale must be one positive number a model")
    return scales


def _floats(array: Array, n_dimensions: int) -> Array:
    if array.dtype != np.float64 or array.ndim != n_dimensions or not np.all(np.isfinite(array)):
        raise DataError("weights must be finite numbers")
    return array
