"""The mark of the last commit: a database that lost its end is not served, and told to people."""

import shutil

import psycopg
import pytest
from sqlalchemy import text

from bayesift.cli import main
from bayesift.errors import DataError
from bayesift.service.checking import check_service
from bayesift.service.db.database import FILE, open_store
from bayesift.service.db.mark import MARK, CommitEnd, CommitMark
from bayesift.service.db.tables import Writing
from tests.service.worlds import Clients, documents, running

DIGEST = "0123456789abcdef" * 2


def judged(clients, start, stop):
    for number in range(start, stop):
        body = {"document": f"d{number}", "relevant": number % 3 == 0}
        assert clients.ada.post("/api/filters/grain/judgements", json=body).status_code == 200


@pytest.fixture
def killed(tmp_path):
    """The folder of a service that was killed: what it wrote last is in the WAL only."""
    with running(tmp_path / "running") as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 30)})
        shutil.copytree(tmp_path / "running", tmp_path / "older")
        judged(clients, 0, 20)
        last = service.live.seq
        shutil.copytree(tmp_path / "running", tmp_path / "killed")
    return tmp_path / "killed", last


def opened(folder):
    with open_store(folder) as store, store.reading() as read:
        return read.last_seq()


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def check(folder, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--data", str(folder), "--check"])
    return ended.value.code or 0, capsys.readouterr().out


def contents(folder):
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


def test_a_flipped_bit_in_the_wal_is_refused_and_the_missing_events_are_named(killed, capsys):
    folder, last = killed
    wal = folder / f"{FILE}-wal"
    flip(wal, wal.stat().st_size // 2)
    before = contents(folder)
    with pytest.raises(DataError, match=rf"{FILE}: events .* to {last} are missing") as refused:
        opened(folder)
    code, said = check(folder, capsys)
    assert code == 1
    assert f"to {last} are missing, which {MARK} says were acknowledged" in said
    assert contents(folder) == before
    left = int(str(refused.value).rpartition("--accept-loss ")[2])
    assert left < last
    with pytest.raises(DataError, match=f"its last event is {left}"):
        open_store(folder, accept_loss=left - 1)
    open_store(folder, accept_loss=left).close()
    assert opened(folder) == left
    assert check(folder, capsys) == (0, f"{folder}: nothing is wrong, {left} events\n")


def test_a_whole_folder_is_served_and_checked(killed, capsys):
    folder, last = killed
    assert check(folder, capsys)[0] == 0
    assert opened(folder) == last


@pytest.mark.parametrize("lost", [[f"{FILE}-wal"], [FILE, f"{FILE}-wal"]])
def test_files_that_are_gone_or_empty_are_refused(killed, lost):
    folder, _ = killed
    for name in lost:
        (folder / name).unlink()
    with pytest.raises(DataError, match=FILE):
        opened(folder)
    if FILE in lost:
        assert not (folder / FILE).exists()
        (folder / FILE).touch()
        with pytest.raises(DataError, match="events are gone"):
            opened(folder)


def test_an_older_copy_under_a_newer_mark_or_snapshot_is_refused(killed, tmp_path, capsys):
    folder, last = killed
    older = tmp_path / "older"
    n_older = opened(older)
    shutil.copy(folder / MARK, older / MARK)
    with pytest.raises(DataError, match=f"events {n_older + 1} to {last} are missing"):
        opened(older)
    with running(folder):
        pass  # ends with a snapshot
    shutil.copytree(folder / "snapshots", older / "snapshots")
    (older / MARK).unlink()
    with pytest.raises(DataError, match="is newer than the log"), running(older):
        pass
    code, said = check(older, capsys)
    assert code == 1
    assert f"events {n_older + 1} to {last} are missing" in said
    with running(older, accept_loss=n_older) as service:
        assert service.live.seq == n_older
    with running(older) as service:
        assert service.live.seq == n_older


def test_a_mark_that_is_older_or_missing_is_moved(killed, tmp_path):
    folder, last = killed
    for old in ((tmp_path / "older" / MARK).read_bytes(), b"", b"\0" * 256):
        (folder / MARK).write_bytes(old)
        assert opened(folder) == last
        assert CommitMark(folder).read().seq == last
    (folder / MARK).unlink()
    assert opened(folder) == last
    assert CommitMark(folder).read().seq == last


def test_another_event_in_the_place_of_the_last_one_is_refused(killed):
    folder, last = killed
    end = CommitMark(folder).read()
    CommitMark(folder).remove()
    CommitMark(folder).move(end._replace(digest=DIGEST))
    with pytest.raises(DataError, match=f"event {last} is not the one"):
        opened(folder)
    CommitMark(folder).remove()
    CommitMark(folder).move(end._replace(store=DIGEST))
    with pytest.raises(DataError, match="is not the database of"):
        opened(folder)


def test_lost_changes_of_people_are_noticed_too(tmp_path):
    with open_store(tmp_path / "one") as store:
        with store.writing() as tx:
            from bayesift.service.access.operations import add_user

            add_user(tx, "ann", "reviewer")
        with store.writing() as tx:
            assert tx.n_commits() == 1
    end = CommitMark(tmp_path / "one").read()
    assert (end.commits, end.seq) == (1, 0)
    CommitMark(tmp_path / "one").remove()
    CommitMark(tmp_path / "one").move(end._replace(commits=2))
    with pytest.raises(DataError, match="1 commits of 2"):
        opened(tmp_path / "one")


def test_one_of_two_records_is_whole_whatever_is_written(tmp_path):
    mark = CommitMark(tmp_path)
    assert mark.read() is None
    for number in range(1, 6):
        end = CommitEnd(DIGEST, number, number, DIGEST)
        mark.move(end)
        whole = mark.path.read_bytes()
        for place in range(len(whole) if number > 1 else 0):
            flip(mark.path, place)
            before = end._replace(commits=number - 1, seq=number - 1)
            assert CommitMark(tmp_path).read() in (end, before)
            mark.path.write_bytes(whole)
    mark.path.write_bytes(b"x" * len(whole))
    with pytest.raises(DataError, match=rf"{MARK}: is damaged"):
        mark.read()


def test_what_is_not_marked_is_not_acknowledged(service, monkeypatch):
    clients = Clients(service)
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})

    def full(*_):
        raise DataError("cannot be written (No space left on device)")

    with monkeypatch.context() as patch:
        patch.setattr(CommitMark, "move", full)
        answer = clients.ada.post("/api/documents/batch", json={"documents": documents(0, 3)})
        assert answer.status_code == 503
    assert clients.ada.post(
        "/api/documents/batch", json={"documents": documents(3, 6)}
    ).is_success
    assert CommitMark(service.settings.folder).read().seq == service.live.seq


def test_events_lost_in_postgresql_are_named(tmp_path, database):
    if database is None:
        pytest.skip("of PostgreSQL")
    with running(tmp_path, database) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 3)})
        last = service.live.seq
    shutil.rmtree(tmp_path / "snapshots")
    assert check_service(tmp_path, database) == (last, [])
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"DELETE FROM events WHERE seq >= {last - 1}")
    with pytest.raises(DataError, match=f"events {last - 1} to {last} are missing"):
        open_store(tmp_path, database)
    _, wrong = check_service(tmp_path, database)
    assert f"events {last - 1} to {last} are missing" in wrong[0]


def test_gaps_and_changed_events_are_named_by_the_check(tmp_path, capsys):
    with running(tmp_path) as service:
        clients = Clients(service)
        clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
        clients.ada.post("/api/documents/batch", json={"documents": documents(0, 5)})
    shutil.rmtree(tmp_path / "snapshots")
    with open_store(tmp_path) as store, store.writing() as tx:
        assert isinstance(tx, Writing)
        tx._connection.execute(text("DELETE FROM events WHERE seq IN (2, 3)"))
    code, said = check(tmp_path, capsys)
    assert code == 1
    assert "the log has no event 2, 3" in said
    assert "event 4 of the table events is not what was stored" in said
    with pytest.raises(SystemExit):
        main(["serve", "--data", str(tmp_path / "nothing"), "--check"])
    assert not (tmp_path / "nothing").exists()
