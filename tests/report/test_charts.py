import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.report.bars import score_bar
from bayesift.report.charts import precision_recall_chart, reliability_chart
from bayesift.report.confusion import confusion_table, largest_confusions
from bayesift.report.content import Confusion, Curve, ReliabilityBin
from tests.report.reading import read

SHARES = st.floats(0, 1)
BINS = st.builds(ReliabilityBin, SHARES, SHARES, SHARES, SHARES, st.integers(0, 10**9))
CURVES = st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=20).map(
    lambda points: Curve("c", *zip(*sorted(points), strict=True), 0.5, points[0])
)


def assert_inside(chart):
    width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', chart).groups())
    for x, y in re.findall(r"[ML]([\d.e-]+) ([\d.e-]+)", chart):
        assert 0 <= float(x) <= width
        assert 0 <= float(y) <= height
    for name, limit in (("x", width), ("cx", width), ("y", height), ("cy", height)):
        for value in re.findall(rf' {name}="([^"]+)"', chart):
            assert 0 <= float(value) <= limit


@given(st.lists(CURVES, max_size=8))
def test_curves_stay_inside(curves):
    chart = precision_recall_chart(curves)
    assert_inside(chart)
    read(chart)


@given(st.lists(BINS, max_size=10))
def test_reliability_stays_inside(bins):
    chart = reliability_chart(bins)
    assert_inside(chart)
    read(chart)


def test_a_curve_is_drawn_in_steps():
    chart = precision_recall_chart([Curve("c", (0.5, 1.0), (1.0, 0.5), 0.75)])
    assert 'd="M46 10L182 10L182 146L318 146"' in chart


def test_perfect_calibration_lies_on_the_diagonal():
    chart = reliability_chart([ReliabilityBin(p, p, p, p, 5) for p in (0.0, 0.5, 1.0)])
    assert 'd="M46 282L182 146L318 10"' in chart


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_bars_and_ticks_stay_inside(value):
    assert_inside(score_bar(value, value, value))


def test_confusion_names_every_cell():
    confusion = Confusion(("ham", "spam"), ((9, 1), (0, 5)), 2)
    reader = read(confusion_table(confusion))
    assert [v for v in reader.values("title") if "decided" in v] == [
        "ham decided as ham: 9 of 10",
        "ham decided as spam: 1 of 10",
        "spam decided as spam: 5 of 5",
    ]
    assert largest_confusions(confusion) == [("ham", "spam", 1)]
