"""What quality to expect of a classifier on new documents, by the training documents that it was judged on unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import xlog1py, xlogy
from scipy.stats import norm

from bayesift.arrays import Array

if TYPE_CHECKING:
    from bayesift.classifier.text_classifier import TextClassifier

_RESAMPLES = 500


@dataclass(frozen=True)
class ExpectedQuality:
    """A measure on documents held out, its interval, and their log loss.

    Parameters
    ----------
    measure : "accuracy", or "micro F1" where documents may have several categories
    value, low, high : of the measure: the value and the ends of its 95% interval
    log_loss : mean over documents, or over documents and categories where they may have several
    n_documents : how many were held out
    """

    measure: Literal["accuracy", "micro F1"]
    value: float
    low: float
    high: float
    log_loss: float
    n_documents: int

    def __str__(self) -> str:
        interval = f"{100 * self.low:.1f} to {100 * self.high:.1f}%"
        return f"{self.measure} {100 * self.value:.1f}% ({interval}), log loss {self.log_loss:.3f}"


def expected_quality(classifier: TextClassifier) -> ExpectedQuality | None:
    """What to expect on documents like those of the training; None for a model that held none out, or was loaded.

    The interval of an accuracy is Wilson's, that of F1 a bootstrap over documents.

    Examples
    --------
    >>> from bayesift import TextClassifier
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"] * 5
    >>> expected_quality(TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"] * 5)).value
    1.0
    """
    held_out = getattr(classifier.estimator_.estimator_, "held_out_", None)
    if held_out is None:
        return None
    labels, probabilities, weights = held_out.labels, held_out.probabilities, held_out.weights
    size = float(weights.sum())
    if not classifier.multilabel_:
        if labels.shape[1] == 1:
            labels, probabilities = np.hstack([~labels, labels]), np.hstack([1.0 - probabilities, probabilities])
        decisions = classifier.decisions_of(probabilities)
        right = float(weights @ np.any(decisions & labels, axis=1)) / size
        loss = -float(weights @ np.log(np.maximum(probabilities, 1e-15)[labels])) / size
        return ExpectedQuality("accuracy", right, *wilson_interval(right, size), loss, len(weights))
    decisions = classifier.decisions_of(probabilities)
    losses = -xlogy(labels, probabilities) - xlog1py(~labels, -probabilities)
    counts = np.stack([np.sum(decisions & labels, axis=1), decisions.sum(axis=1), labels.sum(axis=1)])
    low, high = _bootstrap_f1(counts, weights)
    loss = float(weights @ losses.mean(axis=1)) / size
    return ExpectedQuality("micro F1", float(_micro_f1(counts @ weights)), low, high, loss, len(weights))


def wilson_interval(share: float, size: float, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of so many documents.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(0.9, 100)]
    [0.826, 0.945]
    """
    z = float(norm.ppf(0.5 + level / 2))
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return float(max(middle - half, 0.0)), float(min(middle + half, 1.0))


def _micro_f1(totals: Array) -> Array:
    """2 t / (s + r) of true positives, assigned and positives; 0 where there are none."""
    f1: Array = 2 * totals[0] / np.maximum(totals[1] + totals[2], 1e-300)
    return f1


def _bootstrap_f1(counts: Array, weights: Array) -> tuple[float, float]:
    random = np.random.default_rng(0)
    n_documents = counts.shape[1]
    drawn = (
        np.bincount(random.integers(n_documents, size=n_documents), minlength=n_documents) for _ in range(_RESAMPLES)
    )
    low, high = np.quantile([_micro_f1(counts @ (weights * times)) for times in drawn], [0.025, 0.975])
    return float(low), float(high)
