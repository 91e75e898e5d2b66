"""Web of Science and EndNote's tagged text."""

from bayesift.references import read_references, write_references

CIW = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Ash, A
   Bee, B
AF Ash, Ann
   Bee, Bob
TI Erosion of soils after
   forest fires
SO JOURNAL OF SOILS
LA English
DE erosion; fire; burnt
   soil
ID RUNOFF
AB First part.
   Second part.
PD MAY 7
PY 2001
VL 3
IS 2
BP 12
EP 19
DI 10.1000/Soil.1
PM 123
UT WOS:000001
ER

PT S
AU Cee, C
TI Second
AR e77
UT WOS:000002
ER

EF
"""
ENW = """%0 Journal Article
%T Erosion of soils
%A Ash, Ann
%A Bee, Bob
%J Journal of Soils
%V 3
%N 2
%P 12-19
%D 2001
%R 10.1000/Soil.1
%K erosion
fire
%X First part.
Second part.
%M 123
%W NLM

%0 Book Section
%T Second
%B Handbook
%F key2
"""


def test_web_of_science(write):
    found = read_references(write("savedrecs.txt", CIW))
    first, second = found
    assert found.files[0].format == "web-of-science"
    assert (first.title, first.authors) == (
        "Erosion of soils after forest fires",
        ("Ash, Ann", "Bee, Bob"),
    )
    assert first.keywords == ("erosion", "fire", "burnt soil", "RUNOFF")
    assert (first.abstract, first.pages, first.date) == (
        "First part. Second part.",
        "12-19",
        "2001-05-07",
    )
    assert (first.doi, first.pmid, first.id, first.type) == (
        "10.1000/soil.1",
        "123",
        "WOS:000001",
        "JOUR",
    )
    assert (second.pages, second.type, second.line) == ("e77", "SER", 28)
    assert not found.problems


def test_web_of_science_without_marks(write):
    found = read_references(write("savedrecs.ciw", CIW.replace("ER\n\nPT S\n", "")))
    assert [reference.title.split()[0] for reference in found] == ["Erosion"]
    found = read_references(write("savedrecs.ciw", CIW.replace("ER\n\nPT S", "PT S")))
    assert [(p.line, p.message) for p in found.problems] == [(3, "record without ER")]
    found = read_references(write("savedrecs.ciw", CIW.replace("PT S\n", "")))
    assert [(p.line, p.message) for p in found.problems] == [(28, "record without PT")]
    assert len(found) == 2


def test_enw(write):
    found = read_references(write("scholar.enw", ENW))
    first, second = found
    assert found.files[0].format == "enw"
    assert (first.title, first.authors, first.keywords) == (
        "Erosion of soils",
        ("Ash, Ann", "Bee, Bob"),
        ("erosion", "fire"),
    )
    assert (first.abstract, first.doi, first.pmid) == (
        "First part. Second part.",
        "10.1000/soil.1",
        "123",
    )
    assert (second.type, second.journal, second.line) == ("CHAP", "Handbook", 18)
    assert not found.problems


def test_enw_without_a_type(write):
    found = read_references(write("scholar.enw", ENW.replace("%0 Book Section\n", "")))
    assert [reference.title for reference in found] == ["Erosion of soils", "Second"]
    assert [(p.line, p.message) for p in found.problems] == [(18, "record without %0")]


def test_fields_are_written_as_found(write, tmp_path):
    for name, text in (("a.ciw", CIW), ("a.enw", ENW)):
        found = read_references(write(name, text))
        write_references(found, tmp_path / f"again-{name}")
        assert list(read_references(tmp_path / f"again-{name}")) == list(found)
