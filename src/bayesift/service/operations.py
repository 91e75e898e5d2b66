"""What people do to the filter: add documents, judge them, teach words, create and change profiles.

Every judgement stays in the log with its author and time. When people disagree, the newest
judgement is the one that is learned; when it is taken back, the newest of the others counts again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.filtering import Retrieved
from bayesift.filtering.engine import add_described, apply
from bayesift.filtering.vectors import stacked
from bayesift.records import Document
from bayesift.service import event_log
from bayesift.service.db.integrity import row_digest
from bayesift.service.db.tables import DocumentRow, JudgementRow, ProfileRow, WordRow
from bayesift.service.errors import ConflictError, NotFoundError
from bayesift.service.live import UnitOfWork
from bayesift.service.transfer import install_profile

MAX_PROFILES = 2_000
MAX_WORDS = 500
_LOOKED_BACK = 1_000  # documents that came before a profile
_LONGEST_LOOKED_BACK = 20_000  # characters; longer ones would hold the writer
_FOUND_LOOKING_BACK = 200


@dataclass(frozen=True)
class Observed:
    """The result of adding documents: how many are new, how many were known, and the retrievals."""

    accepted: int
    duplicates: int
    retrieved: list[Retrieved]


@dataclass(frozen=True)
class Judgement:
    """A judgement as it is stored, and whether another person judges otherwise."""

    row: JudgementRow
    conflict: bool


def observe(
    unit: UnitOfWork, documents: Sequence[Document], sources: Sequence[str] | None = None
) -> Observed:
    """Show documents to the profiles; those that are known are skipped.

    A document is known by its id or, where it comes from a source such as a file, by its title and
    text: the ids of two files may be the same. Then an id that is taken is given the name of the
    source.
    """
    new = _new_documents(unit, documents, sources or [""] * len(documents))
    if not new:
        return Observed(0, len(documents), [])
    space = unit.engine.space
    batch = space.weigh([document.id for document in new], [document.full_text for document in new])
    retrieved = unit.engine.observe_vectors(batch)
    vectors = event_log.vector_records(
        list({event.id: event.document for event in retrieved}.values()), space
    )
    unit.record(event_log.COUNTED, payload={**batch.counted, "unspaced": space.unspaced})
    rows = []
    for document in new:
        seq = unit.record(event_log.SEEN, document=document.id, payload=vectors.get(document.id))
        content = row_digest((document.title, document.text))
        rows.append(
            DocumentRow(document.id, seq, unit.at, document.title, document.text, False, content)
        )
    for event in retrieved:
        payload = {"why": event.why, "probability": event.probability, "gain": event.gain}
        unit.record(event_log.RETRIEVED, profile=event.profile, document=event.id, payload=payload)
    unit.tx.add(rows)
    unit.live.n_documents += len(new)
    return Observed(len(new), len(documents) - len(new), retrieved)


def purge(unit: UnitOfWork, *, before: str | None, keep: int | None) -> int:
    """Delete titles and texts of old documents.

    What was learned from them stays. Returns their number.
    """
    up_to = None
    if keep is not None:
        kept = unit.tx.newest_documents(keep)
        up_to = kept[-1].seq - 1 if kept else unit.live.pending_seq
    n = unit.tx.purge(before=before, up_to=up_to)
    unit.record(event_log.PURGED, payload={"before": before, "keep": keep, "documents": n})
    return n


def judge(unit: UnitOfWork, profile: str, document: str, relevant: bool) -> Judgement:
    """Learn a person's judgement of a document; the same judgement again changes nothing."""
    target = _document(unit, profile, document)
    rows = {row.user: row for row in unit.tx.judgements(profile, [document])}
    earlier = rows.get(unit.user)
    if earlier is not None and earlier.relevant is relevant:
        return Judgement(earlier, _disagree(rows.values()))
    rows[unit.user] = row = JudgementRow(
        profile, document, unit.user, relevant, unit.at, unit.next_seq
    )
    conflict = _disagree(rows.values())
    events = unit.engine.judge(profile, target, relevant, unit.history)
    unit.record_events(
        event_log.JUDGED, events, profile, document, relevant=relevant, conflict=conflict
    )
    unit.tx.put(row)
    return Judgement(row, conflict)


def take_back(unit: UnitOfWork, profile: str, document: str) -> list[JudgementRow]:
    """Take back a person's judgement of a document; returns the judgements of others."""
    unit.profile(profile)
    rows = unit.tx.judgements(profile, [document])
    others = [row for row in rows if row.user != unit.user]
    if len(others) == len(rows):
        raise NotFoundError(f"you have not judged document {document!r} for filter {profile!r}")
    if others:
        target = _document(unit, profile, document)
        events = unit.engine.judge(profile, target, others[0].relevant, unit.history)
    else:
        events = unit.engine.take_back(profile, document, unit.history)
    unit.record_events(event_log.TAKEN_BACK, events, profile, document)
    unit.tx.drop(JudgementRow, profile=profile, document=document, user=unit.user)
    return others


def teach(unit: UnitOfWork, profile: str, word: str, strength: float) -> WordRow | None:
    """Set the strength of a word for a profile; 0 takes the word back."""
    taught = unit.profile(profile).taught
    if strength and word not in taught and len(taught) >= MAX_WORDS:
        raise ConflictError(f"a filter can have at most {MAX_WORDS} keywords")
    _check_word(unit, word)
    if taught.get(word, 0.0) != strength:
        events = unit.engine.teach(profile, word, strength, unit.history)
        unit.record_events(event_log.TAUGHT, events, profile, word=word, strength=strength)
    if not strength:
        unit.tx.drop(WordRow, profile=profile, word=word)
        return None
    row = WordRow(profile, word, strength, unit.user, unit.at)
    unit.tx.put(row)
    return row


def create_profile(
    unit: UnitOfWork, definition: Mapping[str, Any], *, past: bool = True
) -> ProfileRow:
    """Create a profile from its definition; its words are taught, so that they can be taken back.

    With `past` it also sees documents that came before it.
    """
    name, words = definition["name"], definition.get("words") or {}
    _check_free(unit, name)
    for word in words:
        _check_word(unit, word)
    described = {**definition, "words": None}
    try:
        add_described(unit.engine, described)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    payload = {"definition": described, "unspaced": unit.engine.space.unspaced}
    seq = unit.record(event_log.CREATED, profile=name, payload=payload)
    row = _put_profile(unit, name, seq, described)
    for word, strength in words.items():
        teach(unit, name, word, strength)
    if past and (definition.get("query") or words or definition.get("examples")):
        _look_back(unit, name)
    return row


def _look_back(unit: UnitOfWork, name: str) -> None:
    """Let a new profile retrieve the likely relevant among the newest documents that came before it.

    Each event carries its vector: that of the arrival is only in the log if another profile
    retrieved the document.
    """
    space, profile = unit.engine.space, unit.engine.profiles[name]
    rows = [
        row
        for row in unit.tx.newest_documents(_LOOKED_BACK)
        if len(row.text) <= _LONGEST_LOOKED_BACK
    ]
    vectors = [space.known_vector(row.id, f"{row.title}\n{row.text}") for row in rows]
    if not vectors:
        return
    chances = profile.probabilities(stacked(vectors, len(space)))
    likely = [place for place in np.argsort(-chances, kind="stable") if chances[place] > 0.5][
        :_FOUND_LOOKING_BACK
    ]
    found = [vectors[place] for place in likely]
    records = event_log.vector_records(found, space)
    for place, vector in zip(likely, found, strict=True):
        chance = float(chances[place])
        payload = {"why": "relevant", "probability": chance, "gain": 0.0, **records[vector.id]}
        unit.record(event_log.RETRIEVED, profile=name, document=vector.id, payload=payload)
        apply(profile, Retrieved(name, vector, "relevant", chance, 0.0), {})


def import_profile(unit: UnitOfWork, name: str, model: str) -> ProfileRow:
    """Create a profile from a model file (in base 64)."""
    _check_free(unit, name)
    install_profile(unit.engine, name, model)
    seq = unit.record(event_log.IMPORTED, profile=name, payload={"model": model})
    return _put_profile(unit, name, seq, {"name": name, "imported": True})


def pause_profile(unit: UnitOfWork, name: str, paused: bool) -> ProfileRow:
    """Pause or resume a profile."""
    row = unit.profile_row(name)
    if row.paused is paused:
        return row
    events = unit.engine.pause(name, paused)
    unit.record_events(event_log.PAUSED if paused else event_log.RESUMED, events, name)
    seen = row.seen + unit.live.n_documents - row.since if paused else row.seen
    row = replace(row, paused=paused, seen=seen, since=unit.live.n_documents)
    unit.tx.put(row)
    return row


def delete_profile(unit: UnitOfWork, name: str) -> None:
    """Put a profile away: it retrieves nothing and is not shown, but can be restored for some days."""
    row = unit.profile_row(name)
    events = unit.engine.pause(name, True)
    unit.record_events(event_log.PUT_AWAY, events, name)
    seen = row.seen if row.paused else row.seen + unit.live.n_documents - row.since
    unit.tx.put(replace(row, deleted=unit.at, seen=seen, since=unit.live.n_documents))
    unit.live.deleted.add(name)


def restore_profile(unit: UnitOfWork, name: str) -> ProfileRow:
    """Restore a deleted profile with all its judgements.

    It goes on with the documents that come now.
    """
    row = unit.tx.profile(name, deleted=True)
    if row is None:
        raise NotFoundError(f"no deleted filter {name!r}")
    events = [] if row.paused else unit.engine.pause(name, False)
    unit.record_events(event_log.RESTORED, events, name)
    row = replace(row, deleted="", since=unit.live.n_documents)
    unit.tx.put(row)
    unit.live.deleted.discard(name)
    return row


def forget_profile(unit: UnitOfWork, name: str) -> None:
    """Delete a profile that was put away for good; its events stay in the log."""
    if unit.tx.profile(name, deleted=True) is None:
        raise NotFoundError(f"no deleted filter {name!r}")
    unit.engine.remove_profile(name)
    unit.live.checkpoints.forget(name)
    unit.live.deleted.discard(name)
    unit.tx.drop_profile(name)
    unit.record(event_log.DELETED, profile=name)


def forget_deleted(unit: UnitOfWork, until: str) -> None:
    """Delete for good what was put away before a time."""
    for row in unit.tx.profiles(deleted=True):
        if row.deleted < until:
            forget_profile(unit, row.name)


def _document(unit: UnitOfWork, profile: str, document: str) -> str | Document:
    """The document itself or, if its text was purged, its id, when the engine can find its vector."""
    target = unit.profile(profile)
    row = unit.tx.documents([document]).get(document)
    if row is None:
        raise NotFoundError(f"no document {document!r}")
    if not row.purged:
        return Document(document, row.text, title=row.title)
    if document in target.pending or unit.history.find(profile, document) is not None:
        return document
    raise ConflictError(
        f"the text of document {document!r} was purged, and filter {profile!r} never retrieved it"
    )


def _new_documents(
    unit: UnitOfWork, documents: Sequence[Document], sources: Sequence[str]
) -> list[Document]:
    """The documents that are not known yet, with ids of their own."""
    contents = [row_digest((document.title, document.text)) for document in documents]
    known_content = unit.tx.known_content(
        c for c, source in zip(contents, sources, strict=True) if source
    )
    candidates = [
        _names(document.id, *rest)
        for document, *rest in zip(documents, sources, contents, strict=True)
    ]
    taken = unit.tx.known(name for names in candidates for name in names)
    new: list[Document] = []
    for document, source, content, names in zip(
        documents, sources, contents, candidates, strict=True
    ):
        if source and content in known_content:
            continue
        name = next((name for name in names if name not in taken), None)
        if name is not None:
            new.append(document if name == document.id else replace(document, id=name))
            taken.add(name)
            known_content.add(content)
    return new


def _names(name: str, source: str, content: str) -> list[str]:
    """The ids that a document may get, best first."""
    if not source:
        return [name]
    stem = f"{source}:{name}"[:180]
    return [name, stem, f"{stem}:{content[:8]}"]


def _disagree(rows: Iterable[JudgementRow]) -> bool:
    return len({row.relevant for row in rows}) > 1


def _check_word(unit: UnitOfWork, word: str) -> None:
    """Refuse a text without any term, before anything changes."""
    if not unit.engine.space.forms_of(word):
        raise DataError(f"{word!r:.60} holds no word that documents are read for")


def _check_free(unit: UnitOfWork, name: str) -> None:
    if unit.tx.profile(name) is not None:
        raise ConflictError(f"a filter {name!r} already exists")
    if unit.tx.profile(name, deleted=True) is not None:
        raise ConflictError(
            f"a deleted filter {name!r} can still be restored; restore it or choose another name"
        )
    if len(unit.engine.profiles) >= MAX_PROFILES:
        raise ConflictError(f"at most {MAX_PROFILES:,} filters are allowed")


def _put_profile(
    unit: UnitOfWork, name: str, seq: int, definition: Mapping[str, Any]
) -> ProfileRow:
    shown = {key: value for key, value in definition.items() if key != "examples"}
    row = ProfileRow(name, seq, unit.at, unit.user, shown, False, 0, unit.live.n_documents)
    unit.tx.put(row)
    return row
