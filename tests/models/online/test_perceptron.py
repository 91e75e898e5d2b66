import json

import numpy as np
import pytest
from scipy import integrate, sparse
from scipy.special import ndtr
from sklearn.base import clone

from bayesift.classifier import TextClassifier
from bayesift.errors import DataError
from bayesift.models.online import FlipNoise, LogitNoise, OnlinePerceptron, ProbitNoise
from bayesift.models.online.posteriors import WAITING
from tests.oracles.online import diagonal_recursion, flip_moments, full_recursion

COVARIANCES = ["full", "diagonal", "low-rank"]
covariances = pytest.mark.parametrize("covariance", COVARIANCES)


def stream(n_documents=150, n_terms=9, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_documents, n_terms)) * (
        generator.random((n_documents, n_terms)) < 0.5
    )
    y = (X[:, 0] + 0.5 * X[:, 1] - 0.3 + 0.3 * generator.normal(size=n_documents) > 0).astype(
        int
    )
    return X, y


def with_bias(X, bias=1.0):
    return np.column_stack([np.full(len(X), bias), X])


def indicator(X, seed=1):
    generator = np.random.default_rng(seed)
    return (X @ generator.normal(size=(X.shape[1], 3)) > 0.5).astype(int)


def assert_identical(left, right):
    """Bit for bit, the whole state."""
    ours, theirs = left.get_state()[1], right.get_state()[1]
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@pytest.mark.parametrize("label", [0, 1])
def test_one_update_has_the_moments_of_the_exact_posterior(label):
    before = OnlinePerceptron(n_epochs=1, prior_variance=1.3).fit([[0.7], [-0.4]], [1, 0])
    mean, covariance = (
        before.weight_posteriors_[0].mean(),
        before.weight_posteriors_[0].covariance(),
    )
    x, precision = np.array([1.0, -0.8]), np.linalg.inv(covariance)

    def moment(power):
        def density(second, first):
            a = np.array([first, second])
            weight = np.exp(-0.5 * (a - mean) @ precision @ (a - mean)) * ndtr(
                (2 * label - 1) * (a @ x) / 0.5
            )
            return weight * first ** power[0] * second ** power[1]

        reach = [
            (m - 9 * s, m + 9 * s)
            for m, s in zip(mean, np.sqrt(np.diagonal(covariance)), strict=True)
        ]
        return integrate.dblquad(density, *reach[0], *reach[1], epsabs=1e-11, epsrel=1e-10)[0]

    after = before.partial_fit([[-0.8]], [label]).weight_posteriors_[0]
    total = moment((0, 0))
    first = np.array([moment((1, 0)), moment((0, 1))]) / total
    cross = moment((1, 1)) / total
    second = np.array([[moment((2, 0)) / total, cross], [cross, moment((0, 2)) / total]])
    np.testing.assert_allclose(after.mean(), first, rtol=1e-7)
    np.testing.assert_allclose(after.covariance(), second - np.outer(first, first), rtol=1e-6)


@pytest.mark.parametrize("bias", [1.0, 0.3])
@pytest.mark.parametrize(
    ("noise", "moments"), [(ProbitNoise(0.5), None), (FlipNoise(0.1), flip_moments)]
)
def test_full_covariance_is_the_papers_recursion(noise, moments, bias):
    X, y = stream()
    model = OnlinePerceptron(
        likelihood=noise, n_epochs=2, bias=bias, prior_variance=2.0, shuffle=False
    ).fit(X, y)
    chosen = {} if moments is None else {"moments": moments}
    twice = np.concatenate([X, X])
    mean, covariance, evidence = full_recursion(
        with_bias(twice, bias), 2 * np.concatenate([y, y]) - 1, prior=2.0, **chosen
    )
    posterior = model.weight_posteriors_[0]
    np.testing.assert_allclose(posterior.mean(), mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(posterior.covariance(), covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.evidence_, evidence.sum(), rtol=1e-10)
    assert model.n_seen_ == 300
    np.testing.assert_allclose(model.coef_[0], mean[1:], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, bias * mean[0], rtol=1e-9, atol=1e-11)


def test_diagonal_covariance_is_its_recursion():
    X, y = stream()
    posterior = (
        OnlinePerceptron(covariance="diagonal", n_epochs=1, shuffle=False)
        .fit(X, y)
        .weight_posteriors_[0]
    )
    mean, variances = diagonal_recursion(with_bias(X), 2 * y - 1)
    np.testing.assert_allclose(posterior.mean(), mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(posterior.covariance()), variances, rtol=1e-10)


@pytest.mark.parametrize("noise", [ProbitNoise(0.5), LogitNoise()], ids=str)
def test_low_rank_is_full_at_full_rank(noise):
    X, y = stream(n_documents=300)
    full = OnlinePerceptron(likelihood=noise, n_epochs=1).fit(X, y)
    low = OnlinePerceptron(likelihood=noise, covariance="low-rank", rank=10, n_epochs=1).fit(
        X, y
    )
    np.testing.assert_allclose(
        low.weight_posteriors_[0].mean(),
        full.weight_posteriors_[0].mean(),
        rtol=1e-9,
        atol=1e-11,
    )
    np.testing.assert_allclose(
        low.weight_posteriors_[0].covariance(),
        full.weight_posteriors_[0].covariance(),
        rtol=1e-9,
        atol=1e-12,
    )
    np.testing.assert_allclose(low.evidence_, full.evidence_, rtol=1e-11)
    np.testing.assert_allclose(low.predict_proba(X), full.predict_proba(X), rtol=1e-8)


def test_compression_keeps_the_mean_and_gives_the_rest_to_the_diagonal():
    X, y = stream(n_documents=WAITING, n_terms=30)
    before = OnlinePerceptron(covariance="low-rank", rank=3, prior_variance=2.0).partial_fit(
        X[:-1], y[:-1]
    )
    mean, covariance, _ = full_recursion(with_bias(X), 2 * y - 1, prior=2.0)
    assert before.weight_posteriors_[0]._rows.indptr.shape == (WAITING,)
    after = before.partial_fit(X[-1:], y[-1:]).weight_posteriors_[0]
    assert after._rows.indptr.shape == (1,)
    np.testing.assert_allclose(after.mean(), mean, rtol=1e-9, atol=1e-11)
    values, vectors = np.linalg.eigh(2.0 * np.linalg.inv(covariance) - np.eye(31))
    values, vectors = values[::-1], vectors[:, ::-1]
    variances = 2.0 * (1 - (vectors[:, 3:] ** 2) @ (values[3:] / (1 + values[3:])))
    precision = np.diag(1 / variances) + (vectors[:, :3] * values[:3] / 2.0) @ vectors[:, :3].T
    np.testing.assert_allclose(
        after.covariance(), np.linalg.inv(precision), rtol=1e-7, atol=1e-10
    )


def test_rank_is_worth_its_cost_where_terms_go_together():
    generator = np.random.default_rng(5)
    topics = generator.normal(size=(3, 30))
    X = generator.normal(size=(400, 3)) @ topics / 5 + 0.02 * generator.normal(size=(400, 30))
    y = (X @ generator.normal(size=30) > 0).astype(int)
    full = OnlinePerceptron(n_epochs=1).fit(X, y).predict_fields(X)[1]
    errors = []
    for settings in ({"covariance": "diagonal"}, {"covariance": "low-rank", "rank": 4}):
        variances = OnlinePerceptron(n_epochs=1, **settings).fit(X, y).predict_fields(X)[1]
        errors.append(np.abs(np.log(variances / full)).mean())
    assert errors[1] < 0.2 * errors[0]


@covariances
def test_fields_are_those_of_mean_and_covariance(covariance):
    X, y = stream()
    model = OnlinePerceptron(covariance=covariance, rank=2, n_epochs=1).fit(X, y)
    posterior, more = model.weight_posteriors_[0], with_bias(X)
    means, variances = model.predict_fields(X)
    np.testing.assert_allclose(means[:, 0], more @ posterior.mean(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        variances[:, 0], np.sum(more @ posterior.covariance() * more, axis=1), rtol=1e-9
    )
    expected = ndtr(means[:, 0] / np.sqrt(0.25 + variances[:, 0]))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-9)


@covariances
@pytest.mark.parametrize("half_life", [None, 40.0])
@pytest.mark.parametrize("cuts", [[1, 2, 3, 70, 71, 140], list(range(1, 150))])
def test_a_stream_may_be_cut_anywhere(covariance, half_life, cuts):
    X, _ = stream()
    Y = indicator(X)
    settings = {"covariance": covariance, "rank": 2, "half_life": half_life}
    whole = OnlinePerceptron(**settings).partial_fit(X, Y)
    parts = OnlinePerceptron(**settings)
    for rows, labels in zip(np.split(X, cuts), np.split(Y, cuts), strict=True):
        parts.partial_fit(rows, labels)
    for name, array in whole.get_state()[1].items():
        if name != "_bank.evidence":
            np.testing.assert_array_equal(parts.get_state()[1][name], array, err_msg=name)
    np.testing.assert_allclose(parts.evidence_, whole.evidence_, rtol=1e-12)


@covariances
def test_passes_are_repeated_streams(covariance):
    X, _ = stream()
    Y = indicator(X)
    fitted = OnlinePerceptron(covariance=covariance, n_epochs=3, rank=2, shuffle=False).fit(
        X, Y
    )
    streamed = OnlinePerceptron(covariance=covariance, rank=2)
    for _ in range(3):
        streamed.partial_fit(X, Y)
    assert_identical(fitted, streamed)


@covariances
def test_fit_takes_the_documents_in_one_random_order(covariance):
    X, y = stream()
    order = np.random.default_rng(7).permutation(len(X))
    shuffled = OnlinePerceptron(covariance=covariance, rank=2, random_state=7).fit(X, y)
    ordered = OnlinePerceptron(covariance=covariance, rank=2, shuffle=False).fit(
        X[order], y[order]
    )
    assert_identical(shuffled, ordered)


def sorted_by_label(n_documents=600, n_terms=40):
    """Sparse documents, the first half without the category; and new ones."""
    generator = np.random.default_rng(0)
    X = (generator.random((2 * n_documents, n_terms)) < 0.1).astype(float)
    y = (
        X @ generator.normal(size=n_terms) + 0.5 * generator.normal(size=2 * n_documents) > 0
    ).astype(int)
    order = np.argsort(y[:n_documents], kind="stable")
    return X[:n_documents][order], y[:n_documents][order], X[n_documents:], y[n_documents:]


def test_a_file_sorted_by_label_costs_nothing():
    X, y, X_new, y_new = sorted_by_label()
    settings = {"covariance": "diagonal", "prior_variance": 4.0}
    order = np.random.default_rng(3).permutation(len(X))
    in_order = OnlinePerceptron(**settings, shuffle=False)
    mixed, sorted_, default = (
        model.score(X_new, y_new)
        for model in (
            clone(in_order).fit(X[order], y[order]),
            clone(in_order).fit(X, y),
            OnlinePerceptron(**settings).fit(X, y),
        )
    )
    assert default > mixed - 0.02
    assert default > sorted_ + 0.02


@covariances
def test_new_columns_enter_at_the_prior_and_nothing_else_moves(covariance):
    X, y = stream()
    settings = {"covariance": covariance, "rank": 2, "prior_variance": 1.7}
    early = OnlinePerceptron(**settings).partial_fit(X[:70, :6], y[:70])
    before = early.weight_posteriors_[0].mean(), early.weight_posteriors_[0].covariance()
    early._bank.grow(1, 9, None, early)
    early.n_features_in_ = 9
    after = early.weight_posteriors_[0].mean(), early.weight_posteriors_[0].covariance()
    np.testing.assert_array_equal(after[0], np.r_[before[0], np.zeros(3)])
    np.testing.assert_allclose(after[1][:7, :7], before[1], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        after[1][7:], np.c_[np.zeros((3, 7)), 1.7 * np.eye(3)], atol=1e-15
    )
    known_before = np.where(np.arange(9) < 6, X, 0.0)
    wide = OnlinePerceptron(**settings).partial_fit(known_before[:70], y[:70])
    grown = OnlinePerceptron(**settings).partial_fit(X[:70, :6], y[:70])
    for model in (wide, grown):
        model.partial_fit(X[70:], y[70:])
    np.testing.assert_allclose(grown.predict_proba(X), wide.predict_proba(X), rtol=1e-12)


def test_supports_limit_each_category_to_its_terms():
    X, _ = stream()
    Y = indicator(X)
    feature_mask = np.zeros((3, 9), dtype=bool)
    feature_mask[0, [1, 4]], feature_mask[1, :], feature_mask[2, 8] = True, True, True
    model = OnlinePerceptron(n_epochs=2).fit(X, Y, feature_mask=sparse.csr_array(feature_mask))
    assert not np.any(model.coef_[~feature_mask])
    for m, kept in enumerate(feature_mask):
        alone = OnlinePerceptron(n_epochs=2).fit(X[:, kept], Y[:, m])
        np.testing.assert_allclose(model.coef_[m, kept], alone.coef_[0], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(
            model.predict_proba(X)[:, m], alone.predict_proba(X[:, kept])[:, 1], rtol=1e-12
        )
    more = feature_mask.copy()
    more[2, 0] = True
    model.partial_fit(X[:5], Y[:5], feature_mask=more)
    assert model.coef_[2, 0] != 0
    assert [posterior.size for posterior in model.weight_posteriors_] == [3, 10, 3]


@covariances
def test_supports_may_be_the_scales_of_priors(covariance):
    X, _ = stream()
    Y = indicator(X)
    scales = np.random.default_rng(2).random((3, 9)) * (np.arange(9) != 4)
    settings = {
        "covariance": covariance,
        "rank": 2,
        "n_epochs": 1,
        "prior_variance": 2.0,
        "shuffle": False,
    }
    model = OnlinePerceptron(**settings).partial_fit(X[:70], Y[:70], feature_mask=scales)
    model.partial_fit(X[70:], Y[70:])
    for m, row in enumerate(scales):
        alone = OnlinePerceptron(**settings).fit((X * row)[:, row > 0], Y[:, m])
        np.testing.assert_allclose(
            model.coef_[m, row > 0], row[row > 0] * alone.coef_[0], rtol=1e-9, atol=1e-12
        )
        np.testing.assert_allclose(
            model.predict_proba(X)[:, m],
            alone.predict_proba((X * row)[:, row > 0])[:, 1],
            rtol=1e-9,
        )
    assert not np.any(model.coef_[:, 4])


def test_scaled_priors_are_priors_of_that_variance():
    X, y = stream()
    scales = np.linspace(0.2, 2.0, 9)
    model = OnlinePerceptron(n_epochs=1, prior_variance=1.5, shuffle=False).fit(
        X, y, feature_mask=scales[np.newaxis]
    )
    scaled = np.concatenate([[1.0], scales])
    mean, covariance, evidence = full_recursion(
        with_bias(X), 2 * y - 1, prior=1.5 * np.diag(scaled**2)
    )
    np.testing.assert_allclose(model.coef_[0], mean[1:], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        model.predict_fields(X)[1][:, 0],
        np.sum(with_bias(X) @ covariance * with_bias(X), axis=1),
        rtol=1e-9,
    )
    np.testing.assert_allclose(model.evidence_, evidence.sum(), rtol=1e-10)


def test_new_terms_bring_their_scales_and_known_ones_keep_theirs():
    X, _ = stream()
    Y = indicator(X)
    first, later = np.full((3, 9), 0.5), np.full((3, 9), 2.0)
    first[:, 6:] = 0.0
    grown = OnlinePerceptron().partial_fit(X[:50], Y[:50], feature_mask=first)
    grown.partial_fit(X[50:], Y[50:], feature_mask=later)
    whole = OnlinePerceptron().partial_fit(
        X[:50] * (np.arange(9) < 6), Y[:50], feature_mask=np.where(first > 0, first, later)
    )
    whole.partial_fit(X[50:], Y[50:])
    np.testing.assert_allclose(grown.predict_proba(X), whole.predict_proba(X), rtol=1e-10)


def test_new_categories_start_at_the_prior():
    X, _ = stream()
    Y = indicator(X)
    model = OnlinePerceptron().partial_fit(X[:50], Y[:50, :2]).partial_fit(X[50:], Y[50:])
    late = OnlinePerceptron().partial_fit(X[50:], Y[50:, 1:])
    np.testing.assert_array_equal(model.predict_proba(X)[:, 2], late.predict_proba(X)[:, 1])


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(n_jobs):
    X, _ = stream()
    Y = indicator(X)
    for covariance in COVARIANCES:
        one = OnlinePerceptron(covariance=covariance, rank=2).fit(X, Y)
        several = OnlinePerceptron(covariance=covariance, rank=2, n_jobs=n_jobs).fit(X, Y)
        assert_identical(one, several)


def test_forgetting_is_a_step_towards_the_prior_before_each_document():
    X, y = stream()
    model = OnlinePerceptron(n_epochs=1, half_life=30.0, prior_variance=1.5, shuffle=False).fit(
        X, y
    )
    mean, covariance, evidence = full_recursion(
        with_bias(X), 2 * y - 1, prior=1.5, keep=0.5 ** (1 / 30)
    )
    np.testing.assert_allclose(model.weight_posteriors_[0].mean(), mean, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        model.weight_posteriors_[0].covariance(), covariance, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(model.evidence_[0], evidence.sum(), rtol=1e-10)


def test_low_rank_forgets_by_the_same_step_every_16_documents():
    X, y = stream(n_documents=16)
    model = OnlinePerceptron(covariance="low-rank", rank=10, half_life=30.0).partial_fit(X, y)
    mean, covariance, _ = full_recursion(with_bias(X), 2 * y - 1)
    keep = 0.5 ** (16 / 30)
    np.testing.assert_allclose(
        model.weight_posteriors_[0].mean(), keep * mean, rtol=1e-9, atol=1e-11
    )
    expected = keep**2 * covariance + (1 - keep**2) * np.eye(10)
    np.testing.assert_allclose(
        model.weight_posteriors_[0].covariance(), expected, rtol=1e-8, atol=1e-11
    )


@covariances
def test_forgetting_runs_on_without_underflow_and_ends_at_the_prior(covariance):
    X, y = stream()
    model = OnlinePerceptron(covariance=covariance, rank=2, half_life=0.5).partial_fit(X, y)
    model.partial_fit(np.zeros((200, 9)), np.tile([0, 1], 100))
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        np.diagonal(model.weight_posteriors_[0].covariance())[1:], 1.0, rtol=1e-9
    )


@covariances
def test_forgetting_follows_a_topic_that_turns(covariance):
    X, y = stream(n_documents=600, seed=3)
    turned = np.where(np.arange(600) < 300, y, 1 - y)
    settings = {"covariance": covariance, "rank": 4}
    steady = OnlinePerceptron(**settings).partial_fit(X, turned)
    moving = OnlinePerceptron(**settings, half_life=100.0).partial_fit(X, turned)
    last = slice(500, 600)
    assert (
        moving.log_evidence(X[last], turned[last])[0]
        > steady.log_evidence(X[last], turned[last])[0]
    )


def test_evidence_and_gains_are_those_of_the_fields():
    X, _ = stream()
    Y = indicator(X)
    noise = FlipNoise(0.1)
    model = OnlinePerceptron(likelihood=noise).fit(X[:100], Y[:100])
    means, variances = model.predict_fields(X[100:])
    signs = 2 * Y[100:] - 1
    np.testing.assert_allclose(
        model.log_evidence(X[100:], Y[100:]),
        noise.log_evidence(signs, means, variances).sum(axis=0),
        rtol=1e-12,
    )
    for kind in ("exact", "gaussian", "paper"):
        gains = model.information_gain(X[100:], Y[100:], kind=kind)
        np.testing.assert_allclose(
            gains, noise.information_gain(signs, means, variances, kind=kind), rtol=1e-12
        )
        expected = model.expected_information_gain(X[100:], kind=kind)
        np.testing.assert_allclose(
            expected, noise.expected_information_gain(means, variances, kind=kind), rtol=1e-12
        )


def test_gaussian_gain_is_the_distance_of_the_posteriors_over_all_weights():
    X, y = stream()
    model = OnlinePerceptron(n_epochs=1).fit(X[:60], y[:60])
    gain = model.information_gain(X[60:61], y[60:61], kind="gaussian")[0, 0]
    m0, c0 = model.weight_posteriors_[0].mean(), model.weight_posteriors_[0].covariance()
    model.partial_fit(X[60:61], y[60:61])
    m1, c1 = model.weight_posteriors_[0].mean(), model.weight_posteriors_[0].covariance()
    inverse = np.linalg.inv(c0)
    logarithms = np.linalg.slogdet(c0)[1] - np.linalg.slogdet(c1)[1]
    distance = 0.5 * (
        np.trace(inverse @ c1) + (m1 - m0) @ inverse @ (m1 - m0) - len(m0) + logarithms
    )
    np.testing.assert_allclose(gain, distance / np.log(2), rtol=1e-8)


@covariances
@pytest.mark.parametrize("kind", ["labels", "two", "indicator"])
def test_progressive_probabilities_are_those_before_each_label(covariance, kind):
    X, y = stream(40)
    y = {
        "labels": np.array(["a", "b", "c"])[y + (X[:, 2] > 0)],
        "two": y,
        "indicator": indicator(X),
    }[kind]
    one, other = (
        OnlinePerceptron(covariance=covariance, rank=2).partial_fit(X, y) for _ in range(2)
    )
    before = one.progressive_proba(X, y)
    for i in range(len(X)):
        np.testing.assert_allclose(before[i], other.predict_proba(X[i : i + 1])[0], rtol=1e-9)
        other.partial_fit(X[i : i + 1], y[i : i + 1])


@covariances
@pytest.mark.parametrize("kind", ["labels", "indicator"])
def test_saved_streams_go_on_bit_for_bit(covariance, kind):
    X, y = stream()
    y = indicator(X) if kind == "indicator" else np.array(["a", "b", "c"])[y + (X[:, 2] > 0)]
    model = OnlinePerceptron(
        covariance=covariance, rank=3, half_life=50.0, likelihood=ProbitNoise(0.7)
    )
    model.partial_fit(X[:75], y[:75], classes=None if kind == "indicator" else ["a", "b", "c"])
    parameters, arrays = model.get_state()
    again = OnlinePerceptron.from_state(
        json.loads(json.dumps(parameters)), {k: v.copy() for k, v in arrays.items()}
    )
    np.testing.assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    for one in (model, again):
        one.partial_fit(np.c_[X[75:], X[75:, :1]], y[75:])
    assert_identical(model, again)
    assert (again.n_seen_, again.get_params()) == (model.n_seen_, model.get_params())


def test_supports_are_saved_too():
    X, _ = stream()
    Y = indicator(X)
    feature_mask = 0.7 * (np.arange(9) % 3 == np.arange(3)[:, np.newaxis])
    model = OnlinePerceptron().fit(X, Y, feature_mask=feature_mask)
    again = OnlinePerceptron.from_state(*model.get_state())
    assert_identical(model.partial_fit(X, Y), again.partial_fit(X, Y))


@covariances
def test_hostile_states_are_refused(covariance):
    X, _ = stream()
    model = OnlinePerceptron(covariance=covariance, rank=2).fit(
        X, indicator(X), feature_mask=np.ones((3, 9))
    )
    parameters, arrays = model.get_state()

    def refused(parameters=parameters, **changes):
        wrong = {name: array.copy() for name, array in arrays.items()}
        for name, value in changes.items():
            if value is None:
                wrong.pop(name)
            else:
                wrong[name] = value
        with pytest.raises(DataError):
            OnlinePerceptron.from_state(parameters, wrong)

    for name, array in arrays.items():
        refused(**{name: None})
        if name == "classes_":
            continue
        refused(
            **{
                name: array.astype(np.float32)
                if array.dtype.kind == "f"
                else array.astype(float) + 0.5
            }
        )
        if array.ndim and array.dtype.kind == "f" and array.size:
            refused(**{name: np.full_like(array, np.nan)})
            refused(**{name: array[:-1]})
    refused(**{"_bank.terms.0": np.array([0, 0, 1, 2, 3, 4, 5, 6, 7], dtype=np.int32)})
    refused(**{"_bank.terms.0": np.arange(1, 10, dtype=np.int32)})
    refused(**{"_bank.scales.0": np.zeros(9)})
    for change in (
        {"covariance": "round"},
        {"rank": "2"},
        {"n_epochs": 0},
        {"bias": None},
        {"likelihood": "cauchy"},
    ):
        refused(parameters={**parameters, **change})
    refused(parameters={**parameters, "depth": 3})
    refused(parameters={**parameters, "rank": 3, "covariance": "low-rank"})
    refused(parameters={**parameters, "n_seen_": "many"})
    refused(
        parameters={
            **parameters,
            "_bank": {**parameters["_bank"], "n_terms": 2**40, "terms": None},
        }
    )
    refused(parameters={**parameters, "_bank": {**parameters["_bank"], "posteriors": []}})
    refused(
        parameters={
            **parameters,
            "classes_": {"kind": "array", "dtype": "<i8", "values": [0, 1]},
        }
    )


def test_what_is_refused_says_why():
    X, y = stream()
    for settings, message in [
        ({"covariance": "round"}, "no covariance"),
        ({"rank": 0}, "at least 1"),
        ({"n_epochs": 0}, "at least 1"),
        ({"prior_variance": 0.0}, "prior_variance"),
        ({"half_life": 0.0}, "half_life"),
        ({"rank": 1.5}, "whole number"),
        ({"prior_variance": "1"}, "prior_variance"),
        ({"bias": np.nan}, "bias"),
        ({"n_jobs": "all"}, "n_jobs"),
        ({"likelihood": "cauchy"}, "no likelihood"),
    ]:
        with pytest.raises(ValueError, match=message):
            OnlinePerceptron(**settings).fit(X, y)
    with pytest.raises(ValueError, match="too large"):
        OnlinePerceptron().fit(sparse.csr_array((4, 20_000)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="only one class"):
        OnlinePerceptron().partial_fit(X[:1], [1])
    model = OnlinePerceptron().partial_fit(X[:1], y[:1], classes=[0, 1])
    with pytest.raises(ValueError, match="new classes"):
        model.partial_fit(X[:1], [2])
    with pytest.raises(ValueError, match="indicator"):
        model.partial_fit(X[:2], [[1, 0, 1], [0, 1, 0]])
    with pytest.raises(ValueError, match="feature_mask"):
        model.partial_fit(X[:1], y[:1], feature_mask=np.ones((1, 9)))
    with pytest.raises(ValueError, match="models x terms"):
        OnlinePerceptron().fit(X, y, feature_mask=np.ones((2, 9)))
    labelled = OnlinePerceptron().fit(X, indicator(X))
    for columns in (slice(2), [0, 1, 2, 0]):
        with pytest.raises(ValueError, match="columns"):
            labelled.log_evidence(X, indicator(X)[:, columns])
    for scale in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="0 or above"):
            OnlinePerceptron().fit(X, y, feature_mask=np.full((1, 9), scale))


def test_contributions_add_up_to_the_mean_field():
    X, y = stream()
    labels = np.array(["a", "b", "c"])[y + (X[:, 2] > 0)]
    model = OnlinePerceptron(bias=0.5).fit(X, labels)
    means = model.predict_fields(X)[0]
    for place, name in enumerate(model.classes_):
        terms, bias = model.contributions(X, name)
        np.testing.assert_allclose(
            terms.sum(axis=1) + bias, means[:, place], rtol=1e-9, atol=1e-12
        )
    terms, bias = model.contributions(X, "a", against="c")
    np.testing.assert_allclose(
        terms.sum(axis=1) + bias, means[:, 0] - means[:, 2], rtol=1e-9, atol=1e-12
    )


@covariances
def test_models_go_through_a_file(covariance, tmp_path):
    texts = [
        "wheat and corn",
        "corn exports grain",
        "crude oil prices",
        "oil tankers barrels",
    ] * 5
    model = OnlinePerceptron(covariance=covariance, rank=2)
    classifier = TextClassifier(model=model).fit(
        texts, ["grain", "grain", "crude", "crude"] * 5
    )
    classifier.save(tmp_path / "model.zip")
    loaded = TextClassifier.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(loaded.predict_proba(texts), classifier.predict_proba(texts))
    X = classifier.vectors(texts)
    ours, theirs = classifier.model_, loaded.model_
    for one in (ours, theirs):
        one.partial_fit(X, ["grain", "crude"] * 10)
    assert_identical(ours, theirs)


def test_values_of_a_small_perceptron():
    model = OnlinePerceptron().fit([[1.0], [-1.0]], [1, 0])
    mean, variance = model.predict_fields([[2.0]])
    assert mean[0, 0] > 0
    assert variance[0, 0] > 0
    assert model.log_evidence([[1.0], [-1.0]], [1, 0]).round(3).tolist() == [-0.108]
    surprising, expected = model.information_gain([[1.0], [1.0]], [0, 1])[:, 0]
    assert surprising > expected
    known, unknown = model.expected_information_gain([[1.0], [0.0]])[:, 0]
    assert known < unknown
    started = OnlinePerceptron().partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    assert started.progressive_proba([[1.0, 0.0], [1.0, 0.0]], [1, 1]).round(2)[
        :, 1
    ].tolist() == [
        0.24,
        0.64,
    ]
