"""The log is the truth: the filter made again from it is the same, bit for bit."""

import dataclasses

import numpy as np
import pytest

from bayesift.errors import DataError
from bayesift.filtering import FilterEngine
from bayesift.service.filters import event_log
from bayesift.service.filters.event_log import Checkpoints, replay
from bayesift.service.filters.snapshots import SnapshotFolder
from tests.service.worlds import Clients, InputReplay, documents, is_about, running, same_filter

NAMES = ("grain", "crude", "ship")


def live_a_while(clients, seed, steps=60):
    """Whatever people may do, in a random order."""
    rng = np.random.default_rng(seed)
    people = (clients.ada, clients.bob)
    next_document = 0
    for _ in range(steps):
        person, name = people[rng.integers(2)], NAMES[rng.integers(3)]
        act = rng.choice(
            ["feed", "judge", "judge", "undo", "teach", "profile", "pause"], p=PROBABILITIES
        )
        if act == "feed":
            n = int(rng.integers(1, 40))
            answer = person.post(
                "/api/documents/batch",
                json={"documents": documents(next_document, next_document + n)},
            )
            next_document += n
        elif act == "judge":
            waiting = person.get(f"/api/filters/{name}/queue?limit=3").json()
            if not isinstance(waiting, list) or not waiting:
                continue
            other = f"d{rng.integers(max(next_document, 1))}"
            chosen = waiting[0]["document"]["id"] if rng.random() < 0.8 else other
            body = {
                "document": chosen,
                "relevant": bool(is_about(name, chosen) ^ (rng.random() < 0.1)),
            }
            answer = person.post(f"/api/filters/{name}/judgements", json=body)
        elif act == "undo":
            said = person.get(f"/api/filters/{name}/judgements").json()
            if not isinstance(said, list) or not said:
                continue
            answer = person.delete(
                f"/api/filters/{name}/judgements/{said[rng.integers(len(said))]['document']}"
            )
        elif act == "teach":
            word = str(rng.choice(["wheat", "tanker", "cargo ships", "unheard"]))
            body = {"word": word, "strength": float(rng.choice([-1, 0, 0.5, 1]))}
            answer = person.post(f"/api/filters/{name}/words", json=body)
        elif act == "pause":
            answer = person.patch(
                f"/api/filters/{name}", json={"paused": bool(rng.integers(2))}
            )
        elif rng.random() < 0.2:
            answer = person.delete(f"/api/filters/{name}")
        else:
            body = {
                "name": name,
                "query": f"{name} wheat oil cargo",
                "examples": EXAMPLES if rng.random() < 0.5 else [],
                "words": {"harbour": 0.5} if rng.random() < 0.5 else {},
            }
            answer = person.post("/api/filters", json=body)
        assert answer.status_code < 500, answer.text


PROBABILITIES = [0.25, 0.2, 0.2, 0.1, 0.1, 0.1, 0.05]
EXAMPLES = [
    {"text": "wheat corn harvest", "relevant": True},
    {"text": "crude oil barrel", "relevant": False},
]


@pytest.mark.parametrize("seed", range(3))
def test_the_filter_is_what_its_log_says(tmp_path, database, seed, monkeypatch):
    monkeypatch.setattr(event_log, "CHECKPOINT_EVERY", 1 + 2 * seed)
    with running(
        tmp_path, database, snapshot_every=200, requests_per_second=1e6, burst=10**6
    ) as service:
        live_a_while(Clients(service), seed)
        again, inputs = FilterEngine(), InputReplay()
        with service.store.reading() as read:
            replay(again, read, Checkpoints())
            inputs.follow(read)
        assert inputs.seq == service.live.seq
        assert same_filter(service.live.engine, again)
        assert same_filter(service.live.engine, inputs.engine)
        before = service.live.engine
    with running(tmp_path, database) as service:
        assert same_filter(service.live.engine, before)
        assert service.live.seq == service.live.saved_seq


def filled(folder, **options):
    with running(
        folder, snapshot_every=50, requests_per_second=1e6, burst=10**6, **options
    ) as service:
        live_a_while(Clients(service), 5, steps=30)
        return service.live.engine, service.store.name


def test_a_damaged_snapshot_is_passed_over(tmp_path):
    before, name = filled(tmp_path)
    for file in (tmp_path / "snapshots" / name).glob("*/latest/arrays.safetensors"):
        file.write_bytes(file.read_bytes()[:-7] + b"garbage")
    with running(tmp_path) as service:
        assert same_filter(service.live.engine, before)


def test_a_snapshot_of_another_store_is_not_read_and_one_of_the_future_is_an_error(tmp_path):
    before, name = filled(tmp_path)
    with running(tmp_path) as service, service.store.reading() as read:
        assert SnapshotFolder(tmp_path, "another").load(read, Checkpoints())[1] == 0
    newest = max((tmp_path / "snapshots" / name).iterdir())
    newest.rename(newest.with_name(f"{10**9:016d}"))
    with pytest.raises(DataError, match="is newer than the log"), running(tmp_path):
        pass
    newest.with_name(f"{10**9:016d}").rename(newest.with_name(f"{int(newest.name) - 1:016d}"))
    with running(tmp_path) as service:
        assert same_filter(service.live.engine, before)


def test_without_snapshots_the_log_is_enough(tmp_path):
    import shutil

    before, _ = filled(tmp_path)
    shutil.rmtree(tmp_path / "snapshots")
    with running(tmp_path) as service:
        assert same_filter(service.live.engine, before)


def test_a_log_with_a_gap_is_refused(tmp_path):
    from sqlalchemy import text

    filled(tmp_path)
    import shutil

    from bayesift.service.db.database import open_store

    shutil.rmtree(tmp_path / "snapshots")
    with open_store(tmp_path) as store, store.writing() as tx:
        tx._connection.execute(text("DELETE FROM events WHERE seq = 3"))
    with pytest.raises(DataError, match="damaged"), running(tmp_path):
        pass


def test_after_a_purge_the_log_is_still_enough(tmp_path, database):
    import shutil

    with running(tmp_path, database, requests_per_second=1e6, burst=10**6) as service:
        clients = Clients(service)
        live_a_while(clients, 7)
        assert clients.admin.post("/api/retention", json={"keep": 0}).json()["purged"] > 0
        before = service.live.engine
    shutil.rmtree(tmp_path / "snapshots")
    with running(tmp_path, database) as service:
        assert same_filter(service.live.engine, before)


def test_a_log_from_before_keeps_how_it_splits_scripts_without_spaces(tmp_path, database):
    with running(tmp_path, database) as service:
        Clients(service).ada.post("/api/filters", json={"name": "grain", "query": "wheat 小麦"})
        with service.store.reading() as read:
            (created,) = [row for row in read.events(0) if row.kind == event_log.CREATED]
    assert created.payload["unspaced"] == "ngrams"
    for unspaced, words in (("ngrams", ["小", "麦", "小麦"]), ("words", ["小麦"])):
        engine = FilterEngine()
        payload = {"definition": created.payload["definition"]} | (
            {"unspaced": unspaced} if unspaced == "ngrams" else {}
        )
        event_log._LogReplay(engine, Checkpoints()).apply_row(
            dataclasses.replace(created, payload=payload)
        )
        assert engine.space.unspaced == unspaced
        assert [
            word for word in engine.space.words_of(range(len(engine.space))) if word != "wheat"
        ] == words
