"""The types of arrays, and their inner product."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = np.ndarray[Any, Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
SparseRows = sparse.csr_array


def inner(a: FloatArray, b: FloatArray) -> float:
    """Sum the products, to the last bit the same for any number of BLAS threads.

    `np.dot` splits long arrays between threads.

    Examples
    --------
    >>> inner(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    11.0
    """
    return float(np.einsum("i,i->", a.ravel(), b.ravel()))
