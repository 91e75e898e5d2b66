import numpy as np

from bayesift.charts import Frame
from bayesift.screening import ReviewCurve
from benchmarks.screening import interval_holds, recall_curves, weakened


def curve():
    return ReviewCurve(np.arange(300), np.arange(1, 41), 300)


def test_recall_curves_name_each_ranking():
    panel = recall_curves({"by relevance": [curve()]}, Frame(), "a review")
    assert [layer.key.name for layer in panel.layers if layer.key] == [
        "by relevance",
        "random order",
    ]


def test_weak_orders_keep_the_number_of_relevant_documents():
    assert weakened(curve(), -1.0, 0).positions.tolist() == list(range(261, 301))
    for share in (0.5, 1.0):
        positions = weakened(curve(), share, 0).positions
        assert len(positions) == 40
        assert positions.max() > 100


def test_intervals_are_looked_at_where_they_are_shown():
    assert interval_holds({"0": curve()}, every=200) == [True]
