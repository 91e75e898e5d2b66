"""Pictures of a hybrid and of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]

_HYBRID, _FIRST, _SECOND = "#2b6cb0", "#718096", "#c05621"


def alpha_figure(alphas: Array, scores: Array, *, ends: tuple[str, str] = ("naive Bayes", "SVM")) -> Figure:
    """How good a hybrid is over the share of its second model, with both parts as lines (the paper's Figure 2).

    Parameters
    ----------
    alphas : from 0, the first model alone, to 1, the second alone
    scores : how good each is
    ends : the names of the two models

    Examples
    --------
    >>> figure = alpha_figure(np.array([0.0, 0.5, 1.0]), np.array([0.9, 0.95, 0.88]))
    >>> len(figure.axes[0].lines)
    3
    """
    figure, axes = _axes()
    axes.axhline(scores[0], color=_FIRST, linestyle="--", label=ends[0])
    axes.axhline(scores[-1], color=_SECOND, linestyle=":", label=ends[1])
    axes.plot(alphas, scores, color=_HYBRID, linewidth=2, label="hybrid")
    axes.set(xlabel=f"share of the {ends[1]}", ylabel="accuracy on documents held out")
    axes.legend(frameon=False)
    return figure


def kept_figure(shares: Array, scores: Mapping[str, Array]) -> Figure:
    """How good models are when only a share of their features stays (the paper's Figure 3).

    Parameters
    ----------
    shares : of the features that stay
    scores : of each model at each share

    Examples
    --------
    >>> figure = kept_figure(np.array([0.1, 1.0]), {"SVM": np.array([0.8, 0.9])})
    >>> figure.axes[0].get_xlabel()
    'share of the features kept'
    """
    figure, axes = _axes()
    for (name, values), colour in zip(scores.items(), (_FIRST, _SECOND, _HYBRID), strict=False):
        axes.plot(shares, values, color=colour, linewidth=2, marker="o", markersize=4, label=name)
    axes.set(xlabel="share of the features kept", ylabel="accuracy")
    axes.legend(frameon=False)
    return figure


def _axes() -> tuple[Figure, Any]:
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
