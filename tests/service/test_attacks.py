"""Attackers, full disks and flipped bits: a refusal in one sentence, no stall, no loss."""

import asyncio
import io
import random
import shutil
import socket
import sqlite3
import stat
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from fastapi.testclient import TestClient

from bayesift.errors import DataError
from bayesift.service import Service, ServiceSettings, app
from bayesift.service.db import database
from bayesift.service.db.database import FILE, open_store
from bayesift.service.db.integrity import unpack
from bayesift.service.db.tables import Writing
from bayesift.service.errors import UnavailableError
from bayesift.service.live import LiveState
from tests.service.worlds import (
    Clients,
    InputReplay,
    documents,
    is_whole,
    listening,
    running,
    same_filter,
    text_about,
)


@pytest.fixture
def clients(tmp_path):
    with running(tmp_path / "service", requests_per_second=1e6, burst=10**6) as service:
        yield Clients(service)


@pytest.fixture
def fed(clients):
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
    clients.ada.post("/api/documents/batch", json={"documents": documents(0, 30)})
    return clients


def judge(client, document):
    return client.post(
        "/api/filters/grain/judgements", json={"document": document, "relevant": True}
    )


def test_readers_do_not_see_a_judgement_that_was_refused(fed, monkeypatch):
    before, seq = fed.ada.get("/api/filters/grain").json(), fed.service.live.seq
    with monkeypatch.context() as patch:
        patch.setattr(Writing, "append", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        assert judge(fed.ada, "d0").status_code == 503
        assert fed.ada.get("/api/filters/grain").json() == before
        assert fed.service.live.seq == seq
    assert is_whole(fed.service)


def test_readers_wait_for_the_commit(fed, monkeypatch):
    before, seen = fed.ada.get("/api/filters/grain").json()["counters"], []
    append = Writing.append
    reader = threading.Thread(
        target=lambda: seen.append(fed.service.live.reading().__enter__().profiles["grain"])
    )

    def slow_append(tx, rows):
        reader.start()
        reader.join(0.2)
        assert not seen
        assert fed.service.live.seq < fed.service.live.pending_seq + len(rows)
        append(tx, rows)

    monkeypatch.setattr(Writing, "append", slow_append)
    assert judge(fed.ada, "d0").status_code == 200
    reader.join()
    assert seen[0].counters.judged_relevant == before["judged_relevant"] + 1


def test_a_failed_snapshot_does_not_end_the_writer(tmp_path, monkeypatch):
    with running(tmp_path, snapshot_every=1) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        monkeypatch.setattr(
            LiveState, "snapshot", lambda _: (_ for _ in ()).throw(MemoryError())
        )
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 10)})
        assert judge(clients.ada, "d0").status_code == 200
        assert judge(clients.ada, "d3").status_code == 200
        assert clients.anybody.get("/healthz").status_code == 200


def test_a_writer_that_ended_refuses_at_once_and_is_not_healthy(fed):
    def end(unit):
        raise SystemExit

    with pytest.raises(UnavailableError):
        fed.service.writer.submit("", end).result(120)
    fed.service.writer._thread.join(120)
    assert judge(fed.ada, "d0").status_code == 503
    assert fed.anybody.get("/healthz").status_code == 503


def test_an_archive_that_unpacks_to_much_is_refused(fed):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b"0" * (40 << 20))
    answer = fed.ada.post("/api/filters/import", content=packed.getvalue())
    assert answer.status_code == 413
    assert "unpacks to" in answer.json()["detail"]


def test_the_same_estimate_is_computed_once_for_all_who_ask(fed):
    calls = []

    def slow():
        calls.append(threading.current_thread().name)
        time.sleep(0.05)
        return len(calls)

    async def ask():
        return await asyncio.gather(*(fed.service.share("estimate", slow) for _ in range(30)))

    # In a thread of its own: tests of the browser leave a running loop in this one.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: asyncio.run(ask())).result() == [1] * 30
    assert calls[0].startswith("bayesift-slow")


def test_estimates_do_not_take_the_threads_of_other_requests(fed):
    judge(fed.ada, "d0")
    fed.ada.post("/api/filters/grain/judgements", json={"document": "d1", "relevant": False})
    with listening(fed.service) as url, ThreadPoolExecutor(30) as people:
        request = Request(f"{url}/api/filters/grain/stopping", headers=dict(fed.reader.headers))
        asked = [people.submit(urlopen, request, timeout=120) for _ in range(30)]
        with urlopen(f"{url}/healthz", timeout=120) as health:
            assert health.status == 200
        for answer in asked:
            with answer.result() as estimate:
                assert estimate.status == 200


def test_ids_of_two_files_may_be_the_same(clients):
    first = [
        {"id": str(n), "source": "one.csv", "text": text_about("grain", n)} for n in range(5)
    ]
    second = [
        {"id": str(n), "source": "two.csv", "text": text_about("crude", n)} for n in range(5)
    ]
    again = [
        {**document, "source": "copy.csv", "id": f"x{document['id']}"} for document in first
    ]
    counts = []
    for batch in (first, second, first, again):
        answer = clients.ada.post("/api/documents/batch", json={"documents": batch}).json()
        counts.append((answer["accepted"], answer["duplicates"]))
    assert counts == [(5, 0), (5, 0), (0, 5), (0, 5)]
    assert is_whole(clients.service)


def address(url):
    parts = urlsplit(url)
    return parts.hostname, parts.port


def test_a_stranger_is_refused_before_the_body_is_read(clients):
    head = b"POST /api/documents/batch HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n"
    with (
        listening(clients.service) as url,
        socket.create_connection(address(url), 120) as connection,
    ):
        connection.sendall(head + b"Authorization: Bearer wrong\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "before", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "second"]
)
def test_a_header_that_does_not_end_is_not_waited_for(clients, monkeypatch, before):
    monkeypatch.setattr(app, "_HEADER_SECONDS", 1.0)
    with (
        listening(clients.service) as url,
        socket.create_connection(address(url), 120) as connection,
    ):
        connection.sendall(before + b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        while connection.recv(10_000):
            pass


def test_a_body_that_does_not_come_is_not_waited_for(clients, monkeypatch):
    monkeypatch.setattr(app, "_BODY_SECONDS", 0.2)
    monkeypatch.setattr(app, "_SLOWEST_BYTES_PER_SECOND", 10**9)
    token = clients.service.first_token.encode()
    head = (
        b"POST /api/documents HTTP/1.1\r\nHost: x\r\nContent-Length: 3000\r\nAuthorization: Bearer "
        + token
    )
    with (
        listening(clients.service) as url,
        socket.create_connection(address(url), 120) as connection,
    ):
        connection.sendall(head + b"\r\n\r\n{")
        assert connection.recv(100).startswith(b"HTTP/1.1 408")


def test_one_person_cannot_take_all_event_streams(fed):
    path = "/api/filters/grain/retrieved/events?open_for=0"
    fed.service.open_streams["rita"] = fed.service.settings.streams_per_person
    assert fed.reader.get(path).status_code == 429
    assert fed.ada.get(path).status_code == 200


def test_long_examples_are_refused_and_long_texts_explained_in_part(clients, monkeypatch):
    examples = [{"text": "wheat " * 1_000, "relevant": True} for _ in range(400)]
    answer = clients.ada.post("/api/filters", json={"name": "long", "examples": examples})
    assert answer.status_code == 422
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat"})
    clients.ada.post("/api/documents", json={"id": "long", "text": "wheat " + "corn " * 70_000})
    space, read = type(clients.service.live.engine.space), []
    forms_of = space.forms_of
    monkeypatch.setattr(
        space, "forms_of", lambda self, text: (read.append(len(text)), forms_of(self, text))[1]
    )
    shown = clients.ada.get("/api/filters/grain/documents/long").json()
    assert len(shown["document"]["text"]) > 340_000
    assert max(read) <= 110_000


def unpacked(row):
    return [unpack(cell) if isinstance(cell, bytes) else cell for cell in row]


def content(path):
    """All rows of the tables that hold what people did; what is packed, unpacked.

    A flip in the last bits of a packed text, which are no part of it, does no harm.
    """
    tables = (
        "events",
        "documents",
        "filters",
        "judgements",
        "words",
        "reviews",
        "review_records",
        "users",
    )
    with sqlite3.connect(path) as connection:
        return {
            name: sorted(
                repr(unpacked(row)) for row in connection.execute(f"SELECT * FROM {name}")
            )
            for name in tables
        }


def test_a_flipped_bit_is_found_or_does_no_harm(tmp_path):
    folder = tmp_path / "service"
    with running(folder) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 60)})
        for number in range(0, 12, 3):
            judge(clients.ada, f"d{number}")
    shutil.rmtree(folder / "snapshots")
    whole, before = (folder / FILE).read_bytes(), content(folder / FILE)
    rng = random.Random(0)
    used = [place for place, byte in enumerate(whole) if byte]
    found = 0
    for _ in range(60):
        place = rng.choice(used)
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        (folder / FILE).write_bytes(damaged)
        for rest in ("-wal", "-shm"):
            (folder / f"{FILE}{rest}").unlink(missing_ok=True)
        refusal = None
        try:
            open_store(folder).close()
        except DataError as error:
            refusal = str(error)
        if refusal is None:
            assert content(folder / FILE) == before, place
        else:
            found += 1
            assert "\n" not in refusal
            assert "wheat" not in refusal
    assert found > 10


def test_a_large_file_is_checked_in_a_process_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_MIN_BYTES_CHECKED_APART", 0)
    with running(tmp_path) as service:
        Clients(service).ada.post("/api/documents/batch", json={"documents": documents(0, 60)})
    with running(tmp_path) as service:
        assert service.live.n_documents == 60
    open_store(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("UPDATE documents SET at = CAST(at AS BLOB) WHERE id = 'd7'")
    for opened in (
        lambda: open_store(tmp_path),
        lambda: Service(ServiceSettings(folder=tmp_path)),
    ):
        with pytest.raises(DataError, match=r"damaged \(it cannot be read\)"):
            opened()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("UPDATE documents SET at = 'other' WHERE id = 'd7'")
    with pytest.raises(DataError, match="a row of the table documents"):
        Service(ServiceSettings(folder=tmp_path))


def test_data_are_readable_by_their_owner_only(tmp_path):
    folder = tmp_path / "service"
    folder.mkdir(mode=0o755)
    with running(folder) as service:
        Clients(service).ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {
        stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()
    } == {0o600}
    assert list(folder.rglob("*/latest"))


def test_a_deleted_filter_can_be_restored(fed):
    judge(fed.ada, "d0")
    before = fed.ada.get("/api/filters/grain").json()
    assert fed.bob.delete("/api/filters/grain").status_code == 403
    assert fed.ada.delete("/api/filters/grain").status_code == 204
    assert fed.ada.get("/api/filters/grain").status_code == 404
    assert fed.ada.get("/api/filters/grain/queue").status_code == 404
    assert fed.ada.get("/api/filters").json() == []
    fed.ada.post("/api/documents/batch", json={"documents": documents(30, 60)})
    assert fed.ada.post("/api/filters", json={"name": "grain"}).status_code == 409
    assert is_whole(fed.service)
    assert [row["name"] for row in fed.ada.get("/api/deleted-filters").json()] == ["grain"]
    assert fed.ada.post("/api/deleted-filters/grain/restore").json() == before
    assert fed.ada.get("/api/filters/grain/judgements").json()[0]["document"] == "d0"
    assert fed.ada.delete("/api/filters/grain/judgements/d0").status_code == 200
    assert is_whole(fed.service)
    fed.ada.delete("/api/filters/grain")
    assert fed.bob.delete("/api/deleted-filters/grain").status_code == 403
    assert fed.ada.delete("/api/deleted-filters/grain").status_code == 204
    assert fed.ada.post("/api/filters", json={"name": "grain"}).status_code == 201
    assert is_whole(fed.service)


def test_what_was_deleted_long_ago_is_forgotten(tmp_path):
    with running(tmp_path) as service:
        ada = Clients(service).ada
        ada.post("/api/filters", json={"name": "grain"})
        ada.delete("/api/filters/grain")
        token = service.first_token
    with running(tmp_path, restore_days=0) as service:
        assert service.people.of_token(token)
        assert not service.live.engine.profiles
        assert is_whole(service)


def test_cells_that_a_spreadsheet_would_run_are_guarded_and_ids_are_not_touched(clients):
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat"})
    texts = {"-2": "\n=1+1", "a": " =1+1", "b": "\uff1d1+1", "c": "wheat", "d": "@SUM(1)"}
    for name, text in texts.items():
        clients.ada.post("/api/documents", json={"id": name, "text": text})
        clients.ada.post(
            "/api/filters/grain/judgements", json={"document": name, "relevant": True}
        )
    rows = clients.ada.get("/api/filters/grain/export/judgements.csv").text
    assert "'\n=1+1" in rows
    assert ",' =1+1," in rows
    assert ",'\uff1d1+1," in rows
    assert ",'@SUM(1)," in rows
    assert "\n-2,," in rows.replace("\r", "")


def test_a_filter_sees_documents_that_came_before_it(clients):
    clients.ada.post("/api/documents/batch", json={"documents": documents(0, 60)})
    clients.ada.post(
        "/api/filters", json={"name": "grain", "query": "wheat corn barley harvest tonnes crop"}
    )
    waiting = [
        entry["document"]["id"]
        for entry in clients.ada.get("/api/filters/grain/queue?limit=10").json()
    ]
    assert waiting
    assert all(int(name[1:]) % 3 == 0 for name in waiting)
    assert judge(clients.ada, waiting[0]).status_code == 200
    assert is_whole(clients.service)
    assert clients.ada.delete(f"/api/filters/grain/judgements/{waiting[0]}").status_code == 200
    assert is_whole(clients.service)
    inputs = InputReplay()
    with clients.service.store.reading() as read:
        inputs.follow(read)
    assert same_filter(clients.service.live.engine, inputs.engine)


def test_wrong_tokens_are_counted_by_address(clients):
    answers = [
        clients.anybody.get(
            "/api/filters",
            headers={"Authorization": f"Bearer {n}", "X-Forwarded-For": f"10.0.0.{n}"},
        )
        for n in range(40)
    ]
    assert [answer.status_code for answer in answers].count(429) >= 19
    assert clients.ada.get("/api/filters").status_code == 200


@pytest.mark.parametrize("proxy", [None, "192.0.2.1", "192.0.2.1, 127.0.0.1"])
def test_a_forwarded_address_is_believed_of_a_proxy_only(tmp_path, proxy):
    """By the cookie, which is for TLS alone where the proxy says that a browser used it."""
    with running(tmp_path, proxy=proxy) as service:
        client = TestClient(service.app, client=("127.0.0.1", 5))
        answer = client.post(
            "/api/session",
            json={"token": service.first_token},
            headers={"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.7"},
        )
        assert ("Secure" in answer.headers["set-cookie"]) is ("127.0.0.1" in (proxy or ""))


def test_files_are_read_in_their_encoding_and_with_their_delimiter(clients):
    rows = "0;Müller;Die Ernte in Köln war gut\n1;Groß;Öl und Gas für Zürich\n"
    table = f"id;title;text\n{rows}".encode("cp1252")
    read = clients.ada.post("/api/documents/read?name=a.csv", content=table).json()
    assert [document["title"] for document in read["documents"]] == ["Müller", "Groß"]
    assert any("cp1252" in note or "1252" in note for note in read["notes"])
    pubmed = (
        b"PMID- 1\nTI  - One\nAB  - About wheat.\n\nPMID- 2\nTI  - Two\nAB  - About corn.\n"
    )
    assert (
        len(
            clients.ada.post("/api/documents/read?name=a.txt", content=pubmed).json()[
                "documents"
            ]
        )
        == 2
    )
    text = clients.ada.post(
        "/api/documents/read?name=b.txt", content="Grüße aus Köln".encode("cp1252")
    ).json()
    assert (text["documents"][0]["text"], text["documents"][0]["title"]) == (
        "Grüße aus Köln",
        "b.txt",
    )
    assert (
        clients.ada.post("/api/documents/read?name=c.csv", content=b"id,text\n").status_code
        == 422
    )
