"""Measures of probabilities: whether they are right, and mean what they say.

With an indicator matrix every (document, category) is a forecast of its own. With class labels a
document is one forecast over all classes, and log loss and Brier score are those of the whole
distribution, as in scikit-learn.

There are two calibration errors. `expected_calibration_error` is of every category: whether a
category comes true as often as its probability says. `top_label_calibration_error` is of the most
probable category alone, its probability against how often it is right; papers call this one ECE
(Guo et al. 2017, with 15 bins of equal width).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri

from bayesift.arrays import Array, FloatArray
from bayesift.charts import (
    Axis,
    CountBars,
    Figure,
    Frame,
    Intervals,
    Layer,
    Line,
    Panel,
    Points,
    Rule,
)
from bayesift.charts.svg import series
from bayesift.errors import DataError
from bayesift.evaluation.measures import Average, Classes, averaged, check_average, scored
from bayesift.state import storable

Bins = Literal["width", "mass"]

_SMALLEST = np.finfo(np.float64).eps


def log_loss(Y: Any, probabilities: Any, *, labels: Classes = None) -> float:
    """Mean of -ln of the probability given to what was the case.

    Probabilities are kept 2e-16 away from 0 and 1.

    Examples
    --------
    >>> round(log_loss([1, 0], [0.8, 0.4]), 4)
    0.367
    >>> round(log_loss(["corn", "oil"], [[0.8, 0.2], [0.4, 0.6]]), 4)
    0.367
    """
    positive, forecast = _forecasts(Y, probabilities, labels)
    clipped = np.clip(forecast, _SMALLEST, 1 - _SMALLEST)
    if _is_distribution(Y, forecast):
        return float(-np.mean(np.log(clipped[positive])))
    return float(-np.mean(np.log(np.where(positive, clipped, 1 - clipped))))


def brier_score(Y: Any, probabilities: Any, *, labels: Classes = None) -> float:
    """Mean squared distance of the probability from what was the case.

    With class labels summed over classes.

    Examples
    --------
    >>> round(brier_score([1, 0], [0.8, 0.4]), 4)
    0.1
    """
    positive, forecast = _forecasts(Y, probabilities, labels)
    squares = (forecast - positive) ** 2
    return float(np.mean(squares.sum(axis=1) if _is_distribution(Y, forecast) else squares))


@storable("reliability-curve")
@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Bins of forecasts: mean probability, share that came true with Wilson's interval, number.

    None is empty.
    """

    mean_probability: Array
    share_positive: Array
    count: Array
    lower: Array
    upper: Array
    level: float

    @property
    def expected_calibration_error(self) -> float:
        """Mean distance of probability and share, weighted by the number of forecasts."""
        return float(
            np.average(np.abs(self.mean_probability - self.share_positive), weights=self.count)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        arrays = ("mean_probability", "share_positive", "count", "lower", "upper")
        return {**{name: getattr(self, name).tolist() for name in arrays}, "level": self.level}


def reliability_curve(
    Y: Any,
    probabilities: Any,
    *,
    n_bins: int = 10,
    bins: Bins = "width",
    level: float = 0.95,
    labels: Classes = None,
) -> ReliabilityCurve:
    """How often forecasts came true, by their probability; the categories of a matrix are pooled.

    Parameters
    ----------
    Y, probabilities : documents x categories, or one category
    n_bins : at most so many
    bins : of equal "width" in probability, or of equal "mass", as many forecasts each (equals stay
        together)
    level : of the interval of each share

    Examples
    --------
    >>> reliability_curve([0, 1, 0, 1], [0.1, 0.1, 0.1, 0.6], n_bins=2, bins="mass").count.tolist()
    [3, 1]
    """
    positive, forecast = _forecasts(Y, probabilities, labels)
    return _curve(positive.ravel(), forecast.ravel(), n_bins, bins, level)


def expected_calibration_error(
    Y: Any,
    probabilities: Any,
    *,
    n_bins: int = 10,
    bins: Bins = "width",
    average: Average | None = "micro",
    labels: Classes = None,
) -> Any:
    """Mean distance of probabilities in a bin from the share that came true, by their number.

    Every category of every document counts. `top_label_calibration_error` is of the most probable
    category alone.
    """
    check_average(average)
    positive, forecast = _forecasts(Y, probabilities, labels)
    if average == "micro":
        positive = positive.reshape(-1, 1)
        forecast = forecast.reshape(-1, 1)
    curves: Iterator[ReliabilityCurve] = (
        _curve(*column, n_bins, bins, 0.95)
        for column in zip(positive.T, forecast.T, strict=True)
    )
    return averaged(np.array([curve.expected_calibration_error for curve in curves]), average)


def top_label_curve(
    Y: Any,
    probabilities: Any,
    *,
    n_bins: int = 15,
    bins: Bins = "width",
    level: float = 0.95,
    labels: Classes = None,
) -> ReliabilityCurve:
    """How often the most probable category is right, by its probability.

    Parameters as of `reliability_curve`.

    With several categories per document it is right when it is among them. One column is a yes or
    no, of which the more probable is taken.

    Examples
    --------
    >>> top_label_curve(["corn", "oil"], [[0.8, 0.2], [0.7, 0.3]], n_bins=1).share_positive.tolist()
    [0.5]
    """
    positive, forecast = _forecasts(Y, probabilities, labels)
    if forecast.shape[1] == 1:
        positive = np.hstack([~positive, positive])
        forecast = np.hstack([1 - forecast, forecast])
    top = np.argmax(forecast, axis=1)[:, None]
    right, confidence = (
        np.take_along_axis(values, top, axis=1).ravel() for values in (positive, forecast)
    )
    return _curve(right, confidence, n_bins, bins, level)


def top_label_calibration_error(
    Y: Any,
    probabilities: Any,
    *,
    n_bins: int = 15,
    bins: Bins = "width",
    labels: Classes = None,
) -> float:
    """Mean distance of the top probability from how often it is right: the ECE of papers.

    ECE = Σ_b n_b / n |accuracy(b) - confidence(b)| over bins b of the highest probability.

    Parameters
    ----------
    Y, probabilities : documents x categories, or class labels and documents x classes
    n_bins : at most so many; 15 is what most papers take
    bins : of equal "width" in probability, or of equal "mass"
    labels : the classes of the columns

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015); Guo, Pleiss, Sun and Weinberger (2017), equation 3.

    Examples
    --------
    >>> round(top_label_calibration_error(["corn", "oil"], [[0.8, 0.2], [0.8, 0.2]]), 4)
    0.3
    """
    curve = top_label_curve(Y, probabilities, n_bins=n_bins, bins=bins, labels=labels)
    return curve.expected_calibration_error


def wilson_interval(
    successes: Array, trials: Array, *, level: float = 0.95
) -> tuple[Array, Array]:
    """Wilson's score interval of a share."""
    z = float(ndtri(0.5 + level / 2))
    share = successes / trials
    centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = (
        z
        / (1 + z**2 / trials)
        * np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    )
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def reliability_diagram(curves: ReliabilityCurve | Mapping[str, ReliabilityCurve]) -> Figure:
    """Draw observed frequency against predicted probability, above the number of forecasts."""
    named = {"calibration error": curves} if isinstance(curves, ReliabilityCurve) else curves
    layers: list[Layer] = []
    for index, (name, curve) in enumerate(named.items()):
        points = _pairs(curve.mean_probability, curve.share_positive)
        style = series(index)
        ranges = list(
            zip(
                curve.mean_probability.tolist(),
                curve.lower.tolist(),
                curve.upper.tolist(),
                strict=True,
            )
        )
        error = f"{curve.expected_calibration_error:.4f}"
        layers += [
            Points(points, style),
            Line(points, style, name, error),
            Intervals(ranges, style),
        ]
    perfect = Line([(0, 0), (1, 1)], "ideal", "perfect calibration")
    observed = Axis.unit("observed frequency")
    predicted = Axis.unit("predicted probability")
    return Figure(
        "Reliability of the probabilities",
        [
            Panel(predicted, observed, [*layers, perfect], Frame(left=46, right=318)),
            _counts_panel(list(named.values())),
        ],
        caption="Of the forecasts of 70%, about 70% should come true: on the dashed line. "
        "Below it the model is "
        "overconfident, above it underconfident. Whiskers are 95% intervals. The number is the "
        "calibration error.",
        description="; ".join(
            f"of {count:,} forecasts of about {probability:.1%}, {share:.1%} came true"
            for curve in named.values()
            for probability, share, count in zip(
                curve.mean_probability, curve.share_positive, curve.count, strict=True
            )
        ),
        width=360,
        height=416,
    )


def _counts_panel(curves: Sequence[ReliabilityCurve]) -> Panel:
    """Draw the number of forecasts of each probability, on a log scale.

    One curve has bars, several have lines.
    """
    frame = Frame(46, 318, 348, 410)
    x = Axis.unit("")
    most = max([1, *(int(curve.count.max()) for curve in curves)])
    if len(curves) > 1:
        ends = Axis.over("", np.concatenate([curve.count for curve in curves]), log=True).ticks
        lines = [
            Line(_pairs(curve.mean_probability, curve.count), series(i))
            for i, curve in enumerate(curves)
        ]
        return Panel(
            x, Axis("forecasts", (ends[0], ends[-1]), log=True), lines, frame, x_shown=False
        )
    bars = []
    for probability, count in _pairs(curves[0].mean_probability, curves[0].count):
        slot = min(int(probability * 10), 9) / 10
        bars.append((slot, slot + 0.1, int(count)))
    y = Axis("forecasts", (0.5, float(most)), log=True, numbered=False)
    return Panel(x, y, [CountBars(bars), Rule(y=0.5, style="grid")], frame, x_shown=False)


def _pairs(x: Array, y: Array) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _curve(
    positive: Array, forecast: FloatArray, n_bins: int, bins: Bins, level: float
) -> ReliabilityCurve:
    bin_of = _bin_of(forecast, n_bins, bins)
    count = np.bincount(bin_of)
    filled = count > 0
    sums = np.bincount(bin_of, weights=forecast)[filled]
    successes = np.bincount(bin_of, weights=positive)[filled]
    count = count[filled]
    lower, upper = wilson_interval(successes, count, level=level)
    return ReliabilityCurve(sums / count, successes / count, count, lower, upper, level)


def _bin_of(forecast: FloatArray, n_bins: int, bins: Bins) -> Array:
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins!r}")
    if bins == "width":
        return np.minimum((forecast * n_bins).astype(np.int64), n_bins - 1)
    if bins == "mass":
        ends = np.arange(1, n_bins) * len(forecast) // n_bins - 1
        return np.searchsorted(np.sort(forecast)[np.maximum(ends, 0)], forecast)
    raise ValueError(f"bins must be one of {', '.join(get_args(Bins))}, got {bins!r}")


def _forecasts(Y: Any, probabilities: Any, labels: Classes) -> tuple[Array, Array]:
    positive, forecast = scored(Y, probabilities, labels)
    if forecast.min() < 0 or forecast.max() > 1:
        raise DataError(
            f"probabilities must lie in [0, 1], but they reach from {forecast.min():g} to "
            f"{forecast.max():g}"
        )
    return positive, forecast


def _is_distribution(Y: Any, forecast: FloatArray) -> bool:
    """Whether a row is one forecast over several classes."""
    return np.ndim(Y) == 1 and forecast.shape[1] > 1
