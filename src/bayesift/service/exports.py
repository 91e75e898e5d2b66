"""Files for people to take away: headers of a download, and cells that a spreadsheet does not run."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
# Spreadsheets skip white space and take full-width signs for plain ones.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")
_HARMLESS = re.compile(r"[+-]?[\w.:/-]+\Z", re.ASCII)  # a number or a name, such as an id


def guarded_cell(text: str) -> str:
    """A cell with an apostrophe in front if a spreadsheet would run it as a formula; numbers and ids stay as they are.

    Examples
    --------
    >>> [guarded_cell(text) for text in ("=1+1", "-2", "- a list", "plain")]
    ["'=1+1", '-2', "'- a list", 'plain']
    """
    return f"'{text}" if _FORMULA.match(text) and not _HARMLESS.match(text) else text


def attached(name: str) -> dict[str, str]:
    """The headers of a download."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def file_answer(media_type: str) -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes a download."""
    return {200: {"content": {media_type: {"schema": BYTES}}, "description": "The file."}}
