"""Agreement of reviewers, beside published examples and computations by other means."""

import itertools
import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from bayesift.screening import Agreement, cohen_kappa

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", example C: four observers,
# missing values.
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 * * *",
    "1 2 3 3 2 2 4 1 2 5 * 3",
    "* 3 3 3 2 3 4 2 2 5 1 *",
    "1 2 3 3 2 4 4 1 2 5 1 *",
)


def ratings_of(lines):
    return [
        {str(unit): value for unit, value in enumerate(line.split()) if value != "*"}
        for line in lines
    ]


def test_published_values_with_missing_data():
    found = Agreement.of(ratings_of(OBSERVERS))
    assert found.alpha == pytest.approx(0.743, abs=5e-4)
    assert found.ac1 == pytest.approx(0.77544, abs=5e-6)  # Gwet's irrCAC on the same table
    assert math.isnan(found.kappa)


def brute_alpha(ratings):
    """1 - observed over expected disagreement, pair by pair."""
    units = {unit for rated in ratings for unit in rated}
    values = [[rated[unit] for rated in ratings if unit in rated] for unit in units]
    values = [unit for unit in values if len(unit) > 1]
    everything = [value for unit in values for value in unit]
    observed = sum(
        sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1)
        for unit in values
    ) / len(everything)
    expected = np.mean([a != b for a, b in itertools.permutations(everything, 2)])
    return 1 - observed / expected


def brute_ac1(ratings):
    units = sorted({unit for rated in ratings for unit in rated})
    kinds = sorted({value for rated in ratings for value in rated.values()})
    values = [[rated[unit] for rated in ratings if unit in rated] for unit in units]
    agree = np.mean(
        [
            np.mean([a == b for a, b in itertools.permutations(v, 2)])
            for v in values
            if len(v) > 1
        ]
    )
    shares = [np.mean([v.count(kind) / len(v) for v in values]) for kind in kinds]
    chance = sum(p * (1 - p) for p in shares) / (len(kinds) - 1)
    return (agree - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(5))
def test_random_tables_with_missing_data(seed):
    rng = np.random.default_rng(seed)
    truth = rng.choice(["included", "excluded", "maybe"], size=60, p=[0.1, 0.8, 0.1])
    noisy = [
        np.where(rng.random(60) < 0.2, rng.permutation(truth), truth)
        for _ in range(2 + seed % 2)
    ]
    ratings = [
        {str(i): str(v) for i, v in enumerate(values) if rng.random() < 0.8} for values in noisy
    ]
    found = Agreement.of(ratings)
    assert found.alpha == pytest.approx(brute_alpha(ratings))
    assert found.ac1 == pytest.approx(brute_ac1(ratings))
    if len(ratings) == 2:
        both = sorted(set(ratings[0]) & set(ratings[1]))
        peer = cohen_kappa_score(*([rated[unit] for unit in both] for rated in ratings))
        assert found.kappa == pytest.approx(peer)
        assert found.n_records == len(both)


def test_kappa_falls_with_prevalence_and_ac1_does_not():
    ann = {str(i): "excluded" for i in range(100)} | {"0": "included", "1": "included"}
    ben = {str(i): "excluded" for i in range(100)} | {"2": "included", "3": "included"}
    found = Agreement.of([ann, ben])
    assert found.kappa < 0 < 0.9 < found.ac1
    assert found.agreement == 0.96
    assert found.prevalence == {"excluded": 0.98, "included": 0.02}


def test_nothing_to_compare():
    assert math.isnan(cohen_kappa({"1": "a"}, {"2": "a"}))
    assert math.isnan(Agreement.of([{"1": "a"}, {"2": "b"}]).alpha)
    assert Agreement.of([{"1": "a"}, {"1": "a"}]).ac1 == 1.0
