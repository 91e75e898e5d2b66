"""The printed values of the papers are complete: each has a value of ours, or a reason."""

import numpy as np
import pytest

from papers.experiment import Extent, experiment_names, experiments
from papers.printed import printed_table
from papers.sparse_bayes import TEN

NAMES = experiment_names(["all"])
ASKED = [
    *(f"sparse-bayes:table-{n}" for n in range(1, 9)),
    *(f"sparse-bayes:figure-{n}" for n in range(1, 4)),
    *(f"online:table-{n}" for n in range(2, 8)),
    "online:figure-1",
    "online:figure-2",
    "lecture:smoothings",
    "lecture:solvers",
    "topical:table-1",
    "topical:table-2",
    "hybrid:table-1",
    *(f"hybrid:figure-{n}" for n in range(1, 4)),
    *(
        f"leaderboard:{corpus}"
        for corpus in ("reuters", "20newsgroups", "ohsumed", "rcv1-sample", "sms-spam")
    ),
]


def test_every_table_and_figure_is_there():
    assert set(ASKED) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_printed_value_has_a_place(name):
    printed, grid = printed_table(name), experiments()[name].grid(Extent())
    assert {place for place, value in printed.values.items() if value is not None} <= set(grid)
    assert printed.title
    tasks = experiments()[name].tasks(Extent())
    assert len(tasks) == len(set(tasks))
    assert all(task.measure.__qualname__ == task.measure.__name__ for task in tasks), (
        "workers import it by name"
    )


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6])
def test_printed_macro_averages_are_the_means_of_the_printed_columns(number):
    printed = printed_table(f"sparse-bayes:table-{number}")
    for column in printed.columns:
        values = [printed.values[topic, column] for topic in TEN]
        assert np.mean(values) == pytest.approx(
            printed.values["macro-average", column], abs=0.11
        )


def test_printed_breakdowns_add_up():
    values = printed_table("online:table-5").values
    for strategy in ("+ig", "+rnd"):
        for why in ("classifier proper", "asked", "total"):
            parts = [
                values[f"{strategy}, {why}, {kind}", "TREC-9"]
                for kind in ("relevant", "not relevant", "total")
            ]
            assert parts[0] + parts[1] == parts[2]


def test_printed_symbols_mirror_one_another():
    values = printed_table("online:table-3").values
    mirrored = {
        (b, a): str(sign).translate(str.maketrans("<>", "><"))
        for (a, b), sign in values.items()
        if sign
    }
    assert {place: sign for place, sign in values.items() if sign} == mirrored


def test_the_mean_of_the_pairs_is_that_of_the_printed_values():
    printed = printed_table("hybrid:table-1")
    for column in printed.columns:
        values = [
            value for (row, c), value in printed.values.items() if c == column and " vs " in row
        ]
        assert np.mean(values) == pytest.approx(
            printed.values["mean of the pairs", column], abs=0.006
        )
