"""Files of a folder, a tar or a zip archive, read one by one without unpacking to disk."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bayesift.errors import DataError

MAX_UNPACKED_BYTES = 4 * 1024**3


def read_members(path: Path, *, max_bytes: int = MAX_UNPACKED_BYTES) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every regular file, in the order of the archive (a folder: by name).

    Nothing is written to disk. Names that leave the archive, links and special files are refused,
    and so is an archive that unpacks to more than `max_bytes`.
    """
    if path.is_dir():
        yield from _read_folder(path)
        return
    budget = max_bytes
    try:
        for name, size, content in _read_tar(path) if tarfile.is_tarfile(path) else _read_zip(path):
            _refuse_escape(path, name)
            budget -= size
            if budget < 0:
                raise DataError(f"unpacks to more than {max_bytes:,} bytes; refused", file=path)
            yield name, content()
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError) as error:
        raise DataError(f"damaged or not a tar or zip archive ({error})", file=path) from error


def _read_folder(path: Path):  # type: ignore[no-untyped-def]
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield file.relative_to(path).as_posix(), file.read_bytes()
