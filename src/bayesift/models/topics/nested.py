"""What classifiers on topics have inside: their encoder, and its arrays among those of the whole."""

from __future__ import annotations

from sklearn.base import clone

from bayesift.models.state import Arrays
from bayesift.models.topics.sparse_nmf import SparseNMF


def encoder_for_categories(given: SparseNMF | None) -> SparseNMF:
    """An unfitted copy of the encoder given; without one the paper's, whose codes tell categories apart.

    Examples
    --------
    >>> encoder_for_categories(None)
    SparseNMF(alpha=1.0, importance='variance', start='nndsvd')
    """
    return SparseNMF(importance="variance", alpha=1.0, start="nndsvd") if given is None else clone(given)


def prefixed(part: str, arrays: Arrays) -> Arrays:
    """The arrays of a part under names of their own.

    Examples
    --------
    >>> prefixed("encoder", {"components": 1})
    {'encoder.components': 1}
    """
    return {f"{part}.{name}": array for name, array in arrays.items()}


def part_of(arrays: Arrays, part: str) -> Arrays:
    """The inverse of `prefixed`.

    Examples
    --------
    >>> part_of({"encoder.components": 1, "points": 2}, "encoder")
    {'components': 1}
    """
    start = f"{part}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
