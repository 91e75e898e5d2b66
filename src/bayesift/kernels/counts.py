"""Term counts: tokens to sorted compressed rows, and sums of rows by category.

    terms, ends    int32, int64           term ids of all documents (at most 2^31 - 1), and where
                                          those of each document end
    x_indptr, x_indices, x_values         documents x terms
    weights        float64[documents]     a document of weight w counts as w documents; one of
                                          weight 0 is ignored
    y_indptr, y_documents                 categories x documents: the documents of each category,
                                          in their order

    sums[c, t] = sum of w_d x_dt
    documents[c, t] = sum of w_d over the documents d of c with x_dt != 0

Sums start from earlier ones, term by term in the order of the documents: batches give the same bits
as all at once. Cost: two passes over the tokens; one addition per entry of X and category of its
document.

What is small is counted by NumPy, by sorting: the same whole numbers and the same order of
additions, hence the same bits, and nothing to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.entries import Entries
from bayesift.kernels.words import trailing_zeros

_ONE = np.uint64(1)
SMALL = 1 << 18  # tokens or entries up to which NumPy counts, unless the kernel is compiled
_TINY_INPUT = 1 << 10  # tokens or entries up to which NumPy is as quick
_SMALL_TABLE = 1 << 22  # categories x terms up to which NumPy sums
_MOST_TOKENS = 2**31 - 1
# Scanning all terms is cheaper than sorting the ones met when they are more than 1 in 16.
_SCAN_SHARE = 16


def _pays(compiled: Any, size: int) -> bool:
    """Tell whether a kernel is worth calling.

    The input is large, or the kernel is compiled and the input not tiny.
    """
    return size > SMALL or (size > _TINY_INPUT and compiled.is_ready)


def count_terms(
    terms: IntArray, ends: IntArray, n_terms: int
) -> tuple[Array, Array, Array, Array, Array]:
    """Rows with terms by first appearance, and documents and tokens of each term.

    Terms of -1 are left out.
    """
    if len(terms) > _MOST_TOKENS:
        raise ValueError(
            "more than 2,147,483,647 tokens in one batch; count the documents in several"
        )
    if not _pays(_count_terms, len(terms)):
        return _count_few_terms(terms, ends, n_terms)
    indptr = np.zeros(len(ends) + 1, dtype=np.int64)
    indices, values = (np.empty(len(terms), dtype=np.int32) for _ in range(2))
    counts, totals = (
        np.zeros(n_terms + 1, dtype=np.int32),
        np.zeros((n_terms, 2), dtype=np.int32),
    )
    _count_terms(terms, ends, indptr, indices, values, counts, totals)
    for part in (indices, values):
        part.resize(indptr[-1], refcheck=False)
    return indptr, indices, values, totals[:, 0].copy(), totals[:, 1].copy()


def _count_few_terms(
    terms: IntArray, ends: IntArray, n_terms: int
) -> tuple[Array, Array, Array, Array, Array]:
    kept = np.flatnonzero(terms >= 0)
    terms, owners = terms[kept].astype(np.int64), _owners(ends)[kept]
    cells, firsts, values = np.unique(
        owners * n_terms + terms, return_index=True, return_counts=True
    )
    order = np.argsort(firsts)
    indices = (cells % max(n_terms, 1))[order].astype(np.int32)
    indptr = np.concatenate(
        [[0], np.cumsum(np.bincount(owners[firsts], minlength=len(ends)), dtype=np.int64)]
    )
    documents, occurrences = (
        np.bincount(indices, minlength=n_terms),
        np.bincount(terms, minlength=n_terms),
    )
    return (
        indptr,
        indices,
        values[order].astype(np.int32),
        documents.astype(np.int32),
        occurrences.astype(np.int32),
    )


def _owners(ends: IntArray) -> Array:
    """Return the document of each token."""
    return np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))


@kernel
def _count_terms(
    terms: IntArray,
    ends: IntArray,
    indptr: IntArray,
    indices: IntArray,
    values: Array,
    counts: Array,
    totals: Array,
) -> None:
    """Count document by document in `counts`, whose last entry is that of the term -1.

    All are zeros before and after.

    No branch asks whether a token is the first of its term: about half are, which cannot be
    predicted.
    """
    n, begin = 0, 0
    for document in range(len(ends)):
        row = n
        for i in range(begin, ends[document]):
            term = terms[i]
            indices[n] = term
            n += int((counts[term] == 0) & (term >= 0))
            counts[term] += 1
        for i in range(row, n):
            term = indices[i]
            values[i] = counts[term]
            counts[term] = 0
            totals[term, 0] += 1
            totals[term, 1] += values[i]
        begin = ends[document]
        indptr[document + 1] = n


@kernel
def renumber(tokens: IntArray, numbers: IntArray) -> None:
    """Replace each token by its number, in place."""
    for i in range(len(tokens)):
        tokens[i] = numbers[np.uint32(tokens[i])]


def kept_per_row(indptr: IntArray, indices: IntArray, column_of: IntArray) -> Array:
    """How many entries of each row have a column (-1: none)."""
    if column_of.min(initial=0) >= 0:
        return np.diff(indptr)
    if _pays(_kept_per_row, len(indices)):
        kept = np.zeros(len(indptr) - 1, dtype=np.int64)
        _kept_per_row(indptr, indices, column_of, kept)
        return kept
    before = np.concatenate([[0], np.cumsum(column_of[indices] >= 0, dtype=np.int64)])
    return np.diff(before[indptr])


@kernel
def _kept_per_row(
    indptr: IntArray, indices: IntArray, column_of: IntArray, kept: IntArray
) -> None:
    for row in range(len(kept)):
        for i in range(indptr[row], indptr[row + 1]):
            kept[row] += int(column_of[indices[i]] >= 0)


def order_rows(
    indptr: IntArray,
    indices: IntArray,
    values: Array,
    column_of: IntArray,
    row_begins: IntArray,
    out_indices: IntArray,
    out_values: Array,
) -> None:
    """Write rows sorted by new columns, -1 for those left out, from row_begins on.

    They follow one another.
    """
    if _pays(_order_rows, len(indices)):
        n_columns = int(column_of.max(initial=0)) + 1
        low, middle, high = (
            np.zeros((n_columns >> bits) + 1, dtype=np.uint64) for bits in (6, 12, 18)
        )
        counts = np.empty(n_columns, dtype=np.int32)
        unordered = indptr, indices, values, column_of, row_begins
        _order_rows(*unordered, out_indices, out_values, counts, BitTree(low, middle, high))
        return
    columns, rows = column_of[indices], np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    kept = np.flatnonzero(columns >= 0)
    order = kept[np.lexsort((columns[kept], rows[kept]))]
    if len(order):
        first = row_begins[0]
        out_indices[first : first + len(order)] = columns[order]
        out_values[first : first + len(order)] = values[order]


class BitTree(NamedTuple):
    """A set of columns.

    A bit of `low` is a column, one of `middle` 64 columns with a bit in `low`, one of `high` 64
    with one in `middle`.
    """

    low: IntArray
    middle: IntArray
    high: IntArray


@kernel
def _order_rows(
    indptr: IntArray,
    indices: IntArray,
    values: Array,
    column_of: IntArray,
    row_begins: IntArray,
    out_indices: IntArray,
    out_values: Array,
    counts: Array,
    bits: BitTree,
) -> None:
    """Order each row by a tree of bits, which are clear before and after."""
    low, middle, high = bits
    for row in range(len(row_begins)):
        for i in range(indptr[row], indptr[row + 1]):
            column = column_of[indices[i]]
            if column >= 0:
                counts[column] = values[i]
                _set_bit(low, column)
                _set_bit(middle, column >> 6)
                _set_bit(high, column >> 12)
        n = row_begins[row]
        for top in range(len(high)):
            tops = high[top]
            high[top] = 0
            while tops != 0:
                branch = (top << 6) + int(trailing_zeros(tops))
                tops &= tops - _ONE
                branches = middle[branch]
                middle[branch] = 0
                while branches != 0:
                    leaf = (branch << 6) + int(trailing_zeros(branches))
                    branches &= branches - _ONE
                    leaves = low[leaf]
                    low[leaf] = 0
                    while leaves != 0:
                        column = (leaf << 6) + int(trailing_zeros(leaves))
                        leaves &= leaves - _ONE
                        out_indices[n] = column
                        out_values[n] = counts[column]
                        n += 1


@inlined
def _set_bit(bits: Array, place: int) -> None:
    bits[place >> 6] |= _ONE << np.uint64(place & 63)


def number_pairs(left: Array, right: Array) -> tuple[Array, Array, Array]:
    """Assign numbers to distinct pairs by first appearance, -1 where an entry is negative.

    Also left and right of each pair.
    """
    if _pays(_number_pairs, len(left)):
        return _number_pairs(left, right)
    present = np.flatnonzero((left >= 0) & (right >= 0))
    keys = (left[present].astype(np.int64) << 32) | right[present]
    pairs, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    numbers = np.empty(len(order), dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    ids = np.full(len(left), -1, dtype=np.int32)
    ids[present] = numbers[inverse]
    found = pairs[order]
    return ids, (found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32)


@kernel
def _number_pairs(left: Array, right: Array) -> tuple[Array, Array, Array]:
    empty = np.int64(-1)
    slots = np.full(1024, -1, dtype=np.int32)
    ids = np.empty(len(left), dtype=np.int32)
    pairs = np.empty(512, dtype=np.int64)
    n_pairs = 0
    for i in range(len(left)):
        if left[i] < 0 or right[i] < 0:
            ids[i] = -1
            continue
        pair = (np.int64(left[i]) << 32) | np.int64(right[i])
        slot = _pair_slot(slots, pairs, pair)
        if slots[slot] < 0:
            slots[slot] = n_pairs
            pairs[n_pairs] = pair
            n_pairs += 1
            ids[i] = n_pairs - 1
            if n_pairs == len(pairs):
                roomier = np.full(2 * n_pairs, empty, dtype=np.int64)
                for p in range(n_pairs):
                    roomier[p] = pairs[p]
                pairs = roomier
                slots = np.full(4 * n_pairs, -1, dtype=np.int32)
                for p in range(n_pairs):
                    slots[_pair_slot(slots, pairs, pairs[p])] = p
        else:
            ids[i] = slots[slot]
    found = pairs[:n_pairs]
    return ids, (found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32)


@kernel
def _pair_slot(slots: IntArray, pairs: Array, pair: int) -> int:
    mask = len(slots) - 1
    slot = np.int64((np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while slots[slot] >= 0 and pairs[slots[slot]] != pair:
        slot = (slot + 1) & mask
    return slot


def next_in_document(tokens: IntArray, ends: IntArray, distance: int) -> Array:
    """Return the token `distance` positions on in the same document, -1 beyond its end."""
    following = np.full(len(tokens), -1, dtype=np.int32)
    following[: max(len(tokens) - distance, 0)] = tokens[distance:]
    lengths = np.diff(ends, prepend=0)
    for place in range(1, distance + 1):
        following[ends[lengths >= place] - place] = -1
    return following


def interleave(streams: Array, ends: IntArray) -> tuple[Array, Array]:
    """Join the non-negative entries of several streams, document by document."""
    if _pays(_interleave, streams.size):
        return _interleave(streams, ends)
    stream, token = np.nonzero(streams >= 0)
    owners = _owners(ends)[token]
    order = np.argsort(owners, kind="stable")
    merged_ends = np.cumsum(np.bincount(owners, minlength=len(ends)), dtype=np.int64)
    return streams[stream[order], token[order]].astype(np.int32), merged_ends


@kernel
def _interleave(streams: Array, ends: IntArray) -> tuple[Array, Array]:
    merged = np.empty(streams.size, dtype=np.int32)
    merged_ends = np.empty(len(ends), dtype=np.int64)
    n, begin = 0, 0
    for document in range(len(ends)):
        for stream in range(len(streams)):
            for i in range(begin, ends[document]):
                if streams[stream, i] >= 0:
                    merged[n] = streams[stream, i]
                    n += 1
        begin = ends[document]
        merged_ends[document] = n
    return merged[:n], merged_ends


def sum_by_category(
    x: tuple[Array, Array, Array],
    weights: FloatArray,
    y: tuple[Array, Array],
    n_terms: int,
    earlier: tuple[Array, Array, Array, Array] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Return compressed rows (indptr, indices, sums, documents) of categories x terms."""
    x_indptr, y_indptr = x[0], y[0]
    n_categories = len(y_indptr) - 1
    if earlier is None:
        empty = np.empty(0)
        earlier = (
            np.zeros(n_categories + 1, dtype=np.int32),
            np.empty(0, dtype=np.int32),
            empty,
            empty,
        )
    entries = np.concatenate(([0], np.cumsum(np.diff(x_indptr)[y[1]], dtype=np.int64)))
    if entries[-1] <= SMALL and n_categories * n_terms <= _SMALL_TABLE:
        return _sum_few_by_category(x, weights, y, n_terms, earlier)
    met = entries[y_indptr[1:]] - entries[y_indptr[:-1]] + np.diff(earlier[0])
    room = int(np.minimum(met, n_terms).sum())
    indptr = np.zeros(n_categories + 1, dtype=np.int64)
    indices, sums, documents = np.empty(room, dtype=np.int32), np.empty(room), np.empty(room)
    found = CategorySums(indptr, indices, sums, documents)
    _sum_by_category(Entries(*x), weights, *y, CategorySums(*earlier), n_terms, found)
    n = int(indptr[-1])
    for begin, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        if (
            end - begin
        ) * _SCAN_SHARE <= n_terms:  # the kernel leaves the terms as they were met
            order = begin + np.argsort(indices[begin:end])
            for part in (indices, sums, documents):
                part[begin:end] = part[order]
    return (
        indptr.astype(np.int32 if n <= np.iinfo(np.int32).max else np.int64),
        indices[:n],
        sums[:n],
        documents[:n],
    )


def _sum_few_by_category(
    x: tuple[Array, Array, Array],
    weights: FloatArray,
    y: tuple[Array, Array],
    n_terms: int,
    earlier: tuple[Array, Array, Array, Array],
) -> tuple[Array, Array, Array, Array]:
    (x_indptr, x_indices, x_values), (y_indptr, y_documents) = x, y
    n_categories = len(y_indptr) - 1
    categories = np.repeat(np.arange(n_categories), np.diff(y_indptr))
    counted = np.flatnonzero(weights[y_documents])
    owners, categories = y_documents[counted], categories[counted]
    lengths = np.diff(x_indptr)[owners]
    begins = np.cumsum(lengths) - lengths
    entries = np.arange(lengths.sum()) + np.repeat(x_indptr[owners] - begins, lengths)
    of_entries = np.repeat(weights[owners], lengths)
    old_cells = np.repeat(np.arange(n_categories), np.diff(earlier[0])) * n_terms + earlier[1]
    cells = np.concatenate(
        [old_cells, np.repeat(categories, lengths) * n_terms + x_indices[entries]]
    )
    documents = np.bincount(
        cells, np.concatenate([earlier[3], of_entries]), minlength=n_categories * n_terms
    )
    sums = np.bincount(
        cells,
        np.concatenate([earlier[2], of_entries * x_values[entries]]),
        minlength=len(documents),
    )
    met = np.flatnonzero(documents)
    indptr = np.searchsorted(met, np.arange(n_categories + 1) * n_terms).astype(np.int32)
    # Of nothing at all bincount gives whole numbers.
    of_met = sums[met].astype(np.float64), documents[met].astype(np.float64)
    return indptr, (met % max(n_terms, 1)).astype(np.int32), *of_met


def sum_by_term(
    x_indptr: IntArray,
    x_indices: IntArray,
    x_values: Array,
    weights: FloatArray,
    sums: FloatArray,
    documents: Array,
) -> None:
    """Add the sums and document counts of every term to `sums` and `documents`."""
    if len(x_indices) > SMALL:
        _sum_by_term(x_indptr, x_indices, x_values, weights, sums, documents)
        return
    of_entries = np.repeat(weights, np.diff(x_indptr))
    counted = np.flatnonzero(of_entries)
    terms, of_entries = x_indices[counted], of_entries[counted]
    np.add.at(sums, terms, of_entries * x_values[counted])
    np.add.at(documents, terms, of_entries)


@kernel
def _sum_by_term(
    x_indptr: IntArray,
    x_indices: IntArray,
    x_values: Array,
    weights: FloatArray,
    sums: FloatArray,
    documents: Array,
) -> None:
    for d in range(len(x_indptr) - 1):
        if weights[d] == 0:
            continue
        for i in range(x_indptr[d], x_indptr[d + 1]):
            sums[x_indices[i]] += weights[d] * x_values[i]
            documents[x_indices[i]] += weights[d]


class CategorySums(NamedTuple):
    """Sums and document counts of categories x terms, as compressed rows."""

    indptr: IntArray
    indices: IntArray
    sums: FloatArray
    documents: Array


@kernel
def _sum_by_category(
    x: Entries,
    weights: FloatArray,
    y_indptr: IntArray,
    y_documents: IntArray,
    earlier: CategorySums,
    n_terms: int,
    found: CategorySums,
) -> None:
    x_indptr, x_indices, x_values = x
    old_indptr, old_indices, old_sums, old_documents = earlier
    indptr, indices, sums, documents = found
    # Sum and documents of a term are adjacent, so that an entry touches one cache line.
    totals = np.zeros((n_terms, 2))
    met = np.empty(n_terms, dtype=np.int32)
    n = 0
    for c in range(len(y_indptr) - 1):
        n_met = 0
        for i in range(old_indptr[c], old_indptr[c + 1]):
            t = old_indices[i]
            totals[t, 0] = old_sums[i]
            totals[t, 1] = old_documents[i]
            met[n_met] = t
            n_met += 1
        for j in range(y_indptr[c], y_indptr[c + 1]):
            d = y_documents[j]
            weight = weights[d]
            if weight == 0:
                continue
            for i in range(x_indptr[d], x_indptr[d + 1]):
                t = x_indices[i]
                if totals[t, 1] == 0:
                    met[n_met] = t
                    n_met += 1
                totals[t, 0] += weight * x_values[i]
                totals[t, 1] += weight
        if n_met * _SCAN_SHARE > n_terms:
            n_met = 0
            for t in range(n_terms):
                if totals[t, 1] != 0:
                    met[n_met] = t
                    n_met += 1
        for j in range(n_met):
            t = met[j]
            indices[n] = t
            sums[n] = totals[t, 0]
            documents[n] = totals[t, 1]
            totals[t, 0] = 0.0
            totals[t, 1] = 0.0
            n += 1
        indptr[c + 1] = n
