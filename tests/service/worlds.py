"""A service under test: a client per role, invented documents, and a replayed filter."""

import socket
import threading
import time
from contextlib import contextmanager

import numpy as np
import uvicorn
from fastapi.testclient import TestClient

from bayesift.filtering import FilterEngine, MemoryLog, ProfileState, Retrieved
from bayesift.filtering.engine import add_described, apply
from bayesift.records import Document
from bayesift.service import Service, ServiceSettings, app, create_app
from bayesift.service.filters import event_log
from bayesift.service.filters.event_log import Checkpoints, replay
from bayesift.service.filters.transfer import install_filter
from tests import forks  # noqa: F401
from tests.filtering.worlds import same_state

TOPICS = {
    "grain": [
        "wheat",
        "corn",
        "barley",
        "harvest",
        "tonnes",
        "exports",
        "crop",
        "farmers",
        "silo",
    ],
    "crude": [
        "oil",
        "barrel",
        "crude",
        "refinery",
        "drilling",
        "tanker",
        "opec",
        "pipeline",
        "gas",
    ],
    "ship": [
        "vessel",
        "port",
        "cargo",
        "strike",
        "harbour",
        "freight",
        "dockers",
        "captain",
        "sea",
    ],
}
COMMON = [
    "market",
    "said",
    "company",
    "year",
    "prices",
    "report",
    "week",
    "government",
    "trade",
    "new",
]


def text_about(topic, number):
    """Forty words, half of them of the topic; always the same for the same number."""
    rng = np.random.default_rng([list(TOPICS).index(topic), number])
    return " ".join([*rng.choice(TOPICS[topic], 20), *rng.choice(COMMON, 20), f"note{number}"])


def documents(start, stop):
    names = list(TOPICS)
    return [
        {
            "id": f"d{number}",
            "title": f"Report {number}",
            "text": text_about(names[number % 3], number),
        }
        for number in range(start, stop)
    ]


def is_about(topic, document):
    return list(TOPICS)[int(document.removeprefix("d")) % 3] == topic


class Clients:
    """Callers by role; each is a person of their own."""

    def __init__(self, service):
        self.service = service
        self._app = service.app
        self.anybody = TestClient(self._app, raise_server_exceptions=False)
        self.admin = self._with_token(service.first_token)
        self.ada = self.person("ada", "reviewer")
        self.bob = self.person("bob", "reviewer")
        self.reader = self.person("rita", "reader")

    def person(self, name, role):
        answer = self.admin.post("/api/users", json={"name": name, "role": role})
        assert answer.status_code == 201, answer.text
        return self._with_token(answer.json()["token"])

    def signed_in(self, token):
        """A browser: a session instead of a token."""
        client = TestClient(self._app, raise_server_exceptions=False)
        answer = client.post("/api/session", json={"token": token})
        assert answer.status_code == 200, answer.text
        return client, answer.json()

    def _with_token(self, token):
        headers = {"Authorization": f"Bearer {token}"}
        return TestClient(self._app, headers=headers, raise_server_exceptions=False)


@contextmanager
def running(folder, database=None, **options):
    """A service with its clients, closed at the end."""
    options.setdefault("shared", True)
    service = Service(ServiceSettings(folder=folder, database=database, **options))
    service.app = create_app(service)
    with TestClient(service.app):
        yield service


@contextmanager
def listening(service):
    """The address of a service that is already running, at a port of its own."""
    config = uvicorn.Config(service.app, lifespan="off", log_level="critical")
    config.http = app._ImpatientProtocol
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


class InputReplay:
    """An engine in memory that replays the inputs in the order of the log and decides itself."""

    def __init__(self):
        self.engine = FilterEngine()
        self.log = MemoryLog()
        self.seq = 0
        self.retrieved = []
        self._said = {}

    def follow(self, read):
        """Take in what the log has more."""
        rows = list(read.events(self.seq))
        arrived = [row.document for row in rows if row.kind == event_log.SEEN]
        texts = {
            name: Document(name, row.text, title=row.title)
            for name, row in read.documents(arrived).items()
        }
        others = read.documents({row.document for row in rows if row.kind == event_log.JUDGED})
        for place, row in enumerate(rows):
            assert row.seq == self.seq + 1
            self.seq = row.seq
            if row.kind == event_log.COUNTED:
                batch = [
                    r.document
                    for r in rows[place:]
                    if r.batch == row.batch and r.kind == event_log.SEEN
                ]
                events = self.engine.observe_many([texts[name] for name in batch])
                self.log.extend(events)
                logged = [
                    r
                    for r in rows[place:]
                    if r.batch == row.batch and r.kind == event_log.RETRIEVED
                ]
                assert [(e.profile, e.id, e.why, e.probability, e.gain) for e in events] == [
                    (
                        r.filter,
                        r.document,
                        *(r.payload[k] for k in ("why", "probability", "gain")),
                    )
                    for r in logged
                ]
            else:
                self.log.extend(self._act(row, others))

    def _act(self, row, others):
        engine, log, profile = self.engine, self.log, row.filter
        if row.kind == event_log.CREATED:
            add_described(engine, row.payload["definition"])
        elif row.kind == event_log.RETRIEVED and "words" in row.payload:
            vector = event_log.stored_vector(row.document, row.payload, engine.space)
            event = Retrieved(
                profile,
                vector,
                row.payload["why"],
                row.payload["probability"],
                row.payload["gain"],
            )
            apply(engine.profiles[profile], event, {})
            return [event]
        elif row.kind == event_log.IMPORTED:
            install_filter(engine, profile, row.payload["model"])
        elif row.kind == event_log.DELETED:
            engine.remove_profile(profile)
            log._events = [event for event in log._events if event.profile != profile]
            self._said = {key: said for key, said in self._said.items() if key[0] != profile}
        elif row.kind in (
            event_log.PAUSED,
            event_log.RESUMED,
            event_log.PUT_AWAY,
            event_log.RESTORED,
        ):
            changed = bool(row.payload["engine"])
            return (
                engine.pause(profile, row.kind in (event_log.PAUSED, event_log.PUT_AWAY))
                if changed
                else []
            )
        elif row.kind == event_log.TAUGHT:
            return engine.teach(profile, row.payload["word"], row.payload["strength"], log)
        elif row.kind == event_log.JUDGED:
            stored = others[row.document]
            said = self._said.setdefault((profile, row.document), {})
            said.pop(row.user, None)
            said[row.user] = row.payload["relevant"]
            document = Document(row.document, stored.text, title=stored.title)
            return engine.judge(profile, document, row.payload["relevant"], log)
        elif row.kind == event_log.TAKEN_BACK:
            said = self._said[profile, row.document]
            del said[row.user]
            if said:
                return engine.judge(profile, row.document, list(said.values())[-1], log)
            return engine.take_back(profile, row.document, log)
        return []


def same_filter(one, other):
    """Whether two engines are equal bit for bit: words, frequencies, profiles and their starts."""
    assert one.space.get_state()[0] == other.space.get_state()[0]
    assert one.space.get_state()[2] == other.space.get_state()[2]
    assert np.array_equal(one.space.frequencies, other.space.frequencies)
    assert list(one.profiles) == list(other.profiles)
    for name in one.profiles:
        assert same_state(
            ProfileState.of(one.profiles[name]), ProfileState.of(other.profiles[name])
        ), name
        assert same_state(one.starts[name], other.starts[name]), name
    return True


def is_whole(service):
    """Whether the log has no gap and the filter is what it says."""
    again = FilterEngine()
    with service.store.reading() as read:
        assert replay(again, read, Checkpoints()) == service.live.seq
    return same_filter(service.live.engine, again)
