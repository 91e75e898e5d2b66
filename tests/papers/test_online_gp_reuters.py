"""Chai, Ng & Chieu (2002), Table 2: Gaussian processes on Reuters (ModApte), three thresholds."""

import pytest

from papers.online import RULES, measure_system
from papers.printed import paper


@pytest.mark.slow
@pytest.mark.corpus("reuters21578.tar.gz")
@pytest.mark.parametrize("row", ["GP-1", "GP-2", "GP-R1"])
def test_table_2_of_the_online_paper(row):
    printed = dict(paper("online").tables["table-2"].rows)[row]
    measured = measure_system(row=row, quick=False, seed=0)
    for place, rule in enumerate(RULES):
        micro, macro = printed[2 * place : 2 * place + 2]
        assert measured[f"{rule} micro"][0] == pytest.approx(micro, abs=0.7), rule
        assert measured[f"{rule} macro"][0] == pytest.approx(macro, abs=3.0), rule
