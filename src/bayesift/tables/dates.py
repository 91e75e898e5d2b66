"""Dates as people write them in the cells of a table."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from email.utils import parsedate_to_datetime

_NUMERIC = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})\2(\d{4}|\d{2})"  # 31.12.2024, 12/31/24, 2024/12/31
    r"(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([AaPp])\.?[Mm]\.?)?)?"
)
_MONTH_NAME = re.compile(r"(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_FIRST_YEAR_OF_TWO_DIGITS = 1970
_DAYS_ARE_FIRST = "."  # 31.12.2024 has its day first wherever it is written


def read_iso(text: str) -> datetime.datetime:
    """Read a date of ISO 8601, or a year."""
    digits = text.removesuffix(".0")
    if digits.isdecimal() and len(digits) <= 4:
        return datetime.datetime(int(digits), 1, 1)
    return datetime.datetime.fromisoformat(text)


def read_dates(cells: Iterable[str | None]) -> list[datetime.datetime | None]:
    """Read the dates of a column, without time zones (UTC where a cell names one).

    These are ISO 8601, a year, numbers as in 31.12.2024 or 12/31/2024, or a date of a mail
    (RFC 2822). Cells such as 3/25/2024 decide whether 3/4/2024 is in March or in April; where none
    does, and where a cell is not a date, the result is None.

    Examples
    --------
    >>> [date and date.isoformat() for date in read_dates(["3/4/2024", "3/25/2024", "soon"])]
    ['2024-03-04T00:00:00', '2024-03-25T00:00:00', None]
    """
    given = list(cells)
    found = {cell: _read_cell(cell) for cell in dict.fromkeys(given)}
    numeric = {cell: date for cell, date in found.items() if isinstance(date, re.Match)}
    day_first = _is_day_first(list(numeric.values()))
    for cell, match in numeric.items():
        found[cell] = _read_numeric(match, day_first)
    return [found[cell] for cell in given]  # type: ignore[misc]


def _read_cell(cell: str | None) -> datetime.datetime | re.Match[str] | None:
    """Read one cell; numbers whose order the column tells come as they match."""
    text = (cell or "").strip()
    if not text:
        return None
    if match := _NUMERIC.fullmatch(text):
        return match
    try:
        if _MONTH_NAME.search(text):
            return _without_zone(parsedate_to_datetime(text))
        return _without_zone(read_iso(text))
    except (ValueError, OverflowError):
        return None


def _without_zone(date: datetime.datetime) -> datetime.datetime:
    if date.tzinfo is None:
        return date
    return date.astimezone(datetime.UTC).replace(tzinfo=None)


def _is_day_first(dates: list[re.Match[str]]) -> bool | None:
    """Whether the day is before the month; None if no date of the column tells, or they differ."""
    is_day_first = any(_is_day(date[1]) for date in dates)
    is_month_first = any(_is_day(date[3]) for date in dates if len(date[1]) < 3)
    if is_day_first == is_month_first:
        return None
    return is_day_first


def _is_day(digits: str) -> bool:
    return len(digits) < 3 and 12 < int(digits) <= 31


def _read_numeric(match: re.Match[str], day_first: bool | None) -> datetime.datetime | None:
    first, sign, second, last, hour, minute, seconds, half = match.groups()
    if sign == _DAYS_ARE_FIRST:
        day_first = True
    if len(first) == 4:
        year, month, day = first, second, last
    elif day_first is None:
        return None
    else:
        year = last
        day, month = (first, second) if day_first else (second, first)
    try:
        return datetime.datetime(
            _whole_year(year),
            int(month),
            int(day),
            _hour_of_day(int(hour or 0), half),
            int(minute or 0),
            int(seconds or 0),
        )
    except ValueError:
        return None


def _whole_year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year
    return _FIRST_YEAR_OF_TWO_DIGITS + (year - _FIRST_YEAR_OF_TWO_DIGITS) % 100


def _hour_of_day(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    return hour % 12 + (12 if half.lower() == "p" else 0)
