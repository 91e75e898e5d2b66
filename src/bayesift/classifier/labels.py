"""Labels in the forms people have them, read for an estimator and given back in the same form."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray, SparseRows
from bayesift.classifier.texts import Texts
from bayesift.errors import DataError, DataWarning
from bayesift.records import Corpus
from bayesift.records.corpus import indicator_of
from bayesift.state import check_classes, storable
from bayesift.validation import check_sample_weight

Form = Literal["single", "sets", "indicator"]
Container = Literal[
    "array", "list", "tuple", "set", "frozenset", "csr_array", "csr_matrix", "DataFrame"
]
Label: TypeAlias = "bool | int | float | str"

_KINDS = "text, whole numbers, or True and False"
FORMS: tuple[str, ...] = get_args(Form)
_COLLECTIONS: dict[str, type[Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


class LabelRows(list[Any]):
    """Collections of labels, one per text; as an array they stay one object per text."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return _as_objects(self)


@storable("label-form")
@dataclass(frozen=True)
class LabelForm:
    """The form of training labels and of predictions.

    Parameters
    ----------
    form : "single", one label per text; "sets", a collection of labels; "indicator", a row of 0 and
        1
    classes : the labels as they were given, or the names of the columns of an indicator
    dtype : NumPy's name for the type of single labels, or of the entries of an indicator
    container : what holds the labels of one text ("sets") or the rows ("indicator")

    Examples
    --------
    >>> form = read_labels([1, 10, 2]).form
    >>> form.classes, form.categories
    ((1, 2, 10), ('1', '2', '10'))
    >>> form.decode(np.array([[False, False, True]]))
    array([10])
    """

    form: Form
    classes: tuple[Label, ...]
    dtype: str = "object"
    container: Container | None = None

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the classes, as files and reports have them."""
        return tuple(map(str, self.classes))

    @property
    def multilabel(self) -> bool:
        """Whether a text may have none or several categories."""
        return self.form != "single"

    @property
    def n_scores(self) -> int:
        """How many scores a decision rule sees; two classes that exclude one another have one."""
        return 1 if not self.multilabel and len(self.classes) == 2 else len(self.classes)

    @property
    def classes_array(self) -> Array:
        """The classes as scikit-learn has them in `classes_`."""
        if self.form == "single":
            return np.array(self.classes, dtype=self.dtype)
        kinds = {type(label) for label in self.classes}
        return np.array(
            self.classes, dtype=None if kinds <= {int} or kinds <= {bool} else object
        )

    def decode(self, decisions: BoolArray, *, index: Any = None) -> Any:
        """Boolean decisions, texts x categories, in the form of the labels.

        `index` is that of a DataFrame.
        """
        if self.form == "single":
            return self.classes_array[np.argmax(decisions, axis=1)]
        if self.form == "sets":
            make = _COLLECTIONS.get(self.container or "tuple", tuple)
            return LabelRows(
                make(self.classes[j] for j in np.flatnonzero(row)) for row in decisions
            )
        entries = decisions.astype("int64" if self.dtype == "object" else self.dtype)
        if self.container == "csr_array":
            return sparse.csr_array(entries)
        if self.container == "csr_matrix":
            return sparse.csr_matrix(entries)
        if self.container != "DataFrame":
            return entries
        pandas = import_module("pandas")  # the labels came from it
        return pandas.DataFrame(entries, columns=list(self.classes), index=index)

    def without(self, answers: Any, missing: BoolArray) -> Any:
        """Return the answers of `decode` with None for some texts."""
        if self.form == "indicator":
            raise DataError(
                "an indicator matrix cannot hold None; leave out texts by their uncertainty"
            )
        if self.form == "single":
            some = answers.astype(object)
            some[missing] = None
            return some
        return LabelRows(
            None if left_out else labels
            for labels, left_out in zip(answers, missing, strict=True)
        )

    def right(self, decisions: BoolArray, labels: Labels) -> BoolArray:
        """Whether the decisions on each text are exactly its labels.

        For rows that are not left out.
        """
        if labels.form.multilabel != self.multilabel:
            forms = "one label per text", "none or several labels per text"
            raise DataError(
                f"the model was fitted to {forms[self.multilabel]}, these are "
                f"{forms[not self.multilabel]}"
            )
        if not self.multilabel:
            self._refuse_strangers(labels.form)
            answers: BoolArray = self.decode(decisions[labels.rows]) == labels.y
            return answers
        columns = self._columns_of(labels.form)
        unknown = np.asarray(labels.y[:, np.flatnonzero(columns < 0)].sum(axis=1)).ravel() > 0
        truth = np.zeros(decisions.shape, dtype=bool)
        truth[:, columns[columns >= 0]] = (
            labels.y[:, np.flatnonzero(columns >= 0)].toarray() != 0
        )
        same: BoolArray = (truth == decisions).all(axis=1) & ~unknown
        return same

    def named_indicator(self, labels: Labels) -> tuple[tuple[str, ...], SparseRows]:
        """Return labels as an indicator of all texts given, and the names of its columns.

        The columns of an indicator matrix without names are those of this form.
        """
        names = labels.form.categories
        if not labels.form.multilabel:
            sets = LabelRows([()] * labels.n_given)
            for row, label in zip(labels.rows, labels.y, strict=True):
                sets[row] = (label,)
            return names, indicator_of(sets, names)
        columns = self._columns_of(labels.form)
        if labels.form.form == "indicator" and columns.tolist() == list(range(len(names))):
            names = self.categories
        return names, sparse.csr_array(labels.y, dtype=np.int8)

    def _columns_of(self, other: LabelForm) -> IntArray:
        """Return the column of each category of another form; -1 for one that this form lacks."""
        frames = self.container == other.container == "DataFrame"
        if (
            "indicator" in (self.form, other.form)
            and len(self.classes) == len(other.classes)
            and not frames
        ):
            return np.arange(len(self.classes))
        index = {name: j for j, name in enumerate(self.categories)}
        return np.array([index.get(name, -1) for name in other.categories], dtype=np.intp)

    def _refuse_strangers(self, other: LabelForm) -> None:
        if not set(self.classes) & set(other.classes):
            raise DataError(
                f"none of these labels ({_some(other.classes)}) is one of the model's "
                f"({_some(self.classes)})"
            )

    def _post_load(self) -> None:
        check_classes(_as_objects(self.classes), len(self.classes), multilabel=True)
        try:
            check_classes(self.classes_array, len(self.classes), multilabel=self.multilabel)
            np.zeros(0).astype(self.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"not a form of labels ({error})") from error


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as an estimator takes them.

    Parameters
    ----------
    form : the form they came in
    y : a vector of labels, or an indicator matrix
    rows : the texts that y is for; single labels that are missing are left out
    n_given : number of texts that labels were given for, or that have none
    n_missing : number of texts with None, NaN or a blank instead of labels
    """

    form: LabelForm
    y: Any
    rows: IntArray
    n_given: int
    n_missing: int

    def where(self, has_text: BoolArray) -> Labels:
        """Return the labels of the texts that hold any; a `DataWarning` counts the others.

        Single labels that no other text has are no classes any more.
        """
        kept = np.flatnonzero(has_text[self.rows])
        n_left_out = len(self.rows) - len(kept)
        if not n_left_out:
            return self
        if not len(kept):
            raise DataError("no text with a label holds any text: they are missing or blank")
        texts = "1 text" if n_left_out == 1 else f"{n_left_out:,} texts"
        message = f"{texts} without any text (missing or blank) left out"
        warnings.warn(message, DataWarning, stacklevel=3)
        y = self.y[kept]
        form = self.form
        if not form.multilabel:
            left = set(y.tolist())
            form = replace(form, classes=tuple(name for name in form.classes if name in left))
        return replace(self, form=form, y=y, rows=self.rows[kept])


def check_lengths(texts: Texts, labels: Labels, sample_weight: Any) -> FloatArray | None:
    """Return the sample weights as an array; refuse different numbers of texts, labels, weights."""
    if texts.n_texts is not None and texts.n_texts != labels.n_given:
        raise DataError(f"{texts.n_texts:,} texts, but {labels.n_given:,} labels")
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, labels.n_given)


def warn_of_missing(labels: Labels) -> None:
    """Warn if texts have no label, and tell what becomes of them."""
    if not labels.n_missing:
        return
    texts = (
        f"{labels.n_missing:,} {'text' if labels.n_missing == 1 else 'texts'} without a label"
    )
    if len(labels.rows) == labels.n_given:
        message = f"{texts} kept as texts of no category"
    else:
        message = (
            f"{texts} left out; multilabel=True (--multilabel) keeps them as texts of no "
            "category"
        )
    warnings.warn(message, DataWarning, stacklevel=3)


def read_labels(
    labels: Any, *, categories: Iterable[Any] | None = None, multilabel: bool | None = None
) -> Labels:
    """Read labels in any form.

    Single labels are text, whole numbers, or True and False; None, NaN and blanks are missing.
    Collections (lists, tuples, sets) hold any number of them. An indicator matrix (array, sparse or
    DataFrame) holds 0 and 1.

    Parameters
    ----------
    categories : the columns of an indicator matrix, or all labels that collections may hold
    multilabel : True makes collections of single labels, False single labels of collections; None
        keeps the form

    Examples
    --------
    >>> labels = read_labels(["ham", None, "spam"])
    >>> labels.y.tolist(), labels.rows.tolist(), labels.n_missing
    (['ham', 'spam'], [0, 2], 1)
    """
    if labels is None:
        raise DataError(
            "there are no labels: fit requires y to be passed, but the target y is None"
        )
    if isinstance(labels, str | bytes | Mapping | set | frozenset):
        raise DataError(
            f"labels must be one per text, in a list or an array, not one {type(labels).__name__}"
        )
    named = None if categories is None else tuple(_plain(name) for name in categories)
    matrix = _indicator_in(labels, named)
    if matrix is not None:
        return _read_indicator(matrix, labels, named)
    values, dtype = _values_of(labels)
    if not len(values):
        raise DataError("there are no labels")
    collected = [_is_collection(value) for value in values]
    if any(collected):
        return _read_collections(values, collected, named, multilabel)
    if multilabel:
        rows = [() if _is_unlabelled(value) else (value,) for value in values]
        return _read_sets(rows, "tuple", named, sum(map(_is_unlabelled, values)))
    return _read_single(values, dtype)


def labels_of(corpus: Corpus, *, multilabel: bool) -> Labels:
    """Return the labels of a corpus.

    With `multilabel` a document has any number of them; otherwise it has one, and documents
    without a label are left out.
    """
    n_labels = corpus.n_labels
    if multilabel:
        form = LabelForm("sets", corpus.categories, "object", "tuple")
        return Labels(form, corpus.indicator, np.arange(len(corpus)), len(corpus), 0)
    several = int(np.count_nonzero(n_labels > 1))
    if several:
        raise DataError(
            f"{several:,} texts have several labels; multilabel=False needs one for each"
        )
    rows, codes = np.flatnonzero(n_labels), corpus.indicator.indices
    names = np.array(corpus.categories, dtype=object)
    form = LabelForm("single", tuple(sorted(names[np.unique(codes)])), "object")
    return Labels(form, names[codes], rows, len(corpus), len(corpus) - len(rows))


def _indicator_in(labels: Any, named: tuple[Label, ...] | None) -> Any:
    """Return labels that are a matrix of 0 and 1 as that matrix, else None.

    One dense column holds labels unless it is named.
    """
    if sparse.issparse(labels):
        return labels
    if not hasattr(labels, "__array__"):
        rows = labels if isinstance(labels, list | tuple) else ()
        return np.array(rows) if _are_binary_rows(rows) else None
    matrix = labels if isinstance(labels, np.ndarray) else np.asarray(labels)
    return matrix if matrix.ndim == 2 and (matrix.shape[1] > 1 or named is not None) else None


def _are_binary_rows(rows: Sequence[Any]) -> bool:
    """Whether lists are rows of 0 and 1, all of one length of at least two."""
    if not rows or not isinstance(rows[0], list | tuple | np.ndarray) or np.size(rows[0]) < 2:
        return False
    width, binary = len(rows[0]), {0, 1}
    return all(
        isinstance(row, list | tuple | np.ndarray)
        and len(row) == width
        and all(
            isinstance(entry, int | float | np.generic) and entry in binary for entry in row
        )
        for row in rows
    )


def _read_indicator(matrix: Any, labels: Any, named: tuple[Label, ...] | None) -> Labels:
    width = matrix.shape[1]
    own = getattr(labels, "columns", None)
    columns = named or (range(width) if own is None else tuple(_plain(name) for name in own))
    if len(columns) != width:
        raise DataError(f"{len(columns)} categories are named for {width} columns of labels")
    if len(set(map(str, columns))) != width:
        raise DataError("two columns of labels have the same name")
    entries = matrix.data if sparse.issparse(matrix) else matrix.ravel()
    if entries.dtype == object and all(
        isinstance(entry, int | np.generic) for entry in entries
    ):
        matrix = np.array(matrix.tolist())  # nullable columns of pandas
        entries = matrix.ravel()
    if entries.dtype.kind not in "biuf" or not np.isin(entries, (0, 1)).all():
        raise DataError(
            f"labels in {width} columns must be 0 and 1; for one label per text give one column"
        )
    container: Container = (
        "DataFrame" if type(labels).__module__.split(".")[0] == "pandas" else "array"
    )
    if sparse.issparse(labels):
        container = "csr_array" if isinstance(labels, sparse.sparray) else "csr_matrix"
    form = LabelForm("indicator", tuple(columns), matrix.dtype.name, container)
    y = sparse.csr_array(matrix).astype(np.int8)
    y.eliminate_zeros()
    return Labels(form, y, np.arange(y.shape[0]), y.shape[0], 0)


def _values_of(labels: Any) -> tuple[Any, str | None]:
    """Return the labels one by one, and the type of an array that holds only labels."""
    if hasattr(labels, "to_arrow"):  # polars
        labels = labels.to_arrow()
    if hasattr(labels, "to_pylist"):
        return labels.to_pylist(), None
    if not hasattr(labels, "__array__") or isinstance(labels, LabelRows):
        return list(labels), None
    if not isinstance(
        getattr(labels, "dtype", np.dtype(object)), np.dtype
    ):  # pandas: Int64, string, category, ...
        return labels.tolist(), None
    array = np.asarray(labels)
    if array.ndim != 1:
        if array.ndim != 2:
            raise DataError(
                f"labels must be one per text, not an array of {array.ndim} dimensions"
            )
        array = array[:, 0]
    if array.dtype.kind == "O":
        return array.tolist(), None
    if array.dtype.kind not in "biufU":
        raise DataError(f"labels are {_KINDS}, not {array.dtype.name}")
    return array.tolist(), "str" if array.dtype.kind == "U" else array.dtype.name


def _read_single(values: list[Any], dtype: str | None) -> Labels:
    plain = _distinct(values)
    kept = [i for i, value in enumerate(values) if value in plain]
    if not kept:
        raise DataError("no text has a label")
    dtype = dtype or _dtype_of(plain.values())
    y = np.array([plain[values[i]] for i in kept], dtype=dtype)
    form = LabelForm("single", tuple(np.unique(y).tolist()), dtype)
    return Labels(form, y, np.array(kept), len(values), len(values) - len(kept))


def _read_collections(
    values: list[Any],
    collected: list[bool],
    named: tuple[Label, ...] | None,
    multilabel: bool | None,
) -> Labels:
    rows, kinds = [], set()
    for index, (value, is_collection) in enumerate(zip(values, collected, strict=True)):
        if not is_collection and not _is_unlabelled(value):
            raise DataError(
                f"label {index} is {value!r:.40}, others are collections of labels; give all in "
                "one form"
            )
        rows.append(value if is_collection else ())
        kinds |= {type(value).__name__} if is_collection else set()
    n_missing = collected.count(False)
    if multilabel is False:
        known = _distinct(label for row in rows for label in row)
        rows = [[label for label in row if label in known] for row in rows]
        several = sum(len(row) > 1 for row in rows)
        if several:
            raise DataError(
                f"{several:,} texts have several labels; multilabel=False needs one for each"
            )
        return _read_single([row[0] if row else None for row in rows], None)
    (kind,) = kinds if len(kinds) == 1 else {"tuple"}
    return _read_sets(rows, kind if kind in _COLLECTIONS else "list", named, n_missing)


def _read_sets(
    rows: list[Any], container: Any, named: tuple[Label, ...] | None, n_missing: int
) -> Labels:
    plain = _distinct(label for row in rows for label in row)
    if not plain and not named:
        raise DataError("no text has a label")
    dtype = _dtype_of(plain.values()) if plain else "object"
    classes = named or tuple(np.unique(np.array(list(plain.values()), dtype=dtype)).tolist())
    form = LabelForm("sets", classes, "object", container)
    y = indicator_of(
        ([plain[label] for label in row if label in plain] for row in rows), form.categories
    )
    return Labels(form, y, np.arange(len(rows)), len(rows), n_missing)


def _distinct(labels: Iterable[Any]) -> dict[Any, Label]:
    """Each distinct label that is not missing, as Python's own type."""
    try:
        found = {(type(label), label) for label in labels}
    except TypeError:
        raise DataError(
            f"a label is a collection in a collection; labels are {_KINDS}"
        ) from None
    plain = [(label, _plain(label)) for _, label in found if not _is_unlabelled(label)]
    _dtype_of([label for _, label in plain])  # True and 1 are one key
    return dict(plain)


def _dtype_of(labels: Iterable[Label]) -> str:
    """Return the type of an array of plain labels; text and numbers do not mix."""
    examples: dict[str, Any] = {}
    for label in labels:
        kind = "number"
        if isinstance(label, str):
            kind = "object"
        elif isinstance(label, bool):
            kind = "bool"
        examples.setdefault(kind, label)
    if len(examples) > 1:
        shown = sorted(f"{label!r:.40}" for label in examples.values())
        raise DataError(f"labels are of several types: {', '.join(shown)}")
    kind = next(iter(examples), "object")
    return np.array(list(labels)).dtype.name if kind == "number" else kind


def _plain(label: Any) -> Label:
    """Return a label as Python's own type; refuse what is not a label."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str):
        return str(value)
    if not isinstance(value, int | float):
        raise DataError(f"a label is of type {type(value).__name__}; labels are {_KINDS}")
    if isinstance(value, float) and not value.is_integer():
        raise DataError(f"Unknown label type: {value!r} is a fraction; labels are {_KINDS}")
    return value


def _is_collection(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    )


def _is_unlabelled(label: Any) -> bool:
    """Whether a label is None, NaN or another missing value, or blank."""
    if label is None:
        return True
    if isinstance(label, str):
        return not label.strip()
    # pandas' NA is neither equal to itself nor unequal.
    return type(label).__name__ == "NAType" or bool(label != label)


def _as_objects(values: Sequence[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return array


def _some(labels: Sequence[Any]) -> str:
    return ", ".join(f"{label!r:.40}" for label in labels[:3]) + (
        ", ..." if len(labels) > 3 else ""
    )
