import numpy as np
import pytest
from scipy import sparse

from bayesift.models.online import OnlinePerceptron
from bayesift.models.online.bank import PosteriorBank, check_settings
from bayesift.models.online.posteriors import (
    DiagonalPosterior,
    Dynamics,
    FullPosterior,
    LowRankPosterior,
    check_clock,
    new_clock,
)


@pytest.mark.parametrize(
    ("kind", "extra"),
    [(FullPosterior, {}), (DiagonalPosterior, {}), (LowRankPosterior, {"rank": 1})],
)
def test_fields_at_the_prior_and_growth(kind, extra):
    posterior = kind.at_prior(3, Dynamics(prior=2.0), **extra)
    assert posterior.fields(sparse.csr_array([[1.0, 0.0, 2.0]])).tolist() == [[0.0], [10.0]]
    posterior.grow(4, Dynamics(prior=2.0))
    assert posterior.size == 4
    assert posterior.mean().tolist() == [0.0] * 4
    assert posterior.covariance().diagonal().tolist() == [2.0] * 4


def test_moving_the_prior_moves_the_mean():
    posterior = FullPosterior.at_prior(2, Dynamics(prior=2.0))
    posterior.move_prior(np.array([0.0, 3.0]), Dynamics(prior=2.0))
    assert posterior.mean().tolist() == [0.0, 3.0]


def test_a_new_clock_is_valid():
    assert new_clock().tolist() == [0.0, 1.0, 0.0, 1.0]
    check_clock(new_clock(), 8)


def test_a_bank_has_a_posterior_for_each_model():
    check_settings(OnlinePerceptron(n_epochs=1))
    bank = PosteriorBank()
    bank.grow(2, 3, None, OnlinePerceptron())
    assert [posterior.size for posterior in bank.posteriors] == [4, 4]
