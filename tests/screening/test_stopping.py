"""Stopping: the bounds against counting and over many made-up pools."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import hypergeom

from bayesift.screening import (
    RemainingRelevant,
    SampleCheck,
    allowed_missing,
    recall_p_value,
    remaining_relevant,
    sample_size,
)
from bayesift.screening.stopping.sampling import run_p_value


def tail(N, K, n, h):
    """P(at most h hits), by counting."""
    return sum(Fraction(comb(K, i) * comb(N - K, n - i), comb(N, n)) for i in range(h + 1))


@pytest.mark.parametrize("n_found", [0, 3, 19, 40])
@pytest.mark.parametrize("recall", [Fraction(1, 2), Fraction(9, 10), Fraction(19, 20)])
def test_p_value_is_the_worst_case_over_all_that_fall_short(n_found, recall):
    N = 25
    for n in range(0, N + 1, 4):
        for h in range(min(n, 3) + 1):
            short = [K for K in range(h, N - n + h + 1) if n_found + h < recall * (n_found + K)]
            worst = max((tail(N, K, n, h) for K in short), default=0)
            given = recall_p_value(
                n_unseen=N, n_sample=n, n_hits=h, n_found=n_found, recall=float(recall)
            )
            assert given == pytest.approx(float(worst), abs=1e-12)


@pytest.mark.parametrize("missing", [1, 4, 30])
def test_p_value_of_a_run_is_the_smallest_of_all_beginnings(missing):
    """Against the hypergeometric distribution of scipy, a million documents among the cases."""
    rng = np.random.default_rng(missing)
    for n_documents in (60, 3000, 1_000_000):
        judgements = rng.random(50) < np.linspace(0.6, 0.0, 50)
        counts = np.concatenate([[0], judgements.cumsum()])
        begins = np.arange(50)
        hits = np.array([judgements[begin:].sum() for begin in begins])
        drawn = 50 - begins
        each = hypergeom.cdf(hits, n_documents - begins, hits + missing, drawn)
        possible = n_documents - 50 >= missing
        expected = each.min() if possible else 0.0
        given = run_p_value(
            counts, n_read=50, n_documents=n_documents, missing=missing, every=1
        )
        assert given == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "recall", [Fraction(1, 2), Fraction(7, 10), Fraction(19, 20), Fraction(99, 100)]
)
def test_allowed_missing_is_exact(recall):
    for found in range(300):
        allowed = allowed_missing(found, float(recall))
        assert found >= recall * (found + allowed)
        assert found < recall * (found + allowed + 1) or found == 0


def test_sample_size_is_the_smallest_that_proves_it():
    asked = {"n_unseen": 200, "n_found": 50, "recall": 0.95}
    n = sample_size(**asked)
    assert (
        recall_p_value(n_sample=n, n_hits=0, **asked)
        <= 0.05
        < recall_p_value(n_sample=n - 1, n_hits=0, **asked)
    )


def test_likelihood_ratio_is_that_of_counting():
    """The set of a check after some draws, by Bayes' rule in fractions."""
    N, draws = 12, [False, True, False, False, False, True, False, False]
    check = SampleCheck(n_unseen=N, n_found=5, confidence=0.8)
    prior = [Fraction(1, (K + 1) * (K + 2)) for K in range(N + 1)]
    total = sum(prior)
    kept = set(range(N + 1))
    for n, relevant in enumerate(draws, start=1):
        check.draw(relevant=relevant)
        h = sum(draws[:n])
        likelihoods = [
            Fraction(comb(n, h) * comb(N - n, K - h) if h <= K else 0, comb(N, K))
            for K in range(N + 1)
        ]
        evidence = sum(p / total * like for p, like in zip(prior, likelihoods, strict=True))
        kept &= {K for K in kept if likelihoods[K] > evidence * Fraction(1, 5)}
        assert check.missing_bound == min(max(kept) - h, N - n)


@pytest.mark.parametrize("n_relevant", [0, 1, 4, 12])
def test_the_bound_holds_at_all_draws_together(n_relevant):
    N, runs, wrong = 50, 150, 0
    expected = RemainingRelevant(np.array([0, 0, 0, 1]), n_found=30)  # far too sure of itself
    rng = np.random.default_rng(n_relevant)
    for _ in range(runs):
        pool = np.zeros(N, dtype=bool)
        pool[rng.choice(N, n_relevant, replace=False)] = True
        check = SampleCheck(n_unseen=N, n_found=30, expected=expected, confidence=0.9)
        for place, relevant in enumerate(pool):
            check.draw(relevant=bool(relevant))
            if check.missing_bound < pool[place + 1 :].sum():
                wrong += 1
                break
    assert wrong / runs <= 0.1 + 3 * np.sqrt(0.09 / runs)


def test_all_drawn_is_all_known():
    check = SampleCheck(n_unseen=5, n_found=1)
    for relevant in (True, False, False, False, True):
        check.draw(relevant=relevant)
    assert (check.missing_bound, check.reaches(0.99)) == (0, True)
    with pytest.raises(ValueError, match="all documents are drawn"):
        check.draw(relevant=False)


def test_a_right_forecast_makes_the_sample_short():
    def draws_until_proved(expected):
        check = SampleCheck(n_unseen=1000, n_found=60, expected=expected)
        while not check.reaches(0.95):
            check.draw(relevant=False)
        return check.n_drawn

    sure = draws_until_proved(RemainingRelevant(np.zeros(100, dtype=int), n_found=60))
    assert sure < draws_until_proved(None)
    assert sure <= sample_size(n_unseen=1000, n_found=60, recall=0.95) + 20


def test_number_of_independent_documents_has_its_moments():
    """Without uncertainty of scores the number is Poisson binomial."""
    means = np.linspace(-4, 1, 200)
    p = 1 / (1 + np.exp(-means))
    draws = remaining_relevant(means, np.zeros((200, 1)), n_found=0, draws=20_000).draws
    assert draws.mean() == pytest.approx(p.sum(), abs=0.2)
    assert draws.var() == pytest.approx((p * (1 - p)).sum(), rel=0.05)


def test_shared_uncertainty_widens_the_interval():
    means = np.full(200, -3.0)
    narrow = remaining_relevant(means, np.zeros((200, 1)), n_found=0).interval(0.95)
    wide = remaining_relevant(means, np.ones((200, 1)), n_found=0).interval(0.95)
    assert wide[0] <= narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("bad", [0.0, 1.0, -1, 2])
def test_shares_are_checked(bad):
    with pytest.raises(ValueError, match="recall must lie between 0 and 1"):
        allowed_missing(3, bad)
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        SampleCheck(n_unseen=3, n_found=0, confidence=bad)


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="must not fall short"):
        recall_p_value(n_unseen=5, n_sample=6, n_hits=0, n_found=1, recall=0.9)
