"""Figure 2: words of a profile as relevant documents are retrieved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayesift.report.curves import LinePlot
from bayesift.reproduce.experiment import Experiment, Extent, PlotReading
from bayesift.reproduce.online.streams import STRATEGIES, STREAMS, stream_task, trec9_task


def _drawing(called: str) -> Callable[[Any], LinePlot]:
    def draw(result: Any) -> LinePlot:
        series = {name: list(enumerate(result[f"{s} words"])) for name, s in STRATEGIES.items()}
        return LinePlot(f"{called}: mean number of words", "relevant documents retrieved", "words", series)

    return draw


def _plots(extent: Extent) -> list[PlotReading]:
    own = trec9_task(extent)
    first = [] if own is None else [PlotReading((own,), _drawing("TREC-9"))]
    return first + [PlotReading((stream_task(s, extent),), _drawing(called)) for s, (_, called) in STREAMS.items()]


EXPERIMENT = Experiment("online:figure-2", plots=_plots)
