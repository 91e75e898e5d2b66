"""Reviews over HTTP: upload, duplicates, screening, blind reviewers, conflicts, exports, replay."""

import io
import json
import zipfile

import pytest

from bayesift.references import read_references
from bayesift.screening import Project
from bayesift.service.reviews import live, operations
from bayesift.service.reviews.live import replayed
from tests.service.worlds import Clients, is_whole, running, text_about

TOPICS = ("grain", "crude", "ship")


def ris(start, stop, extra=""):
    entries = []
    for number in range(start, stop):
        topic = TOPICS[number % 3]
        entries.append(
            f"TY  - JOUR\nTI  - Report {number} on {topic}\nAU  - Author, A{number}\nPY  - 2001\n"
            f"T2  - Trade\n"
            f"DO  - 10.1000/x.{number}\nAB  - {text_about(topic, number)}\n{extra}ER  - \n"
        )
    return "\n".join(entries).encode()


def send(client, name, content):
    answer = client.post(f"/api/uploads?name={name}", content=content)
    assert answer.status_code == 201, answer.text
    return answer.json()


def begin(client, *files, **options):
    keys = [send(client, name, content)["upload"] for name, content in files]
    answer = client.post("/api/reviews", json={"name": "trade", "uploads": keys, **options})
    assert answer.status_code == 201, answer.text
    return answer.json()


def decide(client, review, record, verdict, **more):
    path = f"/api/reviews/{review}/decisions"
    return client.post(path, json={"record": record, "verdict": verdict, **more})


def screen(client, review, n, stage="abstract"):
    """Decide on n records as they come: those on grain are relevant."""
    found = []
    for _ in range(n):
        record = client.get(f"/api/reviews/{review}/next?stage={stage}").json()["record"]
        relevant = "on grain" in record["reference"]["title"]
        reasons = [] if relevant else ["off topic"]
        answer = decide(
            client,
            review,
            record["id"],
            "included" if relevant else "excluded",
            reasons=reasons,
            stage=stage,
        )
        assert answer.status_code == 200, answer.text
        found.append(relevant)
    return found


@pytest.fixture
def review(clients):
    settings = {"query": "wheat corn harvest", "reasons": ["off topic", "no data"]}
    return begin(clients.ada, ("a.ris", ris(0, 30)), ("b.ris", ris(20, 40)), settings=settings)[
        "id"
    ]


def same_log(service, review):
    """Whether the log of a review is what its rows say."""
    with service.store.reading() as read:
        row = next(row for row in read.reviews() if row.id == review)
        again = replayed(read, row)
    log = service.live.reviews.opened[review].log
    assert again.events == log.events
    assert again.decisions == log.decisions
    for part in ("settings", "resolutions", "_notes", "_tags", "full_text_places", "records"):
        assert getattr(again, part) == getattr(log, part), part
    return True


def test_files_are_previewed_and_joined(clients):
    first, second = (
        send(clients.ada, "a.ris", ris(0, 30)),
        send(clients.ada, "b.ris", ris(20, 40)),
    )
    assert (first["format"], first["records"], first["first"][0]["title"]) == (
        "ris",
        30,
        "Report 0 on grain",
    )
    keys = [first["upload"], second["upload"]]
    seen = clients.ada.post("/api/uploads/preview", json={"uploads": keys}).json()
    assert (seen["records"], seen["after_joining"], len(seen["duplicates"])) == (50, 40, 10)
    table = "Title;Abstract;DOI\nMüller;Über Weizen;10.1000/y\n".encode("cp1252")
    assert send(clients.ada, "c.csv", table)["notes"]
    assert clients.bob.post("/api/uploads/preview", json={"uploads": keys}).status_code == 404
    made = clients.ada.post(
        "/api/reviews", json={"name": "x", "uploads": keys, "join_duplicates": False}
    ).json()
    assert made["progress"]["records"] == 50
    assert (
        clients.ada.post("/api/uploads?name=x.ris", content=b"nothing of the kind").status_code
        == 422
    )
    assert clients.reader.post("/api/uploads?name=x.ris", content=ris(0, 1)).status_code == 403


def test_a_review_is_screened_from_the_most_relevant_record_down(clients, review):
    found = screen(clients.ada, review, 16)
    assert sum(found) >= 12
    state = clients.ada.get(f"/api/reviews/{review}").json()["progress"]
    assert (state["included"], state["excluded"]) == (sum(found), 16 - sum(found))
    assert state["open"] == state["mine"] == 24
    listed = clients.reader.get(
        f"/api/reviews/{review}/records?search=report&status=included"
    ).json()
    assert listed["total"] == sum(found)
    one = listed["records"][0]["id"]
    words = clients.reader.get(f"/api/reviews/{review}/records/{one}/words").json()
    assert words
    undone = clients.ada.post(f"/api/reviews/{review}/undo").json()
    assert undone["mine"] is None
    assert same_log(clients.service, review)


def test_the_gauge_is_silent_until_it_can_tell(clients, review):
    screen(clients.ada, review, 5)
    early = clients.ada.get(f"/api/reviews/{review}").json()["progress"]["gauge"]
    assert (
        early["left"],
        early["low"],
        early["high"],
        early["stop"],
        early["more_reading"],
    ) == (
        None,
        None,
        None,
        False,
        [],
    )
    assert early["sentence"].startswith("cannot tell yet what is left: too early")
    finds = 5 + sum(screen(clients.ada, review, 15))
    gauge = clients.ada.get(f"/api/reviews/{review}").json()["progress"]["gauge"]
    assert gauge["low"] <= 14 - gauge["found"] <= gauge["high"]
    assert gauge["low"] <= gauge["left"] <= gauge["high"]
    costs = {cost["probability"]: cost["records"] for cost in gauge["more_reading"]}
    assert list(costs.values()) == sorted(costs.values())
    assert gauge["stop"] == (0.95 not in costs)
    assert finds >= gauge["found"] >= 10
    assert f"{gauge['left']} relevant left" in gauge["sentence"]


def test_notes_tags_search_split_and_words(clients, review):
    path = f"/api/reviews/{review}/records"
    assert (
        clients.ada.post(f"{path}/1/notes", json={"text": "look again"}).json()["notes"][0][
            "text"
        ]
        == "look again"
    )
    assert clients.ada.put(f"{path}/1/tags", json={"tags": ["key"]}).json()["tags"] == ["key"]
    assert [row["id"] for row in clients.ada.get(f"{path}?tag=key").json()["records"]] == ["1"]
    assert clients.ada.get(f"{path}?tag=other").json()["total"] == 0
    assert clients.ada.get(f"/api/reviews/{review}").json()["tags"] == ["key"]
    joined = clients.ada.get(f"{path}?search=10.1000/x.25").json()["records"][0]["id"]
    assert len(clients.ada.get(f"{path}/{joined}").json()["sources"]) == 2
    assert clients.ada.post(f"{path}/{joined}/split").status_code == 200
    assert clients.ada.get(f"{path}?search=10.1000/x.25").json()["total"] == 2
    assert clients.ada.get(f"{path}/999").status_code == 404
    for strength in (-1e-320, 3.0):
        words = {"words": {"vessel": strength}}
        assert clients.ada.post(f"/api/reviews/{review}/words", json=words).status_code == 200
    top = clients.ada.get(f"/api/reviews/{review}/next").json()["record"]
    assert top["rank"] == 1
    assert same_log(clients.service, review)


def test_two_people_in_single_screening_get_different_records(clients, review):
    mine = clients.ada.get(f"/api/reviews/{review}/next").json()["record"]["id"]
    yours = clients.bob.get(f"/api/reviews/{review}/next").json()["record"]["id"]
    assert mine != yours
    assert clients.reader.get(f"/api/reviews/{review}/next").status_code == 403


def test_two_blind_reviewers_and_a_conflict(clients):
    review = begin(clients.ada, ("a.ris", ris(0, 12)), settings={"reviewers_per_record": 2})[
        "id"
    ]
    path = f"/api/reviews/{review}"
    record = clients.ada.get(f"{path}/next").json()["record"]["id"]
    clients.ada.post(f"{path}/records/{record}/notes", json={"text": "mine"})
    decide(clients.ada, review, record, "included")
    seen = clients.bob.get(f"{path}/records/{record}").json()
    assert (seen["decisions"], seen["notes"], seen["status"]) == ([], [], "waiting")
    assert seen["hidden"]
    assert record in [
        row["id"] for row in clients.bob.get(f"{path}/records?status=waiting").json()["records"]
    ]
    assert clients.ada.get(f"{path}/records/{record}").json()["status"] == "waiting"
    assert clients.ada.get(f"{path}/next").json()["record"]["id"] != record
    decide(clients.bob, review, record, "excluded", reasons=["no data"])
    conflict = clients.ada.get(f"{path}/records?status=conflict").json()["records"]
    assert [row["id"] for row in conflict] == [record]
    assert len(clients.bob.get(f"{path}/records/{record}").json()["decisions"]) == 2
    body = {"record": record, "verdict": "excluded", "reasons": ["no data"]}
    resolved = clients.admin.post(f"{path}/resolutions", json=body).json()
    assert (resolved["status"], resolved["decisions"][-1]["resolved"]) == ("excluded", True)
    assert clients.admin.post(f"{path}/resolutions", json=body).status_code == 422
    numbers = clients.reader.get(f"{path}/statistics").json()
    assert [(found["stage"], found["records"]) for found in numbers["agreement"]] == [
        ("abstract", 1)
    ]
    assert numbers["flow"]["abstract"]["excluded"] == {"no data": 1}
    assert same_log(clients.service, review)


def test_full_texts_are_a_second_stage(clients, review):
    clients.ada.patch(f"/api/reviews/{review}", json={"settings": {"full_texts": True}})
    found = screen(clients.ada, review, 10)
    state = clients.ada.get(f"/api/reviews/{review}/next?stage=full%20text").json()
    assert state["progress"]["records"] == sum(found)
    decide(
        clients.ada,
        review,
        state["record"]["id"],
        "excluded",
        stage="full text",
        reasons=["no data"],
    )
    screen(clients.ada, review, 2, stage="full text")
    flow = clients.ada.get(f"/api/reviews/{review}/statistics").json()
    assert flow["flow"]["full_text"]["excluded"] == {"no data": 1}
    assert flow["flow"]["included"] == 2
    drawn = clients.ada.get(f"/api/reviews/{review}/flow.svg")
    assert "Reports assessed for eligibility (n = 3)" in drawn.text
    assert "3 full texts were assessed" in flow["methods"]


def test_what_is_exported_can_be_read_again(clients, review, tmp_path):
    found = screen(clients.ada, review, 8)
    for kind in ("ris", "csv", "xlsx", "bib"):
        answer = clients.reader.get(
            f"/api/reviews/{review}/records.{kind}?only=included&only=excluded"
        )
        assert answer.status_code == 200, answer.text
        file = tmp_path / f"out.{kind}"
        file.write_bytes(answer.content)
        again = read_references(file)
        assert len(again) == 8
        if kind != "bib":
            assert sum(bool(reference.included) for reference in again) == sum(found)
    audit = clients.reader.get(f"/api/reviews/{review}/audit.csv").text
    assert audit.count(",decide,") == 8
    clients.ada.post(f"/api/reviews/{review}/stop", json={"reason": "enough"})
    assert "enough" in clients.ada.get(f"/api/reviews/{review}/statistics").json()["methods"]
    assert clients.ada.post(f"/api/reviews/{review}/resume").json()["stopped"] is None


def choose(client, kind, **body):
    answer = client.post(f"/api/uploads/{kind}", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def begin_from(client, *chosen, **options):
    uploads = [each["upload"] for each in chosen]
    return client.post(
        "/api/reviews", json={"name": "second", "uploads": uploads, **options}
    ).json()


def test_a_review_is_begun_from_records_of_another_one(clients, review):
    found = screen(clients.ada, review, 10)
    clients.ada.put(f"/api/reviews/{review}/records/1/tags", json={"tags": ["key"]})
    whole = choose(clients.bob, "review", review=review)
    assert (whole["records"], whole["format"], whole["file"]) == (40, "review", "trade")
    part = choose(clients.bob, "review", review=review, only=["included"])
    assert part["records"] == sum(found)
    again = begin_from(clients.bob, part)
    assert (again["progress"]["open"], again["progress"]["included"]) == (sum(found), 0)
    kept = choose(
        clients.bob, "review", review=review, only=["included", "excluded"], decisions=True
    )
    part = choose(clients.bob, "review", review=review, only=["included"])
    second = begin_from(clients.bob, kept, part)
    assert (second["progress"]["included"], second["progress"]["excluded"]) == (
        sum(found),
        10 - sum(found),
    )
    assert second["progress"]["records"] == 10
    flow = clients.bob.get(f"/api/reviews/{second['id']}/statistics").json()["flow"]
    assert flow["identified"] == {"trade": 10 + sum(found)}
    assert clients.bob.post("/api/uploads/review", json={"review": "0" * 16}).status_code == 404
    assert (
        clients.bob.post(
            "/api/uploads/review", json={"review": review, "only": ["maybe"]}
        ).status_code
        == 422
    )
    assert (
        clients.reader.post("/api/uploads/review", json={"review": review}).status_code == 403
    )


def test_what_is_blind_in_a_review_is_not_seen_by_choosing_its_records(clients):
    review = begin(clients.ada, ("a.ris", ris(0, 4)), settings={"reviewers_per_record": 2})[
        "id"
    ]
    decide(clients.ada, review, "1", "included")
    for client in (clients.ada, clients.bob):
        decide(client, review, "2", "included")
    decide(clients.ada, review, "3", "included")
    decide(clients.bob, review, "3", "excluded")
    agreed = choose(clients.bob, "review", review=review, only=["included"], decisions=True)
    assert [record["title"] for record in agreed["first"]] == ["Report 1 on crude"]
    for status in ("open", "waiting", "conflict"):
        assert choose(clients.bob, "review", review=review, only=[status])["records"] == 1
    everything = begin_from(
        clients.bob, choose(clients.bob, "review", review=review, decisions=True)
    )["progress"]
    assert (everything["included"], everything["open"]) == (1, 3)


def test_a_review_is_begun_from_the_stream(clients):
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn harvest"})
    sent = [
        {"id": f"d{n}", "title": "", "text": text_about(TOPICS[n % 3], n)} for n in range(30)
    ]
    sent[0]["title"] = "A title of its own"
    clients.ada.post("/api/documents/batch", json={"documents": sent})
    newest = choose(clients.ada, "documents", limit=7)
    assert (newest["records"], newest["file"]) == (7, "documents")
    assert newest["first"][0]["title"] == sent[23]["text"][:100] or newest["first"][0][
        "title"
    ].endswith(" ...")
    queue = clients.ada.get("/api/filters/grain/queue?limit=50").json()
    waiting = [item["document"]["id"] for item in queue]
    for number, document in enumerate(waiting[:4]):
        body = {"document": document, "relevant": number < 3}
        assert clients.ada.post("/api/filters/grain/judgements", json=body).status_code in (
            200,
            201,
        )
    retrieved = choose(clients.ada, "documents", filter="grain")
    assert retrieved["records"] == len(waiting)
    relevant = choose(clients.ada, "documents", filter="grain", relevant=True, decisions=True)
    assert relevant["records"] == 3
    made = begin_from(clients.ada, retrieved, relevant)["progress"]
    assert (made["records"], made["included"]) == (len(waiting), 3)
    clients.admin.post("/api/retention", json={"keep": 5})
    assert choose(clients.ada, "documents")["records"] == 5
    assert (
        clients.ada.post("/api/uploads/documents", json={"filter": "none"}).status_code == 404
    )


def test_records_are_joined_by_hand_and_split_again(clients, review):
    path = f"/api/reviews/{review}/records"
    for record, tag in (("1", "a"), ("2", "b"), ("3", "a")):
        clients.ada.put(f"{path}/{record}/tags", json={"tags": [tag]})
        clients.ada.post(f"{path}/{record}/notes", json={"text": f"note {record}"})
        decide(clients.ada, review, record, "included")
    clients.ada.put(f"{path}/3/full-text", json={"place": "three.pdf"})
    joined = clients.ada.post(f"{path}/1/join", json={"records": ["3", "2"]}).json()
    assert len(joined["sources"]) == 3
    assert (joined["tags"], joined["full_text"]) == (["a", "b"], "three.pdf")
    assert [note["text"] for note in joined["notes"]] == ["note 1", "note 2", "note 3"]
    assert clients.ada.get(f"{path}/2").status_code == 404
    assert clients.ada.get(path).json()["total"] == 38
    assert clients.ada.post(f"{path}/1/join", json={"records": ["1"]}).status_code == 422
    assert same_log(clients.service, review)
    assert clients.ada.post(f"{path}/1/split").json()["sources"] == []
    assert clients.ada.get(path).json()["total"] == 40
    assert same_log(clients.service, review)


def test_the_place_of_a_full_text_is_kept_and_exported(clients, review, tmp_path):
    path = f"/api/reviews/{review}/records/1/full-text"
    for place in ("smith 2001.pdf", "https://example.org/a.pdf"):
        assert clients.ada.put(path, json={"place": f" {place} "}).json()["full_text"] == place
    (tmp_path / "out.ris").write_bytes(
        clients.ada.get(f"/api/reviews/{review}/records.ris").content
    )
    again = next(
        r for r in read_references(tmp_path / "out.ris") if dict(r.annotations)["record"] == "1"
    )
    assert dict(again.annotations)["file"] == "https://example.org/a.pdf"
    assert clients.ada.put(path, json={"place": ""}).json()["full_text"] == ""
    assert clients.ada.put(path, json={"place": "x" * 501}).status_code == 422


def test_reviewers_are_counted_over_both_stages(clients):
    review = begin(
        clients.ada,
        ("a.ris", ris(0, 6)),
        settings={"reviewers_per_record": 2, "full_texts": True},
    )["id"]
    for client in (clients.ada, clients.bob):
        decide(client, review, "1", "included", seconds=30)
        decide(client, review, "1", "included", stage="full text", seconds=330)
    decide(clients.ada, review, "2", "excluded", seconds=60)
    numbers = clients.reader.get(f"/api/reviews/{review}/statistics").json()
    ada, bob = numbers["reviewers"]
    assert (
        ada["name"],
        ada["decisions"],
        ada["waiting_for_others"],
        ada["others_waiting"],
    ) == (
        "ada",
        3,
        1,
        0,
    )
    assert (bob["decisions"], bob["waiting_for_others"], bob["others_waiting"]) == (2, 0, 1)
    assert ada["hours"] == pytest.approx(360 / 3600)  # what is blind is not told
    own = clients.ada.get(f"/api/reviews/{review}/statistics").json()["reviewers"][0]
    assert own["hours"] == pytest.approx(420 / 3600)
    assert [found["stage"] for found in numbers["agreement"]] == ["abstract", "full text"]


def test_a_project_goes_to_the_command_line_and_back(clients, review, tmp_path):
    screen(clients.ada, review, 4)
    clients.ada.put(f"/api/reviews/{review}/records/1/full-text", json={"place": "one.pdf"})
    clients.ada.patch(f"/api/reviews/{review}", json={"settings": {"reasons": ["other"]}})
    with zipfile.ZipFile(
        io.BytesIO(clients.ada.get(f"/api/reviews/{review}/project.zip").content)
    ) as archive:
        archive.extractall(tmp_path / "mine")
    with Project(tmp_path / "mine", writing=True) as project:
        log = clients.service.live.reviews.opened[review].log
        assert project.events == log.events
        assert project.settings.reasons == ("other",)
        assert [file.file for file in project.files] == ["a.ris", "b.ris"]
        assert project.full_text_places == {"1": "one.pdf"}
        open_ = next(record for record in project.records if project.verdict(record) is None)
        project.append("decide", by="ada", record=open_, verdict="included")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in ("project.json", "records.parquet", "decisions.jsonl"):
            archive.write(tmp_path / "mine" / file, f"mine/{file}")
    back = clients.ada.post("/api/reviews/project?name=mine.zip", content=packed.getvalue())
    assert (back.status_code, back.json()["id"]) == (201, review)
    assert (
        clients.service.live.reviews.opened[review].log.decisions[open_]["ada"].verdict
        == "included"
    )
    with running(tmp_path / "other") as other:
        ada = Clients(other).ada
        assert (
            ada.post("/api/reviews/project?name=mine.zip", content=packed.getvalue()).json()[
                "progress"
            ]["open"]
            == 35
        )
    assert (
        clients.ada.post(
            "/api/reviews/project?name=x.zip", content=b"PK\x03\x04nonsense"
        ).status_code
        == 422
    )


def test_a_served_project_and_its_review_hold_the_same_log(tmp_path):
    (tmp_path / "a.ris").write_bytes(ris(0, 12))
    folder = tmp_path / "trade.review"
    with Project.create(folder, read_references(tmp_path / "a.ris")) as project:
        project.append("decide", by="ann", record="1", verdict="included")
        with running(folder / "service") as service:
            service.mirror(project, "ann")
            review = project.id
            screen(Clients(service).ada, review, 3)
            served = list(service.live.reviews.opened[review].log.events)
            assert [event.by for event in served] == ["ann", "ada", "ada", "ada"]
    with Project(folder, writing=True) as project:
        assert project.events == served
        project.append("undo", by="ann", record="1")
        with running(folder / "service") as service:
            assert not service.mirror(project, "ann").there
            assert service.live.reviews.opened[review].log.events == project.events
            assert same_log(service, review)


def test_a_review_is_there_after_a_restart_and_after_it_was_deleted(tmp_path, database):
    with running(tmp_path, database) as service:
        clients = Clients(service)
        token = service.first_token
        review = begin(clients.ada, ("a.ris", ris(0, 12)))["id"]
        screen(clients.ada, review, 5)
        events = service.live.reviews.opened[review].log.events
    with running(tmp_path, database) as service:
        service.first_token = token
        admin = Clients._with_token(type("S", (), {"_app": service.app})(), token)
        assert admin.get("/api/reviews").json()[0]["decided"] == 5
        assert service.live.reviews.opened[review].log.events == events
        assert admin.delete(f"/api/reviews/{review}").status_code == 204
        assert admin.get(f"/api/reviews/{review}").status_code == 404
        assert admin.get("/api/reviews?deleted=true").json()[0]["id"] == review
        assert admin.post(f"/api/reviews/{review}/restore").json()["progress"]["open"] == 7
        assert same_log(service, review)


def test_decisions_that_came_with_the_file_are_kept(clients):
    note = 'N1  - RAYYAN-INCLUSION: {"Emily"=>"Included"}\n'
    review = begin(clients.ada, ("a.ris", ris(0, 3, note)))
    assert review["progress"]["included"] == 3
    anew = begin(clients.ada, ("a.ris", ris(0, 3, note)), take_decisions=False)
    assert anew["progress"]["open"] == 3
    events = clients.service.live.reviews.opened[review["id"]].log.events
    assert json.dumps(events[0].values)


def test_many_decisions_that_came_with_the_file_are_kept(clients):
    note = 'N1  - RAYYAN-INCLUSION: {"Emily"=>"Included","Tom"=>"Excluded"}\n'
    review = begin(clients.ada, ("a.ris", ris(0, 250, note)))
    events = clients.service.live.reviews.opened[review["id"]].log.events
    assert len(events) == 500
    assert {event.by for event in events} == {"Emily", "Tom"}
    assert same_log(clients.service, review["id"])


@pytest.mark.parametrize("step", ["begin", "put_review"])
def test_a_review_whose_beginning_breaks_off_is_not_there(clients, monkeypatch, step):
    note = 'N1  - RAYYAN-INCLUSION: {"Emily"=>"Included"}\n'
    key = send(clients.ada, "a.ris", ris(0, 3, note))["upload"]
    body = {"name": "trade", "uploads": [key]}
    with monkeypatch.context() as patch:
        patch.setattr(operations, step, broken)
        assert clients.ada.post("/api/reviews", json=body).status_code == 500
    assert clients.ada.get("/api/reviews").json() == []
    assert is_whole(clients.service)
    assert clients.ada.post("/api/reviews", json=body).json()["progress"]["included"] == 3
    assert len(clients.ada.get("/api/reviews").json()) == 1


def test_who_begins_a_review_sees_the_step_that_it_is_at(clients, monkeypatch):
    note = 'N1  - RAYYAN-INCLUSION: {"Emily"=>"Included"}\n'
    key = send(clients.ada, "a.ris", ris(0, 250, note))["upload"]
    seen = {"ada": [], "grace": []}

    def write(unit, review, events):
        # As another request would find it, between two transactions.
        for name, found in seen.items():
            found.append(clients.service.beginnings.of(name))
        return write_events(unit, review, events)

    write_events = live.write_events
    monkeypatch.setattr(live, "write_events", write)
    assert clients.ada.get("/api/reviews/beginning").json() == []
    body = {"name": "trade", "uploads": [key]}
    assert clients.ada.post("/api/reviews", json=body).status_code == 201
    steps = [(step.name, step.step, step.done, step.of) for (step,) in seen["ada"]]
    assert steps == [
        ("trade", "writing the decisions", 0, 250),
        ("trade", "writing the decisions", 200, 250),
    ]
    assert seen["grace"] == [[], []]
    assert clients.ada.get("/api/reviews/beginning").json() == []


def test_a_beginning_that_breaks_off_is_no_longer_listed(clients, monkeypatch):
    key = send(clients.ada, "a.ris", ris(0, 3))["upload"]
    monkeypatch.setattr(operations, "begin", broken)
    body = {"name": "trade", "uploads": [key]}
    assert clients.ada.post("/api/reviews", json=body).status_code == 500
    assert clients.ada.get("/api/reviews/beginning").json() == []


def broken(*_, **__):
    raise OSError("disk full")


def test_words_to_highlight_leave_the_ranking_as_it_is(clients, review):
    path = f"/api/reviews/{review}"
    clients.ada.get(f"{path}/next")
    opened = clients.service.live.reviews.opened[review]
    before = opened.ranking("ada")
    words = {"highlight_include": ["corn*"], "highlight_exclude": ["in mice"]}
    changed = clients.ada.patch(path, json={"settings": words}).json()
    assert {name: changed[name] for name in words} == words
    assert opened.ranking("ada") is before
    clients.ada.patch(path, json={"settings": {"query": "gold"}})
    assert opened.ranking("ada") is not before
    assert same_log(clients.service, review)
    too_long = {"highlight_include": ["x" * 101]}
    assert clients.ada.patch(path, json={"settings": too_long}).status_code == 422
    assert clients.reader.patch(path, json={"settings": words}).status_code == 403
