"""`bayesift screen` from the command line."""

import csv
import io
import json
import re
import sys

import openpyxl
import pytest

from bayesift.cli import main
from bayesift.cli.screen import _read_criteria
from bayesift.cli.screen_terminal import ScreeningSession, highlighted, page
from bayesift.references import Reference, ReferenceList, read_references
from bayesift.screening import Project, Review
from tests.filtering.test_simulate import file_of

RIS = """TY  - JOUR
TI  - Corn prices in Iowa and the weather
AB  - Corn was dear after the drought.
AU  - Miller, Ann
PY  - 2001
ER  -

TY  - JOUR
TI  - Gold mines of Peru
AB  - Where gold was found.
PY  - 1999
ER  -

TY  - JOUR
TI  - Corn prices in Iowa and the weather.
AB  - Corn was dear after the drought.
AU  - Miller A
PY  - 2001
ER  -

TY  - JOUR
TI  - 玉米价格与天气
AB  - Wheat, corn and rain.
PY  - 2005
ER  -
"""


@pytest.fixture
def records(write):
    return write("records.ris", RIS)


def run(monkeypatch, *arguments, lines=""):
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return done.value.code or 0


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".tab", ".xlsx"])
def test_exports_run_nothing_in_a_spreadsheet(monkeypatch, tmp_path, suffix):
    long = "=" + "corn " * 30_000  # more than the csv module reads at once
    titles = ["=cmd()", "+1 corn", "- a list", "@SUM(A1)", "Gold, plain"]
    titles += [long] if suffix != ".xlsx" else []
    found = ReferenceList(tuple(Reference(title=title, year=2001) for title in titles))
    Project.create(tmp_path / "corn", found).close()
    out = tmp_path / f"out{suffix}"
    assert run(monkeypatch, "screen", "export", tmp_path / "corn", "-o", out, "--quiet") == 0
    if suffix == ".xlsx":
        sheet = openpyxl.load_workbook(out).active
        assert "f" not in {cell.data_type for row in sheet.rows for cell in row}
        assert set(titles) <= {cell.value for row in sheet.rows for cell in row}
        return
    text = out.read_text()
    for title in titles[:4]:
        assert f"'{title}" in text
    assert "'=corn" in text
    assert "'Gold" not in text
    assert "2001" in text
    assert "'2001" not in text


def test_a_review_from_a_file_to_a_file(monkeypatch, capsys, tmp_path, records):
    folder, out = tmp_path / "corn", tmp_path / "out.ris"
    lines = "i\nn good one\nexclude wrong metal\nstatus\n"
    assert (
        run(
            monkeypatch,
            "screen",
            records,
            "-o",
            folder,
            "--query",
            "corn prices",
            "--reviewer",
            "ann",
            lines=lines,
        )
        == 0
    )
    told = capsys.readouterr()
    assert "1 duplicates joined" in told.err
    assert "[1] Corn prices in Iowa and the weather" in told.out
    assert "2 of 3 decided: 1 included, 1 excluded" in told.out
    assert run(monkeypatch, "screen", folder, "--reviewer", "ann", lines="undo\nm\ni\n") == 0
    assert "all records are decided" in capsys.readouterr().out
    assert run(monkeypatch, "screen", "export", folder, "-o", out) == 0
    written = read_references(out)
    assert len(written) == 3
    assert written[0].decisions[0].verdict == "included"
    assert dict(written[0].annotations)["decision"] == "included"
    assert {dict(reference.annotations)["rank"] for reference in written} == {"1", "2", "3"}
    assert (
        run(
            monkeypatch,
            "screen",
            "export",
            folder,
            "-o",
            out,
            "--sources",
            "--only",
            "included",
            "-q",
        )
        == 0
    )
    assert len(read_references(out)) >= 2
    capsys.readouterr()
    flow = tmp_path / "flow.svg"
    assert run(monkeypatch, "screen", "stats", folder, "--chart", flow, "--json") == 0
    counts = json.loads(capsys.readouterr().out)["prisma"]
    assert counts["identified"] == {"records.ris": 4}
    assert counts["duplicates"] == 1
    assert "Records identified from (n = 4):" in flow.read_text()


def test_two_reviewers_and_their_agreement(monkeypatch, capsys, tmp_path, records):
    folder = tmp_path / "corn"
    assert (
        run(
            monkeypatch,
            "screen",
            records,
            "-o",
            folder,
            "--double",
            "--reviewer",
            "ann",
            lines="i\ne\nm\n",
        )
        == 0
    )
    assert run(monkeypatch, "screen", folder, "--reviewer", "ben", lines="i\ne\ne\n") == 0
    capsys.readouterr()
    assert run(monkeypatch, "screen", "stats", folder) == 0
    told = capsys.readouterr().out
    assert "agreement on 3 records" in told
    assert "Gwet's AC1" in told


def test_decisions_that_came_with_the_file_are_kept_or_ignored(
    monkeypatch, capsys, tmp_path, write
):
    labelled = write(
        "rayyan.ris",
        RIS.replace("PY  - 1999", 'PY  - 1999\nN1  - RAYYAN-INCLUSION: {"Eve"=>"Excluded"}'),
    )
    assert run(monkeypatch, "screen", labelled, "-o", tmp_path / "a") == 0
    assert "1 decisions were read from the files" in capsys.readouterr().err
    assert run(monkeypatch, "screen", labelled, "-o", tmp_path / "b", "--ignore-decisions") == 0
    assert "0 of 3 decided" in capsys.readouterr().out
    assert (
        run(
            monkeypatch,
            "screen",
            labelled,
            "-o",
            tmp_path / "c",
            "--keep-duplicates",
            "--ignore-decisions",
        )
        == 0
    )
    assert "0 of 4 decided" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("screen", "nothing.ris"), 1, "nothing.ris"),
        (("screen", "export", ".", "-o", "out.ris"), 1, "no project"),
        (("screen", "stats", "."), 1, "no project"),
        (("screen", "stats", ".", "--chart", "flow.png"), 2, "svg"),
        (("screen", "simulate", "x.csv", "--by", "luck"), 2, "luck"),
    ],
)
def test_bad_use_ends_in_one_line(monkeypatch, capsys, tmp_path, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *arguments) == code
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_unknown_commands_and_numbers_are_told(monkeypatch, capsys, tmp_path, records):
    lines = (
        "dance\nopen 99\nwords corn=much\nn\nundo\nsplit\nhelp\nsearch corn\nopen 2\nwords "
        "corn=1 gold=-1\nq\n"
    )
    assert run(monkeypatch, "screen", records, "-o", tmp_path / "corn", lines=lines) == 0
    told = capsys.readouterr().out
    for message in (
        "no command 'dance'",
        "no record '99'",
        "WORD=STRENGTH",
        "needs a text",
        "no decision",
        "3 records hold",
    ):
        assert message in told


def test_a_labelled_pool_is_simulated(monkeypatch, capsys, tmp_path):
    options = ["--batch", "20", "-q"]
    chart = tmp_path / "recall.svg"
    assert (
        run(
            monkeypatch,
            "screen",
            "simulate",
            file_of(tmp_path),
            "--starts",
            "2",
            *options,
            "--json",
            "--chart",
            chart,
        )
        == 0
    )
    played = json.loads(capsys.readouterr().out)
    assert [row["start"] for row in played] == ["0", "1"]
    assert all(row["wss95"] > 0.3 and row["loss"] < 0.5 for row in played)
    assert all(row["stopping"]["sample check"]["recall"] >= 0.95 for row in played)
    assert "best order" in chart.read_text()
    assert (
        run(
            monkeypatch,
            "screen",
            "simulate",
            file_of(tmp_path),
            "--query",
            "wheat corn",
            "--rules",
            *options,
        )
        == 0
    )
    told = capsys.readouterr().out
    assert all(
        name in told
        for name in ("ATD", "WSS@95", "RRF@10", "loss", "NDCG", "finds", "QBCB", "knee")
    )


@pytest.mark.parametrize(
    ("options", "code"), [(["--by", "x"], 2), (["--category", "x"], 1), (["--recall", "2"], 2)]
)
def test_a_simulation_that_makes_no_sense_is_refused(
    monkeypatch, capsys, tmp_path, options, code
):
    assert (
        run(
            monkeypatch,
            "screen",
            "simulate",
            file_of(tmp_path),
            "-q",
            "--batch",
            "50",
            *options,
        )
        == code
    )
    assert capsys.readouterr().err.count("\n") == 1


def test_criteria_are_read_by_their_headings(write):
    path = write(
        "criteria.txt",
        "Inclusion criteria:\n- adults\n- randomised\n\n# Exclusion\n1. animals\n2) letters\n",
    )
    assert _read_criteria(path) == ("adults\nrandomised", ("animals", "letters"))
    assert _read_criteria(write("plain.txt", "adults with migraine")) == (
        "adults with migraine",
        (),
    )


def test_the_page_fits_every_size_and_wide_characters(tmp_path, records):
    with Project.create(tmp_path / "corn", read_references(records)) as project:
        session = ScreeningSession(Review(project, "ann"))
        for record in project.records.values():
            session.show(record)
            for width, height in ((80, 24), (40, 10), (200, 60), (20, 5)):
                lines = page(session, width, height)
                assert len(lines) == height
                assert all(line.cell_len <= width for line in lines)
        session.show(None)
        assert "All records are decided" in page(session, 80, 24)[0].plain


def test_words_that_speak_are_marked():
    text = highlighted("Corn against Gold", {"corn": 0.5, "gold": -0.2})
    assert [(span.start, span.end) for span in text.spans] == [(0, 4), (13, 17)]


def test_keys_in_a_terminal(tmp_path, records):
    """A pseudo-terminal: include, note, quit."""
    import os
    import pty
    import select
    import time

    with Project.create(tmp_path / "corn", read_references(records)):
        pass
    child, handle = pty.fork()
    if child == 0:
        os.execv(
            sys.executable,
            [
                sys.executable,
                "-m",
                "bayesift",
                "screen",
                str(tmp_path / "corn"),
                "--reviewer",
                "ann",
            ],
        )
    shown, keys, end = b"", [b"i", b"n", b"seen\r", b"e", b"q"], time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([handle], [], [], 0.5)
        if ready:
            try:
                data = os.read(handle, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
        elif b"decided" in shown and keys:
            os.write(handle, keys.pop(0))
    os.close(handle)
    assert os.waitpid(child, 0)[1] == 0
    with Project(tmp_path / "corn") as project:
        assert [event.type for event in project.events] == ["decide", "note", "decide"]
        assert project.events[1].data["text"] == "seen"


def test_reference_lists_are_screened_from_python(tmp_path):
    with Project.create(tmp_path / "one", ReferenceList((Reference(title="Corn"),))) as project:
        assert Review(project, "ann").next().id == "1"


def test_exports_are_read_by_programs_that_know_less(monkeypatch, tmp_path):
    """ASReview 3.0.8 refuses lines between records, and knows no other names of columns."""
    ris = "1.\n\nDB  - Ovid\nTY  - JOUR\nT1  - Corn\nN2  - Text.\nER  - \nLink: x\n\n2.\n"
    ris += "TY  - JOUR\nT1  - Gold\nN2  - More.\nER  - \n"
    (tmp_path / "a.ris").write_text(ris)
    (tmp_path / "b.csv").write_text("Article Title,Abstract\nSilver,Words.\n")
    project = tmp_path / "p"
    files = (tmp_path / "a.ris", tmp_path / "b.csv")
    lines = "include\nexclude\ninclude\n"
    assert run(monkeypatch, "screen", *files, "-o", project, lines=lines) == 0
    for name in ("out.ris", "out.csv"):
        run(monkeypatch, "screen", "export", project, "-o", tmp_path / name)
    lines = (tmp_path / "out.ris").read_text().splitlines()
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in lines if line)
    starts = [lines[0]] + [
        lines[n + 2] for n, line in enumerate(lines[:-2]) if line == "ER  - "
    ]
    assert [start[:2] for start in starts] == ["TY"] * 3
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["title"] for row in rows] == ["Corn", "Gold", "Silver"]
    assert sorted(row["label_included"] for row in rows) == ["0", "1", "1"]
