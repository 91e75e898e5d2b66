"""What readers of files share: bytes, encodings, lines, bad records, unique ids."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from bayesift.errors import DataError
from bayesift.records import Corpus, Document, Note, ReadingProblem

UTF_8 = "utf-8"

# Encodings without a mark, as the spreadsheets and mail programs of each language write them.
_LEGACY = [
    "cp1252",
    "cp1250",
    "cp1251",
    "koi8_r",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp874",
    "gb18030",
    "big5",
    "cp932",
    "euc_jp",
    "cp949",
    "mac_roman",
]
# The letters beyond ASCII of some languages; encodings by how common they are in files.
_WESTERN = (
    "àâäçèéêëîïñóôöü",  # loan words and names in English
    "äöüßé",
    "àâæçèéêëîïôœùûüÿ",
    "áéíñóúü",
    "àáâãçéêíóôõú",
    "àèéìíîòóùú",
    "äåéö",
    "åæéø",
    "áæéíðóöúýþ",
)
_ALPHABETS = {
    "cp1252": _WESTERN,
    "latin-1": _WESTERN,  # every byte is a character of it
    "cp1250": (
        "óąćęłńśźż",
        "áéíóúýčďěňřšťůž",
        "áéíóöúüőű",
        "áäéíóôúýčďĺľňŕšťž",
        "ćčđšž",
        "âîăşţ",
    ),
    "cp1257": ("ąčėęįšūųž", "āčēģīķļņšūž", "äõöüšž"),
    "cp1254": ("âçîöüğış",),
    "mac_roman": _WESTERN,
}
# What stands for a letter: letters, and signs within a word, which a wrong encoding makes of them.
_INNER = re.compile(
    r"[^\W\d_a-z¹²³¼½¾ªº]|"
    r"(?<=[^\W\d_])(?:[¹²³]|[^\w\s!-/:-@\[-`{-~\u00ab\u00b7\u00bb\u2013-\u201d\u2026])(?=[^\W\d_])"
)
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 1 << 16
_BEYOND_ASCII = bytes(range(128, 256))
_HALF = re.compile("[\ud800-\udfff]")


def check_encoding(encoding: str) -> str:
    """Return the codec of an encoding, which skips a leading byte order mark.

    An unknown name is refused.
    """
    try:
        "a".encode(encoding)  # refuses codecs that are not of text, such as hex
        codec = codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise DataError(
            f"unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252"
        ) from error
    if codec == UTF_8:
        return "utf-8-sig"
    return codec


def guess_encoding(blocks: Iterable[bytes]) -> str:
    r"""Guess the encoding of a text in blocks, which are read up to the first bytes that tell.

    A byte order mark tells; then NUL bytes at every other position (UTF-16); then bytes outside of
    ASCII, which are hardly ever valid UTF-8 by accident. Where they are not UTF-8, charset-
    normalizer compares what other encodings make of these lines.

    Examples
    --------
    >>> guess_encoding([b"plain"]), guess_encoding(["café".encode()])
    ('utf-8', 'utf-8')
    >>> guess_encoding(["Le café était fermé".encode("latin-1")])
    'cp1252'
    """
    rest = b""
    for number, block in enumerate(blocks):
        if number == 0 and (told := _by_mark(block)):
            return told
        if not block.isascii():
            return _by_bytes(rest + block)
        rest = block[-4:]
    return UTF_8


def _by_mark(head: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    pairs = head[: len(head) // 2 * 2][:4096]
    even = pairs[::2].count(0)
    odd = pairs[1::2].count(0)
    if max(even, odd) > len(pairs) // 8 > 1 and min(even, odd) == 0:
        if even:
            return "utf-16-be"
        return "utf-16-le"
    return None


def _by_bytes(sample: bytes) -> str:
    # The block may end within a character, which the decoder keeps back.
    valid = codecs.getincrementaldecoder(UTF_8)("surrogateescape").decode(sample)
    damaged = len(_HALF.findall(valid))
    if damaged == 0:
        return UTF_8
    whole = len(valid) - len(sample.translate(None, _BEYOND_ASCII)) - damaged
    # One bad byte among many good characters is damage; it is reported where it is found.
    if whole > damaged:
        return UTF_8
    return _by_words(sample)


def _by_words(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    telling = b"\n".join(line for line in sample.splitlines() if not line.isascii())[
        :_SAMPLE_BYTES
    ]
    matches = list(from_bytes(telling, cp_isolation=_LEGACY))
    if not matches:
        return _by_letters(telling)
    best = matches[0]
    for match in matches:
        # A few words of Latin script are often as good in another script.
        level = match.chaos <= best.chaos and match.coherence >= best.coherence - 0.06
        if level and not _ALPHABETS.keys().isdisjoint(match.could_be_from_charset):
            return _by_letters(telling)
    return best.encoding


def _by_letters(sample: bytes) -> str:
    """Choose among the encodings of the Latin script: the first whose letters fit a language best.

    They differ in few letters, which too few words tell for a statistical guess.
    """
    shares = {}
    for encoding, alphabets in _ALPHABETS.items():
        try:
            letters = _INNER.findall(sample.decode(encoding).lower())
        except UnicodeDecodeError:
            continue
        known = max(sum(letter in alphabet for letter in letters) for alphabet in alphabets)
        shares[encoding] = known / len(letters) if letters else 1.0
    return max(shares, key=shares.__getitem__)


def decode(content: bytes, encoding: str, *, file: str | Path) -> str:
    r"""Decode a whole file; an error names the line."""
    try:
        return content.decode(check_encoding(encoding))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = (
            f"cannot be decoded as {encoding} (byte {content[error.start]:#04x}); name the "
            "right one with --encoding"
        )
        raise DataError(message, file=file, line=line) from error


def describe_damage(text: str, encoding: str) -> str | None:
    r"""Describe what is damaged in a text: bytes that could not be decoded, or NUL bytes.

    None if nothing is.
    """
    if "\0" in text:
        return f"holds a NUL byte; is it really {encoding} text?"
    if text.isascii():
        return None
    damaged = _HALF.search(text)
    if damaged is None:
        return None
    if "\udc80" <= damaged[0] <= "\udcff":
        return f"cannot be decoded as {encoding} (byte {ord(damaged[0]) - 0xDC00:#04x})"
    return f"holds half a character (\\u{ord(damaged[0]):04x})"


COMPRESSIONS = (".gz", ".zst")
STDIN = Path("<stdin>")

PARQUET = (".parquet", ".pq")
ZIPPED = b"PK\x03\x04"  # first bytes of a zip archive, such as a spreadsheet
OLE = b"\xd0\xcf\x11\xe0"  # first bytes of a spreadsheet of before 2007

_HEAD_BYTES = 1 << 18
_BLOCK_BYTES = 1 << 20
_MAX_MEMBER_BYTES = 4 * 1024**3


EMPTY_DOCUMENT = "empty document"


@dataclass
class ProblemLog:
    """Collects the problems of one source.

    Unless it is to skip bad records, the first one is raised. Documents without text are always
    skipped.
    """

    skip: bool = False
    problems: list[ReadingProblem] = field(default_factory=list)

    def report(self, message: str, *, file: str | Path, line: int | None = None) -> None:
        """Raise a DataError, or add the problem to the list for the caller to skip the record."""
        if not self.skip and message != EMPTY_DOCUMENT:
            raise DataError(f"{message}; --skip-bad leaves it out", file=file, line=line)
        self.leave_out(message, file=file, line=line)

    def leave_out(self, message: str, *, file: str | Path, line: int | None = None) -> None:
        """Add a problem that is never a reason to refuse the source."""
        self.problems.append(ReadingProblem(str(file), line, message))


_PROGRESS_STEP = 1000
_progress: ContextVar[Callable[[int], None] | None] = ContextVar(
    "reading_progress", default=None
)


@contextmanager
def reading_progress(progress: Callable[[int], None]) -> Iterator[None]:
    """Report the number of documents read so far, whatever the loader."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def report_read(done: int, step: int = _PROGRESS_STEP) -> None:
    """Report every so many documents, or files of a folder."""
    report = _progress.get()
    if report is not None and done % step == 0:
        report(done)


class DocumentList:
    """The documents of one file; a duplicate id is reported with both lines."""

    def __init__(self, path: Path, log: ProblemLog) -> None:
        self.path = path
        self.log = log
        self.documents: list[Document] = []
        self._lines: dict[str, int] = {}

    def add(self, document: Document, line: int, *, file: Path | None = None) -> None:
        """Add a document, unless its id is empty or a duplicate."""
        if is_new_id(self._lines, document.id, line, self.log, file or self.path):
            self.documents.append(document)
            report_read(len(self.documents))

    def corpus(
        self, *, name: str, categories: Iterable[str] | None = None, notes: Iterable[Note] = ()
    ) -> Corpus:
        """Make a corpus of these documents; a file without documents is refused."""
        refuse_empty(len(self.documents), self.log, self.path)
        if categories is None:
            categories = categories_of(self.documents)
        problems = tuple(self.log.problems)
        notes = tuple(notes)
        return Corpus(
            tuple(self.documents), tuple(categories), name=name, problems=problems, notes=notes
        )


def is_new_id(lines: dict[str, int], name: str, line: int, log: ProblemLog, file: Path) -> bool:
    """Whether an id is neither empty nor among those of the lines before, which it joins.

    Else it is reported.
    """
    if not name:
        log.report("empty id", file=file, line=line)
    elif name in lines:
        log.report(
            f"duplicate id {name[:80]!r}, first on line {lines[name]}", file=file, line=line
        )
    else:
        lines[name] = line
        return True
    return False


def refuse_empty(n_documents: int, log: ProblemLog, path: Path) -> None:
    """Refuse a source without documents."""
    if not n_documents:
        if log.problems and all(p.message == EMPTY_DOCUMENT for p in log.problems):
            raise DataError("holds no text: every document is empty", file=path)
        skipped = f"; records skipped: {len(log.problems):,}" if log.problems else ""
        raise DataError(f"holds no documents{skipped}", file=path)


def categories_of(documents: Iterable[Document]) -> tuple[str, ...]:
    """Collect the categories of documents, sorted."""
    return tuple(
        sorted({category for document in documents for category in document.categories})
    )


def bare_suffix(path: Path) -> str:
    """Return the suffix of the format, without that of a compression: ".csv" of "news.CSV.gz"."""
    if path.suffix.lower() == ".zip" and (member := only_member(path)) is not None:
        path = Path(member.filename)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    if suffixes:
        return suffixes[-1]
    return ""


def only_member(path: Path) -> zipfile.ZipInfo | None:
    """Return the only file of a zip archive without folders; None for any other archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if not m.filename.startswith("__MACOSX/")]
    except (OSError, zipfile.BadZipFile):
        return None
    if len(members) == 1 and "/" not in members[0].filename:
        return members[0]
    return None


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed by its last suffix; every failure is a DataError."""
    if path.is_dir():
        raise DataError("is a folder, where a file is expected", file=path)
    if not path.exists():
        raise DataError("no such file", file=path)
    try:
        with path.open("rb") as raw, closing(_decompress(path, raw)) as stream:
            yield stream
    except (EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"damaged compressed file ({error})", file=path) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", file=path) from error


def _decompress(path: Path, raw: BinaryIO) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if path.suffix.lower() == ".zst":
        import pyarrow

        return cast(BinaryIO, io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd")))
    if path.suffix.lower() == ".zip" and (member := only_member(path)) is not None:
        if member.file_size > _MAX_MEMBER_BYTES:
            raise DataError(
                f"unpacks to more than {_MAX_MEMBER_BYTES:,} bytes; refused", file=path
            )
        try:
            return cast(BinaryIO, zipfile.ZipFile(raw).open(member))
        except (
            RuntimeError
        ) as error:  # encrypted, or compressed in a way that zipfile does not know
            raise DataError(f"cannot be unpacked ({error})", file=path) from error
    return raw


@dataclass(frozen=True)
class Source:
    """A file or stream that was looked at once, and is handed on to whatever reads it.

    Parameters
    ----------
    path : the file, or the name of the stream
    head : the first bytes
    encoding : of the text: the one that was given, else the one that was guessed
    suffix : of the format, without that of a compression; a stream has none
    is_whole : whether `head` is all there is, so that the file need not be opened again
    stream : the stream, after its head
    """

    path: Path
    head: bytes
    encoding: str
    suffix: str = ""
    is_whole: bool = False
    stream: BinaryIO | None = None

    @classmethod
    def of(
        cls, source: Path | BinaryIO, encoding: str | None = None, *, live: bool = False
    ) -> Source:
        """Look at a file or stream; of a live stream only the first bytes that come are awaited."""
        if not isinstance(source, Path):
            read = getattr(source, "read1", source.read) if live else source.read
            head = read(_HEAD_BYTES)
            if encoding is None:
                encoding = UTF_8 if _is_binary(head, "") else guess_encoding([head])
            return cls(STDIN, head, encoding, stream=source)
        suffix = bare_suffix(source)
        with open_bytes(source) as stream:
            head = stream.read(_HEAD_BYTES)
            is_whole = len(head) < _HEAD_BYTES
            if encoding is None and _is_binary(head, suffix):
                encoding = UTF_8
            elif encoding is None:
                # One block decides where it has bytes outside of ASCII, so blocks stay as large.
                first = head if is_whole else head + stream.read(_BLOCK_BYTES - _HEAD_BYTES)
                rest = iter(partial(stream.read, _BLOCK_BYTES), b"")
                encoding = guess_encoding(chain([first], rest))
        return cls(source, head, encoding, suffix, is_whole)

    @property
    def is_binary(self) -> bool:
        """Whether it is a spreadsheet or a Parquet file, and not text."""
        return _is_binary(self.head, self.suffix)

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the bytes from the start; a stream can be read once."""
        if self.stream is not None:
            return nullcontext(
                cast(BinaryIO, io.BufferedReader(Rejoined(self.head, self.stream)))
            )
        if self.is_whole:
            return nullcontext(io.BytesIO(self.head))
        return open_bytes(self.path)


def _is_binary(head: bytes, suffix: str) -> bool:
    return suffix in PARQUET or head.startswith((ZIPPED, OLE, b"PAR1"))


class Rejoined(io.RawIOBase):
    """A stream with its first bytes put back."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read what is there."""
        data = self._first[: len(buffer)] or (
            self._rest.read1(len(buffer))
            if hasattr(self._rest, "read1")
            else self._rest.read(len(buffer))
        )
        self._first = self._first[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def read_lines(
    path: Path, encoding: str = "utf-8", *, newline: str = "\n", stream: BinaryIO | None = None
) -> Iterator[str]:
    r"""Yield the lines of a file with their ends.

    A byte that cannot be decoded becomes a lone surrogate, which `describe_damage` reports; no line
    is dropped.
    """
    codec = check_encoding(encoding)
    count = 0
    with open_bytes(path) if stream is None else nullcontext(stream) as source:
        text = io.TextIOWrapper(source, codec, errors="surrogateescape", newline=newline)
        try:
            for line in text:
                count += 1
                yield line
        except UnicodeError as error:
            message = (
                f"from here on cannot be decoded as {encoding} ({error.args[-1]}); name the "
                "right one with --encoding"
            )
            raise DataError(message, file=path, line=count + 1) from error
        finally:
            if not source.closed:
                text.detach()  # the caller closes the stream
