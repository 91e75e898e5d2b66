"""Category priors."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.models.naive_bayes.counts import CategoryCounts

Array = np.ndarray[Any, Any]


def log_priors(priors: Any, counted: CategoryCounts, multilabel: bool) -> tuple[Array, Array]:
    """Logarithms of P(c), and of the odds P(c) / P(not c), of every category.

    Parameters
    ----------
    priors : "empirical", "uniform" or the probabilities; those of exclusive classes sum to one
    counted : the documents of the categories
    multilabel : whether each category stands on its own

    Examples
    --------
    >>> log_priors("uniform", CategoryCounts.empty(2, 1), multilabel=True)[1].tolist()
    [0.0, 0.0]
    """
    inside, outside = _documents(priors, counted, multilabel)
    with np.errstate(divide="ignore"):
        return np.log(inside) - np.log(inside + outside), np.log(inside) - np.log(outside)


def _documents(priors: Any, counted: CategoryCounts, multilabel: bool) -> tuple[Array, Array]:
    """Weights of the documents inside and outside each category; only their ratio counts."""
    n_categories = len(counted.category_documents)
    if isinstance(priors, str) and priors == "empirical":
        if counted.n_documents == 0:
            raise ValueError("the weights of all documents are zero, so there are no empirical priors")
        inside = counted.category_documents
        return inside, np.maximum(counted.n_documents - inside, 0.0)
    if isinstance(priors, str) and priors == "uniform":
        return np.ones(n_categories), np.full(n_categories, 1.0 if multilabel else n_categories - 1.0)
    if isinstance(priors, str) or priors is None:
        raise ValueError(f"priors must be 'empirical', 'uniform' or probabilities, got {priors!r}")
    given = np.asarray(priors, dtype=np.float64)
    if given.shape != (n_categories,) or not np.all((given >= 0) & (given <= 1)):
        raise ValueError(f"priors must be {n_categories} probabilities, one a category")
    if not multilabel and not np.isclose(given.sum(), 1):
        raise ValueError(f"the priors of exclusive classes must sum to 1, not to {given.sum():g}")
    return given, 1 - given
