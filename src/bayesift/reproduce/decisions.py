"""Decisions as results keep them: the places of the yeses in a matrix read row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse


def matrix_of(places: Sequence[int], shape: Sequence[int]) -> sparse.csr_array:
    """Documents x categories, 1 at the places.

    Examples
    --------
    >>> matrix_of([0, 3], (2, 2)).toarray().tolist()
    [[1, 0], [0, 1]]
    """
    rows, columns = np.divmod(np.array(places, dtype=np.int64), shape[1])
    return sparse.csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=tuple(shape))
