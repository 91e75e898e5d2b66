"""Select terms by their scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, BoolArray, FloatArray
from bayesift.features.scores import SCORES, Score, TermTables
from bayesift.state import Parameters, StateMixin, expect_array, storable
from bayesift.validation import check_targets, check_terms

Average = Literal["max", "mean", "weighted"]


@storable("term-selection")
class SelectTerms(StateMixin, SelectorMixin, BaseEstimator):
    """Keeps the terms with the highest scores, for all categories together or for each.

    Parameters
    ----------
    by : the score: a name of `SCORES`, or a function of `TermTables` that gives categories x terms
    k : largest number of terms to keep (of each category with `per_category`); ties go to the
        earlier column
    threshold : keep only terms that score above it
    per_category : select for each category; `transform` then keeps the union
    soft : with `per_category`, weight terms by their score: `feature_mask_` then holds sqrt(score /
        (score + soft)), which an `OnlinePerceptron` takes as the scale of each weight's prior
    average : how the scores of the categories are combined: "max", "mean", or "weighted" by the
        sizes of the categories; in the latter two scores of -inf count as 0

    Attributes
    ----------
    scores_ : the score of each term; with `per_category` a sparse matrix, categories x terms, of
        the selected ones
    feature_mask_ : with `per_category`, categories x terms, True where the term is selected for the
        category, or with `soft` a number above 0
    classes_ : labels, or the columns of an indicator y

    Notes
    -----
    Without `k` and `threshold` every term is kept. Scores are computed for a few categories at a
    time: no dense matrix of all categories x terms is made.

    Examples
    --------
    >>> X = [[1, 2, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]]
    >>> SelectTerms(by="chi2", k=1).fit_transform(X, ["grain", "grain", "crude", "crude"]).tolist()
    [[2], [1], [0], [0]]
    """

    FITTED = ("_mask",)

    _mask: BoolArray

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
        """Score the terms and select; y holds labels or is an indicator matrix."""
        score = self._check_parameters()
        targets = check_targets(y)
        terms = check_terms(self, X, n_documents=targets.n_documents)
        return self._select(TermTables.of_checked(terms, targets), targets.classes, score)

    def fit_tables(self, tables: TermTables, classes: Any = None) -> Self:
        """Select from tables that were computed elsewhere, on Spark for instance.

        `classes` names their categories.
        """
        self.n_features_in_ = tables.shape[1]
        names = np.arange(tables.shape[0]) if classes is None else np.asarray(classes)
        return self._select(tables, names, self._check_parameters())

    def _select(self, tables: TermTables, classes: Array, score: Score) -> Self:
        self.classes_ = classes
        if self.per_category:
            self.feature_mask_, self.scores_ = self._select_each(tables, score)
            self._mask = np.bincount(self.feature_mask_.indices, minlength=tables.shape[1]) > 0
        else:
            self.__dict__.pop("feature_mask_", None)
            self.scores_ = _AVERAGES[self.average](tables, score)
            self._mask = self._choose(self.scores_)
        return self

    def to_content(self) -> Parameters:
        """Return the kept columns without their scores; of a function only its name is kept."""
        by = self.by
        if not isinstance(by, str):
            by = getattr(by, "__name__", type(by).__name__)
        return {**self.get_params(deep=False), "by": by, "_mask": self.get_support()}

    def _post_load(self) -> None:
        self._mask = expect_array(self._mask, "_mask", np.bool_, (None,)).copy()
        self.n_features_in_ = len(self._mask)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self._mask

    def _check_parameters(self) -> Score:
        if self.k is not None and self.k < 1:
            raise ValueError(f"k must be at least 1, got {self.k!r}")
        if self.soft is not None and not (self.per_category and 0 < self.soft < np.inf):
            raise ValueError(
                f"soft must be above 0 and needs per_category=True, got {self.soft!r}"
            )
        if self.average not in _AVERAGES:
            raise ValueError(
                f"average must be one of {', '.join(_AVERAGES)}, got {self.average!r}"
            )
        if callable(self.by):
            return self.by
        if self.by not in SCORES:
            raise ValueError(f"no score {self.by!r}; there are: {', '.join(SCORES)}")
        return SCORES[self.by]

    def _choose(self, scores: FloatArray) -> BoolArray:
        """Which terms are kept, by score and then by column."""
        kept = (
            np.ones(len(scores), dtype=bool)
            if self.threshold is None
            else scores > self.threshold
        )
        if self.k is None or np.count_nonzero(kept) <= self.k:
            return kept
        kth = np.partition(scores, len(scores) - self.k)[len(scores) - self.k]
        better: BoolArray = scores > kth
        ties = np.flatnonzero(scores == kth)[: self.k - np.count_nonzero(better)]
        better[ties] = True
        return better

    def _select_each(
        self, tables: TermTables, score: Score
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        chosen, values = [], []
        for block in tables.blocks():
            for row in score(block):
                chosen.append(np.flatnonzero(self._choose(row)))
                values.append(row[chosen[-1]])
        indptr = np.concatenate(([0], np.cumsum([len(terms) for terms in chosen])))
        indices = np.concatenate(chosen).astype(np.int32)
        structure, scores = (indices, indptr.astype(np.int32)), np.concatenate(values)
        mask = (
            np.ones(len(indices), dtype=bool)
            if self.soft is None
            else _softened(scores, self.soft)
        )
        feature_mask = sparse.csr_array((mask, *structure), shape=tables.shape)
        return feature_mask, sparse.csr_array((scores, *structure), shape=tables.shape)


def _softened(scores: FloatArray, soft: float) -> FloatArray:
    """Return the root of score / (score + soft); 0 for scores of 0 and below."""
    positive = np.maximum(scores, 0.0)
    softened: FloatArray = np.sqrt(positive / (positive + soft))
    return softened


def _highest(tables: TermTables, score: Score) -> FloatArray:
    highest = np.full(tables.shape[1], -np.inf)
    for block in tables.blocks():
        np.maximum(highest, score(block).max(axis=0), out=highest)
    return highest


def _mean(tables: TermTables, score: Score, *, weighted: bool) -> FloatArray:
    mean = np.zeros(tables.shape[1])
    everything = tables.category_sizes.sum() if weighted else len(tables.category_sizes)
    for block in tables.blocks():
        scores = score(block)
        scores[scores == -np.inf] = 0
        mean += (
            (block.category_sizes if weighted else np.ones(len(scores))) / everything @ scores
        )
    return mean


_AVERAGES: dict[str, Callable[[TermTables, Score], FloatArray]] = {
    "max": _highest,
    "mean": partial(_mean, weighted=False),
    "weighted": partial(_mean, weighted=True),
}
