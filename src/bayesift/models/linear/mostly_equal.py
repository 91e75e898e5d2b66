"""Parameters of priors as files hold them: arrays in which nearly all entries are equal, by the others alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesift.errors import DataError
from bayesift.models.state import Arrays, Parameters, expect

Array = np.ndarray[Any, Any]

_FEW = 0.25  # share of entries that differ from the most frequent one
_MOST_ENTRIES = 2**28


def describe_array(name: str, array: Array, prefix: str, arrays: Arrays) -> Parameters:
    """Put an array among others: whole, or where few entries differ, those; and say how in what is returned.

    Examples
    --------
    >>> arrays = {}
    >>> describe_array("mode", np.array([[0.0, 0.0, 0.0, 0.0, 3.0]]), "prior.", arrays)
    {'mode': {'shape': [1, 5], 'fill': 0.0}}
    >>> arrays
    {'prior.mode.places': array([4]), 'prior.mode.values': array([3.])}
    """
    values, counts = np.unique(array, return_counts=True)
    fill = values[np.argmax(counts)]
    places = np.flatnonzero(array != fill)
    if len(places) >= _FEW * array.size:
        arrays[f"{prefix}{name}"] = array
        return {}
    arrays |= {f"{prefix}{name}.places": places, f"{prefix}{name}.values": array.ravel()[places]}
    return {name: {"shape": list(array.shape), "fill": float(fill)}}


def described_arrays(fields: Parameters, arrays: Arrays, prefix: str) -> Parameters:
    """The inverse of `describe_array` for all fields; refuses what does not fit together.

    Examples
    --------
    >>> arrays = {"prior.mode.places": np.array([1]), "prior.mode.values": np.array([3.0])}
    >>> described_arrays({"mode": {"shape": [2], "fill": 0.0}}, arrays, "prior.")["mode"].tolist()
    [0.0, 3.0]
    """
    whole = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    read = {**fields, **{name: array for name, array in whole.items() if "." not in name}}
    for name, value in fields.items():
        if isinstance(value, dict):
            read[name] = _filled(value, whole.get(f"{name}.places"), whole.get(f"{name}.values"))
    return read


def _filled(description: Parameters, places: Array | None, values: Array | None) -> Array:
    shape, fill = expect(description, "shape", list), expect(description, "fill", float)
    if not 1 <= len(shape) <= 2 or not all(type(n) is int and n > 0 for n in shape):
        raise DataError(f"{shape!r:.40} is no shape")
    size = math.prod(shape)
    if size > _MOST_ENTRIES:
        raise DataError(f"a prior of {size:,} entries is too large")
    if places is None or values is None or places.dtype.kind != "i" or places.shape != values.shape:
        raise DataError("the entries of the prior are missing")
    if places.ndim != 1 or np.any((places < 0) | (places >= size)):
        raise DataError("the entries of the prior lie outside of it")
    array = np.full(size, fill)
    array[places] = values
    return array.reshape(shape)
