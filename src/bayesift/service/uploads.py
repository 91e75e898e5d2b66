"""Files that people send: what was read of them is kept until they make a review of it."""

from __future__ import annotations

import hashlib
import io
import tempfile
import threading
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow.parquet as pq

from bayesift.datasets import load_table
from bayesift.datasets.loading import guess_encoding
from bayesift.datasets.references import ReferenceList, load_references, read_references
from bayesift.datasets.references.files import recognise
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.screening.project import new_id
from bayesift.service.errors import NotFoundError, TooLargeError

_MOST_UNPACKED = 400 * 1024 * 1024
_PLAIN = (".txt", ".text", ".md")


@dataclass
class Upload:
    """Records of a file that somebody sent and has not used yet."""

    person: str
    name: str
    references: ReferenceList
    at: float = field(default_factory=time.monotonic)


class Uploads:
    """Files that people sent, until they make a review of them; in memory, some per person, for some time."""

    MOST = 20
    SECONDS = 3_600.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Upload] = {}

    def keep(self, upload: Upload) -> str:
        """Keep records under a new key; the oldest of the person are dropped when there are too many."""
        key = new_id()
        with self._lock:
            now = time.monotonic()
            kept = {name: each for name, each in self._kept.items() if now - each.at < self.SECONDS}
            mine = [name for name, each in kept.items() if each.person == upload.person]
            for name in mine[: max(0, len(mine) + 1 - self.MOST)]:
                del kept[name]
            self._kept = {**kept, key: upload}
        return key

    def take(self, person: str, keys: Sequence[str]) -> ReferenceList:
        """The records of several uploads together."""
        found = [self._kept.get(key) for key in dict.fromkeys(keys)]
        lists = [upload.references for upload in found if upload is not None and upload.person == person]
        if not lists or len(lists) < len(found):
            raise NotFoundError("a file is no longer here; send it again")
        return ReferenceList(
            tuple(reference for each in lists for reference in each),
            tuple(file for each in lists for file in each.files),
            tuple(problem for each in lists for problem in each.problems),
            tuple(problem for each in lists for problem in each.refused),
        )

    def drop(self, keys: Sequence[str]) -> None:
        """Forget uploads."""
        with self._lock:
            for key in keys:
                self._kept.pop(key, None)


def read_upload(name: str, content: bytes) -> ReferenceList:
    """The records of a file, named as the person named it."""
    check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{Path(name).suffix[:10]}"
        path.write_bytes(content)
        try:
            found = read_references(path)
        except DataError as error:
            raise DataError(f"{name}: {error.message}") from error
    named = str(path)
    return ReferenceList(
        tuple(replace(r, file=name, id=r.id.replace(path.name, name, 1)) for r in found),
        tuple(replace(file, file=name) for file in found.files),
        tuple(replace(p, file=name) if p.file == named else p for p in found.problems),
        tuple(replace(p, file=name) if p.file == named else p for p in found.refused),
    )


def read_documents(name: str, content: bytes) -> Corpus:
    """The documents of a file of records, of a table or of plain text, whatever its encoding."""
    check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{Path(name).suffix[:10]}"
        path.write_bytes(content)
        try:
            if recognise(path)[0] is not None:
                return load_references(path, skip_bad=True)
            if path.suffix.lower() in _PLAIN:
                text = content.decode(guess_encoding([content]), "replace")
                return Corpus((Document(_digest(content), text, title=name),), ())
            found = load_table(path, skip_bad=True)
            if not len(found.documents) and not found.problems:
                raise DataError("holds no documents")
            return found
        except DataError as error:
            raise DataError(f"{name}: {error.message}") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]


def check_unpacked(content: bytes) -> None:
    """Refuse a file that would take far more memory than it has bytes."""
    size = 0
    try:
        if content.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
        elif content.startswith(b"PAR1"):
            parts = pq.read_metadata(io.BytesIO(content))
            size = sum(parts.row_group(number).total_byte_size for number in range(parts.num_row_groups))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise DataError("the file is damaged") from error
    if size > _MOST_UNPACKED:
        raise TooLargeError(f"the file unpacks to {size:,} bytes; at most {_MOST_UNPACKED:,} are allowed")
