import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesift.evaluation import (
    PrecisionRecallCurve,
    ReliabilityCurve,
    precision_recall_plot,
    reliability_diagram,
)
from bayesift.report import Confusion, EvaluationContent, evaluation_report
from tests.report.reading import macro, read

SHARES = st.floats(0, 1)
BINS = st.lists(
    st.tuples(SHARES, SHARES, st.integers(1, 10**9), SHARES, SHARES), min_size=1, max_size=10
).map(
    lambda bins: ReliabilityCurve(
        *(np.array(column) for column in zip(*bins, strict=True)), 0.95
    )
)
CURVES = st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=20).map(
    lambda points: curve_of(*zip(*sorted(points), strict=True))
)


def curve_of(recall, precision):
    return PrecisionRecallCurve(np.zeros(len(recall)), np.array(precision), np.array(recall))


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
    named = {f"c{i}": curve for i, curve in enumerate(curves)}
    chart = precision_recall_plot(
        named, decided={name: (c.recall[0], c.precision[0]) for name, c in named.items()}
    ).svg
    assert_inside(chart)
    read(chart)


@given(BINS)
def test_reliability_stays_inside(curve):
    for curves in (curve, {"a": curve, "b": curve}):
        chart = reliability_diagram(curves).svg
        assert_inside(chart)
        read(chart)


def test_a_curve_is_drawn_in_steps():
    chart = precision_recall_plot({"c": curve_of((0.5, 1.0), (1.0, 0.5))}).svg
    assert 'd="M46 10L182 10L182 146L318 146"' in chart


def test_perfect_calibration_lies_on_the_diagonal():
    p = np.array([0.0, 0.5, 1.0])
    chart = reliability_diagram(ReliabilityCurve(p, p, np.full(3, 5), p, p, 0.95)).svg
    assert 'd="M46 282L182 146L318 10"' in chart


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_bars_and_ticks_stay_inside(value):
    bar = macro("score_bar", value, value, value)
    assert_inside(bar)
    assert f"F1 {value:.3f}, precision {value:.3f}, recall {value:.3f}" in bar


def test_confusion_names_every_cell():
    confusion = Confusion(("ham", "spam"), ((9, 1), (0, 5)), 2)
    reader = read(evaluation_report(EvaluationContent("", (), (), (), confusion=confusion)))
    assert [v for v in reader.values("title") if "assigned" in v] == [
        "ham assigned to ham: 9 of 10",
        "ham assigned to spam: 1 of 10",
        "spam assigned to spam: 5 of 5",
    ]
    assert confusion.largest() == [("ham", "spam", 1)]


def test_bars_of_words_are_as_long_as_their_weights():
    from bayesift.classifier import WordWeight

    assert "--share:50.0%" in macro(
        "word_bars", [WordWeight("wheat", 2.0), WordWeight("corn", 1.0)]
    )
