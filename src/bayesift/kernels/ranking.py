"""Rankings: the best cut, the highest scores of a row, the nearest rows.

**Cuts.** A criterion is a linear-fractional function of t (true positives above the cut), s
(documents above the cut) and r (positives in all), with a linear constraint; F1, errors, linear
utilities, precision and recall have this form:

    maximise     (a0 + a1 t + a2 s + a3 r) / (b0 + b1 t + b2 s + b3 r)
    subject to   c0 + c1 t + c2 s + c3 r >= 0

**Nearest rows.** The products of a document with all rows of the other matrix are summed term by
term into one buffer; a heap keeps the k largest. Cost: for each entry of a document the rows that
hold its term, and a pass over the buffer.
"""

from __future__ import annotations

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel

# A share such as 0.07 of 100 documents is 7.000000000000001: constraints allow that much.
_SLACK = 1e-9


@inlined
def _worth(criterion: FloatArray, t: float, s: float, r: float) -> float:
    """Return the criterion of one cut; -inf where the constraint fails, 0 for 0 / 0."""
    if (
        criterion[2, 0] + criterion[2, 1] * t + criterion[2, 2] * s + criterion[2, 3] * r
        < -_SLACK
    ):
        return -np.inf
    below: float = (
        criterion[1, 0] + criterion[1, 1] * t + criterion[1, 2] * s + criterion[1, 3] * r
    )
    if below == 0.0:
        return 0.0
    above: float = (
        criterion[0, 0] + criterion[0, 1] * t + criterion[0, 2] * s + criterion[0, 3] * r
    )
    return above / below


@inlined
def _between(low: float, high: float) -> float:
    """Return a threshold t with low <= t < high."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


@kernel
def best_cuts(
    scores: FloatArray,
    rows: Array,
    positive: Array,
    weights: FloatArray,
    criterion: FloatArray,
    thresholds: Array,
    worths: FloatArray,
) -> None:
    """Write the best threshold of each ranking and its worth.

    What lies strictly above a threshold is assigned.

    scores, rows, positive: per ranking its scores descending, the document of each, whether it is a
    positive; weights: how often each document counts. Of equally good cuts that with the widest gap
    wins, then the higher one. To assign nothing the threshold is the highest score, to assign
    everything just below the lowest; without positives +inf.
    """
    for category in range(len(thresholds)):
        thresholds[category], worths[category] = _best_cut(
            scores[category], rows[category], positive[category], weights, criterion
        )


@kernel
def _best_cut(
    scores: FloatArray, rows: Array, positive: Array, weights: FloatArray, criterion: FloatArray
) -> tuple[float, float]:
    positives = 0.0
    for i in range(len(scores)):
        if positive[i]:
            positives += weights[rows[i]]
    best = _worth(criterion, 0.0, 0.0, positives)
    if positives == 0.0:
        return np.inf, best
    threshold, widest = np.inf, 0.0
    true, above, last = 0.0, 0.0, np.inf
    for i in range(len(scores)):
        weight = weights[rows[i]]
        if weight == 0:
            continue
        score = scores[i]
        if above == 0.0:
            threshold = score
        elif score < last:
            worth = _worth(criterion, true, above, positives)
            if worth > best or (worth == best and last - score > widest):
                threshold, best, widest = _between(score, last), worth, last - score
        if positive[i]:
            true += weight
        above += weight
        last = score
    worth = _worth(criterion, true, above, positives)
    if worth > best:
        return np.nextafter(last, -np.inf), worth
    return threshold, best


@kernel
def highest(scores: FloatArray, places: IntArray) -> None:
    """Write the columns of the highest scores of each row, descending (rows x k).

    Of equals the earlier one.
    """
    k = places.shape[1]
    for row in range(len(scores)):
        found = 0
        for column in range(scores.shape[1]):
            score = scores[row, column]
            if found == k and not score > scores[row, places[row, k - 1]]:
                continue
            place = min(found, k - 1)
            while place > 0 and score > scores[row, places[row, place - 1]]:
                places[row, place] = places[row, place - 1]
                place -= 1
            places[row, place] = column
            found = min(found + 1, k)


@inlined
def _is_lower(products: FloatArray, i: int, j: int) -> bool:
    """Whether row i ranks below row j: a smaller product, or an equal one and a later place."""
    lower: bool = products[i] < products[j] or (products[i] == products[j] and i > j)
    return lower


@kernel
def _sink(heap: FloatArray, products: FloatArray, place: int, size: int) -> None:
    """Restore the heap, lowest row first, from a place downwards."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and _is_lower(products, heap[child + 1], heap[child]):
            child += 1
        if not _is_lower(products, heap[child], heap[place]):
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def _best_rows(products: FloatArray, rows: Array, similarities: FloatArray) -> None:
    """Write the rows with the largest products, largest first; of equals the earlier one."""
    size = len(rows)
    for i in range(size):
        rows[i] = i
    for place in range(size // 2 - 1, -1, -1):
        _sink(rows, products, place, size)
    for i in range(size, len(products)):
        if products[i] > products[rows[0]]:
            rows[0] = i
            _sink(rows, products, 0, size)
    for last in range(size - 1, 0, -1):
        rows[0], rows[last] = rows[last], rows[0]
        _sink(rows, products, 0, last)
    for place in range(size):
        similarities[place] = products[rows[place]]


@kernel
def nearest_rows(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    column_indptr: IntArray,
    column_indices: IntArray,
    column_data: Array,
    products: FloatArray,
    rows: Array,
    similarities: FloatArray,
) -> None:
    """Write for each document the rows with the largest products, and these products.

    `products` is a buffer.
    """
    for d in range(len(rows)):
        products[:] = 0.0
        for k in range(indptr[d], indptr[d + 1]):
            value, j = data[k], indices[k]
            for place in range(column_indptr[j], column_indptr[j + 1]):
                products[column_indices[place]] += value * column_data[place]
        _best_rows(products, rows[d], similarities[d])
