"""The experts of an online stack, against their formulas in NumPy."""

import numpy as np
import pytest

from bayesift.kernels import online_experts as kernels
from bayesift.kernels.online_experts import ExpertArrays, Prediction
from tests.oracles import online_stack as oracle
from tests.oracles.sparse import random_rows

RATES = np.array([4.0, 16.0])
TABLES = kernels.count_tables(32)


def nothing_learned(n_terms, n_categories):
    n_fields = kernels.FIRST_RATE + len(RATES)
    return ExpertArrays(
        np.zeros((n_terms, n_fields, n_categories)),
        np.zeros(n_terms),
        np.zeros((n_fields, n_categories)),
        np.zeros(n_categories),
        np.array([0.0, 0.0, 1.0]),
    )


def test_tables_of_counts():
    tables = kernels.count_tables(5)
    np.testing.assert_allclose(tables[:, 1], np.log(np.arange(5) + 0.1))
    np.testing.assert_allclose(tables[1:, 0], np.arange(1, 5) * np.log(np.arange(1, 5)))
    assert tables[0, 0] == 0.0


@pytest.mark.parametrize("count", [0.0, 1.0, 7.0, 31.0, 32.0, 1000.0])
def test_powers_of_counts_beyond_the_table(count):
    expected = count * np.log(count) if count else 0.0
    np.testing.assert_allclose(kernels.whole_log_power(count, TABLES), expected)
    whole = kernels.split_log_power(1000.0, count, TABLES)
    rest = 1000.0 - count
    np.testing.assert_allclose(whole, expected + (rest * np.log(rest) if rest else 0.0))


@pytest.mark.parametrize(
    ("n", "inside", "with_term", "both"), [(9, 3, 4, 2), (9, 0, 4, 0), (50, 20, 1, 1)]
)
def test_likelihood_ratio_and_variance(n, inside, with_term, both):
    margins = kernels.whole_log_power(n, TABLES)
    margins -= kernels.split_log_power(n, inside, TABLES)
    margins -= kernels.split_log_power(n, with_term, TABLES)
    ratio = kernels.likelihood_ratio(n, inside, with_term, both, margins, TABLES)
    expected = oracle.likelihood_ratio(n, inside, with_term, both)
    np.testing.assert_allclose(ratio, expected, atol=1e-10)
    prior = oracle.prior_variance(64.0, expected)
    found = kernels.posterior_variance(64.0, ratio, 0.3)
    np.testing.assert_allclose(found, 1.0 / (1.0 / prior + 0.3))


def test_a_changed_weight_has_the_moments_of_the_update():
    x, g, q, spread, shift = 0.7, 0.4, -0.2, 1.3, 0.5
    after, change = kernels.changed_weight(x, g, q, spread, shift)
    variance = spread + q * (spread * x) ** 2
    np.testing.assert_allclose(1.0 / variance, 1.0 / spread + change)
    np.testing.assert_allclose(after * variance, shift * spread + g * spread * x)


@pytest.mark.parametrize(("n_terms", "n_categories"), [(1, 1), (6, 4)])
def test_odds_before_every_document(n_terms, n_categories):
    stack = oracle.Stack(n_terms, n_categories, tuple(RATES))
    experts = nothing_learned(n_terms, n_categories)
    rows = random_rows(30, n_terms)
    labels = np.random.default_rng(1).integers(0, 2, (30, n_categories)).astype(float)
    for i in range(30):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        x = oracle.unit(rows[[i]].toarray()[0])
        values = x[rows.indices[part]]
        room = Prediction(
            np.empty((3, n_categories)),
            np.empty((len(values) + 1, n_categories)),
            np.empty((5, n_categories)),
        )
        kernels.expert_odds(rows.indices[part], values, 64.0, experts, TABLES, room)
        expected = [stack.experts(x, c) for c in range(n_categories)]
        np.testing.assert_allclose(room.odds.T, expected, rtol=1e-6, atol=1e-8)
        kernels.learn_experts(rows.indices[part], values, labels[i], RATES, experts, room)
        stack.learn(rows[[i]].toarray()[0], labels[i])
    np.testing.assert_array_equal(experts.frequencies, stack.seen)
    np.testing.assert_array_equal(experts.weights[:, kernels.COUNT].T, stack.both)
