"""Look back at a review: where a stopping rule would have ended it, and what it would have missed.

The records are taken in the order in which they were read, so that nothing is screened again.
`simulation` screens a labelled pool anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayesift.screening.review import RankedRecords
from bayesift.screening.stopping.rules import (
    STOPPING_RULES,
    CallaghanMuellerHansen,
    StoppingRule,
)

_ADVISED = next(iter(STOPPING_RULES.values()))
_RULES: Mapping[str, StoppingRule] = {
    "the rule that bayesift advises": _ADVISED,
    "the rule of Callaghan and Müller-Hansen": CallaghanMuellerHansen(),
}


@dataclass(frozen=True)
class EarlierEnd:
    """Where a rule would have ended a review.

    Parameters
    ----------
    rule : its name
    n_read : records read by then; None if it would not have ended before what was read
    n_found : relevant records found by then
    missed : relevant records that were read later
    """

    rule: str
    n_read: int | None
    n_found: int
    missed: tuple[str, ...]


@dataclass(frozen=True)
class Hindsight:
    """What can be said of a review by the order in which it was read.

    Parameters
    ----------
    n_records : of the review
    n_decided : records with a decision
    n_unread : records without one
    order : the records that were read in the order of the ranking, with whether each was relevant
    found_before : relevant records that were known besides
    ends : where rules would have ended the review
    """

    n_records: int
    n_decided: int
    n_unread: int
    order: tuple[tuple[str, bool], ...]
    found_before: int
    ends: tuple[EarlierEnd, ...]

    @property
    def n_found(self) -> int:
        """Relevant records among those read in the order of the ranking."""
        return sum(found for _, found in self.order)

    @property
    def curve(self) -> list[tuple[int, int]]:
        """Records read, and relevant ones among them, after each record."""
        totals = np.cumsum([0, *(found for _, found in self.order)])
        return [(n, int(total)) for n, total in enumerate(totals)]

    def sentences(self) -> list[str]:
        """Say what the order tells, and what it cannot tell."""
        if not self.order:
            return ["No record was read in the order of the ranking, so nothing can be said."]
        said = []
        if self.n_unread:
            said.append(
                f"This review is not finished: {self.n_unread:,} of {self.n_records:,} records "
                "are not read, and how many of them are relevant is not known. What follows counts "
                "only what was found so far; it says nothing about recall."
            )
        else:
            said.append(
                f"All {self.n_records:,} records are decided, so that it is known what an earlier "
                "end would have missed."
            )
        if len(self.order) < self.n_decided:
            said.append(
                f"Of {self.n_decided:,} decisions {len(self.order):,} were made in the order of "
                "the ranking; only these count here."
            )
        return [*said, *map(self._sentence, self.ends)]

    def _sentence(self, end: EarlierEnd) -> str:
        name = end.rule[0].upper() + end.rule[1:]
        read = len(self.order)
        if end.n_read is None:
            if self.n_unread:
                return f"{name} does not yet say stop after these {read:,} records."
            return f"{name} would not have stopped before the end."
        found = f"{end.n_found:,} of {self.n_found:,} relevant records"
        missed = f"{len(end.missed):,} missed" if end.missed else "none missed"
        if self.n_unread:
            missed = f"{len(end.missed):,} were found later"
        return (
            f"{name} would have stopped after {end.n_read:,} of {read:,} records: {found} found, "
            f"{missed}, {read - end.n_read:,} records fewer to read."
        )


def look_back(ranked: RankedRecords) -> Hindsight:
    """Find where stopping rules would have ended a review.

    Examples
    --------
    >>> from bayesift.references import Reference
    >>> from bayesift.screening import ReviewLog
    >>> log = ReviewLog([Reference(title="Corn"), Reference(title="Gold")], [1, 2])
    >>> look_back(RankedRecords(log)).sentences()
    ['No record was read in the order of the ranking, so nothing can be said.']
    """
    reading = ranked.reading()
    hits = np.zeros(reading.n_documents, dtype=bool)
    hits[: len(reading.order)] = list(reading.order.values())
    ends = []
    for name, rule in _RULES.items() if reading.order else ():
        stop = rule.stop(hits, found_before=reading.found_before)
        ends.append(_end(name, stop.n_read, reading.order))
    statuses = ranked.log.count_statuses()
    return Hindsight(
        n_records=statuses.total(),
        n_decided=len(ranked.log.decided()),
        n_unread=statuses["open"],
        order=tuple(reading.order.items()),
        found_before=reading.found_before,
        ends=tuple(ends),
    )


def _end(rule: str, n_read: int, order: Mapping[str, bool]) -> EarlierEnd:
    if n_read >= len(order):
        return EarlierEnd(rule, None, sum(order.values()), ())
    later = list(order.items())[n_read:]
    missed = tuple(record for record, found in later if found)
    return EarlierEnd(rule, n_read, sum(order.values()) - len(missed), missed)
