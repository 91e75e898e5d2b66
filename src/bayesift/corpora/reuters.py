"""Reuters-21578, Distribution 1.0: newswire of 1987 with topics (Lewis 1997)."""

from __future__ import annotations

import datetime
import html
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from bayesift.corpora.directory import find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.tables.archives import read_members
from bayesift.tables.loading import DocumentList, ProblemLog

PATHS = ("reuters21578.tar.gz", "reuters21578")

CategoryKind = Literal["topics", "places", "people", "orgs", "exchanges"]
Subset = Literal["all", "modapte", "labelled"]

_DESCRIPTIONS = "cat-descriptions_120396.txt"
_CODE = re.compile(r"\(([A-Z-]+)\)$")
_START = re.compile(r"<REUTERS\b([^>]*)>")
_END = "</REUTERS>"
_DOCTYPE = re.compile(r"<!DOCTYPE[^>]*>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TEXT = re.compile(r'<TEXT(?: TYPE="(\w+)")?>(.*?)</TEXT>', re.DOTALL)
_DATE = re.compile(r"\s*(\d{1,2})-([A-Z]{3})-(\d{4})\s+(\d{1,2}):(\d{2}):(\d{2})\.(\d{1,2})")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def load_reuters(
    data_dir: str | Path | None = None,
    *,
    categories: CategoryKind = "topics",
    subset: Subset = "all",
    shared_categories: bool = True,
    skip_bad: bool = False,
) -> Corpus:
    """Load Reuters-21578 with the ModApte split: train, test, and unused.

    Parameters
    ----------
    data_dir : the data directory; see `data_directory`
    categories : which of the five kinds
    subset : "all" 21,578 documents; "modapte", the 9,603 + 3,299 of train and test; "labelled",
        those of them that have a category (7,770 + 3,019 for topics)
    shared_categories : keep only categories with a document in both train and test (90 topics)
    skip_bad : skip broken records and list them in `problems`, instead of refusing the archive
    """
    path = find("reuters", PATHS, data_dir)
    log = ProblemLog(skip=skip_bad)
    documents = DocumentList(path, log)
    for name, content in read_members(path, wanted=lambda name: name.endswith(".sgm")):
        for line, document in _read_file(
            content.decode("latin-1"), categories, path / name, log
        ):
            documents.add(document, line, file=path / name)
    corpus = documents.corpus(name="reuters")
    if shared_categories:
        corpus = corpus.with_categories(_shared(corpus))
    if subset != "all":
        corpus = corpus.select([i for i, d in enumerate(corpus) if d.split != "unused"])
    if subset == "labelled":
        return corpus.labelled()
    return corpus


def load_reuters_descriptions(data_dir: str | Path | None = None) -> dict[str, str]:
    """Load the one-line descriptions of the 135 topics of Reuters-21578.

    Commodities have only their name ("COCOA"); others are spelled out ("Crude Oil (CRUDE)").
    """
    path = find("reuters", PATHS, data_dir)
    for name, content in read_members(
        path, wanted=lambda name: PurePosixPath(name).name == _DESCRIPTIONS
    ):
        descriptions = dict(_read_descriptions(content.decode("latin-1")))
        if not descriptions:
            raise DataError("no subject codes", file=path / name)
        return descriptions
    raise DataError(f"there is no {_DESCRIPTIONS} in it", file=path)


def _read_descriptions(content: str) -> Iterator[tuple[str, str]]:
    """Read the lines from the subject codes to the next part, without headings (stars)."""
    for line in (
        content.partition("****Subject Codes")[2].partition("\n____")[0].splitlines()[1:]
    ):
        text = line.strip()
        if text and not text.startswith("**"):
            code = _CODE.search(text)
            yield (code[1] if code else text).lower(), text


def _shared(corpus: Corpus) -> list[str]:
    seen: dict[str | None, set[str]] = {"train": set(), "test": set()}
    for document in corpus:
        seen.setdefault(document.split, set()).update(document.categories)
    return sorted(seen["train"] & seen["test"])


def _read_file(
    content: str, kind: CategoryKind, file: Path, log: ProblemLog
) -> Iterator[tuple[int, Document]]:
    starts = [*_START.finditer(content)]
    edges = [*(start.start() for start in starts), len(content)]
    if _DOCTYPE.sub("", content[: edges[0]], count=1).strip():
        log.report("broken record: no <REUTERS ...>", file=file, line=1)
    line = 1 + content.count("\n", 0, edges[0])
    for start, end in zip(starts, edges[1:], strict=True):
        record, closed, stray = content[start.end() : end].partition(_END)
        try:
            if not closed:
                raise ValueError(f"no {_END}")
            yield line, _read_document(start[1], record, kind)
        except ValueError as error:
            log.report(f"broken record: {error}", file=file, line=line)
        if stray.strip():
            blank = len(stray) - len(stray.lstrip())
            blank_line = line + record.count("\n") + stray.count("\n", 0, blank)
            log.report("broken record: no <REUTERS ...>", file=file, line=blank_line)
        line += content.count("\n", start.start(), end)


def _read_document(attributes: str, content: str, kind: CategoryKind) -> Document:
    named = dict(_ATTRIBUTE.findall(attributes))
    if not named.get("NEWID"):
        raise ValueError("no NEWID")
    text = _TEXT.search(content)
    if text is None:
        raise ValueError("no <TEXT>")
    head = content[: text.start()]
    title, body = _read_text(text[1], text[2])
    return Document(
        id=named["NEWID"],
        text=body,
        title=title,
        categories=tuple(
            dict.fromkeys(re.findall(r"<D>(.*?)</D>", _element(head, kind.upper())))
        ),
        date=_read_date(_element(head, "DATE")),
        split=_modapte_split(named),
    )


def _element(content: str, tag: str) -> str:
    start = content.find(f"<{tag}>")
    end = content.find(f"</{tag}>")
    if start < 0 or end < start:
        raise ValueError(f"no <{tag}>")
    return content[start + len(tag) + 2 : end]


def _read_text(kind: str | None, content: str) -> tuple[str, str]:
    """Read title and body: a BRIEF has no body ("Blah blah blah."), an UNPROC no marked parts."""
    if kind == "UNPROC":
        return "", _clean(content)
    title = _clean(_element(content, "TITLE")) if "<TITLE>" in content else ""
    return title, "" if kind == "BRIEF" else _clean(_element(content, "BODY"))


def _clean(text: str) -> str:
    """Resolve entities; those of control characters are removed."""
    return html.unescape(text).strip()


def _read_date(text: str) -> datetime.datetime | None:
    parts = _DATE.match(text)
    if parts is None or parts[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(parts[i]) for i in (1, 3, 4, 5, 6))
    month = _MONTHS.index(parts[2]) + 1
    try:
        return datetime.datetime(
            year, month, day, hour, minute, second, int(parts[7].ljust(6, "0"))
        )
    except ValueError:
        return None


def _modapte_split(named: dict[str, str]) -> str:
    if named.get("TOPICS") == "YES" and named.get("LEWISSPLIT") in ("TRAIN", "TEST"):
        return named["LEWISSPLIT"].lower()
    return "unused"
