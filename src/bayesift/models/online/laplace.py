"""Sparse logistic regression that learns one document at a time."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.entries import entries_of
from bayesift.kernels.online_laplace import run_laplace
from bayesift.models.linear.links import link_of
from bayesift.models.linear.priors import prior_of
from bayesift.models.online.streaming import KernelArrays, StreamingMixin
from bayesift.state import expect_array, storable
from bayesift.validation import check_targets, check_two_classes


@storable("online-laplace-state")
@dataclass(eq=False)
class LaplaceState(KernelArrays):
    """The arrays of `bayesift.kernels.online_laplace`, and counts of documents.

    A pass of size 0 is the first, which goes on.
    """

    sums: FloatArray
    squares: FloatArray
    biases: FloatArray
    n_documents: int = 0
    pass_size: int = 0

    @classmethod
    def at_weights(
        cls, coefficients: Any, intercepts: FloatArray, strength: float, rate: float
    ) -> Self:
        """Weights that were found elsewhere, as free to move as those of a new stream."""
        weights = np.ascontiguousarray(sparse.csr_array(coefficients).toarray().T)
        sums = -weights / rate - strength * np.sign(weights)
        return cls(
            sums, np.zeros_like(sums), np.stack([-intercepts / rate, np.zeros(len(intercepts))])
        )

    @property
    def n_passes(self) -> float:
        """Passes so far: how often the prior counts."""
        return max(1.0, self.n_documents / self.pass_size) if self.pass_size else 1.0

    def grow(self, indices: Array, n_terms: int, n_models: int, rate: float) -> None:
        """Move models to their places and start others as categories that no document was in.

        Add terms.
        """
        for name, n_rows in (("sums", n_terms), ("squares", n_terms), ("biases", 2)):
            array = getattr(self, name)
            wider = np.zeros((n_rows, n_models))
            wider[: len(array), indices] = array
            setattr(self, name, wider)
        new = np.setdiff1d(np.arange(n_models), indices)
        log_odds = np.log(0.5 / (self.n_documents + 0.5))
        self.biases[0, new] = -2.0 * log_odds / rate
        self.biases[1, new] = 1.0

    def _post_load(self) -> None:
        self._take_arrays()
        expect_array(self.sums, "sums", np.float64, (None, None))
        expect_array(self.squares, "squares", np.float64, self.sums.shape)
        expect_array(self.biases, "biases", np.float64, (2, self.sums.shape[1]))
        smallest = min(self.squares.min(initial=0.0), self.biases[1].min(initial=0.0))
        if smallest < 0 or self.n_documents < 0 or not 0 <= self.pass_size <= self.n_documents:
            raise DataError("the state of the weights does not fit")


@storable("online-laplace")
class OnlineLaplaceClassifier(StreamingMixin, ClassifierMixin, BaseEstimator):
    """Logistic regression with a Laplace prior that learns one document at a time.

    Most weights are exactly 0.

    It follows the posterior mode of `SparseBayesClassifier(prior=LaplacePrior(gamma))`,

        minimise sum over documents of log(1 + exp(-y w x)) + sqrt(gamma) |w|

    by FTRL-proximal steps. After several passes over the same documents (`n_epochs`, or `new_pass`
    between calls of `partial_fit`) it comes close to it: the prior counts once for each pass, as
    each document does, and steps get shorter.

    Parameters
    ----------
    gamma : of the Laplace prior, whose variance is 2 / gamma
    rate : of the steps; 8 is good for text vectors of length one
    n_epochs : how often `fit` goes over the documents
    shuffle : whether `fit` puts the documents into random order first
    random_state : seed of that order

    Attributes
    ----------
    classes_, multilabel_ : as in `OnlineStackedClassifier`
    coef_ : the weights, a sparse matrix of models x terms
    intercept_ : one per model
    n_passes_ : passes so far: how often the prior counts

    References
    ----------
    McMahan et al. (2013), Ad click prediction; Genkin, Lewis & Madigan (2007).

    Examples
    --------
    >>> X = [[1.0, 0.2], [0.9, 0.0], [0.1, 1.0], [0.0, 0.8]]
    >>> model = OnlineLaplaceClassifier().fit(X, ["grain", "grain", "crude", "crude"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['grain', 'crude']
    """

    FITTED = ("classes_", "multilabel_", "_state")

    _state: LaplaceState

    def __init__(
        self,
        *,
        gamma: float = 0.04,
        rate: float = 8.0,
        n_epochs: int = 3,
        shuffle: bool = True,
        random_state: int | None = 0,
    ) -> None:
        self.gamma = gamma
        self.rate = rate
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state

    def new_pass(self) -> Self:
        """Say that documents from here on were learned before: the first pass is over."""
        check_is_fitted(self)
        if not self._state.pass_size:
            self._state.pass_size = self._state.n_documents
        return self

    @property
    def n_passes_(self) -> float:
        """Passes so far: how often the prior counts."""
        check_is_fitted(self)
        return self._state.n_passes

    @property
    def coef_(self) -> SparseRows:
        """The weights, models x terms."""
        check_is_fitted(self)
        state = self._state
        pulled = np.maximum(np.abs(state.sums) - self._strength(), 0.0) * np.sign(state.sums)
        weights = -pulled * float(self.rate) / (1.0 + np.sqrt(state.squares))
        return sparse.csr_array(weights.T)

    @property
    def intercept_(self) -> FloatArray:
        """The intercept of each model."""
        check_is_fitted(self)
        sums, squares = self._state.biases
        intercepts: FloatArray = -sums * float(self.rate) / (1.0 + np.sqrt(squares))
        return intercepts

    def _linear_form(self, category: Any) -> tuple[Array, float]:
        index, sign = self._place(category)
        return sign * self.coef_[[index]].toarray()[0], float(sign * self.intercept_[index])

    def _post_load(self) -> None:
        self._check_settings()
        self.n_features_in_ = len(self._state.sums)
        self._check_models(self._state.sums.shape[1])

    def _check_settings(self) -> None:
        if not all(
            isinstance(v, numbers.Real) and 0 < float(v) < np.inf
            for v in (self.gamma, self.rate)
        ):
            raise ValueError(
                f"gamma and rate must be above 0, got {self.gamma!r}, {self.rate!r}"
            )
        if not isinstance(self.n_epochs, numbers.Integral) or self.n_epochs < 1:
            raise ValueError(
                f"n_epochs must be a whole number, at least 1, got {self.n_epochs!r}"
            )

    def _learn_all(self, rows: SparseRows, labels: Array) -> None:
        for _ in range(self.n_epochs):
            self._run(rows, labels)
            self.new_pass()

    def _strength(self) -> float:
        return float(np.sqrt(self.gamma)) * self._state.n_passes

    def _start(self, n_terms: int, n_models: int) -> None:
        shape = n_terms, n_models
        self._state = LaplaceState(np.zeros(shape), np.zeros(shape), np.zeros((2, n_models)))

    def _grow(self, known: Array, n_terms: int, n_models: int) -> None:
        """Add terms and categories; the model of two classes is that of the second."""
        state = self._state
        indices = self._places(known)
        more = len(known) > len(self.classes_)
        if more and self._is_binary():
            state.sums = np.hstack([-state.sums, state.sums])
            state.squares = np.tile(state.squares, 2)
            state.biases = np.hstack([state.biases * [[-1.0], [1.0]], state.biases])
        elif more and not self.multilabel_ and n_models == 1:
            sign = -1.0 if indices[0] == 0 else 1.0
            state.sums = sign * state.sums
            state.biases = state.biases * [[sign], [1.0]]
        if n_models == 1:
            indices = np.zeros(1, dtype=np.intp)
        if n_models > state.sums.shape[1] or n_terms > len(state.sums):
            state.grow(indices, max(n_terms, len(state.sums)), n_models, float(self.rate))

    def _run(self, rows: SparseRows, labels: Array | None) -> Array:
        state = self._state
        scores = np.empty((rows.shape[0], self._state.sums.shape[1]))
        y = np.empty((0, scores.shape[1])) if labels is None else labels
        clock = (state.n_documents, state.pass_size)
        settings = (float(np.sqrt(self.gamma)), float(self.rate))
        arrays = state.sums, state.squares, state.biases, scores
        run_laplace(entries_of(rows), y, *clock, *settings, *arrays)
        state.n_documents += len(y)
        return scores


def is_streamed(model: Any) -> bool:
    """Whether a `SparseBayesClassifier` can learn from a stream; tells why not."""
    prior = prior_of(model.prior)
    scale = model.prior_scale
    centred = prior.kind == "laplace" and not (np.any(prior.mode) or np.any(prior.sign))
    if not (
        centred
        and np.ndim(prior.strengths[0]) == 0
        and (scale is None or isinstance(scale, numbers.Real))
    ):
        raise ValueError(
            "partial_fit needs a LaplacePrior of one gamma about 0, and a number or None for "
            "its scale"
        )
    if (
        link_of(model.link).kind != "logit"
        or model.intercept != "flat"
        or model.multiclass != "one-vs-rest"
    ):
        raise ValueError(
            "partial_fit needs link='logit', intercept='flat' and multiclass='one-vs-rest'"
        )
    if model.class_weight is not None or model.posterior != "mode":
        raise ValueError("partial_fit needs class_weight=None and posterior='mode'")
    return True


def extended_stream(
    model: Any, X: Any, y: Any, classes: Any, *, new_pass: bool
) -> OnlineLaplaceClassifier:
    """Learn the next documents with the stream of a `SparseBayesClassifier`."""
    scale = 1.0 if model.prior_scale is None else float(model.prior_scale)
    gamma = float(prior_of(model.prior).strengths[0]) ** 2 / scale**2
    stream: OnlineLaplaceClassifier | None = getattr(model, "stream_", None)
    if stream is None:
        stream = _started(model, y, classes, gamma)
    # A refused batch must change nothing: it is checked before the pass and the prior change.
    batch = stream._check_batch(X, y, classes)
    if new_pass and stream.__sklearn_is_fitted__() and hasattr(model, "stream_"):
        stream.new_pass()
    stream.set_params(gamma=gamma)
    stream._learn_batch(*batch)
    return stream


def _started(model: Any, y: Any, classes: Any, gamma: float) -> OnlineLaplaceClassifier:
    """Start a stream at the weights of a model that was fitted to all documents."""
    stream = OnlineLaplaceClassifier(gamma=gamma)
    if hasattr(model, "coef_"):
        stream.classes_ = model.classes_
        stream.multilabel_ = model.multilabel_
        stream.n_features_in_ = model.n_features_in_
        stream._state = LaplaceState.at_weights(
            model.coef_, model.intercept_, float(np.sqrt(gamma)), stream.rate
        )
    else:
        targets = check_targets(y, classes=classes)
        if not targets.multilabel:
            check_two_classes(targets.classes)
    return stream
