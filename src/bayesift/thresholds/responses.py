"""The scores a classifier gives, documents x categories, in whatever shape it gives them."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from bayesift.errors import DataError
from bayesift.thresholds.matrices import score_matrix

Array = np.ndarray[Any, Any]
Response = Literal["auto", "predict_proba", "decision_function"]


def response_method(estimator: Any, response: Response, *, probabilities: bool) -> str:
    """The method to ask for scores; "auto" takes probabilities where there are any.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> response_method(LinearSVC(), "auto", probabilities=False)
    'decision_function'
    """
    if response not in get_args(Response):
        raise ValueError(f"response must be one of {', '.join(get_args(Response))}, got {response!r}")
    wanted = [response] if response != "auto" else ["predict_proba", "decision_function"]
    if probabilities:
        wanted = [method for method in wanted if method == "predict_proba"]
    for method in wanted:
        if hasattr(estimator, method):
            return method
    need = "predict_proba, which its rule needs" if probabilities else " or ".join(wanted)
    raise TypeError(f"{type(estimator).__name__} has no {need}")


def category_scores(estimator: Any, X: Any, method: str, *, n_categories: int) -> Array:
    """Scores of a fitted classifier; of two probabilities for one category the second, that of yes, counts.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> spam = DummyClassifier().fit([[0], [0], [0], [0]], [0, 0, 0, 1])
    >>> category_scores(spam, [[0]], "predict_proba", n_categories=1)
    array([[0.25]])
    """
    output = getattr(estimator, method)(X)
    if isinstance(output, list):  # one matrix a category, as trees and neighbours give them
        output = np.column_stack([_yes(p, c) for p, c in zip(output, estimator.classes_, strict=True)])
    scores = score_matrix(output)
    if n_categories == 1 and scores.shape[1] == 2:
        return scores[:, [1]]
    if scores.shape[1] != n_categories:
        raise DataError(
            f"{type(estimator).__name__} gives scores of {scores.shape[1]} categories, there are {n_categories}; "
            "every training part must hold every class"
        )
    return scores


def _yes(probabilities: Array, classes: Array) -> Array:
    """The probability of class 1; 0 when the category was never seen."""
    column: Array = probabilities[:, np.asarray(classes) == 1].sum(axis=1)
    return column


def take_rows(X: Any, rows: Array) -> Any:
    """The rows of a matrix, a table or a list.

    Examples
    --------
    >>> take_rows(["corn", "oil", "gold"], np.array([2, 0]))
    ['gold', 'corn']
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return X[rows]
