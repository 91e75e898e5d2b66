"""Folders of documents as people have them: text, web pages, mails, PDF and Word files."""

import io
import sys

import docx
import pytest

from bayesift.corpora import load
from bayesift.errors import DataError, MissingExtraError
from bayesift.tables.archives import load_folder
from bayesift.tables.documents import read_document


def pdf(text):
    """A PDF file of one page with a line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode() if text else b""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made = b"%PDF-1.4\n"
    places = []
    for number, held in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, held)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(made)
    return made + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


def word(*paragraphs, cell=None):
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if cell is not None:
        document.add_table(1, 1).cell(0, 0).text = cell
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


MAIL = """Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/html; charset=utf-8

<p>Wheat <b>rose</b></p>
--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Wheat ros=E9
--b--
"""
DOCUMENTS = {
    "a.txt": ("wheat rose", "wheat rose"),
    "a.md": ("# Wheat\nrose", "# Wheat\nrose"),
    "a.html": ("<h1>Wheat</h1><script>x</script> rose &amp; fell", "Wheat rose & fell"),
    "cp1252.HTM": ("<p>Grüße".encode("cp1252"), "Grüße"),
    "a.eml": (MAIL, "Grüße Wheat rosé"),
    "html.eml": (
        "Subject: Corn\nContent-Type: text/html\n\n<p>Prices<br>rose</p>",
        "Corn Prices rose",
    ),
    "a.pdf": (pdf("wheat rose"), "wheat rose"),
    "a.docx": (word("wheat", "rose", cell="by 3%"), "wheat rose by 3%"),
}
UNREADABLE = {
    "broken.pdf": (b"%PDF-1.4 and no more", "cannot be read as .pdf"),
    "scan.pdf": (pdf(""), "is a PDF file without text, such as a scan"),
    "broken.docx": (b"no zip", "cannot be read as .docx"),
    "old.doc": (b"\xd0\xcf\x11\xe0", "a .doc file cannot be read; save it as text"),
    "photo.JPG": (b"\xff\xd8\xff\xe0\0", "a .jpg file cannot be read"),
    "empty.eml": (b"", "empty document"),
    "blank.txt": (b" \n", "empty document"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_of_each_kind_are_read(name):
    content, text = DOCUMENTS[name]
    read = read_document(name, content.encode() if isinstance(content, str) else content)
    assert f"{read.title} {read.text}".split() == text.split()


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path, write, name):
    content, said = UNREADABLE[name]
    write("grain/1.txt", "wheat rose")
    write("crude/2.md", "oil fell")
    path = write(f"grain/{name}", content)
    corpus = load_folder(tmp_path)
    assert sorted(corpus.ids) == ["crude/2.md", "grain/1.txt"]
    (problem,) = corpus.problems
    assert (problem.file, said in problem.message) == (str(path), True)


@pytest.mark.parametrize(("name", "package"), [("a.pdf", "pypdf"), ("a.docx", "docx")])
def test_a_missing_package_is_one_sentence(monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    content, _ = DOCUMENTS[name]
    with pytest.raises(MissingExtraError, match=r'pip install "bayesift\[documents\]"'):
        read_document(name, content)


def test_a_flat_folder_has_no_labels(tmp_path, write):
    write("new/a.txt", "wheat")
    with pytest.raises(DataError, match="lies in no category folder"):
        load(tmp_path / "new")
