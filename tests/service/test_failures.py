"""What goes wrong inside: nothing unacknowledged stays, nothing acknowledged goes."""

import psycopg
import pytest

from bayesift.service.db.tables import Writing
from tests.service.worlds import Clients, documents, is_whole, running


@pytest.fixture
def fed(clients):
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
    clients.ada.post("/api/documents/batch", json={"documents": documents(0, 30)})
    return clients


def judge(client, document):
    return client.post(
        "/api/filters/grain/judgements", json={"document": document, "relevant": True}
    ).status_code


def test_a_store_that_fails_loses_nothing_and_keeps_nothing(fed, monkeypatch):
    before = fed.service.live.seq
    with monkeypatch.context() as patch:
        patch.setattr(Writing, "append", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        failed = fed.ada.post("/api/documents/batch", json={"documents": documents(30, 60)})
        assert failed.status_code == 503
        assert judge(fed.ada, "d0") == 503
    assert (
        fed.ada.post("/api/documents/batch", json={"documents": documents(30, 60)}).json()[
            "accepted"
        ]
        == 30
    )
    assert fed.service.live.seq > before
    assert fed.ada.get("/api/filters/grain").json()["counters"]["seen"] == 60
    assert is_whole(fed.service)


def test_a_turn_that_breaks_off_leaves_nothing(fed, monkeypatch):
    engine = fed.service.live.engine

    def half_done(profile, document, relevant, history):
        engine.space.add_words(["never", "logged"])
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(engine, "judge", half_done)
        assert judge(fed.ada, "d0") == 500
    assert judge(fed.ada, "d0") == 200
    assert fed.service.live.engine is not engine
    assert is_whole(fed.service)


def test_a_lost_connection_is_made_again(tmp_path, database):
    if database is None:
        pytest.skip("SQLite has no connection to lose")
    with running(tmp_path, database) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 30)})
        others = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
            "pg_backend_pid()"
        )
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(f"{others} AND datname = current_database()")
        assert judge(clients.ada, "d0") == 503
        assert judge(clients.ada, "d0") == 200
        assert clients.ada.get("/api/filters/grain/judgements").json()[0]["document"] == "d0"
        assert is_whole(service)


def test_a_changed_judgement_is_learned_from_the_vector_of_the_log(fed):
    """Frequencies move after a document arrived.

    A second judgement must not weigh its words anew.
    """
    waiting = [
        entry["document"]["id"]
        for entry in fed.ada.get("/api/filters/grain/queue?limit=5").json()
    ]
    assert judge(fed.ada, waiting[0]) == 200
    fed.ada.post("/api/documents/batch", json={"documents": documents(30, 60)})
    body = {"document": waiting[0], "relevant": False}
    assert fed.bob.post("/api/filters/grain/judgements", json=body).status_code == 200
    assert is_whole(fed.service)
