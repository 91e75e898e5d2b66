"""The stacked classifier and its presets, jury and committee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.arrays import FloatArray, SparseRows
from bayesift.errors import DataError
from bayesift.features import Design
from bayesift.models.base import LogOddsMixin, check_documents, models_of
from bayesift.models.baselines.neighbors import NeighborsClassifier
from bayesift.models.ensemble.calibration import LabelCoupling
from bayesift.models.ensemble.members import (
    LogisticMember,
    Member,
    NaiveBayesMember,
    NBLogisticMember,
    NeighborsMember,
    NotLinear,
    OnlineStackMember,
    PerceptronMember,
    Sample,
    Settings,
    SVMMember,
)
from bayesift.models.ensemble.stacking import (
    Candidate,
    CrossFitting,
    Progress,
    ProgressCounter,
    Stacker,
)
from bayesift.models.online import OnlineStackedClassifier
from bayesift.state import check_fitted, expect_array, storable
from bayesift.validation import Targets

JURY: tuple[Member, ...] = (
    SVMMember(),
    NeighborsMember(),
    PerceptronMember(),
    NaiveBayesMember(0.5),
    NaiveBayesMember(0.9),
    NBLogisticMember(),
)
# Documents to fit the weights to; folds that are not needed for them are not held out.
_ENOUGH_DOCUMENTS = 3_000
_NOT_LINEAR: tuple[type[Member], ...] = (NeighborsMember, OnlineStackMember)
COMMITTEE: tuple[Member, ...] = (LogisticMember(), NBLogisticMember(), NaiveBayesMember(0.9))


@storable("stacked")
class StackedClassifier(LogOddsMixin, ClassifierMixin, BaseEstimator):
    """Several models combined by weights that maximise the posterior on out-of-fold scores.

        z(d, c) = sum_m w_m s_m(d, c) + b

    The weights are the same for all categories (see `stacking_weights`). Linear members are
    combined into one linear model. With an indicator matrix and `couple_labels`, z is then
    corrected by the probabilities of the other categories (`LabelCoupling`). Meant for term weights
    such as ltc; naive Bayes takes negative ones for 0.

    Two presets are learners: `StackedClassifier.jury()` is the most accurate; it keeps the training
    documents for its neighbours. `StackedClassifier.committee()` is one linear model.

    Parameters
    ----------
    members : the models, of `bayesift.models.ensemble`: `JURY`, `COMMITTEE` or others, at most one
        `NeighborsMember` and one `OnlineStackMember`
    weights : one per member, at least 0; None fits them to out-of-fold scores
    signed : whether fitted weights may be negative, which corrects errors that members share
    scale_scores : fit the weights to scores divided by the root mean square of their member
    couple_labels : couple the categories of an indicator matrix; not with given `weights`
    n_folds : number of folds; those after the first that hold 3,000 documents are not held out
    tol : tolerance of logistic regressions
    random_state : seed of folds and orders
    n_jobs : threads over categories; -1 for all cores
    progress : called with the number of fits done and their total

    Attributes
    ----------
    weights_, offset_ : w and b
    label_coupling_ : the fitted `LabelCoupling`, or None
    neighbors_ : the fitted `NeighborsClassifier`, or None, also where documents are many and long:
        neighbours then take longer than the other members together, and have the weight 0
    online_stack_ : the fitted `OnlineStackedClassifier`, or None
    classes_, multilabel_ : as in `LinearScoresMixin`
    coef_, intercept_ : the weighted sum of the linear members

    References
    ----------
    Wolpert (1992), Stacked generalization. Wang & Manning (2012), Baselines and bigrams.

    Examples
    --------
    >>> X, y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], ["grain", "grain", "crude", "crude"]
    >>> model = StackedClassifier.jury(n_folds=2).fit(X, y)
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    FITTED = (
        *LogOddsMixin.FITTED,
        "weights_",
        "offset_",
        "neighbors_",
        "online_stack_",
        "label_coupling_",
    )

    weights_: FloatArray
    offset_: float
    neighbors_: NeighborsClassifier | None
    online_stack_: OnlineStackedClassifier | None
    label_coupling_: LabelCoupling | None

    def __init__(
        self,
        *,
        members: Sequence[Member] = JURY,
        weights: Sequence[float] | FloatArray | None = None,
        signed: bool = True,
        scale_scores: bool = True,
        couple_labels: bool = True,
        n_folds: int = 5,
        tol: float = 1e-2,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.members = members
        self.weights = weights
        self.signed = signed
        self.scale_scores = scale_scores
        self.couple_labels = couple_labels
        self.n_folds = n_folds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    @classmethod
    def jury(cls, *, C: float = 1.0, n_neighbors: int = 45, **parameters: Any) -> Self:
        """Make the most accurate stack, with signed weights.

        It is an SVM, nearest neighbours, a Bayesian perceptron, naive Bayes twice and a
        logistic regression.

        C is that of the SVM; `parameters` are those of `StackedClassifier`.
        """
        return cls(
            **{"members": (SVMMember(C), NeighborsMember(n_neighbors), *JURY[2:]), **parameters}
        )

    @classmethod
    def committee(
        cls,
        *,
        variance: float = 30.0,
        informed_variance: float = 3.0,
        alpha: float = 0.05,
        mixing: float = 0.9,
        **parameters: Any,
    ) -> Self:
        """Make one linear model of two logistic regressions and naive Bayes.

        Its weights are at least 0, and it takes sample weights.

        `variance` is that of a `LogisticMember`; `informed_variance` and `alpha` of a
        `NBLogisticMember`; `mixing` of naive Bayes; `parameters` are those of `StackedClassifier`.
        """
        members = (
            LogisticMember(variance),
            NBLogisticMember(informed_variance, alpha),
            NaiveBayesMember(mixing),
        )
        fixed = {
            "members": members,
            "signed": False,
            "scale_scores": False,
            "couple_labels": False,
        }
        return cls(**{**fixed, **parameters})

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the weights to out-of-fold scores, then the members to all documents.

        Documents of one of the `groups` are held out together. Documents of weight 0 are left out.
        To members that learn online or compare documents all others have weight 1.
        """
        self._check_members()
        if self.weights is None and self.n_folds < 2:
            raise ValueError(f"n_folds must be at least 2, got {self.n_folds!r}")
        rows, targets, weights = check_documents(self, X, y, sample_weight, groups)
        labels = sparse.csr_array(models_of(targets).T)
        sample = Sample(Design.of_words(rows), labels, weights, targets.groups)
        if not np.all(weights):
            sample = sample.take(np.flatnonzero(weights))
        fitting = CrossFitting(
            [Candidate(member, ("words",)) for member in self.members],
            sample,
            Settings(self.tol, self.random_state, self.n_jobs),
            n_folds=self.n_folds if self.weights is None else 0,
            enough=_ENOUGH_DOCUMENTS,
            some_folds=True,
        )
        counter = ProgressCounter(self.progress, len(self.members) * fitting.n_fits)
        fitting.fitted = counter.count
        self.label_coupling_ = None
        if self.weights is None:
            self.weights_, self.offset_ = self._stack(fitting, targets)
        else:
            self.weights_ = self._given_weights()
            self.offset_ = 0.0
        linear, others = fitting.combine(self.weights_)
        counter.finish()
        self.neighbors_ = None
        self.online_stack_ = None
        for model in others:
            if isinstance(model, NeighborsClassifier):
                self.neighbors_ = model
            else:
                self.online_stack_ = model
        return self._set_hyperplanes(targets, linear.weights, linear.intercepts + self.offset_)

    def _stack(self, fitting: CrossFitting, targets: Targets) -> tuple[FloatArray, float]:
        """Fit weights and offset to out-of-fold scores, and the label coupling.

        Members that are not affordable have the weight 0.
        """
        affordable = [
            m for m, member in enumerate(self.members) if member.is_affordable(fitting.whole)
        ]
        members = affordable or [0]
        for member in members:
            fitting.score(member)
        held_out = fitting.held_out
        n_classes = len(targets.classes)
        stacker = Stacker(
            held_out,
            exclusive=not targets.multilabel and n_classes > 2,
            signed=self.signed,
            scaled=self.scale_scores,
            random_state=self.random_state,
        )
        weights, offset = stacker.fit(members)
        if self.couple_labels and targets.multilabel and n_classes > 1:
            scores = np.tensordot(weights, held_out.scores, 1) + offset
            self.label_coupling_ = LabelCoupling.fit(scores, held_out, fitting.whole)
        return weights, offset

    def contributions(
        self, X: Any, category: Any, *, against: Any = None
    ) -> tuple[SparseRows, FloatArray]:
        """Return what each term adds to the score through the linear members, and the remainder.

        The remainder is what the intercept, neighbours, an online stack and the other categories of
        the document add.
        """
        terms, intercepts = super().contributions(X, category, against=against)
        if not self._others() and self.label_coupling_ is None:
            return terms, intercepts
        if self.label_coupling_ is not None:
            terms *= self.label_coupling_.weights[0]
        scores = self._scores(X)
        index, sign = self._place(category)
        whole = sign * scores[:, index]
        if against is not None and not self._is_binary():
            whole = whole - scores[:, self._place(against)[0]]
        return terms, whole - terms.sum(axis=1)

    def _check_members(self) -> None:
        members = self.members
        are_members = bool(members) and all(isinstance(member, Member) for member in members)
        for kind in _NOT_LINEAR:
            if sum(isinstance(member, kind) for member in members) > 1:
                are_members = False
        if not are_members:
            raise ValueError(
                "members must be models of an ensemble, at most one of neighbours and one online, "
                f"got {members!r}"
            )

    def _others(self) -> dict[type[Member], NotLinear]:
        """Return the fitted members that are not linear, by their kind."""
        found: dict[type[Member], NotLinear] = {}
        if self.neighbors_ is not None:
            found[NeighborsMember] = self.neighbors_
        if self.online_stack_ is not None:
            found[OnlineStackMember] = self.online_stack_
        return found

    def _weight_of(self, kind: type[Member]) -> float:
        """Return the weight of the member of a kind, 0 without one."""
        return float(sum(self.weights_[[isinstance(member, kind) for member in self.members]]))

    def _given_weights(self) -> FloatArray:
        given = np.asarray(self.weights, dtype=float)
        if given.shape != (len(self.members),) or not np.all(given >= 0.0):
            raise ValueError(
                f"weights must be {len(self.members)} numbers of at least 0, got {self.weights!r}"
            )
        return given

    def scores_checked(self, rows: SparseRows) -> FloatArray:
        """Return scores of checked rows, documents x hyperplanes."""
        scores = super().scores_checked(rows)
        for kind, model in self._others().items():
            scores = scores + self._weight_of(kind) * model.scores_checked(rows)
        if self.label_coupling_ is not None:
            scores = self.label_coupling_(scores)
        return scores

    def _post_load(self) -> None:
        """Refuse a stored ensemble whose parts do not fit together."""
        super()._post_load()
        n_models = len(self.intercept_)
        self._check_members()
        expect_array(self.weights_, "weights_", np.float64, (len(self.members),))
        others = self._others()
        for kind in _NOT_LINEAR:
            if (self._weight_of(kind) != 0.0) != (kind in others):
                raise DataError(f"its {kind.kind} is not that of its members")
        for model in others.values():
            check_fitted(model)
            if len(model.classes_) != n_models or model.n_features_in_ != self.n_features_in_:
                raise DataError("a member has other categories or terms")
        if self.label_coupling_ is not None:
            expect_array(self.label_coupling_.rates, "rates", np.float64, (n_models,))
