import gzip
import zipfile
from dataclasses import replace

import pytest

from bayesift.corpora import load
from bayesift.corpora.streaming import TextReader
from bayesift.errors import DataError
from bayesift.references import Decision, Reference, read_references, write_references

PLAIN = """TY  - JOUR
TI  - Triptans in migraine
AU  - Ash, Ann
AU  - Ash, Ann
PY  - 2019
AB  - First line
second line
KW  - headache
UR  - https://example.org/1
ER  -

TY  - CHAP
T1  - Soil erosion
N2  - After fires
Y1  - 2001/05/07/
SP  - 12
EP  - 19
L3  - doi:10.1000/XYZ.
ER  -
"""


def titles(found):
    return [reference.title for reference in found]


def messages(found):
    return [(problem.line, problem.message) for problem in found.problems]


def test_parts_of_a_record(write):
    first, second = read_references(write("a.ris", PLAIN))
    assert (first.title, first.authors, first.year, first.abstract) == (
        "Triptans in migraine",
        ("Ash, Ann", "Ash, Ann"),
        2019,
        "First line second line",
    )
    assert (second.type, second.pages, second.date, second.doi) == (
        "CHAP",
        "12-19",
        "2001-05-07",
        "10.1000/xyz",
    )
    assert (second.file.endswith("a.ris"), second.line, second.id) == (True, 12, "a.ris:12")
    assert dict(first.fields)["AB"] == "First line\nsecond line"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("  - ", " - ").replace("ER  -", "ER -"),
        lambda text: text.replace("  - ", "  -"),
        lambda text: text.replace("  - ", "\t- "),
        lambda text: text.replace("  - ", "  -  "),
        lambda text: "\n".join(
            line[:2].lower() + line[2:] if line[2:5] == "  -" else line
            for line in text.split("\n")
        ),
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "Database export\n\n" + text,
        lambda text: text.replace("\n\n", "\n"),
        lambda text: "\n".join("  " + line for line in text.split("\n")),
    ],
    ids=[
        "one-space",
        "no-space",
        "tab",
        "spaces",
        "lower",
        "bom-crlf",
        "cr",
        "preamble",
        "no-blank",
        "indented",
    ],
)
def test_dialects(write, change):
    found = read_references(write("a.ris", change(PLAIN)))
    assert titles(found) == ["Triptans in migraine", "Soil erosion"]
    assert [reference.abstract for reference in found] == [
        "First line second line",
        "After fires",
    ]
    assert not found.problems


def test_missing_ends_are_reported_and_nothing_is_lost(write):
    found = read_references(write("a.ris", PLAIN.replace("ER  -\n", "")))
    assert titles(found) == ["Triptans in migraine", "Soil erosion"]
    assert messages(found) == [(1, "record without ER"), (11, "record without ER")]


def test_missing_start_is_reported_and_nothing_is_lost(write):
    found = read_references(write("a.ris", PLAIN.replace("TY  - CHAP\n", "")))
    assert titles(found) == ["Triptans in migraine", "Soil erosion"]
    assert messages(found) == [(12, "record without TY")]


def test_a_line_of_text_is_no_tag(write):
    text = PLAIN.replace("second line", "IL - 6 and\nTY-phoid and\nER - positive").replace(
        "After", "ER-\nAfter"
    )
    found = read_references(write("a.ris", text))
    assert found[0].abstract == "First line IL - 6 and TY-phoid and ER - positive"


def test_latin_1_and_damaged_utf_8(tmp_path):
    old = tmp_path / "old.ris"
    old.write_bytes(PLAIN.replace("Ash", "Müller").encode("cp1252"))
    found = read_references(old)
    assert found[0].authors[0] == "Müller, Ann"
    assert found.files[0].encoding == "cp1252"
    old.write_bytes(PLAIN.replace("Ash", "Müller").encode().replace(b"Soil", b"So\xffil"))
    found = read_references(old)
    assert found[0].authors[0] == "Müller, Ann"
    assert found[1].title == "So\ufffdil erosion"
    assert messages(found) == [(13, "holds bytes that are not utf-8, replaced by U+FFFD")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_encodings(tmp_path, encoding):
    (tmp_path / "a.ris").write_bytes(PLAIN.replace("Ash", "Żuk").encode(encoding))
    assert read_references(tmp_path / "a.ris")[0].authors[0] == "Żuk, Ann"


def test_decisions_of_rayyan_and_asreview(write):
    note = (
        'RAYYAN-INCLUSION: {"Ann"=>"Excluded", "Bob"=>"Maybe"} | RAYYAN-LABELS: adult,trial | '
    )
    note += "RAYYAN-EXCLUSION-REASONS: wrong drug,no control"
    text = PLAIN.replace("KW  - headache", f"KW  - headache\nN1  - {note}").replace(
        "SP  -", "N1  - ASReview_relevant\nSP  -"
    )
    first, second = read_references(write("a.ris", text))
    assert first.decisions == (
        Decision("excluded", "Ann", ("wrong drug", "no control")),
        Decision("maybe", "Bob"),
    )
    assert (first.labels, first.included, first.notes) == (("adult", "trial"), None, ())
    assert (second.decisions, second.included) == ((Decision("included"),), True)


def test_what_is_changed_is_written_and_the_rest_stays(write, tmp_path):
    found = read_references(write("a.ris", PLAIN))
    decided = replace(
        found[0],
        decisions=(Decision("excluded", "Ann", ("dose",)),),
        annotations=(("rank", "3"),),
        title="New",
    )
    write_references([decided, found[1]], tmp_path / "b.ris")
    again = read_references(tmp_path / "b.ris")
    assert (again[0].title, again[0].decisions, again[0].annotations) == (
        "New",
        decided.decisions,
        (("rank", "3"),),
    )
    assert dict(again[0].fields)["AB"] == "First line\nsecond line"
    assert again[1].fields == found[1].fields


def test_a_record_made_in_python(tmp_path):
    made = Reference(
        id="k1",
        title="Title",
        abstract="Text",
        authors=("Ash, A.",),
        year=2020,
        date="2020-02-03",
        journal="J",
        volume="1",
        issue="2",
        pages="3-4",
        doi="10.1000/1",
        pmid="12",
        keywords=("a", "b"),
        url="https://example.org",
        language="en",
        type="CONF",
        notes=("TY  - JOUR\nTY  - JOUR",),
        labels=("x",),
        decisions=(Decision("included", 'A "B"'),),
    )
    write_references([made], tmp_path / "a.ris")
    (again,) = read_references(tmp_path / "a.ris")
    assert replace(again, format="", fields=(), notes=()) == replace(made, notes=())
    assert [note.split() for note in again.notes] == [note.split() for note in made.notes]


def test_a_corpus_of_references(write):
    text = PLAIN.replace(
        "KW  - headache", 'KW  - headache\nN1  - RAYYAN-INCLUSION: {"Ann"=>"Included"}'
    )
    for name in ("refs.ris", "refs.txt", "refs"):
        corpus = load(write(name, text))
        assert [document.categories for document in corpus] == [("included",), ()]
        assert corpus.texts == [
            "Triptans in migraine\nFirst line second line\nheadache",
            "Soil erosion\nAfter fires",
        ]


def test_texts_of_references_are_classified(write):
    (batch,) = TextReader(write("refs.txt", PLAIN))
    assert batch.ids.to_pylist() == ["refs.txt:1", "refs.txt:12"]
    assert batch.texts.to_pylist()[1] == "Soil erosion\nAfter fires"


def test_what_is_no_reference(write):
    for text in ("", "just words\n", "a,b\n1,2\n"):
        with pytest.raises(DataError):
            read_references(write("a.txt", text))


def test_compressed_files(tmp_path):
    (tmp_path / "a.ris.gz").write_bytes(gzip.compress(PLAIN.encode()))
    assert len(read_references(tmp_path / "a.ris.gz")) == 2
    for members in (["articles.ris"], ["articles.ris", "log.csv"]):
        with zipfile.ZipFile(tmp_path / "rayyan.zip", "w") as archive:
            for member in members:
                archive.writestr(member, PLAIN)
        if len(members) == 1:
            assert len(read_references(tmp_path / "rayyan.zip")) == 2
        else:
            with pytest.raises(DataError, match="unpack it"):
                read_references(tmp_path / "rayyan.zip")
