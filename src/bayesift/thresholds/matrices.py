"""Labels and scores as the rules read them: documents x categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from bayesift.errors import DataError

Array = np.ndarray[Any, Any]


def label_matrix(Y: Any) -> Array:
    """Which document belongs to which category; one column may come as a vector.

    Examples
    --------
    >>> label_matrix(sparse.csr_array([[1, 0], [0, 1]])).tolist()
    [[True, False], [False, True]]
    """
    dense = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if dense.ndim not in (1, 2):
        raise DataError(f"labels must be documents x categories, got {dense.ndim} dimensions")
    positive: Array = dense == 1
    if not (positive | (dense == 0)).all():
        raise DataError("labels must be 0 or 1: a column a category, 1 where the document belongs to it")
    return positive[:, None] if positive.ndim == 1 else positive


def score_matrix(scores: Any) -> Array:
    """Finite scores; one column may come as a vector.

    Examples
    --------
    >>> score_matrix([0.2, 0.9]).shape
    (2, 1)
    """
    shaped = np.asarray(scores)
    checked: Array = check_array(
        shaped[:, None] if shaped.ndim == 1 else shaped, dtype=np.float64, input_name="scores", ensure_min_samples=0
    )
    return checked


def probability_matrix(probabilities: Any) -> Array:
    """Scores that lie in [0, 1].

    Examples
    --------
    >>> probability_matrix([[0.2, 1.5]])
    Traceback (most recent call last):
    bayesift.errors.DataError: this rule needs probabilities, but scores reach from 0.2 to 1.5
    """
    checked = score_matrix(probabilities)
    if checked.size and not (checked.min() >= 0 and checked.max() <= 1):
        raise DataError(f"this rule needs probabilities, but scores reach from {checked.min():g} to {checked.max():g}")
    return checked


def sample(Y: Any, scores: Any) -> tuple[Array, Array]:
    """Labels and scores of the same documents and categories.

    Examples
    --------
    >>> positive, scores = sample([1, 0], [0.7, 0.1])
    >>> positive.shape, scores.shape
    ((2, 1), (2, 1))
    """
    positive, checked = label_matrix(Y), score_matrix(scores)
    if positive.shape != checked.shape:
        raise DataError(f"labels are {_shape(positive)}, scores {_shape(checked)} (documents x categories)")
    if not len(checked):
        raise DataError("there are no documents to choose a threshold on")
    return positive, checked


def _shape(matrix: Array) -> str:
    return " x ".join(str(extent) for extent in matrix.shape)
