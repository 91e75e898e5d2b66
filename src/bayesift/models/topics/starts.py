"""Where a factorisation starts: positive everywhere, since a factor that is 0 stays 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

Array = np.ndarray[Any, Any]
Start = Callable[[sparse.csr_array, int, np.random.RandomState], tuple[Array, Array]]

_FLOOR = 0.1
_LEAST = 1e-6


def random_start(X: sparse.csr_array, n_topics: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """Codes and basis drawn by lot.

    Examples
    --------
    >>> codes, basis = random_start(sparse.csr_array(np.eye(3)), 2, np.random.RandomState(0))
    >>> codes.shape, basis.sum(axis=0).round(6).tolist()
    ((3, 2), [1.0, 1.0])
    """
    codes = _FLOOR + random.uniform(size=(X.shape[0], n_topics))
    basis = _FLOOR + random.uniform(size=(X.shape[1], n_topics))
    return _scaled(X, codes, basis)


def nndsvd_start(X: sparse.csr_array, n_topics: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """Positive parts of the singular vectors, after Boutsidis & Gallopoulos (2008), raised by a tenth of their mean.

    Of each pair of singular vectors the heavier sign is taken. Topics beyond the rank of X are drawn by lot.

    Examples
    --------
    >>> codes, basis = nndsvd_start(sparse.csr_array(np.eye(3)), 2, np.random.RandomState(0))
    >>> bool(np.all(codes > 0)), basis.sum(axis=0).round(6).tolist()
    (True, [1.0, 1.0])
    """
    codes, basis = random_start(X, n_topics, random)
    n_vectors = min(n_topics, *X.shape)
    left, values, right = randomized_svd(sparse.csr_matrix(X), n_vectors, random_state=random)
    for a in range(n_vectors):
        if values[a] > 0:
            documents, terms = _heavier_part(left[:, a], right[a])
            codes[:, a] = documents + _FLOOR * documents.mean()
            basis[:, a] = terms + _FLOOR * terms.mean()
    return _scaled(X, codes, basis)


def nndsvda_start(X: sparse.csr_array, n_topics: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """As `nndsvd_start`, in the scales of the singular values and with zeros raised to the mean of X: scikit-learn's.

    Examples
    --------
    >>> codes, basis = nndsvda_start(sparse.csr_array(np.eye(3)), 2, np.random.RandomState(0))
    >>> bool(np.all(codes > 0)), basis.sum(axis=0).round(6).tolist()
    (True, [1.0, 1.0])
    """
    n_vectors, mean = min(n_topics, *X.shape), max(float(X.mean()), _LEAST)
    left, values, right = randomized_svd(sparse.csr_matrix(X), n_vectors, random_state=random)
    codes, basis = random_start(X, n_topics, random)
    for a in range(n_vectors):
        if values[a] > 0:
            documents, terms = _heavier_part(left[:, a], right[a])
            lengths = float(np.linalg.norm(documents)), float(np.linalg.norm(terms))
            scale = np.sqrt(values[a] * lengths[0] * lengths[1])
            codes[:, a], basis[:, a] = scale * documents / lengths[0], scale * terms / lengths[1]
    codes[codes < _LEAST], basis[basis < _LEAST] = mean, mean
    sums = basis.sum(axis=0)
    return codes * sums, basis / sums


def _heavier_part(left: Array, right: Array) -> tuple[Array, Array]:
    """The positive or the negative parts of two vectors, whichever have the larger product of lengths."""
    pairs = [(np.maximum(sign * left, 0.0), np.maximum(sign * right, 0.0)) for sign in (1.0, -1.0)]
    return max(pairs, key=lambda pair: float(np.linalg.norm(pair[0]) * np.linalg.norm(pair[1])))


def _scaled(X: sparse.csr_array, codes: Array, basis: Array) -> tuple[Array, Array]:
    """Topics of sum one; each document's code has the sum of its row."""
    totals = codes.sum(axis=1, keepdims=True)
    sums = np.asarray(X.sum(axis=1)).reshape(-1, 1)
    return codes / totals * sums, basis / basis.sum(axis=0)


STARTS: dict[str, Start] = {"nndsvd": nndsvd_start, "nndsvda": nndsvda_start, "random": random_start}
