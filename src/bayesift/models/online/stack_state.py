"""All that an online stack has learned: arrays of its experts and mixers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from scipy.special import expit, ndtri

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.entries import entries_of
from bayesift.kernels.online_experts import (
    COUNT,
    DOCUMENTS,
    FIRST_RATE,
    FLOOR,
    NOISE,
    PAIRS,
    PRECISION,
    SHIFT,
    TERMS,
    ExpertArrays,
)
from bayesift.kernels.online_mixers import KNOTS, N_SIZES, ONE, Mixers
from bayesift.kernels.online_stack import StackSettings, run_stack
from bayesift.models.online.posteriors import tables
from bayesift.models.online.streaming import KernelArrays
from bayesift.state import expect_array, storable

SPARE = (
    1.25  # rows of terms are reserved by this factor, so that few documents need more memory
)
_NEW_BIAS_VARIANCE = 0.5
OTHER_EXPERTS = 3  # the perceptron and two forms of naive Bayes


@storable("online-stack-state")
@dataclass(eq=False)
class StackState(KernelArrays):
    """The arrays of `bayesift.kernels.online_stack`.

    Rows of `weights` and `frequencies` beyond `n_terms` are spare.

    Parameters
    ----------
    weights : terms x (count, precision, shift, one for each rate) x categories
    frequencies : documents with each term
    intercepts : as `weights`, without terms; its counts are the documents of each category
    pairs : pairs of document and term in each category
    totals : documents, pairs, distinct terms + 1
    shared, by_size, competition, own, calibration : mixers, each groups x inputs x (mean,
        covariance)
    """

    weights: FloatArray
    frequencies: FloatArray
    intercepts: FloatArray
    pairs: FloatArray
    totals: FloatArray
    shared: FloatArray
    by_size: FloatArray
    competition: FloatArray
    own: FloatArray
    calibration: FloatArray

    def __post_init__(self) -> None:
        self.n_terms = len(self.frequencies)

    @classmethod
    def empty(cls, n_terms: int, n_categories: int, n_rates: int) -> Self:
        """Nothing was learned."""
        n_fields = FIRST_RATE + n_rates
        n_experts = OTHER_EXPERTS + n_rates
        return cls(
            weights=np.zeros((n_terms, n_fields, n_categories)),
            frequencies=np.zeros(n_terms),
            intercepts=np.zeros((n_fields, n_categories)),
            pairs=np.zeros(n_categories),
            totals=np.array([0.0, 0.0, 1.0]),
            shared=new_mixer(
                1, [1.0 / n_experts] * n_experts + [0.0], [0.1] * n_experts + [1.0]
            ),
            by_size=new_mixer(N_SIZES, [0.0] * (n_experts + 1), [0.01] * n_experts + [0.1]),
            competition=new_mixer(
                1, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.1, 0.1, 1.0, 0.05, 0.05, 0.05]
            ),
            own=_own_mixers(n_categories),
            calibration=new_mixer(2, [0.0] * len(KNOTS), [0.1] * len(KNOTS)),
        )

    @property
    def n_categories(self) -> int:
        """How many categories have a model."""
        return len(self.pairs)

    @property
    def n_rates(self) -> int:
        """How many experts are trained by SGD."""
        return len(self.intercepts) - FIRST_RATE

    def run(
        self, rows: SparseRows, labels: Array | None, settings: Any, *, details: bool = False
    ) -> tuple[Array, Array]:
        """Return log odds of documents x categories, and with `details` those of experts.

        With labels, documents x categories of 0 and 1, each document is learned after it was
        predicted.
        """
        n_documents = rows.shape[0]
        shape = (OTHER_EXPERTS + self.n_rates, self.n_categories)
        scores = np.empty((n_documents, shape[1]))
        experts = np.empty((n_documents if details else 0, *shape))
        y = np.empty((0, shape[1])) if labels is None else labels
        rates = np.asarray(settings.rates, dtype=np.float64)
        run_stack(
            entries_of(rows),
            y,
            StackSettings(bool(settings.idf), float(settings.prior_variance), rates),
            tables(),
            KNOTS,
            self.experts,
            self.mixers,
            scores,
            experts,
        )
        return scores, experts

    @property
    def experts(self) -> ExpertArrays:
        """The arrays of the experts, as kernels take them."""
        return ExpertArrays(
            self.weights, self.frequencies, self.intercepts, self.pairs, self.totals
        )

    @property
    def mixers(self) -> Mixers:
        """The arrays of the mixers, as kernels take them."""
        return Mixers(self.shared, self.by_size, self.competition, self.own, self.calibration)

    def grow_terms(self, n_terms: int) -> None:
        """Reserve rows for more terms; nothing else moves."""
        if n_terms > len(self.frequencies):
            n_rows = max(n_terms, int(SPARE * len(self.frequencies)))
            # In place, so that large arrays are not held twice.
            self.weights.resize((n_rows, *self.weights.shape[1:]), refcheck=False)
            self.frequencies.resize(n_rows, refcheck=False)
        self.n_terms = max(n_terms, self.n_terms)

    def grow_categories(self, indices: Array, n_categories: int, prior_variance: float) -> None:
        """Move categories to new indices and start others, which no document was in."""
        if n_categories == self.n_categories:
            return
        self.weights = _placed(self.weights, indices, n_categories)
        self.intercepts = _placed(self.intercepts, indices, n_categories)
        self.pairs = _placed(self.pairs, indices, n_categories)
        own = _own_mixers(n_categories)
        own[indices] = self.own
        self.own = own
        new = np.setdiff1d(np.arange(n_categories), indices)
        log_odds = np.log(0.5 / (self.totals[DOCUMENTS] + 0.5))
        self.intercepts[FIRST_RATE:, new] = log_odds
        # The field that has these log odds, its bias about as sure as documents without the
        # category make it.
        spread = min(_NEW_BIAS_VARIANCE, prior_variance)
        field = ndtri(expit(log_odds)) * np.sqrt(
            NOISE[0] ** 2 + spread + FLOOR * prior_variance
        )
        self.intercepts[PRECISION, new] = 1.0 / spread - 1.0 / prior_variance
        self.intercepts[SHIFT, new] = field / spread

    def mirror(self) -> None:
        """Replace one category by two: the documents outside it come first."""
        other = {
            name: getattr(self, name).copy()
            for name in ("weights", "intercepts", "pairs", "own")
        }
        everywhere = {
            "weights": self.frequencies[:, np.newaxis],
            "intercepts": self.totals[DOCUMENTS],
        }
        for name, all_documents in everywhere.items():
            array = other[name]
            array *= -1.0
            array[..., PRECISION, :] *= -1.0
            array[..., COUNT, :] += all_documents
        other["pairs"] = self.totals[PAIRS] - other["pairs"]
        other["own"][:, ONE, :] *= -1.0
        other["own"][:, :, 1 + ONE] *= -1.0
        for name, array in other.items():
            axis = 0 if name == "own" else -1
            setattr(
                self,
                name,
                np.ascontiguousarray(np.concatenate([array, getattr(self, name)], axis=axis)),
            )

    def take(self, index: int) -> None:
        """Keep one category only."""
        for name in ("weights", "intercepts", "pairs"):
            # A copy that owns its memory, which `grow_terms` resizes.
            setattr(self, name, np.array(getattr(self, name)[..., [index]], order="C"))
        self.own = self.own[[index]]

    def to_content(self) -> dict[str, Any]:
        """Return the arrays without spare rows, by the names of the constructor."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return content | {
            name: content[name][: self.n_terms] for name in ("weights", "frequencies")
        }

    def _post_load(self) -> None:
        """Refuse arrays that do not fit together; kernels change what remains."""
        self._take_arrays()
        n_terms = len(self.frequencies)
        n_categories = len(self.pairs)
        n_fields = len(self.intercepts)
        n_inputs = n_fields - FIRST_RATE + OTHER_EXPERTS + 1
        shapes: dict[str, tuple[int | None, ...]] = {
            "weights": (n_terms, n_fields, n_categories),
            "frequencies": (None,),
            "intercepts": (None, n_categories),
            "pairs": (None,),
            "totals": (3,),
            "shared": (1, n_inputs, 1 + n_inputs),
            "by_size": (N_SIZES, n_inputs, 1 + n_inputs),
            "competition": (1, 6, 7),
            "own": (n_categories, 3, 4),
            "calibration": (2, len(KNOTS), 1 + len(KNOTS)),
        }
        for name, shape in shapes.items():
            expect_array(getattr(self, name), name, np.float64, shape)
        self._check_counts()

    def _check_counts(self) -> None:
        n = self.totals[DOCUMENTS]
        counts = self.weights[:, COUNT]
        fit = [
            np.all(counts >= 0) and np.all(counts <= self.frequencies[:, np.newaxis]),
            np.all(self.frequencies <= n)
            and np.all((self.intercepts[COUNT] >= 0) & (self.intercepts[COUNT] <= n)),
            np.all(counts <= self.intercepts[COUNT])
            and np.all((self.pairs >= 0) & (self.pairs <= self.totals[PAIRS])),
            np.all(self.frequencies[:, np.newaxis] - counts <= n - self.intercepts[COUNT]),
            np.all(self.weights[:, PRECISION] >= 0) and np.all(self.intercepts[PRECISION] >= 0),
            all(
                np.array_equal(part, np.floor(part))
                for part in (self.frequencies, self.totals, counts)
            ),
            np.array_equal(self.intercepts[COUNT], np.floor(self.intercepts[COUNT]))
            and self.totals[TERMS] >= 1,
        ]
        if not all(fit):
            raise DataError("the counts of the stack do not fit together")


def new_mixer(groups: int, mean: list[float], variances: list[float]) -> Array:
    """Regressions that have learned nothing, groups x inputs x (mean, covariance)."""
    size = len(mean)
    mixer = np.zeros((groups, size, 1 + size))
    mixer[:, :, 0] = mean
    mixer[:, np.arange(size), 1 + np.arange(size)] = variances
    return mixer


def _own_mixers(n_categories: int) -> Array:
    return new_mixer(n_categories, [0.0, 0.0, 0.0], [0.01, 0.01, 0.1])


def _placed(array: Array, indices: Array, n_categories: int) -> Array:
    """Return the same columns at other indices, with zeros between them."""
    wider = np.zeros((*array.shape[:-1], n_categories))
    wider[..., indices] = array
    return wider
