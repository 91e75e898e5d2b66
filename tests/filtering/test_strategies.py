import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import quad
from scipy.special import rel_entr
from scipy.stats import norm

from bayesift.errors import DataError
from bayesift.filtering import (
    LinearUtility,
    PrecisionFloor,
    Profile,
    ProfileSettings,
    RecallFloor,
    Strategy,
    TargetCount,
)
from bayesift.filtering.profile import REGION_SIZE
from bayesift.filtering.strategies import hash_uniform, query_reach
from bayesift.kernels.filtering import decision_gain
from bayesift.models.online import FlipNoise
from bayesift.state import decode, encode


def test_theta_is_the_papers():
    strategy = Strategy(query="gain")
    for n in (0, 1, 30, 49, 50, 51, 90, 400, 10**6):
        assert strategy.theta(n) == pytest.approx(
            0.999 / (1 + math.exp(-(n - 50.0) / 10)) + 0.001
        )


def test_the_rate_of_random_queries_is_the_papers():
    strategy = Strategy(query="random")
    assert [strategy.rate(n) for n in (0, 20, 50, 80)] == [50 / 293_856, 30 / 293_856, 0, 0]
    assert Strategy().rate(0) == 0


@given(
    st.floats(0.01, 0.45),
    st.sampled_from(["paper", "exact", "gaussian"]),
    st.floats(0.001, 1.0),
    st.floats(-12, 12),
    st.floats(0.01, 100),
)
@settings(max_examples=300, deadline=None)
def test_beyond_the_reach_no_label_tells_enough(kappa, gain, theta, u, deviation):
    expected = FlipNoise(kappa).expected_information_gain(
        u * deviation, deviation**2, kind=gain
    )
    if abs(u) > query_reach(kappa, gain, theta):
        assert expected < theta


@pytest.mark.parametrize(
    "strategy", [Strategy.of("+ig"), Strategy.of("+ig", gain="exact"), Strategy.of("plain")]
)
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6])
def test_skipping_by_the_bound_skips_nothing_that_counts(strategy, threshold):
    rng = np.random.default_rng(3)
    X = sparse.random_array((400, 60), density=0.15, rng=rng, format="csr")
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    profile = Profile("t", ProfileSettings(strategy=strategy, cut=0.5))
    profile.learn_batch(X[:100], X[:100].sum(axis=1) > 4.6)
    profile.set_threshold(threshold)
    noise = FlipNoise(0.1)
    dense = np.hstack([np.ones((400, 1)), X.toarray()[:, profile.terms]])
    means = dense @ profile.posterior.mean()
    variances = np.einsum("ij,jk,ik->i", dense, profile.posterior.covariance(), dense)
    wanted = noise.predictive(means, variances) > threshold
    if strategy.query == "gain":
        wanted |= noise.expected_information_gain(
            means, variances, kind=strategy.gain
        ) >= strategy.theta(0)
    found, row = [], 0
    while (hit := profile.scan(X, row)) is not None:
        found.append(hit.row)
        row = hit.row + 1
    assert found == np.flatnonzero(wanted).tolist()
    assert 0 < len(found) < 400


def joint_table(kappa, u, v, rho):
    """P(label of one document, sign of the other's field), integrated over the first field."""

    def cell(sign):
        def density(h):
            rest = np.sqrt(1 - rho**2)
            return norm.pdf(h - u) * norm.cdf(sign * (v + rho * (h - u)) / rest)

        above, below = (
            quad(density, 0, u + 12, limit=200)[0],
            quad(density, u - 12, 0, limit=200)[0],
        )
        return [(1 - kappa) * above + kappa * below, kappa * above + (1 - kappa) * below]

    return np.array([cell(1), cell(-1)])


@pytest.mark.parametrize(("u", "v"), [(0, 0), (-1.2, 0.4), (-0.3, 2.5), (0.8, -1), (-2.5, 3)])
@pytest.mark.parametrize("rho", [-0.95, -0.3, 0.0, 0.2, 0.7, 0.95])
def test_a_decision_gain_is_the_mutual_information_of_label_and_sign(u, v, rho):
    table = joint_table(0.1, u, v, rho)
    independent = table.sum(axis=0) * table.sum(axis=1)[:, np.newaxis]
    assert decision_gain(0.1, u, v, rho) == pytest.approx(
        rel_entr(table, independent).sum() / np.log(2), abs=2e-5
    )


@given(st.floats(0.01, 0.45), st.floats(-4, 4), st.floats(-4, 4), st.floats(-1, 1))
@settings(max_examples=300, deadline=None)
def test_a_decision_gain_is_at_most_the_exact_gain(kappa, u, v, rho):
    exact = FlipNoise(kappa).expected_information_gain(u, 1.0, kind="exact")
    assert 0 <= decision_gain(kappa, u, v, rho) <= exact + 1e-9


def test_a_label_tells_the_exact_gain_about_its_own_decision():
    for u in (-2.0, -0.5, 0.0, 1.0):
        exact = FlipNoise(0.1).expected_information_gain(u, 1.0, kind="exact")
        assert decision_gain(0.1, u, u, 1.0) == pytest.approx(exact, abs=1e-3)


def test_the_region_is_made_of_the_last_relevant_documents():
    rng = np.random.default_rng(5)
    X = sparse.random_array((500, 60), density=0.15, rng=rng, format="csr")
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    profile = Profile("t", ProfileSettings(strategy=Strategy.of("+roi"), cut=0.5))
    profile.learn_batch(X[:100], X[:100].sum(axis=1) > 4.6)
    dense = np.hstack([np.ones((500, 1)), X.toarray()[:, profile.terms]])
    mean, covariance = profile.posterior.mean(), profile.posterior.covariance()
    fields = (
        dense
        @ mean
        / (deviations := np.sqrt(np.einsum("ij,jk,ik->i", dense, covariance, dense)))
    )
    region = np.flatnonzero(X[:100].sum(axis=1) > 4.6)[-REGION_SIZE:]
    correlations = (
        dense @ covariance @ dense[region].T / np.outer(deviations, deviations[region])
    )
    gains = np.array(
        [
            np.mean(
                [
                    decision_gain(0.1, u, fields[r], rho)
                    for r, rho in zip(region, row, strict=True)
                ]
            )
            for u, row in zip(fields, correlations, strict=True)
        ]
    )
    wanted = (FlipNoise(0.1).predictive(fields, 1.0) > 0.5) | (
        gains >= profile.strategy.theta(0)
    )
    found, row = {}, 0
    while (hit := profile.scan(X, row)) is not None:
        found[hit.row] = hit.gain
        row = hit.row + 1
    assert list(found) == np.flatnonzero(wanted).tolist()
    np.testing.assert_allclose(list(found.values()), gains[wanted], rtol=1e-6, atol=1e-12)
    assert 0 < len(found) < 500


def test_without_relevant_documents_the_gain_is_about_the_document():
    profile = Profile("t", ProfileSettings(strategy=Strategy.of("+roi")), prior={0: 1.0})
    rows = sparse.csr_array((1, 1))
    rows.indptr, rows.indices, rows.data = (
        np.array([0, 1]),
        np.zeros(1, dtype=np.int32),
        -np.ones(1),
    )
    hit = profile.scan(rows, 0)
    assert hit.gain == pytest.approx(
        FlipNoise(0.1).expected_information_gain(-1.0, 2.0, kind="exact")
    )


def test_lots_are_even_and_depend_on_every_name():
    drawn = np.array([hash_uniform(0, "grain", str(i)) for i in range(4000)])
    assert abs(drawn.mean() - 0.5) < 0.02
    assert np.all((drawn >= 0) & (drawn < 1))
    assert (
        len(
            {
                hash_uniform(0, "a", "b"),
                hash_uniform(0, "ab", ""),
                hash_uniform(1, "a", "b"),
                hash_uniform(0, "b", "a"),
            }
        )
        == 4
    )


@pytest.mark.parametrize(
    "name", ["+nonsense", "ig", "+ig+rnd", "+ig+roi", "+rel+rel", "rel", "roi"]
)
def test_strategies_are_spelled_as_in_the_paper(name):
    if name in ("ig", "rel", "roi"):
        assert str(Strategy.of(name)) == f"+{name}"
    else:
        with pytest.raises(ValueError, match="no strategy"):
            Strategy.of(name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": "x"},
        {"gain": "x"},
        {"target": 0},
        {"steepness": 0},
        {"lowest": 0.0},
        {"half_life": 0},
        {"highest": 1e-9},
    ],
)
def test_strategies_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must|gain|theta"):
        Strategy(**wrong)
    with pytest.raises(DataError):
        decode({"kind": "strategy", **wrong})


@pytest.mark.parametrize(
    "goal",
    [TargetCount(7), LinearUtility(((0, -3), (0, 1))), PrecisionFloor(0.6), RecallFloor(0.7)],
)
def test_goals_survive_being_stored(goal):
    again = decode(json.loads(json.dumps(encode(goal))))
    assert again.threshold([1, 0], [0.8, 0.1]) == goal.threshold([1, 0], [0.8, 0.1])


@pytest.mark.parametrize(
    "wrong",
    [{}, {"kind": 3}, {"kind": "recall-goal", "floor": 2}, {"kind": "target-goal", "sum": 1}],
)
def test_goals_that_are_none_are_refused(wrong):
    with pytest.raises(DataError):
        decode(wrong)


def test_goals_keep_what_they_promise_where_they_are_chosen():
    rng = np.random.default_rng(0)
    probabilities = rng.random(500)
    labels = rng.random(500) < probabilities
    for floor in (0.6, 0.8):
        taken = probabilities > PrecisionFloor(floor).threshold(labels, probabilities)
        assert labels[taken].mean() >= floor
        taken = probabilities > RecallFloor(floor).threshold(labels, probabilities)
        assert labels[taken].sum() >= floor * labels.sum()
