"""Zipf's law: terms by rank of their frequency, and the zones at both ends of the curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesift.arrays import BoolArray, IntArray
from bayesift.charts import Axis, Figure, Frame, Layer, Line, Panel, PointLabels, Points, Zone

_N_NAMED = 12
_N_DRAWN = 300


def frequency_ranks(frequencies: IntArray) -> IntArray:
    """Rank of each term, 0 for the most frequent; of equals the earlier one ranks first."""
    ranks = np.empty(len(frequencies), dtype=np.int64)
    ranks[np.argsort(-np.asarray(frequencies), kind="stable")] = np.arange(len(frequencies))
    return ranks


def moderate_zone(
    frequencies: IntArray, *, drop_frequent: float = 0, drop_rare: float = 0
) -> BoolArray:
    """Which terms lie between the very frequent and the very rare.

    Parameters
    ----------
    frequencies : of each term in the collection
    drop_frequent, drop_rare : how many ranks to drop at each end: a number of terms (int), or a
        share of all terms (float below 1)
    """
    n_terms = len(frequencies)
    ranks = frequency_ranks(frequencies)
    first = _number_of_terms("drop_frequent", drop_frequent, n_terms)
    last = n_terms - _number_of_terms("drop_rare", drop_rare, n_terms)
    return (ranks >= first) & (ranks < last)


def zipf_figure(
    names: Sequence[str],
    frequencies: IntArray,
    *,
    drop_frequent: float = 0,
    drop_rare: float = 0,
    title: str = "",
) -> Figure:
    """Draw Zipf's curve: frequency against rank, some terms named and the kept range shaded.

    Examples
    --------
    >>> figure = zipf_figure(["the", "corn", "oats"], np.array([9, 3, 1]), title="Three terms")
    >>> figure.title, [key.name for key in figure.legend]
    ('Three terms', ['3 terms', "Zipf's law, f = k / r"])
    """
    order = np.argsort(frequency_ranks(frequencies))
    ranks, counts = (
        np.arange(1, len(order) + 1),
        np.asarray(frequencies, dtype=np.float64)[order],
    )
    kept = ranks[
        moderate_zone(frequencies, drop_frequent=drop_frequent, drop_rare=drop_rare)[order]
    ]
    drawn = np.unique(np.geomspace(1, len(ranks), _N_DRAWN).astype(int)) - 1
    named = np.unique(np.geomspace(1, len(ranks), _N_NAMED).astype(int)) - 1
    law = counts.sum() / np.sum(1 / ranks) / ranks
    curve, expected = ([(float(ranks[i]), float(y[i])) for i in drawn] for y in (counts, law))
    marks = [(float(ranks[i]), float(counts[i])) for i in named]
    layers: list[Layer] = [
        PointLabels(
            [(*mark, str(names[order[i]])) for mark, i in zip(marks, named, strict=True)]
        ),
        Points(marks),
        Line(curve, "series-1", f"{len(ranks):,} terms"),
        Line(expected, "ideal", "Zipf's law, f = k / r"),
    ]
    if 0 < len(kept) < len(ranks):
        layers.append(Zone(float(kept.min()), float(kept.max()), f"{len(kept):,} terms kept"))
    x = Axis.over("rank of the term", [1, len(ranks)], log=True)
    y = Axis.over("frequency in the collection", [*counts.tolist(), *law.tolist()], log=True)
    panel = Panel(x, y, layers, Frame(62, 520, 10, 330))
    return Figure(title or "Zipf's law", [panel], width=560, height=374)


def _number_of_terms(name: str, wanted: float, n_terms: int) -> int:
    if wanted < 0 or (isinstance(wanted, float) and wanted >= 1):
        raise ValueError(
            f"{name} must be a number of terms (int) or a share of them (float below 1), got "
            f"{wanted!r}"
        )
    return int(wanted) if not isinstance(wanted, float) else int(wanted * n_terms)
