import pytest

from bayesift.datasets.problems import ProblemLog
from bayesift.errors import DataError


def test_refuses_or_counts():
    with pytest.raises(DataError, match="a:3: bad"):
        ProblemLog().report("bad", file="a", line=3)
    log = ProblemLog(skip=True)
    log.report("bad", file="a")
    assert [str(problem) for problem in log.problems] == ["a: bad"]
