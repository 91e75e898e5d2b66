from bayesift.screening import ReviewCurve
from benchmarks.screening import recall_curves


def test_recall_curves_name_each_ranking():
    curve = ReviewCurve.of([1, 2], [0, 1, 1])
    assert [key.name for key in recall_curves({"by relevance": [curve]}).legend] == [
        "by relevance (ATD 2)",
        "random order",
    ]
