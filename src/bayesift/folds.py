"""Folds that spread every category, rare ones first."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import IntArray

NEVER_HELD_OUT = -1


def deal_folds(positive: Any, *, n_folds: int, random_state: int | None = 0) -> IntArray:
    """Return the fold in which each document is held out.

    It is -1 for those that always stay in training.

    Categories are dealt out from the rarest to the most common, each document to the fold that has
    fewest of the category, then fewest documents (the iterative stratification of Sechidis et al.
    2011, without its fractional quotas). Where all documents of a category would be held out
    together, one of them stays in training, so that every category can be learned in every fold.

    Parameters
    ----------
    positive : documents x categories, boolean, dense or sparse
    n_folds : how many folds
    random_state : the seed of the order in which documents are dealt

    Examples
    --------
    >>> positive = np.array([[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]], dtype=bool)
    >>> deal_folds(positive, n_folds=2).tolist()
    [1, 0, -1, 0, 1]
    """
    n_documents = positive.shape[0]
    if not 2 <= n_folds <= n_documents:
        raise ValueError(
            f"n_folds must be at least 2 and at most n_samples = {n_documents}, got {n_folds}"
        )
    shuffled = np.random.default_rng(random_state).permutation(n_documents)
    rank = np.argsort(shuffled)
    columns = sparse.csc_array(positive)
    columns.sort_indices()
    members = np.split(columns.indices, columns.indptr[1:-1])
    folds = np.full(n_documents, NEVER_HELD_OUT)
    sizes = np.zeros(n_folds, dtype=np.int64)
    for category in np.argsort([len(documents) for documents in members], kind="stable"):
        _deal(members[category][np.argsort(rank[members[category]])], folds, sizes)
    _deal(shuffled, folds, sizes)
    for documents in members:
        _keep_one_in_training(documents, folds)
    return folds


def _deal(members: IntArray, folds: IntArray, sizes: IntArray) -> None:
    """Deal members without a fold to the folds with fewest members, then fewest documents."""
    dealt = folds[members]
    held = np.bincount(dealt[dealt != NEVER_HELD_OUT], minlength=len(sizes))
    for document in members[dealt == NEVER_HELD_OUT]:
        fold = min(range(len(sizes)), key=lambda f: (held[f], sizes[f]))
        folds[document] = fold
        held[fold] += 1
        sizes[fold] += 1


def _keep_one_in_training(members: IntArray, folds: IntArray) -> None:
    if (
        len(members)
        and folds[members[0]] != NEVER_HELD_OUT
        and (folds[members] == folds[members[0]]).all()
    ):
        folds[members[0]] = NEVER_HELD_OUT
