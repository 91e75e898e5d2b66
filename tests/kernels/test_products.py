import numpy as np
import pytest
from scipy import sparse

from bayesift.kernels import products


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("small", [0, 1 << 20])
def test_products_of_any_size_are_those_of_dense_matrices(width, small, monkeypatch):
    monkeypatch.setattr(products, "_SMALL_WORK", small)
    draw = np.random.default_rng(0)
    X = sparse.random_array((40, 25), density=0.2, format="csr", rng=draw)
    terms, documents = draw.normal(size=(25, width)), draw.normal(size=(40, width))
    out, back = np.empty((40, width)), np.empty((25, width))
    products.times(X.indptr, X.indices, X.data, terms, out)
    products.transposed_times(X.indptr, X.indices, X.data, documents, back)
    np.testing.assert_allclose(out, X.toarray() @ terms, atol=1e-14)
    np.testing.assert_allclose(back, X.toarray().T @ documents, atol=1e-14)
