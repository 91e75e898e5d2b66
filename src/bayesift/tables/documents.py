"""Read the text of a document: plain text, a web page, a mail, a PDF or a Word file."""

from __future__ import annotations

import email
import email.policy
import logging
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from bayesift.errors import BayesiftError, DataError, require
from bayesift.tables.loading import EMPTY_DOCUMENT, decode, describe_damage, guess_encoding
from bayesift.text.markup import strip_html

_EXTRA = "documents"
_WEB_PAGES = (".html", ".htm", ".xhtml")
# Files that people keep beside texts, and that hold no text that can be read here.
_OTHERS = frozenset(
    [
        ".doc",
        ".odt",
        ".rtf",
        ".pages",
        ".ppt",
        ".pptx",
        ".xls",
        ".xlsx",
        ".ods",
        ".msg",
        ".zip",
        ".gz",
        ".tar",
        ".7z",
        ".rar",
        ".exe",
        ".jpg",
        ".jpeg",
        ".png",
        ".gif",
        ".bmp",
        ".tif",
        ".tiff",
        ".webp",
        ".svg",
        ".heic",
        ".mp3",
        ".mp4",
        ".wav",
        ".mov",
        ".avi",
    ]
)


class DocumentText(NamedTuple):
    """The title and the text of a document, and the encoding of one that is plain text."""

    title: str
    text: str
    encoding: str | None = None


class UnreadableError(DataError):
    """A document that is left out of its folder, because it cannot be read."""


def read_document(name: str, content: bytes, encoding: str | None = None) -> DocumentText:
    r"""Read the text of a document, by the suffix of its name.

    Parameters
    ----------
    name : with its suffix; of other suffixes than those of web pages, mails (.eml), PDF and Word
        files (.docx) it is plain text
    content : the bytes of the file
    encoding : of plain text and web pages; guessed by default

    Examples
    --------
    >>> read_document("mail.eml", b"Subject: Corn\n\nPrices rose.\n")
    DocumentText(title='Corn', text='Prices rose.\n', encoding=None)
    """
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in _OTHERS:
        raise UnreadableError(f"a {suffix} file cannot be read; save it as text, .docx or .pdf")
    if suffix in _READERS:
        try:
            read = _READERS[suffix](content)
        except BayesiftError:
            raise
        except Exception as error:  # the libraries raise anything at a damaged file
            kind = type(error).__name__
            raise UnreadableError(f"cannot be read as {suffix} ({error or kind})") from error
    else:
        used = encoding or guess_encoding([content])
        text = decode(content, used, file=name)
        damage = describe_damage(text, used)
        if damage is not None:
            raise DataError(damage)
        read = DocumentText("", strip_html(text) if suffix in _WEB_PAGES else text, used)
    if not (read.title + read.text).strip():
        raise UnreadableError(EMPTY_DOCUMENT)
    return read


def _read_mail(content: bytes) -> DocumentText:
    message = email.message_from_bytes(content, policy=email.policy.default)
    assert isinstance(message, EmailMessage)  # what the policy makes
    body = message.get_body(preferencelist=("plain", "html"))
    text = "" if body is None else str(body.get_content())
    if body is not None and body.get_content_subtype() == "html":
        text = strip_html(text)
    return DocumentText(str(message.get("subject", "")), text)


def _read_pdf(content: bytes) -> DocumentText:
    pypdf = require("pypdf", extra=_EXTRA)
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # damage is reported once, by us
    reader = pypdf.PdfReader(BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableError("is a PDF file with a password")
    text = "\n".join(page.extract_text() for page in reader.pages)
    if not text.strip():
        raise UnreadableError("is a PDF file without text, such as a scan")
    return DocumentText("", text)


def _read_word(content: bytes) -> DocumentText:
    docx = require("docx", extra=_EXTRA)
    return DocumentText("", "\n".join(_paragraphs(docx.Document(BytesIO(content)))))


def _paragraphs(part: Any) -> Iterator[str]:
    """Yield the paragraphs of a document or a cell, those of tables in their place."""
    for block in part.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                for cell in row.cells:
                    yield from _paragraphs(cell)
        else:
            yield block.text


_READERS: dict[str, Callable[[bytes], DocumentText]] = {
    ".eml": _read_mail,
    ".pdf": _read_pdf,
    ".docx": _read_word,
}
