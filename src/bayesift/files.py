"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from bayesift.errors import DataError

_unfinished: dict[object, Callable[[], None]] = {}


@contextmanager
def undone_unless_finished(undo: Callable[[], None]) -> Iterator[None]:
    """Call `undo` when the block ends in an error, or the process ends in it."""
    key = object()
    _unfinished[key] = undo
    try:
        yield
    except BaseException:
        undo()
        raise
    finally:
        del _unfinished[key]


def remove_unfinished() -> None:
    """Remove what is being written: for a process that is about to end."""
    for undo in reversed(list(_unfinished.values())):
        with suppress(OSError):
            undo()


def check_writable(path: Path) -> None:
    """Refuse a path where no file can be written, before the work that it is for.

    Its folder is made.
    """
    if path.is_dir():
        raise DataError("is a folder; name a file", file=path)
    refuse_device(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", file=path) from error


def refuse_device(path: Path) -> None:
    """Refuse a device or a pipe, such as /dev/null, which a file or a folder would replace."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise DataError("is a device, not a file", file=path)


@contextmanager
def whole_file(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a temporary file for writing that replaces `path` when it is complete.

    An error leaves `path` as it was.
    """
    refuse_device(path)
    encoding = None if "b" in mode else "utf-8"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        with undone_unless_finished(lambda: temporary.unlink(missing_ok=True)):
            with os.fdopen(
                handle, mode, encoding=encoding, newline=None if encoding is None else ""
            ) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", file=path) from error
