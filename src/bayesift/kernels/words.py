"""Words of UTF-8 text, numbered exactly in an open-addressing table.

Different words never get the same number.

Text is first folded: letters lower-cased, every byte between words set to 0. A word is then a run
of non-zero bytes. Its key is its first eight bytes and its next eight, padded with zeros: up to 16
bytes the key is the word. The key of any other word (longer, empty, or with a zero inside) begins
with 0 and ends with a digest; its bytes are compared too.

    slots   int32[2^b]        number + 1 of the word in each slot, 0 for a free one; linear probing
    keys    uint64[n + 1, 2]  the key of each word, in the row after its number; row 0 is unused
    pool    uint8             the bytes of the words, then PADDING bytes
    starts  int64[n + 1]      where the bytes of each word begin and end

At most half of the slots are used. Slots are small and frequent words come early, so that most of
what is looked up is near. Words of a text are found in blocks, in passes without branches: where
words begin and end by bits of 64 bytes, their keys, the first word met for each; only what is not
found there is looked for one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesift.arrays import Array, IntArray
from bayesift.kernels.compile import inlined, intrinsic, kernel


@intrinsic
def load_eight(typing_context: Any, array: Any, index: Any) -> Any:
    """Load the eight bytes of a uint8 array from `index` on, first byte lowest.

    The caller keeps within the array.
    """
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(
            builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer()
        )
        return builder.load(address, align=1)

    return types.uint64(array, types.int64), generate


@intrinsic
def trailing_zeros(typing_context: Any, value: Any) -> Any:
    """How many low bits of a uint64 are zero."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def count_ones(typing_context: Any, value: Any) -> Any:
    """How many bits of a uint64 are set."""
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def bits_of_words(typing_context: Any, array: Any, index: Any) -> Any:
    """Which of the 64 bytes of a uint8 array from `index` on are not 0, first byte lowest."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bytes_64 = ir.VectorType(ir.IntType(8), 64)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), bytes_64.as_pointer())
        is_word = builder.icmp_unsigned(
            "!=", builder.load(address, align=1), ir.Constant(bytes_64, [0] * 64)
        )
        return builder.bitcast(is_word, ir.IntType(64))

    return types.uint64(array, types.int64), generate


SEPARATOR, WORD, IDEOGRAPH, COMPLEX, MARK, JOINER = range(
    6
)  # kinds of characters, see `text.scripts`
PADDING = 64
BLOCK = 512  # words that are looked up together; their keys stay in the first-level cache
ROOM = BLOCK + 64  # of the buffers of a block

_BYTES_ONE = np.uint64(0x0101010101010101)
_BYTES_TOP = np.uint64(0x8080808080808080)
_HALF = np.uint64(32)
_ZERO, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_3 = np.uint64(0x165667B19E3779F9)


@kernel
def fold_text(
    text: IntArray, offsets: IntArray, lower: bool, digits: bool, folded: IntArray
) -> Array:
    """Fold documents into `folded`, each followed by a 0.

    Says which hold bytes beyond ASCII (left unfolded).

    Letters stay, lower-cased if `lower`; digits and underscores stay if `digits`; other bytes
    become 0.
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
def fold_wide(
    text: IntArray,
    offsets: IntArray,
    rows: Array,
    kinds: IntArray,
    min_length: int,
    folded: IntArray,
) -> Array:
    """Fold documents of any characters, lower-cased before, over what `fold_text` left.

    Says which are unspaced.

    Short words are removed. Characters of scripts without spaces stay; `ngrams.unspaced_spans`
    splits them.
    """
    unspaced = np.zeros(len(rows), dtype=np.bool_)
    for k in range(len(rows)):
        begin = offsets[rows[k]]
        shift = rows[k] - offsets[0]
        unspaced[k] = _fold_one(
            text, begin, offsets[rows[k] + 1], kinds, min_length, folded, shift
        )
    return unspaced


@kernel
def _fold_one(
    text: IntArray,
    begin: int,
    end: int,
    kinds: IntArray,
    min_length: int,
    folded: IntArray,
    shift: int,
) -> bool:
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
def _clear(folded: IntArray, begin: int, end: int) -> None:
    for k in range(begin, end):
        folded[k] = 0


@inlined
def code_point(text: IntArray, i: int, end: int) -> tuple[int, int]:
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
def _key(text: IntArray, begin: int, length: int) -> tuple[np.uint64, np.uint64]:
    """Return the key of a word without zeros."""
    bits = _EIGHT * np.uint64(length)
    head = load_eight(text, begin) << (np.uint64(64) - bits if length < 8 else _ZERO)
    following = load_eight(text, begin + 8) << (
        np.uint64(128) - bits if 8 < length < 16 else _ZERO
    )
    following = following if length > 8 else _ZERO
    if length > 16:
        return _ZERO, _digest(text, begin, length)
    return head, following


@kernel
def _digest(text: IntArray, begin: int, length: int) -> np.uint64:
    digest = np.uint64(length)
    for i in range(begin, begin + length):
        digest = (digest + np.uint64(text[i])) * _MIX_1
    return digest


@inlined
def _key_of_any(text: IntArray, begin: int, length: int) -> tuple[np.uint64, np.uint64]:
    """Return the key of a word that may be empty or hold zeros."""
    if (
        length == 0
        or _has_zero(text, begin, min(length, 8))
        or _has_zero(text, begin + 8, min(length - 8, 8))
    ):
        return _ZERO, _digest(text, begin, length)
    return _key(text, begin, length)


@inlined
def _has_zero(text: IntArray, begin: int, count: int) -> bool:
    """Whether one of up to eight bytes is 0."""
    if count <= 0:
        return False
    beyond = (_ONE << (np.uint64(64) - _EIGHT * np.uint64(count))) - _ONE
    eight = (load_eight(text, begin) << (np.uint64(64) - _EIGHT * np.uint64(count))) | beyond
    return bool(((eight - _BYTES_ONE) & ~eight & _BYTES_TOP) != _ZERO)


@inlined
def _hash(head: np.uint64, following: np.uint64) -> np.uint32:
    mixed = head * _MIX_1 ^ following * _MIX_2
    return np.uint32(((mixed ^ (mixed >> _HALF)) * _MIX_3) >> _HALF)


@inlined
def _find(
    slots: IntArray,
    keys: IntArray,
    pool: IntArray,
    starts: IntArray,
    text: IntArray,
    begin: int,
    length: int,
    head: np.uint64,
    following: np.uint64,
) -> tuple[int, int]:
    """Slot of a word and its number + 1.

    0 and the free slot where it belongs if it is not there.
    """
    mask = len(slots) - 1
    slot = np.int64(_hash(head, following)) & mask
    row = np.int64(slots[slot])
    while row != 0 and not (
        keys[row, 0] == head
        and keys[row, 1] == following
        and (head != 0 or _same_bytes(pool, starts[row - 1], starts[row], text, begin, length))
    ):
        slot = (slot + 1) & mask
        row = np.int64(slots[slot])
    return slot, row


@inlined
def _same_bytes(
    pool: IntArray, start: int, end: int, text: IntArray, begin: int, length: int
) -> bool:
    if end - start != length:
        return False
    for k in range(length):
        if pool[start + k] != text[begin + k]:
            return False
    return True


@inlined
def _find_or_add(
    slots: IntArray,
    keys: IntArray,
    pool: IntArray,
    starts: IntArray,
    n_words: int,
    text: IntArray,
    begin: int,
    length: int,
    head: np.uint64,
    following: np.uint64,
) -> int:
    """Return the number of a word; a new one gets `n_words`, for which the table has room."""
    slot, row = _find(slots, keys, pool, starts, text, begin, length, head, following)
    if row != 0:
        return row - 1
    start = starts[n_words]
    for k in range(length):
        pool[start + k] = text[begin + k]
    starts[n_words + 1] = start + length
    keys[n_words + 1, 0] = head
    keys[n_words + 1, 1] = following
    slots[slot] = n_words + 1
    return n_words


@kernel
def rehash(slots: IntArray, keys: IntArray, n_words: int) -> None:
    """Put the words of a table into empty slots, earlier words first.

    They are likelier to be met again.
    """
    mask = len(slots) - 1
    for row in range(1, n_words + 1):
        slot = np.int64(_hash(keys[row, 0], keys[row, 1])) & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = row


@inlined
def _list_bits(bits: np.uint64, base: int, places: IntArray, n: int) -> int:
    """Write where bits are set from index n on, and up to 16 entries too many.

    That saves a branch per bit.
    """
    total = int(count_ones(bits))
    for k in range(16):
        places[n + k] = base + np.int64(trailing_zeros(bits))
        bits &= bits - _ONE
    k = n + 16
    while bits != 0:
        places[k] = base + np.int64(trailing_zeros(bits))
        bits &= bits - _ONE
        k += 1
    return n + total


@kernel
def _list_words(
    folded: IntArray, base: int, end: int, is_open: int, begins: IntArray, stops: IntArray
) -> tuple[int, int, int]:
    """List where the words of a block begin and stop.

    Returns the byte reached, the words, and whether another is open.

    A word that is open, before or after, has its beginning in the list.
    """
    n_begins, n_stops = is_open, 0
    inside = np.uint64(is_open)
    while base <= end and n_stops < BLOCK:
        words = bits_of_words(folded, base)
        if end - base < 64:
            words &= (_ONE << np.uint64(end - base)) - _ONE
        before = (words << _ONE) | inside
        inside = words >> np.uint64(63)
        n_begins = _list_bits(words & ~before, base, begins, n_begins)
        n_stops = _list_bits(before & ~words, base, stops, n_stops)
        base += 64
    return base, n_stops, n_begins - n_stops


@kernel
def _list_keys(
    folded: IntArray, begins: IntArray, stops: IntArray, n: int, min_length: int, keys: IntArray
) -> int:
    """List the keys of words that are long enough.

    Their beginnings and stops move up to the front of the lists.
    """
    kept = 0
    for word in range(n):
        begin, stop = begins[word], stops[word]
        keys[kept, 0], keys[kept, 1] = _key(folded, begin, stop - begin)
        begins[kept] = begin
        stops[kept] = stop
        kept += int(stop - begin >= min_length)
    return kept


@kernel
def _look_up(
    slots: IntArray,
    keys: IntArray,
    wanted: IntArray,
    n: int,
    rows: Array,
    first: int,
    missed: IntArray,
) -> int:
    """Rows of words, from place `first` on, by one look at the table.

    Those not found so are listed in `missed`.
    """
    mask = np.uint32(len(slots) - 1)
    found = rows[first : first + n]
    for word in range(n):
        found[word] = slots[_hash(wanted[word, 0], wanted[word, 1]) & mask]
    n_missed = 0
    for word in range(n):
        row = np.uint32(found[word])
        head, following = wanted[word, 0], wanted[word, 1]
        missed[n_missed] = word
        n_missed += int(((keys[row, 0] ^ head) | (keys[row, 1] ^ following)) != _ZERO) | int(
            head == _ZERO
        )
        found[word] = row - 1
    return n_missed


@kernel
def _count_before(places: IntArray, n: int, end: int) -> int:
    """How many of n ascending places are before `end`."""
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if places[middle] < end:
            low = middle + 1
        else:
            high = middle
    return low


class WordSlots(NamedTuple):
    """A hash table of words: slots, keys, and the bytes of word i in `pool`, from starts[i] on."""

    slots: IntArray
    keys: IntArray
    pool: IntArray
    starts: IntArray


class WordBlock(NamedTuple):
    """Buffers of a block of ROOM words: int64 each, but `wanted`, which is uint64[ROOM, 2]."""

    begins: IntArray
    stops: IntArray
    wanted: IntArray
    missed: IntArray


@kernel
def tokenise_until_full(
    folded: IntArray,
    ends: IntArray,
    min_length: int,
    table: WordSlots,
    block: WordBlock,
    tokens: IntArray,
    token_ends: IntArray,
    state: Array,
) -> bool:
    """Go on from `state` to the end (True) or until the table or `tokens` want to grow (False).

    The state: document, byte, words, tokens, whether a word is open. The block is kept between
    calls.
    """
    slots, keys, pool, starts = table
    begins, stops, wanted, missed = block
    document, byte, n_words, n_tokens, is_open = (
        state[0],
        state[1],
        state[2],
        state[3],
        state[4],
    )
    while (
        document < len(ends)
        and 2 * (n_words + ROOM) <= len(slots)
        and n_tokens + ROOM <= len(tokens)
    ):
        byte, n, is_open = _list_words(folded, byte, ends[-1], is_open, begins, stops)
        open_begin = begins[n]
        kept = _list_keys(folded, begins, stops, n, min_length, wanted)
        n_missed = _look_up(slots, keys, wanted, kept, tokens, n_tokens, missed)
        for i in range(n_missed):
            word = missed[i]
            begin, length = begins[word], stops[word] - begins[word]
            number = _find_or_add(
                slots,
                keys,
                pool,
                starts,
                n_words,
                folded,
                begin,
                length,
                wanted[word, 0],
                wanted[word, 1],
            )
            tokens[n_tokens + word] = number
            n_words = max(n_words, number + 1)
        while document < len(ends) and ends[document] < byte:
            token_ends[document] = n_tokens + _count_before(begins, kept, ends[document])
            document += 1
        n_tokens += kept
        begins[0] = open_begin
    state[0], state[1], state[2], state[3], state[4] = (
        document,
        byte,
        n_words,
        n_tokens,
        is_open,
    )
    return bool(document == len(ends))


@kernel
def find_words(
    slots: IntArray,
    keys: IntArray,
    pool: IntArray,
    starts: IntArray,
    other_pool: IntArray,
    other_starts: IntArray,
) -> Array:
    """Ids of other words in the table, -1 for those that are not there."""
    ids = np.empty(len(other_starts) - 1, dtype=np.int32)
    for word in range(len(ids)):
        begin = other_starts[word]
        length = other_starts[word + 1] - begin
        head, following = _key_of_any(other_pool, begin, length)
        _, row = _find(slots, keys, pool, starts, other_pool, begin, length, head, following)
        ids[word] = row - 1
    return ids


@kernel
def add_until_full(
    slots: IntArray,
    keys: IntArray,
    pool: IntArray,
    starts: IntArray,
    n_words: int,
    text: IntArray,
    begins: IntArray,
    ends: IntArray,
    ids: IntArray,
    first: int,
) -> tuple[int, int]:
    """Assign numbers to words of a text from `first` on while there is room.

    Returns where it stopped and the number of words.
    """
    for word in range(first, len(ids)):
        begin = begins[word]
        length = ends[word] - begin
        if 2 * n_words >= len(slots) or starts[n_words] + length + PADDING > len(pool):
            return word, n_words
        head, following = _key_of_any(text, begin, length)
        number = _find_or_add(
            slots, keys, pool, starts, n_words, text, begin, length, head, following
        )
        n_words = max(n_words, number + 1)
        ids[word] = number
    return len(ids), n_words
