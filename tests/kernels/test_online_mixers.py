"""The mixers of an online stack, against regressions with dense matrices."""

import numpy as np
import pytest

from bayesift.kernels import online_mixers as kernels
from bayesift.kernels.online_mixers import KNOTS, MixerInputs, Mixers
from tests.oracles.online_stack import Regression, Stack

N_EXPERTS = 5


def as_rows(*regressions):
    """Groups x inputs x (mean, covariance)."""
    return np.stack([np.column_stack([each.mean, each.covariance]) for each in regressions])


def mixers_of(stack):
    return Mixers(
        as_rows(stack.shared),
        as_rows(*stack.by_size),
        as_rows(stack.competition),
        as_rows(*stack.own),
        as_rows(*stack.calibration),
    )


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 14, 15, 100, 255, 256, 40_000])
def test_size_groups_are_logarithms(count):
    assert kernels.size_group(float(count)) == min(int(np.log2(count + 1)), 15)


@pytest.mark.parametrize("scores", [[0.5], [0.5, -1.0], [0.3, 2.0, -1.0], [800.0, 0.0, -800.0]])
def test_competition_of_categories(scores):
    rows = np.zeros((len(scores), 6))
    rows[:, kernels.OWN] = scores
    assert kernels.compete(rows) == np.argmax(scores)
    for c in range(len(scores)):
        others = np.logaddexp.reduce(np.delete(scores, c)) if len(scores) > 2 else 0.0
        np.testing.assert_allclose(rows[c, :3], [scores[c], others, 1.0])


@pytest.mark.parametrize("n_inputs", [1, 4])
def test_one_step_of_a_regression(n_inputs):
    generator = np.random.default_rng(0)
    regression = Regression(generator.normal(size=n_inputs), 0.1 + generator.random(n_inputs))
    mixers, inputs = as_rows(regression), generator.normal(size=(2, n_inputs))
    for label in (1.0, 0.0, 1.0):
        kernels.learn_mixer(inputs, 1, 0.3, label, mixers, 0, np.empty(n_inputs))
        regression.learn(inputs[1], label, 0.3)
    np.testing.assert_allclose(mixers, as_rows(regression), atol=1e-12)


@pytest.mark.parametrize("n_categories", [1, 2, 4])
def test_mixed_odds_and_their_updates(n_categories):
    generator, stack = np.random.default_rng(2), Stack(1, n_categories)
    mixers = mixers_of(stack)
    inputs = MixerInputs(
        np.empty((n_categories, N_EXPERTS + 1)),
        np.empty((n_categories, 6)),
        np.empty((n_categories, len(KNOTS))),
        np.empty((3, n_categories)),
    )
    counts, scores = np.zeros(n_categories), np.empty(n_categories)
    for _ in range(20):
        odds = 2.0 * generator.normal(size=(N_EXPERTS, n_categories))
        labels = generator.integers(0, 2, n_categories).astype(float)
        stack.experts = lambda x, c, odds=odds: odds[:, c]
        best = kernels.mix(odds, counts, KNOTS, mixers, inputs, scores)
        expected, seen = stack.scores(None)
        np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)
        assert [top for *_, top in seen].index(1) == best
        kernels.learn_mixers(best, labels, counts, mixers, inputs, np.empty(len(KNOTS)))
        for c, (z, shared, group, u, wide, base, score, bent, top) in enumerate(seen):
            stack.shared.learn(z, labels[c])
            if n_categories > 2:
                stack.by_size[group].learn(z, labels[c], shared)
                stack.competition.learn(wide, labels[c])
            stack.own[c].learn(u, labels[c], base)
            stack.calibration[top].learn(bent, labels[c], score)
        counts += labels
        stack.inside += labels
    for found, wanted in zip(mixers, mixers_of(stack), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)
