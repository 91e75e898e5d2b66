"""People at work: profiles, documents, the queue, judgements, words; on both stores."""

import csv
import io
import json

import pytest

from bayesift.filtering import ProfileState, open_filter
from bayesift.model_file import load_model
from tests.filtering.worlds import same_state
from tests.service.worlds import documents, is_about


@pytest.fixture
def fed(clients):
    """A profile on grain, and sixty documents of which a third are about it."""
    made = clients.ada.post(
        "/api/filters", json={"name": "grain", "query": "wheat corn barley harvest"}
    )
    assert made.status_code == 201, made.text
    answer = clients.ada.post("/api/documents/batch", json={"documents": documents(0, 60)})
    assert answer.status_code == 200, answer.text
    assert answer.json()["accepted"] == 60
    return clients


def judge(client, document, relevant, profile="grain"):
    answer = client.post(
        f"/api/filters/{profile}/judgements", json={"document": document, "relevant": relevant}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def get(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_profile_begins_sees_and_ends(fed):
    (profile,) = get(fed.reader, "/api/filters")
    assert get(fed.reader, "/api/filters/grain") == profile
    assert profile["counters"]["seen"] == 60
    assert profile["counters"]["retrieved"] == profile["waiting"] > 0
    assert (profile["strategy"], profile["created_by"], profile["paused"]) == (
        "+rel+ig",
        "ada",
        False,
    )
    again = fed.ada.post("/api/filters", json={"name": "grain"})
    assert (again.status_code, again.headers["content-type"]) == (
        409,
        "application/problem+json",
    )
    assert again.json()["detail"] == "a filter 'grain' already exists"
    assert fed.ada.delete("/api/filters/grain").status_code == 204
    missing = fed.ada.get("/api/filters/grain")
    assert (missing.status_code, missing.json()["detail"]) == (404, "no filter 'grain'")
    assert fed.admin.delete("/api/deleted-filters/grain").status_code == 204
    assert (
        fed.ada.post("/api/filters", json={"name": "grain"}).json()["counters"]["retrieved"]
        == 0
    )
    assert get(fed.ada, "/api/filters/grain/retrieved")["retrieved"] == []


def test_a_paused_profile_sees_nothing(fed):
    before = get(fed.ada, "/api/filters/grain")["counters"]
    assert fed.ada.patch("/api/filters/grain", json={"paused": True}).json()["paused"] is True
    fed.ada.post("/api/documents/batch", json={"documents": documents(60, 90)})
    assert get(fed.ada, "/api/filters/grain")["counters"] == before
    assert fed.ada.patch("/api/filters/grain", json={"paused": False}).json()["paused"] is False
    fed.ada.post("/api/documents/batch", json={"documents": documents(90, 93)})
    assert get(fed.ada, "/api/filters/grain")["counters"]["seen"] == 63


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"name": "a/b"}, "name"),
        ({"name": " a"}, "name"),
        ({"name": "x", "strategy": "+nonsense"}, "no strategy"),
        ({"name": "x", "goal": {"target": 5, "recall": 0.5}}, "a goal is one of"),
        ({"name": "x", "goal": {}}, "a goal is one of"),
        ({"name": "x", "words": {"corn": 1e99}}, "words.corn"),
        ({"name": "x", "words": {"corn": 1, "the": 1}}, "holds no word"),
        ({"name": "x", "nonsense": 1}, "nonsense"),
    ],
)
def test_profiles_that_cannot_be_are_refused(clients, body, said):
    answer = clients.ada.post("/api/filters", json=body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert get(clients.ada, "/api/filters") == []


@pytest.mark.parametrize(
    "goal", [{"target": 5}, {"precision": 0.8}, {"recall": 0.9}, {"utility": [[0, -1], [0, 2]]}]
)
def test_profiles_begin_from_examples_words_and_goals(clients, goal):
    body = {
        "name": "grain",
        "words": {"wheat": 1.0, "oil": -1.0},
        "examples": [
            {"text": "wheat harvest", "relevant": True},
            {"text": "crude oil", "relevant": False},
        ],
        "goal": goal,
        "strategy": "plain",
    }
    assert clients.ada.post("/api/filters", json=body).status_code == 201
    assert get(clients.ada, "/api/filters/grain")["strategy"] == "plain"
    assert {
        word["word"]: word["strength"] for word in get(clients.ada, "/api/filters/grain/words")
    } == body["words"]


def test_documents_count_once(fed):
    again = fed.ada.post("/api/documents/batch", json={"documents": documents(50, 70)}).json()
    assert (again["accepted"], again["duplicates"]) == (10, 10)
    one = documents(70, 71)[0]
    assert fed.ada.post("/api/documents", json=one).json()["accepted"] == 1
    assert fed.ada.post("/api/documents", json=one).json() == {
        "accepted": 0,
        "duplicates": 1,
        "retrieved": [],
        "more": False,
    }
    twice = [documents(71, 72)[0]] * 2
    assert (
        fed.ada.post("/api/documents/batch", json={"documents": twice}).json()["duplicates"]
        == 1
    )


def test_a_stream_of_lines(fed):
    lines = "\n".join(json.dumps(document) for document in documents(60, 400)) + "\n\n"
    answer = fed.ada.post("/api/documents/stream", content=lines)
    assert answer.status_code == 200
    assert answer.json()["accepted"] == 340
    bad = fed.ada.post(
        "/api/documents/stream", content=json.dumps(documents(400, 401)[0]) + "\n{nonsense\n"
    )
    assert bad.status_code == 422
    assert bad.json()["detail"].startswith("line 2:")
    assert "1 documents before it were added" in bad.json()["detail"]
    assert get(fed.ada, "/api/filters/grain")["counters"]["seen"] == 401


def test_decisions_can_be_polled(fed):
    first = get(fed.reader, "/api/filters/grain/retrieved?limit=3")
    assert len(first["retrieved"]) == 3
    rest = get(fed.reader, f"/api/filters/grain/retrieved?after={first['next']}&limit=500")
    numbers = [entry["seq"] for entry in first["retrieved"] + rest["retrieved"]]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == get(fed.reader, "/api/filters/grain")["counters"]["retrieved"]
    assert get(fed.reader, f"/api/filters/grain/retrieved?after={rest['next']}") == {
        "retrieved": [],
        "next": rest["next"],
    }


def test_retrievals_come_as_events(fed):
    document = get(fed.ada, "/api/filters/grain/queue?limit=1")[0]["document"]["id"]
    judge(fed.ada, document, True)
    fed.ada.delete(f"/api/filters/grain/judgements/{document}")
    text = fed.reader.get("/api/filters/grain/retrieved/events?after=0&open_for=0").text
    events = [
        dict(line.split(": ", 1) for line in block.split("\n"))
        for block in text.strip().split("\n\n")
    ]
    kinds = [event.get("event") for event in events]
    assert (
        kinds.count("retrieved")
        == get(fed.reader, "/api/filters/grain")["counters"]["retrieved"]
    )
    said, undone = (
        json.loads(event["data"]) for event in events if event.get("event") == "judgement"
    )
    assert (said["user"], said["relevant"], said["conflict"]) == ("ada", True, False)
    assert undone["relevant"] is None
    last = events[-1]["id"]
    later = fed.reader.get(
        "/api/filters/grain/retrieved/events?open_for=0", headers={"Last-Event-ID": last}
    ).text
    assert "event:" not in later


def test_the_queue_shows_what_a_reviewer_needs(fed):
    queue = get(fed.ada, "/api/filters/grain/queue?limit=5")
    assert len(queue) == 5
    first = queue[0]
    assert 0 <= first["low"] <= first["probability"] <= first["high"] <= 1
    assert first["why"] in ("relevant", "queried")
    text = f"{first['document']['title']} {first['document']['text']}".lower()
    assert first["words"]
    for word in first["words"]:
        assert word["word"] in word["forms"]
        assert all(form in text for form in word["forms"])
    one = get(fed.ada, f"/api/filters/grain/documents/{first['document']['id']}")
    assert one == first


def test_two_reviewers_get_different_documents(fed):
    adas = {item["document"]["id"] for item in get(fed.ada, "/api/filters/grain/queue?limit=5")}
    bobs = {item["document"]["id"] for item in get(fed.bob, "/api/filters/grain/queue?limit=5")}
    assert len(adas) == len(bobs) == 5
    assert not adas & bobs
    assert {
        item["document"]["id"] for item in get(fed.ada, "/api/filters/grain/queue?limit=5")
    } == adas
    judged = adas.pop()
    judge(fed.ada, judged, True)
    after = {
        item["document"]["id"] for item in get(fed.ada, "/api/filters/grain/queue?limit=5")
    }
    assert judged not in after
    assert adas < after


def test_judgements_are_learned_and_taken_back(fed):
    service = fed.service
    before = ProfileState.of(service.live.engine.profiles["grain"])
    for item in get(fed.ada, "/api/filters/grain/queue?limit=8"):
        document = item["document"]["id"]
        said = judge(fed.ada, document, is_about("grain", document))
        assert (said["user"], said["conflict"]) == ("ada", False)
        assert judge(fed.ada, document, is_about("grain", document)) == said
    counters = get(fed.ada, "/api/filters/grain")["counters"]
    assert counters["judged_relevant"] + counters["judged_irrelevant"] == 8
    points = get(fed.ada, "/api/filters/grain/curve")["points"]
    assert points[-1] == {"judged": 8, "relevant": counters["judged_relevant"]}
    listed = get(fed.reader, "/api/filters/grain/judgements?limit=3")
    assert len(listed) == 3
    for entry in get(fed.reader, "/api/filters/grain/judgements"):
        assert (
            fed.ada.delete(f"/api/filters/grain/judgements/{entry['document']}").status_code
            == 200
        )
    assert same_state(before, ProfileState.of(service.live.engine.profiles["grain"]))
    assert (
        fed.ada.delete(f"/api/filters/grain/judgements/{listed[0]['document']}").status_code
        == 404
    )


def test_any_document_can_be_judged(fed):
    retrieved = {
        d["document"]
        for d in get(fed.ada, "/api/filters/grain/retrieved?limit=500")["retrieved"]
    }
    other = next(d["id"] for d in documents(0, 60) if d["id"] not in retrieved)
    assert get(fed.ada, f"/api/filters/grain/documents/{other}")["why"] is None
    judge(fed.ada, other, False)
    judge(fed.ada, other, True)
    assert get(fed.ada, "/api/filters/grain")["counters"]["judged_relevant"] == 1
    assert fed.ada.get("/api/filters/grain/documents/nowhere").status_code == 404
    missing = fed.ada.post(
        "/api/filters/grain/judgements", json={"document": "nowhere", "relevant": True}
    )
    assert missing.status_code == 404


def test_people_may_disagree(fed):
    document = get(fed.ada, "/api/filters/grain/queue?limit=1")[0]["document"]["id"]
    judge(fed.ada, document, True)
    assert judge(fed.bob, document, False)["conflict"] is True
    (conflict,) = get(fed.reader, "/api/filters/grain/conflicts")
    assert conflict["document"]["id"] == document
    assert [(said["user"], said["relevant"]) for said in conflict["judgements"]] == [
        ("bob", False),
        ("ada", True),
    ]
    assert get(fed.reader, "/api/filters/grain")["conflicts"] == 1
    counters = get(fed.reader, "/api/filters/grain")["counters"]
    assert (counters["judged_relevant"], counters["judged_irrelevant"]) == (0, 1)
    left = fed.bob.delete(f"/api/filters/grain/judgements/{document}").json()["judgements"]
    assert [said["user"] for said in left] == ["ada"]
    assert get(fed.reader, "/api/filters/grain")["counters"]["judged_relevant"] == 1
    assert get(fed.reader, "/api/filters/grain/conflicts") == []


def test_words_are_taught_and_taken_back(fed):
    before = ProfileState.of(fed.service.live.engine.profiles["grain"])
    taught = fed.ada.post(
        "/api/filters/grain/words", json={"word": "Farmers", "strength": 1}
    ).json()
    assert (taught["word"], taught["strength"], taught["user"]) == ("farmers", 1.0, "ada")
    (listed,) = get(fed.reader, "/api/filters/grain/words")
    assert listed == taught
    terms = get(fed.reader, "/api/filters/grain/terms?limit=20")
    assert "farmers" in [term["word"] for term in terms["for"]]
    assert terms["against"] == []
    fed.ada.post("/api/filters/grain/words", json={"word": "farmers", "strength": 0})
    assert get(fed.reader, "/api/filters/grain/words") == []
    assert same_state(before, ProfileState.of(fed.service.live.engine.profiles["grain"]))
    for word in ("the", "!?"):
        refused = fed.ada.post("/api/filters/grain/words", json={"word": word, "strength": 1})
        assert refused.status_code == 422
        assert "holds no word" in refused.json()["detail"]


def test_how_much_is_left_and_what_it_is_about(fed):
    early = get(fed.reader, "/api/filters/grain/stopping")
    assert (early["left"], early["found"], early["stop"]) == (None, 0, False)
    assert (
        early["sentence"]
        == "cannot tell yet how many are left: 0 of 10 relevant documents found"
    )
    for number in [*(n for n in range(30) if is_about("grain", f"d{n}")), 1, 2]:
        judge(fed.ada, f"d{number}", is_about("grain", f"d{number}"))
    backlog = get(fed.reader, "/api/filters/grain/stopping")
    assert (backlog["found"], backlog["left"], backlog["left_high"], backlog["stop"]) == (
        10,
        None,
        None,
        False,
    )
    assert 16 < backlog["pool"] < 60  # judged ones and those that people can reach
    assert backlog["sentence"].startswith(
        f"cannot tell yet how many are left: 12 of {backlog['pool']} retrieved"
    )
    for number in range(45):
        judge(fed.ada, f"d{number}", is_about("grain", f"d{number}"))
    estimate = get(fed.reader, "/api/filters/grain/stopping?recall=0.9")
    assert estimate["found"] == 15
    waiting = [
        each["document"]["id"] for each in get(fed.ada, "/api/filters/grain/queue?limit=50")
    ]
    left = sum(is_about("grain", document) for document in waiting)
    assert estimate["left_low"] <= left <= estimate["left_high"]
    assert "90% of them found with probability" in estimate["sentence"]
    topics = get(fed.reader, "/api/filters/grain/topics?n=3")
    assert topics
    assert sum(topic["documents"] for topic in topics) <= 60
    assert all(topic["words"] and topic["examples"] for topic in topics)


def test_what_is_judged_can_be_taken_along(fed, tmp_path):
    judge(fed.ada, "d0", True)
    judge(fed.ada, "d1", False)
    fed.ada.post("/api/documents", json={"id": "evil", "title": "=cmd()", "text": "@wheat"})
    judge(fed.ada, "evil", False)
    rows = list(
        csv.DictReader(
            io.StringIO(fed.reader.get("/api/filters/grain/export/judgements.csv").text)
        )
    )
    assert [(row["document"], row["relevant"]) for row in rows[:2]] == [
        ("d0", "true"),
        ("d1", "false"),
    ]
    assert (rows[2]["title"], rows[2]["text"]) == ("'=cmd()", "'@wheat")
    lines = fed.reader.get("/api/filters/grain/export/judgements.jsonl").text.splitlines()
    assert json.loads(lines[0])["user"] == "ada"
    model = fed.reader.get("/api/filters/grain/export/model").content
    (tmp_path / "grain.zip").write_bytes(model)
    assert load_model(tmp_path / "grain.zip").header["profiles"][0]["name"] == "grain"
    taken = fed.ada.post("/api/filters/import?name=copy", content=model)
    assert taken.status_code == 201, taken.text
    for document in ("d30", "d31"):
        one, other = (
            get(fed.ada, f"/api/filters/{name}/documents/{document}")
            for name in ("grain", "copy")
        )
        assert one["probability"] == pytest.approx(other["probability"], abs=1e-12)
    assert fed.ada.post("/api/filters/import", content=model).status_code == 409
    assert fed.ada.post("/api/filters/import", content=b"PK nonsense").status_code == 422


def test_texts_can_be_purged_and_what_was_learned_stays(fed):
    judge(fed.ada, "d0", True)
    before = ProfileState.of(fed.service.live.engine.profiles["grain"])
    assert fed.admin.post("/api/retention", json={"keep": 10}).json() == {"purged": 50}
    assert fed.admin.post("/api/retention", json={"before": "2020-01-01"}).json() == {
        "purged": 0
    }
    assert same_state(before, ProfileState.of(fed.service.live.engine.profiles["grain"]))
    purged = get(fed.ada, "/api/filters/grain/documents/d0")
    assert (purged["document"]["purged"], purged["document"]["text"]) == (True, "")
    waiting = get(fed.ada, "/api/filters/grain/queue?limit=100")
    old = next(item["document"]["id"] for item in waiting if item["document"]["purged"])
    judge(fed.ada, old, True)
    fed.ada.delete("/api/filters/grain/judgements/d0")
    retrieved = {
        d["document"]
        for d in get(fed.ada, "/api/filters/grain/retrieved?limit=500")["retrieved"]
    }
    never = next(d["id"] for d in documents(0, 50) if d["id"] not in retrieved)
    refused = fed.ada.post(
        "/api/filters/grain/judgements", json={"document": never, "relevant": False}
    )
    assert (refused.status_code, "purged" in refused.json()["detail"]) == (409, True)
    for body in ({}, {"keep": 1, "before": "2020-01-01"}, {"before": "yesterday"}):
        assert fed.admin.post("/api/retention", json=body).status_code == 422


def test_an_exported_profile_starts_a_filter_in_a_pipe(fed, tmp_path):
    import zipfile

    judge(fed.ada, "d0", True)
    (tmp_path / "grain.zip").write_bytes(
        fed.reader.get("/api/filters/grain/export/model").content
    )
    with zipfile.ZipFile(tmp_path / "grain.zip") as archive:
        archive.extractall(tmp_path / "grain.filter" / "start")
    opened = open_filter(tmp_path / "grain.filter")
    opened.log.close()
    assert opened.engine.profiles["grain"].n_relevant == 1
