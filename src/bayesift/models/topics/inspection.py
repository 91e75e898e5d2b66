"""How topics and codes look: coherence, sparsity, charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.charts import Axis, Bars, Figure, Frame, Line, Panel
from bayesift.charts.svg import series
from bayesift.models.topics.sparse_nmf import SparseNMF
from bayesift.validation import check_terms


def npmi_coherence(X: Any, components: Any, *, k: int = 10) -> Array:
    """Mean normalised pointwise mutual information of the pairs among the k largest terms of each topic.

        npmi(u, v) = log(p(u, v) / (p(u) p(v))) / -log p(u, v)

    p are shares of documents; -1 for terms that never meet, 0 for independent ones, 1 for terms
    that occur only together (Bouma 2009; Lau, Newman & Baldwin 2014). X is documents x terms,
    `components` topics x terms.

    Examples
    --------
    >>> npmi_coherence([[1, 1, 0], [1, 2, 0], [0, 0, 1]], [[0.5, 0.4, 0.1], [0.0, 0.4, 0.6]], k=2).round(6).tolist()
    [1.0, -1.0]
    """
    present = sparse.csc_array(check_terms(None, X) > 0, dtype=np.float64)
    order = np.argsort(-np.asarray(components), axis=1, kind="stable")[:, :k]
    return np.array([_topic_coherence(present[:, terms]) for terms in order])


def _topic_coherence(present: sparse.csc_array) -> float:
    joint = (present.T @ present).toarray() / present.shape[0]
    upper = np.triu_indices(len(joint), 1)
    together, apart = joint[upper], np.outer(np.diag(joint), np.diag(joint))[upper]
    values = np.full(len(together), -1.0)
    values[together == 1] = 1.0
    met = (together > 0) & (together < 1)
    values[met] = np.log(together[met] / apart[met]) / -np.log(together[met])
    return float(values.mean()) if len(values) else 0.0


_WIDTH, _NAMES, _ROW = 190, 84, 16


def topic_bars(
    nmf: SparseNMF,
    names: Sequence[str] | Array,
    *,
    topics: Sequence[int] | None = None,
    k: int = 8,
    title: str = "",
) -> Figure:
    """Each topic (all without `topics`) as bars of its k most relevant terms, as long as their weights in the topic.

    Examples
    --------
    >>> nmf = SparseNMF(n_components=2).fit([[3, 2, 0], [1, 1, 0], [0, 0, 2], [0, 0, 1]])
    >>> len(topic_bars(nmf, ["wheat", "corn", "oil"], k=2).panels)
    2
    """
    chosen = list(range(nmf.components_.shape[0])) if topics is None else list(topics)
    words, columns = nmf.topic_words(names, k), nmf.topic_terms(k)
    n_columns, height = min(4, len(chosen)), _ROW * k + 34
    panels = []
    for place, topic in enumerate(chosen):
        weights = nmf.components_[topic, columns[topic]].tolist()
        rows = [(word, weight, "") for word, weight in zip(words[topic], weights, strict=True)]
        left, top = _WIDTH * (place % n_columns) + _NAMES, height * (place // n_columns) + 26
        frame = Frame(left, left + _WIDTH - _NAMES - 14, top, top + _ROW * k)
        x = Axis("", (0.0, max(weights, default=1.0) or 1.0))
        bars = [Bars(rows, _ROW)]
        panels.append(Panel(x, x, bars, frame, f"topic {topic}", x_shown=False, y_shown=False))
    n_rows = -(-len(chosen) // n_columns)
    return Figure(title or "Topics", panels, width=_WIDTH * n_columns, height=height * n_rows)


def sparsity_curves(codes: Mapping[str, Array], *, title: str = "") -> Figure:
    """How sparse named codes (documents x topics) are: the mean share of a document's j-th largest topic.

    Examples
    --------
    >>> sparsity_curves({"alpha 0": np.eye(3)}).legend[0].name
    'alpha 0: 1.0 topics per document, Hoyer 1.00'
    """
    lines = []
    for place, (name, values) in enumerate(codes.items()):
        coded = values[values.sum(axis=1) > 0]
        shares = (-np.sort(-coded, axis=1) / coded.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
        active = np.count_nonzero(coded, axis=1).mean()
        label = (
            f"{name}: {active:.1f} topics per document, Hoyer {hoyer_sparsity(coded).mean():.2f}"
        )
        points = [(float(rank), share) for rank, share in enumerate(shares, 1)]
        lines.append(Line(points, series(place), label, marked=True))
    x = Axis.over(
        "rank of the topic in the document",
        [rank for line in lines for rank, _ in line.points],
        log=True,
    )
    y = Axis.over(
        "mean share of the code", [0.0, *(share for line in lines for _, share in line.points)]
    )
    return Figure(title or "Sparsity of codes", [Panel(x, y, lines, Frame(right=480))], width=504)


def hoyer_sparsity(codes: Array) -> Array:
    """Hoyer's measure of each code: 0 where all topics are equal, 1 where there is only one."""
    root = np.sqrt(codes.shape[1])
    lengths = np.sqrt(np.sum(codes**2, axis=1))
    ratio = np.divide(codes.sum(axis=1), lengths, out=np.ones(len(codes)), where=lengths > 0)
    sparsity: Array = (root - ratio) / max(root - 1, np.finfo(float).tiny)
    return sparsity
