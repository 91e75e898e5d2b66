"""Scores of documents under sparse models.

Weights are stored by term, in groups of four places, each a category and its weight; places left over point at columns
behind the last category, where what they add (0) does no harm. Nearly all terms that have weights have one group, so
that hardly a branch is left to guess, which is what costs time when lists of all lengths are walked: the entries of a
row whose terms have weights are first packed without a branch, then each adds its groups to the row of scores.

Cost: one step for each entry of X, four multiply-adds for each group of its term, one pass over the scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.kernels.compile import kernel

Array = np.ndarray[Any, Any]

GROUP = 4


@kernel
def sparse_scores(
    indptr: Array,
    indices: Array,
    data: Array,
    slots: Array,
    groups: Array,
    categories: Array,
    weights: Array,
    intercepts: Array,
    row: Array,
    kept_slots: Array,
    kept_values: Array,
    scores: Array,
) -> None:
    """Write the products of the rows of X with the weights, plus the intercepts.

    Parameters
    ----------
    slots : the number of each term among those with weights, from 1; 0 for the others
    groups : the groups of slot s are those from groups[s] to groups[s + 1]
    categories, weights : a row a group
    row : categories + 4 values; `kept_slots`, `kept_values`: as many as the longest row has entries, and one more
    """
    width = len(intercepts)
    for i in range(len(scores)):
        n_kept = 0
        for k in range(indptr[i], indptr[i + 1]):
            slot = slots[np.uint32(indices[k])]
            kept_slots[n_kept] = slot
            kept_values[n_kept] = data[k]
            n_kept += slot > 0
        for c in range(width):
            row[c] = intercepts[c]
        for k in range(n_kept):
            value, slot = kept_values[k], np.uint32(kept_slots[k])
            for g in range(groups[slot], groups[slot + np.uint32(1)]):
                row[np.uint32(categories[g, 0])] += value * weights[g, 0]
                row[np.uint32(categories[g, 1])] += value * weights[g, 1]
                row[np.uint32(categories[g, 2])] += value * weights[g, 2]
                row[np.uint32(categories[g, 3])] += value * weights[g, 3]
        for c in range(width):
            scores[i, c] = row[c]
