"""Where a file of output stood: so that what was written after a checkpoint can be taken back and written again."""

from __future__ import annotations

import fcntl
import os
import stat
from dataclasses import asdict, dataclass
from typing import IO, Any, Self


@dataclass(frozen=True, slots=True)
class OutputMark:
    """A file and its length at some moment.

    Parameters
    ----------
    device, inode : which file it is, whatever its name
    size : bytes written until then

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open(f"{folder}/decisions", "a") as stream:
    ...     _ = stream.write("kept")
    ...     mark = OutputMark.of(stream)
    ...     _ = stream.write(" and written after")
    ...     stream.flush()
    ...     mark.cut(stream), os.fstat(stream.fileno()).st_size
    (True, 4)
    """

    device: int
    inode: int
    size: int

    @classmethod
    def of(cls, stream: IO[str]) -> Self | None:
        """The mark of what was written so far; None for what is no file, such as a pipe or a terminal."""
        stream.flush()
        found = _file_behind(stream)
        return None if found is None else cls(found.st_dev, found.st_ino, found.st_size)

    def cut(self, stream: IO[str]) -> bool:
        """Cut off what was written after the mark; False if this is another file, a shorter one, or not appended to."""
        found = _file_behind(stream)
        if found is None or (found.st_dev, found.st_ino) != (self.device, self.inode) or found.st_size < self.size:
            return False
        if not fcntl.fcntl(stream.fileno(), fcntl.F_GETFL) & os.O_APPEND:
            return False
        os.ftruncate(stream.fileno(), self.size)
        return True

    def describe(self) -> dict[str, int]:
        """The mark as JSON can hold it."""
        return asdict(self)

    @classmethod
    def described(cls, description: Any) -> Self | None:
        """The inverse of `describe`; raises TypeError or ValueError for what is no mark."""
        if description is None:
            return None
        mark = cls(**description)
        if not all(isinstance(part, int) and part >= 0 for part in description.values()):
            raise ValueError("output is no file and its length")
        return mark


def _file_behind(stream: IO[str]) -> os.stat_result | None:
    """The regular file that a stream writes to, if it is one."""
    try:
        found = os.fstat(stream.fileno())
    except OSError:  # a stream in memory has no number
        return None
    return found if stat.S_ISREG(found.st_mode) else None
