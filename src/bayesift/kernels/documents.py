"""The documents of a category whose scores differ.

A document none of whose terms has a weight has the score b, whatever else it says: all of these are two to a solver,
one inside the category and one outside, with the importance of all they stand for. The others have a place of their
own, given when a term of theirs is first worked on. What a solver does to documents costs as many as have places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayesift.kernels.compile import kernel
from bayesift.kernels.likelihoods import parts
from bayesift.kernels.linear import differentiate, intercept_pull, intercept_step

Array = np.ndarray[Any, Any]

INSIDE, OUTSIDE = 0, 1
_STEEP, _FAR = 2.0, 30.0  # the longest step and the largest size of an intercept on its way to its best


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
    """One category: its documents, and the posterior of its weights (see `bayesift.kernels.linear`).

    sums are those of the columns, each document counted by its importance.
    """

    members: Array
    importance: Array
    sums: Array
    terms: Array
    link: int
    parameters: Array
    penalty: Array
    intercept: Array


class Documents(NamedTuple):
    """By place, the first two of which are `INSIDE` and `OUTSIDE`; but `places` by document, 0 or 1 without one.

    filled is the number of places taken, numbers has the document of each, direction and likelihoods are scratch.
    """

    filled: Array
    places: Array
    numbers: Array
    signs: Array
    importance: Array
    scores: Array
    pulls: Array
    curvatures: Array
    likelihoods: Array
    direction: Array


@kernel
def stand_in(model: Model, bias: float) -> Documents:
    """All documents at the score of the intercept."""
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
    return Documents(
        count,
        places,
        numbers,
        signs,
        importance,
        scores,
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
    )


@kernel
def stand_alone(model: Model, scores: Array) -> Documents:
    """All documents at scores of their own, whatever these are made of."""
    documents = stand_in(model, 0.0)
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
def give_places(
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
    """Let the documents of the entries first to last stand for themselves; weights are their importance."""
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
def single_out(matrix: Matrix, model: Model, documents: Documents, chosen: Array) -> None:
    """Give the documents of these terms places."""
    for j in chosen:
        give_places(
            matrix.indptr[j], matrix.indptr[j + 1], matrix.indices, model.importance, documents.filled,
            documents.places, documents.numbers, documents.signs, documents.importance, documents.scores,
        )  # fmt: skip


@kernel
def add_terms(matrix: Matrix, documents: Documents, chosen: Array, weights: Array) -> None:
    """Add what these terms give to the scores of their documents, which have places."""
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
    """Write pulls and curvatures; gives minus the log-likelihood."""
    n = documents.filled[0]
    return differentiate(
        model.link, model.parameters, documents.signs[:n], documents.importance[:n], documents.scores[:n],
        documents.pulls[:n], documents.curvatures[:n], documents.likelihoods[:n], cautious,
    )  # fmt: skip


@kernel
def evaluate_new(model: Model, documents: Documents, known: int, cautious: bool) -> None:
    """Write pulls and curvatures of documents that got places after the first `known`, and of those without."""
    for first, last in ((0, 2), (known, documents.filled[0])):
        differentiate(
            model.link, model.parameters, documents.signs[first:last], documents.importance[first:last],
            documents.scores[first:last], documents.pulls[first:last], documents.curvatures[first:last],
            documents.likelihoods[first:last], cautious,
        )  # fmt: skip


@kernel
def settle_intercept(model: Model, documents: Documents, bias: Array, goal: float, steps: int, cautious: bool) -> float:
    """Move the intercept to its best for these weights, until its pull is at most the goal; gives the new loss."""
    n = documents.filled[0]
    loss = evaluate(model, documents, cautious)
    for _ in range(steps):
        if abs(intercept_pull(model.intercept, bias[0], documents.pulls[:n])) <= goal or abs(bias[0]) > _FAR:
            break
        step = intercept_step(model.intercept, bias[0], documents.pulls[:n], documents.curvatures[:n])
        step = min(max(step, -_STEEP), _STEEP)
        bias[0] += step
        documents.scores[:n] += step
        loss = evaluate(model, documents, cautious)
    return loss


@kernel
def group_pulls(model: Model, documents: Documents) -> tuple[float, float]:
    """The pull of a document of importance 1 without a place, inside the category and outside."""
    inside = parts(model.link, model.parameters, documents.scores[INSIDE])[1]
    outside = parts(model.link, model.parameters, -documents.scores[OUTSIDE])[1]
    return inside, -outside
