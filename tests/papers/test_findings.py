import json

import pytest

from bayesift.evaluation import Estimate
from papers.experiment import Extent
from papers.findings import Cell, Finding, OtherReading, agrees, flag_counts, judged
from papers.page import findings_page
from papers.pictures import LinePlot
from papers.printed import Note, PrintedTable
from papers.rendering import CellText, lay_out, write_markdown
from papers.running import Reproduction


@pytest.fixture
def made():
    printed = PrintedTable(
        "A table",
        caption="Some <b>numbers</b>.",
        choices=("Stems.",),
        columns=("SVM",),
        rows={"corn": [86.2]},
    )
    cells = (
        Cell("corn", "SVM", 86.2, 88.04, 84.9, 90.1, "agrees"),
        Cell("ship", "SVM", 82.4, 70.0, 60.0, 80.0, "not explained", "Another | reading."),
        Cell("oats", "SVM", 10.0, None, flag="missing", note="not there"),
        Cell("rye", "SVM", None, 12.0),
    )
    others = (OtherReading("SVM", "no stems", {"micro F1": Estimate(80.0, 79.0, 81.0)}),)
    plots = (LinePlot("Growth", "x", "y", {"plain": [(0, 1.0), (1, 2.0)]}),)
    finding = Finding(
        "sparse-bayes:table-1",
        printed,
        False,
        cells,
        others,
        plots,
        ("no corpus",),
        1.5,
        {"corn": 0.5},
    )
    return Reproduction([finding], Extent(), 4, 1, {})


@pytest.mark.parametrize(
    ("printed", "found", "expected"),
    [
        (86.2, Estimate(88.0, 84.9, 90.1), True),
        (84.86, Estimate(88.0, 84.9, 90.1), True),  # rounded to 84.9
        (84.8, Estimate(88.0, 84.9, 90.1), False),
        (55, Estimate(56), False),
        (86.2, Estimate(86.24), True),
        ("<<", "<", False),
        ("~ / ~", "~ / ~", True),
        ("~ / ~", "< / ~", False),
    ],
)
def test_agreement_is_within_the_interval_and_the_rounding(printed, found, expected):
    assert agrees(printed, found, 1) is expected


def test_notes_cover_by_wildcards_the_first_first():
    printed = PrintedTable(
        "t",
        notes=(
            Note("special", rows=["corn"]),
            Note("general", columns=["SVM*"]),
        ),
    )
    assert printed.note("corn", "NB") == "special"
    assert printed.note("ship", "SVMa-1") == "general"
    assert printed.note("ship", "NB") == ""


def test_cells_are_counted_by_flag(made):
    counts = {flag: count for flag, count in flag_counts(made.findings).items() if count}
    assert counts == {"agrees": 1, "not explained": 1, "missing": 1, "ours alone": 1}


def cell(row, paper, ours, lower, upper):
    return Cell(row, "SVM", paper, ours, lower, upper, "not explained", "C is not given")


def test_a_reading_explains_when_the_printed_value_is_in_its_interval():
    cells = (
        cell("corn", 80.0, 70.0, 66.0, 75.0),
        cell("ship", 80.0, 60.0, 58.0, 62.0),
        cell("oats", 80.0, 60.0, 58.0, 62.0),
        cell("macro-average", 80.0, 70.0, 69.0, 71.0),
        Cell("rye", "SVM", 80.0, 81.0, 79.0, 83.0, "agrees"),
    )
    values = {"corn": 76.0, "ship": 71.0, "oats": 69.0, "rye": 10.0, "macro F1": 79.0}
    other = OtherReading("SVM", "C = 0.1", {n: Estimate(v) for n, v in values.items()})
    found = judged(cells, [other], PrintedTable("t"))
    assert [c.flag for c in found] == [
        "explained",  # 72 to 81
        "partly explained",  # 11 of 20
        "not explained",  # 9 of 20
        "explained",  # 78 to 80
        "agrees",
    ]
    assert [c.reading for c in found] == ["C = 0.1", "C = 0.1", "", "C = 0.1", ""]


def test_a_system_is_judged_by_one_reading():
    cells = tuple(cell(row, 80.0, 60.0, 59.0, 61.0) for row in ("corn", "ship", "oats"))
    first = OtherReading("SVM", "stems", {"corn": Estimate(80.0), "ship": Estimate(55.0)})
    second = OtherReading("SVM", "C", {"ship": Estimate(80.0), "oats": Estimate(80.0)})
    of_row = OtherReading("corn", "no stems", {"SVM": Estimate(75.0)})
    assert [c.reading for c in judged(cells, [first, second], PrintedTable("t"))] == [
        "",
        "C",
        "C",
    ]
    assert [c.flag for c in judged(cells, [of_row], PrintedTable("t"))] == [
        "partly explained",
        "not explained",
        "not explained",
    ]


def test_texts_are_never_explained():
    symbol = Cell("GP-1", "SVM", "<<", "~", flag="not explained")
    other = OtherReading("SVM", "C", {"GP-1": "<<"})
    assert judged((symbol,), [other], PrintedTable("t")) == (symbol,)


def test_layout_numbers_the_notes(made):
    layout = lay_out(made.findings[0])
    lines = {row: cells[0].line for row, cells in layout.rows}
    assert lines["corn"] == "86.2 → 88.0 (+1.8) [84.9 to 90.1]"
    assert lines["ship"] == "82.4 → 70.0 (-12.4) [60.0 to 80.0] ≠1"
    assert layout.notes == ("Another | reading.", "not there")
    assert (
        CellText("86.2", "88.0", "+1.8", "84.9 to 90.1").line
        == "86.2 → 88.0 (+1.8) [84.9 to 90.1]"
    )


def test_json_has_no_times_and_is_plain(made):
    content = json.loads(made.json)
    assert "seconds" not in made.json
    assert content["experiments"][0]["cells"][0]["difference"] == pytest.approx(1.84)


def test_markdown_and_its_pictures(made, tmp_path):
    write_markdown(
        made, tmp_path / "results.md", command="python -m papers all", date="2026-01-01"
    )
    text = (tmp_path / "results.md").read_text()
    assert "python -m papers all" in text
    assert "2026-01-01" in text
    assert "no stems" in text
    assert "The picture is missing: no corpus." in text
    assert "2 cells can be compared: 1 agree, 0 are explained by another reading" in text
    assert "| sparse-bayes:table-1 | 1 | 0 | 0 | 1 |" in text
    assert (
        (tmp_path / "results" / "sparse-bayes-table-1.svg")
        .read_text()
        .startswith("<svg xmlns=")
    )
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert len({line.replace("\\|", "").count("|") for line in table if "[" in line}) == 1


def test_the_page_escapes_and_holds_everything(made):
    text = findings_page(made, command="python -m papers <all>", date="2026-01-01")
    assert "&lt;b&gt;numbers&lt;/b&gt;" in text
    assert "<b>numbers" not in text
    assert "88.0" in text
    assert "0.5x" in text
    assert 'class="legend"' in text
