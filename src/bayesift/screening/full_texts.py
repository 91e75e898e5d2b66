"""Keep the PDF files of full texts in a folder, each under the digest of its content."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bayesift.errors import DataError
from bayesift.files import whole_file
from bayesift.journal import digest_of

FULL_TEXTS = "full-texts"
MAX_PDF_BYTES = 50 * 1024 * 1024
_MAX_NAME = 200  # characters
_START = b"%PDF-"
_END = b"%%EOF"
_NEAR_START = 1_024  # bytes; programs write a line or two before the PDF
_NEAR_END = 65_536
_DIGEST = re.compile("[0-9a-f]{64}")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\]+")


@dataclass(frozen=True)
class FullTextFile:
    """The file that is attached to a record.

    Parameters
    ----------
    name : as the person had it
    digest : of its content
    size : in bytes
    by, at : who attached it, and when
    """

    name: str
    digest: str
    size: int
    by: str
    at: str


class FullTextFiles:
    """The files in a folder, which is made when the first one is added.

    Examples
    --------
    >>> import tempfile
    >>> files = FullTextFiles(Path(tempfile.mkdtemp()) / "full-texts")
    >>> digest = files.add(b"%PDF-1.4 a trial %%EOF")
    >>> files.read(digest)
    b'%PDF-1.4 a trial %%EOF'
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Return the file of a digest."""
        if not is_file_digest(digest):
            raise DataError(f"no digest of a file: {digest!r:.80}")
        return self.folder / f"{digest}.pdf"

    def add(self, content: bytes) -> str:
        """Write a file completely, unless it is here and whole; return its digest."""
        check_pdf(content)
        digest = digest_of(content)
        path = self.path(digest)
        if not path.is_file() or digest_of(path.read_bytes()) != digest:
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as stream:
                stream.write(content)
        return digest

    def read(self, digest: str) -> bytes:
        """Return a file; refuses one that is missing or has changed since it was added."""
        path = self.path(digest)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError("is missing; attach the file again", file=path) from error
        if digest_of(content) != digest:
            raise DataError("is damaged; attach the file again", file=path)
        return content

    def troubles(self, digests: Iterable[str] | None = None) -> list[str]:
        """Say which of these files, or of all in the folder, are missing or damaged."""
        if digests is None:
            digests = [path.stem for path in sorted(self.folder.glob("*.pdf"))]
        found = []
        for digest in digests:
            try:
                self.read(digest)
            except DataError as error:
                found.append(str(error))
        return found


def is_file_digest(value: object) -> bool:
    """Whether a value is the digest of a file."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def check_pdf(content: bytes) -> None:
    """Refuse what is too large or not a whole PDF."""
    if len(content) > MAX_PDF_BYTES:
        raise DataError(
            f"the file has {len(content):,} bytes, more than the {MAX_PDF_BYTES:,} allowed"
        )
    if _START not in content[:_NEAR_START]:
        raise DataError("the file is not a PDF")
    if _END not in content[-_NEAR_END:]:
        raise DataError("the file is a PDF that lacks its end")


def safe_name(name: str) -> str:
    r"""Return the name of a file without signs that cannot stand in one.

    Examples
    --------
    >>> safe_name("../trial\n.pdf"), safe_name("///")
    ('.. trial .pdf', 'full text.pdf')
    """
    kept = " ".join(_UNSAFE.sub(" ", name).split())[:_MAX_NAME]
    return kept or "full text.pdf"
