"""Folds of labelled documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.folds import deal_folds
from bayesift.thresholds.matrices import label_matrix

Array = np.ndarray[Any, Any]


def category_folds(Y: Any, *, n_folds: int, random_state: int | None = 0) -> Array:
    """The fold in which each document is held out, -1 for those that always stay in training: see `deal_folds`.

    Examples
    --------
    >>> category_folds([[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]], n_folds=2).tolist()
    [1, 0, -1, 0, 1]
    """
    return deal_folds(label_matrix(Y), n_folds=n_folds, random_state=random_state)
