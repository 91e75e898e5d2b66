"""Folders and archives: one file per document, read without unpacking to disk."""

from __future__ import annotations

import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeAlias

from bayesift.errors import DataError
from bayesift.records import Corpus, Document, Note
from bayesift.tables.documents import DocumentText, UnreadableError, read_document
from bayesift.tables.loading import (
    ProblemLog,
    bare_suffix,
    categories_of,
    check_encoding,
    report_read,
)

MAX_UNPACKED_BYTES = 4 * 1024**3
SPLITS = {"train": "train", "training": "train", "test": "test", "testing": "test"}
SPLITS |= dict.fromkeys(("dev", "val", "valid", "validation"), "validation")

ARCHIVES = (".tar", ".tgz", ".zip")

_Member: TypeAlias = tuple[str, int, Callable[[], bytes]]

# zipfile raises NotImplementedError for an unknown compression, RuntimeError for an encrypted
# member.
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)
_DAMAGE = (*_BROKEN, NotImplementedError, RuntimeError)


def read_members(
    path: Path,
    *,
    max_bytes: int = MAX_UNPACKED_BYTES,
    wanted: Callable[[str], bool] = lambda name: True,
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of every regular file of a folder or archive.

    Members come in the order of the archive, or by name in a folder. Nothing is written to disk.
    Paths outside the archive, links, special files, and archives that unpack to more than
    `max_bytes` are refused.
    """
    if not path.exists():
        raise DataError("no such file or folder", file=path)
    budget = max_bytes
    try:
        for number, (name, size, content) in enumerate(_list_members(path), 1):
            report_read(number)
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
    with path.open("rb"):  # an unreadable file is reported as such, not as a damaged archive
        pass
    if tarfile.is_tarfile(path):
        return _list_tar(path)
    return _list_zip(path)


def _list_folder(path: Path) -> Iterator[_Member]:
    for folder, subfolders, files in os.walk(path, onerror=_raise):
        subfolders.sort()
        for name in sorted(files) + [
            name for name in subfolders if Path(folder, name).is_symlink()
        ]:
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
                raise DataError(
                    f"{member.name} is a link or a special file; refused", file=path
                )
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
                raise DataError(
                    f"{member.filename} is a link or a special file; refused", file=path
                )
            yield member.filename, member.file_size, partial(archive.read, member)


def _refuse_escape(path: Path, name: str) -> None:
    posix = PurePosixPath(name)
    windows = PureWindowsPath(name)
    if posix.is_absolute() or windows.anchor or ".." in windows.parts:
        raise DataError(f"{name!r} lies outside the archive; refused", file=path)


def _printable(name: str) -> str:
    """Escape the bytes of a name that are not UTF-8, so that it can be shown and stored."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_folder(path: Path) -> bool:
    """Whether a path is a folder of documents, or an archive of one."""
    return path.is_dir() or bare_suffix(path) in ARCHIVES


def read_folder(
    path: Path, log: ProblemLog, encoding: str | None = None
) -> Iterator[tuple[PurePosixPath, DocumentText]]:
    """Yield the name and text of every document of a folder or archive.

    Kinds of files are those of `read_document`. Files that start with a dot are skipped; what
    cannot be read is reported to the log.
    """
    check_encoding(encoding or "utf-8")
    for name, content in read_members(path):
        if _is_hidden(name):
            continue
        try:
            document = read_document(name, content, encoding)
        except UnreadableError as error:
            log.leave_out(error.message, file=path / name)
        except DataError as error:
            log.report(error.message, file=path / name, line=error.line)
        else:
            yield PurePosixPath(name), document


def load_folder(
    path: str | Path, *, encoding: str | None = None, skip_bad: bool = False
) -> Corpus:
    """Load a folder or archive with a subfolder per category and a file per document.

    Documents are plain text, web pages (.html), mails (.eml), and with the extra `documents` PDF
    and Word files (.pdf, .docx); one of these that cannot be read is left out and listed in
    `problems`.
    If all top folders are named train, test or the like, they are splits, and the categories are
    one level below. A document's id is its path; files whose name starts with a dot are skipped.

    Parameters
    ----------
    path : the folder or archive
    encoding : of plain text; guessed by default, for each text that is not UTF-8
    skip_bad : skip texts that cannot be read and list them in `problems`, instead of refusing the
        folder

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "grain").mkdir()
    ...     _ = (Path(folder) / "grain" / "1.txt").write_text("wheat rose")
    ...     load_folder(folder).documents[0].categories
    ('grain',)
    """
    path = Path(path)
    log = ProblemLog(skip=skip_bad)
    members = list(read_folder(path, log, encoding))
    depth = _common_depth([name for name, _ in members]) if path.is_file() else 0
    tops = {name.parts[depth] for name, _ in members if len(name.parts) > depth + 1}
    has_splits = bool(tops) and all(top.lower() in SPLITS for top in tops)
    documents = []
    for name, read in members:
        inner = PurePosixPath(*name.parts[depth:])
        parts = inner.parts[1:] if has_splits else inner.parts
        if len(parts) < 2:
            log.report("lies in no category folder", file=path / name)
            continue
        split = SPLITS[inner.parts[0].lower()] if has_splits else None
        documents.append(
            Document(inner.as_posix(), read.text, read.title, (parts[0],), split=split)
        )
    if not documents:
        skipped = f"; files left out: {len(log.problems):,}" if log.problems else ""
        raise DataError(
            f"holds no documents; there should be a folder for each category{skipped}",
            file=path,
        )
    guessed = Counter(read.encoding for _, read in members)
    notes = tuple(
        Note("encoding", used, f"{count:,} files that are not UTF-8", "--encoding")
        for used, count in guessed.items()
        if encoding is None and used not in ("utf-8", None)
    )
    return Corpus(
        tuple(documents),
        categories_of(documents),
        name=path.name,
        problems=tuple(log.problems),
        notes=notes,
    )


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


def _common_depth(names: list[PurePosixPath]) -> int:
    """Count the folders that contain everything; archives often have a single top folder."""
    depth = 0
    while names and len({name.parts[: depth + 1] for name in names}) == 1:
        is_split = names[0].parts[depth].lower() in SPLITS
        if is_split or min(len(name.parts) for name in names) <= depth + 2:
            break
        depth += 1
    return depth
