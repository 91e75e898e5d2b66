"""Operations on filters: add documents, judge them, teach words, create and change filters.

Every judgement stays in the log with its author and time. When people disagree, the newest
judgement is the one that is learned; when it is taken back, the newest of the others counts again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.filtering import Retrieved
from bayesift.filtering.engine import add_described, apply
from bayesift.filtering.vectors import CountedTexts, VectorSpace, stacked
from bayesift.records import Document
from bayesift.service.db.integrity import row_digest
from bayesift.service.db.tables import (
    DocumentRow,
    FilterRow,
    JudgementRow,
    MemberRow,
    Packable,
    WordRow,
)
from bayesift.service.errors import ConflictError, NotFoundError
from bayesift.service.filters import event_log
from bayesift.service.filters.transfer import install_filter
from bayesift.service.live import UnitOfWork

MAX_FILTERS = 2_000
MAX_WORDS = 500
MAX_WAITING = 500  # documents that a filter ranks in memory; older ones are read from the store
_MAX_LOOKED_BACK = 1_000  # documents that came before a filter
_MAX_LOOKED_BACK_CHARACTERS = 20_000
_MAX_FOUND_LOOKING_BACK = 200


@dataclass(frozen=True)
class Observed:
    """The result of adding documents: how many are new, how many were known, and the retrievals."""

    accepted: int
    duplicates: int
    retrieved: list[Retrieved]


@dataclass(frozen=True)
class Arrivals:
    """Documents that came in, prepared for `observe` outside of its transaction.

    Parameters
    ----------
    documents : as they came
    sources : where each came from, "" if it has no source
    contents : the digest of each one's title and text
    counted : the words of their texts
    """

    documents: Sequence[Document]
    sources: Sequence[str]
    contents: Sequence[str]
    counted: CountedTexts

    @classmethod
    def of(
        cls,
        documents: Sequence[Document],
        space: VectorSpace,
        sources: Sequence[str] | None = None,
    ) -> Arrivals:
        """Prepare documents for a space."""
        packed = [replace(each, text=Packable(each.text)) for each in documents]
        contents = [row_digest((each.title, each.text)) for each in documents]
        counted = space.count_texts([each.full_text for each in documents])
        return cls(packed, sources or [""] * len(documents), contents, counted)

    def part(self, chosen: slice) -> Arrivals:
        """Return some of them."""
        documents = self.documents[chosen]
        rows = range(len(self.documents))[chosen]
        counted = self.counted.take(rows)
        return Arrivals(documents, self.sources[chosen], self.contents[chosen], counted)


def observe(unit: UnitOfWork, arrivals: Arrivals) -> Observed:
    """Show documents to the filters; those that are known are skipped.

    A document is known by its id or, where it comes from a source such as a file, by its title and
    text: the ids of two files may be the same. Then an id that is taken is given the name of the
    source.
    """
    documents = arrivals.documents
    ids = _new_ids(unit, arrivals)
    if not ids:
        return Observed(0, len(documents), [])
    counted = arrivals.counted
    if len(ids) < len(documents):
        counted = counted.take(list(ids))
    space = unit.engine.space
    batch = space.weigh_counted(list(ids.values()), counted)
    retrieved = unit.engine.observe_vectors(batch)
    distinct = {event.id: event.document for event in retrieved}
    vectors = event_log.vector_records(list(distinct.values()), space)
    unit.record(event_log.COUNTED, payload=event_log.counts_record(batch.counted, space))
    rows = []
    for index, id_ in ids.items():
        seq = unit.record(event_log.SEEN, document=id_, payload=vectors.get(id_))
        title, text = documents[index].title, documents[index].text
        rows.append(
            DocumentRow(id_, seq, unit.at, title, text, False, arrivals.contents[index])
        )
    for event in retrieved:
        _record_retrieval(unit, event, {})
    unit.tx.add(rows)
    unit.live.n_documents += len(ids)
    unit.live.n_texts += len(ids)
    return Observed(len(ids), len(documents) - len(ids), retrieved)


def _record_retrieval(unit: UnitOfWork, event: Retrieved, vector: Mapping[str, Any]) -> None:
    """Write a retrieval to the log, with the vector of the document if its arrival has none."""
    payload = {"why": event.why, "probability": event.probability, "gain": event.gain, **vector}
    unit.record(
        event_log.RETRIEVED, filter_name=event.profile, document=event.id, payload=payload
    )


def purge(unit: UnitOfWork, *, before: str | None, keep: int | None) -> int:
    """Delete titles and texts of old documents and return their number.

    What was learned from them stays.
    """
    up_to = None if keep is None else unit.tx.last_beyond(keep)
    n = unit.tx.purge(before=before, up_to=up_to)
    return _purged(unit, n, before=before, keep=keep)


def purge_oldest(unit: UnitOfWork, *, keep: int, most: int) -> int:
    """Delete the oldest texts beyond a number of documents, some at a time."""
    n = min(most, unit.live.n_texts - keep)
    return _purged(unit, unit.tx.purge(most=n) if n > 0 else 0, before=None, keep=keep)


def _purged(unit: UnitOfWork, n: int, *, before: str | None, keep: int | None) -> int:
    unit.live.n_texts -= n
    unit.record(event_log.PURGED, payload={"before": before, "keep": keep, "documents": n})
    return n


def judge(
    unit: UnitOfWork, name: str, document: str, relevant: bool
) -> tuple[JudgementRow, bool]:
    """Learn a person's judgement of a document; the same judgement again changes nothing.

    Returns the judgement, and whether another person judges otherwise.
    """
    target = _document(unit, name, document)
    rows = {row.user: row for row in unit.tx.judgements(name, [document])}
    earlier = rows.get(unit.user)
    if earlier is not None and earlier.relevant is relevant:
        return earlier, _disagree(rows.values())
    row = JudgementRow(name, document, unit.user, relevant, unit.at, unit.next_seq)
    rows[unit.user] = row
    conflict = _disagree(rows.values())
    events = unit.engine.judge(name, target, relevant, unit.history)
    unit.record_events(
        event_log.JUDGED, events, name, document, relevant=relevant, conflict=conflict
    )
    unit.tx.put(row)
    return row, conflict


def take_back(unit: UnitOfWork, name: str, document: str) -> list[JudgementRow]:
    """Take back a person's judgement of a document; return the judgements of others."""
    unit.profile(name)
    rows = unit.tx.judgements(name, [document])
    others = [row for row in rows if row.user != unit.user]
    if len(others) == len(rows):
        raise NotFoundError(f"you have not judged document {document!r} for filter {name!r}")
    if others:
        target = _document(unit, name, document)
        events = unit.engine.judge(name, target, others[0].relevant, unit.history)
    else:
        events = unit.engine.take_back(name, document, unit.history)
    unit.record_events(event_log.TAKEN_BACK, events, name, document)
    unit.tx.drop(JudgementRow, filter=name, document=document, user=unit.user)
    return others


def teach(unit: UnitOfWork, name: str, word: str, strength: float) -> WordRow | None:
    """Set the strength of a word for a filter; 0 takes the word back."""
    taught = unit.profile(name).taught
    if strength and word not in taught and len(taught) >= MAX_WORDS:
        raise ConflictError(f"a filter can have at most {MAX_WORDS} keywords")
    _check_word(unit, word)
    if taught.get(word, 0.0) != strength:
        events = unit.engine.teach(name, word, strength, unit.history)
        unit.record_events(event_log.TAUGHT, events, name, word=word, strength=strength)
    if not strength:
        unit.tx.drop(WordRow, filter=name, word=word)
        return None
    row = WordRow(name, word, strength, unit.user, unit.at)
    unit.tx.put(row)
    return row


def create_filter(
    unit: UnitOfWork, definition: Mapping[str, Any], *, past: bool = True
) -> FilterRow:
    """Create a filter from its definition; its words are taught, so that they can be taken back.

    With `past` it also sees documents that came before it.
    """
    name = definition["name"]
    words = definition.get("words") or {}
    _check_free(unit, name)
    for word in words:
        _check_word(unit, word)
    settings = {"max_pending": MAX_WAITING, **(definition.get("settings") or {})}
    described = {**definition, "words": None, "settings": settings}
    try:
        add_described(unit.engine, described)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    payload = {"definition": described, "unspaced": unit.engine.space.unspaced}
    seq = unit.record(event_log.CREATED, filter_name=name, payload=payload)
    row = _put_filter(unit, name, seq, described)
    for word, strength in words.items():
        teach(unit, name, word, strength)
    if past and (definition.get("query") or words or definition.get("examples")):
        _look_back(unit, name)
    return row


def _look_back(unit: UnitOfWork, name: str) -> None:
    """Let a new filter retrieve the likely relevant among the newest documents before it.

    Each event carries its vector: that of the arrival is only in the log if another filter
    retrieved the document.
    """
    space = unit.engine.space
    profile = unit.engine.profiles[name]
    vectors = [
        space.known_vector(row.id, f"{row.title}\n{row.text}")
        for row in unit.tx.newest_documents(_MAX_LOOKED_BACK)
        if len(row.text) <= _MAX_LOOKED_BACK_CHARACTERS  # a longer one would hold the writer
    ]
    if not vectors:
        return
    chances = profile.probabilities(stacked(vectors, len(space)))
    order = np.argsort(-chances, kind="stable")
    likely = [index for index in order if chances[index] > 0.5][:_MAX_FOUND_LOOKING_BACK]
    records = event_log.vector_records([vectors[index] for index in likely], space)
    for index in likely:
        vector = vectors[index]
        event = Retrieved(name, vector, "relevant", float(chances[index]), 0.0)
        _record_retrieval(unit, event, records[vector.id])
        apply(profile, event, {})


def import_filter(unit: UnitOfWork, name: str, model: str) -> FilterRow:
    """Create a filter from a model file (in base 64)."""
    _check_free(unit, name)
    install_filter(unit.engine, name, model)
    seq = unit.record(event_log.IMPORTED, filter_name=name, payload={"model": model})
    return _put_filter(unit, name, seq, {"name": name, "imported": True})


def pause_filter(unit: UnitOfWork, name: str, paused: bool) -> FilterRow:
    """Pause or resume a filter."""
    row = unit.filter_row(name)
    if row.paused is paused:
        return row
    events = unit.engine.pause(name, paused)
    unit.record_events(event_log.PAUSED if paused else event_log.RESUMED, events, name)
    row = replace(_counted(unit, row), paused=paused)
    unit.tx.put(row)
    return row


def delete_filter(unit: UnitOfWork, name: str) -> None:
    """Put a filter away: it retrieves nothing and is hidden, but can be restored for some days."""
    row = unit.filter_row(name)
    events = unit.engine.pause(name, True)
    unit.record_events(event_log.PUT_AWAY, events, name)
    unit.tx.put(replace(_counted(unit, row), deleted=unit.at))
    unit.live.deleted.add(name)


def restore_filter(unit: UnitOfWork, name: str) -> FilterRow:
    """Restore a deleted filter with all its judgements; it goes on with documents that come now."""
    row = unit.tx.filter(name, deleted=True)
    if row is None:
        raise NotFoundError(f"no deleted filter {name!r}")
    events = [] if row.paused else unit.engine.pause(name, False)
    unit.record_events(event_log.RESTORED, events, name)
    row = replace(row, deleted="", since=unit.live.n_documents)
    unit.tx.put(row)
    unit.live.deleted.discard(name)
    return row


def forget_filter(unit: UnitOfWork, name: str) -> None:
    """Delete a filter that was put away for good; its events stay in the log."""
    if unit.tx.filter(name, deleted=True) is None:
        raise NotFoundError(f"no deleted filter {name!r}")
    unit.engine.remove_profile(name)
    unit.live.checkpoints.forget(name)
    unit.live.deleted.discard(name)
    unit.tx.drop_filter(name)
    unit.record(event_log.DELETED, filter_name=name)


def forget_deleted(unit: UnitOfWork, until: str) -> None:
    """Delete for good what was put away before a time."""
    for row in unit.tx.filters(deleted=True):
        if row.deleted < until:
            forget_filter(unit, row.name)


def _counted(unit: UnitOfWork, row: FilterRow) -> FilterRow:
    """Return a row with the documents that its filter has seen until now, unless it was paused."""
    n_documents = unit.live.n_documents
    seen = row.seen if row.paused else row.seen + n_documents - row.since
    return replace(row, seen=seen, since=n_documents)


def _document(unit: UnitOfWork, name: str, document: str) -> str | Document:
    """Return the document or, if its text was purged, its id if the engine can find its vector."""
    target = unit.profile(name)
    row = unit.tx.documents([document]).get(document)
    if row is None:
        raise NotFoundError(f"no document {document!r}")
    if not row.purged:
        return Document(document, row.text, title=row.title)
    if document in target.pending or unit.history.find(name, document) is not None:
        return document
    raise ConflictError(
        f"the text of document {document!r} was purged, and filter {name!r} never retrieved it"
    )


def _new_ids(unit: UnitOfWork, arrivals: Arrivals) -> dict[int, str]:
    """Return the indices of the documents that are not known yet, with ids of their own."""
    ids = [document.id for document in arrivals.documents]
    given = list(zip(ids, arrivals.sources, arrivals.contents, strict=True))
    known = unit.tx.known_content(content for _, source, content in given if source)
    candidates = [_possible_ids(*each) for each in given]
    taken = unit.tx.known(chain.from_iterable(candidates))
    new: dict[int, str] = {}
    for index, (_, source, content) in enumerate(given):
        free = [id_ for id_ in candidates[index] if id_ not in taken]
        if not free or (source and content in known):
            continue
        new[index] = free[0]
        taken.add(free[0])
        known.add(content)
    return new


def _possible_ids(id_: str, source: str, content: str) -> list[str]:
    """Return the ids that a document may get, best first."""
    if not source:
        return [id_]
    stem = f"{source}:{id_}"[:180]
    return [id_, stem, f"{stem}:{content[:8]}"]


def _disagree(rows: Iterable[JudgementRow]) -> bool:
    return len({row.relevant for row in rows}) > 1


def _check_word(unit: UnitOfWork, word: str) -> None:
    """Refuse a text without any term, before anything changes."""
    if not unit.engine.space.forms_of(word):
        raise DataError(f"{word!r:.60} holds no word that documents are read for")


def _check_free(unit: UnitOfWork, name: str) -> None:
    if unit.tx.filter(name) is not None:
        raise ConflictError(f"a filter {name!r} already exists")
    if unit.tx.filter(name, deleted=True) is not None:
        raise ConflictError(
            f"a deleted filter {name!r} can still be restored; restore it or choose another name"
        )
    if len(unit.engine.profiles) >= MAX_FILTERS:
        raise ConflictError(f"at most {MAX_FILTERS:,} filters are allowed")


def _put_filter(
    unit: UnitOfWork, name: str, seq: int, definition: Mapping[str, Any]
) -> FilterRow:
    shown = {key: value for key, value in definition.items() if key != "examples"}
    row = FilterRow(name, seq, unit.at, unit.user, shown, False, 0, unit.live.n_documents)
    unit.tx.put(row)
    unit.tx.put(MemberRow("filter", name, unit.user, "owner", unit.at))
    return row
