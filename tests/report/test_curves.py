from xml.etree import ElementTree

import numpy as np
import pytest

from bayesift.report.axes import BOTTOM, LEFT, RIGHT, TOP, Axis, across, up
from bayesift.report.curves import BoxPlot, Diagram, LinePlot, _quantile, plot_figure
from bayesift.reproduce.pictures import standalone_svg

PLOTS = [
    LinePlot("Lines", "x <1>", "y", {"a & b": [(0, 1.0), (3, 9.0)], "c": [(1, 2.0)]}, marked=True),
    LinePlot("Logarithms", "rank", "count", {"terms": [(1, 5000.0), (300, 2.0)]}, x_log=True, y_log=True),
    LinePlot("Flat", "x", "y", {"a": [(0, 5.0), (1, 5.0)]}),
    BoxPlot("Boxes", "F1", {"SVM": {"paper": [1.0, 2.0, 9.0], "ours": [3.0]}, "NB": {"ours": [2.0, 2.0]}}),
    Diagram("Nodes", {"a": (40.0, 40.0), "b*": (100.0, 120.0)}, [("a", "b*")], {"n": (10.0, 10.0, 120.0, 150.0)}),
]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.title)
def test_drawings_are_well_formed(plot):
    ElementTree.fromstring(plot.svg)
    ElementTree.fromstring(standalone_svg(plot))
    ElementTree.fromstring(plot_figure(plot).replace("<wbr>", ""))
    assert "nan" not in plot.svg


@pytest.mark.parametrize(("low", "high"), [(0, 93), (-45.7, -34.3), (0.001, 0.007), (5, 5), (0, 0), (96.2, 1e6)])
def test_ticks_are_round_and_hold_all_values(low, high):
    axis = Axis.over("x", [low, high])
    assert axis.ticks[0] <= low <= high <= axis.ticks[-1]
    assert 2 <= len(axis.ticks) <= 8
    steps = np.diff(axis.ticks)
    assert np.allclose(steps, steps[0])
    assert round(steps[0] / 10 ** np.floor(np.log10(steps[0]) + 1e-9), 6) in (1, 2, 5)


def test_places_run_from_corner_to_corner():
    axis = Axis.over("x", [1, 1000], log=True)
    assert (across(axis, 1), across(axis, 1000)) == (LEFT, RIGHT)
    assert (up(axis, 1), up(axis, 1000)) == (BOTTOM, TOP)
    assert across(axis, 10) == pytest.approx(LEFT + (RIGHT - LEFT) / 3, abs=0.1)


def test_quantiles_are_those_of_numpy():
    numbers = sorted(np.random.default_rng(0).normal(size=11).tolist())
    for share in (0, 0.25, 0.5, 0.75, 1):
        assert _quantile(numbers, share) == pytest.approx(np.quantile(numbers, share))
