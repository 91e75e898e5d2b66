"""What a review that is about to begin would hold: its duplicates and first decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bayesift.references import Reference
from bayesift.screening import ReviewLog, find_duplicates
from bayesift.screening.review_log import Event
from bayesift.service.reviews.schemas import DuplicateOut, PreviewOut, ReferenceOut

SHOWN_RECORDS = 5
_SHOWN_DUPLICATES = 50


def preview_of(references: Sequence[Reference]) -> PreviewOut:
    """Count the records and what they lack, and list the first duplicates among them."""
    found = find_duplicates(references)

    def shown(indices: Iterable[int], probability: float | None = None) -> DuplicateOut:
        records = [ReferenceOut.model_validate(references[index]) for index in indices]
        return DuplicateOut(records=records, probability=probability)

    joined = [group for group in found.groups if len(group) > 1]
    return PreviewOut(
        records=len(references),
        after_joining=len(found.groups),
        without_abstract=sum(not reference.abstract for reference in references),
        decisions=sum(bool(reference.decisions) for reference in references),
        duplicates=[shown(group) for group in joined[:_SHOWN_DUPLICATES]],
        possible=[
            shown((m.first, m.second), m.probability)
            for m in found.possible[:_SHOWN_DUPLICATES]
        ],
    )


def first_events(log: ReviewLog) -> list[Event]:
    """Return the decisions that came with the records of a new review, as its events."""
    given = []
    for record in log.records.values():
        for decision in record.reference.decisions:
            given.append(
                {
                    "by": decision.reviewer or "file",
                    "record": record.id,
                    "verdict": decision.verdict,
                    "reasons": list(decision.reasons) or None,
                }
            )
    return list(log.prepare("decide", given))
