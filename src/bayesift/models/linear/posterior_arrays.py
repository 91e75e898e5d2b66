"""The posteriors of all models as plain arrays for a file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.models.linear.posterior import Posterior
from bayesift.models.state import Arrays

Array = np.ndarray[Any, Any]

_NAMES = ("posterior.terms", "posterior.lengths", "posterior.covariances")


def variances_of(posteriors: list[Posterior], n_terms: int) -> tuple[sparse.csr_array, Array]:
    """The variances of the weights, models x terms, 0 where a weight counts as known; and of the intercepts.

    Examples
    --------
    >>> weights, intercepts = variances_of([Posterior(np.array([1]), np.diag([4.0, 9.0]))], 3)
    >>> weights.toarray().tolist(), intercepts.tolist()
    ([[0.0, 4.0, 0.0]], [9.0])
    """
    indptr = np.cumsum([0, *(len(posterior.terms) for posterior in posteriors)])
    indices = np.concatenate([posterior.terms for posterior in posteriors]).astype(np.int32)
    values = np.concatenate([posterior.variances[:-1] for posterior in posteriors])
    shape = (len(posteriors), n_terms)
    intercepts = np.array([posterior.variances[-1] for posterior in posteriors])
    return sparse.csr_array((values, indices, indptr.astype(np.int32)), shape=shape), intercepts


def posteriors_to_arrays(posteriors: list[Posterior]) -> Arrays:
    """Plain arrays; of each covariance the upper triangle, row by row.

    Examples
    --------
    >>> sorted(posteriors_to_arrays([Posterior(np.array([1], dtype=np.int32), np.eye(2))]))
    ['posterior.covariances', 'posterior.lengths', 'posterior.terms']
    """
    parts = [
        p.covariance if p.covariance.ndim == 1 else p.covariance[np.triu_indices(len(p.terms) + 1)] for p in posteriors
    ]
    lengths = np.array([[len(p.terms), p.covariance.ndim] for p in posteriors], dtype=np.int64)
    terms = np.concatenate([p.terms for p in posteriors]).astype(np.int32)
    return dict(zip(_NAMES, (terms, lengths, np.concatenate(parts)), strict=True))


def posteriors_from_arrays(arrays: Arrays, shape: tuple[int, int]) -> list[Posterior]:
    """The inverse of `posteriors_to_arrays` for models x terms of this shape; refuses what does not fit together.

    Examples
    --------
    >>> arrays = posteriors_to_arrays([Posterior(np.array([1], dtype=np.int32), np.array([[2.0, 0.5], [0.5, 1.0]]))])
    >>> posteriors_from_arrays(arrays, (1, 3))[0].covariance.tolist()
    [[2.0, 0.5], [0.5, 1.0]]
    """
    try:
        terms, lengths, values = (arrays[name] for name in _NAMES)
    except KeyError as error:
        raise DataError(f"the posterior lacks {error}") from error
    _check(terms, lengths, values, shape)
    sizes = lengths[:, 0] + 1
    ends = np.cumsum(np.where(lengths[:, 1] == 2, sizes * (sizes + 1) // 2, sizes))
    if ends[-1] != len(values) or lengths[:, 0].sum() != len(terms):
        raise DataError("the posterior is not as long as it says")
    columns = np.split(terms, np.cumsum(lengths[:, 0])[:-1])
    parts = zip(columns, np.split(values, ends[:-1]), lengths[:, 1], strict=True)
    return [_posterior(chosen, part, whole=dimensions == 2) for chosen, part, dimensions in parts]


def _check(terms: Array, lengths: Array, values: Array, shape: tuple[int, int]) -> None:
    if terms.dtype != np.int32 or terms.ndim != 1 or np.any((terms < 0) | (terms >= shape[1])):
        raise DataError("the terms of the posterior are not columns of the model")
    if lengths.dtype != np.int64 or lengths.shape != (shape[0], 2) or np.any(lengths[:, 0] < 0):
        raise DataError("the posterior is not one a model")
    if np.any(lengths[:, 0] > shape[1]) or not np.all(np.isin(lengths[:, 1], (1, 2))):
        raise DataError("the posterior is not one a model")
    if values.dtype != np.float64 or values.ndim != 1 or not np.all(np.isfinite(values)):
        raise DataError("the posterior holds something that is no number")


def _posterior(terms: Array, values: Array, *, whole: bool) -> Posterior:
    if np.any(np.diff(terms) <= 0):
        raise DataError("the terms of the posterior are not in order")
    covariance = values
    if whole:
        size = len(terms) + 1
        covariance = np.zeros((size, size))
        covariance[np.triu_indices(size)] = values
        covariance = covariance + np.triu(covariance, 1).T
    posterior = Posterior(terms, covariance)
    if np.any(posterior.variances < 0):
        raise DataError("the posterior has a negative variance")
    return posterior
