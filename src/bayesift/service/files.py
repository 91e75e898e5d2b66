"""Files that people send and download: headers and limits of archives."""

from __future__ import annotations

import io
import zipfile
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq

from bayesift.errors import DataError
from bayesift.service.errors import TooLargeError
from bayesift.tables.cells import guarded_cell as guarded_cell  # for the exports of filters

BYTES: dict[str, Any] = {"type": "string", "format": "binary"}
FILE_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": BYTES}},
    }
}
_MAX_UNPACKED_BYTES = 400 * 1024 * 1024


def attached(name: str) -> dict[str, str]:
    """Return the headers of a download."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


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
            parts = pq.read_metadata(io.BytesIO(content))
            groups = range(parts.num_row_groups)
            size = sum(parts.row_group(number).total_byte_size for number in groups)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise DataError("the file is damaged") from error
    if size > most:
        raise TooLargeError(f"the file unpacks to {size:,} bytes; at most {most:,} are allowed")
