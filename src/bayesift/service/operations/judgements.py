"""People judge documents, change their minds, and disagree.

Every judgement stays in the log with who and when. Where two people disagree, the newest judgement is the one that is
learned; when it is taken back, the newest of those that are left counts again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayesift.records import Document
from bayesift.service import kinds
from bayesift.service.errors import ConflictError, NotFoundError
from bayesift.service.live import Turn
from bayesift.stores import JudgementRow


@dataclass(frozen=True)
class Verdict:
    """A judgement as it stands, and whether another person says otherwise."""

    row: JudgementRow
    conflict: bool


def judge(turn: Turn, profile: str, document: str, relevant: bool) -> Verdict:
    """Learn what a person says of a document; the same again changes nothing."""
    target = _document(turn, profile, document)
    rows = {row.user: row for row in turn.tx.judgements(profile, [document])}
    said = rows.get(turn.user)
    if said is not None and said.relevant is relevant:
        return Verdict(said, _disagree(rows.values()))
    rows[turn.user] = row = JudgementRow(profile, document, turn.user, relevant, turn.at, turn.next_seq)
    conflict = _disagree(rows.values())
    turn.engine.judge(profile, target, relevant)
    turn.note_change(kinds.JUDGED, profile, document, relevant=relevant, conflict=conflict)
    turn.tx.put_judgement(row)
    return Verdict(row, conflict)


def take_back(turn: Turn, profile: str, document: str) -> list[JudgementRow]:
    """Forget what a person said of a document; gives what others say of it."""
    turn.profile(profile)
    rows = turn.tx.judgements(profile, [document])
    left = [row for row in rows if row.user != turn.user]
    if len(left) == len(rows):
        raise NotFoundError(f"you have not judged document {document!r} for profile {profile!r}")
    if left:
        turn.engine.judge(profile, _document(turn, profile, document), left[0].relevant)
    else:
        turn.engine.take_back(profile, document)
    turn.note_change(kinds.TAKEN_BACK, profile, document)
    turn.tx.drop_judgement(profile, document, turn.user)
    return left


def _document(turn: Turn, profile: str, document: str) -> str | Document:
    """The document itself, or if its text is gone its id, by which the engine may know it."""
    target = turn.profile(profile)
    row = turn.tx.documents([document]).get(document)
    if row is None:
        raise NotFoundError(f"no document {document!r}")
    if not row.purged:
        return Document(document, row.text, title=row.title)
    if document in target.pending or turn.live.log.find(profile, document) is not None:
        return document
    raise ConflictError(f"the text of document {document!r} was purged, and profile {profile!r} never retrieved it")


def _disagree(rows: Iterable[JudgementRow]) -> bool:
    return len({row.relevant for row in rows}) > 1
