"""Pictures of topics and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.extras import require
from bayesift.models.topics.sparse_nmf import SparseNMF

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray[Any, Any]

_BAR, _GRID = "#2b6cb0", "#e2e8f0"
_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#4a5568")


def topic_bars(
    nmf: SparseNMF, names: Sequence[str] | Array, *, topics: Sequence[int] | None = None, k: int = 8, title: str = ""
) -> Figure:
    """Each topic as bars of its most relevant terms, as long as their shares of the topic.

    Parameters
    ----------
    nmf : the fitted encoder
    names : the terms in the order of columns
    topics : which ones; all without
    k : how many terms of each
    title : of the picture

    Examples
    --------
    >>> nmf = SparseNMF(n_components=2).fit([[3, 2, 0], [1, 1, 0], [0, 0, 2], [0, 0, 1]])
    >>> len(topic_bars(nmf, ["wheat", "corn", "oil"], k=2).axes)
    2
    """
    chosen = list(range(nmf.components_.shape[0])) if topics is None else list(topics)
    words, columns = nmf.topic_words(names, k), nmf.topic_terms(k)
    n_columns = min(4, len(chosen))
    n_rows = -(-len(chosen) // n_columns)
    size = (2.9 * n_columns, (0.5 + 0.22 * k) * n_rows + 0.4)
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=size, layout="constrained")
    for place, topic in enumerate(chosen):
        axes = figure.add_subplot(n_rows, n_columns, place + 1)
        shares = nmf.components_[topic, columns[topic]]
        heights = np.arange(len(shares))
        axes.barh(heights, shares, color=_BAR, height=0.7)
        axes.set_yticks(heights, words[topic], fontsize=9)
        axes.invert_yaxis()
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.set_title(f"topic {topic}", loc="left", fontsize=10, color="#4a5568")
        axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left")
    return figure


def sparsity_curves(codes: Mapping[str, Array], *, title: str = "") -> Figure:
    """How fast codes fall off: the mean share of a document's j-th largest topic.

    Parameters
    ----------
    codes : documents x topics, by name
    title : of the picture

    Examples
    --------
    >>> sparsity_curves({"alpha 0": np.eye(3)}).axes[0].get_legend().get_texts()[0].get_text()
    'alpha 0: 1.0 topics a document, Hoyer 1.00'
    """
    figure: Figure = require("matplotlib.figure", extra="plots").Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for colour, (name, values) in zip(_COLOURS * len(codes), codes.items(), strict=False):
        spoken = values[values.sum(axis=1) > 0]
        shares = -np.sort(-spoken, axis=1) / spoken.sum(axis=1, keepdims=True)
        active = np.count_nonzero(spoken, axis=1).mean()
        label = f"{name}: {active:.1f} topics a document, Hoyer {hoyer_sparsity(spoken).mean():.2f}"
        axes.plot(np.arange(1, shares.shape[1] + 1), shares.mean(axis=0), color=colour, marker="o", ms=3, label=label)
    axes.set(xlabel="rank of the topic in the document", ylabel="mean share of the code", ylim=(0, None))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.grid(color=_GRID)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def hoyer_sparsity(codes: Array) -> Array:
    """Hoyer's measure of each code: 0 where all topics are equal, 1 where there is only one.

    Examples
    --------
    >>> hoyer_sparsity(np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])).tolist()
    [1.0, 0.0]
    """
    root = np.sqrt(codes.shape[1])
    lengths = np.sqrt(np.sum(codes**2, axis=1))
    ratio = np.divide(codes.sum(axis=1), lengths, out=np.ones(len(codes)), where=lengths > 0)
    sparsity: Array = (root - ratio) / max(root - 1, np.finfo(float).tiny)
    return sparsity
