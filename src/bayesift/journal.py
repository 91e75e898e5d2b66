"""One append-only log on disk, which reviews, streams and filters keep their events in.

A journal is a file of JSON lines. The first line names the format; every line ends in a digest of
its content and of the digest before it::

    {"format": "bayesift-journal", "version": 1, "digest": "6f0c..."}
    {"n": 0, "type": "decide", ..., "digest": "b1d2..."}

A line that was changed, lost or moved breaks the chain and is refused with file and line. A last
line without its end was never acknowledged; it is ignored, and removed before the next write.
Lines are written whole: what a failed write left behind is removed again. One process at a time
may write. Files of older versions, whose lines have no digests, are read as they are and rewritten
as a whole before the first write.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from bayesift.errors import DataError
from bayesift.files import whole_file

FORMAT = "bayesift-journal"
VERSION = 1
_DIGEST_CHARACTERS = 32  # 128 bits
_SUFFIX = re.compile(rb', "digest": "([0-9a-f]{%d})"\}' % _DIGEST_CHARACTERS)
_SUFFIX_LENGTH = len(', "digest": ""}') + _DIGEST_CHARACTERS
_MARK = re.compile(rb"(\d{16}) ([0-9a-f]{%d})(?: |$)" % _DIGEST_CHARACTERS)
_MARK_RECORDS = 2
_CHECK_CHARACTERS = 8
_MARK_BYTES = 16 + 1 + _DIGEST_CHARACTERS + 1 + _CHECK_CHARACTERS + 1
_LOCKED_BYTE = 1 << 62  # on Windows; beyond the end, so that readers are not kept out


class JournalEnd(NamedTuple):
    """How far a journal was written: the number of entries and the digest of the last one."""

    n_entries: int
    digest: str


class _Line(NamedTuple):
    """A complete line: number in the file, content, digest ("" if old) and its end in bytes."""

    number: int
    content: bytes
    digest: str
    end: int


class Journal:
    """An append-only file of JSON objects with chained digests.

    Parameters
    ----------
    path : the file; it is made if it is missing and `writing` is set
    writing : whether entries may be appended; one process at a time
    header : facts for the first line of a new journal
    durable : whether `append` waits until entries are on the disk (`sync` does so at any time)
    keep : remove all entries after the first `keep`
    expected : the end at an earlier time, such as that of a checkpoint, which must still be there
    mark : a second file that holds the `JournalEnd`, so that lost lines at the end are noticed

    Attributes
    ----------
    header : facts of the first line; empty for files of older versions
    note : what was repaired on opening, to be shown; "" if nothing was
    is_old : whether the lines have no digests yet

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log.jsonl"
    >>> with Journal(path, writing=True) as journal:
    ...     journal.append([b'{"n": 0}', b'{"n": 1}'])
    >>> [(line, content) for line, content in Journal(path).entries()]
    [(2, b'{"n": 0}'), (3, b'{"n": 1}')]
    """

    def __init__(
        self,
        path: str | Path,
        *,
        writing: bool = False,
        header: Mapping[str, Any] | None = None,
        durable: bool = True,
        keep: int | None = None,
        expected: JournalEnd | None = None,
        mark: Path | None = None,
    ) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] = dict(header or {})
        self.note = ""
        self.is_old = False
        self._durable = durable
        self._mark = mark
        self._broken = False
        self._n_entries = 0
        self._size = 0
        self._digest = ""
        self._before: tuple[JournalEnd, int] | None = None
        self._file: int | None = None
        self._mark_file: int | None = None
        self._mark_turn = 0
        # The mark comes first: a writer adds entries before it moves the mark.
        if mark is not None:
            expected = _read_mark(mark)
        if writing:
            self._file = _open_locked(self.path)
        try:
            self._check(keep, expected)
            if writing:
                self._repair(silent=keep is not None)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(
        cls,
        path: Path,
        header: Mapping[str, Any],
        contents: Iterable[bytes] = (),
        *,
        durable: bool = True,
    ) -> Self:
        """Write a new journal, which replaces the file in one step, and open it for writing."""
        _write_whole(path, header, contents)
        return cls(path, writing=True, durable=durable)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def end(self) -> JournalEnd:
        """The number of entries and the digest of the last one."""
        return JournalEnd(self._n_entries, self._digest)

    def entries(self) -> Iterator[tuple[int, bytes]]:
        """Read the entries: the number of the line in the file, and the JSON object."""
        for line in islice(self._entry_lines(), self._n_entries):
            yield line.number, line.content

    def append(self, contents: Iterable[bytes]) -> None:
        """Write JSON objects, each without line ends, as one: all of them or none."""
        if self._file is None:
            raise DataError("is open for reading only", file=self.path)
        if self._broken:
            raise DataError(
                "a failed write could not be removed; open it again", file=self.path
            )
        added = list(contents)
        if not added:
            return
        self.upgrade()
        lines = []
        digest = self._digest
        if self._size == 0:
            digest, line = _chained(digest, _header_content(self.header))
            lines.append(line)
        for content in added:
            digest, line = _chained(digest, content)
            lines.append(line)
        before = self.end, self._size
        self._write(b"".join(lines))
        self._before = before
        self._digest = digest
        self._n_entries += len(added)
        self._move_mark()

    def take_back(self) -> None:
        """Remove the entries of the last `append`, which can be done once."""
        if self._before is None:
            return
        (self._n_entries, self._digest), self._size = self._before
        self._before = None
        self._begin_mark()
        self._take_back()

    def upgrade(self) -> None:
        """Give the lines of an older version digests, in a new file that replaces the old one."""
        if not self.is_old or self._file is None:
            return
        contents = []
        for _, content in self.entries():
            contents.append(content)
        _write_whole(self.path, self.header, contents)
        os.close(self._file)
        self._file = None
        self._file = _open_locked(self.path)
        self._check(None, None)

    def sync(self) -> None:
        """Wait until all entries are on the disk."""
        if self._file is not None:
            try:
                os.fsync(self._file)
            except OSError as error:
                self._broken = True
                raise _not_written(error, self.path) from error

    def close(self) -> None:
        """Close the file, so that others may write."""
        for file in (self._file, self._mark_file):
            if file is not None:
                os.close(file)
        self._file = None
        self._mark_file = None

    def _check(self, keep: int | None, expected: JournalEnd | None) -> None:
        """Read all lines once, and find where the last entry to keep ends."""
        self._n_entries = 0
        self._size = 0
        self._digest = ""
        for line in self._header_lines():
            self._size = line.end
            self._digest = line.digest
        for line in islice(self._entry_lines(), keep):
            self._n_entries += 1
            self._size = line.end
            self._digest = line.digest
            if expected is not None and self._n_entries == expected.n_entries:
                self._check_mark(line, expected)
        if expected is not None and self._n_entries < expected.n_entries:
            raise DataError(
                f"has {self._n_entries:,} entries, but {expected.n_entries:,} were written by the "
                f"time of {self._mark_name}; restore the file, or delete that one "
                "to go on with what is left",
                file=self.path,
            )

    @property
    def _mark_name(self) -> str:
        return "the checkpoint" if self._mark is None else self._mark.name

    def _check_mark(self, line: _Line, expected: JournalEnd) -> None:
        # A line or a checkpoint of an older version has no digest to compare.
        if line.digest and expected.digest and line.digest != expected.digest:
            raise DataError(
                f"is damaged: its digest is not that of {self._mark_name}",
                file=self.path,
                line=line.number,
            )

    def _header_lines(self) -> Iterator[_Line]:
        """Read the first line if it is a header, and learn from it."""
        first = next(self._lines(), None)
        if first is None:
            return
        found = _read_header(first.content)
        self.is_old = not first.digest and found is None
        if self.is_old:
            return
        if found is None or not first.digest:
            raise DataError(
                "is damaged: not the first line of a journal", file=self.path, line=1
            )
        if found.pop("version", None) != VERSION:
            raise DataError(f"this bayesift reads version {VERSION}", file=self.path, line=1)
        self.header = found
        yield first

    def _entry_lines(self) -> Iterator[_Line]:
        return islice(self._lines(), None if self.is_old else 1, None)

    def _lines(self) -> Iterator[_Line]:
        """Read the complete lines and check their digests."""
        previous = ""
        end = 0
        torn = b""
        with self._open_for_reading() as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    torn = line
                    break
                content, digest = self._checked(line[:-1], previous, number)
                end += len(line)
                yield _Line(number, content, digest, end)
                previous = digest
        # A last line that is whole but for its end was not torn off: its last byte was changed.
        if torn and previous and _split(torn[:-1], previous) is not None:
            raise DataError("is damaged: its end was changed", file=self.path, line=number)

    def _checked(self, line: bytes, previous: str, number: int) -> tuple[bytes, str]:
        """Split a line into its content and its digest, which must follow the one before."""
        if number > 1 and not previous and not _SUFFIX.fullmatch(line[-_SUFFIX_LENGTH:]):
            return line, ""  # a file of an older version
        found = _split(line, previous)
        if found is not None:
            return found
        if number == 1 and not _looks_like_header(line):
            return line, ""
        raise DataError(
            "is damaged: its digest is not that of its content", file=self.path, line=number
        )

    def _open_for_reading(self) -> IO[bytes]:
        try:
            return self.path.open("rb")
        except OSError as error:
            message = f"cannot be read ({error.strerror or error})"
            raise DataError(message, file=self.path) from error

    def _repair(self, *, silent: bool) -> None:
        """Remove what follows the last entry to keep."""
        assert self._file is not None
        excess = os.fstat(self._file).st_size - self._size
        if excess:
            if not silent:
                self.note = (
                    f"{self.path}: an incomplete last line ({excess:,} bytes) was removed"
                )
            try:
                os.truncate(self._file, self._size)
            except OSError as error:
                raise _not_written(error, self.path) from error
        if self._mark is not None:
            with suppress(OSError):  # the mark only adds safety
                self._mark_file = os.open(self._mark, os.O_RDWR | os.O_CREAT, 0o644)
            self._begin_mark()  # which a crash may have left behind

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        rest = memoryview(data)
        try:
            while rest:
                n_written = os.write(self._file, rest)
                if not n_written:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                rest = rest[n_written:]
            if self._durable:
                os.fsync(self._file)
        except BaseException as error:
            self._take_back()
            if isinstance(error, OSError):
                raise _not_written(error, self.path) from error
            raise
        self._size += len(data)

    def _take_back(self) -> None:
        """Remove a part of a line; if that fails too, nothing may be appended behind it."""
        assert self._file is not None
        self._broken = True
        with suppress(OSError):
            os.truncate(self._file, self._size)
            self._broken = os.fstat(self._file).st_size != self._size

    def _move_mark(self) -> None:
        """Note the end in the second file; it may lag behind after a crash, but never be ahead.

        Two records are written in turn, so that one of them is whole at any moment.
        """
        if self._mark_file is None:
            return
        place = self._mark_turn % _MARK_RECORDS * _MARK_BYTES
        self._mark_turn += 1
        with suppress(OSError):
            os.lseek(self._mark_file, place, os.SEEK_SET)
            os.write(self._mark_file, _mark_record(self.end))

    def _begin_mark(self) -> None:
        """Write both records anew, none of them ahead of the file."""
        if self._mark_file is not None:
            with suppress(OSError):
                os.ftruncate(self._mark_file, 0)
        if self._digest:
            for _ in range(_MARK_RECORDS):
                self._move_mark()


def digest_of(data: bytes) -> str:
    """Compute the digest that records and snapshots are checked by."""
    return hashlib.sha256(data).hexdigest()


def _digest(previous: str, content: bytes) -> str:
    """Compute the digest of a content that follows another one."""
    digest = hashlib.sha256(previous.encode())
    digest.update(content)
    return digest.hexdigest()[:_DIGEST_CHARACTERS]


def _chained(previous: str, content: bytes) -> tuple[str, bytes]:
    """Return the digest of a content that follows another one, and the line to write."""
    digest = _digest(previous, content)
    return digest, content[:-1] + b', "digest": "' + digest.encode() + b'"}\n'


def _split(line: bytes, previous: str) -> tuple[bytes, str] | None:
    """Return content and digest of a line without its end; None if they do not match."""
    found = _SUFFIX.fullmatch(line[-_SUFFIX_LENGTH:])
    if found is None:
        return None
    content = line[:-_SUFFIX_LENGTH] + b"}"
    digest = found.group(1).decode()
    if digest != _digest(previous, content):
        return None
    return content, digest


def _looks_like_header(line: bytes) -> bool:
    """Whether a first line is that of a journal with digests, even if a part of it was changed."""
    return FORMAT.encode() in line or _SUFFIX.fullmatch(line[-_SUFFIX_LENGTH:]) is not None


def _header_content(header: Mapping[str, Any]) -> bytes:
    facts = {"format": FORMAT, "version": VERSION, **header}
    return json.dumps(facts, ensure_ascii=False).encode()


def _read_header(content: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(content)
    except ValueError:
        return None
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
        return None
    return values


def _write_whole(path: Path, header: Mapping[str, Any], contents: Iterable[bytes]) -> None:
    digest, line = _chained("", _header_content(header))
    with whole_file(path) as stream:
        stream.write(line)
        for content in contents:
            digest, line = _chained(digest, content)
            stream.write(line)


def _read_mark(path: Path) -> JournalEnd | None:
    """Read how far a journal was written; None if that was not noted."""
    try:
        text = path.read_bytes()
    except OSError:
        return None
    if not text.strip(b"\0"):  # a power failure may leave an empty file, or one of zeros
        return None
    ends = []
    for line in text.split(b"\n"):
        found = _MARK.match(line)
        if found is not None:
            end = JournalEnd(int(found.group(1)), found.group(2).decode())
            is_old = (
                line + b"\n" == text and found.group() == line
            )  # one record, without a check
            if is_old or line + b"\n" == _mark_record(end):
                ends.append(end)
    if not ends:
        raise DataError("is damaged; delete it to go on without it", file=path)
    return max(ends)


def _mark_record(end: JournalEnd) -> bytes:
    text = f"{end.n_entries:016d} {end.digest}"
    return f"{text} {digest_of(text.encode())[:_CHECK_CHARACTERS]}\n".encode()


def _open_locked(path: Path) -> int:
    """Open a file to append to, and lock it until it is closed or the process ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            _lock(file, path)
            # Another process may have replaced the file before it was locked.
            if os.path.samestat(os.fstat(file), os.stat(path)):  # noqa: PTH116
                return file
            os.close(file)
    except OSError as error:
        raise _not_written(error, path) from error


def _lock(file: int, path: Path) -> None:
    try:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # Windows
            import msvcrt

            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    except OSError as error:
        os.close(file)
        raise DataError(
            "another program is writing to it; close that first", file=path
        ) from error


def _not_written(error: OSError, path: Path) -> DataError:
    return DataError(f"cannot be written ({error.strerror or error})", file=path)
