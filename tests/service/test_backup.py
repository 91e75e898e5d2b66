"""A backup of a running service restores to the same service, on either database."""

import threading
import zipfile

import pytest

from bayesift import TextClassifier
from bayesift.cli import serve
from bayesift.errors import DataError
from bayesift.filtering import ProfileState
from bayesift.service.db.backup import back_up, restore
from bayesift.service.db.database import reading_only
from bayesift.service.models.shelf import add_file
from tests.filtering.worlds import same_state
from tests.servers import new_database
from tests.service.test_models import as_admin, training
from tests.service.test_reviews import begin, decide, ris
from tests.service.worlds import Clients, documents, is_about, running


@pytest.fixture(params=["sqlite", "postgresql"])
def other_database(request):
    """Where the backup is restored."""
    if request.param == "sqlite":
        return None
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def filled(tmp_path, database):
    """A running service with a filter, a review and a model."""
    with running(tmp_path / "data", database, requests_per_second=1e6, burst=10**6) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 30)})
        for number in range(6):
            body = {"document": f"d{number}", "relevant": is_about("grain", f"d{number}")}
            clients.ada.post("/api/filters/grain/judgements", json=body)
        review = begin(clients.ada, ("a.ris", ris(0, 12)))["id"]
        decide(clients.ada, review, "1", "included")
        path = tmp_path / "model.zip"
        TextClassifier(model="naive-bayes").fit(*training()).save(path)
        add_file(service, "topics", path)
        service.review = review
        yield service, clients


def stored(folder, database):
    with reading_only(folder, database) as read:
        return list(read.events()), read.users(), read.models(), read.judgements("grain")


def test_a_backup_under_load_restores_to_the_same_service(
    filled, tmp_path, database, other_database
):
    service, clients = filled
    ended = threading.Event()

    def feed():
        start = 1000
        while not ended.is_set():
            batch = {"documents": documents(start, start + 20)}
            assert clients.bob.post("/api/documents/batch", json=batch).status_code == 200
            start += 20

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        facts = back_up(tmp_path / "data", database, tmp_path / "copy")
    finally:
        ended.set()
        feeder.join()
    made = restore(tmp_path / "copy", tmp_path / "restored", other_database)
    assert (made.n_events, made.n_rows) == (facts.n_events, facts.n_rows)
    events, users, models, judgements = stored(tmp_path / "data", database)
    found = stored(tmp_path / "restored", other_database)
    assert found == (events[: facts.n_events], users, models, judgements)
    # The engine that is replayed from the copy is that of the source after as many events.
    with running(tmp_path / "restored", other_database) as copy:
        assert copy.live.seq == facts.n_events
        reader = as_admin(copy, service.first_token)
        body = {"texts": ["wheat corn"]}
        answer = reader.post("/api/models/topics/classify", json=body).json()
        assert answer["answers"][0]["categories"] == ["grain"]
        record = reader.get(f"/api/reviews/{service.review}/records/1").json()
        assert record["decisions"][0]["verdict"] == "included"
        assert reader.post(
            "/api/documents/batch", json={"documents": documents(90, 95)}
        ).is_success


def test_a_backup_without_load_has_the_same_filters(filled, tmp_path, database):
    service, _ = filled
    back_up(tmp_path / "data", database, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "restored", None)
    with running(tmp_path / "restored") as copy:
        one, other = (
            ProfileState.of(each.live.engine.profiles["grain"]) for each in (service, copy)
        )
        assert same_state(one, other)


def test_no_damage_is_restored(tmp_path):
    with running(tmp_path / "data") as service:
        Clients(service).ada.post("/api/filters", json={"name": "grain", "query": "wheat"})
    back_up(tmp_path / "data", None, tmp_path / "copy")
    content = (tmp_path / "copy").read_bytes()
    for place in range(0, len(content), max(1, len(content) // 150)):
        damaged = bytearray(content)
        damaged[place] ^= 0x20
        (tmp_path / "damaged").write_bytes(bytes(damaged))
        try:
            restore(tmp_path / "damaged", tmp_path / "restored", None)
        except DataError:
            assert not (tmp_path / "restored").exists()
            continue
        # Dates and attributes of members of the archive are not part of the content.
        assert stored(tmp_path / "restored", None) == stored(tmp_path / "data", None)
        for file in sorted((tmp_path / "restored").rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        (tmp_path / "restored").rmdir()
    (tmp_path / "damaged").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="damaged, or not a backup"):
        restore(tmp_path / "damaged", tmp_path / "restored", None)


def test_nothing_is_overwritten(tmp_path):
    with running(tmp_path / "data"):
        pass
    back_up(tmp_path / "data", None, tmp_path / "copy")
    with pytest.raises(DataError, match="holds something already"):
        restore(tmp_path / "copy", tmp_path / "data", None)
    with pytest.raises(DataError, match="is not the folder of a service"):
        back_up(tmp_path, None, tmp_path / "copy")


def test_paths_that_leave_the_folder_are_refused(tmp_path):
    with running(tmp_path / "data"):
        pass
    back_up(tmp_path / "data", None, tmp_path / "copy")
    with zipfile.ZipFile(tmp_path / "copy") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = "files/models/../../evil"
    digest = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"  # of "foo"
    header = members["backup.json"].replace(
        b'"digests": {', f'"digests": {{"{name}": "{digest}",'.encode()
    )
    with zipfile.ZipFile(tmp_path / "copy", "w") as archive:
        for member, content in {**members, "backup.json": header, name: b"foo"}.items():
            archive.writestr(member, content)
    with pytest.raises(DataError, match="does not hold"):
        restore(tmp_path / "copy", tmp_path / "restored", None)
    assert not (tmp_path / "evil").exists()


def test_the_commands(tmp_path, capsys):
    with running(tmp_path / "data"):
        target = tmp_path / "copy"
        serve.backup(tmp_path / "data", target)
        serve.restore(target, tmp_path / "new")
    said = capsys.readouterr().err
    assert f"{tmp_path / 'new'}: " in said
    assert "rows" in said
