import csv
import datetime
import gzip
import io
import json

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from bayesift.errors import DataError
from bayesift.tables import Columns, load_table

ROWS = [("a", "wheat rose", "grain;wheat", "train"), ("b", "oil, fell\nagain", "crude", "test")]


def as_csv(delimiter=","):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerows([("id", "text", "label", "split"), *ROWS])
    return stream.getvalue().encode()


def as_json_lines():
    keys = ("id", "text", "label", "split")
    rows = [dict(zip(keys, (*row[:2], row[2].split(";"), row[3]), strict=True)) for row in ROWS]
    return "\n".join(map(json.dumps, rows)).encode()


def check_rows(corpus):
    assert [(d.id, d.text, d.split) for d in corpus] == [
        (row[0], row[1], row[3]) for row in ROWS
    ]
    assert [d.categories for d in corpus] == [("grain", "wheat"), ("crude",)]
    assert corpus.categories == ("crude", "grain", "wheat")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", as_csv()),
        ("semicolons.csv", as_csv(";")),
        ("a.tsv", as_csv("\t")),
        ("a.jsonl", as_json_lines()),
        ("bom.csv", b"\xef\xbb\xbf" + as_csv()),
        ("a.CSV.gz", gzip.compress(as_csv(), mtime=0)),
        ("a.ndjson.zst", pyarrow.Codec("zstd").compress(as_json_lines(), asbytes=True)),
    ],
)
def test_layouts(write, name, content):
    check_rows(load_table(write(name, content), separator=";"))


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_parquet(tmp_path, compression):
    columns = list(zip(*ROWS, strict=True))
    table = pyarrow.table(
        {
            "id": columns[0],
            "text": columns[1],
            "label": [label.split(";") for label in columns[2]],
            "split": columns[3],
            "when": [datetime.date(1987, 2, 26), None],
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet", compression=compression)
    corpus = load_table(tmp_path / "a.parquet", columns=Columns(date="when"))
    check_rows(corpus)
    assert [d.date for d in corpus] == [datetime.datetime(1987, 2, 26), None]


def test_named_columns_title_and_date(write):
    path = write("a.csv", "head,words,desk,day\nNews,wheat,1,1987-02-26\nOld,corn,,1986\n")
    corpus = load_table(
        path, columns=Columns(text="words", label="desk", title="head", date="day")
    )
    first, second = corpus
    assert (first.id, first.title, first.text, first.categories) == (
        "2",
        "News",
        "wheat",
        ("1",),
    )
    assert (second.categories, second.date) == ((), datetime.datetime(1986, 1, 1))


def test_table_without_labels_is_a_corpus(write):
    corpus = load_table(write("a.csv", "text\nwheat\n"))
    assert corpus.categories == ()


BAD = {
    "no text column": (
        "a.csv",
        "7,label\n1,y\n",
        1,
        "no column 'text'; there are: '7', 'label'",
    ),
    "ragged": (
        "a.csv",
        "text,label\nx,y\nx\n",
        3,
        "number of fields is 1; in the header it is 2",
    ),
    "after embedded newline": (
        "a.csv",
        'text,label\n"a\nb",y\nx\n',
        4,
        "number of fields is 1",
    ),
    "open quote": ("a.csv", 'text,label\nx,y\n"a;y\nb,y\n', 3, "not a delimited record"),
    "text after quote": ("a.csv", 'text,label\n"a"b,c,y\n', 2, "not a delimited record"),
    "nul": ("a.csv", b"text,label\nx,y\na\0b,y\n", 3, "NUL byte"),
    "undecodable": (
        "a.csv",
        "text,label\nx,señor año niño\n".encode() + b"caf\xe9,y\n",
        3,
        "byte 0xe9",
    ),
    "duplicate id": (
        "a.csv",
        "id,text\n1,x\n2,y\n1,z\n",
        4,
        "duplicate id '1', first on line 2",
    ),
    "empty id": ("a.csv", "id,text\n1,x\n,y\n", 3, "empty id"),
    "large field": (
        "a.csv",
        f"text\nx\n{'y' * 10_000_000}\n",
        3,
        "a field has more than the 5,000,000 characters",
    ),
    "large json field": (
        "a.jsonl",
        json.dumps({"text": "y" * 10_000_000}),
        1,
        "10,000,000 characters",
    ),
    "not json": (
        "a.jsonl",
        '{"text": "x"}\n{"text": \n',
        2,
        "not JSON (Expecting value at column 1)",
    ),
    "not an object": ("a.jsonl", '{"text": "x"}\n\n["x"]\n', 3, "not a JSON object"),
    "deep json": ("a.jsonl", '{"text": "x"}\n' + "[" * 100_000, 2, "not JSON"),
    "no json text": (
        "a.jsonl",
        '{"text": "x"}\n{"body": "y"}\n',
        2,
        "no column 'text'; there are: 'body'",
    ),
    "json text is a number": (
        "a.jsonl",
        '{"text": "x"}\n{"text": 7}',
        2,
        "holds int, not text",
    ),
    "json label is an object": ("a.jsonl", '{"text": "x", "label": {}}', 1, "holds dict"),
    "half a character": ("a.jsonl", '{"text": "\\ud83d"}', 1, "half a character"),
    "half a label": ("a.jsonl", '{"text": "x", "label": ["\\ud83d"]}', 1, "half a character"),
    "undecodable json": (
        "a.jsonl",
        '{"text": "señor año niño"}\n{"text": "caf'.encode() + b'\xe9"}',
        2,
        "byte 0xe9",
    ),
}


@pytest.mark.parametrize(("name", "content", "line", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused_with_file_and_line(write, name, content, line, message):
    path = write(name, content)
    with pytest.raises(DataError) as caught:
        load_table(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert message in str(caught.value)
    assert str(caught.value).count(name) == 1
    assert len(str(caught.value)) < len(str(path)) + 200


@pytest.mark.parametrize("case", [case for case in BAD if case != "no text column"])
def test_bad_input_can_be_skipped_and_is_counted(write, case):
    name, content, line, message = BAD[case]
    path = write(name, content)
    try:
        corpus = load_table(path, skip_bad=True)
    except DataError as error:
        assert "records skipped: 1" in str(error)  # noqa: PT017 - nothing was left
        return
    assert [problem.line for problem in corpus.problems] == [line]
    assert message in corpus.problems[0].message


@pytest.mark.parametrize("skip_bad", [False, True])
def test_documents_without_text_are_left_out_and_counted(write, skip_bad):
    rows = "".join(f"corn {k},grain\n" for k in range(50)) + '"  ",grain\n,crude\n'
    corpus = load_table(write("a.csv", f"text,label\n{rows}oil,crude\n"), skip_bad=skip_bad)
    assert (len(corpus), corpus.texts[-1]) == (51, "oil")
    assert [(p.line, p.message) for p in corpus.problems] == [
        (52, "empty document"),
        (53, "empty document"),
    ]


def test_a_table_without_any_text_is_refused(write):
    with pytest.raises(DataError, match="holds no text: every document is empty"):
        load_table(write("a.csv", "id,text\n1,\n2,  \n"))


def test_good_rows_around_a_bad_one_are_kept(write):
    corpus = load_table(write("a.csv", "text,label\nx,y\nbad\nz,y\n"), skip_bad=True)
    assert [(d.id, d.text) for d in corpus] == [("2", "x"), ("4", "z")]


def test_largest_field_is_a_setting(write):
    path = write("a.csv", "text\n12345\n")
    assert len(load_table(path, max_characters=5)) == 1
    with pytest.raises(DataError, match="5 characters, more than the 4 allowed"):
        load_table(path, max_characters=4)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "text,label\n", "holds no documents"),
        ("a.csv", "text,text\nx,y\n", "column twice: 'text'"),
        ("a.jsonl", "\n\n", "holds no documents"),
        ("a.parquet", b"PAR1 no PAR1", "cannot be read as Parquet"),
        ("a.parquet", b"", "cannot be read as Parquet"),
        ("a.csv.gz", b"not gzip", "cannot be read"),
        ("a.xlsx", b"", "is empty"),
        ("a.xlsx", b"wheat", "is not a spreadsheet"),
        ("a.xlsx", b"PK\x03\x04 and no more", "cannot be read as a spreadsheet"),
        ("a.xls", b"<html><table><tr><td>text", "is a web page"),
        ("a.txt", b"wheat\nand corn\n", "unknown kind of file"),
    ],
)
def test_files_that_are_no_tables(write, name, content, message):
    with pytest.raises(DataError, match=message):
        load_table(write(name, content))


def test_missing_file_folder_and_encoding(tmp_path, write):
    with pytest.raises(DataError, match="no such file"):
        load_table(tmp_path / "a.csv")
    with pytest.raises(DataError, match="no such file"):
        load_table(tmp_path / "a.parquet")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        load_table(tmp_path / "folder.csv")
    with pytest.raises(DataError, match="unknown encoding 'klingon'"):
        load_table(write("b.csv", "text\nx\n"), encoding="klingon")
    with pytest.raises(DataError, match="'when'; there are: 'text'"):
        load_table(write("b.csv", "text\nx\n"), columns=Columns(date="when"))
    with pytest.raises(DataError, match="neither ISO 8601 nor a year"):
        load_table(write("b.csv", "text,when\nx,yesterday\n"), columns=Columns(date="when"))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    str.strip
)
records = st.lists(
    st.tuples(texts, st.lists(st.sampled_from(["a", "b", "c", "é"]), unique=True)),
    min_size=1,
    max_size=8,
)


@given(records)
def test_csv_round_trip(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "label"])
        writer.writerows((text, "|".join(labels)) for text, labels in records)
    corpus = load_table(path, separator="|")
    assert [(d.text, list(d.categories)) for d in corpus] == records


@given(records, st.booleans())
def test_json_lines_round_trip(tmp_path_factory, records, ascii_only):
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    lines = [
        json.dumps({"text": text, "label": labels}, ensure_ascii=ascii_only)
        for text, labels in records
    ]
    path.write_bytes("\n".join(lines).encode())
    corpus = load_table(path)
    assert [(d.text, list(d.categories)) for d in corpus] == records
