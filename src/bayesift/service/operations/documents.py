"""Documents come in, and their texts go again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayesift.filtering import Decision, Retrieved
from bayesift.records import Document
from bayesift.service import kinds
from bayesift.service.ledger import vector_records
from bayesift.service.live import Turn
from bayesift.service.replay import counted
from bayesift.stores import DocumentRow


@dataclass(frozen=True)
class Observed:
    """What became of a batch: how many documents are new, how many were known, who retrieved them."""

    accepted: int
    duplicates: int
    decisions: list[Decision]


def observe(turn: Turn, documents: Sequence[Document]) -> Observed:
    """Show documents to the profiles; those that came before, by their ids, are passed over."""
    known = turn.tx.known(document.id for document in documents)
    new = list({document.id: document for document in reversed(documents) if document.id not in known}.values())[::-1]
    if not new:
        return Observed(0, len(documents), [])
    space = turn.engine.space
    n_before, frequencies = space.n_documents, space.frequencies.copy()
    decisions = turn.engine.observe_many(new)
    taken = {event.document.id: event.document for event in turn.live.log.take() if isinstance(event, Retrieved)}
    vectors = vector_records(list(taken.values()), space)
    turn.note(kinds.COUNTED, payload=counted(turn.engine, n_before, frequencies))
    rows = []
    for document in new:
        seq = turn.note(kinds.SEEN, document=document.id, payload=vectors.get(document.id))
        rows.append(DocumentRow(document.id, seq, turn.at, document.title, document.text, purged=False))
    for decision in decisions:
        payload = {"why": decision.why, "probability": decision.probability, "gain": decision.gain}
        turn.note(kinds.RETRIEVED, profile=decision.profile, document=decision.document, payload=payload)
    turn.tx.add_documents(rows)
    turn.live.n_documents += len(new)
    return Observed(len(new), len(documents) - len(new), decisions)


def purge(turn: Turn, *, before: str | None, keep: int | None) -> int:
    """Forget titles and texts of old documents; what was learned from them stays. Gives how many."""
    up_to = None
    if keep is not None:
        kept = turn.tx.newest_documents(keep)
        up_to = kept[-1].seq - 1 if kept else turn.live.seq
    n = turn.tx.purge(before=before, up_to=up_to)
    turn.note(kinds.PURGED, payload={"before": before, "keep": keep, "documents": n})
    return n
