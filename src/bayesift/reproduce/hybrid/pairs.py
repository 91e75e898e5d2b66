"""The fifteen pairs of newsgroups and the work on each."""

from __future__ import annotations

from bayesift.reproduce.experiment import Extent, Task
from bayesift.reproduce.hybrid.measuring import curves_of_pair, measure_pair
from bayesift.reproduce.printed import printed_table

TREATMENTS = {"body, raw counts": ("tf", True), "whole text, log TF-IDF": ("ltc", False)}
_FIRST, _CORPUS = "alt.atheism vs soc.religion.christian", ("20newsgroups",)


def pairs(extent: Extent) -> list[str]:
    """The pairs as the table names them; a quick run takes three."""
    rows = [row for row in printed_table("hybrid:table-1").rows if " vs " in row]
    return rows[:3] if extent.quick else rows


def pair_task(pair: str, treatment: str, extent: Extent) -> Task:
    """Measuring all systems on one pair."""
    first, second = pair.split(" vs ")
    weighting, body = TREATMENTS[treatment]
    return Task.of(
        measure_pair,
        f"hybrid: {pair}, {treatment}",
        corpora=_CORPUS,
        first=first,
        second=second,
        weighting=weighting,
        body=body,
        **extent.settings,
    )


def curves_task(extent: Extent) -> Task:
    """The curves of Figures 1 to 3, on the first pair."""
    first, second = _FIRST.split(" vs ")
    label = f"hybrid: curves of {_FIRST}"
    return Task.of(curves_of_pair, label, corpora=_CORPUS, first=first, second=second, **extent.settings)
