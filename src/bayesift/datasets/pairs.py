"""Lines of `term:weight` pairs, the layout of LYRL2004 and SVMlight files, parsed in bulk.

A block of lines is checked by one regular expression and turned into numbers by one NumPy call, so
that the cost is per byte and no Python object is made for a pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayesift.datasets.lines import open_bytes

BLOCK_LINES = 20_000
MAX_TERM = 2**31 - 2

_NUMBER = rb"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_LINE = rb"[ \t]*+(?:\d{1,10}:" + _NUMBER + rb"(?:[ \t]++|(?=[\r\n]|\Z)))*+\r?"
_PAIRS = re.compile(_LINE)
_BLOCK = re.compile(rb"(?:" + _LINE + rb"\n)*+")


@dataclass(frozen=True)
class PairBlock:
    """The pairs of some lines: how many each line has, and all terms and weights in a row."""

    counts: NDArray[np.int64]
    terms: NDArray[np.int64]
    weights: NDArray[np.float64]


def parse_pairs(lines: Sequence[bytes]) -> PairBlock | None:
    """Parse lines of pairs, or return None when one of them is not well formed.

    The terms of a line must ascend.

    Examples
    --------
    >>> block = parse_pairs([b"3:0.5 7:1", b"", b"2:4e-1"])
    >>> block.counts.tolist(), block.terms.tolist(), block.weights.tolist()
    ([2, 0, 1], [3, 7, 2], [0.5, 1.0, 0.4])
    >>> parse_pairs([b"3:0.5 7;1"]) is None
    True
    """
    content = b"\n".join(lines) + b"\n"
    if _BLOCK.fullmatch(content) is None:
        return None
    counts = np.array([line.count(b":") for line in lines], dtype=np.int64)
    numbers = np.fromstring(content.replace(b":", b" ").decode("ascii"), dtype=np.float64, sep=" ")
    terms = numbers[::2].astype(np.int64)
    ascends = np.diff(terms) > 0
    line_starts = np.cumsum(counts)[:-1]
    ascends[line_starts[(line_starts > 0) & (line_starts < len(terms))] - 1] = True
    if not ascends.all() or (terms > MAX_TERM).any():
        return None
    return PairBlock(counts, terms, numbers[1::2])


def describe_pairs(line: bytes) -> str:
    """Say what is wrong with a line that `parse_pairs` refuses.

    Examples
    --------
    >>> describe_pairs(b"3:0.5 7;1")
    "not a term:weight pair: '7;1'"
    """
    for pair in line.split():
        if _PAIRS.fullmatch(pair) is None:
            return f"not a term:weight pair: {pair[:40].decode('latin-1')!r}"
    return f"terms must ascend and be at most {MAX_TERM:,}"


def read_blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    r"""Yield (number of the first line, lines) of a file, some thousands at a time.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "vectors.dat"
    ...     _ = file.write_bytes(b"1 3:0.5\n2 7:1\n")
    ...     list(read_blocks(file))
    [(1, [b'1 3:0.5\n', b'2 7:1\n'])]
    """
    number = 1
    with open_bytes(path) as stream:
        while block := list(islice(stream, BLOCK_LINES)):
            yield number, block
            number += len(block)


def stack_blocks(blocks: Sequence[PairBlock], *, first_term: int, columns: int | None = None) -> sparse.csr_array:
    """Put blocks under one another; `first_term` is the number of the first column's term.

    Examples
    --------
    >>> block = parse_pairs([b"1:0.5 3:1"])
    >>> stack_blocks([block], first_term=1).toarray()
    array([[0.5, 0. , 1. ]])
    """
    counts = np.concatenate([block.counts for block in blocks])
    indices = np.concatenate([block.terms for block in blocks]) - first_term
    weights = np.concatenate([block.weights for block in blocks])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    if columns is None:
        columns = int(indices.max(initial=-1)) + 1
    narrow = np.int32 if indptr[-1] < 2**31 else np.int64
    return sparse.csr_array((weights, indices.astype(narrow), indptr.astype(narrow)), shape=(len(counts), columns))
