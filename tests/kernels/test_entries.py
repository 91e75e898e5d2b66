import numpy as np
from scipy import sparse

from bayesift.kernels.compile import kernel
from bayesift.kernels.entries import Entries, entries_of
from tests.oracles.sparse import random_rows


@kernel
def total_of(entries: Entries) -> float:
    return float(entries.data.sum())


def test_entries_are_the_arrays_themselves():
    X = random_rows(3, 4)
    entries = entries_of(X)
    assert entries.indptr is X.indptr
    assert entries.indices is X.indices
    assert entries.data is X.data


def test_kernels_take_entries():
    X = random_rows(3, 4)
    np.testing.assert_allclose(total_of(entries_of(X)), X.toarray().sum())
    assert total_of(entries_of(sparse.csr_array((0, 2)))) == 0.0
