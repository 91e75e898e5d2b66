"""Chai, Ng & Chieu (2002), Table 2: the Gaussian processes on Reuters (ModApte), three thresholds."""

from functools import cache

import pytest

from benchmarks.online_tables import PAPER, RULES, decisions_of, load, scores_of, table_2
from tests.conftest import data_dir


@cache
def reuters():
    return load(data_dir())


@pytest.mark.slow
@pytest.mark.corpus("reuters21578.tar.gz")
@pytest.mark.parametrize("row", ["GP-1", "GP-2", "GP-R1"])
def test_table_2_of_the_online_paper(row):
    data = reuters()
    scores = scores_of(row, data)
    measured = table_2({row: decisions_of(scores, data)}, data)[row]
    print(row, measured, scores.fit_wall, scores.fit_cpu)
    for rule, (micro, macro) in zip(RULES, PAPER[row], strict=True):
        assert measured[rule][0] == pytest.approx(micro, abs=0.7), rule
        assert measured[rule][1] == pytest.approx(macro, abs=3.0), rule
