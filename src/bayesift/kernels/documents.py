"""The data of the working-set solver: one category, its documents grouped by score, and the entries of a working set.

Documents none of whose terms has a weight have the score b and are merged into two groups, inside and outside the
category. Every other document has a place of its own, assigned when one of its terms first enters a working set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift.arrays import Array
from bayesift.kernels.compile import kernel
from bayesift.kernels.likelihoods import parts
from bayesift.kernels.linear import differentiate, intercept_neg_gradient, intercept_step

INSIDE, OUTSIDE = 0, 1
_STEEP, _FAR = 2.0, 30.0  # the longest Newton step of an intercept, and the largest intercept that is stepped from


class Matrix(NamedTuple):
    """Documents x terms, by columns and by rows."""

    indptr: Array
    indices: Array
    data: Array
    row_indptr: Array
    row_indices: Array
    row_data: Array
    norms: Array


class Model(NamedTuple):
    """One category: its documents, column sums by importance, and the posterior (`bayesift.kernels.linear`)."""

    members: Array
    importance: Array
    sums: Array
    terms: Array
    link: int
    parameters: Array
    penalty: Array
    intercept: Array


class Documents(NamedTuple):
    """Arrays by place, first the two groups; `numbers`: the document of each place, `filled`: the number of places."""

    filled: Array
    places: Array
    numbers: Array
    signs: Array
    importance: Array
    scores: Array
    residuals: Array
    curvatures: Array
    likelihoods: Array
    direction: Array


@kernel
def group_documents(model: Model, bias: float) -> Documents:
    """All documents in the two groups, at the score of the intercept."""
    size = len(model.importance) + 2
    places, count = np.full(size - 2, OUTSIDE, dtype=np.int32), np.full(1, 2)
    numbers, signs, importance, scores = np.empty(size, dtype=np.int32), np.empty(size), np.empty(size), np.empty(size)
    signs[INSIDE], signs[OUTSIDE] = 1.0, -1.0
    scores[INSIDE] = scores[OUTSIDE] = bias
    importance[INSIDE], importance[OUTSIDE] = 0.0, model.importance.sum()
    for i in model.members:
        places[i] = INSIDE
        importance[INSIDE] += model.importance[i]
    importance[OUTSIDE] -= importance[INSIDE]
    residuals, curvatures, likelihoods, direction = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    return Documents(count, places, numbers, signs, importance, scores, residuals, curvatures, likelihoods, direction)


@kernel
def separate_documents(model: Model, scores: Array) -> Documents:
    """All documents at places of their own, with these scores."""
    documents = group_documents(model, 0.0)
    count = len(scores)
    documents.importance[:2] = 0.0
    documents.scores[2:] = scores
    documents.importance[2:] = model.importance
    for i in range(count):
        documents.signs[2 + i] = documents.signs[documents.places[i]]
        documents.places[i], documents.numbers[2 + i] = 2 + i, i
    documents.filled[0] = count + 2
    return documents


@kernel
def _assign_places(
    first: int,
    last: int,
    indices: Array,
    weights: Array,
    count: Array,
    places: Array,
    numbers: Array,
    signs: Array,
    importance: Array,
    scores: Array,
) -> None:
    """Assign places to the documents of the entries first to last; weights are their importance."""
    for k in range(first, last):
        i = indices[k]
        group = places[i]
        if group < 2:
            place = count[0]
            places[i], numbers[place] = place, i
            signs[place], scores[place], importance[place] = signs[group], scores[group], weights[i]
            importance[group] = max(importance[group] - weights[i], 0.0)
            count[0] += 1


@kernel
def assign_places(matrix: Matrix, model: Model, documents: Documents, chosen: Array) -> None:
    """Assign places to the documents of these terms."""
    for j in chosen:
        _assign_places(
            matrix.indptr[j], matrix.indptr[j + 1], matrix.indices, model.importance, documents.filled,
            documents.places, documents.numbers, documents.signs, documents.importance, documents.scores,
        )  # fmt: skip


@kernel
def add_scores(matrix: Matrix, documents: Documents, chosen: Array, weights: Array) -> None:
    """Add the contributions of these terms to the scores of their documents, which have places."""
    for j in chosen:
        _add_column(
            matrix.indptr[j], matrix.indptr[j + 1], matrix.indices, matrix.data, weights[j], documents.places,
            documents.scores,
        )  # fmt: skip


@kernel
def _add_column(
    first: int, last: int, indices: Array, data: Array, weight: float, places: Array, scores: Array
) -> None:
    for k in range(first, last):
        scores[places[indices[k]]] += weight * data[k]


@kernel
def evaluate(model: Model, documents: Documents, cautious: bool) -> float:
    """Write residuals and curvatures; returns minus the log-likelihood."""
    n = documents.filled[0]
    return differentiate(
        model.link, model.parameters, documents.signs[:n], documents.importance[:n], documents.scores[:n],
        documents.residuals[:n], documents.curvatures[:n], documents.likelihoods[:n], cautious,
    )  # fmt: skip


@kernel
def evaluate_new(model: Model, documents: Documents, known: int, cautious: bool) -> None:
    """Write residuals and curvatures of the groups and of documents at places from `known` on."""
    for first, last in ((0, 2), (known, documents.filled[0])):
        differentiate(
            model.link, model.parameters, documents.signs[first:last], documents.importance[first:last],
            documents.scores[first:last], documents.residuals[first:last], documents.curvatures[first:last],
            documents.likelihoods[first:last], cautious,
        )  # fmt: skip


@kernel
def optimise_intercept(
    model: Model, documents: Documents, bias: Array, goal: float, steps: int, cautious: bool
) -> float:
    """Newton steps of the intercept alone, until its gradient is at most the goal; returns the new loss."""
    n = documents.filled[0]
    loss = evaluate(model, documents, cautious)
    for _ in range(steps):
        if (
            abs(intercept_neg_gradient(model.intercept, bias[0], documents.residuals[:n])) <= goal
            or abs(bias[0]) > _FAR
        ):
            break
        step = intercept_step(model.intercept, bias[0], documents.residuals[:n], documents.curvatures[:n])
        step = min(max(step, -_STEEP), _STEEP)
        bias[0] += step
        documents.scores[:n] += step
        loss = evaluate(model, documents, cautious)
    return loss


@kernel
def group_residuals(model: Model, documents: Documents) -> tuple[float, float]:
    """The residual of a document of importance 1 in each group, inside the category and outside."""
    inside = parts(model.link, model.parameters, documents.scores[INSIDE])[1]
    outside = parts(model.link, model.parameters, -documents.scores[OUTSIDE])[1]
    return inside, -outside


class WorkingSet(NamedTuple):
    """Columns and rows (counted until `arrange_rows` fills them) of the terms `chosen`, documents by their places.

    The vectors are minus the gradients of the likelihood part and of its quadratic model, the step, and X_W' h (sums).
    """

    chosen: Array
    starts: Array
    places: Array
    values: Array
    row_starts: Array
    row_columns: Array
    row_values: Array
    neg_gradient: Array
    neg_model_gradient: Array
    step: Array
    sums: Array


@kernel
def working_set(matrix: Matrix, model: Model, documents: Documents, chosen: Array) -> WorkingSet:
    """The entries of a set of terms; their documents get places."""
    assign_places(matrix, model, documents, chosen)
    size, count = len(chosen), documents.filled[0]
    starts = np.zeros(size + 1, dtype=np.int64)
    for column in range(size):
        starts[column + 1] = starts[column] + matrix.indptr[chosen[column] + 1] - matrix.indptr[chosen[column]]
    entries = starts[size]
    places, row_columns = np.empty(entries, dtype=np.int32), np.empty(entries, dtype=np.int32)
    values, row_values, row_starts = np.empty(entries), np.empty(entries), np.zeros(count + 1, dtype=np.int64)
    _copy_columns(matrix.indptr, matrix.indices, matrix.data, chosen, documents.places, starts, places, values)
    for k in range(entries):
        row_starts[np.uint32(places[k]) + 1] += 1
    gradient, model_gradient, step, sums = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    return WorkingSet(
        chosen, starts, places, values, row_starts, row_columns, row_values, gradient, model_gradient, step, sums
    )


@kernel
def _copy_columns(
    indptr: Array,
    indices: Array,
    data: Array,
    chosen: Array,
    places_of: Array,
    starts: Array,
    places: Array,
    values: Array,
) -> None:
    for column in range(len(chosen)):
        shift = starts[column] - indptr[chosen[column]]
        for k in range(indptr[chosen[column]], indptr[chosen[column] + 1]):
            places[k + shift] = places_of[indices[k]]
            values[k + shift] = data[k]


@kernel
def arrange_rows(terms: WorkingSet) -> None:
    """Fill the rows of a set from its columns."""
    _transpose(terms.starts, terms.places, terms.values, terms.row_starts, terms.row_columns, terms.row_values)


@kernel
def _transpose(
    starts: Array, places: Array, values: Array, row_starts: Array, row_columns: Array, row_values: Array
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
