"""Who may do what, and what a browser is told to keep to."""

import asyncio
import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from bayesift.service import runtime
from bayesift.service.access.callers import Person
from bayesift.service.access.operations import add_user
from bayesift.service.app import OPEN_PATHS
from bayesift.service.filters.retrieval_routes import _events
from tests.service.worlds import Clients, documents, running

UNSAFE = [
    ("POST", "/api/users", {"name": "eve", "role": "reader"}, "admin"),
    ("DELETE", "/api/users/ada", None, "admin"),
    ("GET", "/api/users", None, "admin"),
    ("POST", "/api/retention", {"keep": 5}, "admin"),
    ("POST", "/api/filters", {"name": "grain"}, "reviewer"),
    ("PATCH", "/api/filters/grain", {"paused": True}, "reviewer"),
    ("DELETE", "/api/filters/grain", None, "owner"),
    ("POST", "/api/filters/import", None, "reviewer"),
    ("POST", "/api/documents", {"id": "1", "text": "corn"}, "reviewer"),
    ("POST", "/api/documents/batch", {"documents": []}, "reviewer"),
    ("POST", "/api/documents/stream", None, "reviewer"),
    ("POST", "/api/filters/grain/judgements", {"document": "1", "relevant": True}, "reviewer"),
    ("DELETE", "/api/filters/grain/judgements/1", None, "reviewer"),
    ("POST", "/api/filters/grain/words", {"word": "corn", "strength": 1}, "reviewer"),
    ("GET", "/api/filters/grain/queue", None, "reviewer"),
]
READ = [
    "/api/filters",
    "/api/filters/grain",
    "/api/filters/grain/judgements",
    "/api/filters/grain/retrieved",
]


@pytest.mark.parametrize(("method", "path", "body", "role"), UNSAFE)
def test_every_change_needs_its_role(shared_clients, method, path, body, role):
    assert shared_clients.anybody.request(method, path, json=body).status_code == 401
    refused = shared_clients.reader.request(method, path, json=body)
    assert refused.status_code == 403
    assert f"needs the role {role}" in refused.json()["detail"]
    if role == "admin":
        assert shared_clients.ada.request(method, path, json=body).status_code == 403


def test_every_route_is_guarded(shared_clients):
    description = shared_clients.anybody.get("/openapi.json").json()
    open_paths = {"/healthz", "/metrics", *OPEN_PATHS}
    for path, operations in description["paths"].items():
        for method in operations:
            if path not in open_paths:
                answer = shared_clients.anybody.request(
                    method.upper(), path.replace("{", "").replace("}", "")
                )
                assert answer.status_code == 401, (method, path)


def test_tokens_are_kept_as_hashes_only(shared_clients):
    token = shared_clients.admin.post(
        "/api/users", json={"name": "eve", "role": "reader"}
    ).json()["token"]
    client, session = shared_clients.signed_in(token)
    with shared_clients.service.store.reading() as read:
        assert (
            next(user for user in read.users() if user.name == "eve").token
            == hashlib.sha256(token.encode()).hexdigest()
        )
        rows = read._connection.execute(text("SELECT * FROM users")).all()
        rows += read._connection.execute(text("SELECT * FROM sessions")).all()
    everything = repr(rows)
    assert token not in everything
    assert client.cookies["bayesift_session"] not in everything
    assert session["csrf"] in everything  # of no use without the cookie


def test_a_token_ends_with_its_person(clients):
    token = clients.admin.post("/api/users", json={"name": "eve", "role": "reviewer"}).json()[
        "token"
    ]
    client, _ = clients.signed_in(token)
    assert client.get("/api/session").json()["user"] == "eve"
    assert (
        clients.admin.post("/api/users", json={"name": "eve", "role": "reader"}).status_code
        == 409
    )
    assert clients.admin.delete("/api/users/eve").status_code == 204
    assert client.get("/api/session").status_code == 401
    assert clients.admin.delete("/api/users/eve").status_code == 404
    last = clients.admin.delete("/api/users/admin")
    assert (last.status_code, last.json()["detail"]) == (409, "'admin' is the last admin")


@pytest.mark.parametrize(
    "header", ["Bearer nonsense", "Bearer", "Basic YTpi", "", "Bearer \xff"]
)
def test_wrong_tokens_are_refused(shared_clients, header):
    answer = shared_clients.anybody.get(
        "/api/filters", headers={"Authorization": header.encode("latin-1")}
    )
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_sessions_need_their_csrf_token(clients):
    token = clients.admin.post("/api/users", json={"name": "eve", "role": "reviewer"}).json()[
        "token"
    ]
    client, session = clients.signed_in(token)
    assert client.get("/api/session").json() == session
    body = {"name": "grain", "query": "corn"}
    assert client.post("/api/filters", json=body).status_code == 403
    assert (
        client.post("/api/filters", json=body, headers={"X-CSRF-Token": "guess"}).status_code
        == 403
    )
    headers = {"X-CSRF-Token": session["csrf"]}
    assert client.post("/api/filters", json=body, headers=headers).status_code == 201
    assert client.delete("/api/session").status_code == 403
    assert client.delete("/api/session", headers=headers).status_code == 204
    assert client.get("/api/session").status_code == 401


def test_the_cookie_is_kept_from_scripts_and_other_sites(clients):
    answer = clients.anybody.post("/api/session", json={"token": clients.service.first_token})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert clients.anybody.post("/api/session", json={"token": "nonsense"}).status_code == 401


def caller(service, peer="127.0.0.1", host="127.0.0.1:8765", **headers):
    """A browser at some address, on the page of some host."""
    own = {"Origin": f"http://{host}", **headers}
    return TestClient(
        service.app, base_url=f"http://{host}", client=(peer, 50_000), headers=own
    )


def may_set_up(service, **options):
    client = caller(service, **options)
    del client.headers["Origin"]
    return client.get("/api/session/first").json()["may_set_up"]


ELSEWHERE = [
    {"peer": "192.0.2.7"},
    {"peer": "testclient"},
    {"host": "evil.example:8765"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"X-Forwarded-For": "192.0.2.7"},
    {"Via": "1.1 proxy"},
]


def test_the_first_admin_is_set_up_once_and_on_this_machine_only(tmp_path, database):
    with running(tmp_path, database) as service:
        for options in ELSEWHERE:
            client = caller(service, **options)
            assert client.post("/api/session/first", json={"name": "eve"}).status_code == 403, (
                options
            )
        here = caller(service)
        assert may_set_up(service)
        assert not may_set_up(service, peer="192.0.2.7")
        made = here.post("/api/session/first", json={"name": "ann"})
        assert made.status_code == 201, made.text
        assert not may_set_up(service)
        assert here.post("/api/session/first", json={"name": "eve"}).status_code == 403
        assert service.people.names == {"ann"}
        assert service.people.of_token(made.json()["token"]) == Person("ann", "admin")
        assert service.people.of_token(service.first_token) is None
    with running(tmp_path, database) as service:
        assert not may_set_up(service)


@pytest.mark.parametrize("way", ["bearer", "session", "proxy", "late", "other people"])
def test_nobody_is_set_up_after_somebody_came(tmp_path, monkeypatch, way):
    if way == "late":
        monkeypatch.setattr(runtime, "_FIRST_START_SECONDS", 0.0)
    with running(tmp_path, proxy="127.0.0.1" if way == "proxy" else None) as service:
        here = caller(service)
        if way == "bearer":
            here.get("/api/users", headers={"Authorization": f"Bearer {service.first_token}"})
        elif way == "session":
            here.post("/api/session", json={"token": service.first_token})
        elif way == "other people":
            service.writer.submit("", lambda unit: add_user(unit.tx, "bob", "reader")).result()
            service.people.reload()
        assert not may_set_up(service)
        assert here.post("/api/session/first", json={"name": "eve"}).status_code == 403
        assert service.people.of_token(service.first_token) == Person("admin", "admin")


def test_sessions_end(tmp_path):
    with running(tmp_path, session_hours=0.0) as service:
        client, _ = Clients(service).signed_in(service.first_token)
        assert client.get("/api/session").status_code == 401


def test_people_and_sessions_outlive_a_restart(tmp_path, database):
    with running(tmp_path, database) as service:
        clients = Clients(service)
        client, session = clients.signed_in(service.first_token)
        cookie = client.cookies["bayesift_session"]
        token = service.first_token
    with running(tmp_path, database) as service:
        assert service.first_token is None
        assert service.people.of_token(token).role == "admin"
        assert service.people.of_cookie(cookie).csrf == session["csrf"]


@pytest.mark.parametrize("path", ["/healthz", "/api/filters", "/nowhere", "/openapi.json"])
def test_browsers_are_told_what_to_keep_to(shared_clients, path):
    headers = shared_clients.anybody.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == ("no-store" if path.startswith("/api") else "no-cache")


def test_markup_goes_out_as_data(clients):
    """Nothing but JSON carries what people wrote, and no browser is to take it for a page."""
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat alert"})
    clients.ada.post(
        "/api/documents", json={"id": evil, "title": evil, "text": f"wheat {evil}"}
    )
    queue = clients.ada.get("/api/filters/grain/queue")
    assert queue.headers["content-type"] == "application/json"
    assert queue.json()[0]["document"]["title"] == evil
    clients.ada.post("/api/filters/grain/judgements", json={"document": evil, "relevant": True})
    for path in (
        "judgements",
        "conflicts",
        "export/judgements.csv",
        "export/judgements.jsonl",
        "topics",
        "terms",
    ):
        answer = clients.ada.get(f"/api/filters/grain/{path}")
        assert answer.status_code == 200
        assert "html" not in answer.headers["content-type"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    problem = clients.ada.get("/api/filters/<script>")
    assert problem.headers["content-type"] == "application/problem+json"
    name = clients.ada.post("/api/filters", json={"name": "a\r\nX-Evil: 1"})
    assert name.status_code == 422


def test_too_many_requests_are_put_off(tmp_path):
    with running(tmp_path, requests_per_second=1.0, burst=5, logins_per_minute=3) as service:
        clients = Clients(service)
        answers = [clients.ada.get("/api/filters") for _ in range(8)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert clients.bob.get("/api/filters").status_code == 200
        logins = [
            clients.anybody.post("/api/session", json={"token": "guess"}) for _ in range(5)
        ]
        assert [login.status_code for login in logins] == [401, 401, 401, 429, 429]


def test_what_is_too_large_is_refused(tmp_path):
    with running(tmp_path, max_body=2_000, max_text=100, max_batch=2) as service:
        ada = Clients(service).ada
        before = ada.get("/healthz").json()["events"]
        assert (
            ada.post("/api/documents", json={"id": "1", "text": "x" * 3_000}).status_code == 413
        )
        long = ada.post("/api/documents", json={"id": "1", "text": "x" * 101})
        assert (long.status_code, "document '1'" in long.json()["detail"]) == (413, True)
        assert (
            ada.post("/api/documents/batch", json={"documents": documents(0, 3)}).status_code
            == 413
        )
        pieces = (b"x" * 500 for _ in range(10))
        assert ada.post("/api/documents", content=pieces).status_code == 413
        line = json.dumps({"id": "1", "text": "x" * 20_000})
        assert ada.post("/api/documents/stream", content=line).status_code == 413
        assert ada.get("/healthz").json()["events"] == before


def test_a_full_line_is_told_to_come_again(tmp_path):
    with running(tmp_path, waiting_batches=0) as service:
        answer = Clients(service).ada.post(
            "/api/documents/batch", json={"documents": documents(0, 3)}
        )
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")


def test_numbers_for_prometheus(clients):
    clients.ada.post("/api/filters", json={"name": "secret-name", "query": "wheat corn"})
    clients.ada.post("/api/documents/batch", json={"documents": documents(0, 30)})
    clients.ada.post(
        "/api/filters/secret-name/judgements", json={"document": "d0", "relevant": True}
    )
    page = clients.anybody.get("/metrics").text
    assert "bayesift_documents_total 30.0" in page
    assert 'bayesift_judgements_total{relevant="true"} 1.0' in page
    assert "secret-name" not in page
    assert clients.anybody.get("/healthz").json() == {
        "status": "ok",
        "events": clients.service.live.seq,
        "filters": 1,
    }


def test_event_streams_are_bounded_and_end_with_the_service(tmp_path):
    with running(tmp_path, streams=0) as service:
        ada = Clients(service).ada
        ada.post("/api/filters", json={"name": "grain"})
        assert ada.get("/api/filters/grain/retrieved/events?open_for=0").status_code == 429
    with running(tmp_path) as service:
        service.end_streams()
        stream = _events(service, "ada", "grain", 0, 3600.0, lambda: True)
        with ThreadPoolExecutor(
            1
        ) as other:  # this thread may have a loop already: Playwright's
            assert other.submit(asyncio.run, _all_of(stream)).result() == ["retry: 2000\n\n"]


async def _all_of(stream):
    return [piece async for piece in stream]


def test_problems_have_one_form(shared_clients):
    for answer, status in (
        (shared_clients.ada.get("/nowhere"), 404),
        (shared_clients.ada.put("/api/filters"), 405),
        (shared_clients.ada.post("/api/filters", content=b"{nonsense"), 422),
        (shared_clients.ada.post("/api/filters", content=rb'{"name": "\ud800"}'), 422),
        (
            shared_clients.ada.post(
                "/api/filters", content=rb'{"name": "a", "query": "\ud800"}'
            ),
            422,
        ),
        (
            shared_clients.ada.post(
                "/api/documents", content=rb'{"id": "a", "text": "\ud800"}'
            ),
            422,
        ),
        (shared_clients.ada.get("/api/filters?limit=x"), 200),
        (shared_clients.ada.get("/api/filters/none/curve"), 404),
    ):
        assert answer.status_code == status, answer.text
        if status >= 400:
            body = answer.json()
            assert (answer.headers["content-type"], body["status"]) == (
                "application/problem+json",
                status,
            )
            assert body["detail"]
            assert "\n" not in body["detail"]


def test_the_page_of_the_api_names_every_route_and_loads_nothing(shared_clients):
    answer = shared_clients.anybody.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    description = shared_clients.anybody.get("/openapi.json").json()
    for path, methods in description["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in answer.text
    assert re.findall(r'(?:src|href)="([^"]*)"', answer.text) == [
        "/static/style.css",
        "/openapi.json",
    ]
    assert "<script" not in answer.text
