"""Pictures of an evaluation; each function returns a Matplotlib figure to show or save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.evaluation.calibration import ReliabilityCurve
from bayesift.evaluation.ranking import PrecisionRecallCurve
from bayesift.evaluation.scores import Scores
from bayesift.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_FAINT = "#8a8a8a"
_BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 1}


def reliability_diagram(curves: ReliabilityCurve | Mapping[str, ReliabilityCurve]) -> Figure:
    """Share that came true against probability, with intervals, above the number of forecasts.

    Examples
    --------
    >>> from bayesift.evaluation import reliability_curve
    >>> figure = reliability_diagram(reliability_curve([0, 1, 1, 0], [0.2, 0.8, 0.7, 0.4]))
    >>> figure.axes[0].get_ylabel()
    'share that came true'
    """
    named = {"": curves} if isinstance(curves, ReliabilityCurve) else curves
    figure = _figure(5.0, 5.6)
    share, numbers = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    share.plot([0, 1], [0, 1], color=_FAINT, linestyle="--", linewidth=1, label="perfect")
    for (name, curve), colour in zip(named.items(), _cycle(len(named)), strict=True):
        error = f"calibration error {curve.expected_calibration_error:.4f}"
        distances = np.maximum([curve.share_positive - curve.lower, curve.upper - curve.share_positive], 0)
        share.errorbar(
            curve.mean_probability,
            curve.share_positive,
            yerr=distances,
            color=colour,
            marker="o",
            markersize=4,
            linewidth=1.5,
            elinewidth=1,
            capsize=2,
            label=f"{name} ({error})" if name else error,
        )
        numbers.plot(curve.mean_probability, curve.count, color=colour, marker="o", markersize=3, linewidth=1)
    share.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), ylabel="share that came true")
    share.legend(frameon=False, loc="upper left")
    numbers.set(xlabel="probability", ylabel="forecasts", yscale="log")
    _tidy(share)
    _tidy(numbers)
    return figure


def precision_recall_plot(curves: Mapping[str, PrecisionRecallCurve]) -> Figure:
    """Precision against recall, over contours of equal F1.

    Examples
    --------
    >>> from bayesift.evaluation import PrecisionRecallCurve
    >>> curve = PrecisionRecallCurve.of([1, 0, 1], [0.9, 0.8, 0.3])
    >>> precision_recall_plot({"corn": curve}).axes[0].get_xlabel()
    'recall'
    """
    figure = _figure(5.4, 5.0)
    axes = figure.subplots()
    _draw_f1_contours(axes)
    for (name, curve), colour in zip(curves.items(), _cycle(len(curves)), strict=True):
        axes.step(
            np.append(0, curve.recall),
            np.append(curve.precision[0], curve.precision),
            where="pre",
            color=colour,
            linewidth=1.5,
            label=f"{name} (average precision {curve.average_precision:.3f})",
        )
    axes.set(xlim=(0, 1.005), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    _tidy(axes)
    return figure


def category_f1_bars(scores: Scores, *, limit: int = 30) -> Figure:
    """F1 of the most common categories, most common first, with the averages over all of them.

    Examples
    --------
    >>> from bayesift.evaluation import evaluate_decisions
    >>> scores = evaluate_decisions(["corn", "oil", "oil"], ["corn", "oil", "corn"])
    >>> [label.get_text() for label in category_f1_bars(scores).axes[0].get_yticklabels()]
    ['oil (2)', 'corn (1)']
    """
    rows = sorted(scores.categories, key=lambda row: (-row.positives, row.category))[:limit]
    figure = _figure(6.0, 1.3 + 0.24 * len(rows))
    axes = figure.subplots()
    positions = range(len(rows))
    axes.barh(positions, [row.f1 for row in rows], height=0.7, color=_COLOURS[0])
    for position, row in zip(positions, rows, strict=True):
        axes.text(row.f1 + 0.01, position, f"{row.f1:.2f}", va="center", fontsize=8, color="#444444", bbox=_BACKGROUND)
    for name, value, style in (("micro", scores.micro.f1, "-"), ("macro", scores.macro.f1, "--")):
        axes.axvline(value, color=_COLOURS[1], linewidth=1.2, linestyle=style, label=f"{name} F1 {value:.3f}", zorder=0)
    axes.set_yticks(positions, [f"{row.category} ({row.positives:,})" for row in rows])
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.08), ylim=(len(rows) - 0.4, -0.6), xlabel="F1")
    left_out = len(scores.categories) - len(rows)
    if left_out:
        axes.set_title(f"the {len(rows)} most common of {len(scores.categories)} categories", loc="left", fontsize=9)
    figure.legend(frameon=False, loc="outside upper right", ncols=2)
    _tidy(axes)
    axes.grid(visible=False, axis="y")
    return figure


def _figure(width: float, height: float) -> Figure:
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(width, height), layout="constrained")
    return figure


def _tidy(axes: Axes) -> None:
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _draw_f1_contours(axes: Axes) -> None:
    for f1 in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(f1 / (2 - f1) + 1e-9, 1, 200)
        precision = f1 * recall / (2 * recall - f1)
        axes.plot(recall, precision, color="#d5d5d5", linewidth=1, zorder=1)
        axes.annotate(
            f"F1 {f1:.1f}",
            (1, precision[-1]),
            xytext=(4, 0),
            textcoords="offset points",
            fontsize=8,
            color=_FAINT,
            va="center",
            annotation_clip=False,
        )


def _cycle(n: int) -> list[Any]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(n)]
