"""No reader takes time out of proportion to its file: hostile files of n, 2n and 4n characters."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bayesift.errors import BayesiftError
from bayesift.references import layout, read_references
from bayesift.references.bibtex import read_bibtex
from bayesift.tables import load_table
from bayesift.tables.rows import find_objects

_RIS = "TY  - JOUR\nTI  - Triptans\n"
_NBIB = "PMID- 1\nTI  - Triptans\n"
_BIB = "@article{a,\n title = {Triptans},\n"
_ENW = "%0 Journal Article\n%T Triptans\n"
_XML = "<xml><records><record><titles><title>a</title></titles>"
_QUOTES = 'x",",""\n'  # leaves a quote open, from within a field and from outside

# What is repeated, and where: before it, itself, behind it.
REFERENCES = {
    "blanks.bib": (f"{_BIB} note = {{x", " ", "y"),
    "blanks in a key.bib": ("@article{a, title={b}}\n@article{", " ", "b"),
    "blanks before a key.bib": ("@article{b", " ", "!"),
    "lines before.bib": ("", "\n", "@article{a, title={b}}"),
    "blanks between authors.bib": (f"{_BIB} author = {{A", " ", "B}}"),
    "open braces.bib": (_BIB, " note = {x\n", ""),
    "open quotes.bib": (_BIB, ' note = "{x\n', ""),
    "nested braces.bib": (f"{_BIB} note = ", "{", "x"),
    "many fields.bib": (_BIB, " note = {x},\n", "}"),
    "blank lines.bib": (f"{_BIB} note = {{x", "\n", "y"),
    "blanks in lines.bib": (f"{_BIB} note = {{x", " \n", "y"),
    "options.bib": (f"{_BIB} note = {{", r"\a[", "}}"),
    "hashes.bib": (f"{_BIB} note = x", " # x", "}"),
    "open entries.bib": ("", "@article{a,\n", ""),
    "e-prints.bib": (_BIB, " note = {x}, eprinttype = {arxiv},\n", "}"),
    "long key.bib": ("@article{", "a", ""),
    "long name.bib": (_BIB, "a", ""),
    "commas.bib": (f"{_BIB} note = {{x", ",", "\ny"),
    "long word.nbib": (f"{_NBIB}LID - ", "a", ""),
    "marks.nbib": (f"{_NBIB}LID - ", "a[doi]", ""),
    "blanks in a note.nbib": (f"{_NBIB}GN  - RAYYAN-X", " ", "y"),
    "blanks in a value.nbib": (f"{_NBIB}GN  - RAYYAN-X: y", " ", "y"),
    "names.nbib": (f"{_NBIB}GN  - ", "RAYYAN-", ""),
    "values.nbib": (f"{_NBIB}GN  - RAYYAN-A: ", "RAYYAN-", ""),
    "many marks.nbib": (f"{_NBIB}GN  - ", "RAYYAN-A: b | ", ""),
    "reviewers.nbib": (f'{_NBIB}GN  - RAYYAN-INCLUSION: "', r"\"", ""),
    "DOIs.nbib": (f"{_NBIB}DO  - ", "10.1010.", ""),
    "points.nbib": (f"{_NBIB}DO  - 10.1000/a", ".", ""),
    "brackets.nbib": (f"{_NBIB}DO  - 10.1000/a", ")", ""),
    "without records.nbib": (_NBIB, "AB  - x\n", ""),
    "continued.nbib": (_NBIB, "      x\n", ""),
    "lines before.ris": ("", "\n", _RIS),
    "boundary.ris": (f"{_RIS}ER  -", " ", "!"),
    "without end.ris": (_RIS, "AB  - x\n", ""),
    "without tags.ris": (_RIS, "x\n", ""),
    "starts.ris": ("", "TY  - JOUR\n", ""),
    "blanks in a note.ris": (f"{_RIS}N1  - BAYESIFT-X", " ", "y"),
    "blanks before a bar.ris": (f"{_RIS}N1  - RAYYAN-X: 1", " ", "|"),
    "ids.ris": ("", f"{_RIS}ID  - a\nER  - \n", ""),
    "starts.enw": ("", _ENW, ""),
    "tags.enw": (_ENW, "%K x\n", ""),
    "starts.xml": (_XML, "<record>", "</record>"),
    "open.xml": (_XML, "<record ", "</record></records></xml>"),
    "lines.xml": (_XML, "a\n", "</record></records></xml>"),
    "Web of Science.txt": ("FN a\nVR 1.0\nPT J\nTI a\nAB x\n", "   \n", "   y\nER\n"),
    "Cochrane.txt": ("Record #1 of 1\nID: 1\nTI: a\n", "\n", "AB: x"),
    "Cochrane starts.txt": ("ID: 1\n", "Record #1 of 1\n\n", "\nTI: a"),
    "list.txt": ("1. ", "A! ", "PMID: 1"),
    "list with a long number.txt": ("1. A. B. C. 2020. PMID: 1\n\n", "2", ". x"),
    "authors.csv": ("title,year,authors\na,2020,A", " ", "B\n"),
    "keywords.csv": ("title,year,keywords\na,2020,A", ";", "B\n"),
    "quotes.csv": ("title,year\na,2020\n", _QUOTES, ""),
    "quoted formulas.csv": ('title,year\n"=""', '"" ', '",2020\n'),
}
TABLES = {
    "quotes.csv": ("text,label\na,b\n", _QUOTES, ""),
    "quotes in the middle.csv": ("text,label\na,b\n", _QUOTES, 'x"y,a\n'),
    "one quote.csv": ('text,label\n"', "a,b\n", ""),
    "without lines.csv": ("text,label\na,", "b ", ""),
    "blanks.csv": ("text,label\na,", " ", "b"),
    "delimiters.csv": ("text,label\na", ",", "b"),
    "short rows.csv": ("text,label\n", "a\n", "b,c"),
    "labels.txt": ("__label__a ", "__label__b ", "text"),
    "lines.jsonl": ("", '{"text": "a", "label": "b"}\n', ""),
    "brackets.json": ("", "[", ""),
    "dates.csv": ("text,date,label\n", "corn rose,mar 1,b\n", ""),
    "pairs.svm": ("", "1 1:1 2:1\n", ""),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_references_take_time_in_proportion(name: str, tmp_path: Path) -> None:
    assert _grows_in_proportion(read_references, tmp_path / name, *REFERENCES[name])


@pytest.mark.parametrize("name", TABLES)
def test_tables_take_time_in_proportion(name: str, tmp_path: Path) -> None:
    def read(path: Path) -> None:
        load_table(path, skip_bad=True)

    assert _grows_in_proportion(read, tmp_path / name, *TABLES[name])


def _grows_in_proportion(
    read: Callable[[Path], object], path: Path, before: str, part: str, after: str
) -> bool:
    """Compare the processor time of four sizes; a machine that is busy gets some attempts."""
    n = 15_000

    def seconds(times: int) -> float:
        path.write_text(before + part * (times * n // len(part)) + after)
        start = time.process_time()
        with suppress(BayesiftError):
            read(path)
        return time.process_time() - start

    seconds(1)  # what is loaded and compiled once
    for _ in range(4):
        small = seconds(1)
        if small > 3:  # 15 kB
            return False
        if seconds(2) < 4 * small + 0.1 and seconds(4) < 8 * small + 0.1:
            return True
    return False


def test_nested_objects_take_no_powers_of_two() -> None:
    document: object = [{"text": "corn"}]
    for _ in range(18):
        document = {"a": document}
    assert find_objects(document) == [{"text": "corn"}]
    for _ in range(5_000):
        document = {"a": document}
    assert find_objects(document) != [{"text": "corn"}]  # too deep, and no RecursionError


def test_macros_do_not_double() -> None:
    lines = ['@string{m0 = "corn"}', *(f"@string{{m{i + 1} = m{i} # m{i}}}" for i in range(40))]
    lines.append("@article{a, title = m3, note = m40}")
    problems: list[str] = []
    (entry,) = read_bibtex(
        enumerate(lines, 1), lambda line, message, lost=0: problems.append(message)
    )
    assert dict(entry.fields)["title"] == "corn" * 8
    assert len(dict(entry.fields)["note"]) <= 600


def test_deep_elements_are_text(tmp_path: Path) -> None:
    path = tmp_path / "deep.xml"
    path.write_text(
        _XML + "<a>" * 3_000 + "corn" + "</a>" * 3_000 + "</record></records></xml>"
    )
    (record,) = read_references(path)
    assert record.title == "a"
    assert record.fields[-1][1] == "corn"


_MARKUP = re.compile(
    r"\s*\|?\s*\b(?P<name>(?:RAYYAN|BAYESIFT)-[A-Z0-9_-]+)\s*:\s*"
    r"(?P<value>.*?)\s*(?=\||\n|\b(?:RAYYAN|BAYESIFT)-[A-Z0-9_-]+\s*:|\Z)"
)


def _notes() -> Iterator[str]:
    pieces = ["RAYYAN-A", "BAYESIFT-RANK", ":", ":", " ", " ", "\n", "|", "x", "y z", '"E"']
    generator = random.Random(0)
    for _ in range(5_000):
        yield "".join(generator.choices(pieces, k=generator.randint(1, 12)))


def test_marks_are_those_of_a_pattern() -> None:
    """The pattern says in one line what is marked, but takes time that grows with the cube."""
    for note in _notes():
        expected = [(match["name"], match["value"]) for match in _MARKUP.finditer(note)]
        assert layout._take_marks(note) == (expected, _MARKUP.sub("", note)), note
