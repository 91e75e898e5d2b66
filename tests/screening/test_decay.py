"""How finds become rarer: the closed form against brute force, and coverage where the model is true."""

import numpy as np
import pytest

from bayesift.screening import RankDecay
from bayesift.screening.stopping import _EXPONENTS, _SCALES


def rate(t, power, reach, n):
    return (1 + t / (reach * n)) ** -power


def test_the_expected_number_is_that_of_brute_force():
    """Integrated over a, b and c by sums over fine grids, with the prior 1/a."""
    n, read, places = 120, 40, np.array([1, 2, 5, 11, 30])
    judgements = np.isin(np.arange(1, read + 1), places).tolist()
    t, scales = np.arange(1, n + 1), np.exp(np.linspace(-12, 6, 4000))
    weight = expected = 0.0
    for reach in _SCALES:
        for power in _EXPONENTS:
            r = rate(t, power, reach, n)
            seen, unseen = r[:read].sum(), r[read:].sum()
            likelihood = np.prod(scales[:, None] * r[places - 1], axis=1) * np.exp(-scales * seen)
            weight += likelihood.sum()
            expected += (likelihood * scales * unseen).sum()
    remaining = RankDecay(n).remaining(judgements, found_before=1, draws=40_000)
    spread = 4 * remaining.draws.std() / np.sqrt(40_000)
    assert remaining.mean == pytest.approx(expected / weight, abs=spread)
    assert remaining.n_found == 6


def test_intervals_hold_where_the_model_is_true():
    rng = np.random.default_rng(3)
    n, read, inside = 1000, 300, 0
    for _ in range(150):
        power, reach = rng.choice(_EXPONENTS), rng.choice(_SCALES)
        r = rate(np.arange(1, n + 1), power, reach, n)
        hits = rng.random(n) < np.minimum(40 * r / r.sum(), 1)
        low, high = RankDecay(n).remaining(hits[:read].tolist()).interval(0.9)
        inside += low <= hits[read:].sum() <= high
    assert 0.85 <= inside / 150 <= 1


def test_what_says_nothing_leaves_everything_open():
    assert RankDecay(50).remaining([False] * 10).interval(0.9) == (40, 40)
    assert RankDecay(3).remaining([True, False, False]).mean == 0
    with pytest.raises(ValueError, match="4 judgements"):
        RankDecay(3).remaining([True] * 4)
    with pytest.raises(ValueError, match="at least 1"):
        RankDecay(0)
