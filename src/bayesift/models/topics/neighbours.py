"""The nearest of many points, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.models.topics.similarity import squared_distances

Array = np.ndarray[Any, Any]

NEIGHBOURS = (1, 3, 5, 10, 15, 20, 30, 50, 80)

_BLOCK_VALUES = 4_000_000  # distances in memory at a time
_TRIED_ON = 2000


def nearest(points: Array, others: Array, k: int) -> tuple[Array, Array]:
    """The k nearest of `others` for each point, and their squared distances; of equals the earlier.

    Examples
    --------
    >>> places, distances = nearest(np.array([[0.0]]), np.array([[3.0], [1.0], [-2.0]]), 2)
    >>> places.tolist(), distances.tolist()
    ([[1, 2]], [[1.0, 4.0]])
    """
    k = min(k, len(others))
    places, found = np.empty((len(points), k), dtype=np.int64), np.empty((len(points), k))
    step = max(1, _BLOCK_VALUES // max(len(others), 1))
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        distances = squared_distances(points[block], others)
        candidates = np.sort(np.argpartition(distances, k - 1, axis=1)[:, :k], axis=1)
        values = np.take_along_axis(distances, candidates, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        places[block] = np.take_along_axis(candidates, order, axis=1)
        found[block] = np.take_along_axis(values, order, axis=1)
    return places, found


def chosen_neighbours(
    points: Array, members: sparse.csr_array, weigh: Callable[[Array], Array], random: np.random.RandomState
) -> int:
    """How many neighbours decide best: of `NEIGHBOURS`, by `leave_one_out`; of equals the fewest.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> members = sparse.csr_array([[1, 1, 0, 0], [0, 0, 1, 1]])
    >>> chosen_neighbours(points, members, lambda distances: 1 / (1 + distances), np.random.RandomState(0))
    1
    """
    shares = leave_one_out(points, members, weigh, random)
    return max(shares, key=shares.__getitem__, default=1)


def leave_one_out(
    points: Array, members: sparse.csr_array, weigh: Callable[[Array], Array], random: np.random.RandomState
) -> dict[int, float]:
    """For each number of neighbours, the share of documents whose best category is one of theirs.

    Parameters
    ----------
    points : documents as points
    members : categories x documents
    weigh : the vote of a neighbour at a squared distance
    random : draws the documents to try on, 2,000 at most

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> members = sparse.csr_array([[1, 1, 0, 0], [0, 0, 1, 1]])
    >>> leave_one_out(points, members, lambda distances: 1 / (1 + distances), np.random.RandomState(0))
    {1: 1.0, 3: 1.0}
    """
    n = len(points)
    tried = np.sort(random.permutation(n)[:_TRIED_ON])
    k = min(max(NEIGHBOURS), n - 1)
    if k < 1:
        return {}
    places, distances = _others(tried, *nearest(points[tried], points, k + 1))
    votes, by_document = weigh(distances), sparse.csr_array(members.T, dtype=np.float64)
    truth = by_document[tried].toarray() > 0
    return {
        size: _hits(places[:, :size], votes[:, :size], by_document, truth) / len(tried)
        for size in NEIGHBOURS
        if size <= k
    }


def weighted_votes(places: Array, votes: Array, by_document: sparse.csr_array) -> Array:
    """The sum of votes for each category, documents x categories.

    Examples
    --------
    >>> weighted_votes(np.array([[0, 1]]), np.array([[0.5, 0.25]]), sparse.csr_array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[0.75, 0.25]]
    """
    n_documents, k = places.shape
    indptr = np.arange(n_documents + 1) * k
    shape = (n_documents, by_document.shape[0])
    sums: Array = (sparse.csr_array((votes.ravel(), places.ravel(), indptr), shape=shape) @ by_document).toarray()
    return sums


def _others(tried: Array, places: Array, distances: Array) -> tuple[Array, Array]:
    """Neighbours without the document itself; the last one goes where it is not among its own neighbours."""
    own = places == tried[:, np.newaxis]
    own[~own.any(axis=1), -1] = True
    shape = (len(tried), places.shape[1] - 1)
    return places[~own].reshape(shape), distances[~own].reshape(shape)


def _hits(places: Array, votes: Array, by_document: sparse.csr_array, truth: Array) -> int:
    best = np.argmax(weighted_votes(places, votes, by_document), axis=1)
    return int(truth[np.arange(len(best)), best].sum())
