"""The online stack against plain NumPy; streams cut anywhere, growth, explanations."""

import json

import numpy as np
import pytest
from scipy import sparse

from bayesift.errors import DataError
from bayesift.models.online import OnlineStackedClassifier
from tests.oracles.online_stack import Stack

pytestmark = pytest.mark.filterwarnings("error")


def documents(n=120, n_terms=12, n_categories=4, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.normal(size=(n_terms, n_categories))
    X = generator.poisson(0.5, size=(n, n_terms)).astype(float)
    Y = (X @ truth + generator.normal(size=(n, n_categories)) > 1.0).astype(int)
    Y[:n_categories] |= np.eye(n_categories, dtype=int)
    return X, Y


def labels_of(Y):
    return np.array(["crude", "earn", "grain", "ship"])[np.argmax(Y, axis=1)]


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("n_categories", [2, 4])
def test_log_odds_are_those_of_plain_numpy(idf, n_categories):
    X, Y = documents(n_categories=n_categories)
    oracle = Stack(X.shape[1], n_categories, idf=idf)
    expected = np.array([oracle.learn(x, y) for x, y in zip(X, Y, strict=True)])
    model = OnlineStackedClassifier(idf=idf)
    progressive = model.progressive_proba(X, Y)
    np.testing.assert_allclose(progressive, 1 / (1 + np.exp(-expected)), rtol=1e-7)
    later, _ = documents(seed=1, n=10)
    weighed = [oracle.weigh(x) for x in later]
    expected = np.array([oracle.scores(x)[0] for x in weighed])
    np.testing.assert_allclose(model.predict_log_odds(later), expected, rtol=1e-7)
    experts = [[oracle.experts(x, c) for c in range(n_categories)] for x in weighed]
    np.testing.assert_allclose(
        model.expert_log_odds(later), np.swapaxes(experts, 1, 2), rtol=1e-8
    )


def test_each_mixer_is_that_of_plain_numpy():
    X, Y = documents()
    oracle, model = Stack(X.shape[1], 4), OnlineStackedClassifier().partial_fit(X, Y)
    for x, y in zip(X, Y, strict=True):
        oracle.learn(x, y)
    pairs = {
        "shared": [oracle.shared],
        "by_size": oracle.by_size,
        "competition": [oracle.competition],
    }
    pairs |= {"own": oracle.own, "calibration": oracle.calibration}
    for name, regressions in pairs.items():
        found = getattr(model._state, name)
        np.testing.assert_allclose(
            found[:, :, 0], [each.mean for each in regressions], rtol=1e-6, atol=1e-9
        )
        np.testing.assert_allclose(
            found[:, :, 1:], [each.covariance for each in regressions], rtol=1e-6, atol=1e-9
        )


def test_one_model_of_two_classes_is_that_of_plain_numpy():
    X, Y = documents()
    oracle = Stack(X.shape[1], 1)
    expected = np.array([oracle.learn(x, y[:1]) for x, y in zip(X, Y, strict=True)])
    progressive = OnlineStackedClassifier().progressive_proba(X, np.where(Y[:, 0], "yes", "no"))
    np.testing.assert_allclose(progressive[:, 1], 1 / (1 + np.exp(-expected[:, 0])), rtol=1e-7)


@pytest.mark.parametrize("target", [labels_of, lambda Y: Y])
def test_however_a_stream_is_cut_the_bits_are_the_same(target):
    X, Y = documents()
    y = target(Y)
    whole = OnlineStackedClassifier(idf=True).partial_fit(
        X, y, classes=np.unique(y) if y.ndim == 1 else None
    )
    cut = OnlineStackedClassifier(idf=True)
    for start, end in ((0, 10), (10, 11), (11, 64), (64, 120)):
        cut.partial_fit(
            X[start:end],
            y[start:end],
            classes=np.unique(y) if y.ndim == 1 and start == 0 else None,
        )
        state, arrays = cut.get_state()
        cut = OnlineStackedClassifier.from_state(json.loads(json.dumps(state)), arrays)
    np.testing.assert_array_equal(cut.predict_log_odds(X), whole.predict_log_odds(X))
    np.testing.assert_array_equal(cut.expert_log_odds(X), whole.expert_log_odds(X))


def test_terms_that_come_later_change_nothing_before():
    X, Y = documents()
    X[:60, 8:] = 0
    whole = OnlineStackedClassifier().partial_fit(X, Y)
    grown = OnlineStackedClassifier().partial_fit(sparse.csr_array(X[:60, :8]), Y[:60])
    for row in range(60, 120):
        grown.partial_fit(sparse.csr_array(X[[row]]), Y[[row]])
    np.testing.assert_array_equal(grown.predict_log_odds(X), whole.predict_log_odds(X))
    assert grown.n_seen_ == 120
    np.testing.assert_array_equal(grown.document_frequencies_, np.count_nonzero(X, axis=0))


def test_a_later_category_starts_as_one_that_never_occurred():
    X, Y = documents()
    Y[:80, 3] = 0
    known = OnlineStackedClassifier().partial_fit(X[:80], Y[:80])
    later = (
        OnlineStackedClassifier()
        .partial_fit(X[:80], Y[:80, :3])
        .partial_fit(X[80:81], Y[80:81])
    )
    known.partial_fit(X[80:81], Y[80:81])
    expected, found = known.expert_log_odds(X), later.expert_log_odds(X)
    np.testing.assert_allclose(found[:, :, :3], expected[:, :, :3])
    np.testing.assert_allclose(
        found[:, 3:, 3], expected[:, 3:, 3]
    )  # naive Bayes: the same counts
    assert np.all(found[:, :3, 3] < -1)
    assert later.predict_proba(X).shape == (120, 4)


def test_a_third_class_turns_one_model_into_three():
    X = np.tile(np.eye(3)[:2], (60, 1))
    model = OnlineStackedClassifier().partial_fit(X, np.tile(["ship", "earn"], 60))
    model.partial_fit([[0.0, 0.0, 1.0]], ["grain"])
    assert model.classes_.tolist() == ["earn", "grain", "ship"]
    np.testing.assert_allclose(model.predict_proba(np.eye(3)).sum(axis=1), 1)
    assert model.predict(np.eye(3)).tolist() == ["ship", "earn", "grain"]


def test_mirrored_experts_give_opposite_log_odds():
    X, Y = documents()
    model = OnlineStackedClassifier().partial_fit(X, np.where(Y[:, 0], "yes", "no"))
    experts = model.expert_log_odds(X)
    model._state.mirror()
    mirrored = model.expert_log_odds(X)
    np.testing.assert_allclose(mirrored[:, :, [1]], experts, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mirrored[:, :, [0]], -experts, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("target", [labels_of, lambda Y: Y, lambda Y: Y[:, 0]])
def test_contributions_add_up_to_the_log_odds(target, idf):
    X, Y = documents()
    y = target(Y)
    model = OnlineStackedClassifier(idf=idf).fit(X, y)
    odds = model.predict_log_odds(X)
    for category in model.classes_:
        place, sign = model._place(category)
        terms, rest = model.contributions(X, category)
        np.testing.assert_allclose(terms.sum(axis=1) + rest, sign * odds[:, place], rtol=1e-9)
        experts = model.expert_contributions(X, category)
        assert experts.shape == (len(X), len(model.expert_names_) + 2)
        np.testing.assert_allclose(experts.sum(axis=1), sign * odds[:, place], rtol=1e-9)
        # What terms say and the experts' own intercepts are all that experts say.
        assert np.all(np.sign(terms.toarray()[X == 0]) == 0)


def test_terms_that_tell_a_category_contribute_to_it():
    X = np.tile(np.eye(3), (40, 1))
    model = OnlineStackedClassifier().fit(X, np.tile(["crude", "earn", "grain"], 40))
    terms, _ = model.contributions(np.eye(3), "grain", against="earn")
    assert terms.toarray()[2, 2] > 0 > terms.toarray()[1, 1]
    assert np.all(model.predict_proba(np.eye(3)).argmax(axis=1) == [0, 1, 2])


def test_all_experts_count_and_its_probabilities_beat_each_of_them():
    X, Y = documents(n=1500, n_terms=40, seed=3)
    model = OnlineStackedClassifier(shuffle=False)
    odds = []
    for start in range(0, 1500, 50):
        part = slice(start, start + 50)
        if start:
            odds.append(model.expert_log_odds(X[part]))
        model.partial_fit(X[part], Y[part])
    mixed = OnlineStackedClassifier().progressive_proba(X, Y)[50:]
    loss = -np.log(np.where(Y[50:] == 1, mixed, 1 - mixed)).mean()
    experts = 1 / (1 + np.exp(-np.concatenate(odds)))
    losses = -np.log(np.where(Y[50:, np.newaxis] == 1, experts, 1 - experts)).mean(axis=(0, 2))
    assert np.all(loss < losses)
    assert model.expert_weights_.shape == (5,)


def test_refused():
    X, Y = documents()
    with pytest.raises(ValueError, match="rates and prior_variance must be above 0"):
        OnlineStackedClassifier(rates=(0.0,)).fit(X, Y)
    with pytest.raises(ValueError, match="only one class"):
        OnlineStackedClassifier().fit(X, ["a"] * len(X))
    model = OnlineStackedClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="was an indicator matrix before"):
        model.partial_fit(X, labels_of(Y))
    state, arrays = model.get_state()
    with pytest.raises(DataError, match="do not fit together"):
        OnlineStackedClassifier.from_state(
            state, {**arrays, "_state.frequencies": arrays["_state.frequencies"] * 0}
        )
    with pytest.raises(DataError, match="do not fit the rates"):
        OnlineStackedClassifier.from_state({**state, "rates": [1.0]}, arrays)
