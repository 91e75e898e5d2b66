"""How much each document counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.validation import Targets

Array = np.ndarray[Any, Any]


def importance_of(class_weight: Any, targets: Targets, members: sparse.csr_array | None, weights: Array) -> Array:
    """Weights of documents; one row a model where class weights tell models apart.

    Parameters
    ----------
    class_weight : None; "balanced", where both sides of each model, or all classes of one, count the same; or a
        weight for each class label
    targets : what y said
    members : the documents that each model calls positive; None when one model holds all classes
    weights : of the documents

    Examples
    --------
    >>> from bayesift.validation import check_targets
    >>> targets = check_targets([0, 0, 0, 1])
    >>> importance_of("balanced", targets, targets.members[[1]], np.ones(4)).round(2).tolist()
    [[0.67, 0.67, 0.67, 2.0]]
    """
    if class_weight is None:
        return weights
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight must be None, 'balanced' or a dictionary, got {class_weight!r}")
        if members is None:
            masses = targets.members @ weights
            share = weights.sum() / np.count_nonzero(masses) / np.maximum(masses, 1e-300)
            return np.asarray(weights * (share @ targets.members))
        inside = members.toarray().astype(bool)
        totals = np.maximum(inside @ weights, 1e-300)[:, None]
        others = np.maximum(~inside @ weights, 1e-300)[:, None]
        half = weights.sum() / 2
        balanced: Array = weights * np.where(inside, half / totals, half / others)
        return balanced
    if targets.multilabel:
        raise ValueError("with an indicator matrix class_weight is None or 'balanced'")
    scaled = weights.copy()
    for place, label in enumerate(targets.classes):
        documents = targets.members.indices[targets.members.indptr[place] : targets.members.indptr[place + 1]]
        scaled[documents] *= class_weight.get(label, 1.0)
    return scaled
