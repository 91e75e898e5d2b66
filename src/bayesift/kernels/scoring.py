"""Scores of documents under sparse models.

Weights are stored by term: the categories that use it and their weights. Cost: for each entry of X, the categories that
use its term; `scores` (documents x categories) holds the intercepts on entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel

Array = np.ndarray[Any, Any]


@kernel
def add_sparse_scores(
    indptr: Array,
    indices: Array,
    data: Array,
    weight_indptr: Array,
    weight_indices: Array,
    weights: Array,
    scores: Array,
) -> None:
    """Add the products of the rows of X with the weights."""
    for i in range(len(scores)):
        for k in range(indptr[i], indptr[i + 1]):
            value, j = data[k], indices[k]
            for place in range(weight_indptr[j], weight_indptr[j + 1]):
                scores[i, weight_indices[place]] += value * weights[place]
