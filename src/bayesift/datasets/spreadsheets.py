"""Spreadsheets of Excel and LibreOffice, read by calamine; cells become text as the sheet shows them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from bayesift.errors import DataError, RequestError
from bayesift.records import Note

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def read_sheet(
    source: Path | BinaryIO, sheet: str | None = None, *, file: Path
) -> tuple[list[tuple[int, list[str]]], list[Note]]:
    """The rows of one sheet that are not blank, each with its number, and which sheet was taken if there are several.

    Parameters
    ----------
    source : the file
    sheet : its name, or its number from 1; by default the first that holds anything
    file : the name of the file in errors
    """
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        content = source.read_bytes() if isinstance(source, Path) else source.read()
        book = CalamineWorkbook.from_filelike(BytesIO(content))
        names = book.sheet_names
        chosen = next(_filled(book, names), names[0] if names else "") if sheet is None else _named(sheet, names, file)
        cells = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
    except CalamineError as error:
        raise DataError(f"cannot be read as a spreadsheet ({error})", file=file) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", file=file) from error
    rows = [(number, [_as_text(cell) for cell in row]) for number, row in enumerate(cells, 1)]
    others = [name for name in names if name != chosen]
    notes = (
        [Note("sheet", repr(chosen), f"the others: {', '.join(map(repr, others[:4]))}", "--sheet")] if others else []
    )
    return [(number, row) for number, row in rows if any(row)], notes if sheet is None else []


def _filled(book: Any, names: list[str]) -> Iterator[str]:
    return (name for name in names if book.get_sheet_by_name(name).height > 0)


def _named(sheet: str, names: list[str], file: Path) -> str:
    if sheet in names:
        return sheet
    if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise RequestError(f"no sheet {sheet!r}; there are: {', '.join(map(repr, names))}", file=file)


def _as_text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else str(cell)
