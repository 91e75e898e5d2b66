import numpy as np
import pytest
from scipy import sparse

from bayesift.errors import DataError
from bayesift.screening import (
    Part,
    Pool,
    RelevanceModel,
    RelevanceSettings,
    ReviewQueue,
    relevance,
)
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
    monkeypatch.setattr(relevance, "_MAX_DIRECTION_ROWS", 45)
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


TEXTS = [
    "corn prices in iowa",
    "gold mines of peru",
    "corn oil price",
    "wheat and corn",
    "silver mines",
]


def test_parts_are_weighted_by_finds():
    """The likeness of two documents is the sum of those of its parts, each times its weight."""
    dense = np.random.default_rng(0).normal(size=(5, 3))
    pool = Pool.of_texts(
        TEXTS, titles=TEXTS, keywords=["corn", "", "corn", "wheat", ""], dense=dense
    )
    assert [part.name for part in pool.parts] == [
        "words",
        "stems",
        "directions",
        "titles",
        "keywords",
        "dense",
    ]
    model = RelevanceModel(pool.X, RelevanceSettings(), pool.parts)
    ends = np.cumsum([part.n_columns for part in pool.parts])
    for n_found, t in ((0, 0.0), (2, 0.0), (5, 0.25), (19, 0.875), (40, 1.0)):
        model = model.weighed(n_found)
        weights = [1 - 0.4 * t, 0.4 * t, 0.1 * t, 0.3 * t, 0.2 * t, 0.2 * t]
        starts = ends - [part.n_columns for part in pool.parts]
        blocks = [pool.X[:, a:b].toarray() for a, b in zip(starts, ends, strict=True)]
        expected = sum(w * gram(block) for w, block in zip(weights, blocks, strict=True))
        np.testing.assert_allclose(
            gram(model.rows(slice(None)).toarray()), expected, atol=1e-12
        )


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="2 titles for 5 documents"):
        Pool.of_texts(TEXTS, titles=["a", "b"])
    with pytest.raises(DataError, match="dense rows of shape"):
        Pool.of_texts(TEXTS, dense=np.zeros((4, 2)))
    with pytest.raises(DataError, match="not finite"):
        Pool.of_texts(TEXTS, dense=np.full((5, 2), np.nan))
    with pytest.raises(DataError, match="parts of 3 columns"):
        RelevanceModel(sparse.csr_array(np.eye(2)), RelevanceSettings(), [Part("words", 3)])
    with pytest.raises(ValueError, match="negative"):
        Part("words", 3, first=-1.0)
    assert [part.name for part in Pool.of_texts(TEXTS, keywords=[""] * 5).parts] == [
        "words",
        "stems",
        "directions",
    ]


def test_undo_brings_back_the_weights_of_the_parts():
    queue = ReviewQueue.of_texts(
        [f"{text} {n}" for n in range(6) for text in TEXTS], titles=TEXTS * 6
    )
    before = []
    for n, name in enumerate(queue.ids[:25]):
        before.append(queue.scores.copy())
        queue.judge(name, n % 2 == 0)
        queue.refit()
    assert queue.n_found == 13
    for scores in reversed(before):
        queue.undo()
        queue.refit()
        np.testing.assert_array_equal(queue.scores, scores)
