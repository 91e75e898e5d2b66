"""Charts as SVG, drawn without any other package: figures of panels of layers.

Every chart shows itself in a notebook, is written by `save`, and fits into a report, which lends it
its colours.
"""

from bayesift.charts.panels import (
    Axis,
    Band,
    Bars,
    Cells,
    CountBars,
    Figure,
    Frame,
    Intervals,
    Layer,
    Line,
    Panel,
    PointLabels,
    Points,
    Rule,
    Zone,
)
from bayesift.charts.svg import Chart, Key

__all__ = [
    "Axis",
    "Band",
    "Bars",
    "Cells",
    "Chart",
    "CountBars",
    "Figure",
    "Frame",
    "Intervals",
    "Key",
    "Layer",
    "Line",
    "Panel",
    "PointLabels",
    "Points",
    "Rule",
    "Zone",
]
