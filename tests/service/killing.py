"""Kill a service, a terminal or a served project while each of their writes waits for a while.

python -m tests.service.killing service|terminal|serve LIBRARY FOLDER KILLS SEED [DATABASE]

runs in a process with the library of `tests.faults` preloaded; what is killed is a fork of it.
"""

import ctypes
import os
import random
import re
import signal
import sys
import time
from functools import partial
from pathlib import Path

from bayesift.cli import main as run_command
from bayesift.references import read_references
from bayesift.screening import Project
from tests.service.test_kill import KilledServer, MirroredServer, survive
from tests.service.test_reviews import ris

DELAY_MILLISECONDS = 100
SECONDS = (0.5, 4.0)  # of work before a kill
N_RECORDS = 2_000


def kill_terminal(folder, kills, seed, delay):
    """Decide in the terminal, line by line, and kill it."""
    rng = random.Random(seed)
    folder.mkdir()
    (folder / "a.ris").write_bytes(ris(0, N_RECORDS))
    review = folder / "review"
    Project.create(review, read_references(folder / "a.ris")).close()
    decided = set()
    for number in range(kills):
        decided |= _screen_and_kill(review, delay, rng.uniform(*SECONDS))
        with Project(review) as project:
            assert decided <= project.decisions.keys()
        print(f"kill {number + 1}: {len(decided)} decisions", flush=True)
    assert decided


def _screen_and_kill(review, delay, seconds):
    """Return the records whose decision was answered by the next record."""
    from_terminal, output = os.pipe()
    keys, to_terminal = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(from_terminal)
        os.close(to_terminal)
        os.dup2(keys, 0)
        os.dup2(output, 1)
        sys.stdin = os.fdopen(0)
        sys.stdout = os.fdopen(1, "w", buffering=1)
        delay()
        run_command(["screen", str(review), "--plain", "--reviewer", "ann", "-q"])
    os.close(output)
    os.close(keys)
    decided = set()
    killed_at = None
    with os.fdopen(from_terminal, errors="replace") as shown:
        record = None
        for line in shown:
            found = re.match(r"\[(\d+)\] ", line)
            if found is None:
                continue
            if record is not None:
                decided.add(record)
            record = found[1]
            if killed_at is None:
                killed_at = time.monotonic() + seconds
            if time.monotonic() > killed_at:
                os.write(to_terminal, b"include\n")
                time.sleep(random.uniform(0, 0.2))  # in the middle of the next decision
                break
            os.write(to_terminal, b"include\n")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(to_terminal)
    return decided


def main():
    kind, path, place, kills, seed, *database = sys.argv[1:]
    folder = Path(place)
    library = ctypes.CDLL(path)
    library.faults_delay.argtypes = [ctypes.c_char_p, ctypes.c_int]
    delay = partial(library.faults_delay, str(folder).encode(), DELAY_MILLISECONDS)
    if kind == "terminal":
        kill_terminal(folder, int(kills), int(seed), delay)
        return
    server = {"service": KilledServer, "serve": MirroredServer}[kind]
    running = server(folder, *database, delay=delay, batch=4)
    survive(running, int(kills), int(seed), SECONDS)


if __name__ == "__main__":
    main()
