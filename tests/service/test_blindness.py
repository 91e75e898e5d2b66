"""Two worlds that differ in one hidden decision look the same, on every route and in every file."""

import io
import re
import zipfile
from itertools import product

import pytest

from bayesift.screening import PersonalView, ProjectSettings, ReviewLog
from tests.screening.test_full_texts import PDF
from tests.service import test_reviews
from tests.service.test_reviews import begin, ris
from tests.service.worlds import Clients, running

HIDDEN = "5"  # the record that ada has decided on, and nobody else
RECORDS = (HIDDEN, "1", "3", "11")
KINDS = ("ris", "csv", "xlsx", "bib", "nbib", "xml", "jsonl")
STATUSES = ("open", "waiting", "conflict", "included", "excluded", "maybe")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)?")
DIGEST = re.compile(r"\b[0-9a-f]{32,64}\b")
FIRST = ("included", [], "looks good", ["trial"])
WORLDS = {
    "verdict": ("excluded", [], "looks good", ["trial"]),
    "reason": ("excluded", ["no data"], "looks good", ["trial"]),
    "note": ("included", [], "not at all", ["trial"]),
    "tag": ("included", [], "looks good", ["animals"]),
}


def decide(client, review, record, verdict, **more):
    """Decide on a record, and wait until the rankings have learned it.

    What they say depends a little on whether two decisions were learned together.

    """
    answer = test_reviews.decide(client, review, record, verdict, **more)
    wait_for_rankings(client.app.state.service, review)
    return answer


def wait_for_rankings(service, review):
    service.live.reviews.learn_all(review)


def screened(clients, verdict, reasons, note, tags):
    """A review that two screen; what is given is ada's decision on the hidden record."""
    settings = {"reviewers_per_record": 2, "query": "wheat harvest", "reasons": ["no data"]}
    review = begin(clients.admin, ("a.ris", ris(0, 24)), settings=settings)["id"]
    path = f"/api/reviews/{review}"
    for record in ("1", "2", "3"):
        decide(clients.ada, review, record, "included" if record == "1" else "excluded")
    decide(clients.ada, review, HIDDEN, verdict, reasons=reasons, seconds=12)
    clients.ada.post(f"{path}/records/{HIDDEN}/notes", json={"text": note})
    clients.ada.put(f"{path}/records/{HIDDEN}/tags", json={"tags": tags})
    # What ada decides afterwards is ranked by what she decided before.
    for record in ("7", "8", "9"):
        decide(clients.ada, review, record, "excluded")
    for record, said in (
        ("1", "included"),
        ("2", "excluded"),
        ("3", "maybe"),
        ("7", "excluded"),
    ):
        decide(clients.bob, review, record, said)
    decide(clients.bob, review, "11", "maybe")
    for record in RECORDS:
        sent = clients.ada.put(f"{path}/records/{record}/full-text.pdf?name=a.pdf", content=PDF)
        assert sent.status_code == 200
    return review


def review_routes(app):
    """Every path below a review that can be read."""
    for path, methods in app.openapi()["paths"].items():
        if path.startswith("/api/reviews") and "get" in methods:
            yield path


def requests(app, review):
    """The address of every route, with every record, format, status, stage and tag."""
    addresses = []
    for path in review_routes(app):
        path = path.replace("{review}", review)
        for record, kind in product(RECORDS, KINDS):
            addresses.append(path.replace("{record}", record).replace("{kind}", kind))
    base = f"/api/reviews/{review}"
    for status, stage in product(STATUSES, ("abstract", "full text")):
        addresses.append(f"{base}/records?status={status}&stage={stage}")
    for word in ("trial", "animals"):
        addresses.append(f"{base}/records?tag={word}")
        addresses.append(f"{base}/records?search={word}")
    for status, kind in product(STATUSES, KINDS):
        addresses.append(f"{base}/records.{kind}?only={status}")
    addresses += [f"{base}/flow.svg?narrow=true", f"{base}/next?skip={HIDDEN}", "/metrics"]
    addresses += ["/api/audit.csv", "/api/audit.jsonl"]
    assert len(set(addresses)) > 80
    return list(dict.fromkeys(addresses))


def shown(answer, review):
    """What an answer tells, whatever the time; the files of an archive one by one."""
    if answer.content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            names = [name for name in archive.namelist() if name != "decisions.mark"]
            parts = [archive.read(name).decode("latin-1") for name in names]
    else:
        parts = [answer.text]
    told = [DIGEST.sub("HEX", TIME.sub("TIME", part.replace(review, "ID"))) for part in parts]
    return answer.status_code, told


def everything(clients, review):
    """All that three people are told, by person and address."""
    told = {}
    people = {"bob": clients.bob, "rita": clients.reader, "owner": clients.admin}
    for name, client in people.items():
        for address in requests(clients.service.app, review):
            answer = client.get(address)
            assert answer.status_code in (200, 403), (name, address, answer.text)
            if not address.startswith("/metrics"):
                told[name, address.replace(review, "ID")] = shown(answer, review)
        body = {"review": review, "decisions": True}
        for only in ([], *([status] for status in STATUSES)):
            sent = client.post("/api/uploads/review", json={**body, "only": only})
            told[name, "upload", *only] = sent.status_code, sent.json().get("first")
    # The answers to what bob does: they are the last thing that he does.
    path = f"/api/reviews/{review}"
    for record in ("12", "9"):
        answer = decide(clients.bob, review, record, "included")
        told["bob", "decides", record] = shown(answer, review)
    told["bob", "takes back"] = shown(clients.bob.post(f"{path}/undo"), review)
    wait_for_rankings(clients.service, review)
    tagged = clients.bob.put(f"{path}/records/{HIDDEN}/tags", json={"tags": ["mine"]})
    told["bob", "tags"] = shown(tagged, review)
    return told


@pytest.fixture(scope="module")
def first_world(tmp_path_factory):
    with running(tmp_path_factory.mktemp("world"), requests_per_second=1e6, burst=10**6) as one:
        clients = Clients(one)
        return everything(clients, screened(clients, *FIRST))


@pytest.mark.parametrize("difference", WORLDS)
def test_two_worlds_that_differ_in_what_is_hidden_look_the_same(
    difference, first_world, tmp_path
):
    with running(tmp_path / "other", requests_per_second=1e6, burst=10**6) as other:
        clients = Clients(other)
        review = screened(clients, *WORLDS[difference])
        second = everything(clients, review)
        assert first_world.keys() == second.keys()
        different = [key for key in second if second[key] != first_world[key]]
        assert not different
        # What is hidden is there, and ada sees it.
        own = clients.ada.get(f"/api/reviews/{review}/records/{HIDDEN}").json()
        verdict, reasons, note, tags = WORLDS[difference]
        (given,) = own["decisions"]
        assert (given["verdict"], given["reasons"]) == (verdict, reasons)
        assert ([each["text"] for each in own["notes"]], own["tags"]) == ([note], tags)


def test_what_is_settled_is_shown_with_all_that_was_said(clients):
    review = screened(clients, *FIRST)
    path = f"/api/reviews/{review}/records/{HIDDEN}"
    clients.bob.put(f"{path}/tags", json={"tags": ["mine"]})
    assert clients.bob.get(path).json()["tags"] == ["mine"]
    decide(clients.bob, review, HIDDEN, "included")
    seen = clients.bob.get(path).json()
    assert [each["by"] for each in seen["decisions"]] == ["ada", "bob"]
    assert [each["text"] for each in seen["notes"]] == ["looks good"]
    assert seen["tags"] == ["trial", "mine"]
    clients.bob.put(f"{path}/tags", json={"tags": ["both"]})
    assert clients.ada.get(path).json()["tags"] == ["both"]


def test_every_exported_view_is_a_review_that_replays(clients, tmp_path):
    """A log of what a person may see can be opened, whatever was taken back or resolved."""
    settings = ProjectSettings(reviewers_per_record=2)
    review = screened(clients, *FIRST)
    path = f"/api/reviews/{review}"
    clients.admin.post(f"{path}/resolutions", json={"record": "3", "verdict": "included"})
    clients.admin.post(f"{path}/undo")
    decide(clients.bob, review, "8", "included")
    clients.bob.post(f"{path}/undo")
    decide(clients.ada, review, "14", "included")
    clients.ada.post(f"{path}/undo")
    clients.ada.post(f"{path}/records/{HIDDEN}/join", json={"records": ["6"]})
    log = clients.service.live.reviews.opened[review].log
    for person in ("ada", "bob", "rita", "admin"):
        view = PersonalView(log, person)
        again = ReviewLog(log.references, list(log.first_groups), settings)
        for event in view.events:
            again.check(event)
            again.accept([event])
        for record in log.records:
            seen = {by: given.verdict for by, given in view.decisions_on(record).items()}
            held = {by: given.verdict for by, given in again.decisions_on(record).items()}
            assert seen == held
            assert view.tags_on(record) == again.tags_on(record)
