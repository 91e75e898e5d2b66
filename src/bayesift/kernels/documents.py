"""The data of the working-set solver: a category, its documents and its working set.

Documents are grouped by score.

Documents none of whose terms has a weight have the score b and are merged into two groups, inside
and outside the category. Every other document has its own position, assigned when one of its
terms first enters a working set.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.kernels.compile import kernel
from bayesift.kernels.entries import Entries
from bayesift.kernels.likelihoods import LOGIT, derivative_at
from bayesift.kernels.linear import FREE, differentiate, differentiate_logit

INSIDE, OUTSIDE = 0, 1
RESIDUAL, CURVATURE = 0, 1
_LONGEST_INTERCEPT_STEP, _LARGEST_INTERCEPT = (
    2.0,
    30.0,
)  # the longest Newton step of an intercept, and the largest intercept that is stepped from


class Matrix(NamedTuple):
    """Documents x terms, by columns and by rows."""

    columns: Entries
    rows: Entries
    norms: FloatArray


class Model(NamedTuple):
    """One category: documents, column sums and posterior (`bayesift.kernels.linear`)."""

    members: IntArray
    importance: FloatArray
    sums: FloatArray
    terms: IntArray
    link: int
    parameters: FloatArray
    penalty: FloatArray
    intercept: FloatArray


class Documents(NamedTuple):
    """Arrays by place, first the two groups.

    `numbers`: the document of each place, `filled`: the number of places.

    `totals`: the sums of residuals and of curvatures, as of the last evaluation of all places.
    """

    filled: IntArray
    totals: FloatArray
    places: IntArray
    numbers: IntArray
    signs: FloatArray
    importance: FloatArray
    scores: FloatArray
    residuals: FloatArray
    curvatures: FloatArray
    likelihoods: FloatArray
    direction: FloatArray


def group_documents(model: Model, bias: float) -> Documents:
    """All documents in the two groups, at the score of the intercept."""
    size = len(model.importance) + 2
    places, numbers = np.full(size - 2, OUTSIDE, dtype=np.int32), np.empty(size, dtype=np.int32)
    places[model.members] = INSIDE
    signs, importance, scores = np.empty((3, size))
    signs[:2], scores[:2] = (1.0, -1.0), bias
    importance[INSIDE] = model.importance[model.members].sum()
    importance[OUTSIDE] = max(model.importance.sum() - importance[INSIDE], 0.0)
    return Documents(
        np.full(1, 2),
        np.zeros(2),
        places,
        numbers,
        signs,
        importance,
        scores,
        *np.empty((4, size)),
    )


def separate_documents(model: Model, scores: FloatArray) -> Documents:
    """Give each document its own position, with these scores."""
    documents = group_documents(model, 0.0)
    documents.signs[2:] = documents.signs[documents.places]
    documents.importance[:2], documents.importance[2:] = 0.0, model.importance
    documents.scores[2:] = scores
    documents.places[:] = np.arange(2, len(scores) + 2)
    documents.numbers[2:] = np.arange(len(scores))
    documents.filled[0] = len(scores) + 2
    return documents


def assign_places(matrix: Matrix, model: Model, documents: Documents, chosen: IntArray) -> None:
    """Assign places to the documents of these terms."""
    if documents.filled[0] == len(documents.numbers):
        return
    _assign_places(
        matrix.columns.indptr, matrix.columns.indices, chosen, model.importance, documents.filled,
        documents.places, documents.numbers,
        documents.signs, documents.importance, documents.scores,
    )  # fmt: skip


@kernel
def _assign_places(
    indptr: IntArray,
    indices: IntArray,
    chosen: IntArray,
    weights: FloatArray,
    filled: IntArray,
    places: IntArray,
    numbers: IntArray,
    signs: FloatArray,
    importance: FloatArray,
    scores: FloatArray,
) -> None:
    """Places follow the order of the documents, for the sake of the cache.

    Until then a group is marked by -2 or -1.
    """
    count, found = filled[0], 0
    for column in range(len(chosen)):
        j = chosen[column]
        for k in range(indptr[j], indptr[j + 1]):
            document = np.uint32(indices[k])
            if 0 <= places[document] < 2:
                places[document] -= 2
                found += 1
    if found == 0:
        return
    for i in range(len(places)):
        if places[i] < 0:
            group = np.uint32(places[i] + 2)
            places[i], numbers[count] = count, i
            signs[count], scores[count], importance[count] = (
                signs[group],
                scores[group],
                weights[i],
            )
            importance[group] = max(importance[group] - weights[i], 0.0)
            count += 1
    filled[0] = count


@kernel
def add_scores(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    chosen: IntArray,
    weights: FloatArray,
    places: IntArray,
    scores: FloatArray,
) -> None:
    """Add the contributions of these terms to the scores of their documents, which have places."""
    for column in range(len(chosen)):
        j = chosen[column]
        weight = weights[j]
        for k in range(indptr[j], indptr[j + 1]):
            scores[np.uint32(places[np.uint32(indices[k])])] += weight * data[k]


def evaluate(model: Model, documents: Documents, cautious: bool) -> float:
    """Write residuals and curvatures of all documents and their totals.

    Returns minus the log-likelihood.
    """
    return _evaluate(
        model, documents, slice(0, int(documents.filled[0])), documents.totals, cautious
    )


def evaluate_moved(model: Model, documents: Documents, known: int, cautious: bool) -> None:
    """Write those of the groups and of documents that got places after `known`.

    What they add up to stays the same.
    """
    for places in (slice(0, 2), slice(known, int(documents.filled[0]))):
        _evaluate(model, documents, places, np.empty(2), cautious)


def _evaluate(
    model: Model, documents: Documents, places: slice, totals: FloatArray, cautious: bool
) -> float:
    given = documents.signs[places], documents.importance[places], documents.scores[places]
    written = documents.residuals[places], documents.curvatures[places]
    if model.link == LOGIT:
        return float(
            differentiate_logit(
                *given, *written, documents.likelihoods[places], totals, cautious
            )
        )
    return float(differentiate(model.link, model.parameters, *given, *written, totals))


def intercept_neg_gradient(model: Model, documents: Documents, bias: float) -> float:
    """Minus the derivative of the objective by the intercept."""
    free, precision, centre = model.intercept.tolist()
    return float(documents.totals[RESIDUAL]) - precision * (bias - centre) if free else 0.0


def intercept_curvature(model: Model, documents: Documents) -> float:
    """Return the second derivative of the objective by the intercept; 0 if it is fixed."""
    free, precision, _ = model.intercept.tolist()
    return float(documents.totals[CURVATURE]) + precision if free else 0.0


def optimise_intercept(
    model: Model,
    documents: Documents,
    bias: FloatArray,
    goal: float,
    steps: int,
    cautious: bool,
) -> float:
    """Newton steps of the intercept alone, until its gradient is at most the goal.

    Returns the new loss.
    """
    n = int(documents.filled[0])
    loss = evaluate(model, documents, cautious)
    for _ in range(steps if model.intercept[FREE] else 0):
        neg_gradient = intercept_neg_gradient(model, documents, float(bias[0]))
        if abs(neg_gradient) <= goal or abs(bias[0]) > _LARGEST_INTERCEPT:
            break
        curvature = intercept_curvature(model, documents)
        step = (
            min(
                max(neg_gradient / curvature, -_LONGEST_INTERCEPT_STEP), _LONGEST_INTERCEPT_STEP
            )
            if curvature > 0.0
            else 0.0
        )
        bias[0] += step
        documents.scores[:n] += step
        loss = evaluate(model, documents, cautious)
    return loss


def intercept_penalty(model: Model, bias: float) -> float:
    """Return the cost Q of the intercept."""
    _, precision, centre = model.intercept.tolist()
    return float(0.5 * precision * (bias - centre) ** 2)


def group_residuals(model: Model, documents: Documents) -> Array:
    """Return the residual of a document of importance 1 in each group."""
    inside, outside = documents.scores[:2].tolist()
    if model.link == LOGIT:
        return np.array(
            [
                1.0 / (1.0 + math.exp(min(inside, 700.0))),
                -1.0 / (1.0 + math.exp(min(-outside, 700.0))),
            ]
        )
    derivatives = (
        derivative_at(model.link, model.parameters, margin) for margin in (inside, -outside)
    )
    return np.array([next(derivatives), -next(derivatives)])


class WorkingSet(NamedTuple):
    """Columns and rows of the terms `chosen`, documents by their positions.

    Rows are counted until `arrange_rows` fills them.

    The vectors are minus the gradient of the likelihood part, the step, and X_W' h (sums).
    """

    chosen: IntArray
    starts: IntArray
    places: IntArray
    values: FloatArray
    row_starts: IntArray
    row_columns: IntArray
    row_values: FloatArray
    neg_gradient: FloatArray
    step: FloatArray
    sums: FloatArray


def working_set(matrix: Matrix, documents: Documents, chosen: IntArray) -> WorkingSet:
    """Return the entries of a set of terms whose documents have positions."""
    size, starts = len(chosen), np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(matrix.columns.indptr[chosen + 1] - matrix.columns.indptr[chosen], out=starts[1:])
    entries = int(starts[-1])
    places, row_columns = np.empty((2, entries), dtype=np.int32)
    values, row_values = np.empty((2, entries))
    row_starts = np.zeros(int(documents.filled[0]) + 1, dtype=np.int64)
    _copy_columns(
        *matrix.columns,
        chosen,
        documents.places,
        starts,
        places,
        values,
        row_starts,
    )
    return WorkingSet(
        chosen,
        starts,
        places,
        values,
        row_starts,
        row_columns,
        row_values,
        *np.empty((3, size)),
    )


@kernel
def _copy_columns(
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    chosen: IntArray,
    places_of: IntArray,
    starts: IntArray,
    places: IntArray,
    values: FloatArray,
    row_counts: IntArray,
) -> None:
    """Write the entries of the chosen columns; counts those of each row, one place on."""
    for column in range(len(chosen)):
        first = indptr[chosen[column]]
        for k in range(starts[column], starts[column + 1]):
            source = k - starts[column] + first
            place = places_of[np.uint32(indices[source])]
            places[k], values[k] = place, data[source]
            row_counts[np.uint32(place) + np.uint32(1)] += 1


def arrange_rows(terms: WorkingSet) -> None:
    """Fill the rows of a set from its columns."""
    _transpose(
        terms.starts,
        terms.places,
        terms.values,
        terms.row_starts,
        terms.row_columns,
        terms.row_values,
    )


@kernel
def _transpose(
    starts: IntArray,
    places: IntArray,
    values: FloatArray,
    row_starts: IntArray,
    row_columns: IntArray,
    row_values: FloatArray,
) -> None:
    for i in range(len(row_starts) - 1):
        row_starts[i + 1] += row_starts[i]
    for column in range(len(starts) - 1):
        for k in range(starts[column], starts[column + 1]):
            place = np.uint32(places[k])
            rank = np.uint64(row_starts[place])
            row_columns[rank], row_values[rank] = column, values[k]
            row_starts[place] += 1
    for i in range(len(row_starts) - 1, 0, -1):
        row_starts[i] = row_starts[i - 1]
    row_starts[0] = 0
