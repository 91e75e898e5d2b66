from xml.etree import ElementTree

import numpy as np
import pytest

from papers.pictures import BoxPlot, Diagram, LinePlot, _quantile
from tests.report.reading import macro

PLOTS = [
    LinePlot(
        "Lines", "x <1>", "y", {"a & b": [(0, 1.0), (3, 9.0)], "c": [(1, 2.0)]}, marked=True
    ),
    LinePlot(
        "Logarithms",
        "rank",
        "count",
        {"terms": [(1, 5000.0), (300, 2.0)]},
        x_log=True,
        y_log=True,
    ),
    LinePlot("Flat", "x", "y", {"a": [(0, 5.0), (1, 5.0)]}),
    BoxPlot(
        "Boxes",
        "F1",
        {"SVM": {"paper": [1.0, 2.0, 9.0], "ours": [3.0]}, "NB": {"ours": [2.0, 2.0]}},
    ),
    Diagram(
        "Nodes",
        {"a": (40.0, 40.0), "b*": (100.0, 120.0)},
        [("a", "b*")],
        {"n": (10.0, 10.0, 120.0, 150.0)},
    ),
]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.title)
def test_drawings_are_well_formed(plot):
    ElementTree.fromstring(plot.svg)
    ElementTree.fromstring(plot.to_svg())
    ElementTree.fromstring(macro("figure", plot).replace("<wbr>", ""))
    assert "nan" not in plot.svg


def test_quantiles_are_those_of_numpy():
    numbers = sorted(np.random.default_rng(0).normal(size=11).tolist())
    for share in (0, 0.25, 0.5, 0.75, 1):
        assert _quantile(numbers, share) == pytest.approx(np.quantile(numbers, share))
