import numpy as np
import pytest
from scipy import sparse

from bayesift.evaluation import linear_utility, scaled_utility, t9p, t9u, zero_returns

# Three topics over 300 documents: R+ 30 N+ 10 of R 40; R+ 2 N+ 150 of R 4; nothing retrieved of R
# 5.
Y = np.zeros((300, 3), dtype=int)
RETRIEVED = np.zeros((300, 3), dtype=int)
Y[:40, 0] = 1
RETRIEVED[10:50, 0] = 1
Y[:4, 1] = 1
RETRIEVED[2:154, 1] = 1
Y[:5, 2] = 1


def test_t9p_by_hand():
    assert t9p(Y, RETRIEVED, average=None) == pytest.approx([30 / 50, 2 / 152, 0])
    assert t9p(Y, RETRIEVED) == pytest.approx((30 / 50 + 2 / 152) / 3)
    assert t9p(Y, RETRIEVED, target=10, average=None)[0] == 30 / 40


def test_utilities_by_hand():
    assert linear_utility(Y, RETRIEVED, average=None).tolist() == [50, -146, 0]
    assert t9u(Y, RETRIEVED, average=None).tolist() == [50, -100, 0]
    assert t9u(Y, RETRIEVED, floor=-400) == pytest.approx(-96 / 3)
    gains = ((0.1, -1), (-2, 3))
    assert linear_utility(Y, RETRIEVED, gains=gains, average=None) == pytest.approx(
        [3 * 30 - 10 - 2 * 10 + 0.1 * 250, 3 * 2 - 150 - 2 * 2 + 0.1 * 146, -2 * 5 + 0.1 * 295]
    )


def test_scaled_utility_by_hand():
    assert scaled_utility(Y, RETRIEVED, average=None) == pytest.approx([50 / 80, -100 / 8, 0])
    assert scaled_utility(Y, RETRIEVED, scaling="unit", average=None) == pytest.approx(
        [150 / 180, 0, 100 / 110]
    )
    assert scaled_utility(Y, Y) == 1
    assert scaled_utility([0, 0], [1, 0], average=None).tolist() == [0]


def test_zero_returns():
    assert zero_returns(RETRIEVED) == zero_returns(sparse.csr_array(RETRIEVED)) == 1
    assert zero_returns([0, 0]) == 1


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="target must be at least 1"):
        t9p(Y, RETRIEVED, target=0)
    with pytest.raises(ValueError, match="scaling must be one of trec-9, unit"):
        scaled_utility(Y, RETRIEVED, scaling="log")
