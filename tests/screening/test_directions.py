import numpy as np
from scipy import sparse

from bayesift.screening import Pool, relevance
from bayesift.screening.relevance import leading_directions


def gram(Z):
    return Z @ Z.T


def test_directions_are_those_of_a_singular_value_decomposition(monkeypatch):
    rng = np.random.default_rng(0)
    for shape in ((60, 90), (90, 60)):
        X = sparse.csr_array(rng.random(shape) * (rng.random(shape) < 0.2))
        left, values, _ = np.linalg.svd(X.toarray(), full_matrices=False)
        exact = gram(left[:, :7] * values[:7])
        np.testing.assert_allclose(gram(leading_directions(X, 7)), exact, atol=1e-8)
    monkeypatch.setattr(relevance, "_MOST_ROWS", 45)
    part = X[::2]
    _, _, axes = np.linalg.svd(part.toarray(), full_matrices=False)
    np.testing.assert_allclose(gram(leading_directions(X, 7)), gram(X @ axes[:7].T), atol=1e-8)


def test_vectors_are_read_back_for_the_same_texts_only(tmp_path):
    pool = Pool.of_texts(["corn prices in iowa", "gold mines", "corn oil", "wheat and corn"])
    pool.save(tmp_path / "snapshot", "abc")
    again = Pool.load(tmp_path / "snapshot", "abc")
    assert (again.X != pool.X).nnz == 0
    assert again.index.columns == pool.index.columns
    assert again.index.terms_of("corn prices") == pool.index.terms_of("corn prices")
    assert Pool.load(tmp_path / "snapshot", "xyz") is None
    assert Pool.load(tmp_path / "nothing", "abc") is None
