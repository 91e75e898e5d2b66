"""Three views of the same words, weighed by what they foretell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from bayesift.models.categories import models_of
from bayesift.models.committee.hearing import Progress, Report, hear
from bayesift.models.committee.members import GaussianMember, InformedMember, Member, NaiveBayesMember, Sample, blend
from bayesift.models.committee.stacking import shares_of
from bayesift.models.committee.verdicts import Verdicts
from bayesift.validation import check_sample_weight, check_targets, check_terms

Array = np.ndarray[Any, Any]


class CommitteeClassifier(Verdicts, ClassifierMixin, BaseEstimator):
    """Logistic regression, logistic regression that listens to naive Bayes, and naive Bayes, speaking as one.

    Each member is asked about documents that it has not seen, fold by fold; how much it is listened to is what
    foretells their labels best, the same for all categories (stacking). All members are linear in the same terms, so
    that the committee is one linear model too, as quick and as readable as any of them, and its probabilities answer
    for documents that were held out. Meant for weights such as ltc; naive Bayes counts negative ones as 0.

    Parameters
    ----------
    variance : of the weights under the prior of the logistic regression
    informed_variance : the same for the one that listens to naive Bayes, in units of its squared log ratios
    alpha : added to every count before the ratios are taken
    mixing : how much of every category is the collection, in naive Bayes
    shares : how much each of the three is listened to; None finds it by held-out documents
    n_folds : how many times documents are held out
    tol : of the logistic regressions
    random_state : deals the folds
    n_jobs : threads over categories; -1 for all cores
    progress : called with how much of the work is done and how much there is

    Attributes
    ----------
    shares_, offset_ : what multiplies the log odds of the members, and what is added
    classes_, multilabel_, coef_, intercept_ : as in `LinearScores`; log odds of each category against the rest, or of
        several classes what a softmax makes into probabilities

    References
    ----------
    Wolpert (1992), Stacked generalization. Wang & Manning (2012), Baselines and bigrams.

    Examples
    --------
    >>> X, y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], ["grain", "grain", "crude", "crude"]
    >>> model = CommitteeClassifier(n_folds=2).fit(X, y)
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    def __init__(
        self,
        *,
        variance: float = 30.0,
        informed_variance: float = 3.0,
        alpha: float = 0.05,
        mixing: float = 0.9,
        shares: Sequence[float] | None = None,
        n_folds: int = 5,
        tol: float = 1e-2,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.variance = variance
        self.informed_variance = informed_variance
        self.alpha = alpha
        self.mixing = mixing
        self.shares = shares
        self.n_folds = n_folds
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Ask the members about documents held out, then fit them to all."""
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        sample = Sample(rows, sparse.csr_array(models_of(targets).T), weights)
        members = self._members()
        exclusive = not targets.multilabel and len(targets.classes) > 2
        asked = 0 if self.shares is not None else min(self.n_folds, targets.n_documents)
        report = Report(self.progress, len(members) * (asked + 1))
        self.shares_, self.offset_ = self._listen(members, sample, exclusive, report)
        parts = [report.after(member.fit(sample)) for member in members]
        blended = blend(parts, self.shares_)
        return self._keep(targets, blended.weights, blended.intercepts + self.offset_)

    def _members(self) -> tuple[GaussianMember | InformedMember | NaiveBayesMember, ...]:
        return (
            GaussianMember(self.variance, self.tol, self.n_jobs),
            InformedMember(self.informed_variance, self.alpha, self.tol, self.n_jobs),
            NaiveBayesMember(self.mixing),
        )

    def _listen(
        self, members: Sequence[Member], sample: Sample, exclusive: bool, report: Report
    ) -> tuple[Array, float]:
        """The shares as given, or found by documents held out."""
        if self.shares is not None:
            given = np.asarray(self.shares, dtype=float)
            if given.shape != (len(members),) or not np.all(given >= 0.0):
                raise ValueError(f"shares must be {len(members)} numbers of at least 0, got {self.shares!r}")
            return given, 0.0
        n_folds = min(self.n_folds, sample.rows.shape[0])
        heard = hear(members, sample, n_folds=n_folds, random_state=self.random_state, report=report)
        return shares_of(heard.scores, heard.labels, heard.importance, exclusive=exclusive)

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        shares = settings["shares"]
        return settings | {"progress": None, "shares": None if shares is None else [float(share) for share in shares]}

    @classmethod
    def _constructed(cls, settings: dict[str, Any]) -> dict[str, Any]:
        shares = settings.get("shares")
        return settings | {"shares": tuple(shares) if isinstance(shares, list) else None}
