"""Delimiters, encodings, headers and columns of user files are guessed, and guesses reported."""

import csv
import io
import json
import zipfile
from xml.sax.saxutils import escape

import pyarrow
import pytest
from pyarrow import parquet

from bayesift.corpora import load
from bayesift.errors import DataError, RequestError
from bayesift.tables import Columns, load_table

ROWS = [
    ("oil, gas and coal fell", "crude"),
    ("wheat; and corn", "grain"),
    ("a tanker sank | today", "ship"),
] * 4


def delimited(rows, delimiter, header=("text", "label"), **options):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, **options).writerows(
        [*([header] if header else []), *rows]
    )
    return stream.getvalue()


def pairs(corpus):
    return [(document.text, *document.categories) for document in corpus]


def said(corpus):
    return {note.what: note.value for note in corpus.notes}


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", None), (";", "semicolon"), ("\t", "tab"), ("|", "pipe")]
)
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_the_delimiter_is_guessed_and_said(write, delimiter, name, suffix):
    corpus = load(write(f"a{suffix}", delimited(ROWS, delimiter)))
    assert pairs(corpus) == ROWS
    assert said(corpus).get("delimiter") == name


def test_the_header_tells_where_rows_are_ragged(write):
    path = write("a.csv", "Body;desk\n" + "oil &amp; gas; coal;crude\n" * 9)
    with pytest.raises(DataError, match=":2: number of fields is 4; in the header it is 2"):
        load(path)


def test_a_delimiter_can_be_named(write):
    path = write("a.csv", "text,long;label\nx,1;y\nz,2;y\n")
    assert load(path, delimiter="semicolon").texts == ["x,1", "z,2"]
    assert load(path, delimiter=",", columns=Columns(text="text")).texts == ["x", "z"]
    with pytest.raises(ValueError, match="one character"):
        load(path, delimiter=";;")


def test_excel_names_the_delimiter(write):
    corpus = load(write("a.csv", "sep=;\n" + delimited(ROWS, ";")))
    assert pairs(corpus) == ROWS
    assert corpus.ids[0] == "3"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"]
)
def test_unicode_by_its_mark_or_its_bytes(write, encoding):
    rows = [("déjà vu", "été"), ("naïve", "hiver")] * 3
    corpus = load(write("a.csv", delimited(rows, ",").encode(encoding)))
    assert pairs(corpus) == rows
    assert ("encoding" in said(corpus)) == ("8" not in encoding)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Le café était fermé; l'élève a dû attendre à la gare"),
        ("cp1250", "Zażółć gęślą jaźń, proszę o przesłanie książki"),
        ("cp1252", "Größe passt nicht, Geld zurück"),
        ("cp1252", "Não chegou às terças"),
        ("cp1252", "It’s ½ of £20 – naïve"),
        ("cp1252", "¿Dónde está mi pedido?"),
        ("cp1250", "Objednávka přišla pozdě a byla poškozená"),
        ("cp1250", "Nagyon jó minőség, gyönyörű"),
        ("cp1251", "Это хороший магазин, но доставка была очень долгой"),
        ("cp932", "今日はとても天気がいいので、公園に散歩に行きましょう"),
        ("gb18030", "今天天气很好，我们一起去公园散步吧"),
        ("cp949", "오늘 날씨가 아주 좋으니 공원에 산책하러 갑시다"),
    ],
)
def test_other_encodings_by_what_they_make_of_the_text(write, encoding, text):
    corpus = load(
        write("a.csv", delimited([("plain", "a"), (text, "b")] * 3, ",").encode(encoding))
    )
    assert corpus.texts[1] == text
    assert said(corpus)["encoding"] == encoding
    assert corpus.notes[0].option == "--encoding"


def test_the_first_bytes_that_tell_may_come_late(write):
    rows = [("plain text", "a")] * 60_000 + [("café", "b")]
    corpus = load(write("a.csv", delimited(rows, ",").encode("cp1252")))
    assert corpus.texts[-1] == "café"


def test_damage_in_utf_8_is_no_other_encoding(write):
    path = write("a.csv", "text,label\nseñor año niño,a\n".encode() + b"caf\xe9,b\n")
    with pytest.raises(DataError, match=r":3: column 'text': .*0xe9.*--encoding"):
        load(path)
    assert load(path, encoding="latin-1").texts[1] == "café"


@pytest.mark.parametrize(
    "content", [delimited(ROWS, "\t", header=None), delimited(ROWS, ",", header=None)]
)
def test_a_file_without_header(write, content):
    corpus = load(write("SMSSpamCollection", content))
    assert pairs(corpus) == ROWS
    assert said(corpus) == {"header": "none", "text": "'1'", "label": "'2'"} | (
        {"delimiter": "tab"} if "\t" in content else {}
    )


def test_a_header_can_be_told(write):
    path = write("a.csv", delimited(ROWS, ",", header=None))
    assert len(load(path)) == 12
    assert len(load(path, header=True)) == 11
    other = write("b.csv", "x,y\nwheat rose,1\n")
    assert len(load(other, header=False, columns=Columns(text="1"))) == 2


def test_a_first_row_that_is_bad_decides_nothing(write):
    rows = [
        (f"message {number}" + ", of many" * (number % 3), "ham" if number % 2 else "spam")
        for number in range(30)
    ]
    path = write(
        "SMSSpamCollection", "ham  Go until, crazy\n" + delimited(rows, "\t", header=None)
    )
    with pytest.raises(DataError, match=":1: number of fields is 1; in other rows it is 2"):
        load(path)
    assert pairs(load(path, skip_bad=True)) == rows


def test_a_sorted_file_without_header(write):
    rows = [(f"message {number} of many", "ham") for number in range(900)] + [
        ("win", "spam")
    ] * 3
    assert pairs(load(write("a.csv", delimited(rows, ",", header=None)))) == rows


def test_fasttext(write):
    corpus = load(write("a.txt", "__label__a wheat rose\n__label__b __label__c oil, fell\n\n"))
    assert [(d.text, d.categories) for d in corpus] == [
        ("wheat rose", ("a",)),
        ("oil, fell", ("b", "c")),
    ]


def test_columns_by_their_content(write):
    rows = [
        (f"{k}", f"a longer text {k} of some words", "north" if k % 2 else "south", str(k % 5))
        for k in range(20)
    ]
    corpus = load(
        write("a.csv", delimited(rows, ",", header=("nr", "words", "region", "stars")))
    )
    assert pairs(corpus) == [(row[1], row[2]) for row in rows]
    assert [str(note) for note in corpus.notes] == [
        "text: 'words' (the longest texts; --text)",
        "label: 'region' (2 values in 20 rows; also possible: 'stars'; --label)",
    ]


def test_the_other_column_of_a_small_table_is_its_label(write):
    assert pairs(load(write("a.csv", "kind,words\ngrain,corn and rye\ncrude,oil wells\n"))) == [
        ("corn and rye", "grain"),
        ("oil wells", "crude"),
    ]
    assert load(write("b.csv", "nr,words\n1,corn and rye\n2,oil wells\n")).categories == ()


def test_names_go_before_content(write):
    rows = [("x" * 80, "short", "a" if k % 2 else "b", f"c{k}") for k in range(8)]
    corpus = load(
        write("a.csv", delimited(rows, ",", header=("notes", "Body ", "kind", "Category")))
    )
    assert corpus.texts[0] == "short"
    assert corpus.categories[0] == "c0"
    assert said(corpus) == {"text": "'Body '", "label": "'Category'"}


def test_lines_above_the_header(write):
    title = "SEARCH QUERY;x;;;\n----;;;;\n;;;;\n"
    rows = [("1", "wheat rose", "a", "", "grain"), ("2", "oil fell", "b", "", "crude")]
    corpus = load(
        write(
            "a.csv", title + delimited(rows, ";", header=("no", "Abstract", "k", "l", "Label"))
        )
    )
    assert pairs(corpus) == [("wheat rose", "grain"), ("oil fell", "crude")]
    assert corpus.ids == ["5", "6"]


def test_blank_and_repeated_names(write):
    corpus = load(
        write("a.csv", "text,label,,,at,at\nwheat,grain,,,1,2\n,,,,,\noil,crude,,,1,2,,\n")
    )
    assert pairs(corpus) == [("wheat", "grain"), ("oil", "crude")]
    assert said(corpus) == {"blank rows": "1 left out"}
    with pytest.raises(DataError, match="names a column twice: 'at'"):
        load(write("b.csv", "text,at,at\nx,1,2\n"), columns=Columns(label="at"))


def test_lone_quotes_cost_no_row(write):
    content = (
        'text,label\n"well, ""quoted""",a\n"open,b\nplain,c\nsay "hi",d\n"a "b" c",e\n"two\n'
        'lines",f\n'
    )
    corpus = load(write("a.csv", content))
    assert pairs(corpus) == [
        ('well, "quoted"', "a"),
        ('"open', "b"),
        ("plain", "c"),
        ('say "hi"', "d"),
        ('a "b" c', "e"),
        ("two\nlines", "f"),
    ]
    assert [str(note) for note in corpus.notes] == [
        "lone quotes: 2 read as they stand (line 3, 6)"
    ]


def test_many_lone_quotes_take_linear_time(write):
    rows = "".join(f'"text {k},a\nplain {k},b\n' for k in range(20_000))
    assert len(load(write("a.csv", "text,label\n" + rows))) == 40_000


def test_quotes_as_text(write):
    rows = [('"Hi" she said', "a"), ('"never closed', "b"), ("plain", "a"), ('5" disk', "b")]
    content = "".join("\t".join(row) + "\n" for row in [("text", "label"), *rows])
    assert pairs(load(write("a.tsv", content))) == rows


OBJECTS = [{"text": "wheat", "label": "grain"}, {"text": "oil", "label": ["crude", "ship"]}]


@pytest.mark.parametrize(
    "document",
    [
        OBJECTS,
        {"data": OBJECTS},
        {"n": 2, "rows": OBJECTS},
        {k: [o[k] for o in OBJECTS] for k in ("text", "label")},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_documents(write, document, indent):
    corpus = load(write("a.json", json.dumps(document, indent=indent)))
    assert [(d.text, d.categories) for d in corpus] == [
        ("wheat", ("grain",)),
        ("oil", ("crude", "ship")),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "holds no array of objects"),
        ('[{"text": "x"}, 7]', ":2: not a JSON object"),
        ("[{", ":1: not JSON"),
    ],
)
def test_bad_json_documents(write, content, message):
    with pytest.raises(DataError, match=message):
        load(write("a.json", content))


def test_a_zipped_table(write, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("news.csv", delimited(ROWS, ";"))
        archive.writestr("__MACOSX/._news.csv", b"\0")
    assert pairs(load(tmp_path / "a.zip")) == ROWS


def test_streams():
    assert pairs(load_table(io.BytesIO(delimited(ROWS, ";").encode("utf-16")))) == ROWS
    table = pyarrow.table({"text": ["wheat"], "label": ["grain"]})
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    assert pairs(load_table(io.BytesIO(stream.getvalue()))) == [("wheat", "grain")]
    assert pairs(
        load_table(io.BytesIO(b'{"text": "x", "label": 1}\n{"text": "y", "label": 2}\n'))
    ) == [
        ("x", "1"),
        ("y", "2"),
    ]


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def excel(path, sheets):
    """A minimal workbook; strings inline, numbers as numbers."""
    parts = {"[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>'}
    parts["_rels/.rels"] = links(
        [f'Id="r1" Type="{LINKS}/officeDocument" Target="xl/workbook.xml"']
    )
    names = "".join(
        f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>' for k, name in enumerate(sheets, 1)
    )
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{SHEET}" xmlns:r="{LINKS}"><sheets>{names}</sheets></workbook>'
    )
    targets = [
        f'Id="r{k}" Type="{LINKS}/worksheet" Target="s{k}.xml"'
        for k in range(1, len(sheets) + 1)
    ]
    parts["xl/_rels/workbook.xml.rels"] = links(targets)
    for k, rows in enumerate(sheets.values(), 1):
        cells = (
            "".join(cell(v, r, c) for c, v in enumerate(row)) for r, row in enumerate(rows, 1)
        )
        body = "".join(f'<row r="{r}">{row}</row>' for r, row in enumerate(cells, 1))
        parts[f"xl/s{k}.xml"] = (
            f'<worksheet xmlns="{SHEET}"><sheetData>{body}</sheetData></worksheet>'
        )
    return zipped(path, parts)


def links(targets):
    listed = "".join(f"<Relationship {target}/>" for target in targets)
    return f'<Relationships xmlns="{PACKAGE}/relationships">{listed}</Relationships>'


def zipped(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def cell(value, row, column):
    place = f"{chr(65 + column)}{row}"
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return "" if value is None else f'<c r="{place}"><v>{value}</v></c>'


def test_excel(tmp_path):
    rows = [
        ("Body", "Category", "year"),
        ("wheat & corn", 1, 1987),
        (None, None, None),
        ("oil", 2.5, 1988),
    ]
    path = excel(
        tmp_path / "a.xlsx",
        {"Start": [], "News": rows, "More": [("text", "label"), ("coal", "c")]},
    )
    corpus = load(path)
    assert pairs(corpus) == [("wheat & corn", "1"), ("oil", "2.5")]
    assert corpus.ids == ["2", "4"]
    assert said(corpus) == {"sheet": "'News'", "text": "'Body'", "label": "'Category'"}
    assert load(path, columns=Columns(date="year")).documents[0].date.year == 1987
    assert pairs(load(path, sheet="More")) == pairs(load(path, sheet="3")) == [("coal", "c")]
    with pytest.raises(
        RequestError, match="no sheet 'Old'; there are: 'Start', 'News', 'More'"
    ):
        load(path, sheet="Old")
    renamed = path.rename(tmp_path / "a.csv")
    assert len(load(renamed)) == 2


def test_open_document(tmp_path):
    cells = (
        "".join(
            f'<table:table-cell office:value-type="string"><text:p>{v}</text:p></table:table-cell>'
            for v in row
        )
        for row in [("text", "label"), *ROWS]
    )
    rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    spaces = " ".join(
        f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"'
        for n in ("office", "table", "text")
    )
    sheet = (
        "<office:spreadsheet><table:table "
        f'table:name="A">{rows}</table:table></office:spreadsheet>'
    )
    content = (
        f"<office:document-content {spaces}><office:body>{sheet}</office:body>"
        f"</office:document-content>"
    )
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": content,
    }
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    parts["META-INF/manifest.xml"] = f'<manifest:manifest xmlns:manifest="{manifest}"/>'
    assert pairs(load(zipped(tmp_path / "a.ods", parts))) == ROWS
