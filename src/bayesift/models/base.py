"""What classifiers with one model per category share: positives, terms, explanations.

And hyperplanes with scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.entries import entries_of
from bayesift.kernels.products import GROUP, GroupedWeights, sparse_scores
from bayesift.state import StateMixin, check_classes, expect_array
from bayesift.threads import in_threads
from bayesift.validation import (
    Targets,
    check_groups,
    check_sample_weight,
    check_targets,
    check_terms,
    check_two_classes,
)

_FEW_ENTRIES = 0.1  # of documents, for each term
_SPARSE_BELOW_SHARE = 0.25  # share of weights that are not 0


class SparseRow(NamedTuple):
    """The weights of one category that are not 0, their terms, and the number of all terms."""

    terms: IntArray
    values: FloatArray
    n_terms: int

    def dense(self) -> Array:
        """Return the weights of all terms."""
        weights = np.zeros(self.n_terms)
        weights[self.terms] = self.values
        return weights


Row = Array | SparseRow


def compact_row(weights: FloatArray) -> Row:
    """Return the weights of one category, sparse when most are 0."""
    terms = np.flatnonzero(weights != 0.0)  # of truth values is quicker than of numbers
    few = len(terms) < _SPARSE_BELOW_SHARE * len(weights)
    return SparseRow(terms.astype(np.int32), weights[terms], len(weights)) if few else weights


def stack_rows(rows: list[Row]) -> Any:
    """Categories x terms, as a sparse array when most weights are 0.

    A dense one is made only where it is returned.
    """
    sizes = [
        len(row.values) if isinstance(row, SparseRow) else int(np.count_nonzero(row))
        for row in rows
    ]
    n_terms = rows[0].n_terms if isinstance(rows[0], SparseRow) else len(rows[0])
    if sum(sizes) >= _SPARSE_BELOW_SHARE * len(rows) * n_terms:
        return np.stack([row.dense() if isinstance(row, SparseRow) else row for row in rows])
    parts = [row if isinstance(row, SparseRow) else _nonzeros(row) for row in rows]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    shape = (len(rows), n_terms)
    terms, values = (np.concatenate([part[field] for part in parts]) for field in (0, 1))
    return sparse.csr_array(
        (values, terms, indptr.astype(np.int32 if len(terms) < 2**31 else np.int64)),
        shape=shape,
    )


def _nonzeros(weights: FloatArray) -> SparseRow:
    terms = np.flatnonzero(weights).astype(np.int32)
    return SparseRow(terms, weights[terms], len(weights))


def rows_of(coefficients: Any) -> list[Row]:
    """Split coefficients into rows: the inverse of `stack_rows`."""
    if not sparse.issparse(coefficients):
        return list(coefficients)
    ends = coefficients.indptr
    n_terms = coefficients.shape[1]
    parts = [slice(a, b) for a, b in pairwise(ends)]
    return [
        SparseRow(coefficients.indices[part], coefficients.data[part], n_terms)
        for part in parts
    ]


def compact(weights: FloatArray) -> Any:
    """Categories x terms, as a sparse array when most weights are 0."""
    few = np.count_nonzero(weights) < _SPARSE_BELOW_SHARE * weights.size
    return sparse.csr_array(weights) if few else weights


def scores_of(X: SparseRows, coefficients: Any, intercepts: FloatArray) -> Array:
    """X coefficients' + intercepts, documents x categories."""
    if not sparse.issparse(coefficients):
        if X.nnz < _FEW_ENTRIES * coefficients.shape[1]:
            # SciPy would copy the weights of all terms for the few that occur.
            used, positions = np.unique(X.indices, return_inverse=True)
            X = sparse.csr_array((X.data, positions, X.indptr), shape=(X.shape[0], len(used)))
            coefficients = coefficients[:, used]
        scores: FloatArray = X @ coefficients.T + intercepts
        return scores
    scores = np.empty((X.shape[0], len(intercepts)))
    longest = int(np.diff(X.indptr).max(initial=0)) + 1
    scratch = (
        np.zeros(len(intercepts) + GROUP),
        np.empty(longest, dtype=np.int32),
        np.empty(longest),
    )
    sparse_scores(entries_of(X), _by_groups(coefficients), intercepts, *scratch, scores)
    return scores


def _by_groups(coefficients: Any) -> GroupedWeights:
    """Return weights by term in the layout of `bayesift.kernels.products`."""
    by_term = sparse.csr_array(coefficients.T)
    counts = np.diff(by_term.indptr)
    used = counts > 0
    slots = np.where(used, np.cumsum(used), 0).astype(np.int32)
    sizes = -(-counts[used] // GROUP)
    groups = np.concatenate([[0, 0], np.cumsum(sizes)]).astype(np.int32)
    categories = np.tile(coefficients.shape[0] + np.arange(GROUP, dtype=np.int32), groups[-1])
    weights = np.zeros(len(categories))
    gaps = np.repeat(GROUP * groups[1:-1] - by_term.indptr[:-1][used], counts[used])
    indices = np.arange(by_term.nnz) + gaps
    categories[indices] = by_term.indices
    weights[indices] = by_term.data
    return GroupedWeights(
        slots, groups, categories.reshape(-1, GROUP), weights.reshape(-1, GROUP)
    )


Answer = TypeVar("Answer")


class CategoriesMixin(StateMixin):
    """A classifier with one model per category.

    Two class labels share one, whose positive side is the second.
    """

    classes_: Array
    multilabel_: bool

    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[SparseRows, Array]:
        """Return the contribution of each term to the score of a category, and the intercept.

        `against` is the class to compare with (labels only); by default the rest of the category.
        """
        check_is_fitted(self)
        X = check_terms(self, X, reset=False)
        weights, intercept = self._linear_form(category)
        if against is not None and not self._is_binary():
            theirs, other = self._linear_form(against)
            weights = weights - theirs
            intercept = intercept - other
        values = X.data * weights[X.indices]
        return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape), np.full(
            X.shape[0], intercept
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        """Return the weights of all terms and the intercept of the score of a category."""
        raise NotImplementedError

    def _check_classes(self, n_models: int) -> None:
        """Refuse stored classes that do not fit the models."""
        n_classes = 2 if n_models == 1 and not self.multilabel_ else n_models
        check_classes(self.classes_, n_classes, multilabel=self.multilabel_)

    def _is_binary(self) -> bool:
        return not self.multilabel_ and len(self.classes_) == 2

    def _place(self, category: Any) -> tuple[int, float]:
        """Return the model of a category, and the sign of its scores for that category."""
        indices = np.flatnonzero(self.classes_ == category)
        if len(indices) != 1:
            raise ValueError(f"no category {category!r}")
        return (0, 2.0 * indices[0] - 1.0) if self._is_binary() else (int(indices[0]), 1.0)


def named_or_given(value: Any, kinds: dict[str, type[Any]], what: str) -> Any:
    """Return a value of one of these kinds, or the default one of that name."""
    if isinstance(value, str):
        if value not in kinds:
            raise ValueError(f"no {what} {value!r}; there are: {', '.join(kinds)}")
        return kinds[value]()
    if type(value) not in kinds.values():
        raise ValueError(f"not a {what}: {value!r}")
    return value


@contextmanager
def unchanged_if_refused(estimator: Any) -> Iterator[None]:
    """Give an estimator its attributes back when the block raises: a refused call changes nothing.

    Arrays that were changed in place stay changed, so checks come before any of them.
    """
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def check_documents(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    non_negative: bool = False,
) -> tuple[SparseRows, Targets, FloatArray]:
    """Check the arguments of `fit` once; what comes out is what `fit_checked` takes."""
    targets = check_targets(y)
    if groups is not None:
        targets = replace(targets, groups=check_groups(groups, targets.n_documents))
    weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
    rows = check_terms(estimator, X, n_documents=targets.n_documents, non_negative=non_negative)
    return rows, targets, weights


def models_of(targets: Targets) -> SparseRows:
    """Return the documents that each model calls positive, models x documents."""
    if targets.multilabel:
        return targets.members
    check_two_classes(targets.classes)
    return targets.members[[1]] if len(targets.classes) == 2 else targets.members


def signs_of(members: SparseRows) -> Array:
    """Labels -1 and +1, models x documents."""
    signs = np.full(members.shape, -1.0)
    for c in range(members.shape[0]):
        signs[c, members.indices[members.indptr[c] : members.indptr[c + 1]]] = 1.0
    return signs


def terms_of(
    feature_mask: Any, shape: tuple[int, int], earlier: Sequence[Array] | None = None
) -> list[Array] | None:
    """Return the columns each model may use, None for all; those it used `earlier` stay."""
    if feature_mask is None:
        if earlier is not None and len(earlier) < shape[0]:
            raise ValueError(
                "feature_mask must name the terms of new categories, as the others have theirs"
            )
        return None if earlier is None else list(earlier)
    rows = sparse.csr_array(feature_mask, copy=True)
    if rows.shape != shape:
        raise ValueError(f"feature_mask must be models x terms, {shape}, not {rows.shape}")
    rows.eliminate_zeros()
    terms = [
        np.sort(rows.indices[rows.indptr[c] : rows.indptr[c + 1]]).astype(np.int32)
        for c in range(shape[0])
    ]
    for c, columns in enumerate(earlier or ()):
        terms[c] = np.union1d(columns, terms[c]).astype(np.int32)
    return terms


def for_each_model(
    work: Callable[[int], Answer], n_models: int, n_jobs: int | None
) -> list[Answer]:
    """Return the results for models 0, 1, ..., computed by threads (-1 for all cores)."""
    return list(in_threads(work, range(n_models), n_jobs))


class LinearScoresMixin(CategoriesMixin):
    """Scores x w + b of every category: positive ones are assigned.

    Of several classes the one with the largest score.

    With an indicator matrix each category has its hyperplane (a row of `coef_`, sparse when most
    weights are 0, and an entry of `intercept_`); two classes share one, whose positive side is the
    second; more have one each.
    """

    FITTED: ClassVar[tuple[str, ...]] = ("classes_", "multilabel_", "coef_", "intercept_")

    coef_: Any
    intercept_: FloatArray
    n_features_in_: int

    def decision_function(self, X: Any) -> FloatArray:
        """Scores, documents x hyperplanes; one dimension for two classes."""
        scores = self._scores(X)
        return scores[:, 0] if self._is_binary() else scores

    def predict(self, X: Any) -> Array:
        """Return the class with the largest score, or the indicator of positive scores."""
        scores = self._scores(X)
        if self.multilabel_:
            return (scores > 0).astype(np.int64)
        best = (
            (scores[:, 0] > 0).astype(int) if self._is_binary() else np.argmax(scores, axis=1)
        )
        classes: Array = self.classes_[best]
        return classes

    def _set_hyperplanes(self, targets: Targets, weights: Any, intercepts: FloatArray) -> Self:
        """Keep what was learned."""
        self.classes_ = targets.classes
        self.multilabel_ = targets.multilabel
        self.coef_ = weights if sparse.issparse(weights) else compact(weights)
        self.intercept_ = intercepts
        self.n_features_in_ = self.coef_.shape[1]
        return self

    def scores_checked(self, rows: SparseRows) -> FloatArray:
        """Return scores of checked rows, documents x hyperplanes."""
        return scores_of(rows, self.coef_, self.intercept_)

    def _post_load(self) -> None:
        """Refuse stored hyperplanes that do not fit together."""
        n_models = len(expect_array(self.intercept_, "intercept_", np.float64, (None,)))
        weights = self.coef_.data if sparse.issparse(self.coef_) else self.coef_
        expect_array(
            weights,
            "coef_",
            np.float64,
            (None,) if sparse.issparse(self.coef_) else (n_models, None),
        )
        if self.coef_.shape[0] != n_models:
            raise DataError("the intercepts are not one per model")
        self.n_features_in_ = self.coef_.shape[1]
        self._check_classes(n_models)

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self.scores_checked(check_terms(self, X, reset=False))

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        index, sign = self._place(category)
        row = (
            self.coef_[[index]].toarray()[0]
            if sparse.issparse(self.coef_)
            else self.coef_[index]
        )
        return sign * row, float(sign * self.intercept_[index])


class LogOddsMixin(LinearScoresMixin):
    """P(c | d) from linear scores that are log odds, or log probabilities of classes."""

    def predict_proba(self, X: Any) -> FloatArray:
        """P(c | d), documents x categories."""
        scores = self._scores(X)
        return expit(scores) if self.multilabel_ else np.exp(self._log_proba(scores))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of P(c | d), documents x categories."""
        return self._log_proba(self._scores(X))

    def _log_proba(self, scores: FloatArray) -> FloatArray:
        several = not (self.multilabel_ or self._is_binary())
        sided = scores * [[-1.0, 1.0]] if self._is_binary() else scores
        logarithms: FloatArray = log_softmax(scores, axis=1) if several else log_expit(sided)
        return logarithms
