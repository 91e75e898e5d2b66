"""Forty files as people have them: each is read right, or refused in a sentence."""

import gzip
import io
import json

import openpyxl
import pyarrow
import pytest
from pyarrow import parquet

from bayesift.cli import main
from bayesift.corpora import load
from bayesift.errors import DataError
from bayesift.tables import Columns

PAIRS = [
    ("wheat and corn rose", "grain"),
    ("oil tankers wait", "crude"),
    ("the harvest of corn", "grain"),
    ("crude oil fell again", "crude"),
]
GERMAN = [
    ("Größe passt nicht", "Rückgabe"),
    ("Wann kommt das Paket?", "Lieferung"),
    ("Schuhe zu klein, Umtausch möglich?", "Rückgabe"),
    ("Paket beschädigt geliefert", "Lieferung"),
]
TOPICS = ("Betreff", "Bereich")


def joined(rows, delimiter=",", end="\n"):
    return end.join(delimiter.join(row) for row in rows) + end


def workbook(*sheets, hidden=()):
    """An Excel file of sheets: name and rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if name in hidden:
            sheet.sheet_state = "hidden"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def arrow(**columns):
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


HEADER = ("text", "label")
TABLE = joined([HEADER, *PAIRS])
TEXTS = [text for text, _ in PAIRS]
LABELS = [label for _, label in PAIRS]
RECORDS = [dict(zip(HEADER, pair, strict=True)) for pair in PAIRS]
COVER = [("Quarterly report",), (), ("made by", "Ann Smith"), ("for", "the board of directors")]
QUOTED = [(f'he said "{text}"', label) for text, label in PAIRS]
LINES = [(f"{text}\nand more,\n\nof it", label) for text, label in PAIRS]
LONG = [(text + " corn" * 100_000, label) for text, label in PAIRS]

READ = {
    "semicolons": ("a.csv", joined([HEADER, *PAIRS], ";"), PAIRS),
    "tabs in .csv": ("a.csv", joined([HEADER, *PAIRS], "\t"), PAIRS),
    "pipes in .txt": ("a.txt", joined([HEADER, *PAIRS], "|"), PAIRS),
    "cp1252 and semicolons": (
        "a.csv",
        joined([TOPICS, *GERMAN], ";", "\r\n").encode("cp1252"),
        GERMAN,
    ),
    "UTF-16 of Excel": ("a.csv", joined([TOPICS, *GERMAN], "\t").encode("utf-16"), GERMAN),
    "UTF-16 without a mark": ("a.csv", TABLE.encode("utf-16-le"), PAIRS),
    "a byte order mark": ("a.csv", TABLE.encode("utf-8-sig"), PAIRS),
    "a mark and quoted names": (
        "a.csv",
        ('"text","label"\n' + joined(PAIRS)).encode("utf-8-sig"),
        PAIRS,
    ),
    "line ends of old Macs": ("a.csv", joined([HEADER, *PAIRS], end="\r"), PAIRS),
    "mixed line ends": ("a.csv", TABLE.replace("\n", "\r\n", 2), PAIRS),
    "sep= of Excel": ("a.csv", "sep=;\n" + joined([HEADER, *PAIRS], ";"), PAIRS),
    "blank lines on top": ("a.csv", "\n\n" + TABLE, PAIRS),
    "blank rows between": ("a.csv", TABLE.replace("\n", "\n\n,\n"), PAIRS),
    "a title on top": ("a.csv", "Export of 2026-11-18\n\n" + TABLE, PAIRS),
    "comments on top": ("a.csv", "# made by a program\n# on Monday\n" + TABLE, PAIRS),
    "no header": ("a.csv", joined(PAIRS * 3), PAIRS * 3),
    "trailing separators": ("a.csv", TABLE.replace("\n", ",,\n"), PAIRS),
    "names in capitals with spaces": ("a.csv", joined([(" TEXT ", "Label "), *PAIRS]), PAIRS),
    "cells of several lines": (
        "a.csv",
        joined([HEADER, *((f'"{text}"', label) for text, label in LINES)]),
        LINES,
    ),
    "quotes within quotes": (
        "a.csv",
        joined([HEADER, *(('"' + t.replace('"', '""') + '"', c) for t, c in QUOTED)]),
        QUOTED,
    ),
    "quotes that enclose nothing": ("a.tsv", joined([HEADER, *QUOTED], "\t"), QUOTED),
    "very long cells": ("a.csv", joined([HEADER, *LONG]), LONG),
    "empty texts": ("a.csv", TABLE + ",grain\n  ,crude\n", PAIRS),
    "dates and numbers beside": (
        "a.csv",
        joined(
            [("day", "price", "text", "label")]
            + [(f"2026-11-{k:02}", f"{k}.5", *pair) for k, pair in enumerate(PAIRS, 1)]
        ),
        PAIRS,
    ),
    "an array of JSON": ("a.json", json.dumps(RECORDS, indent=1), PAIRS),
    "nested JSON": ("a.json", json.dumps({"n": 4, "data": {"items": RECORDS}}), PAIRS),
    "columns of JSON": ("a.json", json.dumps({"text": TEXTS, "label": LABELS}), PAIRS),
    "JSON lines in .txt": ("a.txt", "\n".join(map(json.dumps, RECORDS)), PAIRS),
    "lines of fastText": (
        "a.txt",
        "".join(f"__label__{label} {text}\n" for text, label in PAIRS),
        PAIRS,
    ),
    "gzip of CSV": ("a.csv.gz", gzip.compress(TABLE.encode()), PAIRS),
    "gzip of JSON lines": (
        "a.jsonl.gz",
        gzip.compress("\n".join(map(json.dumps, RECORDS)).encode()),
        PAIRS,
    ),
    "Parquet with a dictionary": (
        "a.parquet",
        arrow(text=TEXTS, label=pyarrow.array(LABELS).dictionary_encode()),
        PAIRS,
    ),
    "Parquet with texts in a dictionary": (
        "a.parquet",
        arrow(text=pyarrow.array(TEXTS).dictionary_encode(), label=LABELS),
        PAIRS,
    ),
    "an Excel cover": ("a.xlsx", workbook(("Cover", COVER), ("Data", [HEADER, *PAIRS])), PAIRS),
    "an Excel cover and names of their own": (
        "a.xlsx",
        workbook(("Deckblatt", COVER), ("Daten", [TOPICS, *GERMAN]), ("Leer", [])),
        GERMAN,
    ),
    "a hidden Excel sheet": (
        "a.xlsx",
        workbook(
            ("Old", [HEADER, ("gone and away", "x")]), ("New", [HEADER, *PAIRS]), hidden=["Old"]
        ),
        PAIRS,
    ),
    "an Excel header below a title": (
        "a.xlsx",
        workbook(("Data", [("Requests of November",), (), (), TOPICS, *GERMAN])),
        GERMAN,
    ),
    "numbers as labels in Excel": (
        "a.xlsx",
        workbook(("Data", [HEADER, *((text, k % 2) for k, text in enumerate(TEXTS))])),
        [(text, str(k % 2)) for k, text in enumerate(TEXTS)],
    ),
    "Excel saved as .csv": ("a.csv", workbook(("Data", [HEADER, *PAIRS])), PAIRS),
    "mixed types in Excel": (
        "a.xlsx",
        workbook(("Data", [HEADER, *PAIRS, (2026, "grain"), ("corn", True)])),
        [*PAIRS, ("2026", "grain"), ("corn", "true")],
    ),
}
REFUSED = {
    "nothing": ("a.csv", b"", "is empty"),
    "blanks only": ("a.csv", b" \n\n \n", "is empty|no documents"),
    "a header only": ("a.csv", b"text,label\n", "holds no documents"),
    "labels only": ("a.csv", b"label\ngrain\ncrude\n", "no column 'text'"),
    "numbers only": ("a.csv", b"a,b\n1,2\n3,4\n", "no column 'text'"),
    "ragged rows": ("a.csv", b"text,label\nwheat,grain\noil\n", ":3: number of fields is 1"),
    "duplicated names": (
        "a.csv",
        b"text,text,label\na b,c d,x\n",
        "names a column twice: 'text'",
    ),
    "a NUL byte": ("a.csv", b"text,label\nwheat\0,grain\n", ":2: .*NUL"),
    "a broken line of JSON": ("a.jsonl", b'{"text": "a"}\n{"text": \n', ":2: not JSON"),
    "broken JSON": ("a.json", b'[{"text": "a"}, {"text"', "not JSON"),
    "JSON without objects": ("a.json", b'["a", "b"]', "no array of objects"),
    "a damaged gzip": ("a.csv.gz", b"\x1f\x8b\x08 and no more", "damaged compressed file"),
    "half a Parquet file": ("a.parquet", arrow(text=TEXTS)[:90], "cannot be read as Parquet"),
    "half an Excel file": (
        "a.xlsx",
        workbook(("Data", [HEADER]))[:200],
        "cannot be read as a spreadsheet",
    ),
    "an Excel file without rows": ("a.xlsx", workbook(("Data", [])), "is empty"),
    "a web page": (
        "a.xls",
        b"<html><table><tr><td>a</td></tr></table></html>",
        "is a web page",
    ),
    "a picture": ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "NUL|no column|no documents"),
}


@pytest.mark.parametrize(("name", "content", "pairs"), READ.values(), ids=READ.keys())
def test_messy_tables_are_read_right(write, name, content, pairs):
    corpus = load(write(name, content))
    assert [(document.text, *document.categories) for document in corpus] == pairs


@pytest.mark.parametrize(("name", "content", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_table_is_refused_in_a_sentence(write, capsys, name, content, said):
    path = write(name, content)
    with pytest.raises(DataError, match=said) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(path), "-o", str(path.with_suffix(".model"))])
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"bayesift: {' '.join(str(caught.value).split())}\n"


def test_one_row_is_read(write):
    assert load(write("a.csv", "text,label\noil rose,crude\n")).texts == ["oil rose"]


def test_of_two_columns_of_text_the_longer_is_taken_and_both_can_be_named(write):
    rows = [(f"Re: {label}", text, label) for text, label in PAIRS]
    path = write("a.csv", joined([("Betreff", "Nachrichtentext", "Bereich"), *rows * 3]))
    assert load(path).texts[:4] == TEXTS
    named = load(path, columns=Columns(text="Nachrichtentext", title="Betreff"))
    assert named.documents[0].full_text == "Re: grain\nwheat and corn rose"


@pytest.mark.parametrize("sheet", ["Cover", "1"])
def test_a_cover_is_read_only_if_it_is_named(write, sheet):
    path = write("a.xlsx", workbook(("Cover", COVER), ("Data", [HEADER, *PAIRS])))
    assert [note.value for note in load(path).notes if note.what == "sheet"] == ["'Data'"]
    assert len(load(path, sheet="Data")) == 4
    assert load(path, sheet=sheet).texts != TEXTS


def test_the_sheet_that_has_the_named_column_is_taken(write):
    other = [("Frage", "Bereich"), *GERMAN]
    path = write("a.xlsx", workbook(("One", [HEADER, *PAIRS]), ("Two", other)))
    assert load(path).texts == TEXTS
    assert load(path, columns=Columns(text="Frage")).texts == [text for text, _ in GERMAN]
