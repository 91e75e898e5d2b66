"""The project on disk: what is kept, what is refused, and what a crash may lose."""

import errno
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from bayesift.errors import DataError
from bayesift.references import Decision, Reference, ReferenceList
from bayesift.screening import (
    Duplicates,
    Pool,
    Project,
    ProjectSettings,
    is_project,
    with_decisions,
)
from bayesift.screening.review import PoolTexts

CORN = Reference(
    id="a",
    title="Corn prices in Iowa",
    abstract="Corn was dear.",
    doi="10.1/c",
    file="a.ris",
    format="ris",
)
RECORDS = ReferenceList(
    (
        CORN,
        Reference(id="b", title="Gold mines of Peru", abstract="Gold was found.", file="a.ris"),
        replace(CORN, id="c", file="b.ris", keywords=("maize",)),
        Reference(id="d", title="Wheat and weather", abstract="Rain.", file="b.ris"),
    )
)


@pytest.fixture
def folder(tmp_path):
    with Project.create(
        tmp_path / "review", RECORDS, settings=ProjectSettings("corn", reasons=("wrong crop",))
    ):
        pass
    return tmp_path / "review"


def writing(folder):
    return Project(folder, writing=True)


def test_records_are_kept_with_all_their_sources(folder):
    with Project(folder) as project:
        assert list(project.references) == list(RECORDS)
        assert [len(record.sources) for record in project.records.values()] == [2, 1, 1]
        assert project.records["1"].reference.keywords == ("maize",)
        assert project.settings == ProjectSettings("corn", reasons=("wrong crop",))
    assert is_project(folder)
    assert not is_project(folder.parent)


def test_decisions_hold_until_they_are_changed_or_taken_back(folder):
    with writing(folder) as project:
        project.append(
            "decide", by="ann", record="1", verdict="included", rank=1, score=0.5, seconds=3.2
        )
        project.append("decide", by="ben", record="1", verdict="included")
        project.append(
            "decide", by="ann", record="2", verdict="excluded", reasons=["wrong crop"]
        )
        project.append("decide", by="ann", record="2", verdict="maybe")
        project.append("note", by="ann", record="2", text="see the full text")
        assert project.verdict("1") == "included"
        assert project.verdict("2") == "maybe"
        project.append("undo", by="ann", record="2")
        assert project.decisions["2"]["ann"].verdict == "excluded"
        assert project.decisions["2"]["ann"].reasons == ("wrong crop",)
        project.append("decide", by="ben", record="2", verdict="included")
        assert project.verdict("2") == "maybe"
        project.append("undo", by="ann", record="2")
        assert project.verdict("2") == "included"
        expected = project.decisions, project._notes, len(project.events)
    with Project(folder) as again:
        assert (again.decisions, again._notes, len(again.events)) == expected
        assert again.last_decision("ann") == "1"
        assert again.last_decision("cy") is None
        assert again.verdict("3") is None


def test_duplicates_can_be_split_and_joined(folder):
    with writing(folder) as project:
        project.append("decide", by="ann", record="3", verdict="included")
        project.append("split", by="ann", record="1")
        assert [len(record.sources) for record in project.records.values()] == [1, 1, 1, 1]
        project.append("join", by="ann", record="2", records=["3"])
        assert project.verdict("2") == "included"
        expected = {name: record.sources for name, record in project.records.items()}
    with Project(folder) as again:
        assert {name: record.sources for name, record in again.records.items()} == expected


def test_a_record_carries_its_decisions_out(folder):
    with writing(folder) as project:
        project.append(
            "decide", by="ann", record="1", verdict="excluded", reasons=["wrong crop"]
        )
        project.append("note", by="ann", record="1", text="sure")
        told = with_decisions(project.records["1"], project, {"rank": "3", "probability": ""})
    assert told.decisions == (Decision("excluded", "ann", ("wrong crop",)),)
    assert dict(told.annotations) == {"rank": "3", "note": "sure"}
    assert told.doi == CORN.doi


def test_a_second_writer_is_refused(folder):
    with writing(folder), pytest.raises(DataError, match="another program is writing"):
        writing(folder)
    with writing(folder) as project, Project(folder) as reader:
        project.append("decide", by="ann", record="1", verdict="included")
        with pytest.raises(DataError, match="reading only"):
            reader.append("decide", by="ann", record="1", verdict="included")


def decide_twice(folder):
    with writing(folder) as project:
        project.append("decide", by="ann", record="1", verdict="included")
        project.append("decide", by="ann", record="2", verdict="excluded")
    return folder / "decisions.jsonl"


def as_version_1(folder):
    """Make of a folder what bayesift wrote before there were digests."""
    log = folder / "decisions.jsonl"
    lines = []
    for line in log.read_text().splitlines()[1:]:
        values = json.loads(line)
        del values["digest"]
        lines.append(json.dumps(values, ensure_ascii=False) + "\n")
    log.write_text("".join(lines))
    description = json.loads((folder / "project.json").read_text()) | {"version": 1}
    del description["records"], description["digest"]
    (folder / "project.json").write_text(json.dumps(description))
    (folder / "decisions.mark").unlink()
    (folder / "lock").touch()


def test_a_line_that_was_cut_off_is_forgotten(folder):
    log = decide_twice(folder)
    whole = log.read_bytes()
    lines = whole.splitlines(True)
    first = len(lines[0]) + len(lines[1])
    mark = (folder / "decisions.mark").read_bytes()
    for cut in (*range(first, len(whole), 40), len(whole) - 1):
        log.write_bytes(whole[:cut])
        (folder / "decisions.mark").unlink()  # which moves on when a line is complete
        with Project(folder) as project:
            assert len(project.events) == 1
        with writing(folder) as project:
            assert bool(project.note) == (cut != first)
            project.append("decide", by="ann", record="3", verdict="maybe")
        with Project(folder) as project:
            assert list(project.decisions) == ["1", "3"]
        log.write_bytes(whole[:cut])
        (folder / "decisions.mark").write_bytes(mark)
        with pytest.raises(DataError, match="has 1 entries, but 2 were written"):
            Project(folder)


@pytest.mark.parametrize(
    ("damage", "line", "old_line"),
    [
        (lambda text: text.replace('"n": 0', '"n": 7'), 2, 1),
        (lambda text: text.replace('"decide"', '"dream"', 1), 2, 1),
        (lambda text: "x" + text, 1, 1),
        (lambda text: text.splitlines(True)[1], 1, 1),
        (lambda text: text.replace("{", "[", 1), 1, 1),
    ],
)
def test_a_damaged_log_is_named_with_its_line(folder, damage, line, old_line):
    log = decide_twice(folder)
    whole = log.read_text()
    log.write_text(damage(whole))
    with pytest.raises(DataError, match=rf"decisions\.jsonl:{line}: is damaged"):
        Project(folder)
    log.write_text(whole)
    as_version_1(folder)
    log.write_text(damage(log.read_text()))
    with pytest.raises(DataError, match=rf"decisions\.jsonl:{old_line}: is damaged"):
        Project(folder)


def test_damaged_records_and_settings_are_refused(folder):
    decide_twice(folder)
    for name in ("records.parquet", "project.json"):
        whole = (folder / name).read_bytes()
        for position in range(0, len(whole), max(len(whole) // 200, 1)):
            changed = bytearray(whole)
            changed[position] ^= 4
            (folder / name).write_bytes(changed)
            with pytest.raises(DataError, match=name.replace(".", r"\.")):
                Project(folder)
        (folder / name).write_bytes(whole)
    with Project(folder) as project:
        assert len(project.events) == 2


def what_is_served(folder):
    with Project(folder) as project:
        texts = PoolTexts.of_log(project)
        pool = Pool.load(project.snapshot_folder, texts.digest) or texts.vectors()
        return (
            list(project.events),
            list(project.references),
            project.first_groups,
            project.settings,
            project.id,
            pool.X.toarray().tolist(),
        )


def served_or_refused(folder, read=what_is_served):
    try:
        return read(folder)
    except DataError as error:
        return error


def damaged(whole, rng):
    """Flip a bit, cut the end, or take some bytes or a line out."""
    position = rng.randrange(len(whole))
    match rng.randrange(4):
        case 0:
            flipped = whole[position] ^ 1 << rng.randrange(8)
            return whole[:position] + bytes([flipped]) + whole[position + 1 :]
        case 1:
            return whole[:position]
        case 2:
            return whole[:position] + whole[position + rng.randrange(1, 30) :]
        case _:
            lines = whole.splitlines(keepends=True)
            del lines[rng.randrange(len(lines)) :]
            return b"".join(lines)


def test_no_flip_or_cut_is_served_in_silence(folder):
    decide_twice(folder)
    with writing(folder) as project:
        project.append("settings", by="ann", query="wheat")
        project.append("words", by="ann", words={"rain": 1.0})
        texts = PoolTexts.of_log(project)
        texts.vectors().save(project.snapshot_folder, texts.digest)
    expected = what_is_served(folder)
    rng = random.Random(31)
    refused = set()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for _ in range(60):
            path.write_bytes(damaged(whole, rng))
            served = served_or_refused(folder)
            if isinstance(served, DataError):
                assert path.name in str(served)
                assert "\n" not in str(served)
                refused.add(path.name)
            else:
                assert served == expected
        path.write_bytes(whole)
    assert refused >= {
        "project.json",
        "records.parquet",
        "decisions.jsonl",
        "decisions.mark",
    }


def test_damage_to_an_old_folder_is_refused_in_a_sentence_wherever_it_shows(folder):
    log = decide_twice(folder)
    with writing(folder) as project:
        project.append("settings", by="ann", query="wheat")
        project.append("words", by="ann", words={"rain": 1.0})
    as_version_1(folder)
    rng = random.Random(31)
    for path in (folder / "project.json", log):
        whole = path.read_bytes()
        for _ in range(150):
            path.write_bytes(damaged(whole, rng))
            with suppress(DataError):
                Project(folder).close()
        path.write_bytes(whole)
    for change in ('"maybf"', '"included", "rank": NaN', '"included", "reasons": 5'):
        log.write_text(whole.decode().replace('"included"', change))
        with pytest.raises(DataError, match=r"decisions\.jsonl:1: is damaged"):
            Project(folder)


@pytest.mark.parametrize("name", ["id", "created", "settings", "files", "problems", "version"])
@pytest.mark.parametrize("value", [None, [5], {"x": [1]}, [{}], "\ud800", 0.5])
@pytest.mark.parametrize("old", [False, True])
def test_a_description_with_wrong_values_is_refused_in_a_sentence(folder, name, value, old):
    decide_twice(folder)
    if old:
        as_version_1(folder)
    path = folder / "project.json"
    description = json.loads(path.read_text()) | {name: value}
    if description.pop("digest", None):
        text = json.dumps(description, sort_keys=True)
        description["digest"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(description))
    with pytest.raises(DataError, match=r"project\.json: ") as caught:
        Project(folder)
    assert "\n" not in str(caught.value)


def test_a_mark_that_a_crash_left_behind_moves_when_the_project_is_opened(folder):
    log = decide_twice(folder)
    mark = folder / "decisions.mark"
    newest = mark.read_bytes()
    with writing(folder) as project:
        project.append("decide", by="ann", record="3", verdict="maybe")
    for old in (newest, b""):
        mark.write_bytes(old)
        with Project(folder) as project:
            assert len(project.events) == 3
        writing(folder).close()
        whole = log.read_bytes()
        log.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
        with pytest.raises(DataError, match="has 2 entries, but 3 were written"):
            Project(folder)
        log.write_bytes(whole)


def test_a_log_that_lost_its_digests_is_refused(folder):
    log = decide_twice(folder)
    description = (folder / "project.json").read_bytes()
    as_version_1(folder)
    (folder / "project.json").write_bytes(description)
    with pytest.raises(DataError, match=r"decisions\.jsonl:1: is damaged: it has no digests"):
        Project(folder)
    log.write_bytes(b"")
    with Project(folder) as project:
        assert not project.events


def test_old_folders_open_and_are_upgraded_by_the_first_write(folder):
    log = decide_twice(folder)
    new = log.read_bytes()
    with Project(folder) as project:
        events = project.events
    as_version_1(folder)
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    for opened in (Project(folder), writing(folder)):
        with opened:
            assert opened.events == events
    (folder / "decisions.mark").unlink()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == old
    with writing(folder) as project:
        project.append("decide", by="ann", record="3", verdict="maybe")
    assert log.read_bytes().startswith(new)
    assert json.loads((folder / "project.json").read_text())["version"] == 2
    with Project(folder) as project:
        assert project.events[:2] == events
        assert len(project.events) == 3


def test_a_decision_that_cannot_be_written_is_not_taken(folder, monkeypatch):
    def full(file, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    with writing(folder) as project:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            with pytest.raises(
                DataError, match=r"decisions\.jsonl: cannot be written \(No space"
            ):
                project.append("decide", by="ann", record="1", verdict="included")
        assert not project.events
        assert project.verdict("1") is None
        project.append("decide", by="ann", record="1", verdict="excluded")
    with Project(folder) as project:
        assert project.verdict("1") == "excluded"


def test_bad_events_are_refused_and_leave_nothing(folder):
    with writing(folder) as project:
        for bad in (
            {"type": "decide", "record": "99", "verdict": "included"},
            {"type": "decide", "record": "1", "verdict": "perhaps"},
            {"type": "undo", "record": "1"},
            {"type": "split", "record": "2"},
            {"type": "join", "record": "2", "records": ["2"]},
        ):
            with pytest.raises(DataError):
                project.append(by="ann", **bad)
        assert not project.events
    assert not (folder / "decisions.jsonl").read_bytes()


def test_folders_that_are_no_projects_are_refused(tmp_path, folder):
    with pytest.raises(DataError, match="not a project"):
        Project(tmp_path)
    with pytest.raises(DataError, match="already holds a project"):
        Project.create(folder, RECORDS)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    with pytest.raises(DataError, match="choose another name"):
        Project.create(tmp_path / "mine", RECORDS)
    with pytest.raises(DataError, match="no records"):
        Project.create(tmp_path / "new", ReferenceList(()))
    description = json.loads((folder / "project.json").read_text())
    for change in ({"version": 99}, {"kind": "x"}):
        (folder / "project.json").write_text(json.dumps(description | change))
        with pytest.raises(DataError, match=r"project\.json"):
            Project(folder)
    (folder / "project.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        Project(folder)


def test_given_duplicates_are_taken_as_they_are(tmp_path):
    apart = Duplicates(tuple((place,) for place in range(4)), ())
    with Project.create(tmp_path / "review", RECORDS, duplicates=apart) as project:
        assert len(project.records) == 4


SCREENING = """
import sys
from bayesift.screening import Project
with Project(sys.argv[1], writing=True) as project:
    verdicts = ("included", "excluded", "maybe")
    while True:
        n = len(project.events)
        event = project.append(
            "decide", by="ann", record=str(n % 3 + 1), verdict=verdicts[n % 3], rank=n
        )
        print(n, flush=True)
"""


def kill_while_screening(folder, times):
    for turn in range(times):
        command = [sys.executable, "-c", SCREENING, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            acknowledged = [int(process.stdout.readline())]
            time.sleep(0.002 * (turn % 7))
            os.kill(process.pid, signal.SIGKILL)
            acknowledged += [int(line) for line in process.stdout.read().split("\n")[:-1]]
        with Project(folder) as project:
            ranks = [event.data["rank"] for event in project.events]
            assert ranks == list(range(len(ranks)))
            assert max(acknowledged) < len(ranks)


def test_killed_while_screening_no_acknowledged_decision_is_lost(folder):
    kill_while_screening(folder, 4)


@pytest.mark.slow
def test_killed_fifty_times_no_acknowledged_decision_is_lost(folder):
    kill_while_screening(folder, 50)
