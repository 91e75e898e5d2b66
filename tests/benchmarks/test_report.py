"""The page of benchmarks: a run writes its own sections, and no other."""

import json
from pathlib import Path

from benchmarks import __main__ as command
from benchmarks import harness, report

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
ORDER = [*command.RACES, *command.FOOTPRINTS]


def small(name):
    contenders = [
        harness.Contender("ours", lambda data: 1),
        harness.Contender("peer", lambda data: sum(range(data))),
    ]
    return harness.Benchmark(
        name,
        "a sum",
        [harness.Dataset("numbers", lambda: 10_000)],
        contenders,
        [harness.Comparison("ours", "peer")],
    )


def sections(page):
    return {part.partition("\n")[0]: part for part in page.split("\n## ")[1:]}


def test_the_page_in_the_documentation_stays_as_it_is():
    page = PAGE.read_text()
    assert report.updated(page, {}, ORDER) == page


def test_a_run_changes_its_own_section_only(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    page.write_text(PAGE.read_text())
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "REPORT", page)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "out")
    monkeypatch.setitem(command.RACES, "path", small("path"))
    command.main(["path"])
    before, after = sections(PAGE.read_text()), sections(page.read_text())
    assert list(before) == list(after)
    assert {name for name in after if before[name] != after[name]} == {"path"}
    assert "| numbers | ours |" in after["path"]
    assert json.loads((tmp_path / "out" / "path.json").read_text())["benchmark"] == "path"


def test_new_sections_come_where_they_belong_and_unknown_ones_last():
    page = report.updated("", {"b": "two", "by hand": "kept"}, ["a", "b"])
    assert list(sections(report.updated(page, {"a": "one"}, ["a", "b"]))) == [
        "a",
        "b",
        "by hand",
    ]
