"""Documents as blocks of sparse rows in Arrow batches, and the losses of models over blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.kernels.products import times, transposed_times
from bayesift.models.linear.links import Link, log_likelihoods
from bayesift.spark.counting import DocumentColumns, indicator_of_labels
from bayesift.spark.descent import WeightedSet
from bayesift.spark.newton import packed_gram
from bayesift.text import TermVectorizer

BLOCK_SCHEMA = (
    "documents int, entries long, row_ends binary, terms binary, weights binary, "
    "label_ends binary, labels binary"
)
SUMS_SCHEMA = "part int, losses binary, gradients binary, hessians binary"
_FAR = -0.1
_BLOCK = pa.schema(
    [
        ("documents", pa.int32()),
        ("entries", pa.int64()),
        *(
            (name, pa.binary())
            for name in ("row_ends", "terms", "weights", "label_ends", "labels")
        ),
    ]
)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some of the documents: rows are documents x terms, labels documents x categories (0 or 1)."""

    rows: SparseRows
    labels: SparseRows

    def to_batch(self) -> pa.RecordBatch:
        """Return the block as one row of a batch."""
        rows = self.rows
        labels = self.labels
        parts = (rows.indptr, rows.indices, rows.data, labels.indptr, labels.indices)
        kinds = (np.int64, np.int32, np.float64, np.int32, np.int32)
        bytes_of = [
            np.asarray(part, dtype=kind).tobytes()
            for part, kind in zip(parts, kinds, strict=True)
        ]
        values = [rows.shape[0], rows.nnz, *bytes_of]
        arrays = [
            pa.array([value], field.type) for value, field in zip(values, _BLOCK, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=_BLOCK)

    @classmethod
    def of(cls, row: dict[str, Any], n_terms: int, n_categories: int) -> RowBlock:
        """Return the block of a row of a batch."""
        ends, terms, weights = (
            np.frombuffer(row[name], dtype=kind)
            for name, kind in (
                ("row_ends", np.int64),
                ("terms", np.int32),
                ("weights", np.float64),
            )
        )
        label_ends, labels = (
            np.frombuffer(row[name], dtype=np.int32) for name in ("label_ends", "labels")
        )
        n = row["documents"]
        return cls(
            # Kernels are compiled for int32 offsets into a matrix that small.
            sparse.csr_array((weights, terms, ends.astype(np.int32)), shape=(n, n_terms)),
            sparse.csr_array(
                (np.ones(len(labels), dtype=np.int8), labels, label_ends),
                shape=(n, n_categories),
            ),
        )


@dataclass(frozen=True)
class BlockMaker:
    """Turns batches of texts and labels into blocks, one per batch.

    `kept` are the terms to keep, None for all.
    """

    columns: DocumentColumns
    categories: tuple[str, ...]
    vectorizer: Callable[[], TermVectorizer]
    kept: Array | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return a batch of one row for each batch."""
        names = pa.array(self.categories, pa.string())
        for batch in batches:
            texts, labels, _ = self.columns.read(batch)
            if not len(texts):
                continue
            rows = self.vectorizer().transform(texts)
            rows = rows if self.kept is None else sparse.csr_array(rows[:, self.kept])
            yield RowBlock(rows, indicator_of_labels(labels, names)).to_batch()


class LossSums(NamedTuple):
    """Losses and derivatives of a block, or sums over several.

    The losses are minus the log-likelihood of each model, the gradients have the shape of the
    weights, the Hessians are diagonals or packed parts, concatenated.
    """

    losses: FloatArray
    gradients: Array
    hessians: Array

    def add(self, other: LossSums) -> None:
        """Add another block to this one."""
        for mine, more in zip(self, other, strict=True):
            mine += more

    def to_batch(self, part: int) -> pa.RecordBatch:
        """One row of a batch; Hessians, which only guide steps, in single precision."""
        kinds = (np.float64, np.float64, np.float32)
        parts = [
            np.asarray(x, dtype=kind).tobytes() for x, kind in zip(self, kinds, strict=True)
        ]
        arrays = [pa.array([part], pa.int32()), *(pa.array([x], pa.binary()) for x in parts)]
        return pa.RecordBatch.from_arrays(arrays, ["part", *LossSums._fields])

    @classmethod
    def of(cls, rows: list[dict[str, Any]], shape: tuple[int, int]) -> LossSums:
        """Sum rows in the order of their parts, independent of the order of arrival."""
        total = None
        for row in sorted(rows, key=lambda row: row["part"]):
            losses = np.frombuffer(row["losses"])
            gradients = np.frombuffer(row["gradients"]).reshape(shape)
            sums = cls(losses, gradients, np.frombuffer(row["hessians"], dtype=np.float32))
            if total is None:
                total = cls(*(part.copy() for part in sums))
            else:
                total.add(sums)
        assert total is not None
        return total


@dataclass(frozen=True, eq=False)
class LossEvaluator:
    """Evaluates losses and gradients over blocks at given weights.

    The sums over all blocks are one row.

    Parameters
    ----------
    weights : terms and intercept x models
    models : the category of each model
    diagonal : whether to evaluate the diagonals of the Hessians too
    sets : the terms of each model whose Hessian to evaluate, its intercept after them; None for
        none
    """

    link: Link
    weights: FloatArray
    models: list[int]
    n_categories: int
    diagonal: bool = False
    sets: list[WeightedSet] | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row: the sums over all blocks of all batches."""
        total = None
        part = 0
        for batch in batches:
            for row in batch.to_pylist():
                more = self.evaluate(RowBlock.of(row, len(self.weights) - 1, self.n_categories))
                if total is None:
                    total = more
                    part = row["part"]
                else:
                    total.add(more)
        if total is not None:
            yield total.to_batch(part)

    def evaluate(self, block: RowBlock) -> LossSums:
        """Losses, gradients and Hessians of one block."""
        rows = block.rows
        n = block.rows.shape[0]
        signs = np.where(block.labels[:, self.models].toarray(), 1.0, -1.0)
        scores = np.empty((n, len(self.models)))
        times(
            rows.indptr,
            rows.indices,
            rows.data,
            np.ascontiguousarray(self.weights[:-1]),
            scores,
        )
        scores += self.weights[-1]
        margins = signs * scores
        logarithms, derivatives, curvatures = log_likelihoods(self.link, margins)
        gradients = _sums_by_term(rows, rows.data, signs * derivatives)
        hessians = np.zeros(0)
        if self.diagonal:
            hessians = _sums_by_term(rows, rows.data**2, curvatures).ravel()
        elif self.sets is not None:
            cautious = [held.cautious for held in self.sets]
            curvatures = np.where(
                cautious,
                secant_curvatures(self.link, margins, derivatives, curvatures),
                curvatures,
            )
            packed = [
                packed_gram(rows, held.terms, curvatures[:, c].copy())
                for c, held in enumerate(self.sets)
            ]
            hessians = np.concatenate([hessians, *packed])
        return LossSums(-logarithms.sum(axis=0), -gradients, hessians)


def secant_curvatures(
    link: Link, margins: FloatArray, derivatives: FloatArray, curvatures: FloatArray
) -> Array:
    """Curvatures; for margins below 0 their mean between the margin and 0, which a step may cross.

    For the logit link this is Jaakkola & Jordan's bound, tanh(t/2) / (2t).
    """
    at_zero = log_likelihoods(link, np.zeros(1))[1][0]
    far = margins < _FAR
    return np.where(far, (derivatives - at_zero) / np.where(far, -margins, 1.0), curvatures)


def _sums_by_term(rows: SparseRows, values: FloatArray, factors: FloatArray) -> Array:
    """X' factors and the sums of the factors, with these values as the entries of X."""
    sums = np.empty((rows.shape[1] + 1, factors.shape[1]))
    transposed_times(rows.indptr, rows.indices, values, factors, sums[:-1])
    sums[-1] = factors.sum(axis=0)
    return sums


@dataclass(frozen=True)
class SumReducer:
    """A reducer that adds the sums of a group of parts, so that the driver gets fewer."""

    shape: tuple[int, int]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for all rows."""
        rows = [row for batch in batches for row in batch.to_pylist()]
        if rows:
            yield LossSums.of(rows, self.shape).to_batch(min(row["part"] for row in rows))
