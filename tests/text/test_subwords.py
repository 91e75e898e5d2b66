import json
from itertools import pairwise

import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.text.subwords import BytePairs, Unigrams, WordPieces, splitter_of
from bayesift.text.words import Words


def split(splitter, words):
    rows, ends = splitter.split(Words.of(words))
    return [part.tolist() for part in np.split(rows, ends[:-1])]


def merged_by_hand(word, pieces, merges):
    """Byte-pair encoding as its definition reads."""
    symbols = list("▁" + word)
    while True:
        ranked = [
            (merges.index(pair), i)
            for i, pair in enumerate(pairwise(symbols))
            if pair in merges
        ]
        if not ranked:
            return [pieces[symbol] for symbol in symbols if symbol in pieces]
        _, i = min(ranked)
        symbols[i : i + 2] = ["".join(symbols[i : i + 2])]


def test_byte_pairs_are_merged_by_rank():
    rng = np.random.default_rng(0)
    symbols, merges = list("▁abcd"), []
    for _ in range(25):
        pair = tuple(rng.choice(symbols, size=2))
        if pair not in merges and "".join(pair) not in symbols:
            merges.append(pair)
            symbols.append("".join(pair))
    pieces = {symbol: row for row, symbol in enumerate(symbols)}
    words = ["".join(rng.choice(list("abcd"), size=n)) for n in rng.integers(1, 12, size=200)]
    assert split(BytePairs(pieces, merges), words) == [
        merged_by_hand(word, pieces, merges) for word in words
    ]


def test_characters_that_are_no_pieces_become_bytes():
    pieces = {"▁": 0, "a": 1} | {f"<0x{byte:02X}>": 2 + byte for byte in range(256)}
    word = "aß中😀"
    expected = [0, 1, *(2 + byte for byte in "ß中😀".encode())]
    assert split(BytePairs(pieces, []), [word, ""]) == [expected, [0]]
    assert split(BytePairs({"▁": 0, "a": 1}, []), [word, "a" * 101]) == [[0, 1], []]


def test_word_pieces_are_the_longest():
    pieces = WordPieces({"un": 0, "##aff": 1, "##able": 2, "##a": 3, "u": 4})
    assert split(pieces, ["unaffable", "una", "unx", "u"]) == [[0, 1, 2], [0, 3], [], [4]]


def test_unigrams_have_the_best_total():
    model = Unigrams(
        [("▁ab", -3.0), ("▁a", -1.0), ("b", -1.5), ("c", -1.0), ("▁", -2.0), ("bc", -4.0)]
    )
    assert split(model, ["ab", "abc", "xb"]) == [[1, 2], [1, 2, 3], [4, 2]]


def tokenizer(model, **more):
    return {"model": model, "normalizer": None, "pre_tokenizer": None, **more}


def test_the_kinds_of_tokenizer_files():
    bert = {"type": "BertNormalizer", "lowercase": True, "strip_accents": None}
    model = {"type": "WordPiece", "vocab": {"caf": 0, "##e": 1}}
    splitter, n_pieces = splitter_of(
        tokenizer(model, normalizer={"type": "Sequence", "normalizers": [bert]})
    )
    assert (split(splitter, ["Café"]), n_pieces) == ([[0, 1]], 2)
    bytelevel = {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}
    model = {
        "type": "BPE",
        "vocab": {"Ġ": 0, "a": 1, "Ġa": 2, "Ã": 3, "Ł": 4},
        "merges": ["Ġ a"],
    }
    assert split(splitter_of(tokenizer(model, pre_tokenizer=bytelevel))[0], ["aa", "É"]) == [
        [2, 1],
        [0, 3],
    ]
    plain = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    assert split(splitter_of(tokenizer(plain))[0], ["aba"]) == [[2, 0]]
    assert split(
        splitter_of(tokenizer({"type": "WordLevel", "vocab": {"b": 1, "a": 0}}))[0], ["b", "c"]
    ) == [[1], []]
    assert split(
        splitter_of(tokenizer({"type": "Unigram", "vocab": [["▁a", -1]]}))[0], ["a"]
    ) == [[0]]


@pytest.mark.parametrize(
    "content", [{}, {"model": {"type": "other", "vocab": {}}}, {"model": None}, {"model": []}]
)
def test_what_is_no_tokenizer(content):
    with pytest.raises(DataError, match="not a tokenizer"):
        splitter_of(json.loads(json.dumps(content)))
