"""Projects of ASReview 1, 2 and 3, laid out as its versions write them, and decisions elsewhere.

That ASReview 3.0.8 itself writes and reads such files was checked by hand.
"""

import json
import sqlite3
import zipfile
from contextlib import closing

import pytest

from bayesift.errors import DataError
from bayesift.references import Decision, Reference, read_references, write_references

DATA = "title,abstract,journal\nErosion,After fires,Soils\nMeals,At school,Food\nRain,Of late,Sky\n"
RECORD = (
    "CREATE TABLE record (record_id INTEGER, dataset_row INTEGER, dataset_id TEXT, title TEXT, "
    "abstract TEXT, authors TEXT, keywords TEXT, year INTEGER, doi TEXT, url TEXT)"
)
# Numbers of records are not their rows.
ROWS = [
    (11, 2, "d", "Rain", "Of late", '["Cee, C."]', "[]", 2001, None, None),
    (12, 0, "d", "Erosion", "After fires", "[]", "[]", None, None, None),
    (13, 1, "d", "Meals", "At school", "[]", "[]", None, None, None),
]


def database(path, results, *, records=()):
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as made:
        if results is not None:
            made.execute("CREATE TABLE results (record_id INTEGER, label INTEGER, note TEXT)")
            made.executemany("INSERT INTO results VALUES (?, ?, ?)", results)
        if records:
            made.execute(RECORD)
            made.executemany("INSERT INTO record VALUES (?,?,?,?,?,?,?,?,?,?)", records)
        made.commit()


def packed(folder, data=DATA):
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "records.csv").write_text(data)
    (folder / "project.json").write_text(json.dumps({"datasets": [{"name": "records.csv"}]}))
    path = folder.parent / "review.asreview"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder).as_posix())
    return path


LABELS = [(11, 1, "good"), (12, 0, None), (13, None, None)]


def check(found):
    assert found.files[0].format == "asreview"
    assert [r.title for r in found] == ["Erosion", "Meals", "Rain"]
    assert [r.included for r in found] == [False, None, True]
    assert found[2].notes == ("good",)


def test_version_3(tmp_path):
    database(tmp_path / "p" / "results.db", LABELS, records=ROWS)
    found = read_references(packed(tmp_path / "p"))
    check(found)
    assert (found[2].journal, found[2].line) == ("Sky", 4)
    assert found[2].file.endswith("review.asreview")


def test_version_2(tmp_path):
    database(tmp_path / "p" / "reviews" / "ab12" / "results.db", LABELS)
    database(tmp_path / "p" / "data_store.db", None, records=ROWS)
    check(read_references(packed(tmp_path / "p")))


def test_version_1(tmp_path):
    labels = [(2, 1, "good"), (0, 0, None)]
    database(tmp_path / "p" / "reviews" / "ab12" / "results.sql", labels)
    check(read_references(packed(tmp_path / "p")))


def test_version_1_with_numbers_of_its_own(tmp_path):
    rows = [f"{11 + place},{row}" for place, row in enumerate(DATA.splitlines()[1:])]
    data = "\n".join(["record_id,title,abstract,journal", *rows]) + "\n"
    labels = [(13, 1, "good"), (11, 0, None)]
    database(tmp_path / "p" / "reviews" / "ab12" / "results.sql", labels)
    check(read_references(packed(tmp_path / "p", data)))


def test_records_of_the_database_where_the_file_has_others(tmp_path):
    database(tmp_path / "p" / "results.db", LABELS, records=ROWS)
    found = read_references(packed(tmp_path / "p", "title,abstract\nErosion,After fires\n"))
    check(found)
    assert found[2].authors == ("Cee, C.",)


def test_projects_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="ASReview 0"):
        read_references(packed(tmp_path / "p"))
    (tmp_path / "p" / "results.db").write_bytes(b"SQLite format 3\0 damaged" * 9)
    with pytest.raises(DataError, match="cannot be read"):
        read_references(packed(tmp_path / "p"))


def test_exports_tell_asreview_and_rayyan(tmp_path):
    given = [
        Reference(title="A", decisions=(Decision("included", "Ann"),)),
        Reference(title="B", decisions=(Decision("excluded", "Ann", ("dose",)),)),
        Reference(title="C", decisions=(Decision("maybe", "Ann"),)),
    ]
    write_references(given, tmp_path / "a.ris")
    text = (tmp_path / "a.ris").read_text()
    assert text.count("N1  - ASReview_relevant\n") == 1
    assert text.count("N1  - ASReview_irrelevant\n") == 1
    assert text.count('"Ann"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: dose') == 1
    again = read_references(tmp_path / "a.ris")
    assert [r.decisions for r in again] == [r.decisions for r in given]


def test_decisions_of_covidence(write):
    header = "Title,Authors,Abstract,Published Year,Covidence #,Study,Notes,Tags\n"
    row = "Erosion,Ash A,Text,2019,#7,Ash 2019,{},\n"
    noted = header + row.format("Exclusion reason: Wrong drug; ")
    (first,) = read_references(write("review_1_excluded_csv_2.csv", noted))
    assert first.decisions == (Decision("excluded", reasons=("Wrong drug",)),)
    assert first.notes == ()
    for name, included in (("included", True), ("irrelevant", False), ("screen", None)):
        (first,) = read_references(write(f"review_1_{name}_csv_2.csv", header + row.format("")))
        assert first.included is included
