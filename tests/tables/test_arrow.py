"""Blocks that Arrow parses against the same tables read row by row."""

import csv
import io
import json
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift import TextClassifier
from bayesift.corpora.streaming import TextReader
from bayesift.errors import DataError
from bayesift.records import Corpus, DocumentTable
from bayesift.tables import Columns, arrow, load_chunks, load_table
from bayesift.tables.reader import TableReader

FIELDS = st.text(st.sampled_from('ab "\n,é;'), max_size=6)
FILLED = st.text(st.sampled_from('ab ",é'), min_size=1, max_size=6).filter(str.strip)


@pytest.fixture(params=[64, 1 << 22])
def block_size(request, monkeypatch):
    monkeypatch.setattr(arrow, "BLOCK_BYTES", request.param)
    return request.param


def row_by_row(path, monkeypatch):
    """The corpus of a table of which Arrow parses nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(arrow, "parse_csv", lambda *_: None)
        patch.setattr(arrow, "parse_json_lines", lambda *_: None)
        return load_table(path, skip_bad=True)


@pytest.mark.parametrize(
    "content",
    [
        b"text,label\nwheat rose,grain\n\noil fell,crude\n",
        b"\xef\xbb\xbftext,label\r\nwheat rose,grain\r\noil fell, crude \r\n",
        b'text,label\n"two\nlines, ""quoted""",a\nplain,b\n"x","c"',
        b'text,label\nsay "hi",a\n"lone,b\nplain,c\n"a "b" c",d\n',
        b"text,label\ngood,a\n,,\n ,b\nbad\nlast,c\nlong,d,,\n",
        b"text,label\rone,a\rtwo,b\r",
        b"text,label\ncaf\xc3\xa9,a\nbroken \xff,b\nfine,c\nnul \x00,d\n",
        b"sep=;\ntext;label;split\nwheat;grain;train\noil;crude; test \nrye;;\n",
        (
            b"id,title,text,label\n 7 ,Grain,wheat,a\n8,,oil,b\n9,Only a title,,c\n7,again,x,d\n"
            b",no id,y,e\n"
        ),
        (
            b'{"text": "wheat", "label": ["a", "b"], "id": 1}\n{"text": "oil", "label": []}\n'
            b'{"text": "rye", "id": 3}\n'
        ),
        (
            b'{"text": "wheat", "label": "a"}\n\n{"text": "oil", "label": 3}\n'
            b'{"text": "", "label": "b"}\n[1]\n'
        ),
        (
            b'{"text": "caf\\u00e9", "label": true}\n{"text": "half \\ud800"}\n'
            b'{"text": "x\\u0000", "label": true}\n'
        ),
        (
            b'{"title": "T", "text": "wheat", "label": 4, "split": "train"}\n'
            b'{"title": null, "text": "oil"}\n'
        ),
    ],
)
def test_arrow_reads_what_the_rows_hold(content, block_size, tmp_path, monkeypatch):
    path = tmp_path / ("a.jsonl" if content.startswith(b"{") else "a.csv")
    path.write_bytes(content)
    expected, found = row_by_row(path, monkeypatch), load_table(path, skip_bad=True)
    assert tuple(found) == tuple(expected)
    assert found.categories == expected.categories
    assert sorted(map(str, found.problems)) == sorted(map(str, expected.problems))
    assert found.notes == expected.notes
    assert found.fingerprint == Corpus(tuple(expected), expected.categories).fingerprint


@given(
    st.lists(st.tuples(FILLED, FIELDS, FIELDS), min_size=1, max_size=12),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_table_of_csv(rows, quoting):
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=quoting).writerows([("text", "label", "more"), *rows])
    corpus = load_table(
        io.BytesIO(stream.getvalue().encode()), columns=Columns("text", "label")
    )
    assert corpus.texts == [text for text, _, _ in rows]
    assert [document.categories for document in corpus] == [
        (label.strip(),) * bool(label.strip()) for _, label, _ in rows
    ]


def test_clean_blocks_are_parsed_by_arrow(monkeypatch):
    monkeypatch.setattr(arrow, "BLOCK_BYTES", 64)
    content = b"text,label\n" + b'"a ""b"",\nc",d\n' * 50
    parts = [part for _, part in arrow.read_parts(TableReader(io.BytesIO(content)), Columns())]
    assert len(parts) > 5
    assert all(isinstance(part, arrow.ColumnBlock) for part in parts)
    assert [line for part in parts for line in part.lines] == list(range(2, 102, 2))


def test_texts_of_a_table_come_as_arrow_columns():
    (batch,) = TextReader(io.BytesIO(b"title,text\nGrain,wheat\n,oil\n"))
    assert batch.ids.to_pylist() == ["2", "3"]
    assert batch.texts.to_pylist() == ["Grain\nwheat", "oil"]


class Endless(io.RawIOBase):
    """A stream of rows that are nowhere held at once."""

    def __init__(self, n_rows, line):
        self.left, self.line, self.rest = n_rows, line, b"text,label\n"

    def readable(self):
        return True

    def readinto(self, buffer):
        while len(self.rest) < len(buffer) and self.left:
            self.rest += self.line(self.left)
            self.left -= 1
        data, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def peak_of(n_rows):
    """The most bytes that Python, NumPy and Arrow hold while a model learns from a stream."""

    def line(number):
        return b"wheat corn w%d export %s,%s\n" % (
            number % 500,
            b"filler " * 20,
            b"grain" if number % 3 else b"crude",
        )

    classifier, in_arrow = TextClassifier(model="naive-bayes"), 0
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        for chunk in load_chunks(io.BufferedReader(Endless(n_rows, line))):
            classifier.partial_fit_corpus(chunk)
            in_arrow = max(in_arrow, pa.total_allocated_bytes() - before)
        assert classifier.vectorizer_.n_documents_ == n_rows
        return tracemalloc.get_traced_memory()[1] + in_arrow
    finally:
        tracemalloc.stop()


def test_a_stream_is_learned_in_constant_memory(monkeypatch):
    monkeypatch.setattr(arrow, "BLOCK_BYTES", 1 << 14)
    peak_of(500)  # what is loaded once
    small, large = peak_of(2_000), peak_of(16_000)
    assert large < 1.1 * small
    assert large < 16_000 * 160  # the bytes of the rows


def test_chunks_say_what_was_wrong_with_them(monkeypatch):
    monkeypatch.setattr(arrow, "BLOCK_BYTES", 32)
    content = b"body;label\n" + b"wheat rose;grain\n" * 4 + b"bad\n" + b"oil fell;crude\n" * 4
    chunks = list(load_chunks(io.BytesIO(content), skip_bad=True))
    assert [document.text for chunk in chunks for document in chunk] == ["wheat rose"] * 4 + [
        "oil fell"
    ] * 4
    assert [problem.line for chunk in chunks for problem in chunk.problems] == [6]
    assert [note.what for note in chunks[0].notes] == ["delimiter", "text"]
    with pytest.raises(DataError, match="holds no documents"):
        list(load_chunks(io.BytesIO(b"text,label\n")))


def test_a_table_of_documents_is_a_sequence_of_them():
    corpus = load_table(
        io.BytesIO(b"id,text,label,split\na,x,p,train\nb,y,q,test\nc,z,,train\n")
    )
    documents = tuple(corpus)
    table = corpus.documents
    assert isinstance(table, DocumentTable)
    assert (table[0], table[-1], table[1:], table[::2]) == (
        documents[0],
        documents[2],
        documents[1:],
        documents[::2],
    )
    with pytest.raises(IndexError):
        table[3]
    plain = Corpus(documents, corpus.categories)
    assert table == documents == plain.documents
    for name in (
        "texts",
        "ids",
        "splits",
        "is_single_label",
        "is_multilabel",
        "fingerprint",
        "category_counts",
    ):
        ours, theirs = getattr(corpus, name), getattr(plain, name)
        assert (ours() if callable(ours) else ours) == (
            theirs() if callable(theirs) else theirs
        )
    for make in (
        lambda c: c.select([2, 0]),
        lambda c: c.split("train"),
        lambda c: c.with_categories(["q"]),
        lambda c: c.labelled(),
    ):
        assert tuple(make(corpus)) == tuple(make(plain))
        assert make(corpus).fingerprint == make(plain).fingerprint
        assert (make(corpus).indicator != make(plain).indicator).nnz == 0
    assert json.dumps(corpus.text_lengths.tolist()) == json.dumps(plain.text_lengths.tolist())
