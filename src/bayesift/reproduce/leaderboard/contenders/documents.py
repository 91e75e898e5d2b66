"""Documents and labels in the shapes that peers without matrices read."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, Any]
Pairs = list[tuple[int, float]]


def pairs_of(X: Any) -> list[Pairs]:
    """Terms and weights of each document.

    Examples
    --------
    >>> pairs_of([[0, 2.0], [1.0, 0]])
    [[(1, 2.0)], [(0, 1.0)]]
    """
    rows = sparse.csr_array(X)
    indices, data = rows.indices.tolist(), rows.data.tolist()
    bounds = list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))
    return [list(zip(indices[a:b], data[a:b], strict=True)) for a, b in bounds]


def indicator_of(y: Array, multilabel: bool) -> Array:
    """Documents x categories, whatever the labels are.

    Examples
    --------
    >>> indicator_of(np.array([1, 0]), multilabel=False).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return np.asarray(y) if multilabel else np.eye(int(np.max(y)) + 1)[np.asarray(y)]
