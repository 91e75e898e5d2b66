"""Posterior arithmetic that stays finite where it can."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

Array = np.ndarray[Any, Any]


def log_odds_of(joint: Array) -> Array:
    """Log odds of each class against all others, from joint log probabilities; exact also where P(c | d) is near 1.

    Examples
    --------
    >>> log_odds_of(np.log([[0.2, 0.2, 0.4]])).round(3).tolist()
    [[-1.099, -1.099, 0.0]]
    """
    log_posterior: Array = joint - logsumexp(joint, axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_odds = log_posterior - np.log1p(-np.exp(log_posterior))
    # Of the most probable class 1 - P is a difference of near equals: sum up the others instead.
    documents, best = np.arange(len(joint)), np.argmax(joint, axis=1)
    others = joint.copy()
    others[documents, best] = -np.inf
    log_odds[documents, best] = joint[documents, best] - logsumexp(others, axis=1)
    return log_odds


def difference(left: Array, right: Array) -> Array:
    """Subtract right from left, where infinite equals differ by 0.

    Examples
    --------
    >>> difference(np.array([-1.0, -np.inf]), np.array([-3.0, -np.inf])).tolist()
    [2.0, 0.0]
    """
    return np.subtract(left, right, out=np.zeros_like(left), where=left != right)


def prior_where_impossible(log_odds: Array, prior: Array) -> Array:
    """Log odds with the prior's where a document is impossible in the category and outside it (inf - inf).

    Examples
    --------
    >>> prior_where_impossible(np.array([[np.nan, 1.0]]), np.array([-2.0, 0.5])).tolist()
    [[-2.0, 1.0]]
    """
    return np.where(np.isnan(log_odds), prior, log_odds)
