"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bayesift.errors import DataError


@contextmanager
def whole_file(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a file for writing that takes its place when all is written; before that, what was there stays.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "note.txt", "w") as stream:
    ...         _ = stream.write("corn")
    ...     (Path(folder) / "note.txt").read_text()
    'corn'
    """
    encoding = None if "b" in mode else "utf-8"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", file=path) from error
    try:
        with os.fdopen(handle, mode, encoding=encoding, newline=None if encoding is None else "") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise DataError(f"cannot be written ({error.strerror or error})", file=path) from error
        raise
