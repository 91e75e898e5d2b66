"""Byte-pair encoding, against a loop over Python lists."""

import itertools

import numpy as np
import pytest

from bayesift.kernels import subwords as kernels

MERGES = [(0, 1), (1, 1), (5, 2), (3, 3), (0, 1)]  # the last is there already
WHOLE = [5, 6, 7, 8, 9]


def table_of(merges=MERGES, whole=WHOLE, size=16):
    keys = np.zeros(size, dtype=np.uint64)
    ranks, merged = np.zeros((2, size), dtype=np.int32)
    left, right = np.array(merges or np.empty((0, 2)), dtype=np.int32).reshape(-1, 2).T.copy()
    kernels.fill_merges(keys, ranks, merged, left, right, np.array(whole, dtype=np.int32))
    return keys, ranks, merged


def encode_slowly(word, bytes_of):
    ranks = {}
    for rank, pair in enumerate(MERGES):
        ranks.setdefault(pair, (rank, WHOLE[rank]))
    symbols = list(word)
    while True:
        known = [
            (ranks[pair][0], i)
            for i, pair in enumerate(itertools.pairwise(symbols))
            if pair in ranks
        ]
        if not known:
            break
        i = min(known)[1]
        symbols[i : i + 2] = [ranks[symbols[i], symbols[i + 1]][1]]
    pieces = []
    for symbol in symbols:
        if symbol >= 0:
            pieces.append(symbol)
        else:
            encoded = [bytes_of[byte] for byte in chr(-1 - symbol).encode()]
            pieces += [piece for piece in encoded if piece >= 0]
    return pieces


def encode(words, table, bytes_of):
    symbols = np.array([symbol for word in words for symbol in word], dtype=np.int32)
    ends = np.cumsum([len(word) for word in words]).astype(np.int64)
    out, out_ends = (
        np.empty(4 * len(symbols), dtype=np.int32),
        np.empty(len(words), dtype=np.int64),
    )
    n = kernels.encode_words(*table, symbols, ends, bytes_of, out, out_ends)
    return [part.tolist() for part in np.split(out[:n], out_ends[:-1])] if words else []


def test_pairs_are_entered_once():
    keys, ranks, merged = table_of()
    used = keys != 0
    assert np.count_nonzero(used) == len(set(MERGES))
    assert sorted(ranks[used].tolist()) == [0, 1, 2, 3]
    assert sorted(merged[used].tolist()) == WHOLE[:4]
    assert not table_of([], [])[0].any()


@pytest.mark.parametrize("seed", range(5))
def test_words_of_pieces_and_characters(seed):
    generator = np.random.default_rng(seed)
    unknown = [-1 - ord(character) for character in "aé€😀"]
    bytes_of = np.where(np.arange(256) % 7 == 0, -1, 100 + np.arange(256)).astype(np.int32)
    words = [
        generator.choice([0, 1, 2, 3, *unknown], size=generator.integers(0, 12)).tolist()
        for _ in range(8)
    ]
    expected = [encode_slowly(word, bytes_of) for word in words]
    assert encode(words, table_of(), bytes_of) == expected


def test_nothing_to_encode():
    assert encode([], table_of(), np.zeros(256, dtype=np.int32)) == []
    assert encode([[]], table_of(), np.zeros(256, dtype=np.int32)) == [[]]
