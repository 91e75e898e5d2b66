"""Folds that spread every category, rare ones first, and keep groups of documents together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bayesift.arrays import Array, FloatArray, IntArray

NEVER_HELD_OUT = -1


def deal_folds(
    positive: Any, *, n_folds: int, random_state: int | None = 0, groups: Array | None = None
) -> IntArray:
    """Return the fold in which each document is held out.

    It is -1 for those that always stay in training.

    Categories are dealt out from the rarest to the most common, each document to the fold that has
    fewest of the category, then fewest documents (the iterative stratification of Sechidis et al.
    2011, without its fractional quotas). Where all documents of a category would be held out
    together, one of them stays in training, so that every category can be learned in every fold.
    Documents of one group are dealt as one.

    Parameters
    ----------
    positive : documents x categories, boolean, dense or sparse
    n_folds : how many folds
    random_state : the seed of the order in which documents are dealt
    groups : the group of each document; None if each document is on its own

    Examples
    --------
    >>> positive = np.array([[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]], dtype=bool)
    >>> deal_folds(positive, n_folds=2).tolist()
    [1, 0, -1, 0, 1]
    >>> deal_folds(positive, n_folds=2, groups=np.array([7, 8, 9, 7, 8])).tolist()
    [1, 0, -1, 1, 0]
    """
    if groups is not None:
        unit_of, sizes = units_of(groups)
        joined = _any_member(positive, unit_of, len(sizes))
        return _deal_units(joined, sizes, n_folds, random_state)[unit_of]
    n_documents = positive.shape[0]
    return _deal_units(positive, np.ones(n_documents, np.int64), n_folds, random_state)


def units_of(groups: Array) -> tuple[IntArray, IntArray]:
    """Return the number of each document's group, from 0, and the sizes of the groups."""
    _, unit_of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return unit_of, sizes


def split_by_groups(
    splitter: Any, n_documents: int, groups: Array | None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the train and test documents of a scikit-learn splitter that splits whole groups."""
    if groups is None:
        yield from splitter.split(np.empty(n_documents))
        return
    unit_of, sizes = units_of(groups)
    for _, test in splitter.split(np.empty(len(sizes))):
        is_test = np.isin(unit_of, test)
        yield np.flatnonzero(~is_test), np.flatnonzero(is_test)


def _any_member(positive: Any, unit_of: IntArray, n_units: int) -> sparse.csr_array:
    """Return which unit has a document of which category, units x categories."""
    n_documents = len(unit_of)
    members = sparse.csr_array(
        (np.ones(n_documents, np.int32), (unit_of, np.arange(n_documents))),
        shape=(n_units, n_documents),
    )
    counts = members @ sparse.csr_array(positive, dtype=np.int32)
    return sparse.csr_array(counts > 0)


def _deal_units(
    positive: Any, sizes: IntArray, n_folds: int, random_state: int | None
) -> IntArray:
    """Deal units, which have so many documents each."""
    n_units = len(sizes)
    if not 2 <= n_folds <= n_units:
        raise ValueError(
            f"n_folds must be at least 2 and at most n_samples = {n_units}, got {n_folds}"
        )
    shuffled = np.random.default_rng(random_state).permutation(n_units)
    rank = np.argsort(shuffled)
    columns = sparse.csc_array(positive)
    columns.sort_indices()
    members = np.split(columns.indices, columns.indptr[1:-1])
    folds = np.full(n_units, NEVER_HELD_OUT)
    held = np.zeros(n_folds, dtype=np.int64)
    for category in np.argsort([len(units) for units in members], kind="stable"):
        _deal(members[category][np.argsort(rank[members[category]])], folds, held, sizes)
    _deal(shuffled, folds, held, sizes)
    for units in members:
        _keep_one_in_training(units, folds)
    return folds


def _deal(members: IntArray, folds: IntArray, held: IntArray, sizes: IntArray) -> None:
    """Deal members without a fold to the folds with fewest members, then fewest documents.

    `held` is the number of documents in each fold so far.
    """
    dealt = folds[members]
    of_members = np.bincount(dealt[dealt != NEVER_HELD_OUT], minlength=len(held))
    for unit in members[dealt == NEVER_HELD_OUT]:
        fold = min(range(len(held)), key=lambda f: (of_members[f], held[f]))
        folds[unit] = fold
        of_members[fold] += 1
        held[fold] += sizes[unit]


def _keep_one_in_training(members: IntArray, folds: IntArray) -> None:
    if (
        len(members)
        and folds[members[0]] != NEVER_HELD_OUT
        and (folds[members] == folds[members[0]]).all()
    ):
        folds[members[0]] = NEVER_HELD_OUT


_LATEST_SHARE = 0.2
_FEWEST_LATEST = 20


def latest_documents(times: FloatArray, groups: Array | None = None) -> IntArray:
    """Return about the latest fifth of the documents; none where they are too few to judge by.

    A document without a time (NaN) is not among them, nor one whose group has earlier documents.

    Examples
    --------
    >>> latest_documents(np.arange(100.0)).tolist() == list(range(80, 100))
    True
    """
    known = times[~np.isnan(times)]
    if not len(known):
        return np.zeros(0, np.int64)
    is_late = times > np.quantile(known, 1 - _LATEST_SHARE, method="lower")
    if groups is not None:
        is_late &= ~np.isin(groups, groups[~is_late])
    latest = np.flatnonzero(is_late)
    return latest if len(latest) >= _FEWEST_LATEST else latest[:0]


def join_groups(one: IntArray | None, other: IntArray) -> IntArray:
    """Join the groups of two groupings that share a document; the first may be None.

    Examples
    --------
    >>> join_groups(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    if one is None:
        return other
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    n_first = int(first.max()) + 1
    n_nodes = n_first + int(second.max()) + 1
    links = sparse.coo_array(
        (np.ones(len(one), np.int8), (first, n_first + second)), shape=(n_nodes, n_nodes)
    )
    _, joined = connected_components(links, directed=False)
    groups: IntArray = joined[first].astype(np.int64)
    return groups
