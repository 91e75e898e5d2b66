"""Load OHSUMED: MEDLINE of 1987-91 by disease (Joachims 1998) or topic (Hersh et al. 1994)."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from bayesift.corpora.directory import find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.tables.archives import SPLITS, read_members
from bayesift.tables.loading import DocumentList, ProblemLog, categories_of

PATHS = ("ohsumed-first-20000-docs.tar.gz", "ohsumed-first-20000-docs")
TREC9_PATHS = ("ohsumed-trec9/t9.filtering.tar.gz", "t9.filtering.tar.gz", "ohsumed-trec9")

FIELDS = {"source": ".S", "mesh": ".M", "publication": ".P", "abstract": ".W", "author": ".A"}
TREC9_SPLITS = {"ohsumed.87": "train", "ohsumed.88-91": "test"}
JUDGEMENTS = ("qrels.ohsu.batch.87", "qrels.ohsu.88-91")
TOPICS = "query.ohsu.1-63"

_TAGS = frozenset({".U", ".T", *FIELDS.values()})
_ISSUE = re.compile(r" (\d\d)(\d\d)[A-Z]*;")
_TOPIC = re.compile(
    r"<top>\s*<num>\s*Number:\s*(\S+)\s*<title>\s*(.*?)\s*<desc>\s*Description:\s*(.*?)\s*</top>",
    re.DOTALL,
)


def load_ohsumed(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load the 13,929 documents.

    One in the folders of several of the 23 categories belongs to all of them.
    """
    path = find("ohsumed", PATHS, data_dir)
    log = ProblemLog(skip=skip_bad)
    documents: dict[str, Document] = {}
    for name, content in read_members(path):
        parts = PurePosixPath(name).parts
        if len(parts) < 3 or parts[-3] not in SPLITS:
            continue
        split = SPLITS[parts[-3]]
        category = parts[-2]
        document = Document(
            f"{split}/{parts[-1]}", content.decode("latin-1").strip(), split=split
        )
        known = documents.setdefault(document.id, document)
        if known.text != document.text:
            log.report("another document has this number", file=path / name)
        else:
            documents[document.id] = replace(known, categories=(*known.categories, category))
    if not documents:
        raise DataError("holds no OHSUMED documents (training/CATEGORY/NUMBER)", file=path)
    merged = tuple(
        replace(d, categories=tuple(sorted(d.categories))) for d in documents.values()
    )
    categories = categories_of(merged)
    return Corpus(merged, categories, name="ohsumed", problems=tuple(log.problems))


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of TREC-9: its number is the category, its description the information need."""

    number: str
    title: str
    description: str


def load_ohsumed_trec9(
    data_dir: str | Path | None = None,
    *,
    fields: Collection[str] = ("abstract", "author", "source"),
    skip_bad: bool = False,
) -> Corpus:
    """Load the references of 1987 (train) and 1988-91 (test); their topics are the categories.

    Both degrees of relevance (1 and 2) count.

    Parameters
    ----------
    data_dir : the data directory, with the archive or a folder `ohsumed-trec9`; see
        `data_directory`
    fields : the fields of the text: "abstract", "author", "source", "mesh" and "publication"; the
        title is separate
    skip_bad : skip records that cannot be read and list them in `problems`, instead of refusing the
        archive
    """
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise ValueError(f"no field {unknown[0]!r}; choose from {', '.join(FIELDS)}")
    path = find("ohsumed-trec9", TREC9_PATHS, data_dir)
    log = ProblemLog(skip=skip_bad)
    files = {
        PurePosixPath(name).name: content
        for name, content in read_members(path, wanted=_is_wanted)
    }
    numbers = [topic.number for topic in _read_topics(files.get(TOPICS, b""))]
    judged = _read_judgements(
        {name: files[name] for name in JUDGEMENTS if name in files}, path, log
    )
    documents = DocumentList(path, log)
    for name, split in TREC9_SPLITS.items():
        for file in (name, f"{name}.sample"):
            for line, record in _read_records(files.pop(file, b"")):
                if record.get(".U", "").isdigit():
                    documents.add(
                        _read_document(record, fields, judged, split), line, file=path / file
                    )
                else:
                    log.report(
                        "broken record: no .U with a MEDLINE number",
                        file=path / file,
                        line=line,
                    )
    categories = list(dict.fromkeys([*numbers, *sorted(set().union(*judged.values()))]))
    return documents.corpus(name="ohsumed-trec9", categories=categories)


def load_trec9_topics(data_dir: str | Path | None = None) -> tuple[Topic, ...]:
    """Load the 63 topics of TREC-9."""
    path = find("ohsumed-trec9", TREC9_PATHS, data_dir)
    wanted = read_members(path, wanted=lambda name: PurePosixPath(name).name == TOPICS)
    for _, content in wanted:
        return tuple(_read_topics(content))
    raise DataError(f"holds no {TOPICS}", file=path)


def _is_wanted(name: str) -> bool:
    base = PurePosixPath(name).name
    return base in (TOPICS, *JUDGEMENTS) or base.removesuffix(".sample") in TREC9_SPLITS


def _read_topics(content: bytes) -> list[Topic]:
    return [Topic(*parts) for parts in _TOPIC.findall(content.decode("latin-1"))]


def _read_judgements(
    files: dict[str, bytes], path: Path, log: ProblemLog
) -> dict[str, set[str]]:
    judged: dict[str, set[str]] = defaultdict(set)
    for name, content in files.items():
        for line, text in enumerate(content.decode("latin-1").split("\n"), 1):
            parts = text.split()
            if len(parts) == 3 and parts[2] in ("0", "1", "2"):
                if parts[2] != "0":
                    judged[parts[1]].add(parts[0])
            elif parts:
                log.report(
                    "not a judgement: TOPIC DOCUMENT 0, 1 or 2", file=path / name, line=line
                )
    return judged


def _read_records(content: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, fields) of each record; a field may have several lines."""
    record: dict[str, str] = {}
    start = 0
    tag = ""
    for number, raw in enumerate(content.split(b"\n"), 1):
        line = raw.decode("latin-1").rstrip()
        if line.startswith(".I"):
            if start:
                yield start, record
            record = {}
            start = number
            tag = ".I"
        elif line in _TAGS:
            tag = line
        elif line:
            start = start or number
            record[tag] = f"{record[tag]} {line}" if tag in record else line
    if start:
        yield start, record


def _read_document(
    record: dict[str, str], fields: Collection[str], judged: dict[str, set[str]], split: str
) -> Document:
    return Document(
        id=record[".U"],
        text="\n".join(record[FIELDS[field]] for field in fields if FIELDS[field] in record),
        title=record.get(".T", ""),
        categories=tuple(sorted(judged.get(record[".U"], ()))),
        date=_read_date(record.get(".S", "")),
        split=split,
    )


def _read_date(source: str) -> datetime.datetime | None:
    """Read year and month of entry in the source, as in "ASAIO Trans 8703; 32(1):538-41"."""
    issue = _ISSUE.search(source)
    if issue is None or not 1 <= int(issue[2]) <= 12:
        return None
    return datetime.datetime(1900 + int(issue[1]), int(issue[2]), 1)
