"""The exports of many programs in the data directory: what is in them was counted without bayesift.

Records, titles, abstracts and DOIs were counted by regular expressions on tags (RIS, MEDLINE), by
Python's csv module and by openpyxl, and looked through.
"""

from dataclasses import replace

import pytest

from bayesift.references import (
    Decision,
    read_references,
    references_from_table,
    references_to_table,
    write_references,
)
from bayesift.references.files import FORMATS
from tests.conftest import data_dir

pytestmark = pytest.mark.corpus("records")

# file: format, records, titles, abstracts, DOIs
COUNTS = {
    "nbib/pubmed-set.nbib": ("medline", 75, 75, 70, 74),
    "nbib/single.nbib": ("medline", 1, 1, 1, 1),
    "other/pubmed_endnote.txt": (
        "ris",
        6,
        6,
        6,
        6,
    ),  # RIS in spite of its name; keywords on lines without a tag
    "other/web_of_science.txt": ("ris", 10, 10, 10, 10),
    "ris/baseline.ris": ("ris", 100, 100, 98, 100),  # an abstract on 20 lines
    "ris/baseline_cinahl.ris": (
        "ris",
        9,
        9,
        9,
        9,
    ),  # DOIs in L3; a second AB with the copyright in every record
    "ris/baseline_cochrane_endnote.ris": ("ris", 3, 3, 3, 3),  # three lines before each record
    "ris/baseline_cochrane_refman.ris": ("ris", 3, 3, 3, 3),
    "ris/baseline_covidence_endnote.ris": ("ris", 10, 10, 8, 10),  # empty N2 in two records
    "ris/baseline_covidence_mendeley.ris": ("ris", 10, 10, 8, 10),
    "ris/baseline_covidence_refworks.ris": ("ris", 10, 10, 8, 10),
    "ris/baseline_covidence_zotero.ris": ("ris", 10, 10, 8, 10),
    "ris/baseline_embase.ris": ("ris", 10, 10, 8, 10),
    "ris/baseline_endnote.ris": ("ris", 10, 10, 8, 10),
    "ris/baseline_eric_ovid.ris": (
        "ris",
        10,
        10,
        10,
        3,
    ),  # no DO; three records have a link to doi.org in L1
    "ris/baseline_googlescholar.ris": ("ris", 10, 10, 0, 0),
    "ris/baseline_mdpi.ris": ("ris", 11, 11, 11, 11),
    "ris/baseline_mendeley.ris": ("ris", 10, 10, 8, 10),
    "ris/baseline_pubmed.ris": ("medline", 50, 50, 49, 50),  # MEDLINE in spite of its name
    "ris/baseline_rayyan.ris": ("ris", 10, 10, 8, 10),  # other tags within DO and UR
    "ris/baseline_refworks.ris": ("ris", 10, 10, 8, 10),
    "ris/baseline_scopus.ris": ("ris", 10, 10, 10, 10),
    "ris/baseline_webofscience.ris": ("ris", 10, 10, 7, 10),
    "ris/baseline_zotero.ris": ("ris", 10, 10, 8, 10),
    "csv/baseline.csv": ("csv", 100, 100, 98, 100),
    "csv/baseline_abstrackr.csv": (
        "csv",
        10,
        10,
        8,
        0,
    ),  # a line of text, then four rows of 8 fields in place of 17
    "csv/baseline_cinahl.csv": ("csv", 10, 10, 10, 10),
    "csv/baseline_cochrane.csv": ("csv", 3, 3, 3, 3),
    "csv/baseline_covidence.csv": ("csv", 10, 10, 8, 10),
    "csv/baseline_excel.csv": (
        "csv",
        10,
        10,
        8,
        10,
    ),  # of Embase, by semicolons, three lines above the header
    "csv/baseline_googlescholar.csv": ("csv", 10, 10, 0, 0),
    "csv/baseline_pubmed.csv": ("csv", 10, 10, 0, 10),
    "csv/baseline_rayyan.csv": ("csv", 10, 10, 8, 10),
    "csv/baseline_scopus.csv": ("csv", 10, 10, 10, 10),
    "csv/baseline_zotero.csv": ("csv", 10, 10, 8, 10),
    "xlsx/baseline.xlsx": ("xlsx", 100, 100, 98, 100),
    "xlsx/baseline_embase.xlsx": ("xlsx", 10, 10, 8, 10),
    "failing/baseline_tag_and_field_definitions.ris": ("ris", 1, 1, 1, 0),  # a tag after ER
    "failing/embase.csv": ("csv", 10, 10, 8, 10),  # three lines above the header
    "failing/generic_labels_no_title.csv": ("csv", 6, 0, 6, 0),
    "failing/ovid_psycinfo.ris": ("ris", 6, 6, 6, 6),  # NL and a link after ER
    "failing/refworks.tsv": ("csv", 100, 100, 98, 100),
    "failing/utf_chars.ris": ("ris", 1, 1, 1, 0),  # "TY  - Journal Article"; title in ST
}
# number of problems; all others have none
PROBLEMS = {
    "csv/baseline_abstrackr.csv": 5,
    "failing/ovid_psycinfo.ris": 1,  # the link after the last record
}

PARTS = [
    *(
        "title",
        "abstract",
        "authors",
        "year",
        "date",
        "journal",
        "volume",
        "issue",
        "pages",
        "doi",
        "pmid",
        "keywords",
    ),
    *("url", "language", "labels", "decisions", "annotations"),
]
# What a format does not hold of records from elsewhere: a type it has no code for, and the line
# breaks of notes.
SUFFIXES = [form.suffixes[0] for form in FORMATS.values() if form.write]


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    found = read_references(data_dir() / "records" / name)
    numbers = [
        sum(bool(getattr(reference, part)) for reference in found)
        for part in ("title", "abstract", "doi")
    ]
    assert (found.files[0].format, len(found), *numbers) == COUNTS[name]
    assert len(found.problems) == PROBLEMS.get(name, 0), found.problems
    assert len({reference.id for reference in found}) == len(found)


def test_every_file_is_counted():
    folder = data_dir() / "records"
    names = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    }
    assert {name for name in names if not name.endswith(".md")} == set(COUNTS)


def test_several_files_at_once(everything):
    found = everything
    assert len(found) == sum(count[1] for count in COUNTS.values()) == 835
    assert len({reference.id for reference in found}) == len(found)
    assert [file.records for file in found.files] == [count[1] for count in COUNTS.values()]


def check(found, again):
    assert len(again) == len(found)
    for before, after in zip(found, again, strict=True):
        assert [getattr(after, part) for part in PARTS] == [
            getattr(before, part) for part in PARTS
        ]
        assert " ".join(after.notes).split() == " ".join(before.notes).split()


@pytest.fixture(scope="module")
def everything():
    return read_references(data_dir() / "records" / name for name in COUNTS)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_read_write_read(everything, suffix, tmp_path):
    """Every part of every record comes back in every format."""
    write_references(everything, tmp_path / f"again{suffix}")
    again = read_references(tmp_path / f"again{suffix}")
    check(everything, again)
    assert not again.problems


@pytest.mark.parametrize("name", COUNTS)
def test_read_write_read_in_its_own_format(name, tmp_path):
    """Every field comes back as it was."""
    found = read_references(data_dir() / "records" / name)
    write_references(found, tmp_path / "again", format=found.files[0].format)
    again = read_references(tmp_path / "again")
    check(found, again)
    assert again.files[0].format == found.files[0].format
    assert [(after.fields, after.type) for after in again] == [
        (before.fields, before.type) for before in found
    ]


def test_arrow_holds_everything(everything):
    again = references_from_table(references_to_table(everything))
    assert again == list(everything)
    assert [(reference.file, reference.line) for reference in again] == [
        (r.file, r.line) for r in everything
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "name", ["ris/baseline_rayyan.ris", "csv/baseline_rayyan.csv", "nbib/pubmed-set.nbib"]
)
def test_decisions_and_annotations_are_added(name, suffix, tmp_path):
    found = read_references(data_dir() / "records" / name)
    decisions = (
        Decision("excluded", "Ann Ash", ("wrong drug", "no control")),
        Decision("maybe", "Bob"),
    )
    decided = [
        replace(
            reference,
            decisions=decisions,
            labels=("adult",),
            annotations=(("rank", "3"), ("seen_at", "2026-11-17")),
        )
        for reference in found
    ]
    write_references(decided, tmp_path / f"again{suffix}")
    again = read_references(tmp_path / f"again{suffix}")
    for before, after in zip(decided, again, strict=True):
        assert [getattr(after, part) for part in PARTS] == [
            getattr(before, part) for part in PARTS
        ]


def test_decisions_that_came_with_the_files():
    verdicts = {"included": 2, "maybe": 2, "excluded": 2}
    for name in (
        "ris/baseline_rayyan.ris",
        "csv/baseline_rayyan.csv",
        "csv/baseline_abstrackr.csv",
    ):
        found = [
            d.verdict
            for reference in read_references(data_dir() / "records" / name)
            for d in reference.decisions
        ]
        assert {verdict: found.count(verdict) for verdict in verdicts} == verdicts
