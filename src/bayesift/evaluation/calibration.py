"""Measures of probabilities: whether they are right, and mean what they say.

With an indicator matrix every (document, category) is a forecast of its own. With class labels a document is one
forecast over all classes, and log loss and Brier score are those of the whole distribution, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri

from bayesift.errors import DataError
from bayesift.evaluation.contingency import Average, averaged, check_average
from bayesift.evaluation.labels import scored

Array = np.ndarray[Any, Any]
Bins = Literal["width", "mass"]

_SMALLEST = np.finfo(np.float64).eps


def log_loss(Y: Any, probabilities: Any, *, labels: Sequence[Any] | None = None) -> float:
    """Mean of -ln of the probability given to what was the case; probabilities are kept 2e-16 away from 0 and 1.

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


def brier_score(Y: Any, probabilities: Any, *, labels: Sequence[Any] | None = None) -> float:
    """Mean squared distance of the probability from what was the case; with class labels summed over classes.

    Examples
    --------
    >>> round(brier_score([1, 0], [0.8, 0.4]), 4)
    0.1
    """
    positive, forecast = _forecasts(Y, probabilities, labels)
    squares = (forecast - positive) ** 2
    return float(np.mean(squares.sum(axis=1) if _is_distribution(Y, forecast) else squares))


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Forecasts gathered in bins by probability; empty bins are left out.

    Parameters
    ----------
    mean_probability : of the forecasts in each bin
    share_positive : of them that came true
    count : how many they are
    lower, upper : Wilson's interval of the share
    level : of the interval

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], n_bins=2)
    >>> curve.mean_probability.round(2).tolist(), curve.share_positive.tolist(), curve.count.tolist()
    ([0.15, 0.8], [0.0, 1.0], [2, 2])
    >>> round(curve.expected_calibration_error, 3)
    0.175
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
        return float(np.average(np.abs(self.mean_probability - self.share_positive), weights=self.count))

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
    labels: Sequence[Any] | None = None,
) -> ReliabilityCurve:
    """How often forecasts came true, by their probability; the categories of a matrix are pooled.

    Parameters
    ----------
    Y, probabilities : documents x categories, or one category
    n_bins : at most so many
    bins : of equal "width" in probability, or of equal "mass", as many forecasts each (equals stay together)
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
    labels: Sequence[Any] | None = None,
) -> Any:
    """Mean distance of the probabilities in a bin from the share that came true, weighted by their number.

    Examples
    --------
    >>> round(expected_calibration_error([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], n_bins=2), 3)
    0.175
    """
    check_average(average)
    positive, forecast = _forecasts(Y, probabilities, labels)
    if average == "micro":
        positive, forecast = positive.reshape(-1, 1), forecast.reshape(-1, 1)
    curves: Iterator[ReliabilityCurve] = (
        _curve(*column, n_bins, bins, 0.95) for column in zip(positive.T, forecast.T, strict=True)
    )
    return averaged(np.array([curve.expected_calibration_error for curve in curves]), average)


def wilson_interval(successes: Array, trials: Array, *, level: float = 0.95) -> tuple[Array, Array]:
    """Wilson's score interval of a share.

    Examples
    --------
    >>> lower, upper = wilson_interval(np.array([9]), np.array([10]))
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.596], [0.982])
    """
    z = float(ndtri(0.5 + level / 2))
    share = successes / trials
    centre = (share + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def _curve(positive: Array, forecast: Array, n_bins: int, bins: Bins, level: float) -> ReliabilityCurve:
    bin_of = _bin_of(forecast, n_bins, bins)
    count = np.bincount(bin_of)
    filled = count > 0
    sums = np.bincount(bin_of, weights=forecast)[filled]
    successes = np.bincount(bin_of, weights=positive)[filled]
    count = count[filled]
    lower, upper = wilson_interval(successes, count, level=level)
    return ReliabilityCurve(sums / count, successes / count, count, lower, upper, level)


def _bin_of(forecast: Array, n_bins: int, bins: Bins) -> Array:
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins!r}")
    if bins == "width":
        return np.minimum((forecast * n_bins).astype(np.int64), n_bins - 1)
    if bins == "mass":
        ends = np.arange(1, n_bins) * len(forecast) // n_bins - 1
        return np.searchsorted(np.sort(forecast)[np.maximum(ends, 0)], forecast)
    raise ValueError(f"bins must be one of {', '.join(get_args(Bins))}, got {bins!r}")


def _forecasts(Y: Any, probabilities: Any, labels: Sequence[Any] | None) -> tuple[Array, Array]:
    positive, forecast = scored(Y, probabilities, labels)
    if forecast.min() < 0 or forecast.max() > 1:
        raise DataError(
            f"probabilities must lie in [0, 1], but they reach from {forecast.min():g} to {forecast.max():g}"
        )
    return positive, forecast


def _is_distribution(Y: Any, forecast: Array) -> bool:
    """Whether a row is one forecast over several classes."""
    return np.ndim(Y) == 1 and forecast.shape[1] > 1
