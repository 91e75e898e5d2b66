"""Files that people send and download: headers and limits of archives."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from bayesift.errors import DataError
from bayesift.service.errors import TooLargeError
from bayesift.tables.cells import guarded_cell
from bayesift.tables.rows import decoded_bytes

BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
FILE_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": BYTES}},
    }
}
_MAX_UNPACKED_BYTES = 400 * 1024 * 1024
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}  # by the first bytes
_PIECE_BYTES = 1 << 20


def attached(name: str) -> dict[str, str]:
    """Return the headers of a download."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def shown(name: str) -> dict[str, str]:
    """Return the headers of a file that the browser shows."""
    return {"Content-Disposition": f"inline; filename*=UTF-8''{quote(name, safe='')}"}


def csv_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    r"""Yield the lines of a CSV table; a cell that a spreadsheet would run is guarded.

    Examples
    --------
    >>> "".join(csv_lines(["text", "relevant"], [{"text": "=1+1", "relevant": True}]))
    "text,relevant\r\n'=1+1,true\r\n"
    """
    line = io.StringIO()
    writer = csv.writer(line)
    for cells in chain([columns], ([row.get(name) for name in columns] for row in rows)):
        writer.writerow([guarded_cell(_cell_text(cell)) for cell in cells])
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def file_answer(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Describe a download for OpenAPI."""
    return {200: {"content": {media_type: {"schema": BYTES}}, "description": "The file."}}


def check_unpacked(content: bytes, most: int = _MAX_UNPACKED_BYTES) -> None:
    """Refuse a file that would take far more memory than it has bytes."""
    size = 0
    try:
        if content.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
        elif content.startswith(b"PAR1"):
            size = decoded_bytes(io.BytesIO(content))
        elif kind := _COMPRESSIONS.get(content[:2]):
            with pa.CompressedInputStream(pa.BufferReader(content), kind) as stream:
                while size <= most and (piece := stream.read(_PIECE_BYTES)):
                    size += len(piece)
    except (zipfile.BadZipFile, pa.ArrowException, ValueError, RuntimeError, OSError) as error:
        raise DataError("the file is damaged") from error
    if size > most:
        raise TooLargeError(f"the file unpacks to more than the {most:,} bytes allowed")
