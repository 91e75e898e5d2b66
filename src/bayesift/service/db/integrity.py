"""Digests of rows, packed texts, and the comparison of all rows of a SQLite file with them.

Every row has a digest of its values; that of an event covers the event before it too, so that the
log is a chain. Long texts are stored packed; a digest covers what was packed. Large files are
checked in a process of their own while the filter is loaded. It runs this file as a script, which
therefore imports the standard library only.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

_MAPPED = 1 << 34  # bytes of the file that are read without a copy
_PACKED = b"\0"  # first byte of a packed text
_MIN_PACKED_BYTES = 100


class Stored(NamedTuple):
    """A table as it is checked; the last column of the query is the digest.

    The digest of a chained table covers the row before too. `packed` is the index of the column
    that holds packed texts, -1 without one.
    """

    table: str
    query: str
    chained: bool
    is_text: bool
    packed: int = -1


def pack(text: str) -> bytes:
    """Return the bytes of a text as they are stored: its UTF-8, or that compressed if it is long.

    This is frozen: stored texts depend on it.
    """
    content = text.encode()
    if len(content) < _MIN_PACKED_BYTES and not content.startswith(_PACKED):
        return content
    return _PACKED + zlib.compress(content)


def unpack(content: bytes) -> str:
    """Return the text of `pack`; raises ValueError if the bytes are not packed so."""
    if not content.startswith(_PACKED):
        return content.decode()
    try:
        return zlib.decompress(content[1:]).decode()
    except zlib.error as error:
        raise ValueError("a packed text is damaged") from error


def row_digest(values: Iterable[Any], before: str = "") -> str:
    """Return the BLAKE2 digest of the stored values of a row, and of the row before in a chain.

    This is frozen: stored digests depend on it.
    """
    return _digest(
        "\x1f".join(
            [before, *(value if type(value) is str else _part(value) for value in values)]
        )
    )


def _part(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return blake2b(value, digest_size=16).hexdigest()
    if isinstance(value, float):
        return repr(value)
    if value is None:
        return "\0"
    if isinstance(value, str):
        return value
    return str(int(value))


def _digest(content: str) -> str:
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def check_rows(rows: Iterable[Sequence[Any]], stored: Stored) -> None:
    """Compare rows with their digests; raise ValueError with the table of one that differs."""
    last = ""
    for *values, digest in rows:
        if stored.packed >= 0:
            values[stored.packed] = _unpacked(values[stored.packed], stored)
        found = (
            _digest("\x1f".join([last, *values]))
            if stored.is_text
            else row_digest(values, last)
        )
        if found != digest:
            where = f"event {values[0]}" if stored.chained else "a row"
            raise ValueError(f"{where} of the table {stored.table} is not what was stored")
        if stored.chained:
            last = digest


def _unpacked(content: bytes, stored: Stored) -> str:
    try:
        return unpack(content)
    except ValueError as error:
        raise ValueError(f"a row of the table {stored.table} is not what was stored") from error


def check_file(path: str, tables: Iterable[Stored]) -> str:
    """Return what is wrong with a SQLite file, without quoting its content; "" if it is whole.

    SQLite checks its pages and indexes meanwhile in a thread of its own, for which Python need not
    wait.
    """
    try:
        with ThreadPoolExecutor(1) as pool, closing(_connected(path)) as connection:
            pages = pool.submit(_check_pages, path)
            for stored in tables:
                check_rows(connection.execute(stored.query), stored)
            return "" if pages.result() else "a page or an index of the file is not whole"
    except (ValueError, TypeError, OverflowError, sqlite3.Error) as error:
        return str(error) if type(error) is ValueError else "it cannot be read"


def _check_pages(path: str) -> bool:
    with closing(_connected(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")


def _connected(path: str) -> sqlite3.Connection:
    connection = connect_to_read(path)
    connection.execute(f"PRAGMA mmap_size={_MAPPED}")
    return connection


def connect_to_read(path: str | Path) -> sqlite3.Connection:
    """Connect to a SQLite file without changing it or the WAL beside it."""
    address = f"{Path(path).resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, timeout=60, check_same_thread=False)


class CheckProcess:
    """`check_file` in a process of its own."""

    def __init__(self, path: Path, tables: Sequence[Stored]) -> None:
        command = [sys.executable, "-I", __file__, str(path.resolve()), json.dumps(tables)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own file

    def result(self) -> str:
        """Wait for the end of the check, and return what is wrong with the file."""
        output, _ = self._process.communicate()
        return output if self._process.returncode == 0 else "it could not be checked"

    def close(self) -> None:
        """End the check if it still runs."""
        with self._process:  # waits, and closes the pipe
            self._process.kill()


if __name__ == "__main__":
    sys.stdout.write(
        check_file(sys.argv[1], [Stored(*values) for values in json.loads(sys.argv[2])])
    )
