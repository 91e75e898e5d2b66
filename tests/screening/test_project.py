"""The project on disk: what is kept, what is refused, and what a crash may lose."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from bayesift.errors import DataError
from bayesift.references import Decision, Reference, ReferenceList
from bayesift.screening import Duplicates, Project, ProjectSettings, is_project, with_decisions

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
        project.append("decide", by="ann", record="2", verdict="excluded", reasons=["wrong crop"])
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
        expected = project.decisions, project.notes, len(project.events)
    with Project(folder) as again:
        assert (again.decisions, again.notes, len(again.events)) == expected
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
        project.append("decide", by="ann", record="1", verdict="excluded", reasons=["wrong crop"])
        project.append("note", by="ann", record="1", text="sure")
        told = with_decisions(project.records["1"], project, {"rank": "3", "probability": ""})
    assert told.decisions == (Decision("excluded", "ann", ("wrong crop",)),)
    assert dict(told.annotations) == {"rank": "3", "note": "sure"}
    assert told.doi == CORN.doi


def test_a_second_writer_is_refused(folder):
    with writing(folder), pytest.raises(DataError, match="another program is screening"):
        writing(folder)
    with writing(folder) as project, Project(folder) as reader:
        project.append("decide", by="ann", record="1", verdict="included")
        with pytest.raises(DataError, match="reading only"):
            reader.append("decide", by="ann", record="1", verdict="included")


def test_a_line_that_was_cut_off_is_forgotten(folder):
    with writing(folder) as project:
        project.append("decide", by="ann", record="1", verdict="included")
        project.append("decide", by="ann", record="2", verdict="excluded")
    log = folder / "decisions.jsonl"
    whole = log.read_bytes()
    for cut in (*range(len(whole.splitlines(True)[0]), len(whole), 40), len(whole) - 1):
        log.write_bytes(whole[:cut])
        with Project(folder) as project:
            assert len(project.events) == 1
        with writing(folder) as project:
            project.append("decide", by="ann", record="3", verdict="maybe")
        with Project(folder) as project:
            assert list(project.decisions) == ["1", "3"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('"n": 0', '"n": 7'),
        lambda text: text.replace('"decide"', '"dream"', 1),
        lambda text: "x" + text,
        lambda text: text.splitlines(True)[1],
        lambda text: text.replace("{", "[", 1),
    ],
)
def test_a_damaged_log_is_named_with_its_line(folder, damage):
    with writing(folder) as project:
        project.append("decide", by="ann", record="1", verdict="included")
        project.append("decide", by="ann", record="2", verdict="excluded")
    log = folder / "decisions.jsonl"
    log.write_text(damage(log.read_text()))
    with pytest.raises(DataError, match=r"decisions\.jsonl:1: is damaged"):
        Project(folder)


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
    with pytest.raises(DataError, match="no project"):
        Project(tmp_path)
    with pytest.raises(DataError, match="a project already"):
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
        event = project.append("decide", by="ann", record=str(n % 3 + 1), verdict=verdicts[n % 3], rank=n)
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
