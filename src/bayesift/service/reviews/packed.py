"""Records of new reviews in the form in which they are stored.

Packed, 80,000 records take some 30 MB; as references they take ten times as much. So the service
keeps what people sent packed, and only processes of `readers.py` unpack it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow.parquet as pq

from bayesift.errors import DataError
from bayesift.records import ReadingProblem
from bayesift.references import Reference, ReferenceList, SourceFile
from bayesift.screening.project import write_records, write_renumbered
from bayesift.service.errors import TooLargeError

MAX_RECORDS = 200_000


@dataclass(frozen=True)
class PackedRecords:
    """Records as they are stored, and what was found in their files.

    Parameters
    ----------
    content : as `write_records` writes it; empty if there are no records
    files : what was found in each file
    problems : what was not understood
    """

    content: bytes
    files: tuple[SourceFile, ...] = ()
    problems: tuple[ReadingProblem, ...] = ()

    @classmethod
    def of(cls, references: ReferenceList) -> PackedRecords:
        """Pack references, each a record of its own."""
        stream = io.BytesIO()
        if references:
            write_records(references, range(1, len(references) + 1), stream)
        return cls(stream.getvalue(), references.files, references.problems)

    def __len__(self) -> int:
        if not self.content:
            return 0
        n: int = pq.read_metadata(io.BytesIO(self.content)).num_rows
        return n


def together(parts: Sequence[PackedRecords]) -> PackedRecords:
    """Return the records of several files together; refuse none and too many."""
    files = tuple(chain.from_iterable(part.files for part in parts))
    problems = tuple(chain.from_iterable(part.problems for part in parts))
    n = sum(map(len, parts))
    check_number(n)
    sources = [io.BytesIO(part.content) for part in parts if part.content]
    stream = io.BytesIO()
    write_renumbered(sources, range(1, n + 1), stream)
    return PackedRecords(stream.getvalue(), files, problems)


def packed(references: Sequence[Reference], groups: Sequence[int]) -> bytes:
    """Pack the records of a review; refuse what cannot be screened.

    Parameters
    ----------
    references : as they were read
    groups : the number of the record that each belongs to
    """
    check_screenable(references)
    stream = io.BytesIO()
    write_records(references, groups, stream)
    return stream.getvalue()


def check_screenable(references: Sequence[Reference]) -> None:
    """Refuse no records, too many, and records without any text."""
    check_number(len(references))
    if not any(reference.text.strip() for reference in references):
        raise DataError("no record has a title or an abstract")


def check_number(n: int) -> None:
    """Refuse no records and too many."""
    if not n:
        raise DataError("there are no records to screen")
    if n > MAX_RECORDS:
        raise TooLargeError(f"a review may have {MAX_RECORDS:,} records, these are {n:,}")
