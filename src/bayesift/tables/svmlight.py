"""Read term vectors in LIBSVM and SVMlight files, and pairs as in LYRL2004 files.

A block of lines is checked by one regular expression and parsed by one NumPy call, so that no
Python object is made for a pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesift.arrays import SparseRows
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.tables.loading import ProblemLog, Source, categories_of, open_bytes

SUFFIXES = (".svm", ".svmlight", ".libsvm")
BLOCK_LINES = 20_000
_SAMPLE_LINES = 20
MAX_TERM = 2**31 - 2

_NUMBER = rb"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_LINE = rb"[ \t]*+(?:\d{1,10}:" + _NUMBER + rb"(?:[ \t]++|(?=[\r\n]|\Z)))*+\r?"
_PAIRS = re.compile(_LINE)
_BLOCK = re.compile(rb"(?:" + _LINE + rb"\n)*+")
_LABELS = re.compile(rb"[-+.\w]+(?:,[-+.\w]+)*")
_NUMBERS = re.compile(_NUMBER + rb"(?:," + _NUMBER + rb")*")
_QUERY = re.compile(rb"\s*qid:\d+")


@dataclass(frozen=True)
class PairBlock:
    """The pairs of some lines: their number per line, and all terms and weights."""

    counts: NDArray[np.int64]
    terms: NDArray[np.int64]
    weights: NDArray[np.float64]


def parse_pairs(lines: Sequence[bytes]) -> PairBlock | None:
    """Parse lines of pairs, or return None when one of them is not well formed.

    The terms of a line must ascend.
    """
    content = b"\n".join(lines) + b"\n"
    if _BLOCK.fullmatch(content) is None:
        return None
    counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
    numbers = np.fromstring(
        content.replace(b":", b" ").decode("ascii"), dtype=np.float64, sep=" "
    )
    terms = numbers[::2].astype(np.int64)
    ascends = np.diff(terms) > 0
    line_starts = np.cumsum(counts)[:-1]
    ascends[line_starts[(line_starts > 0) & (line_starts < len(terms))] - 1] = True
    if not ascends.all() or (terms > MAX_TERM).any():
        return None
    return PairBlock(counts, terms, numbers[1::2])


def describe_pairs(line: bytes) -> str:
    """Describe what is wrong with a line that `parse_pairs` refuses."""
    for pair in line.split():
        if _PAIRS.fullmatch(pair) is None:
            return f"not a term:weight pair: {pair[:40].decode('latin-1')!r}"
    return f"terms must ascend and be at most {MAX_TERM:,}"


def read_blocks(source: Path | Source) -> Iterator[tuple[int, list[bytes]]]:
    r"""Yield (number of the first line, lines) of a file in blocks."""
    number = 1
    with open_bytes(source) if isinstance(source, Path) else source.open() as stream:
        while block := list(islice(stream, BLOCK_LINES)):
            yield number, block
            number += len(block)


def stack_blocks(
    blocks: Sequence[PairBlock], *, first_term: int, columns: int | None = None
) -> SparseRows:
    """Stack blocks into a matrix; `first_term` is the term number of the first column."""
    counts = np.concatenate([block.counts for block in blocks])
    indices = np.concatenate([block.terms for block in blocks]) - first_term
    weights = np.concatenate([block.weights for block in blocks])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    if columns is None:
        columns = int(indices.max(initial=-1)) + 1
    narrow = np.int32 if indptr[-1] < 2**31 else np.int64
    return sparse.csr_array(
        (weights, indices.astype(narrow), indptr.astype(narrow)), shape=(len(counts), columns)
    )


def holds_vectors(source: Source) -> bool:
    """Whether a file holds vectors, by its suffix or else by its first lines.

    Examples
    --------
    >>> from io import BytesIO
    >>> [holds_vectors(Source.of(BytesIO(line))) for line in (b"+1 3:0.5 7:1", b"open 9:30")]
    [True, False]
    """
    if source.suffix in SUFFIXES:
        return True
    lines = source.head.splitlines()[:_SAMPLE_LINES]
    if not source.is_whole and len(lines) > 1 and source.stream is None:
        del lines[-1]  # it may go on after the head
    parsed = [_split_line(line) for line in lines]
    parsed = [(labels, pairs) for labels, pairs in parsed if labels or pairs]
    numbers = b",".join(labels for labels, _ in parsed if labels)
    # Times of the day look like pairs, but hardly ever stand alone on each line.
    is_plain = not numbers and all(pairs.count(b":") < 2 for _, pairs in parsed)
    are_numbers = not numbers or _NUMBERS.fullmatch(numbers) is not None
    if not parsed or is_plain or not are_numbers:
        return False
    vectors = parse_pairs([pairs for _, pairs in parsed])
    return vectors is not None and len(vectors.terms) > 0


def load_svmlight(
    path: str | Path | Source,
    *,
    zero_based: bool | Literal["auto"] = "auto",
    skip_bad: bool = False,
) -> Corpus:
    r"""Load term vectors, with one label or several ("1,3") per line.

    The id of a document is its line number. Comments (#) and query ids (qid:) are ignored.

    Parameters
    ----------
    path : the file
    zero_based : whether the terms of the file are numbered from 0, so that each is the number of
        its column; "auto" takes 1 for the first unless a term 0 occurs. Files that belong together
        should be read alike
    skip_bad : skip lines that cannot be read and list them in `problems`, instead of refusing the
        file
    """
    source = Path(path) if isinstance(path, str) else path
    path = source if isinstance(source, Path) else source.path
    log = ProblemLog(skip=skip_bad)
    documents: list[Document] = []
    blocks: list[PairBlock] = []
    for first, lines in read_blocks(source):
        parsed = [(first + i, *_split_line(line)) for i, line in enumerate(lines)]
        parsed = [
            (number, labels, pairs) for number, labels, pairs in parsed if labels or pairs
        ]
        block = parse_pairs([pairs for _, _, pairs in parsed])
        if block is None or not all(_is_label(labels) for _, labels, _ in parsed):
            parsed = _keep_good(parsed, path, log)
            block = parse_pairs([pairs for _, _, pairs in parsed])
        assert block is not None  # every line that is left was parsed on its own
        blocks.append(block)
        documents += [
            Document(str(n), "", categories=_categories(labels)) for n, labels, _ in parsed
        ]
    if not documents:
        raise DataError("holds no documents", file=path)
    categories = categories_of(documents)
    if zero_based == "auto":
        smallest = [int(block.terms.min()) for block in blocks if len(block.terms)]
        zero_based = min(smallest, default=1) == 0
    vectors = stack_blocks(blocks, first_term=0 if zero_based else 1)
    return Corpus(
        tuple(documents), categories, path.name, vectors=vectors, problems=tuple(log.problems)
    )


def _split_line(line: bytes) -> tuple[bytes, bytes]:
    """Split a line into labels and pairs; a line that starts with a space or pair has no labels."""
    content = line.partition(b"#")[0].rstrip()
    labels, _, pairs = content.replace(b"\t", b" ").partition(b" ")
    if b":" in labels:
        labels = b""
        pairs = content
    if b"qid:" in pairs:
        pairs = _QUERY.sub(b"", pairs, count=1)
    return labels, pairs


def _is_label(labels: bytes) -> bool:
    return not labels or _LABELS.fullmatch(labels) is not None


def _categories(labels: bytes) -> tuple[str, ...]:
    names = (name.removeprefix("+") for name in labels.decode("utf-8", "replace").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _keep_good(
    parsed: list[tuple[int, bytes, bytes]], path: Path, log: ProblemLog
) -> list[tuple[int, bytes, bytes]]:
    good = []
    for number, labels, pairs in parsed:
        if not _is_label(labels):
            shown = labels[:40].decode("latin-1")
            log.report(
                f"not a label, nor several with commas: {shown!r}", file=path, line=number
            )
        elif parse_pairs([pairs]) is None:
            log.report(describe_pairs(pairs), file=path, line=number)
        else:
            good.append((number, labels, pairs))
    return good
