"""Pictures of a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.extras import require
from bayesift.text.zipf import frequency_ranks, moderate_zone

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]

_CURVE, _LAW, _ZONE = "#2b6cb0", "#a0aec0", "#ebf4ff"
_N_NAMED = 12


def zipf_figure(
    names: Sequence[str], frequencies: Array, *, drop_frequent: float = 0, drop_rare: float = 0, title: str = ""
) -> Figure:
    """Zipf's curve: frequency over rank on logarithmic scales, some terms named, the kept zone shaded.

    Parameters
    ----------
    names : the terms
    frequencies : how often each stands in the collection
    drop_frequent, drop_rare : the ends of the curve to leave unshaded, as in `TermVectorizer`
    title : of the picture

    Examples
    --------
    >>> figure = zipf_figure(["the", "corn", "oats"], np.array([9, 3, 1]), title="Three terms")
    >>> figure.axes[0].get_title(loc="left")
    'Three terms'
    """
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    places = frequency_ranks(frequencies) + 1
    order = np.argsort(places)
    ranks, heights = places[order], np.asarray(frequencies)[order]
    zone = ranks[moderate_zone(frequencies, drop_frequent=drop_frequent, drop_rare=drop_rare)[order]]
    if len(zone) < len(ranks):
        axes.axvspan(zone.min(), zone.max(), color=_ZONE, label=f"{len(zone):,} terms kept")
    law = heights.sum() / np.sum(1 / ranks) / ranks
    axes.loglog(ranks, law, linestyle="--", color=_LAW, label="Zipf's law, f = k / r")
    axes.loglog(ranks, heights, color=_CURVE, linewidth=2, label=f"{len(ranks):,} terms")
    for place in np.unique(np.geomspace(1, len(ranks), _N_NAMED).astype(int)) - 1:
        axes.annotate(
            names[order[place]], (ranks[place], heights[place]), (5, 5), textcoords="offset points", fontsize=9
        )
        axes.plot(ranks[place], heights[place], "o", markersize=4, color=_CURVE)
    axes.set(xlabel="rank of the term", ylabel="how often it stands in the collection")
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.08, y=0.1)
    axes.legend(frameon=False)
    return figure
