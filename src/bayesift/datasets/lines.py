"""Text files as lines: plain, gzip or zstd, in a named encoding, with every byte accounted for."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO, cast

from bayesift.errors import DataError

COMPRESSIONS = (".gz", ".zst")


def bare_suffix(path: Path) -> str:
    """Return the suffix that tells the format, below that of a compression.

    Examples
    --------
    >>> bare_suffix(Path("news.CSV.gz"))
    '.csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def check_encoding(encoding: str) -> str:
    """Return the encoding to decode with (a leading byte order mark is no text), or refuse its name.

    Examples
    --------
    >>> check_encoding("UTF8")
    'utf-8-sig'
    >>> check_encoding("klingon")
    Traceback (most recent call last):
    bayesift.errors.DataError: unknown encoding 'klingon'; try utf-8, latin-1 or cp1252
    """
    try:
        "a".encode(encoding)  # refuses codecs that are not of text, such as hex
        codec = codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise DataError(f"unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252") from error
    return "utf-8-sig" if codec == "utf-8" else codec


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed as its last suffix says; whatever goes wrong is a DataError.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "news.txt.gz"
    ...     _ = file.write_bytes(gzip.compress(b"wheat"))
    ...     with open_bytes(file) as stream:
    ...         stream.read()
    b'wheat'
    """
    if path.is_dir():
        raise DataError("is a folder, where a file is expected", file=path)
    if not path.exists():
        raise DataError("there is no such file", file=path)
    try:
        with path.open("rb") as raw, closing(_decompress(path, raw)) as stream:
            yield stream
    except (EOFError, zlib.error) as error:
        raise DataError(f"damaged compressed file ({error})", file=path) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", file=path) from error


def _decompress(path: Path, raw: BinaryIO) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if path.suffix.lower() == ".zst":
        import pyarrow

        return cast(BinaryIO, io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd")))
    return raw


def read_lines(
    path: Path, encoding: str = "utf-8", *, newline: str = "\n", stream: BinaryIO | None = None
) -> Iterator[str]:
    r"""Yield the lines of a file with their ends.

    A byte that cannot be decoded becomes a lone surrogate, for the caller to report with
    `describe_damage`; a line is never dropped.

    Parameters
    ----------
    path : the file; decompressed when it ends in .gz or .zst
    encoding : a name Python knows
    newline : as for `open`: what ends a line
    stream : read these bytes instead of the file; the path is then only a name for messages

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "news.txt"
    ...     _ = file.write_bytes(b"wheat\ncaf\xe9")
    ...     list(read_lines(file, "latin-1"))
    ['wheat\n', 'café']
    """
    codec = check_encoding(encoding)
    count = 0
    with open_bytes(path) if stream is None else nullcontext(stream) as source:
        text = io.TextIOWrapper(source, codec, errors="surrogateescape", newline=newline)
        try:
            for line in text:
                count += 1
                yield line
        except UnicodeError as error:
            message = f"from here on cannot be decoded as {encoding} ({error.args[-1]})"
            raise DataError(message, file=path, line=count + 1) from error


def decode(content: bytes, encoding: str, *, file: str | Path) -> str:
    r"""Decode a whole file, or say on which line it cannot be.

    Examples
    --------
    >>> decode(b"wheat\ncaf\xe9", "utf-8", file="news.txt")
    Traceback (most recent call last):
    bayesift.errors.DataError: news.txt:2: cannot be decoded as utf-8 (byte 0xe9)
    """
    try:
        return content.decode(check_encoding(encoding))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"cannot be decoded as {encoding} (byte {content[error.start]:#04x})"
        raise DataError(message, file=file, line=line) from error


def describe_damage(text: str, encoding: str) -> str | None:
    r"""Say what in a text is no text: bytes that could not be decoded, or NUL bytes.

    Examples
    --------
    >>> describe_damage("caf\udce9", "utf-8")
    'cannot be decoded as utf-8 (byte 0xe9)'
    """
    if "\0" in text:
        return f"holds a NUL byte; is it really {encoding} text?"
    if text.isascii():
        return None
    damaged = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
    if damaged is None:
        return None
    if "\udc80" <= damaged <= "\udcff":
        return f"cannot be decoded as {encoding} (byte {ord(damaged) - 0xDC00:#04x})"
    return f"holds half a character (\\u{ord(damaged):04x})"
