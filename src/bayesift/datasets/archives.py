"""Files of a folder, a tar or a zip archive, read one by one without unpacking to disk."""

from __future__ import annotations

import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeAlias

from bayesift.errors import DataError

MAX_UNPACKED_BYTES = 4 * 1024**3

_Member: TypeAlias = tuple[str, int, Callable[[], bytes]]

_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,  # a compression method that zipfile does not know
    RuntimeError,  # an encrypted member
)


def read_members(
    path: Path,
    *,
    max_bytes: int = MAX_UNPACKED_BYTES,
    wanted: Callable[[str], bool] = lambda name: True,
) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every regular file, in the order of the archive (a folder: by name).

    Nothing is written to disk. Names that leave the archive, links and special files are refused,
    and so is an archive that unpacks to more than `max_bytes`.

    Parameters
    ----------
    path : a folder, or a tar (plain, gzip, bzip2, xz) or zip file
    max_bytes : bound on the sum of the sizes, checked before a member is read
    wanted : tells by its name whether a file is to be read

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "note.txt").write_text("wheat")
    ...     list(read_members(Path(folder)))
    [('note.txt', b'wheat')]
    """
    if not path.exists():
        raise DataError("there is no such file or folder", file=path)
    budget = max_bytes
    try:
        for name, size, content in _list_members(path):
            _refuse_escape(path, name)
            budget -= size
            if budget < 0:
                raise DataError(f"unpacks to more than {max_bytes:,} bytes; refused", file=path)
            if wanted(name):
                yield _printable(name), content()
    except _DAMAGE as error:
        kind = "cannot be read" if path.is_dir() else "damaged, or not a tar or zip archive"
        raise DataError(f"{kind} ({error})", file=path) from error


def _list_members(path: Path) -> Iterator[_Member]:
    if path.is_dir():
        return _list_folder(path)
    with path.open("rb"):  # a file that may not be read says so here, rather than pass for a damaged archive
        pass
    return _list_tar(path) if tarfile.is_tarfile(path) else _list_zip(path)


def _list_folder(path: Path) -> Iterator[_Member]:
    for folder, subfolders, files in os.walk(path, onerror=_raise):
        subfolders.sort()
        for name in sorted(files) + [name for name in subfolders if Path(folder, name).is_symlink()]:
            file = Path(folder, name)
            relative = file.relative_to(path).as_posix()
            status = file.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise DataError(f"{relative} is a link or a special file; refused", file=path)
            yield relative, status.st_size, file.read_bytes


def _raise(error: OSError) -> None:
    raise error


def _list_tar(path: Path) -> Iterator[_Member]:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isdir():
                continue
            if not member.isreg():
                raise DataError(f"{member.name} is a link or a special file; refused", file=path)
            yield member.name, member.size, partial(_read_tar_member, archive, member)


def _read_tar_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    assert stream is not None  # only links and directories have none
    with stream:
        return stream.read()


def _list_zip(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                raise DataError(f"{member.filename} is a link or a special file; refused", file=path)
            yield member.filename, member.file_size, partial(archive.read, member)


def _refuse_escape(path: Path, name: str) -> None:
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if posix.is_absolute() or windows.anchor or ".." in windows.parts:
        raise DataError(f"{name!r} lies outside the archive; refused", file=path)


def _printable(name: str) -> str:
    """Spell out the bytes of a name that is not UTF-8, so that it can be shown and stored."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
