"""Charts of a linear model."""

from __future__ import annotations

import numpy as np

from bayesift.charts import Axis, Figure, Frame, Intervals, Layer, Line, Panel, Points, Rule
from bayesift.models.linear.path import Path, Validation

_FRAME = Frame(right=480, bottom=290)


def validation_figure(validation: Validation, model: int = 0, *, title: str = "") -> Figure:
    """The loss of a model (`validation_`) over the scale of its prior, with standard errors and the scale chosen."""
    finite = np.flatnonzero(np.isfinite(validation.losses[:, model]))
    order = finite[np.argsort(validation.scales[finite, model])]
    scales, losses = validation.scales[order, model].tolist(), validation.losses[order, model].tolist()
    errors = np.nan_to_num(validation.errors[order, model]).tolist()
    points = list(zip(scales, losses, strict=True))
    ranges = [(x, loss - error, loss + error) for x, loss, error in zip(scales, losses, errors, strict=True)]
    chosen = float(validation.chosen[model])
    x = Axis.over("scale of the prior", [*scales, chosen], log=True)
    y = Axis.over("held-out loss, or negative log evidence", [end for _, *ends in ranges for end in ends])
    rule = Rule(x=chosen, style="series-2", name=f"chosen: {chosen:.3g}")
    layers: list[Layer] = [Points(points), Line(points), Intervals(ranges), rule]
    return Figure(title or "Choice of the scale", [Panel(x, y, layers, _FRAME)], width=504, height=334)


def path_figure(path: Path, model: int = 0, *, title: str = "") -> Figure:
    """The weights of a model over the scale of its prior, one line per term with a weight other than 0."""
    rows = [weights[[model]] for weights in path.coefficients]
    steps = np.vstack([row.toarray() if hasattr(row, "toarray") else row for row in rows])
    scales, active = path.scales[:, model].tolist(), steps.T[np.any(steps, axis=0)]
    # The term with the largest weight at the end is drawn on top.
    ranked = active[np.argsort(-np.abs(active[:, -1]), kind="stable")].tolist()
    lines = [
        Line(list(zip(scales, weights, strict=True)), "thin" if place else "series-1")
        for place, weights in enumerate(ranked)
    ]
    x = Axis.over("scale of the prior", scales, log=True)
    y = Axis.over("weight", steps.ravel().tolist())
    return Figure(title or "Regularization path", [Panel(x, y, lines, _FRAME)], width=504, height=334)
