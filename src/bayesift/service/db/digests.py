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
    parts = [before]
    for value in values:
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, bytes | memoryview):
            parts.append(blake2b(value, digest_size=16).hexdigest())
        elif isinstance(value, float):
            parts.append(repr(value))
        else:
            parts.append("\0" if value is None else str(int(value)))
    return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
