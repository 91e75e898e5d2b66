import numpy as np
import pytest
from scipy import sparse

from bayesift.models.online import FlipNoise, OnlinePerceptron, ProbitNoise, select_by_evidence


def documents(seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(120, 5))
    return X, (
        X @ generator.normal(size=(5, 3)) + 0.3 * generator.normal(size=(120, 3)) > 0.4
    ).astype(int)


def test_held_out_evidence_is_that_of_each_pass():
    X, Y = documents()
    candidates = [{"likelihood": ProbitNoise(0.5)}, {"likelihood": FlipNoise(0.1)}]
    table = select_by_evidence(
        OnlinePerceptron(),
        X[:80],
        Y[:80],
        candidates=candidates,
        max_epochs=3,
        held_out=(X[80:], Y[80:]),
    )
    for row, candidate in enumerate(candidates):
        for n_epochs in (1, 2, 3):
            model = OnlinePerceptron(**candidate, n_epochs=n_epochs).fit(X[:80], Y[:80])
            expected = model.log_evidence(X[80:], Y[80:]).mean()
            np.testing.assert_allclose(table.evidence[row, n_epochs - 1], expected, rtol=1e-12)
    row, column = np.unravel_index(np.argmax(table.evidence), (2, 3))
    assert table.best == {**candidates[row], "n_epochs": column + 1}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_cross_validation_judges_every_document_once_by_a_model_that_has_not_seen_it(form):
    X, Y = documents()
    table = select_by_evidence(
        OnlinePerceptron(), form(X), Y, candidates=[{}], max_epochs=1, folds=3
    )
    expected = 0.0
    for k in range(3):
        inside = np.arange(120) % 3 != k
        model = OnlinePerceptron(n_epochs=1).fit(X[inside], Y[inside])
        expected += model.log_evidence(X[~inside], Y[~inside]).mean()
    np.testing.assert_allclose(table.evidence[0, 0], expected, rtol=1e-12)


def test_supports_are_passed_on():
    X, Y = documents()
    feature_mask = np.eye(3, 5, dtype=bool)
    limited = select_by_evidence(
        OnlinePerceptron(), X, Y, candidates=[{}], max_epochs=1, feature_mask=feature_mask
    )
    free = select_by_evidence(OnlinePerceptron(), X, Y, candidates=[{}], max_epochs=1)
    assert limited.evidence[0, 0] < free.evidence[0, 0]
