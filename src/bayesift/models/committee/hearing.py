"""Asking the members of a committee about documents that they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from bayesift.folds import deal_folds
from bayesift.models.committee.members import Member, Sample

Array = np.ndarray[Any, Any]
Progress = Callable[[int, int], None]
Fitted = TypeVar("Fitted")


@dataclass(frozen=True, slots=True)
class Hearing:
    """What was said of documents held out.

    Parameters
    ----------
    scores : members of the committee x documents x categories
    labels : documents x categories, true where a document belongs
    importance : of the documents
    """

    scores: Array
    labels: Array
    importance: Array


class Report:
    """Counts the members that have been fitted."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def after(self, fitted: Fitted) -> Fitted:
        """Pass on what was fitted, and say so."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)
        return fitted


def hear(
    members: Sequence[Member], sample: Sample, *, n_folds: int, random_state: int | None, report: Report
) -> Hearing:
    """Hold out every document once, but for those that a rare category cannot spare."""
    labels = sample.members.toarray() != 0
    folds = deal_folds(labels, n_folds=n_folds, random_state=random_state)
    scores = np.zeros((len(members), *labels.shape))
    for fold in range(n_folds):
        held_out, rest = np.flatnonzero(folds == fold), sample.take(np.flatnonzero(folds != fold))
        for place, member in enumerate(members):
            scores[place, held_out] = report.after(member.fit(rest)).scores(sample.rows[held_out])
    asked = np.flatnonzero(folds >= 0)
    return Hearing(scores[:, asked], labels[asked], sample.importance[asked])
