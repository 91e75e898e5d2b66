"""What is left, from when others were found: features against plain formulas, and coverage."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom

from bayesift.screening import CallaghanMuellerHansen, FindsForecast, FindsRule
from bayesift.screening.stopping.finds import LEAST_FOUND, Moment, learned


def plain_chance(n, judgements, most):
    """Compute the probability that at most so many are left, term by term."""
    read = len(judgements)
    finds = [place for place, found in enumerate(judgements) if found]
    since = read - 1 - finds[-1]
    weights = learned()
    score = weights["intercept"]
    score += weights["log of documents"] * math.log(n)
    score += weights["share read"] * read / n
    score += weights["log of relevant found"] * math.log(len(finds) + 1)
    score += weights["log of reading since the last find"] * math.log(1 + since)
    score += weights["that as a share of the reading"] * since / read
    rates = {}
    for share in (0.1, 0.2, 0.5, 1.0):
        width = max(1, share * read)
        rates[share] = (sum(place >= read - width for place in finds) + 0.3) / (width + 1)
        score += weights[f"log rate found in the last {share:.0%}"] * math.log(rates[share])
    score += weights["log of the number"] * math.log(most + 0.5)
    run = since / (n - read + since)
    surprise = min(12.0, -(most + 1) * math.log(1 - run))
    score += weights["surprise of the run since the last find"] * surprise
    least = 1.0
    for begin in range(0, read, max(10, read // 100)):
        hits = sum(place >= begin for place in finds)
        drawn = (read - begin) / (n - begin)
        least = min(least, binom.cdf(hits, hits + most + 1, drawn))
    name = "surprise of the run of least probability"
    score += weights[name] * -math.log(max(least, math.exp(-12)))
    for share in (0.2, 0.5):
        promised = rates[share] * (n - read) + 0.2
        name = f"log of the number over what the last {share:.0%} promise"
        score += weights[name] * math.log((most + 0.5) / promised)
    return 1 / (1 + math.exp(-score))


@pytest.mark.parametrize("places", [(0, 2, 3, 7, 30), (5, 9, 10, 11, 12, 60, 119)])
def test_the_probability_is_that_of_the_formulas(places):
    judgements = [place in places for place in range(120)]
    forecast = FindsForecast(400)
    chances = [plain_chance(400, judgements, most) for most in range(280)]
    assert chances == sorted(chances)
    remaining = forecast.remaining(judgements, found_before=1, draws=1000)
    assert remaining.n_found == len(places) + 1
    expected = np.searchsorted(chances, (np.arange(1000) + 0.5) / 1000)
    assert remaining.draws.tolist() == expected.tolist()
    estimate = forecast.estimate(judgements, found_before=1)
    between = (estimate.low, estimate.median, estimate.high)
    assert between == tuple(np.searchsorted(chances, [0.025, 0.5, 0.975]).tolist())
    assert forecast.probability_of_recall(judgements, 0.5, found_before=1) == pytest.approx(
        plain_chance(400, judgements, len(places) + 1)
    )


def test_the_table_names_every_feature():
    moment = Moment(100, 50, np.array([0, 1, 4]))
    names = {"intercept", *moment.features, *moment.features_of(np.array([0]))}
    assert set(learned()) == names
    json.dumps(dict(learned()))


def test_an_estimate_says_what_it_costs_to_be_surer():
    forecast = FindsForecast(800)
    judgements = [True] * 25 + [False] * 75
    estimate = forecast.estimate(judgements, recall=0.95, confidence=0.95)
    assert (estimate.n_found, estimate.n_unseen) == (25, 700)
    assert estimate.low <= estimate.median <= estimate.high
    costs = list(estimate.more_reading.values())
    assert costs == sorted(costs)
    further = estimate.more_reading[0.95]
    for extra, stops in ((further, True), (further - 1, False)):
        assert forecast.estimate(judgements + [False] * extra).stop == stops


def test_an_estimate_in_words():
    forecast = FindsForecast(800)
    early = forecast.estimate([True, False])
    assert (
        str(early) == "cannot tell yet what is left: too early, 1 of 5 relevant records found"
    )
    estimate = forecast.estimate([True] * 25 + [False] * 375)
    words = str(estimate)
    assert f"{estimate.median} relevant left ({estimate.low} to {estimate.high})" in words
    assert f"95% recall with probability {estimate.probability:.2f}" in words
    assert "sure after" not in str(forecast.estimate([True] * 25 + [False] * 774))
    assert str(FindsForecast(3).estimate([True] * 3)) == "nothing is left to read"


def test_the_safe_side_is_where_the_rule_stops():
    hits = np.array([True] * 25 + [False] * 775)
    for n in (200, 400):
        estimate = FindsForecast(800).estimate(hits[:n], found_before=1)
        stops = CallaghanMuellerHansen(every=10).stop(hits).n_read
        assert abs(n + estimate.safe_reading - stops) <= 10
        assert str(estimate).endswith(f"on the safe side after {estimate.safe_reading:,}")


def test_an_interval_of_all_that_is_unread_is_not_shown():
    early = FindsForecast(300).estimate([True] * 15)
    assert early.high - early.low > 0.5 * early.n_unseen
    assert str(early) == (
        "cannot tell yet what is left: too early, most of what is unread may be relevant"
    )


def test_what_says_nothing_says_so():
    forecast = FindsForecast(50)
    assert forecast.remaining([False] * 10).interval(0.9) == (40, 40)
    assert forecast.estimate([False] * 10).probability == 0
    assert "too early" in forecast.estimate([True, False]).caveat
    # Records that were known before are no evidence of how quickly others are found.
    assert "too early, 3 of 5" in forecast.estimate([True, False, True], found_before=9).caveat
    assert forecast.estimate([]).n_unseen == 50
    assert FindsForecast(3).remaining([True, False, False]).mean == 0
    assert FindsForecast(3).estimate([True, False, False]).stop
    with pytest.raises(ValueError, match="4 judgements"):
        FindsForecast(3).remaining([True] * 4)
    with pytest.raises(ValueError, match="at least 1"):
        FindsForecast(0)


@pytest.mark.parametrize("order", ["random", "reversed"])
def test_a_weak_order_keeps_the_statement(order):
    """Of a useless and of a harmful ranking: the recall is reached as often as promised."""
    rng, rule, reached = np.random.default_rng(5), FindsRule(every=20), 0
    for _ in range(40):
        hits = np.zeros(400, dtype=bool)
        if order == "random":
            hits[rng.choice(400, 40, replace=False)] = True
        else:
            hits[399 - np.unique(rng.exponential(60, 40).astype(int).clip(0, 399))] = True
        reached += rule.stop(hits).recall >= 0.95
    assert reached >= 37


def test_few_finds_end_no_review():
    hits = np.zeros(300, dtype=bool)
    hits[: LEAST_FOUND - 2] = True
    assert FindsRule().stop(hits).n_read == 300
