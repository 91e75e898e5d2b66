"""Documents as blocks of sparse rows in Arrow batches, and what blocks answer to a question about weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from bayesift.kernels.blocks import times, transposed_times
from bayesift.models.linear.links import Link, log_likelihoods
from bayesift.spark.counting import DocumentColumns
from bayesift.spark.texts import indicator_of_labels
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]

BLOCK_SCHEMA = (
    "documents int, entries long, row_ends binary, terms binary, weights binary, label_ends binary, labels binary"
)
ANSWER_SCHEMA = "part int, losses binary, gradients binary"
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


@dataclass(frozen=True, eq=False)
class Questioner:
    """Asks blocks for losses and gradients at given weights; the answer of all blocks is one row.

    Parameters
    ----------
    link : of the model
    weights : terms and intercept x models
    models : the category of each model
    n_categories : of all

    Examples
    --------
    >>> from bayesift.models.linear import Logit
    >>> rows, labels = sparse.csr_array([[2.0]]), sparse.csr_array(np.array([[1]]))
    >>> losses, gradients = Questioner(Logit(), np.zeros((2, 1)), [0], 1).answer(Block(rows, labels))
    >>> losses.round(3).tolist(), gradients.tolist()
    ([0.693], [[-1.0], [-0.5]])
    """

    link: Link
    weights: Array
    models: list[int]
    n_categories: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row: the sums over all blocks of all batches."""
        losses, gradients, part = np.zeros(len(self.models)), np.zeros(self.weights.shape), None
        for batch in batches:
            for row in batch.to_pylist():
                part = row["part"] if part is None else part
                more = self.answer(Block.of(row, len(self.weights) - 1, self.n_categories))
                losses += more[0]
                gradients += more[1]
        if part is not None:
            yield answer_batch(part, losses, gradients)

    def answer(self, block: Block) -> tuple[Array, Array]:
        """Losses and gradients of one block."""
        rows, n = block.rows, block.rows.shape[0]
        signs = np.where(block.labels[:, self.models].toarray(), 1.0, -1.0)
        scores = np.empty((n, len(self.models)))
        csr = rows.indptr, rows.indices, rows.data
        times(*csr, np.ascontiguousarray(self.weights[:-1]), scores)
        scores += self.weights[-1]
        logarithms, slopes, _ = log_likelihoods(self.link, signs * scores)
        pulls = signs * slopes
        gradients = np.empty(self.weights.shape)
        transposed_times(*csr, pulls, gradients[:-1])
        gradients[-1] = pulls.sum(axis=0)
        return -logarithms.sum(axis=0), -gradients


def answer_batch(part: int, losses: Array, gradients: Array) -> pa.RecordBatch:
    """An answer as one row of a batch.

    Examples
    --------
    >>> answer_batch(0, np.zeros(1), np.zeros((2, 1))).num_rows
    1
    """
    arrays = [pa.array([part], pa.int32()), *(pa.array([x.tobytes()], pa.binary()) for x in (losses, gradients))]
    return pa.RecordBatch.from_arrays(arrays, ["part", "losses", "gradients"])


def add_answers(rows: list[dict[str, Any]], shape: tuple[int, int]) -> tuple[Array, Array]:
    """The sum of answers, in the order of their parts: the same whoever was first.

    Examples
    --------
    >>> rows = answer_batch(0, np.ones(1), np.ones((2, 1))).to_pylist() * 2
    >>> add_answers(rows, (2, 1))[0].tolist()
    [2.0]
    """
    losses, gradients = np.zeros(shape[1]), np.zeros(shape)
    for row in sorted(rows, key=lambda row: row["part"]):
        losses += np.frombuffer(row["losses"])
        gradients += np.frombuffer(row["gradients"]).reshape(shape)
    return losses, gradients


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
            yield answer_batch(min(row["part"] for row in rows), *add_answers(rows, self.shape))
