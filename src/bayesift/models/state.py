"""What it takes to store a model without pickle.

`get_state()` gives parameters that JSON can hold and plain arrays; the class method `from_state(parameters, arrays)`
gives a model with identical probabilities, or raises `DataError` when they do not fit together: they may come from a
damaged file, so nothing in them is trusted.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeVar

import numpy as np

from bayesift.errors import DataError

Array = np.ndarray[Any, Any]
Parameters = dict[str, Any]
Arrays = dict[str, Array]
Expected = TypeVar("Expected")


class Storable(Protocol):
    """An estimator that can be stored."""

    def get_state(self) -> tuple[Parameters, Arrays]:
        """Parameters that JSON can hold, and plain arrays."""
        ...

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """The estimator of `get_state`."""
        ...


def describe_classes(classes: Array) -> Parameters:
    """Class labels as JSON can hold them.

    Examples
    --------
    >>> describe_classes(np.array(["earn", "acq"]))
    {'dtype': '<U4', 'labels': ['earn', 'acq']}
    """
    return {"dtype": classes.dtype.str, "labels": classes.tolist()}


def classes_of(description: Parameters, n_classes: int) -> Array:
    """The inverse of `describe_classes`, for this many distinct classes.

    Examples
    --------
    >>> classes_of({"dtype": "<i8", "labels": [0, 1]}, 2)
    array([0, 1])
    """
    labels = expect(description, "labels", list)
    try:
        dtype = np.dtype(expect(description, "dtype", str))
        if dtype.kind not in "OUbiuf" or not all(isinstance(label, str | int | float) for label in labels):
            raise DataError("classes must be names or numbers")
        classes = np.array(labels, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"not the classes of a model: {error}") from error
    if classes.shape != (n_classes,) or len(set(classes.tolist())) != n_classes:
        raise DataError(f"{n_classes} distinct classes are needed")
    return classes


def are_sorted(classes: Array) -> bool:
    """Whether class labels ascend; names and numbers together do not.

    Examples
    --------
    >>> are_sorted(np.array(["acq", "earn"])), are_sorted(np.array([2, 1]))
    (True, False)
    """
    try:
        return bool(np.all(classes[:-1] < classes[1:]))
    except TypeError:
        return False


def expect(parameters: Parameters, name: str, kind: type[Expected]) -> Expected:
    """The named parameter, refused when it is missing or of another type.

    Examples
    --------
    >>> expect({"multilabel": True}, "multilabel", bool)
    True
    """
    value = parameters.get(name)
    if not isinstance(value, kind):
        raise DataError(f"{name!r} must be a {kind.__name__}, got {value!r:.40}")
    return value
