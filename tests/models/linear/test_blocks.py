import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer

from bayesift.models.linear import (
    BlockScales,
    GaussianPrior,
    LaplacePrior,
    ScaleSearch,
    SparseBayesClassifier,
    log_evidence,
)
from bayesift.models.linear.mixed_matrix import MixedMatrix, dense_columns
from bayesift.models.online import OnlinePerceptron, OnlineStackedClassifier
from bayesift.state import decode, encode


def words_beside_vectors(n=60, seed=0, signal=1.0):
    """Sparse columns without a signal, dense ones with it, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    words = sparse.random_array((n, 30), density=0.1, rng=rng, format="csr")
    vectors = rng.normal(size=(n, 40)) + signal * rng.normal(size=(3, 40))[y]
    return sparse.csr_array(sparse.hstack([words, sparse.csr_array(vectors)])), y


def dense(weights):
    return weights.toarray() if sparse.issparse(weights) else weights


def test_dense_columns_are_found_and_multiplied_as_the_whole_matrix():
    X, _ = words_beside_vectors()
    rows = sparse.csr_array(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape
    )
    assert dense_columns(rows).tolist() == list(range(30, 70))
    assert not len(dense_columns(sparse.csr_array(rows[:, :50])))
    design, rng = MixedMatrix(rows, dense_columns(rows)), np.random.default_rng(1)
    assert design.sparse.nnz == rows[:, :30].nnz
    weights, values = rng.normal(size=(71, 8)), rng.normal(size=(60, 8))
    out, back = np.empty((60, 8)), np.empty((71, 8))
    design.times(weights, out)
    design.transposed_times(values, back)
    np.testing.assert_allclose(out, X.toarray() @ weights[:-1])
    np.testing.assert_allclose(back[:-1], X.toarray().T @ values, atol=1e-12)
    np.testing.assert_allclose(
        design.squares_times(values), (X.toarray() ** 2).T @ values, atol=1e-12
    )


@pytest.mark.parametrize(
    ("multiclass", "solver"), [("softmax", "newton"), ("one-vs-rest", "newton")]
)
def test_the_mode_is_that_of_solvers_that_know_nothing_of_dense_columns(multiclass, solver):
    X, y = words_beside_vectors(n=40)
    settings = {"prior": GaussianPrior(variance=0.3), "multiclass": multiclass, "tol": 1e-8}
    ours = SparseBayesClassifier(solver=solver, **settings).fit(X, y)
    other = SparseBayesClassifier(solver="coordinate", **settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-5)


@pytest.mark.parametrize("multiclass", ["softmax", "one-vs-rest"])
def test_the_block_with_the_signal_is_trusted_more(multiclass):
    X, y = words_beside_vectors(n=120, signal=0.3)
    rule = BlockScales((("words", 30), ("vectors", 40)), folds=3)
    model = SparseBayesClassifier(
        prior="gaussian", prior_scale=rule, multiclass=multiclass, tol=1e-2
    ).fit(X, y)
    words, vectors = np.unique(model.column_scales_[:30]), np.unique(model.column_scales_[30:])
    assert len(words) == len(vectors) == 1
    assert vectors > words


def test_the_evidence_of_the_chosen_scales_is_not_below_that_of_one_scale():
    X, y = words_beside_vectors(n=50)
    y = y > 0
    rule = BlockScales((("words", 30), ("vectors", 40)), by="evidence")
    model = SparseBayesClassifier(prior="gaussian", prior_scale=rule, tol=1e-6).fit(X, y)
    alike = SparseBayesClassifier(prior="gaussian", prior_scale="evidence", tol=1e-6).fit(X, y)
    found = []
    for fitted, factors in ((model, model.column_scales_), (alike, 1.0)):
        variance = (fitted.prior_scale_[0] * factors) ** 2
        problem = SparseBayesClassifier(
            prior=GaussianPrior(variance=variance), tol=1e-6
        ).problem(X, y)
        found.append(log_evidence(problem, 0, fitted.solutions_[0]))
    assert found[0] >= found[1] - 1e-6


def test_one_block_is_a_search_of_one_scale():
    X, y = words_beside_vectors(n=40)
    for prior in (GaussianPrior(), LaplacePrior()):
        blocks = SparseBayesClassifier(
            prior=prior, prior_scale=BlockScales((("all", 70),), folds=3, rounds=0), tol=1e-2
        )
        search = SparseBayesClassifier(
            prior=prior, prior_scale=ScaleSearch(folds=3, shared=True), tol=1e-2
        )
        np.testing.assert_array_equal(
            dense(blocks.fit(X, y).coef_), dense(search.fit(X, y).coef_)
        )


def test_blocks_of_a_column_transformer_and_their_state():
    parts = [("words", FunctionTransformer(), [0, 1]), ("price", FunctionTransformer(), [2])]
    rule = BlockScales.of(ColumnTransformer(parts).fit(np.eye(3)), by="evidence")
    assert rule == BlockScales((("words", 2), ("price", 1)), by="evidence")
    assert decode(encode(rule)) == rule


@pytest.mark.parametrize(
    ("blocks", "message"), [((("a", 1), ("a", 2)), "distinct"), ((("a", 0),), "columns")]
)
def test_what_are_no_blocks(blocks, message):
    with pytest.raises(ValueError, match=message):
        BlockScales(blocks)


def test_blocks_of_another_number_of_columns_are_refused():
    X, y = words_beside_vectors(n=20)
    with pytest.raises(ValueError, match="the blocks have 0 columns, but there are 70"):
        SparseBayesClassifier(prior="gaussian", prior_scale="blocks").fit(X, y)
    with pytest.raises(ValueError, match="the blocks have 5 columns, but there are 70"):
        SparseBayesClassifier(prior="gaussian", prior_scale=BlockScales((("words", 5),))).fit(
            X, y
        )


def test_the_online_perceptron_scales_blocks_by_its_evidence():
    """Where only one block says anything, the other is held near 0.

    Scales equal columns multiplied by them.
    """
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, size=300)
    X = np.hstack([rng.normal(size=(300, 20)), rng.normal(size=(300, 4)) + y[:, np.newaxis]])
    rule = BlockScales((("noise", 20), ("signal", 4)), rounds=2)
    settings = {
        "covariance": "diagonal",
        "prior": "fixed",
        "prior_variance": 0.1,
        "n_epochs": 1,
    }
    model = OnlinePerceptron(prior_scale=rule, **settings).fit(X, y)
    plain = OnlinePerceptron(**settings).fit(X, y)
    assert model.evidence_.sum() > plain.evidence_.sum() + 5
    scales = model._bank.scales[0]
    assert scales[0] < scales[-1]
    by_hand = OnlinePerceptron(**settings).fit(X * scales, y)
    np.testing.assert_allclose(by_hand.predict_proba(X * scales), model.predict_proba(X))
    again = decode(encode(model, arrays := {}), arrays)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_what_the_online_perceptron_refuses():
    X, y = np.eye(4), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="the blocks have 3 columns, but there are 4"):
        OnlinePerceptron(prior_scale=BlockScales((("all", 3),))).fit(X, y)
    with pytest.raises(ValueError, match="prior_scale is chosen by fit"):
        OnlinePerceptron(prior_scale=BlockScales((("all", 4),))).partial_fit(X, y)
    with pytest.raises(ValueError, match="prior_scale must be None or a BlockScales"):
        OnlinePerceptron(prior_scale=3.0).fit(X, y)


@pytest.mark.parametrize("several", [False, True])
def test_factors_for_an_online_stack_lower_its_progressive_loss(several):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, size=400)
    X = np.hstack(
        [np.abs(rng.normal(size=(400, 30))), rng.normal(size=(400, 5)) + y[:, np.newaxis]]
    )
    labels = np.column_stack([y, 1 - y]) if several else y
    factors = BlockScales((("noise", 30), ("signal", 5))).progressive(
        OnlineStackedClassifier(), X, labels
    )

    def loss(rows):
        found = OnlineStackedClassifier().progressive_proba(rows, labels)
        return -np.log(
            np.where(labels == 1, found, 1 - found) if several else found[np.arange(400), y]
        ).sum()

    assert loss(X * factors) < loss(X)
    assert set(factors[:30]) == {1.0}
    assert factors[30] > 1.0
