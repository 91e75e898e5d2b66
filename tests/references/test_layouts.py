"""Layouts that general rules must read: what stands around a table or a record, and other names."""

import json

import pytest

from bayesift.references import read_references
from tests.references.test_programs import TABLES, check_article

HEADER = "Title,Author Names,Source title,Publication Year,Volume,Issue,First Page,Last Page,"
HEADER += "Abstract,DOI\n"
ROW = 'Erosion of soils after fire,"Ash A., Bee B.",Journal of Soils,2019,3,2,12,19,Text.,'
ROW += "10.1000/soil.1\n"
ABOVE = {
    "query and dashes": '"SEARCH QUERY","soil:ti"\n--------\n\n',
    "lone quote": 'Search: 5" plates\n\n',
    "many lines": "".join(f"#{number},soil OR fire,{number * 10}\n" for number in range(30)),
    "mark": "\ufeff",
    "separator": "sep=,\n",
}


@pytest.mark.parametrize("above", ABOVE)
def test_lines_above_the_header(above, write):
    found = read_references(write("export.csv", ABOVE[above] + HEADER + ROW))
    check_article(found)
    lines = (ABOVE[above] + HEADER).count("\n")
    assert found[0].line == lines + 1


def test_lines_among_and_below_the_rows(write):
    text = HEADER + ROW + "\n" + HEADER + ROW + ",,,,,,,,,\n" + "Copyright 2024 by the press\n"
    found = read_references(write("export.csv", text))
    assert len(found) == 2
    assert [problem.message for problem in found.problems] == [
        "names the columns again, left out",
        "a line of text and not a row of the table, left out",
    ]
    assert (found.refused, found.files[0].refused) == ((), 0)


NAMES = {
    "RefWorks": (
        "Reference Type\tReference Id\tAuthors, Primary\tTitle Primary\tPeriodical Full\t"
        "Pub Year\tVolume\tIssue\tStart Page\tOther Pages\tAbstract\tDOI\n"
        "Journal Article\t7,doc:1\tAsh,Ann;Bee,Bob\tErosion of soils after fire\t"
        "Journal of Soils\t2019\t3\t2\t12\t19\tText.\t10.1000/soil.1\n"
    ),
    "Citavi in German": (
        "Titel;Autor;Zeitschrift;Jahr;Band;Heft;Seiten;Zusammenfassung;DOI\n"
        'Erosion of soils after fire;"Ash, Ann; Bee, Bob";Journal of Soils;2019;3;2;12-19;Text.;'
        "10.1000/soil.1\n"
    ),
    "LILACS in Portuguese": (
        "Título,Autores,Revista,Ano,Volume,Número,Páginas,Resumo,DOI\n"
        'Erosion of soils after fire,"Ash, Ann; Bee, Bob",Journal of Soils,2019,3,2,12-19,Text.,'
        "10.1000/soil.1\n"
    ),
    "EBSCO": (
        "title,abstract,an,contributors,doi,issue,pageEnd,pageStart,publicationDate,source,volume\n"
        'Erosion of soils after fire,Text.,77,"Ash, Ann; Bee, Bob",10.1000/soil.1,2,19,12,'
        "20190301,Journal of Soils,3\n"
    ),
    "Dublin Core": (
        "dc.title,dc:creator,dc.date,prism:publicationName,prism:volume,prism:issue,pages,"
        "dc.description,prism:doi\n"
        'Erosion of soils after fire,"Ash, Ann; Bee, Bob",2019-03,Journal of Soils,3,2,12-19,'
        "Text.,10.1000/soil.1\n"
    ),
    "lists of Python": (
        "primary_title,abstract,authors,publication_year,secondary_title,volume,number,"
        "start_page,end_page,doi\n"
        "Erosion of soils after fire,Text.,\"['Ash, Ann', 'Bee, Bob']\",2019,Journal of Soils,3,2,"
        "12,19,10.1000/soil.1\n"
    ),
}


@pytest.mark.parametrize("program", NAMES)
def test_names_of_columns(program, write):
    check_article(read_references(write("export.txt", NAMES[program])))


def test_abstracts_without_titles(write):
    text = "abstract,authors,label_included\nFires burn.,Ash,1\nSoils stay.,Bee,0\n"
    found = read_references(write("export.csv", text))
    assert [(r.title, r.abstract, r.included) for r in found] == [
        ("", "Fires burn.", True),
        ("", "Soils stay.", False),
    ]


def test_titles_are_not_names_of_other_titles(write):
    text = "Short Title,Title,Original Title,Title Secondary,Author Address\nA,B,C,D,E\n"
    (first,) = read_references(write("export.csv", text))
    assert (first.title, first.journal, first.authors) == ("B", "D", ())


def test_sheet_of_records_among_others(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Search", "Hits", "Remarks on the search"])
    for number in range(30):
        book.active.append([f"soil OR fire {number}", number, "a remark of several words"])
    sheet = book.create_sheet("records")
    sheet.append(["Exported on 1 March 2020"])
    for line in TABLES["distiller"].splitlines():
        sheet.append(line.split("\t"))
    book.save(tmp_path / "export.xlsx")
    found = read_references(tmp_path / "export.xlsx")
    assert check_article(found).line == 3


def test_fields_by_row(write):
    text = (
        '"SEARCH QUERY","soil:ti"\n\n"TITLE","Erosion of soils after fire"\n'
        '"AUTHOR NAMES","Ash A.","Bee B."\n"SOURCE","Journal of Soils"\n"PUBLICATION YEAR","2019"\n'
        '"VOLUME","3"\n"ISSUE","2"\n"FIRST PAGE","12"\n"LAST PAGE","19"\n"ABSTRACT","Text."\n'
        '"DOI","10.1000/soil.1"\n\n'
    )
    found = read_references(write("records.csv", text))
    assert check_article(found).line == 3
    twice = text + text.replace("Erosion", "Loss")
    titles = [reference.title for reference in read_references(write("records.csv", twice))]
    assert titles == ["Erosion of soils after fire", "Loss of soils after fire"]


REFWORKS = """RT Journal Article
SR Electronic
ID 7
A1 Ash,Ann
A1 Bee,Bob
T1 Erosion of soils
 after fire
YR 2019
JF Journal of Soils
VO 3
IS 2
SP 12
OP 19
AB Text.
DO 10.1000/soil.1
"""


def test_tagged_text_of_refworks(write):
    found = read_references(write("refworks.txt", REFWORKS))
    first = check_article(found)
    assert (found.files[0].format, first.type) == ("refworks", "JOUR")
    found = read_references(write("refworks.txt", f"{REFWORKS}\n{REFWORKS}"))
    assert len(found) == 2


RECORD = "TY  - JOUR\nT1  - Erosion\nAB  - Text.\n"


@pytest.mark.parametrize(
    ("text", "n_records", "kept"),
    [
        (f"{RECORD}ER  -\nNL  - J Soils\n\nLink: x\n\n2.\n{RECORD}ER  -\n", 2, "NL"),
        (f"{RECORD}ER  - End\nUK  - Unknown\nER  -\n", 1, "UK"),
        (f"DB  - Ovid\n{RECORD}ER  -\n\nDB  - Ovid\n{RECORD}ER  -\n", 2, "DB"),
        (f"{RECORD}ER  -\nM2  - last\n", 1, "M2"),
        (RECORD.replace("JOUR", "Journal Article") + "ER  -\n", 1, "T1"),
        (RECORD.replace("JOUR", "") + "ER  -\n", 1, "T1"),
        ("\ufeff" + RECORD.replace("TY  - JOUR\n", "") + "ER  -\n", 1, "T1"),
        (RECORD.replace("AB  -", "AB\t-") + "ER  -\n", 1, "AB"),
    ],
)
def test_fields_around_a_record(text, n_records, kept, write):
    found = read_references(write("export.ris", text))
    assert [r.title for r in found] == ["Erosion"] * n_records
    assert [r.abstract for r in found] == ["Text."] * n_records
    assert kept in dict(found[0].fields)
    assert found.refused == ()


def test_a_record_without_fields_is_counted_as_skipped(write):
    found = read_references(write("export.ris", f"{RECORD}ER  -\n\nTY  - JOUR\nER  - \n"))
    assert (len(found), found.files[0].refused) == (1, 1)
    assert found.refused[0].message == "record without any field, left out"


OVID = """<1>
Unique Identifier
  123
Title
  Erosion of soils after fire
Source
  Journal of Soils. 3(2):12-19, 2019 Mar.
Authors
  Ash A
  Bee B
Abstract
  Text.
DOI Number
  10.1000/soil.1

<2>
Title
  Water
  and oil
Abstract
  More.
"""


def test_citations_of_ovid(write):
    found = read_references(write("citation.txt", OVID))
    assert len(found) == 2
    second = found[1]
    assert (second.title, second.abstract, second.line) == ("Water and oil", "More.", 16)
    text = OVID.partition("\n<2>")[0]
    assert check_article(read_references(write("citation.txt", text))).id == "123"


MISSING = """Authors,Title,Year,Abstract
[No author name available],Proceedings,2020,[No abstract available]
"Ash, A.",Soils,2020,n/a
"None, Ann",No abstract,2020,No abstract was needed here.
"""


def test_what_databases_write_where_a_part_is_missing(write):
    first, second, third = read_references(write("export.csv", MISSING))
    assert (first.authors, first.abstract) == ((), "")
    assert (second.authors, second.abstract) == (("Ash, A.",), "")
    assert (third.authors, third.abstract) == (("None, Ann",), "No abstract was needed here.")


def told(found):
    return [[(d.verdict, d.reviewer, d.reasons) for d in each.decisions] for each in found]


IN, OUT = ("included", "", ()), ("excluded", "", ())
DECIDED = {
    "of Colandr, by the last stage": (
        "study_id,citation_title,citation_abstract,citation_screening_status,"
        "fulltext_screening_status,citation_exclude_reasons,fulltext_exclude_reasons\n"
        "1,A,B,included,excluded,,wrong drug\n2,C,D,excluded,not_screened,old,\n"
        "3,E,F,screened_once,not_screened,,\n",
        [[("excluded", "", ("wrong drug",))], [("excluded", "", ("old",))], []],
    ),
    "of SysRev, a row for each person": (
        "Article ID,Title,Abstract,User Name,Include\n1,A,B,ann,true\n1,A,B,bob,false\n",
        [[("included", "ann", ())], [("excluded", "bob", ())]],
    ),
    "of DistillerSR, under a question": (
        "Refid,User,Title,Abstract,Should this reference be included?\n"
        "1,ann,A,B,Include\n2,ann,C,D,Cannot tell\n3,bob,E,F,\n",
        [[("included", "ann", ())], [("maybe", "ann", ())], []],
    ),
    "of EPPI-Reviewer, as letters": (
        "ItemId,Title,Abstract,I/E/D/S flag\n1,A,B,I\n2,C,D,E\n3,E,F,D\n",
        [[IN], [OUT], []],
    ),
    "of several people": (
        "Title,Abstract,Reviewer 1,Decision (CD),Comments\nA,B,Yes,No,no\nC,D,,no,\n",
        [
            [("included", "reviewer1", ()), ("excluded", "cd", ())],
            [("excluded", "cd", ())],
        ],
    ),
    "of stages, by the last one": (
        "Title,Abstract,T&A screening,Full text screening\nA,B,Include,Exclude\nC,D,Include,\n",
        [[OUT], [IN]],
    ),
    "of Nested Knowledge, as a status": (
        "RefID,Title,Abstract,Status,Exclusion Reason\n1,A,B,Excluded,old\n2,C,D,Accepted,\n",
        [[("excluded", "", ("old",))], []],
    ),
    "beside what is no decision": (
        "Title,Abstract,Inclusion criteria,Included patients,Include (Y/N)\n"
        "A,B,Yes,1200,Y\nC,D,No,7,\n",
        [[IN], []],
    ),
}


@pytest.mark.parametrize("program", DECIDED)
def test_columns_of_decisions(program, write):
    text, expected = DECIDED[program]
    assert told(read_references(write("export.csv", text))) == expected


def test_notes_of_people_in_rayyan(write):
    notes = '{""Ann""=>true, ""Bob""=>""Excluded""} | RAYYAN-LABELS: rct,__EXR__wrong age | '
    notes += 'USER-NOTES: {""Ann""=>[""see | page 3"", ""both""], ""Bob""=>[""old""]}'
    text = f'key,title,abstract,notes\nrayyan-1,A,B,"RAYYAN-INCLUSION: {notes}"\n'
    (found,) = read_references(write("articles.csv", text))
    assert told([found]) == [[("included", "Ann", ()), ("excluded", "Bob", ("wrong age",))]]
    assert found.labels == ("rct",)
    assert found.notes == ("Ann: see | page 3", "Ann: both", "Bob: old")


def test_files_and_notes_of_zotero_are_no_records(write):
    text = (
        "Key,Item Type,Title,Abstract Note\nA,journalArticle,Soils,Text.\nB,attachment,a.pdf,\n"
    )
    found = read_references(write("zotero.csv", text + "C,note,,\n"))
    assert [each.title for each in found] == ["Soils"]
    assert (len(found.problems), found.refused) == (2, ())


JSON = {
    "EPPI-Reviewer": {
        "CodeSets": [{"SetName": "Screening"}],
        "References": [{"ItemId": 7, "Title": "Soils", "Abstract": "Text."}],
    },
    "Crossref": {
        "status": "ok",
        "message": {"items": [{"title": ["Soils"], "abstract": "<jats:p>Text.</jats:p>"}]},
    },
}


@pytest.mark.parametrize("program", JSON)
def test_records_within_other_json(program, write):
    (found,) = read_references(write("records.json", json.dumps(JSON[program])))
    assert (found.title, found.abstract) == ("Soils", "Text.")
