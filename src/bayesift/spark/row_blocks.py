"""Linear models of documents that no executor holds: blocks of rows stay where they are, and answer questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.linear import L2, LOWER, MODE, UPPER
from bayesift.models.linear import SparseBayesClassifier
from bayesift.models.linear.links import link_of
from bayesift.models.linear.priors import penalty_rows, prior_of
from bayesift.models.linear.problem import Solution, best_constants
from bayesift.models.linear.quasi_newton import Settings, Terms, minimise
from bayesift.spark.blocks import ANSWER_SCHEMA, BLOCK_SCHEMA, AnswerAdder, Block, Questioner, add_answers
from bayesift.spark.frames import collect, map_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Array = np.ndarray[Any, Any]

_WEIGHTS = 1 << 21  # of all models that are worked on at a time
_FEWEST, _MOST = 8, 64  # models at a time
_DIRECT = 16  # answers that the driver adds itself
_PART = "part"
_TOLERANCES = {"gaussian": 1e-5, "laplace": 1e-3}


@dataclass(frozen=True, eq=False)
class Margins:
    """What is known of all blocks together.

    Parameters
    ----------
    n_documents : how many there are
    positives : documents of each category
    squares : sums of the squared weights of each term
    """

    n_documents: int
    positives: Array
    squares: Array


class RowBlocks:
    """Blocks of documents that Spark keeps in the memories of executors, or on their disks.

    Parameters
    ----------
    df : rows of `BLOCK_SCHEMA`
    n_terms, n_categories : of all
    """

    def __init__(self, df: DataFrame, n_terms: int, n_categories: int) -> None:
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.storagelevel import StorageLevel

        self.n_terms, self.n_categories = n_terms, n_categories
        self.df = df.withColumn(_PART, F.spark_partition_id()).persist(StorageLevel.MEMORY_AND_DISK)

    def __enter__(self) -> RowBlocks:
        return self

    def __exit__(self, *_: object) -> None:
        self.df.unpersist()

    def sizes(self) -> tuple[int, int, int]:
        """Documents, entries and parts."""
        from pyspark.sql import functions as F  # noqa: N812

        row = self.df.agg(F.sum("documents"), F.sum("entries"), F.count_distinct(_PART)).first()
        assert row is not None
        return int(row[0] or 0), int(row[1] or 0), int(row[2])

    def gathered(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """All documents in this process, in the order of the DataFrame: vectors and labels."""
        blocks = [Block.of(row, self.n_terms, self.n_categories) for row in collect(self.df).to_pylist()]
        rows = sparse.csr_array(sparse.vstack([block.rows for block in blocks]))
        return rows, sparse.csr_array(sparse.vstack([block.labels for block in blocks]))

    def ask(self, question: Questioner, n_parts: int) -> tuple[Array, Array]:
        """Losses and gradients of all documents."""
        shape = question.weights.shape
        answers = map_batches(self.df, question, ANSWER_SCHEMA)
        if n_parts > _DIRECT:
            answers = map_batches(answers.repartition(isqrt(n_parts), _PART), AnswerAdder(shape), ANSWER_SCHEMA)
        return add_answers(collect(answers).to_pylist(), shape)


def blocks_of(spark: SparkSession, X: sparse.csr_array, labels: sparse.csr_array, *, n_blocks: int) -> DataFrame:
    """Vectors and labels of this process as a DataFrame of blocks, one a partition."""
    edges = pairwise(np.linspace(0, X.shape[0], n_blocks + 1).astype(int))
    rows = [tuple(Block(X[a:b], labels[a:b]).to_batch().to_pylist()[0].values()) for a, b in edges]
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, n_blocks), BLOCK_SCHEMA)


def fit_row_blocks(
    blocks: RowBlocks,
    learner: SparseBayesClassifier,
    margins: Margins,
    models: list[int],
    *,
    tolerance: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Solution], Array]:
    """The modes of models, one a category named, and bounds of what share of each objective is left to gain.

    Parameters
    ----------
    blocks : the documents
    learner : says which link, which prior and how many steps
    margins : sums over all blocks
    models : the categories, a model each
    tolerance : the share of the objective that may be left to gain, by its bound; None is 1e-5 for a Gaussian prior and
        1e-3 for a Laplace prior, whose bound is some thousand times the gap itself
    progress : called with how many models are done and how many questions were asked
    """
    _check(learner)
    limit = _TOLERANCES[prior_of(learner.prior).kind] if tolerance is None else tolerance
    n_parts = blocks.sizes()[2]
    step = int(np.clip(_WEIGHTS // blocks.n_terms, _FEWEST, _MOST))
    solutions: list[Solution] = []
    gaps = []
    for first in range(0, len(models), step):
        some = models[first : first + step]
        asked = None if progress is None else lambda n, done=first: progress(done, n)
        found, left = _fit_some(blocks, learner, margins, some, n_parts, Settings(limit, learner.max_iter, asked))
        solutions += found
        gaps.append(left)
    return solutions, np.concatenate(gaps)


def _fit_some(
    blocks: RowBlocks,
    learner: SparseBayesClassifier,
    margins: Margins,
    models: list[int],
    n_parts: int,
    settings: Settings,
) -> tuple[list[Solution], Array]:
    link, intercept = link_of(learner.link), learner.intercept_row()
    positives = margins.positives[models]
    terms = _terms(learner, margins, models, intercept)
    weights = terms.penalty[MODE].copy()
    weights[-1] = best_constants(link, intercept, positives, margins.n_documents - positives)

    def ask(weights: Array, places: list[int]) -> tuple[Array, Array]:
        question = Questioner(link, weights, [models[place] for place in places], blocks.n_categories)
        losses, gradients = blocks.ask(question, n_parts)
        gradients[-1] *= intercept[0]
        return losses, gradients

    return minimise(ask, weights, terms, settings)


def _terms(learner: SparseBayesClassifier, margins: Margins, models: list[int], intercept: Array) -> Terms:
    """The prior, and curvatures as they are where all documents have the share of the category for probability."""
    prior, n_terms = prior_of(learner.prior), len(margins.squares)
    penalty = np.zeros((5, n_terms + 1, len(models)))
    penalty[LOWER], penalty[UPPER] = -np.inf, np.inf
    for place, category in enumerate(models):
        penalty[:, :-1, place] = penalty_rows(prior, category, n_terms)
    penalty[L2, -1], penalty[MODE, -1] = intercept[1:]
    share = margins.positives[models] / margins.n_documents
    squares = np.append(margins.squares, margins.n_documents)[:, np.newaxis]
    return Terms(penalty, 4.0 * link_of(learner.link).curvature_bound * squares * share * (1.0 - share))


def _check(learner: SparseBayesClassifier) -> None:
    if not prior_of(learner.prior).convex:
        raise DataError(f"row blocks need a Gaussian or Laplace prior, not a {prior_of(learner.prior).kind} one")
    if learner.prior_scale is not None or learner.class_weight is not None or learner.posterior != "mode":
        raise DataError("row blocks take no prior_scale, class_weight or posterior: choose the scale on a sample")
    if learner.multiclass != "one-vs-rest":
        raise DataError("row blocks are for one model a category; a softmax model needs all documents in one place")
