"""Stopping rules: each against a plain computation, and none looks ahead."""

import numpy as np
import pytest
from scipy.stats import binom

from bayesift.screening import (
    STOPPING_RULES,
    CallaghanMuellerHansen,
    Chao,
    InARow,
    Knee,
    PointProcess,
    Pool,
    QuantileBinomial,
    ReviewCurve,
    chao_rule,
    recall_p_value,
    simulate_review,
)
from bayesift.screening.stopping.rules import chao_limit


def ranked(n=600, relevant=60, seed=0):
    rng = np.random.default_rng(seed)
    hits = np.zeros(n, dtype=bool)
    hits[np.unique(rng.exponential(n / 10, relevant).astype(int).clip(0, n - 1))] = True
    return hits


@pytest.mark.parametrize("name", STOPPING_RULES)
def test_a_rule_stops_within_the_pool_and_tells_the_recall_there(name):
    hits = ranked()
    point = STOPPING_RULES[name].stop(hits, found_before=1, seed=3)
    assert 0 < point.n_read <= len(hits)
    assert point == STOPPING_RULES[name].stop(hits, found_before=1, seed=3)
    if name not in ("sample check", "QBCB", "SAFE"):
        assert point.recall == pytest.approx(
            (1 + hits[: point.n_read].sum()) / (1 + hits.sum())
        )


@pytest.mark.parametrize(
    "name", ["finds", "Callaghan & Müller-Hansen", "IP-P", "IP-H", "50 in a row", "knee"]
)
def test_a_rule_does_not_look_ahead(name):
    hits = ranked()
    n_read = STOPPING_RULES[name].stop(hits).n_read
    changed = hits.copy()
    changed[n_read:] = ~changed[n_read:]
    assert STOPPING_RULES[name].stop(changed).n_read == n_read


def test_callaghan_and_mueller_hansen_take_the_smallest_p_value():
    hits = ranked(200, 30)
    n = CallaghanMuellerHansen(every=20).stop(hits).n_read
    for read in range(20, n + 1, 20):
        smallest = min(
            recall_p_value(
                n_unseen=200 - begin,
                n_sample=read - begin,
                n_hits=int(hits[begin:read].sum()),
                n_found=1 + int(hits[:begin].sum()),
                recall=0.95,
            )
            for begin in range(0, read, 20)
        )
        assert (smallest <= 0.05) == (read == n)
    assert CallaghanMuellerHansen(every=20, corrected=True).stop(hits).n_read >= n


def test_the_quantile_of_known_positives_is_binomial():
    """All documents relevant: the sample is the first 59 drawn, all of which must be found."""
    hits = np.ones(100, dtype=bool)
    assert binom.cdf(58, 59, 0.95) >= 0.95 > binom.cdf(57, 58, 0.95)
    drawn = np.random.default_rng(4).permutation(100)[:59]
    assert QuantileBinomial().stop(hits, seed=4).n_read == drawn.max() + 1
    assert QuantileBinomial().stop(ranked(300, 20)).n_read == 300


def test_runs_and_knees():
    hits = np.array([True, False, False, True] + [False] * 20)
    assert InARow(3).stop(hits).n_read == 7
    assert InARow(99).stop(hits).n_read == len(hits)
    steep = np.array([True] * 150 + [False] * 850)
    assert Knee().stop(steep).recall == 1.0
    assert Knee().stop(steep).n_read < 500


def test_a_point_process_finds_the_rate_that_made_the_finds():
    rng = np.random.default_rng(2)
    hits = rng.random(4000) < 0.9 / np.arange(1, 4001) ** 0.9
    assert not PointProcess("power").stop(hits).n_read < 2000


def test_chao_counts_what_one_and_two_rankers_found():
    """The limit against a hypergeometric truth: independent rankers miss no more, 95% of runs."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(400):
        found = rng.random((2, 60)) < 0.6
        by = found.sum(axis=0)
        held.append(
            np.sum(by == 0) <= chao_limit(int(np.sum(by == 1)), int(np.sum(by == 2)), 0.95)
        )
    assert np.mean(held) >= 0.93
    hits = ranked(200, 40)
    orders = [np.arange(200), np.arange(200)[::-1]]
    point = Chao(orders).stop(hits)
    assert point.n_read == 200
    with pytest.raises(ValueError, match="two rankers or more"):
        Chao(orders[:1]).stop(hits)


def test_every_part_of_a_pool_is_a_ranker_of_chao():
    rng = np.random.default_rng(0)
    topics = rng.random(60) < 0.4
    words = [
        np.where(topic, "corn wheat maize", "gold silver mine").item().split()
        for topic in topics
    ]
    texts = [
        " ".join([*rng.choice(some, 4), *rng.choice(["of", "in", "at", "by"], 3)])
        for some in words
    ]
    pool, start = Pool.of_texts(texts), (int(np.argmax(topics)), int(np.argmin(topics)))
    curve = simulate_review(pool, topics, start=start)
    rule = chao_rule(pool, topics, curve, start=start)
    assert len(rule.orders) == 3
    first = simulate_review(pool.X[:, : pool.parts[0].n_columns], topics, start=start)
    hits = curve.hits[rule.orders[0]]
    assert np.flatnonzero(hits).tolist() == (first.positions - 1).tolist()
    assert ReviewCurve.of(curve.order, topics, start).n_documents == len(hits)
    assert rule.stop(curve.hits).recall == 1.0
