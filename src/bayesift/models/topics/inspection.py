"""How topics and codes look: coherence, sparsity, charts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.validation import check_terms


def npmi_coherence(X: Any, components: Any, *, k: int = 10) -> Array:
    """Return mean normalised pointwise mutual information of each topic's k largest terms.

        npmi(u, v) = log(p(u, v) / (p(u) p(v))) / -log p(u, v)

    p are shares of documents; -1 for terms that never meet, 0 for independent ones, 1 for terms
    that occur only together (Bouma 2009; Lau, Newman & Baldwin 2014). X is documents x terms,
    `components` topics x terms.

    Examples
    --------
    >>> npmi_coherence([[1, 1, 0], [1, 2, 0], [0, 0, 1]], [[0.5, 0.4, 0.1], [0.0, 0.4, 0.6]],
    ...     k=2).round(6).tolist()
    [1.0, -1.0]
    """
    present = sparse.csc_array(check_terms(None, X) > 0, dtype=np.float64)
    order = np.argsort(-np.asarray(components), axis=1, kind="stable")[:, :k]
    return np.array([_topic_coherence(present[:, terms]) for terms in order])


def _topic_coherence(present: sparse.csc_array) -> float:
    joint = (present.T @ present).toarray() / present.shape[0]
    upper = np.triu_indices(len(joint), 1)
    together = joint[upper]
    apart = np.outer(np.diag(joint), np.diag(joint))[upper]
    values = np.full(len(together), -1.0)
    values[together == 1] = 1.0
    met = (together > 0) & (together < 1)
    values[met] = np.log(together[met] / apart[met]) / -np.log(together[met])
    return float(values.mean()) if len(values) else 0.0


_WIDTH = 190
_NAMES = 84
_ROW = 16
