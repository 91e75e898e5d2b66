"""What experts and terms add to the log odds of one category of an online stack.

The mixers are linear but for moderation, clipping and calibration. Each is taken as the factor it
had for the document, so that the parts of the experts add up; what no expert said is the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.kernels.entries import entries_of
from bayesift.kernels.online_experts import (
    ADDED,
    COUNT,
    DOCUMENTS,
    FIRST_RATE,
    PAIRS,
    SHIFT,
    TERMS,
    ExpertArrays,
    Prediction,
    expert_odds,
)
from bayesift.kernels.online_mixers import KNOTS, N_SIZES, OTHERS, OWN, MixerInputs, mix
from bayesift.kernels.online_stack import weigh_rows
from bayesift.models.online.posteriors import tables
from bayesift.models.online.stack_state import OTHER_EXPERTS, StackState


@dataclass(frozen=True, eq=False)
class ExpertParts:
    """The documents and the category that are explained.

    `sign` is -1 for the first of two classes.
    """

    state: StackState
    settings: Any
    rows: SparseRows
    index: int
    sign: float


class _Path(NamedTuple):
    """The factors of experts, the part of other categories and the resulting log odds."""

    slopes: FloatArray
    competition: float
    score: float


def expert_parts(parts: ExpertParts) -> Array:
    """Return the parts of the experts, of the other categories, and the rest."""
    _, odds = parts.state.run(parts.rows, None, parts.settings, details=True)
    table = np.empty((len(odds), odds.shape[1] + 2))
    for i, document in enumerate(odds):
        path = _path_of(parts.state, document, parts.index)
        table[i, :-2] = path.slopes * document[:, parts.index]
        table[i, -2] = path.competition
        table[i, -1] = path.score - table[i, :-1].sum()
    return parts.sign * table


def term_parts(parts: ExpertParts) -> tuple[Array, Array]:
    """Return the part of each entry of the rows, and the rest of each row."""
    state = parts.state
    rows = parts.rows
    _, odds = state.run(rows, None, parts.settings, details=True)
    weights = np.empty(len(rows.data))
    idf = bool(parts.settings.idf)
    weigh_rows(entries_of(rows), idf, state.frequencies, state.totals, weights)
    values = np.empty(len(weights))
    rest = np.empty(len(odds))
    for i, document in enumerate(odds):
        path = _path_of(state, document, parts.index)
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        terms, intercepts = _linear_parts(parts, rows.indices[part], weights[part])
        totals = terms.sum(axis=1) + intercepts
        clipped = np.divide(
            document[:, parts.index], totals, out=np.zeros(len(totals)), where=totals != 0
        )
        values[part] = (path.slopes * clipped) @ terms
        rest[i] = path.score - values[part].sum()
    return parts.sign * values, parts.sign * rest


def _linear_parts(parts: ExpertParts, columns: IntArray, x: Array) -> tuple[Array, Array]:
    """Return experts x terms that, with intercepts, add up to each expert's score.

    The score is that before it is squashed or clipped.
    """
    state = parts.state
    c = parts.index
    weights = np.ascontiguousarray(state.weights[columns][:, :, [c]])
    frequencies = state.frequencies[columns]
    intercepts = np.ascontiguousarray(state.intercepts[:, [c]])
    spreads = np.empty((len(columns) + 1, 1))
    odds = np.empty((OTHER_EXPERTS + state.n_rates, 1))
    local = np.arange(len(columns), dtype=np.int32)
    variance = float(parts.settings.prior_variance)
    experts = ExpertArrays(weights, frequencies, intercepts, state.pairs[[c]], state.totals)
    prediction = Prediction(np.empty((3, 1)), spreads, odds)
    expert_odds(local, x, variance, experts, tables(), prediction)
    perceptron = x * weights[:, SHIFT, 0] * spreads[:-1, 0]
    linear = x * weights[:, FIRST_RATE:, 0].T
    n, n_pairs, n_terms = state.totals[[DOCUMENTS, PAIRS, TERMS]]
    inside = intercepts[COUNT, 0]
    pairs = state.pairs[c]
    seen = frequencies > 0
    counts = weights[:, COUNT, 0]
    size = np.log((n_pairs - pairs + ADDED * n_terms) / (pairs + ADDED * n_terms))
    bayes = np.where(
        seen, np.log((counts + ADDED) / (frequencies - counts + ADDED)) + size, 0.0
    )
    presence = bayes / np.sqrt(float(max(int(np.count_nonzero(seen)), 1)))
    prior = np.log((inside + 0.5) / (n - inside + 0.5))
    bias = intercepts[SHIFT, 0] * spreads[-1, 0]
    return np.vstack([perceptron, linear, x * bayes, presence]), np.r_[
        bias, intercepts[FIRST_RATE:, 0], prior, prior
    ]


def _path_of(state: StackState, odds: FloatArray, c: int) -> _Path:
    """Return the factors of the mixers for one document."""
    n_experts, n_categories = odds.shape
    counts = state.intercepts[COUNT]
    many = n_categories > 2
    inputs = MixerInputs(
        experts=np.empty((n_categories, n_experts + 1)),
        rivals=np.empty((n_categories, 6)),
        bent=np.empty((n_categories, len(KNOTS))),
        offsets=np.empty((3, n_categories)),
    )
    scores = np.empty(n_categories)
    best = mix(odds, counts, KNOTS, state.mixers, inputs, scores)
    z = inputs.experts[c]
    u = inputs.rivals[c]
    slopes = _moderation(state.shared[0], z) * state.shared[0, :, 0]
    own = 1.0
    other = 0.0
    if many:
        group = state.by_size[min(int(np.log2(counts[c] + 1)), N_SIZES - 1)]
        slopes = _moderation(group, z) * (slopes + group[:, 0])
        mean = state.competition[0, :3, 0] + (state.competition[0, 3:, 0] if c == best else 0.0)
        own, other = _moderation(state.competition[0], u) * mean[[OWN, OTHERS]]
    mixer = state.own[c]
    calibrator = state.calibration[1 if c == best else 0]
    factor = _moderation(mixer, u[:3]) * _moderation(calibrator, inputs.bent[c])
    own = factor * (own + mixer[OWN, 0])
    other = factor * (other + mixer[OTHERS, 0])
    return _Path(own * slopes[:-1], float(other * u[OTHERS]), float(scores[c]))


def _moderation(mixer: Array, inputs: FloatArray) -> float:
    variance = max(float(inputs @ mixer[:, 1:] @ inputs), 0.0)
    return float(1.0 / np.sqrt(1.0 + np.pi / 8.0 * variance))
