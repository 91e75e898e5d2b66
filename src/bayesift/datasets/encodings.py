"""The encoding of text: guessed by a mark, by the rules of UTF-8 or by the words it gives; and what is damaged."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from pathlib import Path

from bayesift.errors import DataError

UTF_8 = "utf-8"

# Encodings without a mark, as the spreadsheets and mail programs of each language write them.
_LEGACY = [
    "cp1252",
    "cp1250",
    "cp1251",
    "koi8_r",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp874",
    "gb18030",
    "big5",
    "cp932",
    "euc_jp",
    "cp949",
    "mac_roman",
]
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 1 << 16
_BEYOND_ASCII = bytes(range(128, 256))
_HALF = re.compile("[\ud800-\udfff]")


def check_encoding(encoding: str) -> str:
    """The codec of an encoding, which skips a leading byte order mark; an unknown name is refused."""
    try:
        "a".encode(encoding)  # refuses codecs that are not of text, such as hex
        codec = codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise DataError(f"unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252") from error
    return "utf-8-sig" if codec == UTF_8 else codec


def guess_encoding(blocks: Iterable[bytes]) -> str:
    r"""The encoding of a text that comes in blocks; they are read up to the first bytes that tell.

    A byte order mark tells; then NUL bytes at every other place (UTF-16); then bytes outside of ASCII, which are
    hardly ever valid UTF-8 by accident. Where they are not UTF-8, charset-normalizer compares what other encodings
    make of these lines.

    Examples
    --------
    >>> guess_encoding([b"plain"]), guess_encoding(["café".encode()])
    ('utf-8', 'utf-8')
    >>> guess_encoding(["Le café était fermé".encode("latin-1")])
    'cp1252'
    """
    rest = b""
    for number, block in enumerate(blocks):
        if number == 0 and (told := _by_mark(block)):
            return told
        if not block.isascii():
            return _by_bytes(rest + block)
        rest = block[-4:]
    return UTF_8


def _by_mark(head: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    pairs = head[: len(head) // 2 * 2][:4096]
    even, odd = pairs[::2].count(0), pairs[1::2].count(0)
    if max(even, odd) > len(pairs) // 8 > 1 and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    return None


def _by_bytes(sample: bytes) -> str:
    # The block may end within a character, which the decoder keeps back.
    valid = codecs.getincrementaldecoder(UTF_8)("surrogateescape").decode(sample)
    damaged = len(_HALF.findall(valid))
    if damaged == 0:
        return UTF_8
    whole = len(valid) - len(sample.translate(None, _BEYOND_ASCII)) - damaged
    # One bad byte among many good characters is damage; it is reported where it is found.
    return UTF_8 if whole > damaged else _by_words(sample)


def _by_words(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    telling = b"\n".join(line for line in sample.splitlines() if not line.isascii())[:_SAMPLE_BYTES]
    matches = list(from_bytes(telling, cp_isolation=_LEGACY))
    if not matches:
        return "latin-1"  # every byte is a character of it
    best = matches[0]
    for match in matches:
        # Western European text is often as good in a neighbouring encoding; cp1252 is the most common.
        level = match.chaos <= best.chaos and match.coherence >= best.coherence - 0.06
        if level and "cp1252" in match.could_be_from_charset:
            return "cp1252"
    return best.encoding


def decode(content: bytes, encoding: str, *, file: str | Path) -> str:
    r"""Decode a whole file; an error names the line."""
    try:
        return content.decode(check_encoding(encoding))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = (
            f"cannot be decoded as {encoding} (byte {content[error.start]:#04x}); name the right one with --encoding"
        )
        raise DataError(message, file=file, line=line) from error


def describe_damage(text: str, encoding: str) -> str | None:
    r"""Describe what is damaged in a text: bytes that could not be decoded, or NUL bytes; None if nothing is."""
    if "\0" in text:
        return f"holds a NUL byte; is it really {encoding} text?"
    if text.isascii():
        return None
    damaged = _HALF.search(text)
    if damaged is None:
        return None
    if "\udc80" <= damaged[0] <= "\udcff":
        return f"cannot be decoded as {encoding} (byte {ord(damaged[0]) - 0xDC00:#04x})"
    return f"holds half a character (\\u{ord(damaged[0]):04x})"
