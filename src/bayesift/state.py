"""State without pickle: any value as JSON and plain arrays, and back.

    None, True, 3, 0.5, "word", [1, 2]    as JSON has them
    inf, -inf, nan                        {"kind": "float", "value": "inf"}
    (1, 2), {"a"}                         {"kind": "tuple", "items": [1, 2]}, {"kind": "set", ...}
    {0: 2.0}                              {"kind": "dict", "items": [[0, 2.0]]}
    a NumPy array                         {"kind": "array"}; its numbers go to `arrays` under the
                                          path of the value
    a SciPy CSR array                     {"kind": "csr", "shape": [2, 3], "data": ..., ...}
    an object of a registered class       {"kind": "laplace-prior", "gamma": 1.0, ...}

A class is registered by `storable`. Of a dataclass all fields are kept, of an estimator its
parameters and the fitted attributes that it lists. Nothing that is read is trusted: kinds are
looked up, never imported by name; values are checked against the type hints of the class; what does
not fit is refused with a `DataError`.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.errors import DataError

Parameters = dict[str, Any]
Arrays = dict[str, Array]
Class = TypeVar("Class", bound=type[Any])

MAX_ENTRIES = 2**26  # that arrays may gain when they are unpacked, all together
_MAX_DEPTH = 32
# An array is kept by the entries that differ from its most frequent one, if their share is below.
_FEW = 0.25
_LARGE = 1024  # entries from which an array is looked at for ways to keep it in less room
_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_COLLECTIONS: dict[str, type[Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}
_OWN_KINDS = {"float", "dict", "array", "csr", *_COLLECTIONS}
_REFUSED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

KINDS: dict[str, type[Any]] = {}
_KIND_NAMES: dict[type[Any], str] = {}
_LATE: dict[str, Callable[[], object]] = {}


def storable(kind: str) -> Callable[[Class], Class]:
    """Register a class under the name that files have for it."""

    def register(cls: Class) -> Class:
        if kind in _OWN_KINDS or KINDS.get(kind, cls).__qualname__ != cls.__qualname__:
            raise ValueError(f"there is a kind {kind!r} already")
        KINDS[kind], _KIND_NAMES[cls] = cls, kind
        return cls

    return register


def storable_late(prefix: str, register: Callable[[], object]) -> None:
    """Register the classes of kinds with this prefix only when a file holds one.

    Their modules are slow to import.
    """
    _LATE[prefix] = register


def _is_known(kind: str) -> bool:
    if kind not in KINDS:
        for prefix, register in _LATE.items():
            if kind.startswith(prefix):
                register()
    return kind in KINDS


def kind_of(value: object) -> str | None:
    """Return the name that files have for the class of a value; None if it is not registered."""
    if type(value) not in _KIND_NAMES:
        for prefix, register in _LATE.items():
            if type(value).__module__.startswith(prefix.removesuffix("-")):
                register()
    return _KIND_NAMES.get(type(value))


class StateMixin:
    """Gives an estimator `get_state` and `from_state`.

    A class lists its fitted attributes in `FITTED` and supplies `_post_load`, which checks that the
    parts of a stored model fit together and computes what follows from them. Parameters in
    `UNSTORED` are not kept.
    """

    FITTED: ClassVar[tuple[str, ...]] = ()
    UNSTORED: ClassVar[tuple[str, ...]] = ("progress",)

    def get_state(self) -> tuple[Parameters, Arrays]:
        """All that `from_state` needs: parameters that JSON can hold, and plain arrays."""
        check_is_fitted(self)
        arrays: Arrays = {}
        return cast(Parameters, encode(self, arrays)), arrays

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays) -> Self:
        """Make the estimator of `get_state`, which answers identically.

        Refuses what does not fit together.
        """
        return decode_fitted(parameters, arrays, cls)

    def _post_load(self) -> None:
        """Check that the parts fit together and compute what follows from them."""


def encode(value: Any, arrays: Arrays | None = None, name: str = "") -> Any:
    """Return a value as JSON can hold it.

    The numbers of arrays go to `arrays`, or without it into the JSON too.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"kind": "float", "value": _word(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, name)
    if sparse.issparse(value):
        rows = sparse.csr_array(value)
        parts = {
            part: encode(getattr(rows, part), arrays, _path(name, part))
            for part in ("data", "indices", "indptr")
        }
        return {"kind": "csr", "shape": list(rows.shape), **parts}
    if isinstance(value, list):
        return _encode_items(value, arrays, name)
    if isinstance(value, Mapping):
        return {
            "kind": "dict",
            "items": _encode_items([list(item) for item in value.items()], arrays, name),
        }
    for kind, collection in _COLLECTIONS.items():
        if type(value) is collection:
            items = list(value) if kind == "tuple" else sorted(value)
            return {"kind": kind, "items": _encode_items(items, arrays, name)}
    return _encode_object(value, arrays, name)


def decode(code: Any, arrays: Arrays | None = None, name: str = "") -> Any:
    """Return the value of `encode`; raise `DataError` for what `encode` would not have written."""
    try:
        return _Decoder({} if arrays is None else arrays).decode(code, name, 0)
    except MemoryError as error:
        raise DataError("the state does not fit into memory") from error


Estimator = TypeVar("Estimator")


def decode_fitted(
    code: Any, arrays: Arrays, expected: type[Estimator], name: str = ""
) -> Estimator:
    """Return a fitted object of one class or of one derived from it; refuse anything else."""
    value = decode(code, arrays, name)
    if not isinstance(value, expected):
        raise DataError(f"a {expected.__name__} is needed, not {code!r:.40}")
    check_fitted(value)
    return value


def check_fitted(*estimators: Any) -> None:
    """Refuse estimators that are not fitted."""
    for estimator in estimators:
        learned = getattr(estimator, "FITTED", ())
        if learned and not any(hasattr(estimator, name) for name in learned):
            raise DataError(f"a fitted {type(estimator).__name__} is needed")


def expect(parameters: Any, name: str, kind: Any) -> Any:
    """Return the named entry of a JSON object; refuse one that is missing or of another type."""
    value = parameters.get(name) if isinstance(parameters, dict) else None
    if not fits(value, kind):
        raise DataError(f"{name!r} must be {_hint_name(kind)}, got {value!r:.40}")
    return value


def expect_array(array: Any, name: str, dtype: Any, shape: tuple[int | None, ...]) -> Array:
    """Return the array; refuse another type or shape (None: any length) and infinite numbers."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise DataError(f"{name} must be an array of {np.dtype(dtype).name} numbers")
    if array.ndim != len(shape) or any(
        n not in (None, m) for n, m in zip(shape, array.shape, strict=True)
    ):
        expected = " x ".join("any" if n is None else str(n) for n in shape)
        raise DataError(
            f"{name} must be {expected}, not {' x '.join(map(str, array.shape))}: parts do not fit "
            "together"
        )
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        raise DataError(f"{name} must hold finite numbers")
    return array


def check_classes(classes: Any, n_classes: int, *, multilabel: bool) -> None:
    """Refuse class labels that are not this many, distinct and, if exclusive, sorted."""
    if (
        not isinstance(classes, np.ndarray)
        or classes.dtype.kind not in "OUbiuf"
        or classes.shape != (n_classes,)
    ):
        raise DataError(f"{n_classes} classes are needed")
    if len(set(classes.tolist())) != n_classes:
        raise DataError(f"{n_classes} distinct classes are needed")
    if not multilabel and not _are_sorted(classes):
        raise DataError("its classes are not sorted")


def fits(value: Any, hint: Any) -> bool:
    """Whether a value fits a type hint.

    True and False are no numbers, and a whole number may stand for a float.
    """
    if hint is Any or hint is object:
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if hint in (int, float):
        return isinstance(value, int | hint) and not isinstance(value, bool)
    return _fits_class(value, origin or hint, parts)


def _fits_class(value: Any, cls: Any, parts: tuple[Any, ...]) -> bool:
    if cls is Callable:
        return False
    if not isinstance(cls, type):
        return True
    if not isinstance(value, cls) or (isinstance(value, str) and cls in (Sequence, Collection)):
        return False
    if isinstance(value, np.ndarray) or not parts:
        return True
    items: Any = value
    if issubclass(cls, tuple):
        if len(parts) == 2 and parts[1] is ...:
            return all(fits(item, parts[0]) for item in items)
        return len(items) == len(parts) and all(map(fits, items, parts))
    if issubclass(cls, Mapping):
        return all(fits(key, parts[0]) and fits(item, parts[1]) for key, item in items.items())
    return all(fits(item, parts[0]) for item in items)


def _encode_items(items: list[Any], arrays: Arrays | None, name: str) -> list[Any]:
    return [encode(item, arrays, _path(name, index)) for index, item in enumerate(items)]


def _encode_object(value: Any, arrays: Arrays | None, name: str) -> Parameters:
    kind = kind_of(value)
    if kind is None:
        raise DataError(f"a {type(value).__name__} cannot be saved")
    code: Parameters = {"kind": kind}
    for field, content in _content_of(value).items():
        hint = _hints_of(cast(Any, type(value))).get(field, Any)
        if not fits(content, hint):
            raise DataError(
                f"a {type(value).__name__} with {field}={content!r:.40} cannot be saved"
            )
        code[field] = encode(content, arrays, _path(name, field))
    return code


def _content_of(value: Any) -> Parameters:
    """Return what is kept of an object.

    By its own account, the fields of a dataclass, or parameters and fitted attributes.
    """
    if hasattr(value, "to_content"):
        content: Parameters = value.to_content()
        return content
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    parameters = {
        name: plain_seed(name, given) for name, given in value.get_params(deep=False).items()
    }
    for name in getattr(value, "UNSTORED", ()):
        parameters.pop(name, None)
    learned = getattr(value, "FITTED", ())
    if any(hasattr(value, name) for name in learned):
        parameters |= {name: getattr(value, name, None) for name in learned}
    return parameters


def plain_seed(name: str, value: Any) -> Any:
    """Return a parameter as it is kept: of a random generator, nothing."""
    return None if name == "random_state" and not isinstance(value, int | np.integer) else value


def _encode_array(array: Array, arrays: Arrays | None, name: str) -> Parameters:
    if array.dtype.kind not in "OUbiuf":
        raise DataError(f"an array of {array.dtype} cannot be saved")
    if arrays is None or array.dtype.kind in "OU":
        values = array.ravel().tolist()
        if not all(isinstance(value, str | int | float) for value in values):
            raise DataError(
                "an array of objects that are neither names nor numbers cannot be saved"
            )
        shape = {} if array.ndim == 1 else {"shape": list(array.shape)}
        plain = [
            _word(value) if isinstance(value, float) and not math.isfinite(value) else value
            for value in values
        ]
        return {"kind": "array", "dtype": array.dtype.str, "values": plain, **shape}
    if array.dtype == np.float64 and _LARGE <= array.size <= MAX_ENTRIES // 4:
        if (
            array.ndim == 2
            and array.shape[0] == array.shape[1]
            and np.array_equal(array, array.T)
        ):
            arrays[name] = array[np.triu_indices(len(array))]
            return {"kind": "array", "form": "symmetric"}
        fill = _frequent(array)
        indices = np.flatnonzero(array != fill)
        if math.isfinite(fill) and len(indices) < _FEW * array.size:
            arrays[_path(name, "places")], arrays[_path(name, "values")] = (
                indices,
                array.ravel()[indices],
            )
            return {"kind": "array", "form": "filled", "shape": list(array.shape), "fill": fill}
    arrays[name] = array
    return {"kind": "array"}


def _frequent(array: Array) -> float:
    """Return the most frequent entry of a sample."""
    values, counts = np.unique(
        array.ravel()[:: max(1, array.size // _LARGE)], return_counts=True
    )
    return float(values[np.argmax(counts)])


def _word(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def _path(name: str, part: object) -> str:
    return f"{name}.{part}" if name else str(part)


class _Decoder:
    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._left = MAX_ENTRIES

    def decode(self, code: Any, name: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise DataError("the state is nested too deeply")
        if isinstance(code, list):
            return [
                self.decode(item, _path(name, index), depth + 1)
                for index, item in enumerate(code)
            ]
        if not isinstance(code, dict):
            return code
        kind = code.get("kind")
        try:
            if kind == "float":
                return _WORDS[code["value"]]
            if kind == "array":
                return self._array(code, name)
            if kind == "csr":
                return self._csr(code, name, depth)
            if kind == "dict" or kind in _COLLECTIONS:
                items = self.decode(expect(code, "items", list), name, depth + 1)
                return dict(items) if kind == "dict" else _COLLECTIONS[kind](items)
            if isinstance(kind, str) and _is_known(kind):
                return self._object(kind, code, name, depth)
        except DataError:
            raise
        except (*_REFUSED, RecursionError) as error:
            raise DataError(f"not a stored {kind}: {error}") from error
        raise DataError(f"unknown kind {kind!r:.40}; is the file from a newer bayesift?")

    def _object(self, kind: str, code: Parameters, name: str, depth: int) -> Any:
        cls: Any = KINDS[kind]
        hints = _hints_of(cls)
        content: Parameters = {}
        for field, part in code.items():
            if field == "kind":
                continue
            if field not in hints:
                raise DataError(f"a {kind} has no {field!r:.40}")
            content[field] = self.decode(part, _path(name, field), depth + 1)
            if not fits(content[field], hints[field]):
                raise DataError(
                    f"{field!r} of a {kind} must be {_hint_name(hints[field])}, got {part!r:.40}"
                )
        learned = {
            field: content.pop(field)
            for field in getattr(cls, "FITTED", ())
            if field in content
        }
        value = cls(**content)
        if learned:
            missing = [field for field in cls.FITTED if field not in learned]
            if missing:
                raise DataError(f"a {kind} lacks {', '.join(missing)}")
            for field, part in learned.items():
                setattr(value, field, part)
        if hasattr(value, "_post_load") and (learned or not getattr(cls, "FITTED", ())):
            value._post_load()
        return value

    def _array(self, code: Parameters, name: str) -> Array:
        if "values" in code:
            return self._inline(code)
        form = code.get("form")
        if form is None:
            return self._named(name)
        if form == "symmetric":
            triangle = expect_array(self._named(name), name, np.float64, (None,))
            size = (math.isqrt(8 * len(triangle) + 1) - 1) // 2
            if len(triangle) != size * (size + 1) // 2:
                raise DataError(f"{name} is not half of a square")
            self._allocate(size * size)
            array = np.zeros((size, size))
            upper = np.triu_indices(size)
            array[upper] = triangle
            array.T[upper] = triangle
            return array
        if form != "filled":
            raise DataError(f"no form of arrays {form!r:.40}")
        return self._filled(code, name)

    def _filled(self, code: Parameters, name: str) -> Array:
        shape, fill = _shape(code), float(expect(code, "fill", float))
        size = math.prod(shape)
        indices = expect_array(self._named(_path(name, "places")), name, np.int64, (None,))
        values = expect_array(
            self._named(_path(name, "values")), name, np.float64, (len(indices),)
        )
        if np.any((indices < 0) | (indices >= size)):
            raise DataError(f"{name} has entries outside of it")
        self._allocate(size)
        array = np.full(size, fill)
        array[indices] = values
        return array.reshape(shape)

    def _inline(self, code: Parameters) -> Array:
        values, dtype = expect(code, "values", list), np.dtype(expect(code, "dtype", str))
        if dtype.kind == "f":
            values = [_WORDS[value] if isinstance(value, str) else value for value in values]
        held = {"O": str | int | float, "U": str}.get(dtype.kind, int | float)
        if (
            dtype.kind not in "OUbiuf"
            or not dtype.isnative
            or not all(isinstance(value, held) for value in values)
        ):
            raise DataError("an array must hold names or numbers")
        self._allocate(len(values) * dtype.itemsize // 8)
        return np.array(values, dtype=dtype).reshape(
            _shape(code) if "shape" in code else (len(values),)
        )

    def _csr(self, code: Parameters, name: str, depth: int) -> sparse.csr_array:
        parts = ("data", "indices", "indptr")
        data, indices, indptr = (
            self.decode(code[part], _path(name, part), depth + 1) for part in parts
        )
        expect_array(data, f"{name}.data", data.dtype, (None,))
        if any(
            part.ndim != 1 or part.dtype not in (np.int32, np.int64)
            for part in (indices, indptr)
        ):
            raise DataError(f"the indices of {name} must be whole numbers")
        shape = _shape(code)
        if len(shape) != 2 or data.dtype.kind not in "biuf":
            raise DataError(f"{name} must be rows of numbers")
        rows = sparse.csr_array((data, indices, indptr), shape=shape)
        rows.check_format(full_check=True)
        return rows

    def _named(self, name: str) -> Array:
        if name not in self._arrays:
            raise DataError(f"the arrays lack {name}")
        return self._arrays[name]

    def _allocate(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise DataError("its arrays are too large")


def _shape(code: Parameters) -> tuple[int, ...]:
    shape = expect(code, "shape", list[int])
    if not 1 <= len(shape) <= 4 or any(not 0 <= n < 2**63 for n in shape):
        raise DataError(f"{shape!r:.40} is not a shape")
    return tuple(shape)


@cache
def _hints_of(cls: Any) -> dict[str, Any]:
    """Return the type hints of all that is kept of a class, by name."""
    if is_dataclass(cls):
        hints = get_type_hints(cls)
        return {field.name: hints[field.name] for field in fields(cls) if field.init}
    given = get_type_hints(cls.__init__)
    parameters = {
        name: given.get(name, Any) for name in list(inspect.signature(cls).parameters)
    }
    unstored = getattr(cls, "UNSTORED", ())
    own = get_type_hints(cls) if getattr(cls, "FITTED", ()) else {}
    learned = {name: own.get(name, Any) for name in getattr(cls, "FITTED", ())}
    return {name: hint for name, hint in parameters.items() if name not in unstored} | learned


def _hint_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _are_sorted(classes: Array) -> bool:
    """Whether class labels ascend; names and numbers together do not."""
    try:
        return bool(np.all(classes[:-1] < classes[1:]))
    except TypeError:
        return False
