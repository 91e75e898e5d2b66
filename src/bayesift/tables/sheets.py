"""Read the rows of a spreadsheet: the sheet that holds the table, whichever place it has."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from bayesift.errors import DataError, RequestError
from bayesift.records import Note
from bayesift.tables.columns import SAMPLE_ROWS, Columns, label_candidates
from bayesift.tables.rows import NamesColumns, guess_header, name_columns

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

_MIN_WORDS = 2  # of a cell that is text, and not a name or a number
_MAX_LISTED = 4  # other sheets

Records = list[tuple[int, list[str]]]  # rows that are not blank, each with its number


def read_sheet(
    source: Path | BinaryIO,
    sheet: str | None = None,
    *,
    file: Path,
    wanted: Columns | None = None,
    names_columns: NamesColumns | None = None,
) -> tuple[Records, list[Note]]:
    """Read the rows of a sheet that are not blank, each with its number, and note the sheet taken.

    Parameters
    ----------
    source : the file
    sheet : its name, or its number from 1; by default the one that has the columns, or else most
        looks like a table of texts and labels. Hidden sheets are the last choice
    file : the name of the file in errors
    wanted : the columns that are looked for
    names_columns : whether the cells of a row are the header that is looked for
    """
    from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

    try:
        content = source.read_bytes() if isinstance(source, Path) else source.read()
        book = CalamineWorkbook.from_filelike(BytesIO(content))
        names = book.sheet_names
        if sheet is not None:
            return _read(book, _named(sheet, names, file)), []
        sheets = {name: _read(book, name) for name in names}
        visible = SheetVisibleEnum.Visible
        shown = {meta.name for meta in book.sheets_metadata if meta.visible == visible}
    except (CalamineError, ValueError) as error:
        if isinstance(error, RequestError):
            raise
        raise DataError(f"cannot be read as a spreadsheet ({error})", file=file) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", file=file) from error
    if not sheets:
        return [], []
    if len(sheets) == 1:
        return next(iter(sheets.values())), []
    ranks = {
        name: (
            bool(records),
            names_columns is not None and _has_header(records, names_columns),
            name in shown,
            *_rank(records, wanted or Columns()),
        )
        for name, records in sheets.items()
    }
    chosen = max(ranks, key=ranks.__getitem__)
    others = [repr(name) for name in names if name != chosen]
    listed = ", ".join(others[:_MAX_LISTED]) + (", ..." if len(others) > _MAX_LISTED else "")
    return sheets[chosen], [Note("sheet", repr(chosen), f"the others: {listed}", "--sheet")]


def _read(book: Any, name: str) -> Records:
    cells = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    rows = ((number, [_as_text(cell) for cell in row]) for number, row in enumerate(cells, 1))
    return [(number, row) for number, row in rows if any(map(str.strip, row))]


def _has_header(records: Records, names_columns: NamesColumns) -> bool:
    return any(names_columns(record) for _, record in records[:SAMPLE_ROWS])


def _rank(records: Records, wanted: Columns) -> tuple[bool, bool, int]:
    """Rank a sheet: whether it has the columns of texts and of labels, and how many texts.

    Of sheets whose names tell both, the first is as good as the others.
    """
    sample = [record for _, record in records[:SAMPLE_ROWS]]
    has_header, above, _ = guess_header(sample)
    if not has_header or len(sample) < above + 2:
        return False, False, _count_texts(sample)
    names, _ = name_columns(sample[above])
    rows = [dict(zip(names, record, strict=True)) for record in sample[above + 1 :]]
    has_text = wanted.are_told_by(names, labels=False)
    if wanted.are_told_by(names):
        return True, True, 0
    has_label = len(rows) > 1 and bool(label_candidates(names, rows))
    return has_text, has_label and len(names) > 1, _count_texts(sample[above + 1 :])


def _count_texts(records: Sequence[Sequence[str]]) -> int:
    """Count the rows with text in the column that has the most."""
    counts = [0]
    for column in zip(*records, strict=True):
        counts.append(sum(len(cell.split()) >= _MIN_WORDS for cell in column))
    return max(counts)


def _named(sheet: str, names: list[str], file: Path) -> str:
    if sheet in names:
        return sheet
    if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise RequestError(
        f"no sheet {sheet!r}; there are: {', '.join(map(repr, names))}", file=file
    )


def _as_text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)
