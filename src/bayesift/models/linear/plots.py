"""Pictures of a linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.extras import require
from bayesift.models.linear.path import Path
from bayesift.models.linear.scale import Validation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]

_CURVE, _CHOSEN, _FAINT = "#0072B2", "#D55E00", "#a0aec0"


def validation_figure(validation: Validation, model: int = 0, *, title: str = "") -> Figure:
    """The loss of a model over the scale of its prior, with standard errors, and the scale that was chosen.

    Parameters
    ----------
    validation : `validation_` of a classifier
    model : its place
    title : of the picture

    Examples
    --------
    >>> scales, losses = np.array([[0.1], [1.0], [10.0]]), np.array([[0.6], [0.5], [0.7]])
    >>> validation = Validation(scales, losses, np.full((3, 1), 0.05), np.array([1.0]))
    >>> validation_figure(validation).axes[0].get_xscale()
    'log'
    """
    seen = np.flatnonzero(np.isfinite(validation.losses[:, model]))
    order = seen[np.argsort(validation.scales[seen, model])]
    scales, losses = validation.scales[order, model], validation.losses[order, model]
    errors = np.nan_to_num(validation.errors[order, model])
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.errorbar(scales, losses, yerr=errors, color=_CURVE, marker="o", markersize=4, elinewidth=1, capsize=2)
    axes.axvline(
        validation.chosen[model], color=_CHOSEN, linestyle="--", label=f"chosen: {validation.chosen[model]:.3g}"
    )
    axes.set(xscale="log", xlabel="scale of the prior", ylabel="held-out loss, or minus the log evidence")
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def path_figure(path: Path, model: int = 0, *, title: str = "") -> Figure:
    """The weights of a model over the scale of its prior, a line a term that is ever off 0.

    Parameters
    ----------
    path : what `SparseBayesClassifier.path` gave
    model : its place
    title : of the picture

    Examples
    --------
    >>> weights = [np.array([[0.0, 0.0]]), np.array([[1.0, 0.0]])]
    >>> path = Path(np.array([[0.1], [1.0]]), weights, np.zeros((2, 1)), np.ones((2, 1), dtype=bool))
    >>> len(path_figure(path).axes[0].lines)
    1
    """
    rows = [weights[[model]] for weights in path.coefficients]
    steps = np.vstack([row.toarray() if hasattr(row, "toarray") else row for row in rows])
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for line in steps.T[np.any(steps, axis=0)]:
        axes.plot(
            path.scales[:, model], line, color=_CURVE if abs(line[-1]) == np.abs(steps).max() else _FAINT, linewidth=1
        )
    axes.set(xscale="log", xlabel="scale of the prior", ylabel="weight")
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
