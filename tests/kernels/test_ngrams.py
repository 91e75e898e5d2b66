"""Character n-grams as spans of bytes, against slices of Python strings."""

import itertools
import re

import numpy as np
import pytest

from bayesift.kernels import ngrams as kernels
from bayesift.kernels.words import COMPLEX, IDEOGRAPH, MARK, SEPARATOR, WORD

TEXTS = ["abc de", "", "é€😀 x", " a ", "one  two", "\n", "ab"]


def bytes_of(texts):
    """All texts one after the other, and where each ends."""
    parts = [text.encode() for text in texts]
    ends = np.cumsum([len(part) for part in parts]).astype(np.int64)
    return np.frombuffer(b"".join(parts) + bytes(8), dtype=np.uint8), ends


def spans_of(kernel, text, ends, *settings, longest, room):
    """The n-grams of each document; buffers of this room are filled again and again."""
    begins, stops = np.empty((2, longest + 1 + room), dtype=np.int64)
    totals, state = np.empty(len(ends), dtype=np.int64), np.zeros(5, dtype=np.int64)
    recent, found = np.empty(longest, dtype=np.int64), []
    while state[kernels.DOCUMENT] < len(ends):
        n = kernel(text, ends, *settings, begins, stops, totals, state, recent)
        found += [
            bytes(text[begin:stop]).decode()
            for begin, stop in zip(begins[:n], stops[:n], strict=True)
        ]
    firsts = [0, *totals.tolist()]
    return [found[a:b] for a, b in itertools.pairwise(firsts)]


def all_grams(text, shortest, longest):
    ends = range(1, len(text) + 1)
    return [
        text[end - length : end]
        for end in ends
        for length in range(shortest, min(longest, end) + 1)
    ]


@pytest.mark.parametrize("lengths", [(1, 1), (2, 3), (4, 4)])
@pytest.mark.parametrize("room", [1, 50])
def test_ngrams_of_characters(lengths, room):
    text, ends = bytes_of(TEXTS)
    settings = False, np.array(lengths, dtype=np.int64)
    found = spans_of(
        kernels.character_spans, text, ends, *settings, longest=lengths[1], room=room
    )
    assert found == [all_grams(text, *lengths) for text in TEXTS]


@pytest.mark.parametrize("lengths", [(1, 2), (3, 5)])
def test_ngrams_within_words(lengths):
    folded = [f" {' '.join(text.split())} " if text.split() else "" for text in TEXTS]
    text, ends = bytes_of(folded)
    settings = True, np.array(lengths, dtype=np.int64)
    found = spans_of(kernels.character_spans, text, ends, *settings, longest=lengths[1], room=9)
    expected = []
    for each in TEXTS:
        grams = []
        for word in each.split():
            padded = f" {word} "
            short = [padded] if len(padded) < lengths[0] else []
            grams += all_grams(padded, *lengths) + short
        expected.append(grams)
    assert found == expected


@pytest.mark.parametrize("room", [1, 50])
def test_unspaced_scripts(room):
    kinds = np.full(0x110000, SEPARATOR, dtype=np.uint8)
    kinds[[ord(c) for c in "abc"]] = WORD
    kinds[[ord(c) for c in "日本語"]] = IDEOGRAPH
    kinds[[ord(c) for c in "กข"]] = COMPLEX
    kinds[0x0E31] = MARK
    longest = np.ones(COMPLEX + 1, dtype=np.int64)
    longest[IDEOGRAPH], longest[COMPLEX] = 2, 3
    marked = "ก\u0e31"
    texts = ["abc\x00日本語a", f"{marked}กข", "", "日\x00本"]
    text, ends = bytes_of([f"{each}\x00" for each in texts])
    found = spans_of(
        kernels.unspaced_spans, text, ends - 1, kinds, longest, longest=3, room=room
    )
    assert found[0] == ["abc", "日", "本", "日本", "語", "本語", "a"]
    assert found[1] == [marked, "ก", f"{marked}ก", "ข", "กข", f"{marked}กข"]
    assert found[2:] == [[], ["日", "本"]]


def fold_slowly(text, *, lower, by_word):
    if by_word:
        folded = " ".join(text.split())
        folded = f" {folded} " if folded else ""
    else:
        folded = re.sub(r"\s\s+", " ", text)
    return folded.lower() if lower else folded


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("by_word", [False, True])
def test_folded_characters(lower, by_word):
    texts = ["One  TWO", " a\tb ", "", "\n\n", "x", "É 😀  Z "]
    text, ends = bytes_of(texts)
    offsets = np.concatenate([[0], ends])
    spaces = np.zeros(0x110000, dtype=bool)
    spaces[[9, 10, 32]] = True
    folded, folded_ends = np.empty(2 * len(text) + 20, dtype=np.uint8), np.empty_like(ends)
    kernels.fold_characters(text, offsets, spaces, lower, by_word, folded, folded_ends)
    begins = [0, *folded_ends.tolist()]
    found = [bytes(folded[a:b]).decode() for a, b in itertools.pairwise(begins)]
    expected = [fold_slowly(text, lower=False, by_word=by_word) for text in texts]
    if lower:  # ASCII letters alone: others were lower-cased before
        expected = [re.sub("[A-Z]", lambda m: m[0].lower(), text) for text in expected]
    assert found == expected
