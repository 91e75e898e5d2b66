"""Downloads of public corpora: resumed, checked by SHA-256, moved into place in one step."""

from __future__ import annotations

import hashlib
import http.client
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bayesift.errors import DataError

ATTEMPTS = 4
TIMEOUT_SECONDS = 30.0
CHUNK_BYTES = 1 << 16

_NOT_SATISFIABLE = 416
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})

Progress: TypeAlias = Callable[["RemoteFile", int, int | None], None]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a corpus: its path in the data directory, address and published checksum."""

    path: str
    url: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file in place.

    `verified` says whether its checksum is the published one, None if none is published.
    """

    path: Path
    sha256: str
    downloaded: bool
    verified: bool | None


class _InterruptedError(Exception):
    """A temporary failure, worth another attempt."""


def fetch(
    files: Iterable[RemoteFile],
    directory: Path,
    progress: Progress = lambda file, done, total: None,
    *,
    pause: Callable[[float], None] = time.sleep,
) -> list[FetchedFile]:
    """Download files into a directory, except those that are present.

    A download is written to `NAME.part` and resumed after an interruption.
    """
    fetched = []
    for file in files:
        target = directory / file.path
        downloaded = not target.exists()
        if downloaded:
            try:
                _fetch_file(file, target, progress, pause)
            except OSError as error:
                raise DataError(
                    f"cannot be written ({error.strerror or error})", file=target
                ) from error
        digest = _sha256(target)
        verified = None if file.sha256 is None else digest == file.sha256
        fetched.append(FetchedFile(target, digest, downloaded, verified))
    return fetched


def _fetch_file(
    file: RemoteFile, target: Path, progress: Progress, pause: Callable[[float], None]
) -> None:
    if not file.url.startswith(("https://", "http://")):
        raise DataError(f"{file.url} is neither http nor https; refused")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _download(file, part, progress)
            break
        except _InterruptedError as error:
            if attempt == ATTEMPTS:
                message = (
                    f"was interrupted {ATTEMPTS} times ({error}); run it again to go on "
                    "from there"
                )
                raise DataError(f"{file.url} {message}") from error
            pause(2.0 ** (attempt - 1))
    digest = _sha256(part)
    if file.sha256 is not None and digest != file.sha256:
        part.unlink()
        raise DataError(
            f"{file.url} has SHA-256 {digest}, where {file.sha256} is expected; it was discarded"
        )
    part.replace(target)


def _download(file: RemoteFile, part: Path, progress: Progress) -> None:
    """Resume the download of a file until it is complete."""
    done = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "bayesift"} | ({"Range": f"bytes={done}-"} if done else {})
    request = urllib.request.Request(file.url, headers=headers)  # noqa: S310 - http(s), checked by the caller
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            if response.status != http.client.PARTIAL_CONTENT:
                done = 0
            total = None if response.length is None else done + response.length
            done = _receive(response, part, done, lambda count: progress(file, count, total))
    except urllib.error.HTTPError as error:
        _check_status(file, error, part, done)
        return
    except urllib.error.URLError as error:
        _check_failure(file, error.reason)
        return
    except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
        raise _InterruptedError(error) from error
    if total is not None and done < total:
        raise _InterruptedError(f"{done:,} of {total:,} bytes came")


def _receive(
    response: http.client.HTTPResponse, part: Path, done: int, progress: Callable[[int], None]
) -> int:
    with part.open("ab" if done else "wb") as stream:
        progress(done)
        while chunk := response.read(CHUNK_BYTES):
            stream.write(chunk)
            done += len(chunk)
            progress(done)
    return done


def _check_status(
    file: RemoteFile, error: urllib.error.HTTPError, part: Path, done: int
) -> None:
    """Return if the response means that the file is complete, else raise."""
    with error:
        if error.code == _NOT_SATISFIABLE and done:
            size = re.fullmatch(r"bytes \*/(\d+)", error.headers.get("Content-Range", ""))
            if size is not None and int(size[1]) == done:
                return
            part.unlink()
            raise _InterruptedError("what was there did not fit; starting afresh") from error
        if error.code in _TRANSIENT_STATUS:
            raise _InterruptedError(f"HTTP {error.code} {error.reason}") from error
        raise DataError(
            f"{file.url} cannot be fetched: HTTP {error.code} {error.reason}"
        ) from error


def _check_failure(file: RemoteFile, reason: str | BaseException) -> None:
    if isinstance(reason, socket.gaierror):
        raise DataError(f"{file.url} cannot be reached; is there a network?")
    if isinstance(reason, TimeoutError | ConnectionResetError | ConnectionAbortedError):
        raise _InterruptedError(reason)
    raise DataError(
        f"{file.url} cannot be reached ({getattr(reason, 'strerror', None) or reason})"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
