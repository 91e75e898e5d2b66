import numpy as np
import pytest
from scipy import sparse

from bayesift.models.base import scores_of


@pytest.mark.parametrize("n_models", [1, 3, 40])
@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
def test_sparse_weights_score_as_the_dense_product_does(n_models, density):
    generator = np.random.default_rng(1)
    X = sparse.csr_array(generator.poisson(0.2, size=(50, 30)) * generator.random((50, 30)))
    X = sparse.csr_array(
        sparse.vstack([X, sparse.csr_array((1, 30))])
    )  # and a document without terms
    weights = generator.normal(size=(n_models, 30)) * (
        generator.random((n_models, 30)) < density
    )
    intercepts = generator.normal(size=n_models)
    expected = X.toarray() @ weights.T + intercepts
    np.testing.assert_allclose(
        scores_of(X, sparse.csr_array(weights), intercepts), expected, rtol=0, atol=1e-12
    )
    assert scores_of(X[:0], sparse.csr_array(weights), intercepts).shape == (0, n_models)
