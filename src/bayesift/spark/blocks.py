"""Documents as blocks of sparse rows in Arrow batches, and what blocks answer to a question about weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from bayesift.kernels.blocks import times, transposed_times
from bayesift.models.linear.asking import WorkingSet
from bayesift.models.linear.links import Link, log_likelihoods
from bayesift.models.linear.set_newton import packed_gram
from bayesift.spark.counting import DocumentColumns
from bayesift.spark.texts import indicator_of_labels
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]

BLOCK_SCHEMA = (
    "documents int, entries long, row_ends binary, terms binary, weights binary, label_ends binary, labels binary"
)
ANSWER_SCHEMA = "part int, losses binary, gradients binary, curvatures binary"
_FAR = -0.1
_BLOCK = pa.schema(
    [
        ("documents", pa.int32()),
        ("entries", pa.int64()),
        *((name, pa.binary()) for name in ("row_ends", "terms", "weights", "label_ends", "labels")),
    ]
)


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the documents.

    Parameters
    ----------
    rows : documents x terms
    labels : documents x categories, 1 where a document belongs to a category
    """

    rows: sparse.csr_array
    labels: sparse.csr_array

    def to_batch(self) -> pa.RecordBatch:
        """The block as one row of a batch."""
        rows, labels = self.rows, self.labels
        parts = (rows.indptr, rows.indices, rows.data, labels.indptr, labels.indices)
        kinds = (np.int64, np.int32, np.float64, np.int32, np.int32)
        bytes_of = [np.asarray(part, dtype=kind).tobytes() for part, kind in zip(parts, kinds, strict=True)]
        values = [rows.shape[0], rows.nnz, *bytes_of]
        arrays = [pa.array([value], field.type) for value, field in zip(values, _BLOCK, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_BLOCK)

    @classmethod
    def of(cls, row: dict[str, Any], n_terms: int, n_categories: int) -> Block:
        """The block of a row of a batch.

        Examples
        --------
        >>> rows, labels = sparse.csr_array([[1.0, 0.0]]), sparse.csr_array(np.array([[0, 1, 1]]))
        >>> again = Block.of(Block(rows, labels).to_batch().to_pylist()[0], 2, 3)
        >>> again.rows.toarray().tolist(), again.labels.toarray().tolist()
        ([[1.0, 0.0]], [[0, 1, 1]])
        """
        ends, terms, weights = (
            np.frombuffer(row[name], dtype=kind)
            for name, kind in (("row_ends", np.int64), ("terms", np.int32), ("weights", np.float64))
        )
        label_ends, labels = (np.frombuffer(row[name], dtype=np.int32) for name in ("label_ends", "labels"))
        n = row["documents"]
        return cls(
            # Kernels are compiled for int32 offsets into a matrix that small.
            sparse.csr_array((weights, terms, ends.astype(np.int32)), shape=(n, n_terms)),
            sparse.csr_array((np.ones(len(labels), dtype=np.int8), labels, label_ends), shape=(n, n_categories)),
        )


@dataclass(frozen=True)
class BlockMaker:
    """Turns batches of texts and labels into blocks, one a batch.

    Parameters
    ----------
    columns : where texts and labels stand
    categories : their names
    vectorizer : gives the fitted vectorizer
    kept : which of its columns to keep; None for all

    Examples
    --------
    >>> vectorizer = TermVectorizer().fit(["corn oil"])
    >>> maker = BlockMaker(DocumentColumns("text", "topic"), ("crude", "grain"), lambda: vectorizer)
    >>> batch = pa.RecordBatch.from_pydict({"text": ["corn"], "topic": ["grain"]})
    >>> Block.of(next(maker(iter([batch]))).to_pylist()[0], 2, 2).labels.toarray().tolist()
    [[0, 1]]
    """

    columns: DocumentColumns
    categories: tuple[str, ...]
    vectorizer: Callable[[], TermVectorizer]
    kept: Array | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A batch of one row for each batch."""
        names = pa.array(self.categories, pa.string())
        for batch in batches:
            texts, labels, _ = self.columns.read(batch)
            if not len(texts):
                continue
            rows = self.vectorizer().transform(texts)
            rows = rows if self.kept is None else sparse.csr_array(rows[:, self.kept])
            yield Block(rows, indicator_of_labels(labels, names)).to_batch()


class Sums(NamedTuple):
    """What blocks answer, or several of them together.

    Parameters
    ----------
    losses : minus the log-likelihood of each model
    gradients : of the shape of the weights
    curvatures : what was asked for of the second derivatives, one number after another
    """

    losses: Array
    gradients: Array
    curvatures: Array

    def add(self, other: Sums) -> None:
        """Add others to these."""
        for mine, more in zip(self, other, strict=True):
            mine += more

    def to_batch(self, part: int) -> pa.RecordBatch:
        """One row of a batch; curvatures, which but guide steps, in single precision.

        Examples
        --------
        >>> Sums(np.zeros(1), np.zeros((2, 1)), np.zeros(0)).to_batch(0).num_rows
        1
        """
        kinds = (np.float64, np.float64, np.float32)
        parts = [np.asarray(x, dtype=kind).tobytes() for x, kind in zip(self, kinds, strict=True)]
        arrays = [pa.array([part], pa.int32()), *(pa.array([x], pa.binary()) for x in parts)]
        return pa.RecordBatch.from_arrays(arrays, ["part", *Sums._fields])

    @classmethod
    def of(cls, rows: list[dict[str, Any]], shape: tuple[int, int]) -> Sums:
        """The sum of rows in the order of their parts: the same whoever was first.

        Examples
        --------
        >>> rows = Sums(np.ones(1), np.ones((2, 1)), np.zeros(0)).to_batch(0).to_pylist() * 2
        >>> Sums.of(rows, (2, 1)).losses.tolist()
        [2.0]
        """
        total = None
        for row in sorted(rows, key=lambda row: row["part"]):
            losses, gradients = np.frombuffer(row["losses"]), np.frombuffer(row["gradients"]).reshape(shape)
            answer = cls(losses, gradients, np.frombuffer(row["curvatures"], dtype=np.float32))
            if total is None:
                total = cls(*(part.copy() for part in answer))
            else:
                total.add(answer)
        assert total is not None
        return total


@dataclass(frozen=True, eq=False)
class Questioner:
    """Asks blocks for losses and gradients at given weights; the answer of all blocks is one row.

    Parameters
    ----------
    link : of the model
    weights : terms and intercept x models
    models : the category of each model
    n_categories : of all
    diagonal : whether to ask for the diagonals of the second derivatives too
    sets : of which terms of each model to ask for the second derivatives, its intercept after them; None for none

    Examples
    --------
    >>> from bayesift.models.linear import Logit
    >>> rows, labels = sparse.csr_array([[2.0]]), sparse.csr_array(np.array([[1]]))
    >>> answer = Questioner(Logit(), np.zeros((2, 1)), [0], 1, diagonal=True).answer(Block(rows, labels))
    >>> answer.losses.round(3).tolist(), answer.gradients.tolist(), answer.curvatures.tolist()
    ([0.693], [[-1.0], [-0.5]], [1.0, 0.25])
    """

    link: Link
    weights: Array
    models: list[int]
    n_categories: int
    diagonal: bool = False
    sets: list[WorkingSet] | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row: the sums over all blocks of all batches."""
        total, part = None, 0
        for batch in batches:
            for row in batch.to_pylist():
                more = self.answer(Block.of(row, len(self.weights) - 1, self.n_categories))
                if total is None:
                    total, part = more, row["part"]
                else:
                    total.add(more)
        if total is not None:
            yield total.to_batch(part)

    def answer(self, block: Block) -> Sums:
        """Losses, gradients and curvatures of one block."""
        rows, n = block.rows, block.rows.shape[0]
        signs = np.where(block.labels[:, self.models].toarray(), 1.0, -1.0)
        scores = np.empty((n, len(self.models)))
        times(rows.indptr, rows.indices, rows.data, np.ascontiguousarray(self.weights[:-1]), scores)
        scores += self.weights[-1]
        margins = signs * scores
        logarithms, slopes, bends = log_likelihoods(self.link, margins)
        gradients = _sums_by_term(rows, rows.data, signs * slopes)
        curvatures = np.zeros(0)
        if self.diagonal:
            curvatures = _sums_by_term(rows, rows.data**2, bends).ravel()
        elif self.sets is not None:
            bends = np.where(
                [held.cautious for held in self.sets], on_the_way(self.link, margins, slopes, bends), bends
            )
            packed = [packed_gram(rows, held.terms, bends[:, c].copy()) for c, held in enumerate(self.sets)]
            curvatures = np.concatenate([curvatures, *packed])
        return Sums(-logarithms.sum(axis=0), -gradients, curvatures)


def on_the_way(link: Link, margins: Array, slopes: Array, curvatures: Array) -> Array:
    """Curvatures; below 0 the mean of those between a margin and 0, which a step may cross.

    For the logit link this is Jaakkola & Jordan's bound, tanh(t/2) / (2t).

    Examples
    --------
    >>> from bayesift.models.linear import Logit
    >>> margins = np.array([-4.0])
    >>> on_the_way(Logit(), margins, *log_likelihoods(Logit(), margins)[1:]).round(6).tolist()
    [0.120503]
    """
    at_zero = log_likelihoods(link, np.zeros(1))[1][0]
    far = margins < _FAR
    return np.where(far, (slopes - at_zero) / np.where(far, -margins, 1.0), curvatures)


def _sums_by_term(rows: sparse.csr_array, values: Array, factors: Array) -> Array:
    """X' factors and the sums of the factors, with other values in the place of those of X."""
    sums = np.empty((rows.shape[1] + 1, factors.shape[1]))
    transposed_times(rows.indptr, rows.indices, values, factors, sums[:-1])
    sums[-1] = factors.sum(axis=0)
    return sums


@dataclass(frozen=True)
class AnswerAdder:
    """Adds the answers of a group of parts, so that not all of them come to one place.

    Parameters
    ----------
    shape : of the gradients
    """

    shape: tuple[int, int]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for all rows."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        if rows:
            yield Sums.of(rows, self.shape).to_batch(min(row["part"] for row in rows))
