"""Term counts as compressed rows: tokens in, sorted rows out.

    tokens, ends   int32, int64   term ids of all documents and where those of each document end
    indptr, indices, values       compressed rows

Cost: one pass over the tokens to count, one over the counts to sort, row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel

Array = np.ndarray[Any, Any]

_FEW = 32


@kernel
def count_terms(tokens: Array, ends: Array, term_of: Array, n_terms: int) -> tuple[Array, Array, Array, Array, Array]:
    """Count terms in documents; term_of maps a token to its term, or to -1 to leave it out.

    Rows list terms by first appearance. Also returns in how many documents, and how often, each term stands.
    """
    indptr = np.zeros(len(ends) + 1, dtype=np.int64)
    indices = np.empty(len(tokens), dtype=np.int32)
    values = np.empty(len(tokens), dtype=np.int32)
    # place, documents and tokens of a term lie side by side, so that a token touches one cache line.
    seen = np.zeros((n_terms, 3), dtype=np.int32)
    seen[:, 0] = -1
    n, begin = 0, 0
    for document in range(len(ends)):
        row = n
        for i in range(begin, ends[document]):
            term = term_of[tokens[i]]
            if term < 0:
                continue
            seen[term, 2] += 1
            place = seen[term, 0]
            if place >= row:
                values[place] += 1
            else:
                seen[term, 0] = n
                seen[term, 1] += 1
                indices[n] = term
                values[n] = 1
                n += 1
        begin = ends[document]
        indptr[document + 1] = n
    return indptr, indices[:n].copy(), values[:n].copy(), seen[:, 1].copy(), seen[:, 2].copy()


@kernel
def kept_per_row(indptr: Array, indices: Array, rank: Array) -> Array:
    """How many entries of each row have a rank (-1: none)."""
    kept = np.zeros(len(indptr) - 1, dtype=np.int64)
    for row in range(len(kept)):
        for i in range(indptr[row], indptr[row + 1]):
            if rank[indices[i]] >= 0:
                kept[row] += 1
    return kept


@kernel
def order_rows(
    indptr: Array,
    indices: Array,
    values: Array,
    rank: Array,
    columns: Array,
    row_begins: Array,
    out_indices: Array,
    out_values: Array,
) -> None:
    """Write rows sorted by column into the out arrays, a row at row_begins[row].

    rank: the order of each old column among the kept ones, -1 for dropped ones; columns: the new column at each rank.
    """
    longest = 0
    for row in range(len(row_begins)):
        longest = max(longest, indptr[row + 1] - indptr[row])
    entries = np.empty(longest, dtype=np.int64)
    scratch = np.empty(longest, dtype=np.int64)
    digit_ends = np.empty(257, dtype=np.int32)
    for row in range(len(row_begins)):
        n = 0
        for i in range(indptr[row], indptr[row + 1]):
            if rank[indices[i]] >= 0:
                entries[n] = (np.int64(rank[indices[i]]) << 32) | np.int64(values[i])
                n += 1
        if n <= _FEW:
            _sort_few(entries, n)
        else:
            _sort_many(entries, scratch, n, len(columns), digit_ends)
        for i in range(n):
            out_indices[row_begins[row] + i] = columns[entries[i] >> 32]
            out_values[row_begins[row] + i] = entries[i] & 0xFFFFFFFF


@kernel
def _sort_few(entries: Array, n: int) -> None:
    """Insertion sort."""
    for i in range(1, n):
        entry = entries[i]
        k = i
        while k > 0 and entries[k - 1] > entry:
            entries[k] = entries[k - 1]
            k -= 1
        entries[k] = entry


@kernel
def _sort_many(entries: Array, scratch: Array, n: int, n_ranks: int, digit_ends: Array) -> None:
    """Radix sort by the rank in the upper half, a byte at a time; the work stays in the first-level cache."""
    shift = 32
    while n_ranks > 0:
        digit_ends[:] = 0
        for i in range(n):
            digit_ends[((entries[i] >> shift) & 255) + 1] += 1
        for digit in range(256):
            digit_ends[digit + 1] += digit_ends[digit]
        for i in range(n):
            digit = (entries[i] >> shift) & 255
            scratch[digit_ends[digit]] = entries[i]
            digit_ends[digit] += 1
        entries[:n] = scratch[:n]
        n_ranks >>= 8
        shift += 8


@kernel
def number_pairs(left: Array, right: Array) -> tuple[Array, Array, Array]:
    """Number the distinct pairs (left[i], right[i]) by first appearance; -1 where left[i] or right[i] is negative.

    Returns the number at each place and the left and right of each pair.
    """
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
                roomier[:n_pairs] = pairs
                pairs = roomier
                slots = np.full(4 * n_pairs, -1, dtype=np.int32)
                for p in range(n_pairs):
                    slots[_pair_slot(slots, pairs, pairs[p])] = p
        else:
            ids[i] = slots[slot]
    found = pairs[:n_pairs]
    return ids, (found >> 32).astype(np.int32), (found & 0xFFFFFFFF).astype(np.int32)


@kernel
def _pair_slot(slots: Array, pairs: Array, pair: int) -> int:
    mask = len(slots) - 1
    slot = np.int64((np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while slots[slot] >= 0 and pairs[slots[slot]] != pair:
        slot = (slot + 1) & mask
    return slot


@kernel
def join_words(
    left_pool: Array,
    left_starts: Array,
    left: Array,
    right_pool: Array,
    right_starts: Array,
    right: Array,
    padding: int,
) -> tuple[Array, Array]:
    """Pool and starts of the words "left right"."""
    starts = np.zeros(len(left) + 1, dtype=np.int64)
    for i in range(len(left)):
        length = left_starts[left[i] + 1] - left_starts[left[i]] + right_starts[right[i] + 1] - right_starts[right[i]]
        starts[i + 1] = starts[i] + length + 1
    pool = np.zeros(starts[-1] + padding, dtype=np.uint8)
    for i in range(len(left)):
        middle = starts[i] + left_starts[left[i] + 1] - left_starts[left[i]]
        pool[starts[i] : middle] = left_pool[left_starts[left[i]] : left_starts[left[i] + 1]]
        pool[middle] = 32
        pool[middle + 1 : starts[i + 1]] = right_pool[right_starts[right[i]] : right_starts[right[i] + 1]]
    return pool, starts


@kernel
def next_in_document(tokens: Array, ends: Array, distance: int) -> Array:
    """The token `distance` places on in the same document, -1 where there is none."""
    following = np.full(len(tokens), -1, dtype=np.int32)
    begin = 0
    for document in range(len(ends)):
        for i in range(begin, ends[document] - distance):
            following[i] = tokens[i + distance]
        begin = ends[document]
    return following


@kernel
def weave(streams: Array, ends: Array) -> tuple[Array, Array]:
    """One stream of the non-negative entries of several that share document ends, document by document."""
    woven = np.empty(streams.size, dtype=np.int32)
    woven_ends = np.empty(len(ends), dtype=np.int64)
    n, begin = 0, 0
    for document in range(len(ends)):
        for stream in range(len(streams)):
            for i in range(begin, ends[document]):
                if streams[stream, i] >= 0:
                    woven[n] = streams[stream, i]
                    n += 1
        begin = ends[document]
        woven_ends[document] = n
    return woven[:n], woven_ends
