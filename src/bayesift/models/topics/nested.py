"""Arrays of a part among those of the whole."""

from __future__ import annotations

from bayesift.models.state import Arrays


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
