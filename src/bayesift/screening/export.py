"""Write the records of a review to a file that people open in a spreadsheet or elsewhere."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bayesift.files import whole_file
from bayesift.references import Reference, write_references
from bayesift.references.tables import table_rows
from bayesift.tables.cells import guarded_cell

_SOUGHT = ("title", "abstract")  # columns that other programs look for by these names
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def export_references(references: Iterable[Reference], path: str | Path) -> None:
    """Write references to a file in the format of its suffix, completely or not at all.

    Cells of CSV and TSV files that a spreadsheet would run as a formula get a leading apostrophe;
    those of Excel files are texts.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "records.csv"
    >>> export_references([Reference(title="=1+1", year=2001)], path)
    >>> "'=1+1" in path.read_text()
    True
    """
    path = Path(path)
    references = map(_for_other_programs, references)
    delimiter = _DELIMITERS.get(path.suffix.lower())
    if delimiter is None:
        write_references(references, path)
        return
    columns, rows = table_rows(references)
    with whole_file(path, "w") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(map(guarded_cell, columns))
        for row in rows:
            writer.writerow(guarded_cell(row.get(name, "")) for name in columns)


def _for_other_programs(reference: Reference) -> Reference:
    """Return a record as its file had it, but for what ASReview and others do not read.

    That is lines between the records of RIS, fields before its type, and a table whose columns of
    titles and abstracts have names of their own.
    """
    fields = [pair for pair in reference.fields if pair[0]]
    if reference.format == "ris":
        fields.sort(key=lambda pair: pair[0].upper() != "TY")
    elif reference.format == "table":
        names = {name.strip().lower() for name, _ in fields}
        for name in _SOUGHT:
            if name not in names:
                fields.append((name, getattr(reference, name)))
    return replace(reference, fields=tuple(fields))
