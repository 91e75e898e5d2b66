"""A folder and the service on it: the folder has every decision first, and both are merged."""

import io
import zipfile

import pytest

from bayesift.cli import main
from bayesift.errors import DataError
from bayesift.references import read_references
from bayesift.screening import Project
from bayesift.screening.review_log import Event
from bayesift.service.reviews.live import Decide, perform
from tests.screening.test_full_texts import PDF
from tests.service.test_reviews import begin, decide, ris, same_log, screen
from tests.service.worlds import Clients, running


@pytest.fixture
def review(clients):
    return begin(clients.ada, ("a.ris", ris(0, 12)))["id"]


def served(folder):
    """A service of the project in a folder, as `bayesift screen --serve` has it."""
    return running(folder / "service", requests_per_second=1e6, burst=10**6)


def new_project(tmp_path):
    (tmp_path / "a.ris").write_bytes(ris(0, 12))
    return Project.create(tmp_path / "trade.review", read_references(tmp_path / "a.ris"))


def grown_apart(tmp_path):
    """A folder and its service that both have new events, as older versions left them."""
    with new_project(tmp_path) as project, served(project.folder) as service:
        service.mirror(project, "ann")
        log = (project.folder / "decisions.jsonl").read_bytes()
        ada = Clients(service).ada
        decide(ada, project.id, "1", "included")
        decide(ada, project.id, "2", "excluded")
    (project.folder / "decisions.jsonl").write_bytes(log)
    (project.folder / "decisions.mark").unlink()
    with Project(project.folder, writing=True) as project:
        project.append("decide", by="ann", record="1", verdict="excluded")
    return project.folder


def test_a_folder_and_its_service_that_both_grew_are_merged_by_the_service(tmp_path):
    folder = grown_apart(tmp_path)
    with Project(folder, writing=True) as project, served(folder) as service:
        found = service.mirror(project, "ann")
        assert [str(each) for each in found.conflicts] == [
            "record 1: ada: included, ann: excluded"
        ]
        log = service.live.reviews.opened[project.id].log
        assert [(event.type, event.by) for event in log.events] == [
            ("decide", "ada"),
            ("decide", "ada"),
            ("decide", "ann"),
            ("merge", "ann"),
        ]
        assert project.events == log.events
        project_is_written(service, project)
    with Project(folder, writing=True) as project, served(folder) as service:
        found = service.mirror(project, "ann")
        assert (list(found.here), list(found.there)) == ([], [])
        assert len(project.events) == 5


def project_is_written(service, project):
    """Whether a further decision is in the project as well as in the log of the service."""
    command = Decide(record="3", verdict="maybe")
    service.writer.submit("ann", lambda unit: perform(unit, project.id, command)).result()
    assert project.events == service.live.reviews.opened[project.id].log.events
    assert project.events[-1].record == "3"
    assert same_log(service, project.id)


def test_full_texts_are_kept_in_the_folder_that_is_served(tmp_path):
    with new_project(tmp_path) as project, served(project.folder) as service:
        service.mirror(project, "ann")
        path = f"/api/reviews/{project.id}/records/1/full-text.pdf"
        assert Clients(service).ada.put(f"{path}?name=a.pdf", content=PDF).status_code == 200
    with Project(tmp_path / "trade.review") as again:
        assert again.full_texts.read(again.full_text_files["1"].digest) == PDF


def test_a_folder_takes_what_its_service_has_when_it_is_opened_in_the_terminal(
    tmp_path, capsys, monkeypatch
):
    folder = grown_apart(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    with pytest.raises(SystemExit) as ended:
        main(["screen", str(folder), "--reviewer", "ann", "--plain", "-q"])
    assert not ended.value.code
    said = capsys.readouterr().err
    assert "both had new events: merged by time" in said
    assert "disagreement on record 1: ann: excluded, ada: included" in said
    with Project(folder, writing=True) as project:
        assert [event.by for event in project.events] == ["ada", "ada", "ann", "ann"]
        events = list(project.events)
        with served(folder) as service:
            service.mirror(project, "ann")
            assert service.live.reviews.opened[project.id].log.events == events


def test_the_folder_has_a_decision_before_it_is_answered(tmp_path):
    with new_project(tmp_path) as project, served(project.folder) as service:
        service.mirror(project, "ann")
        ada = Clients(service).ada
        for record in ("1", "2", "3"):
            decide(ada, project.id, record, "maybe")
            with Project(project.folder) as reader:
                assert reader.events[-1].record == record


def test_a_folder_that_cannot_be_written_refuses_and_a_failed_commit_leaves_it_as_it_was(
    tmp_path, monkeypatch
):
    with new_project(tmp_path) as project, served(project.folder) as service:
        service.mirror(project, "ann")
        ada = Clients(service).ada
        decide(ada, project.id, "1", "maybe")
        body = {"record": "2", "verdict": "included"}
        path = f"/api/reviews/{project.id}/decisions"

        def full(*_):
            raise DataError("cannot be written (No space left on device)")

        with monkeypatch.context() as patch:
            patch.setattr(project, "extend", full)
            assert ada.post(path, json=body).status_code == 503
        with monkeypatch.context() as patch:
            patch.setattr(
                service.live.mirrors, "write", failing_after(service.live.mirrors.write)
            )
            assert ada.post(path, json=body).status_code == 503
        assert [event.record for event in project.events] == ["1"]
        assert ada.post(path, json=body).status_code == 200
        assert same_log(service, project.id)
    with Project(tmp_path / "trade.review") as project:
        assert [event.record for event in project.events] == ["1", "2"]


def failing_after(write):
    def broken(reviews):
        write(reviews)
        raise OSError("the disk is gone")

    return broken


def test_an_upload_of_a_log_that_grew_beside_the_review_is_merged(tmp_path, clients, review):
    screen(clients.ada, review, 2)
    with zipfile.ZipFile(
        io.BytesIO(clients.ada.get(f"/api/reviews/{review}/project.zip").content)
    ) as archive:
        archive.extractall(tmp_path / "mine")
    screen(clients.bob, review, 1)
    with Project(tmp_path / "mine", writing=True) as project:
        project.append("note", by="ada", record="1", text="elsewhere")
    for _ in range(2):
        assert send_project(clients.ada, tmp_path / "mine").status_code == 201
    log = clients.service.live.reviews.opened[review].log
    assert [event.type for event in log.events] == [
        *["decide"] * 3,
        "note",
        "merge",
        "import",
        "import",
    ]
    assert same_log(clients.service, review)
    audit = clients.ada.get(f"/api/reviews/{review}/audit.csv").text
    assert '""merged"": 2' in audit


def test_an_upload_cannot_displace_what_others_did(tmp_path, clients, review):
    screen(clients.ada, review, 1)
    with zipfile.ZipFile(
        io.BytesIO(clients.ada.get(f"/api/reviews/{review}/project.zip").content)
    ) as archive:
        archive.extractall(tmp_path / "mine")
    decide(clients.bob, review, "7", "maybe")
    with Project(tmp_path / "mine", writing=True) as project:
        joined = Event("join", "2026-01-01T00:00:00.000Z", "ada", "8", {"records": ["7"]})
        project.extend([joined])
    answer = send_project(clients.ada, tmp_path / "mine")
    assert answer.status_code == 409
    assert "by bob on record 7" in answer.json()["detail"]
    assert same_log(clients.service, review)


def send_project(client, folder):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in ("project.json", "records.parquet", "decisions.jsonl"):
            archive.write(folder / file, file)
    return client.post("/api/reviews/project?name=mine.zip", content=packed.getvalue())
