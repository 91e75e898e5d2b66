"""The functions that run in the processes of `reading.py`, and how their results are taken.

Each reader gets the name of a file as the person named it, the file, and a folder for the results.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bayesift.records.document import Note, ReadingProblem
from bayesift.references import Reference, ReferenceList, SourceFile
from bayesift.screening import Duplicates, Match, find_duplicates
from bayesift.screening.project import group_numbers, write_records
from bayesift.screening.project import read_records as stored_records
from bayesift.service.filters.schemas import FileDocument, FileDocumentsOut
from bayesift.service.filters.transfer import read_filter
from bayesift.service.reviews.exports import unpacked_project
from bayesift.service.reviews.uploads import read_documents, read_upload

_RECORDS = "records.parquet"
_FACTS = "facts.json"
_ANSWER = "answer.json"


def read_records(name: str, file: Path, folder: Path) -> None:
    """Read a file of records."""
    found = read_upload(name, file.read_bytes())
    if found:
        with (folder / _RECORDS).open("wb") as stream:
            write_records(found, range(1, len(found) + 1), stream)
    facts = {
        "files": [asdict(each) for each in found.files],
        "problems": [asdict(each) for each in found.problems],
        "refused": [asdict(each) for each in found.refused],
    }
    (folder / _FACTS).write_text(json.dumps(facts))


def taken_records(folder: Path) -> ReferenceList:
    """Return what `read_records` read."""
    facts = json.loads((folder / _FACTS).read_text())
    references: Sequence[Reference] = ()
    if (folder / _RECORDS).exists():
        with (folder / _RECORDS).open("rb") as stream:
            references, _ = stored_records(stream)
    return ReferenceList(
        tuple(references),
        tuple(_source_file(values) for values in facts["files"]),
        tuple(ReadingProblem(**values) for values in facts["problems"]),
        tuple(ReadingProblem(**values) for values in facts["refused"]),
    )


def _source_file(values: dict[str, Any]) -> SourceFile:
    notes = tuple(Note(**note) for note in values["notes"])
    return SourceFile(**{**values, "notes": notes})


def join_records(name: str, file: Path, folder: Path) -> None:
    """Join duplicates among the records of a new review, which `packed_records` wrote."""
    with file.open("rb") as stream:
        references, _ = stored_records(stream)
    groups = group_numbers(find_duplicates(references), len(references))
    with (folder / _RECORDS).open("wb") as stream:
        write_records(references, groups, stream)


def taken_content(folder: Path) -> bytes:
    """Return what `join_records` wrote."""
    return (folder / _RECORDS).read_bytes()


def search_duplicates(name: str, file: Path, folder: Path) -> None:
    """Search for duplicates among records that `packed_records` wrote."""
    with file.open("rb") as stream:
        references, _ = stored_records(stream)
    (folder / _ANSWER).write_text(json.dumps(asdict(find_duplicates(references))))


def taken_duplicates(folder: Path) -> Duplicates:
    """Return what `search_duplicates` found."""
    found = json.loads((folder / _ANSWER).read_text())
    return Duplicates(
        tuple(tuple(group) for group in found["groups"]),
        tuple(Match(**match) for match in found["matches"]),
        tuple(Match(**match) for match in found["possible"]),
    )


def read_stream(name: str, file: Path, folder: Path) -> None:
    """Read a file of documents and write the answer to who sent it."""
    corpus = read_documents(name, file.read_bytes())
    answer = FileDocumentsOut(
        documents=[
            FileDocument(id=each.id[:200], title=each.title[:2_000], text=each.text)
            for each in corpus
        ],
        rejected=[f"line {problem.line} {problem.message}" for problem in corpus.problems],
        notes=[str(replace(note, option=None)) for note in corpus.notes],
    )
    (folder / _ANSWER).write_text(answer.model_dump_json())


def taken_answer(folder: Path) -> bytes:
    """Return the answer that `read_stream` wrote."""
    return (folder / _ANSWER).read_bytes()


def try_project(name: str, file: Path, folder: Path) -> None:
    """Check an archive of a project: what can be read within limits may then be read again."""
    unpacked_project(file.read_bytes())


def try_model(name: str, file: Path, folder: Path) -> None:
    """Load a fitted model and classify a text by it."""
    from bayesift.service.models.serving import open_model

    open_model(file)


def try_filter(name: str, file: Path, folder: Path) -> None:
    """Check the model file of a filter, as `try_project` does."""
    read_filter(file.read_bytes())


def nothing(folder: Path) -> None:
    """Take nothing of what was only checked."""
