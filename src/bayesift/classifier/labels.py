"""Labels in the forms people have them, and back again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from bayesift.errors import DataError
from bayesift.records import indicator_of

Array = np.ndarray[Any, Any]
Form = Literal["single", "sets", "indicator"]
FORMS: tuple[str, ...] = get_args(Form)


@dataclass(frozen=True)
class LabelForm:
    """How labels were given, so that predictions come in the same form.

    Parameters
    ----------
    form : "single" (one category a text), "sets" (a collection of categories a text), or "indicator" (texts x
        categories, 0 or 1)
    categories : the categories, in the order of columns of probabilities
    """

    form: Form
    categories: tuple[str, ...]

    @property
    def multilabel(self) -> bool:
        """Whether a text may have none or several categories."""
        return self.form != "single"

    def encode(self, labels: Any) -> Any:
        """Labels as estimators take them: a vector of names, or an indicator matrix."""
        if self.form == "single":
            return np.array([str(label) for label in labels], dtype=object)
        if self.form == "indicator":
            return sparse.csr_array(labels)
        return indicator_of(labels, self.categories)

    def decode(self, decisions: Array) -> Any:
        """Decisions of an estimator in the form labels were given."""
        if self.form == "sets":
            return [tuple(self.categories[j] for j in np.flatnonzero(row)) for row in decisions]
        return decisions


def form_of(labels: Any, categories: Iterable[str] | None = None) -> LabelForm:
    """Find out how labels are given.

    Examples
    --------
    >>> form_of(["ham", "spam", "ham"])
    LabelForm(form='single', categories=('ham', 'spam'))
    >>> form_of([["grain", "corn"], []])
    LabelForm(form='sets', categories=('corn', 'grain'))
    >>> form_of(np.array([[0, 1], [1, 1]]), ["corn", "grain"]).form
    'indicator'
    """
    named = None if categories is None else tuple(map(str, categories))
    if sparse.issparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim == 2):
        names = named or tuple(map(str, range(labels.shape[1])))
        if len(names) != labels.shape[1]:
            raise DataError(f"{len(names)} categories are named for {labels.shape[1]} columns of labels")
        return LabelForm("indicator", names)
    kinds = {_is_name(label) for label in labels}
    if len(kinds) != 1:
        raise DataError(
            "labels must be all single names or all collections of names" if kinds else "there are no labels"
        )
    if kinds.pop():
        return LabelForm("single", tuple(sorted({str(label) for label in labels})))
    found = {str(name) for label in labels for name in label}
    return LabelForm("sets", named or tuple(sorted(found)))


def _is_name(label: Any) -> bool:
    if label is None or isinstance(label, float):
        raise DataError(f"a label is {'missing' if label is None or label != label else 'a fraction'}")
    return isinstance(label, str | int | np.generic)
