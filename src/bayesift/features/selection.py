"""Selection of terms by their scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.features.scores import SCORES, Score
from bayesift.features.tables import TermTables, gather
from bayesift.validation import check_targets, check_terms

Array = np.ndarray[Any, Any]
Average = Literal["max", "weighted"]


class SelectTerms(SelectorMixin, BaseEstimator):
    """Keeps the terms that score best, for all categories together or for each.

    Parameters
    ----------
    by : the score: a name of `SCORES`, or a function of `TermTables` that gives categories x terms
    k : keep at most so many terms (each category so many with `per_category`); of equals the earlier column
    threshold : keep only terms that score above it
    per_category : select for each category; `transform` then keeps the union, `supports_` says which are whose
    soft : with `per_category`, give terms weight by their score instead of all the same: `supports_` then holds
        sqrt(score / (score + soft)), which an `OnlinePerceptron` takes as the scale of each weight's prior
    average : how the scores of the categories become one: "max", or "weighted" by the sizes of the categories; pairs
        that score -inf have no part in the mean

    Attributes
    ----------
    scores_ : the score of each term; with `per_category` a sparse matrix, categories x terms, of the selected ones
    supports_ : with `per_category`, categories x terms, True where the term is selected for the category, or with
        `soft` a number above 0
    classes_ : labels, or the columns of an indicator y

    Notes
    -----
    Without `k` and `threshold` every term is kept. Scores are computed for a few categories at a time: no dense matrix
    of all categories x terms is made.

    Examples
    --------
    >>> X = [[1, 2, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]]
    >>> SelectTerms(by="chi2", k=1).fit_transform(X, ["grain", "grain", "crude", "crude"]).tolist()
    [[2], [1], [0], [0]]
    """

    def __init__(
        self,
        by: str | Score = "likelihood-ratio",
        *,
        k: int | None = None,
        threshold: float | None = None,
        per_category: bool = False,
        soft: float | None = None,
        average: Average = "max",
    ) -> None:
        self.by = by
        self.k = k
        self.threshold = threshold
        self.per_category = per_category
        self.soft = soft
        self.average = average

    def fit(self, X: Any, y: Any) -> Self:
        """Score the terms and choose; y is labels or an indicator matrix."""
        score = self._check_parameters()
        targets = check_targets(y)
        terms = check_terms(self, X, n_documents=targets.n_documents)
        return self._select(gather(terms, targets), targets.classes, score)

    def fit_tables(self, tables: TermTables, classes: Any = None) -> Self:
        """Score the terms of tables that were gathered elsewhere, and choose; `classes` names their categories.

        Examples
        --------
        >>> SelectTerms(k=1).fit_tables(TermTables.of([[1, 2], [1, 0]], ["grain", "crude"])).get_support().tolist()
        [False, True]
        """
        self.n_features_in_ = tables.shape[1]
        names = np.arange(tables.shape[0]) if classes is None else np.asarray(classes)
        return self._select(tables, names, self._check_parameters())

    def _select(self, tables: TermTables, classes: Array, score: Score) -> Self:
        self.classes_ = classes
        if self.per_category:
            self.supports_, self.scores_ = self._select_each(tables, score)
            self._mask = np.bincount(self.supports_.indices, minlength=tables.shape[1]) > 0
        else:
            self.__dict__.pop("supports_", None)
            self.scores_ = _AVERAGES[self.average](tables, score)
            self._mask = self._choose(self.scores_)
        return self

    def get_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that `from_state` needs to transform again: parameters that JSON can hold, and the kept columns."""
        parameters = self.get_params(deep=False)
        if callable(self.by):
            parameters["by"] = getattr(self.by, "__name__", type(self.by).__name__)
        return parameters, {"support": self.get_support()}

    @classmethod
    def from_state(cls, parameters: dict[str, Any], arrays: dict[str, Array]) -> Self:
        """A selection that keeps the columns of `get_state`, without scores; refuses what is no such state.

        Examples
        --------
        >>> selected = SelectTerms(k=1).fit([[1, 2], [1, 0]], ["grain", "crude"])
        >>> SelectTerms.from_state(*selected.get_state()).transform([[5, 6]]).tolist()
        [[6]]
        """
        support = arrays.get("support")
        if support is None or support.dtype != np.bool_ or support.ndim != 1:
            raise DataError("the selected terms are missing")
        try:
            selection = cls(**parameters)
        except TypeError as error:
            raise DataError(f"not a stored selection: {error}") from error
        selection._mask = support.copy()
        selection.n_features_in_ = len(support)
        return selection

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self._mask

    def _check_parameters(self) -> Score:
        if self.k is not None and self.k < 1:
            raise ValueError(f"k must be at least 1, got {self.k!r}")
        if self.soft is not None and not (self.per_category and 0 < self.soft < np.inf):
            raise ValueError(f"soft must be above 0 and needs per_category=True, got {self.soft!r}")
        if self.average not in _AVERAGES:
            raise ValueError(f"average must be one of {', '.join(_AVERAGES)}, got {self.average!r}")
        if callable(self.by):
            return self.by
        if self.by not in SCORES:
            raise ValueError(f"no score {self.by!r}; there are: {', '.join(SCORES)}")
        return SCORES[self.by]

    def _choose(self, scores: Array) -> Array:
        """Which terms are kept, by score and then by column."""
        kept = np.ones(len(scores), dtype=bool) if self.threshold is None else scores > self.threshold
        if self.k is None or np.count_nonzero(kept) <= self.k:
            return kept
        kth = np.partition(scores, len(scores) - self.k)[len(scores) - self.k]
        better: Array = scores > kth
        ties = np.flatnonzero(scores == kth)[: self.k - np.count_nonzero(better)]
        better[ties] = True
        return better

    def _select_each(self, tables: TermTables, score: Score) -> tuple[sparse.csr_array, sparse.csr_array]:
        chosen, values = [], []
        for block in tables.blocks():
            for row in score(block):
                chosen.append(np.flatnonzero(self._choose(row)))
                values.append(row[chosen[-1]])
        indptr = np.concatenate(([0], np.cumsum([len(terms) for terms in chosen])))
        indices = np.concatenate(chosen).astype(np.int32)
        places, scores = (indices, indptr.astype(np.int32)), np.concatenate(values)
        chosen_by = np.ones(len(indices), dtype=bool) if self.soft is None else _softened(scores, self.soft)
        supports = sparse.csr_array((chosen_by, *places), shape=tables.shape)
        return supports, sparse.csr_array((scores, *places), shape=tables.shape)


def _softened(scores: Array, soft: float) -> Array:
    """The root of score / (score + soft); 0 for scores of 0 and below."""
    positive = np.maximum(scores, 0.0)
    softened: Array = np.sqrt(positive / (positive + soft))
    return softened


def _highest(tables: TermTables, score: Score) -> Array:
    highest = np.full(tables.shape[1], -np.inf)
    for block in tables.blocks():
        np.maximum(highest, score(block).max(axis=0), out=highest)
    return highest


def _weighted_mean(tables: TermTables, score: Score) -> Array:
    mean = np.zeros(tables.shape[1])
    everything = tables.category_sizes.sum()
    for block in tables.blocks():
        scores = score(block)
        scores[scores == -np.inf] = 0
        mean += block.category_sizes / everything @ scores
    return mean


_AVERAGES: dict[str, Callable[[TermTables, Score], Array]] = {"max": _highest, "weighted": _weighted_mean}
