"""Sparse logistic regression online: against plain NumPy, against the batch mode, streams cut anywhere."""

import json

import numpy as np
import pytest
from scipy.special import expit

from bayesift.models import LaplacePrior, OnlineLaplaceClassifier, SparseBayesClassifier
from tests.models.online.test_stack import documents, labels_of


def recursion(X, y, strength, rate):
    z, n = np.zeros(1 + X.shape[1]), np.zeros(1 + X.shape[1])
    held = np.r_[0.0, np.full(X.shape[1], strength)]
    scores = []
    for x, label in zip(np.c_[np.ones(len(X)), X], y, strict=True):
        w = np.where(np.abs(z) > held, -(z - np.sign(z) * held) * rate / (1 + np.sqrt(n)), 0)
        scores.append(w @ x)
        g = (expit(w @ x) - label) * x
        z += g - w * (np.sqrt(n + g**2) - np.sqrt(n)) / rate
        n += g**2
    return np.array(scores)


def test_log_odds_are_those_of_plain_numpy():
    X, Y = documents()
    found = OnlineLaplaceClassifier(gamma=0.25, rate=2.0).progressive_proba(X, Y)
    expected = np.column_stack([recursion(X, y, 0.5, 2.0) for y in Y.T])
    np.testing.assert_allclose(found, expit(expected), rtol=1e-10)


def test_many_passes_come_close_to_the_batch_mode():
    X, Y = documents(n=400)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    batch = SparseBayesClassifier(prior=LaplacePrior(gamma=4.0)).fit(X, Y)
    gaps = []
    for n_epochs in (1, 10, 100):
        model = OnlineLaplaceClassifier(gamma=4.0, rate=1.0, n_epochs=n_epochs).fit(X, Y)
        gaps.append(np.abs(model.predict_proba(X) - batch.predict_proba(X)).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.05
    assert model.coef_.nnz < model.coef_.shape[0] * model.coef_.shape[1]


@pytest.mark.parametrize("target", [labels_of, lambda Y: Y, lambda Y: Y[:, 0]])
def test_streams_cut_stored_and_grown_are_the_same(target):
    X, Y = documents()
    y = target(Y)
    classes = np.unique(y) if y.ndim == 1 else None
    X[:60, 9:] = 0
    whole = OnlineLaplaceClassifier().partial_fit(X, y, classes=classes)
    cut = OnlineLaplaceClassifier().partial_fit(X[:60, :9], y[:60], classes=classes)
    state, arrays = cut.get_state()
    cut = OnlineLaplaceClassifier.from_state(json.loads(json.dumps(state)), arrays).partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(cut.predict_log_odds(X), whole.predict_log_odds(X))
    terms, rest = whole.contributions(X, whole.classes_[-1])
    np.testing.assert_allclose(terms.sum(axis=1) + rest, whole.predict_log_odds(X)[:, -1], rtol=1e-9, atol=1e-12)


def test_classes_that_come_one_after_another():
    model = OnlineLaplaceClassifier().partial_fit([[1.0, 0, 0]] * 5, ["grain"] * 5)
    model.partial_fit([[0, 1.0, 0], [1.0, 0, 0]] * 10, ["ship", "grain"] * 10)
    model.partial_fit([[0, 0, 1.0]] * 5, ["crude"] * 5)
    assert model.predict(np.eye(3)).tolist() == ["grain", "ship", "crude"]


def test_a_new_pass_makes_the_prior_count_again():
    X, Y = documents()
    passes = OnlineLaplaceClassifier(n_epochs=2, shuffle=False).fit(X, Y)
    stream = OnlineLaplaceClassifier().partial_fit(X, Y).new_pass().partial_fit(X, Y)
    np.testing.assert_array_equal(passes.predict_log_odds(X), stream.predict_log_odds(X))
    with pytest.raises(ValueError, match="gamma and rate must be above 0"):
        OnlineLaplaceClassifier(gamma=0).fit(X, Y)
