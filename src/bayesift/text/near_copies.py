"""Find texts that repeat: the same words, or nearly the same ones.

**Candidates.** Two rows are compared only if they share a band of the min-hashes of their terms
(Broder 1997): b = 12 bands of r = 3 hashes make a pair of Jaccard similarity s a candidate with
probability 1 - (1 - s^r)^b, which is .99 at s = 0.7. The cost grows with the number of terms of all
rows, and not with the square of the number of rows.

**Copies.** Two rows are copies of one another if the cosine of their terms, each weighted by its
inverse document frequency, is at least `NEAR`: two texts of ten words of which one differs have
about 0.9, two questions that differ in their subject far less, as that is their rarest word. Where
texts are made of a few words, chance alone makes them as alike: then copies must be more alike than
`_DEVIATIONS` deviations above the median of random pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows

NEAR = 0.7
NO_KEY = -1  # the key of a row without terms
_N_BANDS = 12
_HASHES_PER_BAND = 3
_MAX_ROWS_PER_KEY = 20  # rows with one key, of which all pairs are compared
_NEIGHBOURS_COMPARED = 5  # neighbours that are compared where more rows have it
_PAIRS_AT_A_TIME = 20_000
_RANDOM_PAIRS = 2000
_DEVIATIONS = 4.0
_MAD_OF_NORMAL = 0.6745  # median absolute deviation of a normal variable with variance 1
_SAME = 1.0 - 1e-9  # the cosine of equal rows, up to rounding


def group_copies(rows: SparseRows) -> IntArray:
    """Return the group of each row; rows that repeat one another, or nearly, have the same.

    Only which terms a row has counts, not how often. A row without terms is a group of its own.

    Examples
    --------
    >>> from bayesift.text import TermVectorizer
    >>> texts = ["Corn prices rose", "corn  PRICES rose", "oil prices fell"]
    >>> group_copies(TermVectorizer().fit_transform(texts)).tolist()
    [0, 0, 1]
    """
    n_rows = rows.shape[0]
    keys = band_keys(rows)
    order = np.lexsort(keys) if len(keys) else np.arange(n_rows)
    ranks = np.argsort(order, kind="stable")
    first, second = pairs_with_a_key(keys, ranks)
    unit, lengths = _weighted_rows(rows)
    least = max(NEAR, _cosine_by_chance(unit))
    # A term has one weight in both rows, so that no cosine is above the ratio of their lengths.
    shorter = np.minimum(lengths[first], lengths[second])
    longer = np.maximum(lengths[first], lengths[second])
    possible = shorter >= least * longer
    first = first[possible]
    second = second[possible]
    near = _cosines(unit, first, second) >= least
    links = sparse.coo_array(
        (np.ones(np.count_nonzero(near), np.int8), (first[near], second[near])),
        shape=(n_rows, n_rows),
    )
    _, groups = connected_components(links, directed=False)
    numbers: IntArray = groups.astype(np.int64)
    return numbers


def group_equal_rows(rows: SparseRows) -> IntArray:
    """Return the group of each row; rows with the same numbers have the same.

    Examples
    --------
    >>> group_equal_rows(sparse.csr_array([[1.0, 0.0], [2.0, 0.0], [1.0, 0.0]])).tolist()
    [0, 1, 0]
    """
    sorted_rows = sparse.csr_array(rows).sorted_indices()
    numbers: dict[bytes, int] = {}
    groups = np.empty(rows.shape[0], dtype=np.int64)
    for row in range(rows.shape[0]):
        entries = slice(sorted_rows.indptr[row], sorted_rows.indptr[row + 1])
        content = sorted_rows.indices[entries].tobytes() + sorted_rows.data[entries].tobytes()
        groups[row] = numbers.setdefault(content, len(numbers))
    return groups


def band_keys(rows: SparseRows) -> list[IntArray]:
    """Return the key of each row, one array per band of min-hashes; `NO_KEY` without terms."""
    filled = np.flatnonzero(np.diff(rows.indptr))
    if not len(filled):
        return []
    codes = rows.indices.astype(np.uint64)
    starts = rows.indptr[filled]
    rng = np.random.default_rng(0)
    keys = []
    for _ in range(_N_BANDS):
        band = np.zeros(len(filled), dtype=np.uint64)
        for _ in range(_HASHES_PER_BAND):
            factor = np.uint64(rng.integers(1, 1 << 62)) * np.uint64(2) + np.uint64(1)
            mixed = (codes + np.uint64(1)) * factor
            mixed ^= mixed >> np.uint64(29)
            least = np.minimum.reduceat(mixed * factor >> np.uint64(33), starts)
            band = band * np.uint64(0x9E3779B97F4A7C15) + least
        key = np.full(rows.shape[0], NO_KEY, dtype=np.int64)
        key[filled] = (band >> np.uint64(1)).astype(np.int64)
        keys.append(key)
    return keys


def pairs_with_a_key(keys: Sequence[IntArray], order: IntArray) -> tuple[IntArray, IntArray]:
    """Find the pairs of rows that share one of their keys, each once, the earlier row first.

    Of a key that many rows share only neighbours by `order` (the rank of each row) are compared.
    """
    n_rows = max(len(order), 1)
    if not keys:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = np.unique(np.concatenate([_pairs_of(key, order) for key in keys]))
    return found // n_rows, found % n_rows


def _pairs_of(keys: IntArray, order: IntArray) -> IntArray:
    """Find the pairs of rows with the same key, as numbers i n + j with i < j."""
    n = len(keys)
    rows = np.flatnonzero(keys != NO_KEY)
    rows = rows[np.lexsort((order[rows], keys[rows]))]
    ordered = keys[rows]
    if len(rows):
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    else:
        begins = np.zeros(0, dtype=np.int64)
    sizes = np.diff(np.append(begins, len(rows)))
    reach = np.repeat(
        np.where(sizes <= _MAX_ROWS_PER_KEY, sizes - 1, _NEIGHBOURS_COMPARED), sizes
    )
    group = np.repeat(np.arange(len(sizes)), sizes)
    pairs = []
    for step in range(1, int(reach.max(initial=0)) + 1):
        near = np.flatnonzero((group[:-step] == group[step:]) & (reach[:-step] >= step))
        one = rows[near]
        other = rows[near + step]
        pairs.append(np.minimum(one, other) * n + np.maximum(one, other))
    if pairs:
        return np.concatenate(pairs)
    return np.zeros(0, dtype=np.int64)


def _weighted_rows(rows: SparseRows) -> tuple[sparse.csr_array, FloatArray]:
    """Return rows of unit length, each term weighted by ln(rows / rows with the term) + 1.

    Their lengths before that come second.
    """
    n_rows, n_terms = rows.shape
    frequencies = np.bincount(rows.indices, minlength=n_terms)
    weights = np.log(n_rows / np.maximum(frequencies, 1)) + 1.0
    data = weights[rows.indices]
    lengths = np.sqrt(np.bincount(_row_numbers(rows), weights=data**2, minlength=n_rows))
    data = data / lengths[_row_numbers(rows)]
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape), lengths


def _cosine_by_chance(unit: sparse.csr_array) -> float:
    """Return a cosine that random pairs of rows hardly reach; at most that of equal rows."""
    random = np.random.default_rng(0)
    first = random.integers(unit.shape[0], size=_RANDOM_PAIRS)
    second = random.integers(unit.shape[0], size=_RANDOM_PAIRS)
    differ = first != second
    if not differ.any():
        return _SAME
    cosines = _cosines(unit, first[differ], second[differ])
    # The median and its deviation stay as they are where up to half of the pairs are copies.
    middle = float(np.median(cosines))
    deviation = float(np.median(np.abs(cosines - middle))) / _MAD_OF_NORMAL
    return min(middle + _DEVIATIONS * deviation, _SAME)


def _row_numbers(rows: SparseRows) -> Array:
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def _cosines(unit: sparse.csr_array, first: IntArray, second: IntArray) -> FloatArray:
    """Return the cosine of each pair of rows; some pairs at a time, which bounds the memory."""
    cosines = np.empty(len(first))
    for begin in range(0, len(first), _PAIRS_AT_A_TIME):
        some = slice(begin, begin + _PAIRS_AT_A_TIME)
        products = unit[first[some]].multiply(unit[second[some]])
        cosines[some] = np.asarray(products.sum(axis=1)).ravel()
    return cosines
