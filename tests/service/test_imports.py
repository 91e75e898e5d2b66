"""Projects that people send: whose events are taken, and that forged ones leave nothing behind."""

import csv
import hashlib
import io
import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesift.errors import DataError
from bayesift.journal import Journal
from bayesift.screening import Project
from tests.service.test_reviews import begin, ris, same_log, screen

AT = "2026-01-02T03:04:05.000Z"
FILES = ("project.json", "records.parquet", "decisions.jsonl")
OTHER_ID = "0123456789abcdef"


@pytest.fixture
def review(clients):
    return begin(clients.ada, ("a.ris", ris(0, 12)))["id"]


@pytest.fixture
def folder(clients, review, tmp_path):
    """The project of the review, as ada has it on her machine."""
    screen(clients.ada, review, 3)
    return unpacked(clients.ada.get(f"/api/reviews/{review}/project.zip"), tmp_path / "mine")


@pytest.fixture(scope="module")
def sent(shared_clients):
    """The project of a review; what is made of it below is refused, and changes nothing."""
    shared = begin(shared_clients.ada, ("a.ris", ris(0, 12)))["id"]
    screen(shared_clients.ada, shared, 3)
    return shared_clients.ada.get(f"/api/reviews/{shared}/project.zip")


@pytest.fixture
def forged(sent, tmp_path):
    return unpacked(sent, tmp_path / "mine")


def unpacked(answer, folder):
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(folder)
    return folder


def post(client, folder, files=FILES):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in files:
            archive.write(folder / file, file)
    return client.post("/api/reviews/project?name=mine.zip", content=packed.getvalue())


def redescribe(folder, **changes):
    """Change project.json, with the digest that belongs to it."""
    path = folder / "project.json"
    description = json.loads(path.read_text()) | changes
    del description["digest"]
    text = json.dumps(description, sort_keys=True)
    description["digest"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(description))


def forge(folder, **values):
    """Add an event to the log, with the digest that belongs to it."""
    with Journal(folder / "decisions.jsonl", writing=True) as journal:
        event = {"n": journal.end.n_entries, "type": "decide", "at": AT, "by": "ada"}
        journal.append([json.dumps(event | {"record": "1"} | values).encode()])


def audit(client, review):
    answer = client.get(f"/api/reviews/{review}/audit.csv")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.text)))


def n_stored(service):
    with service.store.reading() as read:
        return read.last_seq(), len(list(read.reviews()))


def assert_refused(clients, answer, before, status=422):
    assert answer.status_code == status, answer.text
    detail = answer.json()["detail"]
    assert detail
    assert "\n" not in detail
    assert "/" not in detail
    assert n_stored(clients.service) == before
    return detail


def test_own_new_events_are_taken_again_and_again_and_every_import_is_an_event(
    clients, review, folder
):
    for turn in range(2):
        with Project(folder, writing=True) as project:
            project.append("note", by="ada", record="1", text=f"note {turn}")
        assert post(clients.ada, folder).status_code == 201
    rows = audit(clients.ada, review)
    assert [row["what"] for row in rows[3:]] == ["note", "import", "note", "import"]
    assert {row["by"] for row in rows} == {"ada"}
    assert json.loads(rows[-1]["details"]) == {"file": "mine", "events": 1}
    assert same_log(clients.service, review)
    again = unpacked(
        clients.ada.get(f"/api/reviews/{review}/project.zip"), folder.with_name("again")
    )
    assert post(clients.ada, again).status_code == 201


def test_lines_cut_from_the_log_of_a_packed_project_are_noticed(clients, folder):
    log = folder / "decisions.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(DataError, match="has 2 entries, but 3 were written"):
        Project(folder)
    answer = post(clients.ada, folder, (*FILES, "decisions.mark"))
    detail = assert_refused(clients, answer, n_stored(clients.service))
    assert detail.startswith("decisions.jsonl: has 2 entries, but 3 were written")


def test_events_in_the_name_of_others_are_refused_by_name(clients, review, folder):
    forge(folder, verdict="included")
    forge(folder, by="bob", verdict="included")
    forge(folder, by="cy", verdict="excluded")
    before = n_stored(clients.service)
    detail = assert_refused(clients, post(clients.ada, folder), before, 403)
    assert "'bob' (1), 'cy' (1)" in detail
    assert_refused(clients, post(clients.bob, folder), before, 403)
    assert same_log(clients.service, review)


def test_a_new_review_takes_all_events_and_says_who_sent_them(clients, folder):
    forge(folder, by="bob", verdict="included")
    redescribe(folder, id=OTHER_ID)
    assert post(clients.ada, folder).json()["id"] == OTHER_ID
    rows = audit(clients.ada, OTHER_ID)
    assert [(row["by"], row["what"]) for row in rows[-2:]] == [
        ("bob", "decide"),
        ("ada", "import"),
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"verdict": "perhaps"},
        {"verdict": None},
        {"verdict": ["included"]},
        {"verdict": "included", "record": "99"},
        {"verdict": "included", "record": ""},
        {"verdict": "included", "record": 1},
        {"verdict": "included", "by": ""},
        {"verdict": "included", "by": None},
        {"verdict": "included", "by": "a\ud800"},
        {"verdict": "included", "at": "yesterday"},
        {"verdict": "included", "at": "2026-01-02T03:04:05"},
        {"verdict": "included", "at": 5},
        {"verdict": "included", "at": "2999-01-02T03:04:05.000Z"},
        {"verdict": "included", "stage": "third"},
        {"verdict": "included", "reasons": "x"},
        {"verdict": "included", "reasons": [5]},
        {"verdict": "included", "score": float("nan")},
        {"verdict": "included", "seconds": float("inf")},
        {"verdict": "included", "seconds": 10**400},
        {"verdict": "included", "rank": "first"},
        {"verdict": "included", "other": float("nan")},
        {"type": "dream"},
        {"type": ["decide"]},
        {"type": "resolve", "verdict": "included"},
        {"type": "undo", "by": "bob"},
        {"type": "note"},
        {"type": "note", "text": {"a": 1}},
        {"type": "note", "text": "\udfff"},
        {"type": "tag", "tags": 5},
        {"type": "tag", "tags": [None]},
        {"type": "file", "place": 5},
        {"type": "words", "record": "", "words": {"rain": "x"}},
        {"type": "words", "record": "", "words": {"rain": 1e300}},
        {"type": "words", "record": "", "words": [["rain", 1]]},
        {"type": "join", "records": ["99"]},
        {"type": "join", "records": 5},
        {"type": "split"},
        {"type": "prior", "record": "", "records": [{"title": "x"}]},
        {"type": "settings", "record": "", "reviewers_per_record": 7},
        {"type": "settings", "record": "", "reasons": 7},
        {"type": "stop", "record": "", "reason": 5},
        {"type": "import", "record": "", "events": "many"},
    ],
)
def test_events_that_no_program_writes_are_refused_and_leave_nothing(
    shared_clients, forged, values
):
    forge(forged, **values)
    before = n_stored(shared_clients.service)
    assert_refused(shared_clients, post(shared_clients.ada, forged), before)
    redescribe(forged, id=OTHER_ID)
    assert_refused(shared_clients, post(shared_clients.ada, forged), before)
    assert shared_clients.ada.get(f"/api/reviews/{OTHER_ID}").status_code == 404


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "../../x"},
        {"id": 5},
        {"id": "A" * 16},
        {"settings": {"query": 5}},
        {"settings": {"query": "\ud800"}},
        {"settings": {"other": 5}},
        {"settings": []},
        {"files": [{"file": 5}]},
        {"files": 5},
        {"problems": float("nan")},
        {"problems": "x"},
        {"created": None, "id": None},
        {"version": 9},
        {"kind": "x"},
    ],
)
def test_descriptions_that_no_program_writes_are_refused(shared_clients, forged, changes):
    before = n_stored(shared_clients.service)
    redescribe(forged, **changes)
    assert_refused(shared_clients, post(shared_clients.ada, forged), before)


def replaced(name, values):
    def change(table):
        at = table.column_names.index(name)
        return table.set_column(at, name, values(len(table)))

    return change


BAD_TEXT = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())


@pytest.mark.parametrize(
    "change",
    [
        replaced("title", lambda n: pa.array([5] * n)),
        replaced("title", lambda n: pa.concat_arrays([BAD_TEXT] * n)),
        replaced("authors", lambda n: pa.array([5] * n)),
        replaced("authors", lambda n: pa.array([[None]] * n, pa.list_(pa.string()))),
        replaced("keywords", lambda n: pa.array([["a", None]] * n, pa.list_(pa.string()))),
        replaced("decisions", lambda n: pa.array(["x"] * n)),
        replaced("year", lambda n: pa.array(["x"] * n)),
        replaced("record", lambda n: pa.array([None] * n, pa.int32())),
        replaced("record", lambda n: pa.array([-1] * n, pa.int32())),
        replaced("record", lambda n: pa.array(["1"] * n)),
        replaced("record", lambda n: pa.array([2**30] * n)),
        replaced("record", lambda n: pa.array([2**60] * n)),
        lambda table: table.drop_columns(["record"]),
        lambda table: table.drop_columns(["abstract"]),
        lambda table: table.slice(0, 0),
        lambda table: pa.table({"x": [1]}),
    ],
)
def test_records_that_no_program_writes_are_refused(shared_clients, forged, change):
    path = forged / "records.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    redescribe(forged, records=digest, id=OTHER_ID)
    before = n_stored(shared_clients.service)
    assert_refused(shared_clients, post(shared_clients.ada, forged), before)
    (forged / "decisions.jsonl").write_bytes(b"")
    assert_refused(shared_clients, post(shared_clients.ada, forged), before)


def test_a_project_with_other_records_is_not_taken_for_the_review(clients, review, folder):
    path = folder / "records.parquet"
    table = replaced("title", lambda n: pa.array(["Another"] * n))(pq.read_table(path))
    pq.write_table(table, path)
    redescribe(folder, records=hashlib.sha256(path.read_bytes()).hexdigest())
    before = n_stored(clients.service)
    assert "other records" in assert_refused(clients, post(clients.ada, folder), before, 409)
    assert same_log(clients.service, review)
