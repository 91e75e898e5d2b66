"""Checksums of rows, which tell a damaged database from a whole one.

Every row has the BLAKE2 digest of its values; that of an event covers the event before it too, so that the log is a
chain. This is frozen: stored digests depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any


def row_digest(values: Iterable[Any], before: str = "") -> str:
    """The digest of the stored values of a row, after the digest of the row before it in a chain."""
    parts = [value if type(value) is str else _part(value) for value in values]
    return blake2b("\x1f".join([before, *parts]).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _part(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return blake2b(value, digest_size=16).hexdigest()
    if isinstance(value, float):
        return repr(value)
    return "\0" if value is None else value if isinstance(value, str) else str(int(value))
