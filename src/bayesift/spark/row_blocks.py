"""Linear models of documents that no executor holds: blocks of rows stay where they are, and answer questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.kernels.linear import L2, LOWER, MODE, UPPER
from bayesift.models.linear import SparseBayesClassifier, quasi_newton, set_newton
from bayesift.models.linear.asking import Answer, Documents, Settings, Terms, WorkingSet
from bayesift.models.linear.links import Link, link_of
from bayesift.models.linear.priors import is_shared, penalty_rows, prior_of
from bayesift.models.linear.problem import Solution, best_constants
from bayesift.models.linear.set_newton import packed_size
from bayesift.spark.blocks import ANSWER_SCHEMA, BLOCK_SCHEMA, AnswerAdder, Block, Questioner, Sums
from bayesift.spark.frames import collect, map_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Array = np.ndarray[Any, Any]

_FEWEST, _MOST = 8, 256  # models that are worked on at a time
_DIRECT = 16  # answers that the driver adds itself
_AT_ONCE = 1 << 25  # numbers of all answers to a question, 256 MB: more models take several
_PART = "part"
_TOLERANCE = 1e-5


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

    def __enter__(self) -> Self:
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

    def ask(self, question: Questioner, n_parts: int) -> Sums:
        """What all documents answer together."""
        shape = question.weights.shape
        answers = map_batches(self.df, question, ANSWER_SCHEMA)
        if n_parts > _DIRECT:
            answers = map_batches(answers.repartition(isqrt(n_parts), _PART), AnswerAdder(shape), ANSWER_SCHEMA)
        return Sums.of(collect(answers).to_pylist(), shape)


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
    tolerance : the share of the objective that may be left to gain, by its bound; None is 1e-5
    progress : called with how many models are done and how many questions were asked
    """
    check_learner(learner)
    method = _METHODS[prior_of(learner.prior).kind]
    n_parts = blocks.sizes()[2]
    step = int(np.clip(method.weights // blocks.n_terms, _FEWEST, _MOST))
    solutions: list[Solution] = []
    gaps = []
    for first in range(0, len(models), step):
        some = models[first : first + step]
        asked = None if progress is None else lambda n, done=first: progress(done, n)
        settings = Settings(_TOLERANCE if tolerance is None else tolerance, learner.max_iter, asked)
        documents = _Asked(blocks, n_parts, link_of(learner.link), some, learner.intercept_row())
        terms = _terms(learner, margins, some)
        found, left = method.minimise(documents, _start(documents, margins, terms), terms, settings)
        solutions += found
        gaps.append(left)
    return solutions, np.concatenate(gaps)


@dataclass(frozen=True)
class _Method:
    """How to find modes, and how many weights of all models together it may work on."""

    minimise: Callable[[Documents, Array, Terms, Settings], tuple[list[Solution], Array]]
    weights: int


# L-BFGS holds some 45 arrays of all weights, Newton's method some 8 and the second derivatives of its sets.
_METHODS = {"gaussian": _Method(quasi_newton.minimise, 1 << 21), "laplace": _Method(set_newton.minimise, 1 << 23)}


@dataclass(frozen=True, eq=False)
class _Asked:
    """Blocks that are asked about models, as many at a time as their answers leave room for.

    Parameters
    ----------
    blocks, n_parts : the documents, and in how many parts they are
    link : of the models
    models : their categories
    intercept : (1 if there is one, precision of its prior, mode of its prior)
    """

    blocks: RowBlocks
    n_parts: int
    link: Link
    models: list[int]
    intercept: Array

    def slopes(self, weights: Array, models: list[int]) -> Answer:
        """Losses and gradients."""
        return self._ask(weights, models)[:2]

    def curvatures(self, weights: Array, models: list[int]) -> Array:
        """The diagonals of the second derivatives."""
        parts = self._ask(weights, models, diagonal=True)[2]
        return np.hstack([part.reshape(len(weights), -1) for part in parts]).astype(np.float64)

    def grams(self, weights: Array, models: list[int], sets: list[WorkingSet]) -> tuple[Array, Array, list[Array]]:
        """Losses, gradients and the second derivatives of working sets."""
        losses, gradients, parts = self._ask(weights, models, sets=sets)
        ends = np.cumsum([packed_size(len(held.terms)) for held in sets])
        return losses, gradients, np.split(np.concatenate(parts), ends[:-1])

    def _ask(
        self, weights: Array, models: list[int], *, diagonal: bool = False, sets: list[WorkingSet] | None = None
    ) -> tuple[Array, Array, list[Array]]:
        extra = [0] * len(models) if sets is None else [packed_size(len(held.terms)) // 2 for held in sets]
        losses, gradients, curvatures = np.empty(len(models)), np.empty(weights.shape), []
        for first, last in self._chunks(np.array(extra) + len(weights) * (1.5 if diagonal else 1.0)):
            categories = [self.models[model] for model in models[first:last]]
            at, n_categories = np.ascontiguousarray(weights[:, first:last]), self.blocks.n_categories
            some = None if sets is None else sets[first:last]
            question = Questioner(self.link, at, categories, n_categories, diagonal, some)
            answer = self.blocks.ask(question, self.n_parts)
            losses[first:last], gradients[:, first:last] = answer.losses, answer.gradients
            curvatures.append(answer.curvatures)
        gradients[-1] *= self.intercept[0]
        return losses, gradients, curvatures

    def _chunks(self, sizes: Array) -> list[tuple[int, int]]:
        """First and last model of each question, for answers of these sizes."""
        room = _AT_ONCE / (self.n_parts if self.n_parts <= _DIRECT else isqrt(self.n_parts))
        edges, held = [0], 0.0
        for model, size in enumerate(sizes):
            if held and held + size > room:
                edges.append(model)
                held = 0.0
            held += size
        return list(pairwise([*edges, len(sizes)]))


def _start(documents: _Asked, margins: Margins, terms: Terms) -> Array:
    """The modes of the prior, with the best intercepts for documents without terms."""
    positives = margins.positives[documents.models]
    weights = np.broadcast_to(terms.penalty[MODE], terms.curvatures.shape).copy()
    negatives = margins.n_documents - positives
    weights[-1] = best_constants(documents.link, documents.intercept, positives, negatives)
    return weights


def _terms(learner: SparseBayesClassifier, margins: Margins, models: list[int]) -> Terms:
    """The prior, and curvatures as they are where all documents have the share of the category for probability."""
    prior, n_terms, intercept = prior_of(learner.prior), len(margins.squares), learner.intercept_row()
    priors = models[:1] if is_shared(prior) else models
    penalty = np.zeros((5, n_terms + 1, len(priors)))
    penalty[LOWER], penalty[UPPER] = -np.inf, np.inf
    for place, category in enumerate(priors):
        penalty[:, :-1, place] = penalty_rows(prior, category, n_terms)
    penalty[L2, -1], penalty[MODE, -1] = intercept[1:]
    share = margins.positives[models] / margins.n_documents
    squares = np.append(margins.squares, margins.n_documents)[:, np.newaxis]
    curvatures = 4.0 * link_of(learner.link).curvature_bound * squares * share * (1.0 - share)
    return Terms(penalty, curvatures, bool(intercept[0]))


def check_learner(learner: SparseBayesClassifier) -> None:
    """Refuse what row blocks cannot fit."""
    if not prior_of(learner.prior).convex:
        raise DataError(f"row blocks need a Gaussian or Laplace prior, not a {prior_of(learner.prior).kind} one")
    if learner.prior_scale is not None or learner.class_weight is not None or learner.posterior != "mode":
        raise DataError("row blocks take no prior_scale, class_weight or posterior: choose the scale on a sample")
    if learner.multiclass != "one-vs-rest":
        raise DataError("row blocks are for one model a category; a softmax model needs all documents in one place")
