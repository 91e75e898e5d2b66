"""The online stack: several kinds of models that learn from every document.

Mixers weigh them by how their predictions turn out.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, SparseRows
from bayesift.errors import DataError
from bayesift.models.online.stack_explanation import ExpertParts, expert_parts, term_parts
from bayesift.models.online.stack_state import StackState
from bayesift.models.online.streaming import StreamingMixin
from bayesift.state import storable


@storable("online-stack")
class OnlineStackedClassifier(StreamingMixin, ClassifierMixin, BaseEstimator):
    """Five kinds of online models, mixed by Bayesian logistic regressions.

    They learn one document at a time; there is nothing to set.

        log odds(c | d) = calibrated(sum_e w_e z_e(d, c) - competition of the other categories)

    The experts e are a Bayesian perceptron whose prior variances follow the likelihood ratio of
    term and category, logistic regressions by SGD, one for each of `rates`, and naive Bayes in two
    forms. Each predicts a document before its labels come, and the mixers learn from these
    predictions what each of them is worth: shared by all categories, by the size of a category, and
    with small deviations for each. Formulas are in `bayesift.kernels.online_experts` and
    `bayesift.kernels.online_mixers`.

    With an indicator matrix each category has a model of its own. With class labels there is one
    for two classes, and one per class against the rest for more, whose probabilities are
    normalised. Documents are scaled to length one.

    Parameters
    ----------
    rates : learning rates of the experts trained by SGD
    prior_variance : largest prior variance of a weight of the perceptron
    idf : multiply the values of X, term weights without idf, by the inverse document frequencies as
        of the documents before each; then a stream needs no corpus beforehand
    shuffle : whether `fit` puts the documents into random order first, for files sorted by label;
        `partial_fit` never does
    random_state : seed of that order

    Attributes
    ----------
    classes_ : labels, sorted; or the numbers of the indicator's columns
    multilabel_ : whether y was an indicator matrix
    n_seen_ : how many documents were learned from
    expert_names_ : names of the experts
    document_frequencies_ : documents with each term
    expert_weights_ : what a unit of each expert's log odds adds, shared by all categories

    Notes
    -----
    The order of documents matters. `partial_fit` keeps it, and gives the same bits however a stream
    is cut into batches. Terms and categories may be added at any time; a category that comes later
    starts as one that no document so far was in. There are no sample weights.

    References
    ----------
    Chai, Ng & Chieu (2002), Bayesian online classifiers; Dunning (1993); MacKay (1992), The
    evidence framework applied to classification networks, for the moderated output.

    Examples
    --------
    >>> X = [[1.0, 0.2], [0.9, 0.0], [0.1, 1.0], [0.0, 0.8]]
    >>> model = OnlineStackedClassifier().fit(X, ["grain", "grain", "crude", "crude"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['grain', 'crude']
    >>> model.partial_fit([[0.0, 1.0, 0.4]], ["ship"]).classes_.tolist()
    ['crude', 'grain', 'ship']
    """

    FITTED = ("classes_", "multilabel_", "_state")

    _state: StackState

    def __init__(
        self,
        *,
        rates: Sequence[float] = (4.0, 16.0),
        prior_variance: float = 64.0,
        idf: bool = False,
        shuffle: bool = True,
        random_state: int | None = 0,
    ) -> None:
        self.rates = rates
        self.prior_variance = prior_variance
        self.idf = idf
        self.shuffle = shuffle
        self.random_state = random_state

    def add_terms(self, n_terms: int) -> Self:
        """Add columns of terms that no document had, up to so many; nothing else moves."""
        check_is_fitted(self)
        self._state.grow_terms(n_terms)
        self.n_features_in_ = self._state.n_terms
        return self

    def expert_log_odds(self, X: Any) -> Array:
        """Log odds of each expert, documents x experts x models."""
        rows = self._rows(X)
        return self._state.run(rows, None, self, details=True)[1]

    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[SparseRows, Array]:
        """Return what each term adds to the log odds of a category, and the rest.

        They add up.

        `against` is the class to compare with (labels only); by default the rest of the category.
        """
        rows = self._rows(X)
        values, rest = term_parts(self._explained(rows, category))
        if against is not None and not self._is_binary():
            theirs, other = term_parts(self._explained(rows, against))
            values = values - theirs
            rest = rest - other
        return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape), rest

    def expert_contributions(self, X: Any, category: Any) -> Array:
        """Return what experts, other categories and the rest add, documents x (experts + 2).

        The columns are `expert_names_`, the competition of other categories, and intercepts and
        calibration. Rows add up to the log odds.
        """
        return expert_parts(self._explained(self._rows(X), category))

    @property
    def expert_names_(self) -> tuple[str, ...]:
        """Names of the experts."""
        return (
            "perceptron",
            *(f"sgd {rate:g}" for rate in self.rates),
            "naive Bayes",
            "naive Bayes of presence",
        )

    @property
    def n_seen_(self) -> int:
        """How many documents were learned from."""
        check_is_fitted(self)
        return int(self._state.totals[0])

    @property
    def document_frequencies_(self) -> Array:
        """Documents with each term."""
        check_is_fitted(self)
        return self._state.frequencies[: self._state.n_terms].copy()

    @property
    def expert_weights_(self) -> Array:
        """What a unit of each expert's log odds adds, shared by all categories."""
        check_is_fitted(self)
        return self._state.shared[0, :-1, 0].copy()

    def _post_load(self) -> None:
        self._check_settings()
        if self._state.n_rates != len(self.rates):
            raise DataError("the weights do not fit the rates")
        self.n_features_in_ = self._state.n_terms
        self._check_models(self._state.n_categories)

    def _check_settings(self) -> None:
        values = [*self.rates, self.prior_variance]
        if not all(
            isinstance(value, numbers.Real) and 0 < float(value) < np.inf for value in values
        ):
            raise ValueError(
                f"rates and prior_variance must be above 0, got {self.rates}, "
                f"{self.prior_variance!r}"
            )

    def _start(self, n_terms: int, n_models: int) -> None:
        self._state = StackState.empty(n_terms, n_models, len(self.rates))

    def _grow(self, known: Array, n_terms: int, n_models: int) -> None:
        """Add terms and categories; the model of two classes is that of the second."""
        state = self._state
        indices = self._places(known)
        state.grow_terms(n_terms)
        if not self.multilabel_ and len(known) > len(self.classes_):
            if self._is_binary():
                state.mirror()
            elif len(self.classes_) == 1 and len(known) == 2 and indices[0] == 0:
                state.mirror()
                state.take(0)
        if n_models > state.n_categories:
            state.grow_categories(indices, n_models, float(self.prior_variance))

    def _run(self, rows: SparseRows, labels: Array | None) -> Array:
        return self._state.run(rows, labels, self)[0]

    def _explained(self, rows: SparseRows, category: Any) -> ExpertParts:
        index, sign = self._place(category)
        return ExpertParts(self._state, self, rows, index, sign)
