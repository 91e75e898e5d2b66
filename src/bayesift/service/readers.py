"""The functions that run in the processes of `reading.py`, and how their results are taken.

Each reader gets the name of a file as the person named it, the file, and a folder for the results.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bayesift.records.document import Note, ReadingProblem
from bayesift.references import Reference, SourceFile
from bayesift.references.arrow import from_values, to_values
from bayesift.screening import ProjectSettings, ReviewLog, find_duplicates
from bayesift.screening.project import group_numbers, write_renumbered
from bayesift.screening.project import read_records as stored_records
from bayesift.screening.review_log import Event
from bayesift.service.filters.schemas import FileDocument, FileDocumentsOut
from bayesift.service.filters.transfer import read_filter
from bayesift.service.reviews.exports import unpacked_project
from bayesift.service.reviews.packed import PackedRecords, check_screenable
from bayesift.service.reviews.previews import SHOWN_RECORDS, first_events, preview_of
from bayesift.service.reviews.uploads import read_documents, read_upload

_RECORDS = "records.parquet"
_FACTS = "facts.json"
_EVENTS = "events.json"
_ANSWER = "answer.json"


def read_records(name: str, file: Path, folder: Path) -> None:
    """Read a file of records."""
    found = read_upload(name, file.read_bytes())
    records = PackedRecords.of(found)
    (folder / _RECORDS).write_bytes(records.content)
    facts = {
        "files": [asdict(each) for each in records.files],
        "problems": [asdict(each) for each in records.problems],
        "first": [to_values(each) for each in found[:SHOWN_RECORDS]],
    }
    (folder / _FACTS).write_text(json.dumps(facts))


def taken_records(folder: Path) -> tuple[PackedRecords, list[Reference]]:
    """Return what `read_records` read, and the first references of it."""
    facts = json.loads((folder / _FACTS).read_text())
    records = PackedRecords(
        (folder / _RECORDS).read_bytes(),
        tuple(_source_file(values) for values in facts["files"]),
        tuple(ReadingProblem(**values) for values in facts["problems"]),
    )
    return records, [from_values(values) for values in facts["first"]]


def _source_file(values: dict[str, Any]) -> SourceFile:
    notes = tuple(Note(**note) for note in values["notes"])
    return SourceFile(**{**values, "notes": notes})


def prepare_review(
    name: str,
    file: Path,
    folder: Path,
    *,
    settings: ProjectSettings,
    join_duplicates: bool,
    take_decisions: bool,
) -> None:
    """Write the records of a new review, and the decisions that came with them as its events."""
    with file.open("rb") as stream:
        references, groups = stored_records(stream)
    check_screenable(references)
    if join_duplicates:
        groups = group_numbers(find_duplicates(references), len(references))
    with file.open("rb") as source, (folder / _RECORDS).open("wb") as stream:
        write_renumbered([source], groups, stream)
    events: list[Event] = []
    if take_decisions and any(each.decisions for each in references):
        events = first_events(ReviewLog(references, groups, settings))
    (folder / _EVENTS).write_text(json.dumps([event.values for event in events]))


def taken_review(folder: Path) -> tuple[bytes, list[Event]]:
    """Return the records and events that `prepare_review` wrote."""
    events = json.loads((folder / _EVENTS).read_text())
    return (folder / _RECORDS).read_bytes(), [Event.from_values(values) for values in events]


def preview_records(name: str, file: Path, folder: Path) -> None:
    """Write what a review of packed records would hold, and the duplicates among them."""
    with file.open("rb") as stream:
        references, _ = stored_records(stream)
    check_screenable(references)
    (folder / _ANSWER).write_text(preview_of(references).model_dump_json())


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
