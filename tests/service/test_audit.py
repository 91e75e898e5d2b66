"""The audit trail holds what an audit asks for, and shows it to nobody else."""

import csv
import io
import json

from fastapi.testclient import TestClient

from bayesift.service import app
from bayesift.service.access.audit import note_settings
from bayesift.service.access.single_sign_on import SingleSignOn
from tests.service.forge import ADDRESS, CLIENT, SECRET
from tests.service.test_reviews import begin, decide, ris
from tests.service.worlds import Clients, is_whole, running


def trail(client):
    answer = client.get("/api/audit.jsonl")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def told(client, what):
    return [row for row in trail(client) if row["what"] == what]


def test_sign_ins_are_in_it(clients):
    browser, session = clients.signed_in(clients.service.first_token)
    clients.anybody.post("/api/session", json={"token": "a wrong token"})
    browser.delete("/api/session", headers={"X-CSRF-Token": session["csrf"]})
    rows = [row for row in trail(clients.admin) if row["what"].startswith("sign")]
    assert [(row["what"], row["by"]) for row in rows] == [
        ("signed in", "admin"),
        ("sign-in refused", ""),
        ("signed out", "admin"),
    ]
    assert rows[0]["details"] == {"with": "token", "address": "testclient"}
    assert "a wrong token" not in json.dumps(rows)


def test_refused_sign_ins_do_not_flood_it(tmp_path):
    with running(tmp_path, logins_per_minute=3) as service:
        clients = Clients(service)
        for number in range(9):
            caller = TestClient(service.app, client=(f"192.0.2.{number}", 5))
            assert caller.post("/api/session", json={"token": "wrong"}).status_code == 401
        assert len(told(clients.admin, "sign-in refused")) == 3


def test_users_and_their_tokens_are_in_it(clients):
    clients.ada.post("/api/tokens", json={"name": "job", "scope": "write"})
    clients.ada.delete("/api/tokens/job")
    clients.admin.post("/api/users/bob/token")
    clients.admin.delete("/api/users/bob")
    changes = [row["details"] for row in told(clients.admin, "user changed")]
    assert [(row["user"], row["change"]) for row in changes] == [
        *((name, "added") for name in ("ada", "bob", "rita")),
        ("ada", "token for a program"),
        ("ada", "token for a program deleted"),
        ("bob", "new token"),
        ("bob", "removed"),
    ]


def test_exports_and_settings_are_in_it(clients):
    review = begin(clients.admin, ("a.ris", ris(0, 8)))["id"]
    clients.admin.patch(f"/api/reviews/{review}", json={"settings": {"query": "wheat"}})
    clients.admin.get(f"/api/reviews/{review}/records.csv?only=included")
    clients.admin.get(f"/api/reviews/{review}/project.zip")
    clients.admin.get(f"/api/reviews/{review}/flow.svg")  # a picture of numbers
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat"})
    clients.ada.get("/api/filters/grain/export/model")
    clients.anybody.get("/api/filters/grain/export/model")  # refused
    rows = trail(clients.admin)
    assert [row["details"] for row in rows if row["what"] == "settings changed"] == [
        {"query": "wheat"}
    ]
    exports = [row for row in rows if row["what"] == "exported"]
    assert [row["details"]["path"].rpartition("/")[2] for row in exports] == [
        "records.csv",
        "project.zip",
        "model",
        "audit",
    ]
    assert exports[0]["details"]["query"] == "only=included"
    assert (exports[0]["review"], exports[2]["filter"]) == (review, "grain")
    assert is_whole(clients.service)


def test_the_settings_of_a_start_are_in_it_when_they_change(tmp_path, database, monkeypatch):
    monkeypatch.setattr(app._Server, "run", lambda self, sockets: None)
    single = SingleSignOn(
        {"*": "reader"},
        issuer="https://a.example",
        client_id=CLIENT,
        secret=SECRET,
        public_url=ADDRESS,
    )
    for given in (None, single, single, None):
        with running(tmp_path, database, shared=False, single_sign_on=given) as service:
            note_settings(service)
            if service.first_token is not None:
                token = service.first_token
    with running(tmp_path, database) as service:
        client = TestClient(service.app, headers={"Authorization": f"Bearer {token}"})
        rows = told(client, "settings changed")
    assert [list(row["details"]) for row in rows] == [["single_sign_on"], []]
    assert rows[0]["details"]["single_sign_on"]["roles"] == {"*": "reader"}
    assert SECRET not in json.dumps(rows)


def test_decisions_are_not_in_it(clients):
    review = begin(clients.admin, ("a.ris", ris(0, 8)))["id"]
    before = len(trail(clients.admin))
    decide(clients.ada, review, "1", "included")
    decide(clients.bob, review, "2", "excluded")
    assert len(trail(clients.admin)) == before + 1  # the export before


def test_owners_see_what_they_own_and_admins_the_service(tmp_path, database):
    with running(tmp_path, database, shared=False) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat"})
        clients.bob.post("/api/filters", json={"name": "crude", "query": "oil"})
        assert {row["filter"] for row in trail(clients.ada)} == {"grain"}
        assert {row["filter"] for row in trail(clients.bob)} == {"crude"}
        assert {row["filter"] for row in trail(clients.admin)} == {None}
        refused = clients.reader.get("/api/audit.csv")
        assert refused.status_code == 403
        assert "own a filter or review" in refused.json()["detail"]
        assert clients.anybody.get("/api/audit.csv").status_code == 401
        token = clients.admin.post("/api/tokens", json={"name": "job"}).json()["token"]
        program = TestClient(service.app, headers={"Authorization": f"Bearer {token}"})
        assert program.get("/api/audit.csv").status_code == 403
        # A new filter of the name of a deleted one shows nothing of it.
        clients.bob.delete("/api/filters/crude")
        clients.bob.delete("/api/deleted-filters/crude")
        clients.ada.post("/api/filters", json={"name": "crude", "query": "oil"})
        by = {row["by"] for row in trail(clients.ada) if row["filter"] == "crude"}
        assert by == {"ada"}


def test_a_cell_that_is_a_formula_is_guarded(clients):
    clients.admin.post("/api/users", json={"name": "=1+1", "role": "admin"})
    token = clients.admin.post("/api/users/=1+1/token").json()["token"]
    client, _ = clients.signed_in(token)
    rows = list(csv.DictReader(io.StringIO(client.get("/api/audit.csv").text)))
    assert [row["by"] for row in rows if row["what"] == "signed in"] == ["'=1+1"]
    assert list(rows[0]) == ["number", "at", "by", "what", "filter", "review", "details"]
