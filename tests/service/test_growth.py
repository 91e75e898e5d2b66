"""What a stream leaves behind: memory and disk are bounded by settings, and nothing is lost."""

import pytest
from sqlalchemy import text

from bayesift.errors import DataError
from bayesift.filtering import FilterEngine
from bayesift.service.db.database import open_store
from bayesift.service.db.integrity import pack, unpack
from bayesift.service.db.tables import json_text
from bayesift.service.filters import document_routes, operations
from bayesift.service.filters.event_log import Checkpoints, replay
from tests.service.worlds import Clients, documents, is_about, running, same_filter

FREE = {"requests_per_second": 1e6, "burst": 10**6}
GRAIN = {"name": "grain", "query": "wheat corn barley harvest"}


def feed(clients, start, stop):
    body = {"documents": documents(start, stop)}
    answer = clients.ada.post("/api/documents/batch", json=body)
    assert answer.status_code == 200, answer.text


def queue(clients, limit=100):
    found = clients.ada.get(f"/api/filters/grain/queue?limit={limit}").json()
    return [item["document"]["id"] for item in found]


def test_only_the_newest_documents_wait_in_memory_and_older_ones_are_read_back(
    tmp_path, database, monkeypatch
):
    monkeypatch.setattr(operations, "MAX_WAITING", 5)
    with running(tmp_path, database, **FREE) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json=GRAIN)
        for start in range(0, 90, 30):
            feed(clients, start, start + 30)
        profile = service.live.engine.profiles["grain"]
        retrieved = profile.counters.retrieved
        assert retrieved > 20
        assert len(profile.pending) == 5
        waiting = queue(clients)
        assert len(waiting) == retrieved
        assert set(waiting[:5]) == set(profile.pending)
        for document in waiting:
            body = {"document": document, "relevant": is_about("grain", document)}
            answer = clients.ada.post("/api/filters/grain/judgements", json=body)
            assert answer.status_code == 200, answer.text
        assert queue(clients) == []
        again = FilterEngine()
        with service.store.reading() as read:
            replay(again, read, Checkpoints())
        assert same_filter(service.live.engine, again)


def test_texts_beyond_the_setting_are_deleted_as_documents_come(
    tmp_path, database, monkeypatch
):
    monkeypatch.setattr(document_routes, "_PURGED_AT_ONCE", 10)
    with running(tmp_path, database, keep_documents=25, **FREE) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json=GRAIN)
        for start in range(0, 120, 8):
            feed(clients, start, start + 8)
        with service.store.reading() as read:
            kept = read.document_ids(1_000)
            assert read.n_texts() == service.live.n_texts == len(kept)
            assert read.n_documents() == 120
        assert 25 <= len(kept) < 25 + 10
        assert kept[-1] == "d119"
        assert kept == [f"d{number}" for number in range(120 - len(kept), 120)]
        before = service.live.engine
    with running(tmp_path, database) as service:
        assert same_filter(service.live.engine, before)
        assert service.live.n_texts == len(kept)


@pytest.mark.parametrize("given", ["", "corn", "\0corn", "\0", "Weizen über alles " * 40])
def test_texts_come_back_from_their_packed_bytes(given):
    assert unpack(pack(given)) == given


def test_a_document_takes_half_the_bytes_of_its_text_and_vector(tmp_path, database):
    with running(tmp_path, database, **FREE) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json=GRAIN)
        feed(clients, 0, 60)
        with service.store.reading() as read:
            given = sum(len(json_text(row.payload)) for row in read.events())
            given += sum(len(row.text) for row in read.newest_documents(60))
            count = "SELECT (SELECT sum(length(payload)) FROM events) + sum(length(text))"
            stored = read._connection.execute(text(f"{count} FROM documents")).scalar()
    # The payloads were twice as long before their weights and columns were made short.
    assert stored < 0.75 * given


def test_a_packed_text_that_was_changed_is_found(tmp_path, database):
    with running(tmp_path, database, **FREE) as service:
        feed(Clients(service), 0, 3)
    with open_store(tmp_path, database) as store, store.writing() as tx:
        change = text("UPDATE documents SET text = :packed WHERE id = 'd1'")
        tx._connection.execute(change, {"packed": pack("another text " * 20)[:-3]})
    with pytest.raises(DataError, match="damaged"):
        open_store(tmp_path, database)


def test_the_past_of_one_document_is_found_without_reading_that_of_its_filter(tmp_path):
    with open_store(tmp_path) as store, store.reading() as read:
        plan = read._connection.execute(
            text(
                "EXPLAIN QUERY PLAN SELECT * FROM events WHERE \"filter\" = 'a' AND "
                "document = 'b' AND seq > 0 ORDER BY seq"
            )
        ).all()
        assert "events_about_document" in str(plan)
