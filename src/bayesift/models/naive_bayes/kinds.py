"""Smoothings by kind, as model files name them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bayesift.errors import DataError
from bayesift.models.naive_bayes.shrinkage import HierarchicalShrinkage
from bayesift.models.naive_bayes.smoothing import (
    AbsoluteDiscounting,
    Dirichlet,
    JelinekMercer,
    Laplace,
    MaximumLikelihood,
    Smoothing,
)

SMOOTHINGS: dict[str, type[Any]] = {
    smoothing.kind: smoothing
    for smoothing in (
        MaximumLikelihood,
        Laplace,
        Dirichlet,
        JelinekMercer,
        AbsoluteDiscounting,
        HierarchicalShrinkage,
    )
}


def describe_smoothing(smoothing: Smoothing) -> dict[str, Any]:
    """A smoothing as JSON can hold it.

    Examples
    --------
    >>> describe_smoothing(Laplace(alpha=0.5))
    {'kind': 'laplace', 'alpha': 0.5}
    """
    if SMOOTHINGS.get(smoothing.kind) is not type(smoothing):
        raise DataError(f"{smoothing!r} cannot be stored: its kind is not one of {', '.join(SMOOTHINGS)}")
    fields: dict[str, Any] = asdict(smoothing)  # type: ignore[call-overload]
    if "parents" in fields:  # keys of JSON objects are strings, categories may be numbers
        fields["parents"] = [list(edge) for edge in fields["parents"].items()]
    return {"kind": smoothing.kind, **fields}


def smoothing_of(description: dict[str, Any]) -> Smoothing:
    """The inverse of `describe_smoothing`.

    Examples
    --------
    >>> smoothing_of({"kind": "dirichlet", "mu": 100.0})
    Dirichlet(mu=100.0)
    """
    fields = dict(description)
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in SMOOTHINGS:
        raise DataError(f"no smoothing {kind!r}; there are: {', '.join(SMOOTHINGS)}")
    try:
        if "parents" in fields:
            fields["parents"] = dict(fields["parents"])
        smoothing: Smoothing = SMOOTHINGS[kind](**fields)
    except (TypeError, ValueError) as error:
        raise DataError(f"not a {kind} smoothing: {error}") from error
    return smoothing
