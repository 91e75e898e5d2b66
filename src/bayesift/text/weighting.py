"""Term weights from counts.

With f the count of a term in a document, n the number of documents that hold the term and N of all documents:

    binary    1
    tf        f
    log-tf    1 + ln f
    tf-idf    f * ln(N / n)
    ltc       (1 + log2 f) * log2(N / n), then each document to length one

`ltc` is that of Chai, Ng & Chieu (2002), section 2.2. Weights of 0 (terms in every document) are not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, Any]
Weighting = Literal["binary", "tf", "log-tf", "tf-idf", "ltc"]
WEIGHTINGS: tuple[str, ...] = get_args(Weighting)

_LOCAL: dict[str, Callable[[Array], Array]] = {
    "binary": np.ones_like,
    "tf": lambda counts: counts,
    "log-tf": lambda counts: 1 + np.log(counts),
    "tf-idf": lambda counts: counts,
    "ltc": lambda counts: 1 + np.log2(counts),
}
_GLOBAL: dict[str, Callable[[Array], Array]] = {"tf-idf": np.log, "ltc": np.log2}


def weigh(
    counts: sparse.csr_array,
    weighting: Weighting,
    *,
    document_frequencies: Array,
    n_documents: int,
    cosine: bool = False,
) -> sparse.csr_array:
    """Weights of the counted terms, written over the counts.

    Parameters
    ----------
    counts : documents x terms; its values are overwritten
    weighting : one of `WEIGHTINGS`
    document_frequencies : n of each term, at least 1 where it is counted
    n_documents : N
    cosine : scale each document to length one (`ltc` always does)

    Examples
    --------
    >>> X = sparse.csr_array([[4.0, 1.0], [0.0, 2.0]])
    >>> weigh(X, "tf-idf", document_frequencies=np.array([1, 2]), n_documents=2).toarray().round(3)
    array([[2.773, 0.   ],
           [0.   , 0.   ]])
    """
    counts.data[:] = _LOCAL[weighting](counts.data)
    if weighting in _GLOBAL:
        rarity = _GLOBAL[weighting](n_documents / np.maximum(document_frequencies, 1))
        counts.data *= rarity[counts.indices]
        counts.eliminate_zeros()
    if cosine or weighting == "ltc":
        scale_to_length_one(counts)
    return counts


def scale_to_length_one(X: sparse.csr_array) -> None:
    """Scale each row to Euclidean length one in place; rows of zeros stay.

    Examples
    --------
    >>> X = sparse.csr_array([[3.0, 4.0], [0.0, 0.0]])
    >>> scale_to_length_one(X)
    >>> X.toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths = np.sqrt(X.power(2).sum(axis=1))
    X.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(X.indptr))
