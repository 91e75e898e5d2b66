"""Byte-pair encoding of many words at a time.

A word is a run of symbols: numbers of pieces, or -1 - code point for a character that is not a
piece. Of all neighbours that the table of merges knows, the pair of lowest rank (the leftmost of
several) becomes one symbol, until none is known.

    keys           uint64[2^b]  left << 32 | right, plus 1; 0 is a free slot; linear probing
    ranks, merged  int32[2^b]   the rank of the pair in each slot, and the piece that it becomes

At most half of the slots are used. A word of n symbols costs at most n^2 / 2 look-ups.
"""

from __future__ import annotations

import numpy as np

from bayesift.arrays import Array, IntArray
from bayesift.kernels.compile import inlined, kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF, _ONE, _ZERO = np.uint64(32), np.uint64(1), np.uint64(0)


@inlined
def _slot(keys: IntArray, left: int, right: int) -> int:
    """Return the slot of a pair, or the free slot where it would be."""
    key = ((np.uint64(left) << _HALF) | np.uint64(right)) + _ONE
    mask = np.uint64(len(keys) - 1)
    place = ((key * _MIX) >> _HALF) & mask
    while keys[place] != _ZERO and keys[place] != key:
        place = (place + _ONE) & mask
    return np.int64(place)


@kernel
def fill_merges(
    keys: IntArray, ranks: IntArray, merged: IntArray, left: Array, right: Array, whole: Array
) -> None:
    """Enter pairs by rank, the lowest first; a pair that is there already keeps its rank."""
    for rank in range(len(left)):
        slot = _slot(keys, left[rank], right[rank])
        if keys[slot] == _ZERO:
            keys[slot] = ((np.uint64(left[rank]) << _HALF) | np.uint64(right[rank])) + _ONE
            ranks[slot], merged[slot] = rank, whole[rank]


@inlined
def _merge_once(
    keys: IntArray, ranks: IntArray, merged: IntArray, symbols: IntArray, n: int
) -> int:
    """Merge the pair of lowest rank among the first n symbols; returns how many are left."""
    best, place, piece = 2147483647, -1, -1
    for i in range(n - 1):
        if symbols[i] >= 0 and symbols[i + 1] >= 0:
            slot = _slot(keys, symbols[i], symbols[i + 1])
            if keys[slot] != _ZERO and ranks[slot] < best:
                best, place, piece = ranks[slot], i, merged[slot]
    if place < 0:
        return n
    symbols[place] = piece
    for i in range(place + 1, n - 1):
        symbols[i] = symbols[i + 1]
    return n - 1


@kernel
def encode_words(
    keys: IntArray,
    ranks: IntArray,
    merged: IntArray,
    symbols: IntArray,
    ends: IntArray,
    bytes_of: IntArray,
    out: Array,
    out_ends: IntArray,
) -> int:
    """Write the pieces of each word; `symbols` is overwritten. Returns how many there are.

    A character that is not a piece becomes pieces of its UTF-8 bytes, `bytes_of` (-1: left out).
    `out` has room for four pieces per symbol.
    """
    begin, total = 0, 0
    for w in range(len(ends)):
        n = ends[w] - begin
        word = symbols[begin : ends[w]]
        left = _merge_once(keys, ranks, merged, word, n)
        while left < n:
            n = left
            left = _merge_once(keys, ranks, merged, word, n)
        for i in range(n):
            if word[i] >= 0:
                out[total] = word[i]
                total += 1
            else:
                total = _write_bytes(-1 - word[i], bytes_of, out, total)
        out_ends[w] = total
        begin = ends[w]
    return total


@inlined
def _write_bytes(point: int, bytes_of: IntArray, out: Array, total: int) -> int:
    size = 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
    for k in range(size):
        if size == 1:
            value = point
        elif k == 0:
            value = ((0xF00 >> size) & 0xFF) | (point >> (6 * (size - 1)))
        else:
            value = 0x80 | ((point >> (6 * (size - 1 - k))) & 0x3F)
        if bytes_of[value] >= 0:
            out[total] = bytes_of[value]
            total += 1
    return total
