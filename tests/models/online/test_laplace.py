"""Sparse logistic regression online against NumPy and the batch mode; streams cut anywhere."""

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from bayesift.errors import DataError
from bayesift.models.linear import LaplacePrior, SparseBayesClassifier
from bayesift.models.online import OnlineLaplaceClassifier
from bayesift.models.online.laplace import LaplaceState
from tests.models.online.test_stack import documents, labels_of


def recursion(X, y, strength, rate, pass_size=0):
    z, n = np.zeros(1 + X.shape[1]), np.zeros(1 + X.shape[1])
    held = np.r_[0.0, np.full(X.shape[1], strength)]
    scores = []
    for t, (x, label) in enumerate(zip(np.c_[np.ones(len(X)), X], y, strict=True)):
        k = max(1, t / pass_size) if pass_size else 1
        w = np.where(
            np.abs(z) > k * held, -(z - np.sign(z) * k * held) * rate / (1 + np.sqrt(n)), 0
        )
        scores.append(w @ x)
        g = (expit(w @ x) - label) * x
        z += g - w * (np.sqrt(n + k * g**2) - np.sqrt(n)) / rate
        n += k * g**2
    return np.array(scores)


def test_log_odds_are_those_of_plain_numpy():
    X, Y = documents()
    found = OnlineLaplaceClassifier(gamma=0.25, rate=2.0).progressive_proba(X, Y)
    expected = np.column_stack([recursion(X, y, 0.5, 2.0) for y in Y.T])
    np.testing.assert_allclose(found, expit(expected), rtol=1e-10)
    model = OnlineLaplaceClassifier(gamma=0.25, rate=2.0).partial_fit(X[:70], Y[:70]).new_pass()
    model.partial_fit(X[70:90], Y[70:90])
    expected = np.column_stack([recursion(X, y, 0.5, 2.0, 70)[90:] for y in Y.T])
    np.testing.assert_allclose(
        model.progressive_proba(X[90:], Y[90:]), expit(expected), rtol=1e-10
    )


def test_many_passes_come_close_to_the_batch_mode():
    X, Y = documents(n=400)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    batch = SparseBayesClassifier(prior=LaplacePrior(gamma=4.0)).fit(X, Y)
    gaps = []
    for n_epochs in (1, 10, 100):
        model = OnlineLaplaceClassifier(gamma=4.0, n_epochs=n_epochs).fit(X, Y)
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
    cut = OnlineLaplaceClassifier.from_state(json.loads(json.dumps(state)), arrays).partial_fit(
        X[60:], y[60:]
    )
    np.testing.assert_array_equal(cut.predict_log_odds(X), whole.predict_log_odds(X))
    terms, rest = whole.contributions(X, whole.classes_[-1])
    np.testing.assert_allclose(
        terms.sum(axis=1) + rest, whole.predict_log_odds(X)[:, -1], rtol=1e-9, atol=1e-12
    )


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


def mode_gap(model, batch, X, Y):
    """How far the objective of a model is above that of the batch mode, as a share of it."""

    def objective(each):
        margins = (2 * Y - 1) * (
            X @ np.asarray(sparse.csr_array(each.coef_).toarray()).T + each.intercept_
        )
        return (
            np.logaddexp(0, -margins).sum() + 2.0 * np.abs(sparse.csr_array(each.coef_)).sum()
        )

    return objective(model) / objective(batch) - 1


def test_partial_fit_of_the_batch_classifier_comes_to_its_mode():
    X, Y = documents(n=400)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    batch = SparseBayesClassifier(prior=LaplacePrior(gamma=4.0), tol=1e-8).fit(X, Y)
    model, gaps = SparseBayesClassifier(prior=LaplacePrior(gamma=4.0)), {}
    for number in range(1, 101):
        model.partial_fit(X, Y, new_pass=number > 1)
        if number in (3, 30, 100):
            gaps[number] = mode_gap(model, batch, X, Y)
    assert gaps[3] < 0.1
    assert gaps[30] < 0.015
    assert 0 <= gaps[100] < 0.003
    np.testing.assert_allclose(model.predict_proba(X), batch.predict_proba(X), atol=0.05)


@pytest.mark.parametrize("target", [labels_of, lambda Y: Y, lambda Y: Y[:, 0]])
def test_partial_fit_of_the_batch_classifier_is_the_stream_stored_and_cut(target):
    X, Y = documents()
    y = target(Y)
    stream = OnlineLaplaceClassifier(gamma=1.0).partial_fit(X, y)
    model = SparseBayesClassifier(prior=LaplacePrior(gamma=0.25), prior_scale=0.5)
    for part in (slice(0, 50), slice(50, 51), slice(51, 120)):
        model.partial_fit(X[part], y[part], classes=np.unique(y) if y.ndim == 1 else None)
        state, arrays = model.get_state()
        model = SparseBayesClassifier.from_state(json.loads(json.dumps(state)), arrays)
    np.testing.assert_allclose(model.predict_proba(X), stream.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(
        sparse.csr_array(model.coef_).toarray(), stream.coef_.toarray()
    )
    refitted = model.fit(X, y)
    assert not hasattr(refitted, "stream_")
    np.testing.assert_array_equal(
        refitted.intercept_,
        SparseBayesClassifier(prior=LaplacePrior(gamma=0.25), prior_scale=0.5)
        .fit(X, y)
        .intercept_,
    )


def test_partial_fit_after_fit_starts_at_the_mode():
    X, Y = documents()
    model = SparseBayesClassifier().fit(X, Y)
    mode, right = model.predict_log_proba(X), (model.predict_proba(X[:1]) > 0.5).astype(int)
    model.partial_fit(X[:1], right)
    stream = SparseBayesClassifier().fit(X, Y)
    state = LaplaceState.at_weights(stream.coef_, stream.intercept_, 1.0, 8.0)
    started = OnlineLaplaceClassifier(gamma=1.0).partial_fit(X[:1], right)
    started._state = state
    np.testing.assert_allclose(started.predict_log_proba(X), mode, atol=1e-12)
    assert np.all(model.predict_log_proba(X[:1])[right == 1] >= mode[:1][right == 1])


def test_what_partial_fit_of_the_batch_classifier_refuses():
    X, Y = documents()
    refused = {
        "prior": "gaussian",
        "prior_scale": "norm",
        "link": "probit",
        "posterior": "normal",
        "intercept": None,
    }
    for name, value in refused.items():
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as error:
            _ = SparseBayesClassifier(**{name: value}).partial_fit
        assert str(error.value.__cause__).startswith("partial_fit needs ")
    with pytest.raises(ValueError, match="only one class"):
        SparseBayesClassifier().partial_fit(X[:5], ["grain"] * 5)
    state, arrays = SparseBayesClassifier().partial_fit(X, Y).get_state()
    with pytest.raises(DataError, match="not those of its stream"):
        SparseBayesClassifier.from_state(
            state, {**arrays, "intercept_": arrays["intercept_"] + 1}
        )
