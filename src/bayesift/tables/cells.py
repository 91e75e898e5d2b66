"""Cells of files for spreadsheets: texts that would be run as formulas are kept as texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Spreadsheets skip white space and take full-width signs for plain ones.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r]")
_HARMLESS = re.compile(r"[+-]?[\w.:/-]+\Z", re.ASCII)  # a number or a name, such as an id
# What Arrow looks for: at least what `_FORMULA` matches.
_PERHAPS_FORMULA = (
    r"^[\s\v\x1c-\x1f\x{85}\p{Z}]*[=+\-@\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]|^[\t\r]"
)


def guarded_cell(text: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run as a formula.

    Numbers and ids stay as they are.

    Examples
    --------
    >>> [guarded_cell(text) for text in ("=1+1", "-2", "- a list", "plain")]
    ["'=1+1", '-2', "'- a list", 'plain']
    """
    return f"'{text}" if _FORMULA.match(text) and not _HARMLESS.match(text) else text


def guarded_column(column: pa.Array) -> pa.Array:
    """Guard the cells of a column of texts; other columns stay as they are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> guarded_column(pa.array(["=1+1", None, "-2"])).to_pylist()
    ["'=1+1", None, '-2']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    if not pc.any(pc.match_substring_regex(column, _PERHAPS_FORMULA)).as_py():
        return column
    cells = [None if text is None else guarded_cell(text) for text in column.to_pylist()]
    return pa.array(cells, kind)
