"""Probabilities from scores, the same way for every contender: Platt's line a category, or one temperature."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

Array = np.ndarray[Any, Any]

_STEPS, _STILL, _PRIOR = 30, 1e-9, 1e-2
_SMALLEST = 1e-15


class PlattLines:
    """P(c | d) = 1 / (1 + exp(-(a_c s + b_c))), all categories by Newton's method at once.

    Scores are counted in units of their root mean square: it does not matter on what scale a contender speaks. A weak
    Gaussian prior about the pooled line keeps categories with few documents from running away.

    Examples
    --------
    >>> scores = np.array([[-2.0], [-1.0], [-0.5], [0.5], [1.0], [2.0]])
    >>> lines = PlattLines().fit(scores, np.array([[0], [0], [1], [0], [1], [1]]))
    >>> bool(lines.probabilities(scores)[0, 0] < 0.2)
    True
    """

    def fit(self, scores: Array, Y: Array) -> PlattLines:
        """Fit the lines on scores of documents that were held out."""
        unit = _unit(scores)
        scaled = scores / unit
        pooled = _newton(scaled.reshape(-1, 1), Y.reshape(-1, 1), np.array([[1.0], [0.0]]))
        slopes, self.intercepts_ = _newton(scaled, Y, np.repeat(pooled, scores.shape[1], axis=1))
        self.slopes_ = slopes / unit
        return self

    def probabilities(self, scores: Array) -> Array:
        """Documents x categories."""
        found: Array = expit(self.slopes_ * scores + self.intercepts_)
        return found


class Temperature:
    """P(c | d) = softmax(s / T), for documents of one class each.

    Examples
    --------
    >>> Temperature().fit(np.eye(3), np.eye(3)).probabilities(np.eye(3)).argmax(axis=1).tolist()
    [0, 1, 2]
    """

    def fit(self, scores: Array, Y: Array) -> Temperature:
        """Fit the temperature on scores of documents that were held out."""
        unit = _unit(scores)

        def loss(log_factor: float) -> float:
            return -float(log_softmax(np.exp(log_factor) / unit * scores, axis=1)[Y > 0].mean())

        self.factor_ = float(np.exp(minimize_scalar(loss, bounds=(-8.0, 8.0), method="bounded").x)) / unit
        return self

    def probabilities(self, scores: Array) -> Array:
        """Documents x classes."""
        found: Array = softmax(self.factor_ * scores, axis=1)
        return found


def losses(Y: Array, probabilities: Array, *, multilabel: bool) -> Array:
    """Minus the log probability of what was the case: the mean over categories of each document, or that of its class.

    Examples
    --------
    >>> losses(np.array([[1, 0]]), np.array([[0.5, 0.5]]), multilabel=True).round(3).tolist()
    [0.693]
    """
    clipped = np.clip(probabilities, _SMALLEST, 1 - _SMALLEST)
    if not multilabel:
        chosen: Array = -np.log(clipped[Y > 0])
        return chosen
    each: Array = -np.log(np.where(Y > 0, clipped, 1 - clipped)).mean(axis=1)
    return each


def _unit(scores: Array) -> float:
    """The root mean square; 1 if all scores are 0."""
    return float(np.sqrt(np.mean(scores**2))) or 1.0


def _newton(scores: Array, Y: Array, start: Array) -> Array:
    """Slopes and intercepts of columns, each pulled to the start as if by a little evidence."""
    lines = start.copy()
    moving = np.arange(scores.shape[1])
    for _ in range(_STEPS):
        step = _step(scores[:, moving], Y[:, moving], lines[:, moving], start[:, moving])
        lines[:, moving] += step
        moving = moving[np.abs(step).max(axis=0) > _STILL]
        if not len(moving):
            break
    return lines


def _step(scores: Array, Y: Array, lines: Array, start: Array) -> Array:
    """The step of Newton's method, never by more than one at a time."""
    p = expit(lines[0] * scores + lines[1])
    error, weight = Y - p, p * (1 - p)
    weighted = weight * scores
    slope, level = np.einsum("ij,ij->j", error, scores), error.sum(axis=0)
    slope, level = np.array([slope, level]) - _PRIOR * (lines - start)
    ss, s1, s0 = np.einsum("ij,ij->j", weighted, scores) + _PRIOR, weighted.sum(axis=0), weight.sum(axis=0) + _PRIOR
    step = np.array([s0 * slope - s1 * level, ss * level - s1 * slope]) / (ss * s0 - s1**2)
    found: Array = step / np.maximum(1.0, np.abs(step).sum(axis=0))
    return found
