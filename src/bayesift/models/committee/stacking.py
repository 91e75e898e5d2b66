"""How much each member of a committee is listened to: what foretells documents best that it has not seen.

With s_m(d, c) the log odds of member m for a document that was held out, the shares a_m and the offset b maximise

    sum log P(labels of d | z),   z(d, c) = sum_m a_m s_m(d, c) + b

with P the logistic function of each category's z, or of class labels the softmax over categories (no offset there:
it would cancel), under the normal priors a_m ~ N(1/M, 1) and b ~ N(0, 1): without documents to go by, the mean of the
members' log odds. Shares are at least 0 unless they may be signed: a member below 0 is one whose errors others share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp, softmax

Array = np.ndarray[Any, Any]


def shares_of(
    scores: Array,
    members: Array,
    importance: Array,
    *,
    exclusive: bool,
    signed: bool = False,
    expected: Sequence[float] | None = None,
) -> tuple[Array, float]:
    """The shares of the members and the offset.

    Parameters
    ----------
    scores : members of the committee x documents x categories, each from a model that did not see the document
    members : documents x categories, 1 where a document belongs
    importance : of the documents
    exclusive : whether each document has exactly one category
    signed : whether shares may be negative
    expected : the means of the shares under the prior; None for 1/M each

    Examples
    --------
    >>> labels, noise = np.array([[1], [0]] * 50), np.random.default_rng(0).normal(size=(100, 1))
    >>> shares, _ = shares_of(np.stack([2.0 * labels - 1.0, noise]), labels, np.ones(100), exclusive=False)
    >>> bool(shares[0] > 2.0 > 0.5 > shares[1])
    True
    """
    start = np.full(len(scores), 1.0 / len(scores)) if expected is None else np.array(expected)
    loss = _softmax_loss if exclusive else _logistic_loss

    def objective(point: Array) -> tuple[float, Array]:
        shares, offset = point[:-1], point[-1]
        value, pulls = loss(np.tensordot(shares, scores, 1) + offset, members, importance)
        gradient = np.append(np.tensordot(scores, pulls, 2) + shares - start, pulls.sum() + offset)
        return value + 0.5 * float(np.sum((shares - start) ** 2) + offset**2), gradient

    bounds = [(None if signed else 0.0, None)] * len(scores) + [(0.0, 0.0) if exclusive else (None, None)]
    found = minimize(objective, np.append(start, 0.0), jac=True, bounds=bounds, method="L-BFGS-B")
    return found.x[:-1], float(found.x[-1])


def _logistic_loss(z: Array, members: Array, importance: Array) -> tuple[float, Array]:
    margins = np.where(members, z, -z)
    losses, wrong = -log_expit(margins), expit(-margins)
    return float(importance @ losses.sum(axis=1)), np.where(members, -wrong, wrong) * importance[:, np.newaxis]


def _softmax_loss(z: Array, members: Array, importance: Array) -> tuple[float, Array]:
    losses = logsumexp(z, axis=1) - np.sum(z * members, axis=1)
    return float(importance @ losses), (softmax(z, axis=1) - members) * importance[:, np.newaxis]
