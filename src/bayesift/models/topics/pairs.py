"""Pairs of documents that share a category, and pairs that do not, drawn so that n^2 pairs are never listed.

Same: a document uniformly among those that have a partner; one of its categories with a partner uniformly; another
document of that category uniformly. Every document counts the same, whatever the size of its categories.

Different: uniformly from all pairs of documents that share no category (pairs that do are drawn again).

Documents without a category take no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

Array = np.ndarray[Any, Any]

_MOST_DRAWS = 1000  # times the number of pairs, before giving up


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of documents by their rows.

    Parameters
    ----------
    left, right : the documents
    same : whether they share a category; as many do as do not
    same_share : the share of pairs with a common category among pairs drawn uniformly
    """

    left: Array
    right: Array
    same: Array
    same_share: float


def draw_pairs(members: sparse.csr_array, n_pairs: int, random: np.random.RandomState) -> Pairs:
    """Half of the pairs from the same category, half from different ones.

    Parameters
    ----------
    members : categories x documents
    n_pairs : how many in all
    random : draws them

    Examples
    --------
    >>> members = sparse.csr_array([[1, 1, 0, 0], [0, 0, 1, 1]])
    >>> pairs = draw_pairs(members, 4, np.random.RandomState(0))
    >>> bool(np.all((pairs.left // 2 == pairs.right // 2) == pairs.same))
    True
    """
    half = max(1, n_pairs // 2)
    same = _draw_same(members, half, random)
    different, same_share = _draw_different(members, half, random)
    left, right = np.concatenate([same, different], axis=1)
    return Pairs(left, right, np.repeat([True, False], half), same_share)


def _draw_same(members: sparse.csr_array, n_pairs: int, random: np.random.RandomState) -> Array:
    sizes = np.diff(members.indptr)
    usable = members[np.flatnonzero(sizes > 1)]
    by_document = sparse.csr_array(usable.T)
    degrees = np.diff(by_document.indptr)
    candidates = np.flatnonzero(degrees)
    if not len(candidates):
        raise ValueError("no category has two documents; there is nothing to learn similarity from")
    documents = random.choice(candidates, n_pairs)
    categories = by_document.indices[by_document.indptr[documents] + _below(degrees[documents], random)]
    starts, last = usable.indptr[categories], usable.indptr[categories + 1] - 1
    partners = usable.indices[starts + _below(last - starts, random)]
    # The place of the document itself stands for the last one, which was not drawn from.
    return np.stack([documents, np.where(partners == documents, usable.indices[last], partners)])


def _draw_different(members: sparse.csr_array, n_pairs: int, random: np.random.RandomState) -> tuple[Array, float]:
    by_document = sparse.csr_array(members.T)
    candidates = np.flatnonzero(np.diff(by_document.indptr))
    found, n_found, n_drawn = [], 0, 0
    while n_found < n_pairs:
        if n_drawn > _MOST_DRAWS * n_pairs:
            raise ValueError("hardly any two documents differ in category; there is nothing to learn similarity from")
        pairs = random.choice(candidates, (2, n_pairs))
        pairs = pairs[:, pairs[0] != pairs[1]]
        shared = by_document[pairs[0]].multiply(by_document[pairs[1]]).sum(axis=1) > 0
        found.append(pairs[:, ~shared])
        n_found += found[-1].shape[1]
        n_drawn += max(pairs.shape[1], 1)
    return np.concatenate(found, axis=1)[:, :n_pairs], 1 - n_found / n_drawn


def _below(limits: Array, random: np.random.RandomState) -> Array:
    """A whole number from 0 to below each limit, uniformly."""
    drawn: Array = np.minimum((random.uniform(size=len(limits)) * limits).astype(np.int64), limits - 1)
    return drawn
