"""Read files that people send in processes of their own.

A file may be made to take hours or all memory. The process that reads it has limits of time and
memory and is killed when it exceeds one, so that others notice nothing. A process is forked from a
server that has the readers imported, which takes milliseconds; it ends with the service, even if
that is killed.

What a process reads comes back in files of a temporary folder, as Parquet and JSON: nothing of it
is unpickled. The functions that run there are in `readers.py`.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

from bayesift.errors import DataError
from bayesift.service.errors import TooLargeError, UnavailableError

Answer = TypeVar("Answer")
Reader = Callable[[str, Path, Path], None]

_READERS = "bayesift.service.readers"
_ERROR = "error.json"
_PROCESSES = multiprocessing.get_context("forkserver")
_TOO_MUCH_MEMORY = 3  # exit code
_TRUSTED_TIMES = 10  # as long as a file of unknown content may take


class ReadingProcesses:
    """Starts processes that read files, and ends those that exceed a limit.

    Parameters
    ----------
    seconds : until a process is killed
    memory : bytes that it may take
    """

    def __init__(self, seconds: float, memory: int) -> None:
        self._seconds = seconds
        self._memory = memory
        self._lock = threading.Lock()
        self._running: set[BaseProcess] = set()
        self._closed = False

    def warm_up(self) -> None:
        """Start the server that processes are forked from, without waiting for it."""
        _PROCESSES.set_forkserver_preload(["__main__", _READERS])
        forkserver.ensure_running()

    def read(
        self,
        reader: Reader,
        name: str,
        content: bytes,
        take: Callable[[Path], Answer],
        *,
        trusted: bool = False,
    ) -> Answer:
        """Read a file that a person named so; return what `take` makes of the files it gives.

        Parameters
        ----------
        reader : of `readers.py`; it gets the name, the file and a folder for what it reads
        name, content : of the file
        take : gets that folder, which is deleted afterwards
        trusted : whether the file was made here, so that memory is not limited, and time only so
            that a process ends some day
        """
        with tempfile.TemporaryDirectory(prefix="bayesift-") as place:
            file = Path(place) / "file"
            file.write_bytes(content)
            folder = Path(place) / "read"
            folder.mkdir()
            memory = None if trusted else self._memory
            seconds = self._seconds * (_TRUSTED_TIMES if trusted else 1)
            self._run((reader, name, file, folder, memory, seconds))
            _raise_error(folder)
            return take(folder)

    def close(self) -> None:
        """Kill what still reads; nothing is read any more."""
        with self._lock:
            self._closed = True
            for process in self._running:
                process.kill()

    def _run(self, arguments: tuple[Reader, str, Path, Path, int | None, float]) -> None:
        """Run `_work` in a process."""
        _, name, *_, seconds = arguments
        process = _PROCESSES.Process(target=_work, args=arguments, daemon=True)
        with self._lock:
            if self._closed:
                raise UnavailableError("the service is shutting down")
            self.warm_up()
            process.start()
            self._running.add(process)
        try:
            process.join(seconds)
            is_late = process.is_alive()
            process.kill()
            process.join()
            code = process.exitcode
        finally:
            with self._lock:
                self._running.discard(process)
            process.close()
        if is_late or code == -signal.SIGXCPU:
            raise TooLargeError(f"{name}: takes more than {seconds:g} s to read")
        if code:  # a library that gets no memory may end the process
            raise TooLargeError(f"{name}: takes too much memory to read")


def _work(
    reader: Reader, name: str, file: Path, folder: Path, memory: int | None, seconds: float
) -> None:
    """Read a file within limits; runs in the process."""
    threading.Thread(target=_die_with_the_service, daemon=True).start()
    cpu = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        most = _data_bytes() + memory
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        reader(name, file, folder)
    except DataError as error:
        kind = "too large" if isinstance(error, TooLargeError) else "data"
        values = {
            "kind": kind,
            "message": error.message,
            "file": None if error.file is None else str(error.file),
            "line": error.line,
        }
        (folder / _ERROR).write_text(json.dumps(values))
    except (MemoryError, RecursionError):
        os._exit(_TOO_MUCH_MEMORY)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        (folder / _ERROR).write_text(
            json.dumps({"kind": "data", "message": f"{name}: cannot be read"})
        )


def _forget_server() -> None:
    """Forget the server of the process that this one was forked from.

    `multiprocessing` would wait for it as for a child of its own, and fail.
    """
    forkserver._forkserver.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_forget_server)


def _raise_error(folder: Path) -> None:
    if (folder / _ERROR).exists():
        error = json.loads((folder / _ERROR).read_text())
        kind = TooLargeError if error["kind"] == "too large" else DataError
        raise kind(error["message"], file=error.get("file"), line=error.get("line"))


def _die_with_the_service() -> None:
    """Wait for the end of the service, and end this process then."""
    service = multiprocessing.parent_process()
    assert service is not None
    service.join()
    os._exit(1)


def _data_bytes() -> int:
    """Return the bytes of memory that this process has already."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
