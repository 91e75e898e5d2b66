"""Knowledge of words as the prior of a linear model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayesift.knowledge.resolving import Coverage, Resolved, Row, TermIndex, resolve
from bayesift.knowledge.term_knowledge import TermKnowledge
from bayesift.models.linear import Link, Logit, Prior
from bayesift.models.linear.priors import prior_of

Array = np.ndarray[Any, Any]

# The parameter that holds the scale of each prior, of a standard deviation.
_SCALES: dict[str, tuple[str, Callable[[float], float]]] = {
    "gaussian": ("variance", lambda deviation: deviation**2),
    "laplace": ("gamma", lambda deviation: 2.0 / deviation**2),
}


def prior_for(
    knowledge: TermKnowledge,
    base: Any,
    categories: Sequence[str],
    terms: TermIndex | Sequence[str],
    *,
    link: Link | None = None,
    one_model: bool = False,
) -> tuple[Any, Coverage]:
    """A prior of the same kind with the modes, scales and signs that people know of, and how many words it used.

    Parameters
    ----------
    knowledge : what is known; with nothing of it in the vocabulary the base prior comes back as it is
    base : a Laplace or Gaussian prior, or its name; it holds for all other weights
    categories : one a row of the prior
    terms : the terms of the model, or their names alone
    link : strengths are log odds; a probit score, say, is of another unit
    one_model : whether two categories share one model, in which the second is the positive one

    Examples
    --------
    >>> knowledge = TermKnowledge.from_keywords({"corn": {"corn": 3, "oil": "-"}})
    >>> prior, coverage = prior_for(knowledge, "laplace", ["corn", "gold"], ["corn", "gold", "oil"])
    >>> prior.mode.tolist(), prior.sign.tolist(), coverage.used
    ([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]], 2)
    """
    base = prior_of(base)
    if base.kind not in _SCALES:
        raise ValueError(f"knowledge needs a {' or a '.join(_SCALES)} prior, not a {base.kind} one")
    index = terms if isinstance(terms, TermIndex) else TermIndex.of_names(terms)
    unit = math.sqrt(Logit.moderation / (Logit() if link is None else link).moderation)
    rows, coverage = resolve(knowledge, categories, index, unit)
    if one_model:
        rows = [_difference(rows[1], rows[0])]
    return _with_rows(base, rows, len(index)), coverage


def _with_rows(base: Prior, rows: list[Row], n_terms: int) -> Any:
    """The base prior with what the rows say put in place; parameters they do not speak of stay as they are."""
    name, parameter_of = _SCALES[base.kind]
    entries = [(row, column, said) for row, columns in enumerate(rows) for column, said in columns.items()]
    shape = (len(rows), n_terms)
    changed = {}
    for parameter, values in (
        ("mode", ((row, column, said.mode) for row, column, said in entries)),
        (name, ((row, column, said.scale and parameter_of(said.scale)) for row, column, said in entries)),
        ("sign", ((row, column, said.sign or None) for row, column, said in entries)),
    ):
        placed = [value for value in values if value[2] is not None]
        if placed:
            changed[parameter] = _filled(getattr(base, parameter), shape, placed)
    return replace(base, **changed) if changed else base  # type: ignore[type-var]


def _filled(parameter: Any, shape: tuple[int, int], values: Iterable[tuple[int, int, float | None]]) -> Array:
    array = np.array(np.broadcast_to(np.asarray(parameter, dtype=np.float64), shape))
    rows, columns, entries = zip(*values, strict=True)
    array[list(rows), list(columns)] = entries
    return array


def _difference(positive: Row, negative: Row) -> Row:
    """What speaks for one of two categories speaks against the other."""
    row: Row = {}
    for column in {**positive, **negative}:
        ours, theirs = positive.get(column, Resolved()), negative.get(column, Resolved())
        modes = [mode for mode in (ours.mode, None if theirs.mode is None else -theirs.mode) if mode is not None]
        sign = int(np.sign(ours.sign - theirs.sign)) if ours.sign != theirs.sign else 0
        row[column] = Resolved(sum(modes) if modes else None, ours.scale or theirs.scale, sign)
    return row
