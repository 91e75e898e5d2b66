"""Pictures of filtering; each function returns a Matplotlib figure to show or save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesift.extras import require
from bayesift.filtering.simulation import Simulation
from bayesift.filtering.strategies import Strategy
from bayesift.filtering.tables import reading_curve, recall_curve, terms_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def theta_figure(strategy: Strategy | None = None) -> Figure:
    """Figure 1: theta against the number of retrieved documents.

    Examples
    --------
    >>> theta_figure().axes[0].get_xlabel()
    'documents retrieved'
    """
    chosen = Strategy(query="gain") if strategy is None else strategy
    numbers = np.arange(0, 2 * chosen.target + 1)
    figure, axes = _figure("documents retrieved", "theta (bits)")
    axes.plot(numbers, [chosen.theta(int(n)) for n in numbers], color=_COLOURS[0])
    return figure


def terms_figure(simulation: Simulation) -> Figure:
    """Figure 2: the mean number of words of a profile as relevant documents are retrieved."""
    figure, axes = _figure("relevant documents retrieved", "mean number of words")
    for colour, (name, runs) in zip(_colours(simulation), simulation.runs.items(), strict=True):
        axes.plot(terms_curve(runs), color=colour, label=name)
    axes.legend(frameon=False)
    return figure


def recall_figure(simulation: Simulation) -> Figure:
    """The mean share of relevant documents retrieved as the stream goes by."""
    figure, axes = _figure("share of the stream", "mean share of relevant documents retrieved")
    for colour, name in zip(_colours(simulation), simulation.runs, strict=True):
        axes.plot(*recall_curve(simulation, name), color=colour, label=name)
    axes.legend(frameon=False)
    return figure


def reading_figure(simulation: Simulation) -> Figure:
    """Mean recall against the share of documents read: what was retrieved first, then what was passed over."""
    figure, axes = _figure("share of documents read", "mean recall")
    for colour, name in zip(_colours(simulation), simulation.runs, strict=True):
        axes.plot(*reading_curve(simulation, name), color=colour, label=name)
    axes.axhline(0.95, color="#d5d5d5", linewidth=1, zorder=1)
    axes.legend(frameon=False)
    return figure


def _colours(simulation: Simulation) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(len(simulation.runs))]


def _figure(x: str, y: str) -> tuple[Figure, Axes]:
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(5.6, 4.2), layout="constrained")
    axes: Axes = figure.subplots()
    axes.set(xlabel=x, ylabel=y)
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes
