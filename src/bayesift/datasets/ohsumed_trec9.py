"""OHSUMED as the TREC-9 filtering track used it: MEDLINE of 1987-91 (Hersh et al. 1994)."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bayesift.datasets.archives import read_members
from bayesift.datasets.directory import find
from bayesift.datasets.problems import ProblemLog
from bayesift.datasets.tables import DocumentList
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

PATHS = ("ohsumed-trec9/t9.filtering.tar.gz", "t9.filtering.tar.gz", "ohsumed-trec9")

FIELDS = {"source": ".S", "mesh": ".M", "publication": ".P", "abstract": ".W", "author": ".A"}
SPLITS = {"ohsumed.87": "train", "ohsumed.88-91": "test"}
JUDGEMENTS = ("qrels.ohsu.batch.87", "qrels.ohsu.88-91")
TOPICS = "query.ohsu.1-63"

_TAGS = frozenset({".U", ".T", *FIELDS.values()})
_ISSUE = re.compile(r" (\d\d)(\d\d)[A-Z]*;")
_TOPIC = re.compile(
    r"<top>\s*<num>\s*Number:\s*(\S+)\s*<title>\s*(.*?)\s*<desc>\s*Description:\s*(.*?)\s*</top>", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Topic:
    """What a reader asked for: the number is the category, the description the question."""

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

    Judgements of either degree of relevance (1, 2) count.

    Parameters
    ----------
    data_dir : where the archive, or the folder `ohsumed-trec9` of its files, lies; see `data_directory`
    fields : what makes up the text, of "abstract", "author", "source", "mesh" and "publication"; the
        title stands apart
    skip_bad : leave out records that cannot be read and list them in `problems`, instead of refusing

    Examples
    --------
    >>> load_ohsumed_trec9("no-such-folder")
    Traceback (most recent call last):
    bayesift.errors.CorpusNotFoundError: ohsumed-trec9/t9.filtering.tar.gz is not in no-such-folder; \
put it there, or run: bayesift datasets fetch ohsumed-trec9 --data-dir no-such-folder
    """
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise ValueError(f"no field {unknown[0]!r}; choose from {', '.join(FIELDS)}")
    path = find("ohsumed-trec9", PATHS, data_dir)
    log = ProblemLog(skip=skip_bad)
    files = {PurePosixPath(name).name: content for name, content in read_members(path, wanted=_is_wanted)}
    numbers = [topic.number for topic in _read_topics(files.get(TOPICS, b""))]
    judged = _read_judgements({name: files[name] for name in JUDGEMENTS if name in files}, path, log)
    documents = DocumentList(path, log)
    for name, split in SPLITS.items():
        for file in (name, f"{name}.sample"):
            for line, record in _read_records(files.pop(file, b"")):
                _add_document(documents, record, fields, judged, split, path / file, line)
    categories = list(dict.fromkeys([*numbers, *sorted(set().union(*judged.values()))]))
    return documents.corpus(name="ohsumed-trec9", categories=categories)


def load_trec9_topics(data_dir: str | Path | None = None) -> tuple[Topic, ...]:
    """Load the 63 topics.

    Examples
    --------
    >>> load_trec9_topics("no-such-folder")
    Traceback (most recent call last):
    bayesift.errors.CorpusNotFoundError: ohsumed-trec9/t9.filtering.tar.gz is not in no-such-folder; \
put it there, or run: bayesift datasets fetch ohsumed-trec9 --data-dir no-such-folder
    """
    path = find("ohsumed-trec9", PATHS, data_dir)
    wanted = read_members(path, wanted=lambda name: PurePosixPath(name).name == TOPICS)
    for _, content in wanted:
        return tuple(_read_topics(content))
    raise DataError(f"holds no {TOPICS}", file=path)


def _is_wanted(name: str) -> bool:
    base = PurePosixPath(name).name
    return base in (TOPICS, *JUDGEMENTS) or base.removesuffix(".sample") in SPLITS


def _read_topics(content: bytes) -> list[Topic]:
    return [Topic(*parts) for parts in _TOPIC.findall(content.decode("latin-1"))]


def _read_judgements(files: dict[str, bytes], path: Path, log: ProblemLog) -> dict[str, set[str]]:
    judged: dict[str, set[str]] = defaultdict(set)
    for name, content in files.items():
        for line, text in enumerate(content.decode("latin-1").split("\n"), 1):
            parts = text.split()
            if len(parts) == 3 and parts[2] in ("0", "1", "2"):
                if parts[2] != "0":
                    judged[parts[1]].add(parts[0])
            elif parts:
                log.report("not a judgement: TOPIC DOCUMENT 0, 1 or 2", file=path / name, line=line)
    return judged


def _read_records(content: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, fields) of each record; a field's text may run over several lines."""
    record: dict[str, str] = {}
    start, tag = 0, ""
    for number, raw in enumerate(content.split(b"\n"), 1):
        line = raw.decode("latin-1").rstrip()
        if line.startswith(".I"):
            if start:
                yield start, record
            record, start, tag = {}, number, ".I"
        elif line in _TAGS:
            tag = line
        elif line:
            start = start or number
            record[tag] = f"{record[tag]} {line}" if tag in record else line
    if start:
        yield start, record


def _add_document(
    documents: DocumentList,
    record: dict[str, str],
    fields: Collection[str],
    judged: dict[str, set[str]],
    split: str,
    file: Path,
    line: int,
) -> None:
    name = record.get(".U", "")
    if not name.isdigit():
        documents.log.report("broken record: no .U with a MEDLINE number", file=file, line=line)
        return
    document = Document(
        id=name,
        text="\n".join(record[FIELDS[field]] for field in fields if FIELDS[field] in record),
        title=record.get(".T", ""),
        categories=tuple(sorted(judged.get(name, ()))),
        date=_read_date(record.get(".S", "")),
        split=split,
    )
    documents.add(document, line, file=file)


def _read_date(source: str) -> datetime.datetime | None:
    """Return year and month of entry, which stand in the source: "ASAIO Trans 8703; 32(1):538-41"."""
    issue = _ISSUE.search(source)
    if issue is None or not 1 <= int(issue[2]) <= 12:
        return None
    return datetime.datetime(1900 + int(issue[1]), int(issue[2]), 1)
