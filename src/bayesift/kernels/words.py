"""Words of UTF-8 text, numbered in an open-addressing table, exactly: no word is ever taken for another.

Text is first folded: letters lower-cased, every byte between words set to 0. A word is then a run of non-zero bytes.
Its key is its first eight bytes, its next eight (big-endian, padded with zeros, so that keys sort as words do) and its
length: up to 16 bytes the key is the word, beyond that the remaining bytes are compared too.

    table   uint64[2^b, 4]  one row per slot: HEAD and NEXT eight bytes, SIZE (length, and hash in the upper half),
                            NUMBER (word id + 1, 0 for a free slot); linear probing, at most half full
    pool    uint8           the bytes of the words, one after the other, with PADDING bytes at the end
    starts  int64[n + 1]    where the bytes of each word begin and end
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import inlined, intrinsic, kernel


@intrinsic
def load_eight(typing_context: Any, array: Any, index: Any) -> Any:
    """The eight bytes of a uint8 array from `index` on, first byte lowest; the caller keeps within the array."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(array, types.int64), generate


@intrinsic
def trailing_zeros(typing_context: Any, value: Any) -> Any:
    """How many low bits of a non-zero uint64 are zero."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def swap_bytes(typing_context: Any, value: Any) -> Any:
    """The bytes of a uint64 in opposite order."""
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


HEAD, NEXT, SIZE, NUMBER = 0, 1, 2, 3
SEPARATOR, WORD, IDEOGRAPH, COMPLEX, MARK, JOINER = range(6)  # kinds of characters, see `text.scripts`
PADDING = 16

_BYTES_ONE = np.uint64(0x0101010101010101)
_BYTES_TOP = np.uint64(0x8080808080808080)
_LOWER_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ZERO, _ONE, _THREE = np.uint64(0), np.uint64(1), np.uint64(3)
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_3 = np.uint64(0x165667B19E3779F9)


@kernel
def fold_text(text: Array, offsets: Array, lower: bool, digits: bool, folded: Array) -> Array:
    """Fold documents into `folded`, each followed by a 0; says which hold bytes beyond ASCII (left unfolded).

    Letters stay, lower-cased if `lower`; digits and underscores stay if `digits`; other bytes become 0.
    """
    beyond_ascii = np.zeros(len(offsets) - 1, dtype=np.bool_)
    case_bit = np.uint8(32)
    lowering = case_bit if lower else np.uint8(0)
    digit_mask = np.uint8(255) if digits else np.uint8(0)
    for document in range(len(offsets) - 1):
        begin, length = offsets[document], offsets[document + 1] - offsets[document]
        source = text[begin : begin + length]
        target = folded[begin - offsets[0] + document :]
        seen = np.uint8(0)
        for i in range(length):
            byte = source[i]
            seen |= byte
            letter = np.uint8((byte | case_bit) - np.uint8(97)) < np.uint8(26)
            digit = (np.uint8(byte - np.uint8(48)) < np.uint8(10)) | (byte == np.uint8(95))
            kept_digit = byte & digit_mask if digit else np.uint8(0)
            target[i] = byte | lowering if letter else kept_digit
        target[length] = 0
        beyond_ascii[document] = seen >= 128
    folded[offsets[-1] - offsets[0] + len(offsets) - 1 :] = 0
    return beyond_ascii


@kernel
def fold_wide(text: Array, offsets: Array, rows: Array, kinds: Array, min_length: int, folded: Array) -> Array:
    """Fold documents of any characters, lower-cased before, over what `fold_text` left; says which are unspaced.

    Short words are removed. Characters of scripts without spaces stay; `ngrams.unspaced_spans` splits them.
    """
    unspaced = np.zeros(len(rows), dtype=np.bool_)
    for k in range(len(rows)):
        begin = offsets[rows[k]]
        shift = rows[k] - offsets[0]
        unspaced[k] = _fold_one(text, begin, offsets[rows[k] + 1], kinds, min_length, folded, shift)
    return unspaced


@kernel
def _fold_one(text: Array, begin: int, end: int, kinds: Array, min_length: int, folded: Array, shift: int) -> bool:
    characters, word_begin, unspaced, last = 0, begin + shift, False, SEPARATOR
    n = begin + shift
    i = begin
    while i < end:
        point, width = code_point(text, i, end)
        kind = int(kinds[point]) if point >= 0 else SEPARATOR
        if kind == JOINER:
            if last > WORD:  # left out, so that n-grams go across it
                i += width
                continue
            kind = SEPARATOR
        if kind == WORD:
            characters = characters + 1 if last == WORD else 1
            word_begin = n if characters == 1 else word_begin
        elif last == WORD and characters < min_length:
            _clear(folded, word_begin, n)
        for k in range(i, i + width):
            folded[n] = text[k] if kind != SEPARATOR else np.uint8(0)
            n += 1
        unspaced |= kind > WORD
        last = kind
        i += width
    if last == WORD and characters < min_length:
        _clear(folded, word_begin, n)
    _clear(folded, n, end + shift)
    return unspaced


@inlined
def _clear(folded: Array, begin: int, end: int) -> None:
    for k in range(begin, end):
        folded[k] = 0


@inlined
def code_point(text: Array, i: int, end: int) -> tuple[int, int]:
    """Code point at byte i and its number of bytes; -1 where the bytes are not UTF-8."""
    lead = np.int64(text[i])
    if lead < 0x80:
        return lead, 1
    width = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or i + width > end:
        return -1, 1
    point = lead & (0xFF >> (width + 1))
    for k in range(1, width):
        point = (point << 6) | (np.int64(text[i + k]) & 0x3F)
    return (point, width) if point < 0x110000 else (-1, 1)


@inlined
def _first_zero(eight: np.uint64) -> np.uint64:
    """A mask whose lowest bit marks the first zero byte; 0 if there is none."""
    return (eight - _BYTES_ONE) & ~eight & _BYTES_TOP


@inlined
def _before(eight: np.uint64, zero: np.uint64) -> np.uint64:
    """The bytes before the marked one, big-endian."""
    return swap_bytes(eight & ((_ONE << (trailing_zeros(zero) & ~np.uint64(7))) - _ONE))


@inlined
def _hash(head: np.uint64, following: np.uint64, rest: np.uint64, length: int) -> np.uint64:
    mixed = (head ^ rest) * _MIX_1 ^ (following + np.uint64(length)) * _MIX_2
    return ((mixed ^ (mixed >> _HALF)) * _MIX_3) >> _HALF


@inlined
def _scan(text: Array, begin: int) -> tuple[int, np.uint64, np.uint64, np.uint64]:
    """End of the word that begins here, its first and next eight bytes, and a digest of those beyond."""
    nothing = _ZERO
    eight = load_eight(text, begin)
    zero = _first_zero(eight)
    if zero != 0:
        return begin + np.int64(trailing_zeros(zero) >> _THREE), _before(eight, zero), nothing, nothing
    head = swap_bytes(eight)
    i = begin + 8
    eight = load_eight(text, i)
    zero = _first_zero(eight)
    if zero != 0:
        return i + np.int64(trailing_zeros(zero) >> _THREE), head, _before(eight, zero), nothing
    i += 8
    rest = _ZERO
    while text[i] != 0:
        rest = (rest + np.uint64(text[i])) * _MIX_1
        i += 1
    return i, head, swap_bytes(eight), rest


@kernel
def _same_tail(pool: Array, start: int, text: Array, begin: int, length: int) -> bool:
    """Whether two words that share their first 16 bytes share the others too."""
    for k in range(16, length):
        if pool[start + k] != text[begin + k]:
            return False
    return True


@inlined
def _probe(
    table: Array,
    pool: Array,
    starts: Array,
    text: Array,
    begin: int,
    length: int,
    head: np.uint64,
    following: np.uint64,
    hashed: np.uint64,
) -> tuple[np.uint64, int]:
    """Slot and number of a word; number 0 and the free slot where it belongs if it is not there."""
    mask = np.uint64(len(table) - 1)
    slot = hashed & mask
    size = np.uint64(length) | (hashed << _HALF)
    number = np.int64(table[slot, NUMBER])
    while number != 0 and not (
        table[slot, HEAD] == head
        and table[slot, NEXT] == following
        and table[slot, SIZE] == size
        and (length <= 16 or _same_tail(pool, starts[number - 1], text, begin, length))
    ):
        slot = (slot + _ONE) & mask
        number = np.int64(table[slot, NUMBER])
    return slot, number


@kernel
def rehash(table: Array, wider: Array) -> None:
    """Put the words of a table into an empty one with more slots."""
    mask = np.uint64(len(wider) - 1)
    for row in range(len(table)):
        if table[row, NUMBER] != 0:
            slot = (table[row, SIZE] >> _HALF) & mask
            while wider[slot, NUMBER] != 0:
                slot = (slot + _ONE) & mask
            for column in range(4):
                wider[slot, column] = table[row, column]


@inlined
def _fill(table: Array, slot: int, head: int, following: int, hashed: int, length: int, number: int) -> None:
    table[slot, HEAD] = head
    table[slot, NEXT] = following
    table[slot, SIZE] = np.uint64(length) | (np.uint64(hashed) << _HALF)
    table[slot, NUMBER] = number


@kernel
def tokenise_until_full(
    folded: Array,
    ends: Array,
    min_length: int,
    table: Array,
    pool: Array,
    starts: Array,
    tokens: Array,
    token_ends: Array,
    state: Array,
) -> bool:
    """Go on from `state` (document, byte, words, tokens) to the end (True) or until the table wants to grow (False)."""
    document, i, n_words, n_tokens = state[0], state[1], state[2], state[3]
    done = True
    while document < len(ends) and done:
        end = ends[document]
        while True:
            while i < end and folded[i] == 0:
                i += 1
            if i >= end:
                token_ends[document] = n_tokens
                document += 1
                break
            if 2 * n_words >= len(table):
                done = False
                break
            begin = i
            i, head, following, rest = _scan(folded, begin)
            length = i - begin
            if length < min_length:
                continue
            hashed = _hash(head, following, rest, length)
            slot, number = _probe(table, pool, starts, folded, begin, length, head, following, hashed)
            if number == 0:
                start = starts[n_words]
                for k in range(length):
                    pool[start + k] = folded[begin + k]
                n_words += 1
                starts[n_words] = start + length
                number = n_words
                _fill(table, slot, head, following, hashed, length, number)
            tokens[n_tokens] = number - 1
            n_tokens += 1
    state[0], state[1], state[2], state[3] = document, i, n_words, n_tokens
    return done


@inlined
def _leading(eight: np.uint64, count: int) -> np.uint64:
    """The first `count` of eight bytes, big-endian."""
    if count <= 0:
        return _ZERO
    swapped = swap_bytes(eight)
    return swapped if count >= 8 else swapped & ~((_ONE << np.uint64(64 - 8 * count)) - _ONE)


@inlined
def _key(pool: Array, begin: int, length: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """First and next eight bytes of a word of known length, and a digest of those beyond."""
    rest = _ZERO
    for i in range(begin + 16, begin + length):
        rest = (rest + np.uint64(pool[i])) * _MIX_1
    head = _leading(load_eight(pool, begin), length)
    return head, _leading(load_eight(pool, begin + 8), length - 8), rest


@kernel
def find_words(table: Array, pool: Array, starts: Array, other_pool: Array, other_starts: Array) -> Array:
    """Ids of other words in the table, -1 for those that are not there."""
    ids = np.empty(len(other_starts) - 1, dtype=np.int32)
    for word in range(len(ids)):
        begin = other_starts[word]
        length = other_starts[word + 1] - begin
        head, following, rest = _key(other_pool, begin, length)
        hashed = _hash(head, following, rest, length)
        _, number = _probe(table, pool, starts, other_pool, begin, length, head, following, hashed)
        ids[word] = number - 1
    return ids


@kernel
def add_until_full(
    table: Array,
    pool: Array,
    starts: Array,
    n_words: int,
    text: Array,
    begins: Array,
    ends: Array,
    ids: Array,
    first: int,
) -> tuple[int, int]:
    """Number words of a text from `first` on while there is room; returns where it stopped and the number of words."""
    for word in range(first, len(ids)):
        begin = begins[word]
        length = ends[word] - begin
        start = starts[n_words]
        if 2 * n_words >= len(table) or start + length + PADDING > len(pool):
            return word, n_words
        head, following, rest = _key(text, begin, length)
        hashed = _hash(head, following, rest, length)
        slot, number = _probe(table, pool, starts, text, begin, length, head, following, hashed)
        if number == 0:
            for k in range(length):
                pool[start + k] = text[begin + k]
            n_words += 1
            starts[n_words] = start + length
            number = n_words
            _fill(table, slot, head, following, hashed, length, number)
        ids[word] = number - 1
    return len(ids), n_words


@kernel
def word_keys(pool: Array, starts: Array) -> tuple[Array, Array]:
    """First and next eight bytes of each word; they order words, but for ties beyond 16 bytes."""
    head = np.empty(len(starts) - 1, dtype=np.uint64)
    following = np.empty(len(starts) - 1, dtype=np.uint64)
    for word in range(len(head)):
        head[word], following[word], _ = _key(pool, starts[word], starts[word + 1] - starts[word])
    return head, following


@kernel
def first_kinds(pool: Array, starts: Array, kinds: Array) -> Array:
    """The kind of the first character of each word; SEPARATOR for an empty word."""
    found = np.zeros(len(starts) - 1, dtype=np.uint8)
    for word in range(len(found)):
        if starts[word] < starts[word + 1]:
            point, _ = code_point(pool, starts[word], starts[word + 1])
            found[word] = kinds[point]
    return found
