"""More like this, not like that: documents ranked by their topics, with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.models.topics.similarity import TopicSimilarity


@dataclass(frozen=True, slots=True)
class TopicReason:
    """What one topic adds to the log odds of a document; negative lowers its rank."""

    topic: int
    contribution: float


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document (by its row) that is like those a person liked.

    The score is its mean log odds of sharing a category with the liked, less those with the disliked; reasons are the
    topics that moved it most, relative to an average document of the collection, largest first.
    """

    document: int
    score: float
    reasons: tuple[TopicReason, ...]


def more_like_this(
    similarity: TopicSimilarity,
    codes: Any,
    *,
    liked: Sequence[int],
    disliked: Sequence[int] = (),
    top: int = 10,
    n_reasons: int = 3,
) -> list[RankedDocument]:
    """The documents of a collection that resemble the liked ones and not the disliked ones.

    The similarity is a sum over topics, so its means are too: a score is exactly the sum of what its topics add and the
    collection's mean score. Documents that a person has judged, `liked` and `disliked` by their rows, are not ranked.

    Examples
    --------
    >>> codes = np.array([[3, 0.1], [2, 0.2], [1, 0.1], [0.2, 4], [0.1, 3]])
    >>> similarity = TopicSimilarity(n_pairs=100).fit(codes, ["grain", "grain", "grain", "crude", "crude"])
    >>> best = more_like_this(similarity, codes, liked=[0], disliked=[3], top=1)[0]
    >>> best.document, best.reasons[0].contribution > 0
    (1, True)
    """
    points = similarity.points(codes)
    judged = np.unique(np.r_[np.asarray(liked, dtype=np.int64), np.asarray(disliked, dtype=np.int64)])
    if not len(liked):
        raise ValueError("at least one liked document is needed")
    if judged.min() < 0 or judged.max() >= len(points):
        raise ValueError(f"judged documents must be rows of the {len(points)} codes")
    parts = _parts(similarity, points, liked, disliked)
    scores = parts.sum(axis=1)
    if not len(disliked):
        scores += similarity.slope_ * similarity.offset_ + similarity.shift_
    order = np.argsort(-scores, kind="stable")
    order = order[~np.isin(order, judged)][:top]
    mean = parts.mean(axis=0)
    return [RankedDocument(int(d), float(scores[d]), _reasons(parts[d] - mean, n_reasons)) for d in order]


def _parts(similarity: TopicSimilarity, points: Array, liked: Sequence[int], disliked: Sequence[int]) -> Array:
    """What each topic adds to each document's score, documents x topics: mean squares by the moments of the judged."""
    parts = _mean_squares(points, points[list(liked)])
    if len(disliked):
        parts -= _mean_squares(points, points[list(disliked)])
    parts *= -similarity.slope_
    return parts


def _mean_squares(points: Array, judged: Array) -> Array:
    """The mean of (p - j)^2 over the judged, by topic."""
    squares: Array = np.square(points - judged.mean(axis=0)) + judged.var(axis=0)
    return squares


def _reasons(contributions: Array, n_reasons: int) -> tuple[TopicReason, ...]:
    order = np.argsort(-np.abs(contributions), kind="stable")[:n_reasons]
    return tuple(TopicReason(int(a), float(contributions[a])) for a in order if contributions[a] != 0)
