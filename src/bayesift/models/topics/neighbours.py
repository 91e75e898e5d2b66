"""The nearest of many points, a block of queries at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.models.topics.similarity import squared_distances

Array = np.ndarray[Any, Any]

_BLOCK_VALUES = 4_000_000  # distances in memory at a time


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
