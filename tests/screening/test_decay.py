"""Relevant records become rarer: the closed form against brute force, and its coverage."""

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from bayesift.screening import CallaghanMuellerHansen, PosteriorRule, RankDecay, learn_tails
from bayesift.screening.stopping import decay


def rates(n):
    return np.vstack(decay._shapes(n))


def prior():
    families = decay._shapes(2)
    return np.concatenate(
        [
            np.full(len(f), w / len(f))
            for f, w in zip(families, decay._FAMILY_WEIGHTS, strict=True)
        ]
    )


@pytest.mark.parametrize("sample", [(0, 0), (30, 4)])
def test_the_expected_number_is_that_of_brute_force(sample):
    """Integrated over a and all shapes by sums over fine grids, with the prior 1/a."""
    n, read, places, tail = 120, 40, np.array([1, 2, 5, 11, 30]), 0.05
    judgements = np.isin(np.arange(1, read + 1), places).tolist()
    a, slow = np.exp(np.linspace(-6, 12, 400)), np.exp(-4 * np.arange(n) / n)
    weight = expected = none = 0.0
    for share, r in zip(prior(), rates(n), strict=True):
        s = (1 - tail) * r / r.sum() + tail * slow / slow.sum()
        likelihood = (
            share * a ** len(places) * np.prod(s[places - 1]) * np.exp(-a * s[:read].sum())
        )
        likelihood *= poisson.pmf(sample[1], a * sample[0] / n)
        weight += likelihood.sum()
        # Numbers above that of the unseen documents count as all of them.
        left = poisson.sf(np.arange(n - read)[:, np.newaxis], a * s[read:].sum()).sum(axis=0)
        expected += (likelihood * left).sum()
        none += (likelihood * np.exp(-a * s[read:].sum())).sum()
    model = RankDecay(n, tails={(tail, 0.25): 1.0}, sample=sample)
    remaining = model.remaining(judgements, found_before=1, draws=20_000)
    assert remaining.n_found == 6 + sample[1]
    assert model.probability_of_recall(judgements, 0.95, found_before=1) == pytest.approx(
        none / weight, rel=1e-6
    )
    assert np.mean(remaining.draws == 0) == pytest.approx(none / weight, abs=1e-4)
    assert remaining.mean == pytest.approx(expected / weight, rel=1e-3)


def test_the_mixture_is_that_of_scipy():
    mixture = decay._Mixture(7, np.array([0.3, 0.7]), np.array([0.5, 0.9]))
    exact = 0.3 * nbinom(7, 0.5).pmf(np.arange(300)) + 0.7 * nbinom(7, 0.9).pmf(np.arange(300))
    np.testing.assert_allclose(mixture.pmf(300)[:64], exact[:64], atol=1e-12)
    assert mixture.cdf(3) == pytest.approx(exact[:4].sum())
    assert mixture.pmf(5).sum() == pytest.approx(1.0)


def test_intervals_hold_where_the_model_is_true():
    rng = np.random.default_rng(3)
    n, read, inside = 1000, 300, 0
    shapes, model = rates(n), RankDecay(n)
    tails, weights = list(decay.TAILS), np.array(list(decay.TAILS.values()))
    for _ in range(150):
        r = shapes[rng.choice(len(shapes), p=prior())]
        tail, width = tails[rng.choice(len(tails), p=weights / weights.sum())]
        slow = np.exp(-np.arange(n) / n / width)
        rate = (1 - tail) * r / r.sum() + tail * slow / slow.sum()
        hits = rng.random(n) < np.minimum(40 * rate, 1)
        low, high = model.remaining(hits[:read].tolist()).interval(0.9)
        inside += low <= hits[read:].sum() <= high
    assert 0.85 <= inside / 150 <= 1


def test_a_larger_tail_leaves_more_to_find():
    judgements = [True] * 20 + [False] * 280
    chances = [
        RankDecay(1000, tails={(tail, 0.25): 1.0}).probability_of_recall(judgements, 0.95)
        for tail in (0.005, 0.05, 0.3)
    ]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.9 > 0.6 > chances[2]


def test_the_tail_is_learned_from_reviews_that_have_one():
    early = np.arange(1, 61)
    late = np.append(np.arange(1, 54), [300, 400, 500, 600, 700, 800, 900])
    few, many = (learn_tails([(places, 1000)] * 30) for places in (early, late))
    assert sum(few.values()) == pytest.approx(1.0)
    flat_few, flat_many = (
        sum(w for (share, width), w in found.items() if share >= 0.1 and width >= 0.5)
        for found in (few, many)
    )
    assert flat_few < 0.1 < 0.9 < flat_many


def test_an_estimate_says_what_it_costs_to_be_surer():
    model = RankDecay(800)
    judgements = [True] * 25 + [False] * 75
    estimate = model.estimate(judgements, recall=0.95, confidence=0.95)
    assert (estimate.n_found, estimate.n_unseen, estimate.caveat) == (25, 700, "")
    assert estimate.low <= estimate.median <= estimate.high
    costs = list(estimate.more_reading.values())
    assert costs == sorted(costs)
    further = estimate.more_reading[0.95]
    for extra, stops in ((further, True), (further - 1, False)):
        assert model.estimate(judgements + [False] * extra).stop == stops


def test_an_estimate_in_words():
    model = RankDecay(800)
    early, weak = (
        model.estimate([True, False]),
        RankDecay(1000).estimate(([False] * 9 + [True]) * 60),
    )
    assert (
        str(early) == "cannot tell yet what is left: too early, 1 of 10 relevant records found"
    )
    assert str(weak).startswith(
        "cannot tell yet what is left: relevant records do not become rarer"
    )
    estimate = model.estimate([True] * 25 + [False] * 75)
    words = str(estimate)
    assert f"{estimate.median} relevant left ({estimate.low} to {estimate.high})" in words
    assert f"95% recall with probability {estimate.probability:.2f}" in words
    assert f"95% sure after {estimate.more_reading[0.95]} more without a find" in words
    assert "sure after" not in str(model.estimate([True] * 25 + [False] * 774))
    assert str(RankDecay(3).estimate([True] * 3)) == "nothing is left to read"


def test_the_safe_side_is_where_the_rule_stops():
    hits = np.array([True] * 25 + [False] * 775)
    for n in (100, 400):
        estimate = RankDecay(800).estimate(hits[:n], found_before=1)
        stops = CallaghanMuellerHansen(every=10).stop(hits).n_read
        assert abs(n + estimate.safe_reading - stops) <= 10
        assert str(estimate).endswith(f"on the safe side after {estimate.safe_reading:,}")


def test_an_interval_of_all_that_is_unread_is_not_shown():
    early = RankDecay(300).estimate([True] * 15)
    assert early.high - early.low > 0.5 * early.n_unseen
    assert str(early) == (
        "cannot tell yet what is left: too early, most of what is unread may be relevant"
    )


def test_what_says_nothing_says_so():
    model = RankDecay(50)
    assert model.remaining([False] * 10).interval(0.9) == (40, 40)
    assert model.estimate([False] * 10).probability == 0
    assert "too early" in model.estimate([True, False]).caveat
    assert "too early, 3 of 10" in model.estimate([True, False, True], found_before=20).caveat
    assert model.estimate([]).n_unseen == 50
    assert RankDecay(3).remaining([True, False, False]).mean == 0
    assert RankDecay(3).estimate([True, False, False]).stop
    assert "random" in RankDecay(1000).estimate(([False] * 9 + [True]) * 60).caveat
    with pytest.raises(ValueError, match="4 judgements"):
        RankDecay(3).remaining([True] * 4)
    with pytest.raises(ValueError, match="at least 1"):
        RankDecay(0)
    with pytest.raises(ValueError, match="tails must"):
        RankDecay(5, tails={(0.0, 1.0): 1.0})


@pytest.mark.parametrize("order", ["random", "reversed"])
def test_a_weak_order_keeps_the_statement(order):
    """Of a useless and of a harmful ranking: the recall is reached as often as promised."""
    rng, rule, reached = np.random.default_rng(5), PosteriorRule(every=20), 0
    for _ in range(40):
        hits = np.zeros(400, dtype=bool)
        if order == "random":
            hits[rng.choice(400, 40, replace=False)] = True
        else:
            hits[399 - np.unique(rng.exponential(60, 40).astype(int).clip(0, 399))] = True
        reached += rule.stop(hits).recall >= 0.95
    assert reached >= 37
