"""Linear models of more documents than one executor holds, by blocks of rows.

Blocks stay where they are; losses are summed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.linear import L2, LOWER, MODE, UPPER
from bayesift.models.linear import SparseBayesClassifier
from bayesift.models.linear.links import Link, link_of
from bayesift.models.linear.priors import is_shared, penalty_rows, prior_of
from bayesift.models.linear.problem import Solution, best_constants
from bayesift.spark.blocks import (
    BLOCK_SCHEMA,
    SUMS_SCHEMA,
    LossEvaluator,
    LossSums,
    RowBlock,
    SumReducer,
)
from bayesift.spark.descent import (
    DescentLimits,
    LossGradient,
    LossOracle,
    Penalty,
    WeightedSet,
    minimise_by_lbfgs,
)
from bayesift.spark.newton import minimise_by_newton, packed_size
from bayesift.spark.session import collect, map_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_FEWEST_MODELS, _MOST_MODELS = 8, 256  # models that are fitted at a time
_DIRECT_PARTS = 16  # parts whose sums the driver adds itself
_AT_ONCE = (
    1 << 25
)  # numbers of all parts of an evaluation, 256 MB: more models take several evaluations
_PART = "part"
_DEFAULT_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over all blocks: documents, documents of each category, squared weights of each term."""

    n_documents: int
    positives: Array
    squares: FloatArray


class RowBlocks:
    """Blocks of documents (`BLOCK_SCHEMA`) that Spark keeps in memory or on disk."""

    def __init__(self, df: DataFrame, n_terms: int, n_categories: int) -> None:
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.storagelevel import StorageLevel

        self.n_terms = n_terms
        self.n_categories = n_categories
        self.df = df.withColumn(_PART, F.spark_partition_id()).persist(
            StorageLevel.MEMORY_AND_DISK
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.df.unpersist()

    def sizes(self) -> tuple[int, int, int]:
        """Return the numbers of documents, entries and parts."""
        from pyspark.sql import functions as F  # noqa: N812

        row = self.df.agg(F.sum("documents"), F.sum("entries"), F.count_distinct(_PART)).first()
        assert row is not None
        return int(row[0] or 0), int(row[1] or 0), int(row[2])

    def collect(self) -> tuple[SparseRows, SparseRows]:
        """All documents in this process, in the order of the DataFrame: vectors and labels."""
        blocks = [
            RowBlock.of(row, self.n_terms, self.n_categories)
            for row in collect(self.df).to_pylist()
        ]
        rows = sparse.csr_array(sparse.vstack([block.rows for block in blocks]))
        return rows, sparse.csr_array(sparse.vstack([block.labels for block in blocks]))

    def evaluate(self, evaluator: LossEvaluator, n_parts: int) -> LossSums:
        """Losses and derivatives over all documents."""
        shape = evaluator.weights.shape
        sums = map_batches(self.df, evaluator, SUMS_SCHEMA)
        if n_parts > _DIRECT_PARTS:
            sums = map_batches(
                sums.repartition(isqrt(n_parts), _PART), SumReducer(shape), SUMS_SCHEMA
            )
        return LossSums.of(collect(sums).to_pylist(), shape)


def blocks_of(
    spark: SparkSession, X: SparseRows, labels: SparseRows, *, n_blocks: int
) -> DataFrame:
    """Vectors and labels of this process as a DataFrame of blocks, one per partition."""
    edges = pairwise(np.linspace(0, X.shape[0], n_blocks + 1).astype(int))
    rows = [
        tuple(RowBlock(X[a:b], labels[a:b]).to_batch().to_pylist()[0].values())
        for a, b in edges
    ]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, n_blocks), BLOCK_SCHEMA)


def fit_row_blocks(
    blocks: RowBlocks,
    learner: SparseBayesClassifier,
    totals: Totals,
    models: list[int],
    *,
    tolerance: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Solution], Array]:
    """Find the modes of models, and bounds of the share of each objective left to gain.

    Parameters
    ----------
    blocks, totals : the documents, and sums over them
    learner : gives link, prior and max_iter
    models : the category of each model
    tolerance : the share of the objective that may be left to gain, by its bound; None is 1e-5
    progress : called with the number of models that are done and of evaluations for the next ones
    """
    check_learner(learner)
    method = _METHODS[prior_of(learner.prior).kind]
    n_parts = blocks.sizes()[2]
    step = int(np.clip(method.weights // blocks.n_terms, _FEWEST_MODELS, _MOST_MODELS))
    solutions: list[Solution] = []
    gaps = []
    for first in range(0, len(models), step):
        some = models[first : first + step]
        report = None if progress is None else lambda n, done=first: progress(done, n)
        settings = DescentLimits(
            _DEFAULT_TOLERANCE if tolerance is None else tolerance, learner.max_iter, report
        )
        oracle = _BlockOracle(
            blocks, n_parts, link_of(learner.link), some, learner.intercept_row()
        )
        penalty = _penalty(learner, totals, some)
        found, left = method.minimise(
            oracle, _start(oracle, totals, penalty), penalty, settings
        )
        solutions += found
        gaps.append(left)
    return solutions, np.concatenate(gaps)


@dataclass(frozen=True)
class _Method:
    """A solver, and how many weights of all models it may hold at a time."""

    minimise: Callable[
        [LossOracle, Array, Penalty, DescentLimits], tuple[list[Solution], Array]
    ]
    weights: int


# L-BFGS holds some 45 arrays of all weights, Newton's method some 8 and the Hessians of its sets.
_METHODS = {
    "gaussian": _Method(minimise_by_lbfgs, 1 << 21),
    "laplace": _Method(minimise_by_newton, 1 << 23),
}


@dataclass(frozen=True, eq=False)
class _BlockOracle:
    """Losses of models over blocks, as many models at a time as their sums leave room for.

    `models` are their categories; `intercept` is (1 if there is one, precision of its prior, mode
    of its prior).
    """

    blocks: RowBlocks
    n_parts: int
    link: Link
    models: list[int]
    intercept: FloatArray

    def loss_and_gradient(self, weights: FloatArray, models: list[int]) -> LossGradient:
        """Losses and gradients."""
        return self._evaluate(weights, models)[:2]

    def hessian_diagonal(self, weights: FloatArray, models: list[int]) -> Array:
        """Return the diagonals of the Hessians."""
        parts = self._evaluate(weights, models, diagonal=True)[2]
        return np.hstack([part.reshape(len(weights), -1) for part in parts]).astype(np.float64)

    def loss_and_hessians(
        self, weights: FloatArray, models: list[int], sets: list[WeightedSet]
    ) -> tuple[Array, Array, list[Array]]:
        """Losses, gradients and the Hessians of working sets."""
        losses, gradients, parts = self._evaluate(weights, models, sets=sets)
        ends = np.cumsum([packed_size(len(held.terms)) for held in sets])
        return losses, gradients, np.split(np.concatenate(parts), ends[:-1])

    def _evaluate(
        self,
        weights: FloatArray,
        models: list[int],
        *,
        diagonal: bool = False,
        sets: list[WeightedSet] | None = None,
    ) -> tuple[Array, Array, list[Array]]:
        if sets is None:
            extra = [0] * len(models)
        else:
            extra = [packed_size(len(held.terms)) // 2 for held in sets]
        losses = np.empty(len(models))
        gradients = np.empty(weights.shape)
        hessians = []
        for first, last in self._chunks(
            np.array(extra) + len(weights) * (1.5 if diagonal else 1.0)
        ):
            categories = [self.models[model] for model in models[first:last]]
            at = np.ascontiguousarray(weights[:, first:last])
            n_categories = self.blocks.n_categories
            some = None if sets is None else sets[first:last]
            evaluator = LossEvaluator(self.link, at, categories, n_categories, diagonal, some)
            sums = self.blocks.evaluate(evaluator, self.n_parts)
            losses[first:last], gradients[:, first:last] = sums.losses, sums.gradients
            hessians.append(sums.hessians)
        gradients[-1] *= self.intercept[0]
        return losses, gradients, hessians

    def _chunks(self, sizes: Array) -> list[tuple[int, int]]:
        """First and last model of each evaluation, for sums of these sizes."""
        room = _AT_ONCE / (
            self.n_parts if self.n_parts <= _DIRECT_PARTS else isqrt(self.n_parts)
        )
        edges = [0]
        held = 0.0
        for model, size in enumerate(sizes):
            if held and held + size > room:
                edges.append(model)
                held = 0.0
            held += size
        return list(pairwise([*edges, len(sizes)]))


def _start(oracle: _BlockOracle, totals: Totals, penalty: Penalty) -> Array:
    """Return the modes of the prior, with the best intercepts for documents without terms."""
    positives = totals.positives[oracle.models]
    weights = np.broadcast_to(penalty.rows[MODE], penalty.curvatures.shape).copy()
    negatives = totals.n_documents - positives
    weights[-1] = best_constants(oracle.link, oracle.intercept, positives, negatives)
    return weights


def _penalty(learner: SparseBayesClassifier, totals: Totals, models: list[int]) -> Penalty:
    """Return the penalty of these models.

    Its curvatures are those where all documents have the share of the category for probability.
    """
    prior = prior_of(learner.prior)
    n_terms = len(totals.squares)
    intercept = learner.intercept_row()
    priors = models[:1] if is_shared(prior) else models
    penalty = np.zeros((5, n_terms + 1, len(priors)))
    penalty[LOWER] = -np.inf
    penalty[UPPER] = np.inf
    for index, category in enumerate(priors):
        penalty[:, :-1, index] = penalty_rows(prior, category, n_terms)
    penalty[L2, -1], penalty[MODE, -1] = intercept[1:]
    share = totals.positives[models] / totals.n_documents
    squares = np.append(totals.squares, totals.n_documents)[:, np.newaxis]
    curvatures = 4.0 * link_of(learner.link).curvature_bound * squares * share * (1.0 - share)
    return Penalty(penalty, curvatures, bool(intercept[0]))


def check_learner(learner: SparseBayesClassifier) -> None:
    """Refuse what row blocks cannot fit."""
    if not prior_of(learner.prior).convex:
        raise DataError(
            f"row blocks need a Gaussian or Laplace prior, not a {prior_of(learner.prior).kind} one"
        )
    if (
        learner.prior_scale is not None
        or learner.class_weight is not None
        or learner.posterior != "mode"
    ):
        raise DataError(
            "row blocks take no prior_scale, class_weight or posterior: choose the scale on a "
            "sample"
        )
    if learner.multiclass != "one-vs-rest":
        raise DataError(
            "row blocks are for one model per category; a softmax model needs all documents in "
            "one place"
        )
