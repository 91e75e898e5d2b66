"""What classifiers with one model a category share: who is positive, which terms each may use, threads over models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from bayesift.models.threads import in_threads
from bayesift.validation import Targets

Array = np.ndarray[Any, Any]
Answer = TypeVar("Answer")


def models_of(targets: Targets) -> sparse.csr_array:
    """The documents that each model calls positive, models x documents: of two classes the second is enough.

    Examples
    --------
    >>> from bayesift.validation import check_targets
    >>> models_of(check_targets(["spam", "ham", "spam"])).toarray().tolist()
    [[1, 0, 1]]
    """
    if targets.multilabel:
        return targets.members
    if len(targets.classes) < 2:
        raise ValueError(f"y has only one class, {targets.classes[0]!r}; a classifier needs two")
    return targets.members[[1]] if len(targets.classes) == 2 else targets.members


def signs_of(members: sparse.csr_array) -> Array:
    """Labels -1 and +1, models x documents.

    Examples
    --------
    >>> signs_of(sparse.csr_array([[1, 0, 1]])).tolist()
    [[1.0, -1.0, 1.0]]
    """
    signs = np.full(members.shape, -1.0)
    for c in range(members.shape[0]):
        signs[c, members.indices[members.indptr[c] : members.indptr[c + 1]]] = 1.0
    return signs


def terms_of(supports: Any, shape: tuple[int, int], earlier: Sequence[Array] | None = None) -> list[Array] | None:
    """The columns each model may use, None for all; those it used `earlier` stay.

    Examples
    --------
    >>> [columns.tolist() for columns in terms_of([[True, False, True], [False, True, False]], (2, 3))]
    [[0, 2], [1]]
    """
    if supports is None:
        if earlier is not None and len(earlier) < shape[0]:
            raise ValueError("supports must name the terms of new categories, as the others have theirs")
        return None if earlier is None else list(earlier)
    rows = sparse.csr_array(supports, copy=True)
    if rows.shape != shape:
        raise ValueError(f"supports must be models x terms, {shape}, not {rows.shape}")
    rows.eliminate_zeros()
    terms = [np.sort(rows.indices[rows.indptr[c] : rows.indptr[c + 1]]).astype(np.int32) for c in range(shape[0])]
    for c, columns in enumerate(earlier or ()):
        terms[c] = np.union1d(columns, terms[c]).astype(np.int32)
    return terms


def for_each_model(work: Callable[[int], Answer], n_models: int, n_jobs: int | None) -> list[Answer]:
    """The answers for models 0, 1, ..., worked out by threads (-1 for all cores).

    Examples
    --------
    >>> for_each_model(lambda c: c * c, 3, 2)
    [0, 1, 4]
    """
    return list(in_threads(work, range(n_models), n_jobs))
