"""Log probabilities of language models that mix discounted counts with a background.

    log p(t | c) = log( scale_c max(n - discount, 0) + share_c b_t ),  n the count of term t in bag c, b the background

The bags are the categories (n = n_ct, mostly 0: those cells cost an addition, not a logarithm) or the rest of the
collection outside each category (n = n_t - n_ct). Counts are compressed rows, categories x terms; `out` is terms x
categories. log 0 is -inf.
"""

from __future__ import annotations

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import inlined, kernel

ROUNDING = 1e-12  # a difference of sums below this share of them is rounding


@inlined
def remainder(total: float, part: float) -> float:
    """The difference of a total and a part; rounding errors count as 0."""
    difference = total - part
    return difference if difference > ROUNDING * total else 0.0


@kernel
def log_mixtures(
    indptr: Array,
    indices: Array,
    counts: Array,
    discount: float,
    scale: Array,
    share: Array,
    background: Array,
    out: Array,
) -> None:
    """Write the log probabilities of the categories."""
    log_share = np.log(share)
    for t in range(len(background)):
        log_background = np.log(background[t])
        for c in range(len(share)):
            out[t, c] = log_background + log_share[c]
    for c in range(len(share)):
        for i in range(indptr[c], indptr[c + 1]):
            t = indices[i]
            out[t, c] = np.log(scale[c] * max(counts[i] - discount, 0.0) + share[c] * background[t])


@kernel
def log_remainder_mixtures(
    indptr: Array,
    indices: Array,
    counts: Array,
    totals: Array,
    discount: float,
    scale: Array,
    share: Array,
    background: Array,
    out: Array,
) -> None:
    """Write the log probabilities of the rest of the collection (`totals`) outside each category."""
    for t in range(len(totals)):
        n = max(totals[t] - discount, 0.0)
        for c in range(len(share)):
            out[t, c] = np.log(scale[c] * n + share[c] * background[t])
    for c in range(len(share)):
        for i in range(indptr[c], indptr[c + 1]):
            t = indices[i]
            n = max(remainder(totals[t], counts[i]) - discount, 0.0)
            out[t, c] = np.log(scale[c] * n + share[c] * background[t])


@kernel
def log_ratios(numerators: Array, denominators: Array) -> None:
    """Write numerators - denominators over the denominators; a term impossible under both counts 0."""
    for t in range(numerators.shape[0]):
        for c in range(numerators.shape[1]):
            if numerators[t, c] == denominators[t, c]:
                denominators[t, c] = 0.0
            else:
                denominators[t, c] = numerators[t, c] - denominators[t, c]
