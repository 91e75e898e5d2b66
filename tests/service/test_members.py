"""Who is not a member does not learn that a filter or review exists."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import text

from bayesift.service.access.callers import Item, Person, item_of, required_role
from bayesift.service.app import _ROUTERS
from bayesift.service.db.database import open_store
from bayesift.service.filters import retrieval_routes
from bayesift.service.filters.retrieval_routes import _events
from tests.service.test_reading import wait_until
from tests.service.test_reviews import begin, decide, ris
from tests.service.worlds import Clients, documents, running

ROLES = ("reader", "reviewer", "owner")
GRAIN = {"name": "grain", "query": "wheat corn barley"}


@pytest.fixture
def private(tmp_path):
    """Clients of a service in which only members see a filter or review."""
    with running(tmp_path, shared=False, requests_per_second=1e6, burst=10**6) as service:
        yield Clients(service)


def begun(client):
    return begin(client, ("a.ris", ris(0, 6)))["id"]


def item_routes():
    """The routes below a filter or review."""
    for router in _ROUTERS:
        for route in router.routes:
            parameters = {"name": "", "review": ""}
            if isinstance(route, APIRoute) and item_of(route, parameters) is not None:
                yield route


def test_every_route_of_a_filter_or_review_requires_a_role_in_it():
    for route in item_routes():
        assert required_role(route) in ROLES, route.path


def test_members_do_what_their_role_allows_and_no_more(private):
    """Below the role that a route requires it is refused; with the role it is not."""
    private.ada.post("/api/filters", json=GRAIN)
    review = begun(private.ada)
    for path in ("/api/filters/grain", f"/api/reviews/{review}"):
        private.ada.put(f"{path}/members/rita", json={"role": "reader"})
        private.ada.put(f"{path}/members/bob", json={"role": "reviewer"})
    people = {"reader": private.reader, "reviewer": private.bob, "owner": private.ada}
    for route in item_routes():
        path = route.path.replace(":path", "").replace("{kind}", "csv")
        path = path.replace("{name}", "grain").replace("{review}", review)
        for part in ("document", "record", "user", "invitation"):
            path = path.replace("{" + part + "}", "1")
        needed = ROLES.index(required_role(route))
        for role, client in people.items():
            for method in route.methods:
                if ROLES.index(role) < needed:
                    answer = client.request(method, path, content=b"{nonsense")
                    assert answer.status_code == 403, (role, method, path)
                elif method == "GET" and not path.endswith("/events"):
                    answer = client.get(path)
                    assert answer.status_code != 403, (role, method, path)


def test_who_is_no_member_is_answered_as_if_it_did_not_exist(private):
    """Every route gives an outsider the same answer for what exists and for what does not."""
    private.ada.post("/api/filters", json=GRAIN)
    review = begun(private.ada)
    n_routes = 0
    for route in item_routes():
        path = route.path.replace(":path", "").replace("{kind}", "csv")
        for part in ("document", "record", "user", "invitation"):
            path = path.replace("{" + part + "}", "1")
        here = path.replace("{name}", "grain").replace("{review}", review)
        nowhere = path.replace("{name}", "none!").replace("{review}", "0" * 16)
        for client in (private.bob, private.reader, private.admin):
            for method in route.methods:
                one = client.request(method, here, content=b"{nonsense")
                other = client.request(method, nowhere, content=b"{nonsense")
                assert one.status_code == other.status_code == 404, (method, here, one.text)
                assert one.text == other.text.replace("none!", "grain"), (method, here)
                n_routes += 1
    assert n_routes > 150


def test_lists_and_answers_name_what_one_may_see(private):
    private.ada.post("/api/filters", json=GRAIN)
    review = begun(private.ada)
    for client in (private.bob, private.reader, private.admin):
        assert client.get("/api/filters").json() == []
        assert client.get("/api/reviews").json() == []
    told = private.bob.post("/api/documents/batch", json={"documents": documents(0, 6)}).json()
    assert (told["accepted"], told["retrieved"]) == (6, [])
    more = private.ada.post("/api/documents/batch", json={"documents": documents(6, 12)}).json()
    assert {each["filter"] for each in more["retrieved"]} == {"grain"}
    for path, body in (
        ("/api/uploads/review", {"review": review}),
        ("/api/uploads/documents", {"filter": "grain"}),
    ):
        assert private.bob.post(path, json=body).status_code == 404
        assert private.ada.post(path, json=body).status_code == 201
    project = private.ada.get(f"/api/reviews/{review}/project.zip").content
    sent = private.bob.post("/api/reviews/project?name=r.zip", content=project)
    assert (sent.status_code, sent.json()["detail"]) == (404, "no such review")
    private.ada.delete("/api/filters/grain")
    private.ada.delete(f"/api/reviews/{review}")
    assert private.bob.get("/api/deleted-filters").json() == []
    assert private.bob.get("/api/reviews?deleted=true").json() == []
    assert private.ada.get("/api/deleted-filters").json()
    assert private.bob.post("/api/deleted-filters/grain/restore").status_code == 404
    assert private.ada.post("/api/deleted-filters/grain/restore").status_code == 200


def test_roles_are_given_and_taken_by_owners(private):
    review = begun(private.ada)
    path = f"/api/reviews/{review}"
    members = f"{path}/members"
    assert private.ada.put(f"{members}/rita", json={"role": "reader"}).status_code == 200
    assert private.ada.put(f"{members}/bob", json={"role": "reviewer"}).status_code == 200
    assert private.ada.put(f"{members}/eve", json={"role": "reader"}).status_code == 404
    refused = private.reader.post(f"{path}/decisions", content=b"{nonsense")
    assert refused.status_code == 403  # before the body is read
    assert "needs the role reviewer; yours is reader" in refused.text
    assert decide(private.bob, review, "1", "included").status_code == 200
    for method, body in (
        ("patch", {"settings": {"reviewers_per_record": 2}}),
        ("delete", None),
    ):
        answer = private.bob.request(method, path, json=body)
        assert (answer.status_code, "role owner" in answer.text) == (403, True)
    assert private.bob.put(f"{members}/bob", json={"role": "owner"}).status_code == 403
    for last in (
        private.ada.delete(f"{members}/ada"),
        private.ada.put(f"{members}/ada", json={"role": "reader"}),
    ):
        assert (last.status_code, last.json()["detail"]) == (409, "'ada' is the only owner")
    shown = {row["user"]: row["role"] for row in private.reader.get(members).json()}
    assert shown == {"ada": "owner", "bob": "reviewer", "rita": "reader"}
    assert private.ada.delete(f"{members}/bob").status_code == 200
    assert private.bob.get(path).status_code == 404
    assert private.reader.delete(f"{path}/membership").status_code == 204
    assert private.reader.get(path).status_code == 404


def test_what_a_removed_person_owned_goes_to_who_removed_them(private):
    private.ada.post("/api/filters", json=GRAIN)
    assert private.admin.get("/api/filters/grain").status_code == 404
    assert private.admin.delete("/api/users/ada").status_code == 204
    assert private.admin.get("/api/filters/grain").json()["role"] == "owner"
    with private.service.store.reading() as read:
        assert "members changed" in {row.kind for row in read.events(filter="grain")}


def test_an_invitation_is_used_once_and_expires(private):
    review = begun(private.ada)
    path = f"/api/reviews/{review}"
    made = private.ada.post(f"{path}/invitations", json={"role": "reviewer"}).json()
    joined = private.bob.post("/api/invitations", json={"token": made["token"]})
    assert (joined.status_code, joined.json()["token"]) == (201, None)
    assert private.bob.get(path).json()["role"] == "reviewer"
    again = private.reader.post("/api/invitations", json={"token": made["token"]})
    assert again.status_code == 401
    made = private.ada.post(f"{path}/invitations", json={"role": "reader"}).json()
    new = private.anybody.post(
        "/api/invitations", json={"token": made["token"], "name": "eve"}
    ).json()
    eve = private._with_token(new["token"])
    assert eve.get(path).json()["role"] == "reader"
    assert eve.get("/api/reviews").json()[0]["id"] == review
    late = {"role": "reader", "days": 1e-9}
    made = private.ada.post(f"{path}/invitations", json=late).json()
    refused = private.reader.post("/api/invitations", json={"token": made["token"]})
    assert refused.status_code == 401
    made = private.ada.post(f"{path}/invitations", json={"role": "reader"}).json()
    (listed,) = private.ada.get(f"{path}/invitations").json()
    assert made["token"] not in str(listed)
    assert private.ada.delete(f"{path}/invitations/{listed['id']}").status_code == 204
    refused = private.reader.post("/api/invitations", json={"token": made["token"]})
    assert refused.status_code == 401
    anonymous = private.anybody.post("/api/invitations", json={"token": made["token"]})
    assert anonymous.status_code == 401
    with private.service.store.reading() as read:
        rows = read._connection.execute(text("SELECT * FROM invitations")).all()
    assert made["token"] not in repr(rows)


def test_tokens_of_programs_have_a_scope_and_an_end(private):
    private.ada.post("/api/filters", json=GRAIN)
    document = {"id": "1", "text": "wheat"}
    reached = {"read": (200, 403, 403), "write": (200, 200, 403), "manage": (200, 200, 200)}
    for scope, expected in reached.items():
        made = private.ada.post("/api/tokens", json={"name": scope, "scope": scope}).json()
        program = private._with_token(made["token"])
        answers = (
            program.get("/api/filters/grain"),
            program.post("/api/documents", json=document),
            program.put("/api/filters/grain/members/bob", json={"role": "reader"}),
        )
        assert tuple(answer.status_code for answer in answers) == expected, scope
        signed_in = program.post("/api/session", json={"token": made["token"]})
        assert signed_in.status_code == 401
        if scope != "manage":
            body = {"name": "more", "scope": "manage"}
            assert program.post("/api/tokens", json=body).status_code == 403
    listed = private.ada.get("/api/tokens").json()
    assert [row["name"] for row in listed] == ["manage", "read", "write"]
    assert program.get("/api/filters").status_code == 200
    assert private.ada.delete("/api/tokens/manage").status_code == 204
    assert program.get("/api/filters").status_code == 401
    late = {"name": "late", "days": 1e-9}
    token = private.ada.post("/api/tokens", json=late).json()["token"]
    assert private._with_token(token).get("/api/filters").status_code == 401
    assert private.bob.delete("/api/tokens/read").status_code == 404


def test_a_stream_ends_with_the_right_to_read_it(private):
    """The stream asks before each page, and every change of members wakes it."""
    private.ada.post("/api/filters", json=GRAIN)
    allowed = iter([True, False])
    stream = _events(private.service, "ada", "grain", 0, 0.0, lambda: next(allowed))

    async def pieces():
        return [piece async for piece in stream]

    with ThreadPoolExecutor(1) as other:
        assert other.submit(asyncio.run, pieces()).result() == ["retry: 2000\n\n"]
    assert not private.service.open_streams.total()


def test_a_removal_ends_a_stream_that_waits(private, monkeypatch):
    """The stream waits for an hour unless it is woken."""
    monkeypatch.setattr(retrieval_routes, "_HEARTBEAT_SECONDS", 3_600.0)
    private.ada.post("/api/filters", json=GRAIN)
    private.ada.put("/api/filters/grain/members/bob", json={"role": "reader"})
    bob = Person("bob", "reviewer")

    def may_read():
        return private.service.members.role(bob, Item("filter", "grain")) is not None

    stream = _events(private.service, "bob", "grain", 0, 3_600.0, may_read)

    async def pieces():
        private.service.commits.bind()
        return [piece async for piece in stream]

    with ThreadPoolExecutor(1) as other:
        ending = other.submit(asyncio.run, pieces())
        wait_until(lambda: private.service.open_streams["bob"] == 1)
        assert private.ada.delete("/api/filters/grain/members/bob").status_code == 200
        assert ending.result(timeout=600) == ["retry: 2000\n\n"]


def test_upgraded_services_keep_their_people(tmp_path):
    """Migration 0005: the creator and admins own, others are what they were."""
    with running(tmp_path, shared=False) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json=GRAIN)
        review = begun(clients.ada)
    with open_store(tmp_path) as store, store.writing() as tx:
        for table in ("members", "invitations", "tokens"):
            tx._connection.execute(text(f"DROP TABLE {table}"))
        tx._connection.execute(text("DELETE FROM migrations WHERE name LIKE '0005%'"))
    with open_store(tmp_path) as store, store.reading() as read:
        store.verify()
        found = {(row.name, row.user): row.role for row in read.members()}
    roles = {"ada": "owner", "admin": "owner", "bob": "reviewer", "rita": "reader"}
    assert found == {
        (name, user): role for name in ("grain", review) for user, role in roles.items()
    }


def test_requests_of_two_lengths_are_refused(private):
    headers = {"Content-Length": "2", "Transfer-Encoding": "chunked"}
    for method in ("GET", "POST"):
        answer = private.ada.request(method, "/api/filters", content=b"{}", headers=headers)
        assert answer.status_code == 400, answer.text


def test_no_redirect_is_made_of_the_host(private):
    for path in ("/api/filters/", "/healthz/"):
        answer = private.ada.get(path, headers={"Host": "evil.example"}, follow_redirects=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers
