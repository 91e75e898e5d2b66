"""Where rules would have ended a review: counted by hand from the order of its decisions."""

import numpy as np
import pytest

from bayesift.references import Reference
from bayesift.screening import STOPPING_RULES, CallaghanMuellerHansen, RankedRecords, ReviewLog
from bayesift.screening.hindsight import look_back

N = 300


def screened(n_read, relevant, *, out_of_order=()):
    """The records 1 to n, decided one after the other; the ranks are given."""
    records = [Reference(title=f"Wheat {number}") for number in range(N)] + [Reference()]
    log = ReviewLog(records, list(range(1, N + 2)))
    given = []
    for number in range(1, n_read + 1):
        rank = None if number in out_of_order else 1
        verdict = "included" if number in relevant else "excluded"
        given.append({"by": "ann", "record": str(number), "verdict": verdict, "rank": rank})
    log.accept(log.prepare("decide", given))
    return log, look_back(RankedRecords(log))


FOUND = {*range(1, 21), 35, N - 1}


def test_a_finished_review_tells_what_an_earlier_end_would_have_missed():
    log, _ = screened(N, FOUND)
    log.accept(
        log.prepare("decide", [{"by": "a", "record": str(N + 1), "verdict": "excluded"}])
    )
    found = look_back(RankedRecords(log))
    hits = [number in FOUND for number in range(1, N + 1)]
    assert found.curve[-1] == (N, len(FOUND))
    rules = [next(iter(STOPPING_RULES.values())), CallaghanMuellerHansen()]
    for end, rule in zip(found.ends, rules, strict=True):
        stop = rule.stop(np.array(hits), found_before=0).n_read
        assert end.n_read == (stop if stop < N else None)
        if end.n_read is not None:
            missed = [number for number in sorted(FOUND) if number > stop]
            assert end.missed == tuple(map(str, missed))
            assert f"after {stop:,} of {N} records" in " ".join(found.sentences())
    assert any(end.n_read for end in found.ends)
    assert found.sentences()[0].startswith(f"All {N + 1} records are decided")
    assert f"Of {N + 1} decisions {N} were made in the order" in found.sentences()[1]


def test_an_unfinished_review_says_that_recall_is_not_known():
    _, found = screened(40, FOUND)
    said = " ".join(found.sentences())
    assert f"{N - 39} of {N + 1} records are not read" in said
    assert "it says nothing about recall" in said
    assert "missed" not in said
    assert "does not yet say stop after these 40 records" in said


@pytest.mark.parametrize("n_read", [0, 10])
def test_decisions_that_did_not_follow_the_ranking_are_left_out(n_read):
    _, found = screened(n_read, FOUND, out_of_order=range(1, 11))
    assert found.order == ()
    assert found.sentences() == [
        "No record was read in the order of the ranking, so nothing can be said."
    ]
