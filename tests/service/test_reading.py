"""Files are read in processes of their own, which are killed when they exceed a limit."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from bayesift.errors import DataError
from bayesift.service.errors import TooLargeError, UnavailableError
from bayesift.service.reading import ReadingProcesses
from tests.service.worlds import Clients, running

RIS = b"TY  - JOUR\nTI  - Corn\nAB  - A trial.\nER  - \n"
LIMIT = 200 * 2**20


def echo(name, file, folder):
    (folder / "answer").write_bytes(file.read_bytes() + name.encode())


def loop_forever(name, file, folder):
    Path(name).write_text(str(os.getpid()))
    while True:
        pass


def loop_at(place, name, file, folder):
    loop_forever(place, file, folder)


def take_all_memory(name, file, folder):
    kept = []
    while True:
        kept.append(bytearray(2**24))


def die(name, file, folder):
    os.abort()


def refuse(name, file, folder):
    raise DataError("holds no records", line=3)


def fail(name, file, folder):
    raise KeyError("a secret")


def read(reader, name="a.ris", seconds=60, content=b"corn"):
    processes = ReadingProcesses(seconds, LIMIT)
    return processes.read(
        reader, name, content, lambda folder: (folder / "answer").read_bytes()
    )


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_is_read_comes_back():
    assert read(echo) == b"corna.ris"


def test_a_process_that_takes_too_long_is_killed(tmp_path):
    file = tmp_path / "pid"
    with pytest.raises(TooLargeError, match="more than 5 s to read"):
        read(loop_forever, str(file), seconds=5)
    # On a busy machine it may be killed before it began to read.
    assert not (file.exists() and is_alive(int(file.read_text())))


@pytest.mark.parametrize("reader", [take_all_memory, die])
def test_a_process_that_takes_too_much_memory_ends(reader):
    with pytest.raises(TooLargeError, match=r"a\.ris: takes too much memory to read"):
        read(reader)


def test_errors_come_back_in_one_sentence(capfd):
    with pytest.raises(DataError, match="holds no records") as refused:
        read(refuse)
    assert refused.value.line == 3
    with pytest.raises(DataError, match=r"a\.ris: cannot be read") as failed:
        read(fail)
    assert "secret" not in str(failed.value)


def test_what_still_reads_is_killed_at_the_end(tmp_path):
    processes = ReadingProcesses(600, LIMIT)
    file = tmp_path / "pid"
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(processes.read, loop_forever, str(file), b"", Path)
        wait_until(lambda: file.exists() and file.read_text())
        processes.close()
        with pytest.raises(TooLargeError):
            reading.result(60)
    assert not is_alive(int(file.read_text()))
    with pytest.raises(UnavailableError):
        processes.read(echo, "a", b"", Path)


def read_and_tell(place):
    Path(place).write_bytes(read(echo))


def test_a_forked_process_reads_too(tmp_path):
    read(echo)
    forked = multiprocessing.get_context("fork").Process(
        target=read_and_tell, args=(str(tmp_path / "answer"),)
    )
    forked.start()
    forked.join()
    assert (tmp_path / "answer").read_bytes() == b"corna.ris"


def wait_until(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


SERVICE = """
import sys
from bayesift.service.reading import ReadingProcesses
from tests.service.test_reading import loop_forever
if __name__ == "__main__":
    ReadingProcesses(600, 2**28).read(loop_forever, sys.argv[1], b"", str)
"""


def test_a_process_ends_with_a_service_that_is_killed(tmp_path):
    file = tmp_path / "pid"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SERVICE, str(file)]
    with subprocess.Popen(command, env=environment) as service:
        wait_until(lambda: file.exists() and file.read_text())
        service.kill()
    wait_until(lambda: not is_alive(int(file.read_text())))


@pytest.mark.parametrize(
    "path",
    ["/api/uploads", "/api/documents/read", "/api/reviews/project", "/api/filters/import"],
)
def test_every_file_that_is_sent_is_read_within_limits(tmp_path, path):
    with running(tmp_path, reading_seconds=0.001) as service:
        answer = Clients(service).ada.post(f"{path}?name=a.ris", content=RIS)
        assert answer.status_code == 413
        assert "to read" in answer.json()["detail"]


def test_others_work_while_a_file_is_read(tmp_path, monkeypatch):
    with running(tmp_path) as service:
        clients = Clients(service)
        slow = partial(loop_at, str(tmp_path / "pid"))
        monkeypatch.setattr("bayesift.service.readers.read_records", slow)
        monkeypatch.setattr(service._reading, "_seconds", 8)
        sending = threading.Thread(
            target=clients.ada.post,
            args=("/api/uploads?name=a.ris",),
            kwargs={"content": RIS},
        )
        sending.start()
        wait_until((tmp_path / "pid").exists)
        assert (
            clients.bob.post("/api/documents/read?name=a.ris", content=RIS).status_code == 200
        )
        assert clients.bob.get("/healthz").status_code == 200
        assert sending.is_alive()
        sending.join()
