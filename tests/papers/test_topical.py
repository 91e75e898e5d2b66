"""Votes of neighbours with ties, against a plain loop; cells that need a long run."""

import numpy as np
import pytest

from bayesift.models.baselines.neighbors import squared_distances
from papers.experiment import Absent, Extent, experiments
from papers.topical import Neighbours, leave_one_out


def weigh(distances):
    return 1 / (1 + distances)


def votes_by_hand(distances, categories, k):
    reach = np.sort(distances)[min(k, np.isfinite(distances).sum()) - 1]
    near = distances <= reach + 1e-9
    return weigh(distances[near]) @ categories[near]


@pytest.fixture(scope="module")
def points():
    generator = np.random.default_rng(0)
    return generator.integers(0, 3, (60, 3)).astype(float), np.eye(4)[
        generator.integers(0, 4, 60)
    ]


@pytest.mark.parametrize("k", [1, 3, 10, 60, 100])
def test_all_documents_as_near_as_the_last_vote(points, k):
    train, categories = points
    test = np.random.default_rng(1).integers(0, 3, (20, 3)).astype(float)
    expected = [votes_by_hand(row, categories, k) for row in squared_distances(test, train)]
    found = Neighbours(train, categories, weigh).votes(test, [k])[k]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    order = np.random.default_rng(2).permutation(60)
    shuffled = Neighbours(train[order], categories[order], weigh).votes(test, [k])[k]
    np.testing.assert_allclose(shuffled, found, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_a_document_does_not_vote_for_itself(points, k):
    train, categories = points
    rows = np.arange(0, 60, 7)
    found = Neighbours(train, categories, weigh).votes(train[rows], [k], rows)[k]
    for row, votes in zip(rows, found, strict=True):
        distances = squared_distances(train[[row]], train)[0]
        distances[row] = np.inf
        np.testing.assert_allclose(votes, votes_by_hand(distances, categories, k), atol=1e-12)


def test_leave_one_out_of_separate_groups_is_perfect():
    train = np.repeat(np.eye(3), 40, axis=0) + 0.01 * np.random.default_rng(0).random((120, 3))
    hits = leave_one_out(train, np.repeat(np.eye(3), 40, axis=0), weigh)
    assert set(hits.values()) == {1.0}


@pytest.mark.parametrize(
    ("table", "most"), [("topical:table-1", 512), ("topical:table-2", 256)]
)
def test_nine_cells_need_a_long_run(table, most):
    grids = {long: experiments()[table].grid(Extent(long=long)) for long in (False, True)}
    absent = [place for place, cell in grids[False].items() if isinstance(cell, Absent)]
    printed = [(row, column) for row, column in absent if "printed" not in row]
    assert {int(column) for _, column in absent} == {
        size for size in (512, 1024) if size > most
    }
    assert len(printed) == (3 if most == 512 else 6)
    assert not any(isinstance(cell, Absent) for cell in grids[True].values())
