"""Topics and codes of documents by sparse non-negative matrix factorisation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self, get_args

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.models.topics.factorisation import (
    STARTS,
    UPDATES,
    Importance,
    Objective,
    Penalty,
    Solver,
    coordinate_codes,
    factorise,
    importance_of,
)
from bayesift.state import StateMixin, expect_array, storable
from bayesift.validation import check_terms

_CODE_UPDATES = 1000  # the most for one document


@storable("sparse-nmf")
class SparseNMF(StateMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Documents as non-negative mixtures of topics, topics as distributions over terms.

        minimise  sum_ij w_j (V_ij log(V_ij / (HW)_ij) - V_ij + (HW)_ij) + alpha sum_ia S(H_ia)

    over codes H (documents x topics) and topics W (topics x terms, rows of sum one), none negative.
    The defaults are the divergence NMF of Lee & Seung, which is probabilistic latent semantic
    indexing: topics that read best. The paper's `importance="variance"` and a penalty, say
    `alpha=1`, tell categories apart better on some corpora; classifiers on topics take them.

    Parameters
    ----------
    n_components : number of topics
    importance : w_j: "uniform", or the "variance" of the term, scaled to mean 1
    alpha : strength of the penalty on codes
    penalty : S(x): "squared" is the paper's x^2, a ridge, which spreads codes over more topics and
        makes topics more local; "absolute" is x, which shrinks them. Topics sum to one, so that
        with uniform importance x only divides all codes by 1 + alpha; it prefers some topics to
        others only where importance differs. "log" is log(1 + x^2 / delta^2) and "exponential"
        -exp(-x^2 / delta^2): few large parts rather than many small ones
    delta : the scale of the latter two
    start : "nndsvda" (from singular vectors, as scikit-learn has it), "nndsvd" (the same on another
        scale) or "random"
    solver : "coordinate" (one entry at a time, never beyond its minimum) or "multiplicative" (Lee &
        Seung's updates, in several times the time to the same objective); "printed" is the paper's
        rules 9 to 11, with which the objective may rise
    max_iter : the most updates of codes and topics
    tol : stop when ten updates lower the objective by less than this share of its first value; 0
        never stops early
    code_tol : a document's code is done when no part of it moves by more than this share of its
        largest part; parts below that share become 0
    random_state : seed of the start
    progress : called with the number of updates done, every ten

    Attributes
    ----------
    components_ : topics x terms
    importance_ : w_j
    objectives_ : the objective at the start and after every ten updates; it never rises, except
        with "printed"
    n_iter_ : updates done

    References
    ----------
    Qiu, Huang & Wu, "Probabilistic text categorization using sparse topical encoding", eqs. 1-18;
    the updates are described in `bayesift.models.topics.factorisation`.

    Examples
    --------
    >>> X = [[3, 2, 0, 0], [1, 1, 0, 0], [0, 0, 2, 2], [0, 0, 1, 1]]
    >>> nmf = SparseNMF(n_components=2).fit(X)
    >>> nmf.topic_words(["wheat", "corn", "oil", "barrel"], k=2)
    [['wheat', 'corn'], ['oil', 'barrel']]
    >>> nmf.transform([[0, 0, 5, 5], [2, 1, 0, 0]]).round(2).tolist()
    [[0.0, 10.0], [3.0, 0.0]]
    """

    FITTED = ("components_", "importance_")

    components_: Array
    importance_: Array

    def __init__(
        self,
        *,
        n_components: int = 64,
        importance: Importance = "uniform",
        alpha: float = 0.0,
        penalty: Penalty = "squared",
        delta: float = 1.0,
        start: str = "nndsvda",
        solver: Solver = "coordinate",
        max_iter: int = 1000,
        tol: float = 1e-4,
        code_tol: float = 1e-3,
        random_state: Any = 0,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.importance = importance
        self.alpha = alpha
        self.penalty = penalty
        self.delta = delta
        self.start = start
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.code_tol = code_tol
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: object = None) -> Self:
        """Find the topics of documents x terms."""
        self._check_parameters()
        rows = check_terms(self, X, non_negative=True)
        importance = importance_of(rows, self.importance)
        objective = Objective.of(rows, importance, self.alpha, self.penalty, self.delta)
        start = STARTS[self.start](
            rows, self.n_components, check_random_state(self.random_state)
        )
        result = factorise(
            objective,
            *start,
            max_iter=self.max_iter,
            tol=self.tol,
            solver=self.solver,
            progress=self.progress,
        )
        self.importance_ = importance
        self.components_ = result.basis.T
        self.objectives_ = result.objectives
        self.n_iter_ = result.iterations
        if self.tol > 0 and not result.converged:
            message = (
                f"the topics still moved after {self.max_iter} updates; raise max_iter or tol"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> Array:
        """Return the code of each document, documents x topics.

        Terms that were never seen before say nothing.
        """
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False, non_negative=True)
        objective = Objective.of(rows, self.importance_, self.alpha, self.penalty, self.delta)
        basis = np.ascontiguousarray(self.components_.T)
        totals = rows @ (self.importance_ > 0).astype(np.float64)
        codes = np.tile(totals[:, np.newaxis] / basis.shape[1], (1, basis.shape[1]))
        coordinate_codes(
            objective, codes, basis, repeats=_CODE_UPDATES, tolerance=self.code_tol
        )
        codes[codes < self.code_tol * codes.max(axis=1, keepdims=True)] = 0.0
        return codes

    def inverse_transform(self, codes: Any) -> Array:
        """Return the documents that codes describe, documents x terms; dense."""
        check_is_fitted(self)
        return np.asarray(codes) @ self.components_

    def objective(self, X: Any, codes: FloatArray) -> float:
        """Return the objective at these codes and the topics found.

        Its divergence alone with `alpha=0`.
        """
        check_is_fitted(self)
        rows = check_terms(self, X, reset=False, non_negative=True)
        basis = np.ascontiguousarray(self.components_.T)
        return Objective.of(rows, self.importance_, self.alpha, self.penalty, self.delta).value(
            np.ascontiguousarray(codes), basis
        )

    def relevance(self, weight: float = 0.6) -> Array:
        """Return how well terms stand for topics: log p(t | a) - (1 - weight) log p(t).

        Topics x terms.

        p(t) is the mean over topics. A weight of 1 ranks terms by their share of the topic, 0 by
        how much larger it is than elsewhere; what readers understood best lay near 0.6 (Sievert &
        Shirley 2014).
        """
        check_is_fitted(self)
        if not 0 <= weight <= 1:
            raise ValueError(
                f"the weight of a relevance must lie between 0 and 1, got {weight!r}"
            )
        scores = np.full(self.components_.shape, -np.inf)
        known = self.components_ > 0
        np.log(self.components_, out=scores, where=known)
        means = np.broadcast_to(self.components_.mean(axis=0), scores.shape)
        scores[known] -= (1 - weight) * np.log(means[known])
        return scores

    def topic_terms(self, k: int = 10, *, relevance: float = 0.6) -> Array:
        """Return the columns of the k most relevant terms of each topic, topics x k.

        `relevance` as its weight there.
        """
        return np.argsort(-self.relevance(relevance), axis=1, kind="stable")[:, :k]

    def topic_words(
        self, names: Sequence[str] | Array | None = None, k: int = 10, *, relevance: float = 0.6
    ) -> list[list[str]]:
        """Return the k most relevant terms of each topic, most relevant first.

        `names` are the terms in the order of columns; those X came with, or numbers, without.
        """
        check_is_fitted(self)
        if names is None:
            names = getattr(
                self, "feature_names_in_", [str(j) for j in range(self.n_features_in_)]
            )
        if len(names) != self.n_features_in_:
            raise ValueError(f"{len(names)} names for {self.n_features_in_} terms")
        return [
            [str(names[j]) for j in row] for row in self.topic_terms(k, relevance=relevance)
        ]

    def shares(self, X: Any, codes: FloatArray) -> SparseRows:
        """Return how much of each topic's code every term of one document brings.

        X is 1 x terms; the result is topics x terms.

        At the best code, the parts of a topic add up to its code:
        H_a (b_a + 2 alpha H_a) = sum_j w_j V_j W_aj H_a / (HW)_j.
        """
        row = check_terms(self, X, reset=False, non_negative=True)
        if row.shape[0] != 1:
            raise ValueError(f"the shares of one document at a time, got {row.shape[0]}")
        objective = Objective.of(row, self.importance_, self.alpha, self.penalty, self.delta)
        parts = self.components_[:, row.indices] * codes[:, np.newaxis]
        products = parts.sum(axis=0)
        parts *= np.divide(
            objective.rows.data, products, out=np.zeros(row.nnz), where=products > 0
        )
        slopes = (
            objective.slopes(np.ascontiguousarray(self.components_.T))
            + objective.curvatures(codes) * codes
        )
        parts /= np.where(slopes > 0, slopes, 1.0)[:, np.newaxis]
        indptr = np.arange(len(codes) + 1) * row.nnz
        indices = np.tile(row.indices, len(codes))
        return sparse.csr_array(
            (parts.ravel(), indices, indptr), shape=(len(codes), row.shape[1])
        )

    def _post_load(self) -> None:
        self._check_parameters()
        n_terms = len(expect_array(self.importance_, "importance_", np.float64, (None,)))
        expect_array(self.components_, "components_", np.float64, (self.n_components, n_terms))
        if np.any(self.components_ < 0) or np.any(self.importance_ < 0):
            raise DataError("its topics must not be negative")
        self.components_ = np.ascontiguousarray(self.components_.T).T
        self.n_features_in_ = n_terms

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _check_parameters(self) -> None:
        if (
            isinstance(self.n_components, bool)
            or self.n_components < 1
            or self.n_components != int(self.n_components)
        ):
            raise ValueError(
                f"n_components must be a whole number of at least 1, got {self.n_components!r}"
            )
        values: dict[str, Any] = {
            "importance": get_args(Importance),
            "penalty": get_args(Penalty),
        }
        for name, known in {**values, "start": STARTS, "solver": UPDATES}.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}"
                )
        for name in ("alpha", "tol", "code_tol"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(
                    f"{name} must be a number of at least 0, got {getattr(self, name)!r}"
                )
        if not 0 < self.delta < np.inf:
            raise ValueError(f"delta must be a positive number, got {self.delta!r}")
        if self.max_iter < 1:
            raise ValueError(f"max_iter must be at least 1, got {self.max_iter!r}")


def encoder_for_categories(given: SparseNMF | None) -> SparseNMF:
    """Return an unfitted copy of the encoder given.

    Without one the paper's, whose codes tell categories apart.
    """
    return (
        SparseNMF(importance="variance", alpha=1.0, start="nndsvd")
        if given is None
        else clone(given)
    )
