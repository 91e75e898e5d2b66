"""Character n-grams as spans of bytes: where each begins and ends in a text.

`words.add_until_full` numbers them.

A kernel goes on from `state` (document, byte, units of the run, its kind), writes spans until the
buffers `begins` and `stops` are full, and returns their number; state[0] reaches the number of
documents at the end. `totals[d]` becomes the number of spans up to the end of document d; state[4]
holds those of earlier calls. `recent` keeps where the last units began, so that the n-grams which
end at a unit are written when it is read. Cost: one pass, one span per n-gram.
"""

from __future__ import annotations

import numpy as np

from bayesift.arrays import Array, BoolArray, IntArray
from bayesift.kernels.compile import inlined, kernel
from bayesift.kernels.words import COMPLEX, MARK, WORD, code_point

DOCUMENT, BYTE, UNITS, KIND, EARLIER = range(5)
_BLANK = np.uint8(32)


@inlined
def _width(text: IntArray, i: int) -> int:
    """Return the number of bytes of the character that begins at i."""
    lead = text[i]
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@inlined
def _write_grams(
    recent: IntArray,
    units: int,
    shortest: int,
    longest: int,
    stop: int,
    begins: IntArray,
    stops: IntArray,
    n: int,
) -> int:
    """Write the n-grams that end with the last unit of a run; returns the number of spans."""
    for length in range(shortest, min(units, longest) + 1):
        begins[n] = recent[(units - length) % len(recent)]
        stops[n] = stop
        n += 1
    return n


@kernel
def unspaced_spans(
    folded: IntArray,
    ends: IntArray,
    kinds: IntArray,
    longest: IntArray,
    begins: IntArray,
    stops: IntArray,
    totals: Array,
    state: Array,
    recent: IntArray,
) -> int:
    """Words, and in runs of other kinds n-grams of 1 to longest[kind] units.

    A unit is a character and its marks.
    """
    document, i, units, run, n = state[DOCUMENT], state[BYTE], state[UNITS], state[KIND], 0
    room = len(begins) - len(recent)
    while document < len(ends) and n <= room:
        end = ends[document]
        while i < end and n <= room:
            if folded[i] == 0:
                i += 1
                units = 0
                continue
            begin = i
            point, width = code_point(folded, i, end)
            kind = int(kinds[point])
            following = WORD if kind == WORD else MARK
            i += width
            while i < end and folded[i] != 0:
                point, width = code_point(folded, i, end)
                if kinds[point] != following:
                    break
                i += width
            kind = COMPLEX if kind == MARK else kind
            units = units + 1 if kind == run and kind != WORD else 1
            run = kind
            recent[(units - 1) % len(recent)] = begin
            n = _write_grams(recent, units, 1, longest[kind], i, begins, stops, n)
        if i >= end:
            totals[document] = state[EARLIER] + n
            document += 1
            units = 0
    state[DOCUMENT], state[BYTE], state[UNITS], state[KIND] = document, i, units, run
    state[EARLIER] += n
    return n


@kernel
def character_spans(
    text: IntArray,
    ends: IntArray,
    by_word: bool,
    lengths: Array,
    begins: IntArray,
    stops: IntArray,
    totals: Array,
    state: Array,
    recent: IntArray,
) -> int:
    """Write the n-grams of lengths[0] to lengths[1] characters of documents, or of words.

    A word has the blanks around it.

    A word that is shorter than lengths[0] with its blanks is one n-gram, as in scikit-learn.
    """
    document, i, units, n = state[DOCUMENT], state[BYTE], state[UNITS], 0
    room = len(begins) - len(recent) - 1
    while document < len(ends) and n <= room:
        end = ends[document]
        while i < end and n <= room:
            recent[units % len(recent)] = i
            blank = text[i] == _BLANK
            i += _width(text, i)
            units += 1
            n = _write_grams(recent, units, lengths[0], lengths[1], i, begins, stops, n)
            if by_word and blank and units > 1:
                if units < lengths[0]:
                    begins[n], stops[n] = recent[0], i
                    n += 1
                units = 0
                i = i - 1 if i < end else i
        if i >= end:
            totals[document] = state[EARLIER] + n
            document += 1
            units = 0
    state[DOCUMENT], state[BYTE], state[UNITS] = document, i, units
    state[EARLIER] += n
    return n


@kernel
def fold_characters(
    text: IntArray,
    offsets: IntArray,
    spaces: BoolArray,
    lower: bool,
    by_word: bool,
    folded: IntArray,
    ends: IntArray,
) -> None:
    """Copy documents one after the other, with runs of white space as one blank.

    ASCII letters are lower-cased if `lower`.

    A single space, tab, ... stays as it is. With `by_word` any white space is one blank, and one is
    before and after each document that has words.
    """
    n = 0
    for document in range(len(offsets) - 1):
        end, begin = offsets[document + 1], n
        run, first = (
            0,
            offsets[document],
        )  # characters of the white space before i, and where it begins
        i = offsets[document]
        while i < end:
            point, width = code_point(text, i, end)
            if point >= 0 and spaces[point]:
                first = i if run == 0 else first
                run += 1
            else:
                n = _write_space(text, first, i, run, by_word, n == begin, folded, n)
                run = 0
                for k in range(i, i + width):
                    upper = lower and np.uint8(text[k] - np.uint8(65)) < np.uint8(26)
                    folded[n] = text[k] | _BLANK if upper else text[k]
                    n += 1
            i += width
        if not by_word or n > begin:
            n = _write_space(text, first, end, run, by_word, by_word, folded, n)
        ends[document] = n


@inlined
def _write_space(
    text: IntArray,
    first: int,
    stop: int,
    run: int,
    by_word: bool,
    outside: bool,
    folded: IntArray,
    n: int,
) -> int:
    """Write the white space between two characters: as it is, as one blank, or nothing.

    Returns the end.
    """
    if run > 1 or (by_word and (run == 1 or outside)):
        folded[n] = _BLANK
        return n + 1
    if run == 1:
        for k in range(first, stop):
            folded[n] = text[k]
            n += 1
    return n
