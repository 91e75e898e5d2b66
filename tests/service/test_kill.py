"""A real server killed at any moment: what was acknowledged is there, bit for bit."""

import json
import multiprocessing
import random
import threading
import time
import urllib.error
import urllib.request
from functools import partial

import pytest

from bayesift.references import read_references
from bayesift.screening import Project
from bayesift.service import Service, ServiceSettings, run
from bayesift.service.db.database import open_store
from bayesift.service.filters.snapshots import SnapshotFolder
from bayesift.service.live import LiveState
from bayesift.service.reviews.live import replayed
from tests.faults import built, run_preloaded
from tests.servers import free_port, new_database
from tests.service.test_reviews import ris
from tests.service.worlds import InputReplay, documents, is_about, same_filter

FILTERS = ("grain", "crude", "ship")


def serve(settings, port):
    run(Service(settings), host="127.0.0.1", port=port)


def serve_project(settings, port):
    """Serve the review of a project, as `bayesift screen --serve` does."""
    with Project(settings.folder.parent, writing=True) as project:
        service = Service(settings)
        service.mirror(project, "admin")
        run(service, host="127.0.0.1", port=port)


def delayed(target, delay, *arguments):
    """Let writes wait in this process, and in no other."""
    delay()
    target(*arguments)


class KilledServer:
    """A server in a process of its own, with people at work on it."""

    target = staticmethod(serve)

    def __init__(self, folder, database=None, delay=lambda: None, batch=20):
        self.settings = ServiceSettings(
            folder=folder,
            database=database,
            snapshot_every=300,
            requests_per_second=1e6,
            burst=10**6,
            shared=True,
        )
        service = Service(self.settings)
        self.token = service.first_token
        service.close()
        self.acknowledged = {}  # (profile, document) -> relevant
        self.decided = {}  # record of the review -> verdict
        self.review = None
        self.fed = []
        self.next_document = 0
        self._delay = delay
        self._batch = batch
        self._lock = threading.Lock()
        self._killed = threading.Event()

    def start(self):
        self.port = free_port()
        self._killed.clear()
        # A fork has everything imported already; what is killed is a process of its own all the
        # same.
        self.process = multiprocessing.get_context("fork").Process(
            target=delayed, args=(self.target, self._delay, self.settings, self.port)
        )
        self.process.start()
        for _ in range(6000):
            try:
                return self.ask("GET", "/healthz")
            except OSError:
                assert self.process.is_alive(), "the server did not start"
                time.sleep(0.05)
        raise AssertionError("the server did not come up")

    def ask(self, method, path, body=None):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read())

    def warm_up(self):
        """Compile the kernels first, which takes longer than the timeouts below."""
        rng = random.Random(0)
        self._feed(rng)
        self._judge(rng, share=0)
        self._screen(rng)

    @property
    def acts(self):
        """What people do at the same time."""
        return (
            self._feed,
            partial(self._judge, share=0),
            partial(self._judge, share=1),
            self._screen,
        )

    def begin(self):
        """Begin what people work on."""
        for name in FILTERS:
            self.ask(
                "POST", "/api/filters", {"name": name, "query": f"{name} wheat oil vessel"}
            )
        self.begin_review()
        self.warm_up()

    def work_until_killed(self, seconds):
        """Let all people work, and kill the server meanwhile."""
        people = [threading.Thread(target=self._work, args=(act,)) for act in self.acts]
        for person in people:
            person.start()
        time.sleep(seconds)
        self._killed.set()
        self.process.kill()
        for person in people:
            person.join()
        self.process.join()

    def _work(self, act):
        rng = random.Random(threading.get_ident())
        while True:
            try:
                act(rng)
            except urllib.error.HTTPError as error:
                error.close()
                if error.code not in (404, 409, 429):
                    raise
            except OSError:
                return
            except Exception:  # cut off in the middle of an answer
                if not self._killed.is_set():
                    raise
                return

    def _feed(self, rng):
        with self._lock:
            start, self.next_document = self.next_document, self.next_document + self._batch
        batch = documents(start, start + self._batch)
        self.ask("POST", "/api/documents/batch", {"documents": batch})
        self.fed += [document["id"] for document in batch]

    def _judge(self, rng, share):
        """Judge every second waiting document.

        Were two people at one document, the last judgement would not be known.
        """
        profile = rng.choice(FILTERS)
        queue = self.ask("GET", f"/api/filters/{profile}/queue?limit=10")
        waiting = [item["document"]["id"] for item in queue]
        waiting = [
            document for document in waiting if int(document.removeprefix("d")) % 2 == share
        ]
        for document in waiting:
            relevant = is_about(profile, document)
            if (profile, document) in self.acknowledged:
                continue
            self.ask(
                "POST",
                f"/api/filters/{profile}/judgements",
                {"document": document, "relevant": relevant},
            )
            self.acknowledged[profile, document] = relevant
        if rng.random() < 0.1 and waiting:
            document = waiting[0]
            del self.acknowledged[profile, document]
            self.ask("DELETE", f"/api/filters/{profile}/judgements/{document}")

    def begin_review(self):
        sent = self.ask("POST", "/api/uploads?name=a.ris", ris(0, 600))
        self.review = self.ask(
            "POST", "/api/reviews", {"name": "trade", "uploads": [sent["upload"]]}
        )["id"]

    def _screen(self, rng):
        found = self.ask("GET", f"/api/reviews/{self.review}/next")["record"]
        record = "1" if found is None else found["id"]
        verdict = rng.choice(["included", "excluded", "maybe"])
        self.ask(
            "POST",
            f"/api/reviews/{self.review}/decisions",
            {"record": record, "verdict": verdict},
        )
        self.decided[record] = verdict
        if rng.random() < 0.1:
            del self.decided[record]
            self.ask("POST", f"/api/reviews/{self.review}/undo", {})

    def _check_review(self, read):
        log = replayed(read, next(row for row in read.reviews() if row.id == self.review))
        held = {
            record: decisions["admin"].verdict for record, decisions in log.decisions.items()
        }
        assert self.decided.items() <= held.items()

    def check(self, inputs):
        """What was acknowledged is there, and the filter is what its inputs make of it."""
        with open_store(self.settings.folder, self.settings.database) as store:
            live = LiveState(store, SnapshotFolder(self.settings.folder, store.name))
            with store.reading() as read:
                for (profile, document), relevant in self.acknowledged.items():
                    (row,) = read.judgements(profile, [document])
                    assert row.relevant is relevant
                assert read.known(self.fed) == set(self.fed)
                if self.review is not None:
                    self._check_review(read)
                inputs.follow(read)
            assert same_filter(live.engine, inputs.engine)
            return live.seq


class MirroredServer(KilledServer):
    """A server of the review of a project; after a kill, people may work in the terminal."""

    target = staticmethod(serve_project)

    def __init__(self, folder, database=None, **options):
        records = folder.with_suffix(".ris")
        records.write_bytes(ris(0, 600))
        self.folder = folder
        self.noted = set()
        with Project.create(folder, read_references(records)) as project:
            self.id = project.id
        super().__init__(folder / "service", database, **options)

    @property
    def acts(self):
        return (self._screen,)

    def begin(self):
        self.review = self.id
        self._screen(random.Random(0))

    def check(self, inputs):
        with (
            Project(self.folder, writing=True) as project,
            open_store(self.settings.folder) as store,
            store.reading() as read,
        ):
            self._check_review(read)
            stored = replayed(read, read.review(self.review)).events
            assert project.events[: len(stored)] == stored
            self._check_project(project)
            self._work_in_the_terminal(project)
            return len(project.events)

    def _check_project(self, project):
        held = {
            record: given["admin"].verdict
            for record, given in project.decisions.items()
            if "admin" in given
        }
        assert self.decided.items() <= held.items()
        assert self.noted <= project._notes.keys()

    def _work_in_the_terminal(self, project):
        record = str(len(self.noted) + 1)
        project.append("note", by="ann", record=record, text="seen")
        self.noted.add(record)


def survive(server, kills, seed=0, seconds=(0.2, 2.0)):
    inputs = InputReplay()
    rng = random.Random(seed)
    for number in range(kills):
        server.start()
        if number == 0:
            server.begin()
        server.work_until_killed(rng.uniform(*seconds))
        events = server.check(inputs)
        print(
            f"kill {number + 1}: {events} events, {len(server.acknowledged)} judgements, "
            f"{len(server.fed)} documents, {len(server.decided)} decisions",
            flush=True,
        )
    assert server.decided


def test_nothing_acknowledged_is_lost(tmp_path, database):
    server = KilledServer(tmp_path / "service", database)
    survive(server, kills=3)
    assert server.acknowledged
    assert server.fed


def test_a_served_project_that_is_killed_loses_nothing_and_the_terminal_goes_on(tmp_path):
    server = MirroredServer(tmp_path / "review")
    survive(server, kills=3)
    server.start()
    server.process.terminate()
    server.process.join()
    server.check(None)


def kill_with_delays(tmp_path, kind, kills, seed, database=None):
    """Kill while every write waits for 0 to 100 ms."""
    library = built(tmp_path)
    arguments = [kind, library, tmp_path / "work", kills, seed]
    if database is not None:
        arguments.append(database)
    print(run_preloaded(library, "tests.service.killing", *arguments))


@pytest.mark.parametrize("kind", ["terminal", "serve"])
def test_killed_while_every_write_waits(tmp_path, kind):
    kill_with_delays(tmp_path, kind, kills=1, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["terminal", "serve", "service"])
def test_killed_again_and_again_while_every_write_waits(tmp_path, kind, seed):
    kill_with_delays(tmp_path, kind, kills=25, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_killed_again_and_again_on_postgresql_while_every_write_waits(tmp_path, seed, postgres):
    database = new_database(postgres)
    kill_with_delays(tmp_path, "service", kills=25, seed=seed, database=database)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_hundred_kills(tmp_path, part):
    survive(KilledServer(tmp_path / "service"), kills=25, seed=part)


def test_told_to_end_it_finishes_and_takes_a_snapshot(tmp_path):
    server, inputs = KilledServer(tmp_path), InputReplay()
    server.start()
    server.ask("POST", "/api/filters", {"name": "grain", "query": "wheat corn"})
    server.ask("POST", "/api/documents/batch", {"documents": documents(0, 50)})
    stream = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/filters/grain/retrieved/events",
        headers={"Authorization": f"Bearer {server.token}"},
    )
    with urllib.request.urlopen(stream, timeout=300) as events:
        assert events.readline() == b"retry: 2000\n"
        server.process.terminate()
        server.process.join(300)
        assert server.process.exitcode in (0, -15)
        assert b"retrieved" not in events.read()
    assert list((tmp_path / "snapshots").glob("*/*/latest"))
    server.check(inputs)
