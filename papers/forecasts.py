"""Probabilities from scores, alike for every contender: Platt's line, or one temperature."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

from bayesift.arrays import Array

_STEPS, _STILL, _PRIOR = 30, 1e-9, 1e-2
_SMALLEST = 1e-15


class PlattLines:
    """P(c | d) = 1 / (1 + exp(-(a_c s + b_c))), all categories by Newton's method at once.

    Scores are divided by their root mean square, so that their scale does not matter. A weak
    Gaussian prior around the pooled line keeps the lines of rare categories finite.
    """

    def fit(self, scores: Array, Y: Array) -> PlattLines:
        """Fit the lines on scores out of fold."""
        scale = _scale(scores)
        scaled = scores / scale
        pooled = _newton(scaled.reshape(-1, 1), Y.reshape(-1, 1), np.array([[1.0], [0.0]]))
        slopes, self.intercepts_ = _newton(
            scaled, Y, np.repeat(pooled, scores.shape[1], axis=1)
        )
        self.slopes_ = slopes / scale
        return self

    def probabilities(self, scores: Array) -> Array:
        """Documents x categories."""
        found: Array = expit(self.slopes_ * scores + self.intercepts_)
        return found


class Temperature:
    """P(c | d) = softmax(s / T), for documents of one class each."""

    def fit(self, scores: Array, Y: Array) -> Temperature:
        """Fit the temperature on scores out of fold."""
        scale = _scale(scores)

        def loss(log_factor: float) -> float:
            return -float(
                log_softmax(np.exp(log_factor) / scale * scores, axis=1)[Y > 0].mean()
            )

        self.factor_ = (
            float(np.exp(minimize_scalar(loss, bounds=(-8.0, 8.0), method="bounded").x)) / scale
        )
        return self

    def probabilities(self, scores: Array) -> Array:
        """Documents x classes."""
        found: Array = softmax(self.factor_ * scores, axis=1)
        return found


def losses(Y: Array, probabilities: Array, *, multilabel: bool) -> Array:
    """Log loss of each document: the mean over categories, or that of its class."""
    clipped = np.clip(probabilities, _SMALLEST, 1 - _SMALLEST)
    if not multilabel:
        chosen: Array = -np.log(clipped[Y > 0])
        return chosen
    each: Array = -np.log(np.where(Y > 0, clipped, 1 - clipped)).mean(axis=1)
    return each


def _scale(scores: Array) -> float:
    """Return the root mean square; 1 if all scores are 0."""
    return float(np.sqrt(np.mean(scores**2))) or 1.0


def _newton(scores: Array, Y: Array, start: Array) -> Array:
    """Slopes and intercepts of columns, with a weak prior at the start."""
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
    """Return the step of Newton's method, at most of length one."""
    p = expit(lines[0] * scores + lines[1])
    error, weight = Y - p, p * (1 - p)
    weighted = weight * scores
    slope, level = np.einsum("ij,ij->j", error, scores), error.sum(axis=0)
    slope, level = np.array([slope, level]) - _PRIOR * (lines - start)
    ss, s1, s0 = (
        np.einsum("ij,ij->j", weighted, scores) + _PRIOR,
        weighted.sum(axis=0),
        weight.sum(axis=0) + _PRIOR,
    )
    step = np.array([s0 * slope - s1 * level, ss * level - s1 * slope]) / (ss * s0 - s1**2)
    found: Array = step / np.maximum(1.0, np.abs(step).sum(axis=0))
    return found
