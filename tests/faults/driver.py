"""Let every write of a project, or of a service on it, fail once, and check what is left.

python -m tests.faults.driver project|service LIBRARY FOLDER EVERY

runs in a process with the library preloaded. Each life is a fork of it: it works on a copy of the
same folder, and tells by a pipe what was acknowledged. EVERY takes only every so many writes.
"""

import ctypes
import errno
import json
import logging
import os
import shutil
import sys
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path

from bayesift.errors import BayesiftError, DataError
from bayesift.records import Document
from bayesift.references import Reference, ReferenceList
from bayesift.screening import Project, is_project
from bayesift.screening.merging import merge_logs
from bayesift.screening.review_log import Event
from bayesift.service import Service, ServiceSettings
from bayesift.service.db.database import open_store
from bayesift.service.filters import operations
from bayesift.service.filters.snapshots import SnapshotFolder
from bayesift.service.live import LiveState
from bayesift.service.reviews.live import Decide, perform, replayed
from tests import forks  # noqa: F401

N_RECORDS = 6
WAYS = (
    ("EIO once", errno.EIO, 0),
    ("full from then on", errno.ENOSPC, 1),
    ("written in part, then full", errno.ENOSPC, 2),
)
RECORDS = ReferenceList(
    tuple(Reference(title=f"Corn {n}", abstract=f"Of drug {n}") for n in range(N_RECORDS))
)


def screen(folder, say):
    """What the terminal does: begin, decide, merge."""
    with Project.create(folder / "review", RECORDS) as project:
        for number in range(1, N_RECORDS + 1):
            with suppress(DataError):
                given = {"by": "ann", "record": str(number), "verdict": "included"}
                project.append("decide", **given)
                say("decided", str(number))
            if number == N_RECORDS // 2:
                other = [Event("note", "2026-01-01T08:00Z", "ben", "1", {"text": "seen"})]
                with suppress(DataError):
                    project.extend(merge_logs(project, other, "ann").here)
                    say("noted", "1")


def serve(folder, say):
    """What `bayesift screen --serve` and the filters of a service do, without HTTP."""
    with Project(folder / "review", writing=True) as project:
        service = Service(
            ServiceSettings(folder=folder / "review" / "service", snapshot_every=15)
        )
        service.mirror(project, "ann")
        do = partial(_do, service)
        for number in range(1, N_RECORDS + 1):
            document = Document(f"d{number}", f"corn and wheat {number}")
            arrivals = operations.Arrivals.of([document], service.live.engine.space)
            if do(partial(operations.observe, arrivals=arrivals)):
                say("observed", document.id)
            judged = partial(
                operations.judge, name="grain", document=document.id, relevant=number % 2 == 0
            )
            if do(judged):
                say("judged", document.id)
            command = Decide(record=str(number), verdict="included")
            if do(partial(perform, review=project.id, command=command)):
                say("decided", str(number))
        service.close()


def _do(service, operation):
    try:
        service.writer.submit("ann", operation).result()
    except BayesiftError:
        return False
    return True


def prepare(folder, kind):
    """Make the folder that every life begins with."""
    folder.mkdir()
    if kind == "service":
        Project.create(folder / "review", RECORDS).close()
        service = Service(ServiceSettings(folder=folder / "review" / "service"))
        definition = {"name": "grain", "query": "corn wheat"}
        service.writer.submit(
            "ann", partial(operations.create_filter, definition=definition)
        ).result()
        service.close()


def check(folder, kind, acknowledged):
    """What was acknowledged is there when the folder is opened again."""
    if not is_project(folder / "review"):
        assert not acknowledged
        Project.create(folder / "review", RECORDS).close()
    with Project(folder / "review", writing=True) as project:
        decided = set(project.decisions)
        noted = set(project._notes)
        events = project.events
    with Project(folder / "review") as project:
        assert project.events == events
        assert project.note == ""
    found = {("decided", record) for record in decided} | {("noted", r) for r in noted}
    if kind == "service":
        place = folder / "review" / "service"
        with open_store(place) as store, store.reading() as read:
            LiveState(store, SnapshotFolder(place, store.name))
            found |= {("observed", name) for name in read.documents(f"d{n}" for n in range(9))}
            found |= {("judged", row.document) for row in read.judgements("grain")}
            row = read.review(project.id)
            if row is not None:
                served = set(replayed(read, row).decisions)
                missing = {r for what, r in acknowledged if what == "decided"} - served
                assert not missing, f"lost in the database: {missing}"
    lost = set(acknowledged) - found
    assert not lost, f"lost: {lost}"


def live(kind, library, folder, *, at, error, mode):
    """Work in a process of its own; return what was acknowledged, and the number of writes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 0

        def say(*words):
            os.write(writing, json.dumps(words).encode() + b"\n")

        try:
            library.faults_arm(str(folder).encode(), at, error, mode)
            {"project": screen, "service": serve}[kind](folder, say)
        except BayesiftError:
            pass  # what cannot even be opened acknowledges nothing
        except BaseException:
            traceback.print_exc()
            code = 1
        say("writes", library.faults_count())
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as stream:
        told = [tuple(json.loads(line)) for line in stream]
    _, status = os.waitpid(child, 0)
    assert status == 0, f"write {at}: ended with {status}"
    return told[:-1], told[-1][1]


def main():
    kind, path, place, every = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    library = ctypes.CDLL(path)
    library.faults_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
    library.faults_count.restype = ctypes.c_long
    whole = Path(place) / "whole"
    prepare(whole, kind)
    work = Path(place) / "work"
    shutil.copytree(whole, work)
    everything, n_writes = live(kind, library, work, at=0, error=0, mode=0)
    check(work, kind, everything)
    assert len(everything) >= N_RECORDS
    lives = 0
    n_acknowledged = 0
    for at in range(1, n_writes + 1, int(every)):
        for name, error, mode in WAYS:
            shutil.rmtree(work)
            shutil.copytree(whole, work)
            acknowledged, _ = live(kind, library, work, at=at, error=error, mode=mode)
            try:
                check(work, kind, acknowledged)
            except Exception as trouble:
                raise AssertionError(f"write {at}, {name}: {trouble}") from trouble
            lives += 1
            n_acknowledged += len(acknowledged)
    print(json.dumps({"writes": n_writes, "lives": lives, "acknowledged": n_acknowledged}))


if __name__ == "__main__":
    main()
