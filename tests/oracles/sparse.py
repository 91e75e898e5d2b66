"""Small random sparse matrices for tests of kernels."""

import numpy as np
from scipy import sparse

from bayesift.kernels.entries import Entries, entries_of


def random_rows(n_rows, n_columns, *, seed=0, density=0.4):
    """Rows of normal numbers, some of them empty."""
    generator = np.random.default_rng(seed)
    dense = generator.normal(size=(n_rows, n_columns))
    dense[generator.random(dense.shape) > density] = 0.0
    return sparse.csr_array(dense)


def local_entries(X):
    """Rows as online kernels take them: bias 1 in column 0, then the columns of X; int64 indptr."""
    wide = np.hstack([np.ones((X.shape[0], 1)), X.toarray()])
    rows = sparse.csr_array(wide)
    return wide, Entries(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)


__all__ = ["entries_of", "local_entries", "random_rows"]
