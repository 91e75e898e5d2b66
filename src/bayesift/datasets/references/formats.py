"""The formats of bibliographic records, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from bayesift.datasets.references.arrow import write_json_lines, write_parquet
from bayesift.datasets.references.bibtex import BIBTEX, is_bibtex, read_bibtex, write_bibtex
from bayesift.datasets.references.cochrane import COCHRANE, is_cochrane, read_cochrane
from bayesift.datasets.references.endnote import ENW, is_enw, read_enw, write_enw
from bayesift.datasets.references.endnote_xml import ENDNOTE_XML, is_endnote_xml, read_endnote_xml, write_endnote_xml
from bayesift.datasets.references.layout import Layout
from bayesift.datasets.references.lines import Entry, Input, Report
from bayesift.datasets.references.medline import MEDLINE, is_medline, read_medline, write_medline
from bayesift.datasets.references.pubmed_text import PUBMED_TEXT, is_pubmed_text, read_pubmed_text
from bayesift.datasets.references.pubmed_xml import PUBMED_XML, is_pubmed_xml, read_pubmed_xml
from bayesift.datasets.references.reference import Fields, Reference
from bayesift.datasets.references.ris import RIS, is_ris, read_ris, write_ris
from bayesift.datasets.references.tables import read_table, write_delimited, write_excel
from bayesift.datasets.references.web_of_science import (
    WEB_OF_SCIENCE,
    is_web_of_science,
    read_web_of_science,
    write_web_of_science,
)


@dataclass(frozen=True)
class Format:
    """A format: how to recognise, read and write it.

    Parameters
    ----------
    name : of the format
    suffixes : of file names, for writing
    recognises : whether the beginning of a text is of this format; None for tables, which have a reader of their own
    read : the records of a file
    write : records to a stream; None if the format is only read
    binary : whether the stream is one of bytes
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[str], bool] | None
    read: Callable[[Input], Iterator[Reference]]
    write: Callable[[Iterable[Reference], IO[Any]], None] | None
    binary: bool = False


def _text(
    suffixes: tuple[str, ...],
    layout: Layout,
    recognises: Callable[[str], bool],
    read: Callable[[Iterable[tuple[int, str]], Report], Iterator[Entry]],
    write: Callable[[Iterable[Fields], IO[str]], None] | None,
) -> Format:
    """A format of text whose fields are interpreted by a layout."""
    return Format(
        layout.name,
        suffixes,
        recognises,
        lambda source: (layout.reference(entry, source.path) for entry in read(source.lines(), source.report)),
        write and (lambda references, stream: write(map(layout.fields, references), stream)),
    )


_FORMATS = (
    _text((), PUBMED_XML, is_pubmed_xml, read_pubmed_xml, None),
    _text((".xml",), ENDNOTE_XML, is_endnote_xml, read_endnote_xml, write_endnote_xml),
    _text((".ris",), RIS, is_ris, read_ris, write_ris),
    _text((".nbib", ".medline"), MEDLINE, is_medline, read_medline, write_medline),
    _text((".ciw", ".isi"), WEB_OF_SCIENCE, is_web_of_science, read_web_of_science, write_web_of_science),
    _text((".enw",), ENW, is_enw, read_enw, write_enw),
    _text((".bib", ".bibtex"), BIBTEX, is_bibtex, read_bibtex, write_bibtex),
    _text((), COCHRANE, is_cochrane, read_cochrane, None),
    _text((), PUBMED_TEXT, is_pubmed_text, read_pubmed_text, None),
    Format("csv", (".csv",), None, read_table, write_delimited),
    Format("tsv", (".tsv", ".tab"), None, read_table, partial(write_delimited, delimiter="\t")),
    Format("xlsx", (".xlsx",), None, read_table, write_excel, binary=True),
    Format("jsonl", (".jsonl", ".ndjson"), None, read_table, write_json_lines),
    Format("parquet", (".parquet", ".pq"), None, read_table, write_parquet, binary=True),
)
FORMATS = {form.name: form for form in _FORMATS}
