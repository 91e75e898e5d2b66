"""How probable it is that two documents share a category, from their topics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.models.baselines.neighbors import squared_distances
from bayesift.models.topics.additive import draw_pairs, fit_additive, fit_naive_bayes
from bayesift.state import StateMixin, expect_array, storable
from bayesift.validation import Targets, check_targets

_LOOSE = 1e4  # C of the line: keeps it finite where pairs are separable


@storable("topic-similarity")
class TopicSimilarity(StateMixin, BaseEstimator):
    """P(two documents share a category | the difference of their codes).

        log odds = slope F + shift,    F = offset - sum_m weights_m (z_m - z'_m)^2

    z are square roots of codes, of Euclidean length one; F is an additive logistic regression on zero-mean normal
    densities of same- and different-category differences. The paper's (`paper`) has codes themselves, one stage per
    topic, slope 2 and shift 0.

    Parameters
    ----------
    n_pairs : number of pairs of documents to learn from, half of them from the same category; see
        `bayesift.models.topics.additive` for how they are drawn
    n_rounds : number of stages per topic; 1 is the paper's
    roots : compare square roots of codes, whose differences hang less on the few largest; otherwise the codes
    calibrated : fit slope and shift by maximum likelihood on the pairs; otherwise 2 (naive Bayes: 1) and 0
    method : "additive", or "naive-bayes": all factors 1 (eq. 28), topics counted as independent
    random_state : draws the pairs

    Attributes
    ----------
    weights_ : how much a squared difference on each topic counts; 0 for topics that say nothing
    offset_ : F of two documents with the same code
    slope_, shift_ : from F to log odds
    factors_, variances_ : a_m of each topic's first stage, and the variances it saw (same, different)
    same_share_ : the share of same-category pairs among all pairs, estimated

    References
    ----------
    Qiu, Huang & Wu, section 3.

    Examples
    --------
    >>> codes = np.array([[3.0, 0.1], [2.0, 0.2], [0.2, 4.0], [0.1, 3.0]])
    >>> similarity = TopicSimilarity(n_pairs=100).fit(codes, ["grain", "grain", "crude", "crude"])
    >>> p = similarity.probability(codes[:1], codes)
    >>> bool(p[0, 1] > 0.9 and p[0, 2] < 0.1)
    True
    """

    FITTED = ("weights_", "factors_", "variances_", "offset_", "slope_", "shift_", "same_share_")

    weights_: Array
    factors_: Array
    variances_: Array
    offset_: float
    slope_: float
    shift_: float
    same_share_: float

    def __init__(
        self,
        *,
        n_pairs: int = 100_000,
        n_rounds: int = 5,
        roots: bool = True,
        calibrated: bool = True,
        method: str = "additive",
        random_state: Any = 0,
    ) -> None:
        self.n_pairs = n_pairs
        self.n_rounds = n_rounds
        self.roots = roots
        self.calibrated = calibrated
        self.method = method
        self.random_state = random_state

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """The paper's own form: differences of the codes, one stage per topic, P = 1 / (1 + e^{-2F}).

        Examples
        --------
        >>> TopicSimilarity.paper(n_pairs=1000)
        TopicSimilarity(calibrated=False, n_pairs=1000, n_rounds=1, roots=False)
        """
        return cls(**{"n_rounds": 1, "roots": False, "calibrated": False, **parameters})

    def fit(self, codes: Any, y: Any) -> Self:
        """Learn from codes (documents x topics) and labels or an indicator matrix."""
        targets = y if isinstance(y, Targets) else check_targets(y)
        unit = self._unit(codes)
        if len(unit) != targets.n_documents:
            raise ValueError(f"inconsistent numbers of samples: {len(unit)} codes, y has {targets.n_documents}")
        if self.n_pairs < 2:
            raise ValueError(f"n_pairs must be at least 2, got {self.n_pairs!r}")
        if self.n_rounds < 1:
            raise ValueError(f"n_rounds must be at least 1, got {self.n_rounds!r}")
        if self.method not in ("additive", "naive-bayes"):
            raise ValueError(f"method must be 'additive' or 'naive-bayes', got {self.method!r}")
        pairs = draw_pairs(targets.members, self.n_pairs, check_random_state(self.random_state))
        if self.method == "additive":
            model = fit_additive(unit, pairs.left, pairs.right, pairs.same, rounds=self.n_rounds)
        else:
            model = fit_naive_bayes(unit, pairs.left, pairs.right, pairs.same)
        self.offset_, self.weights_ = model.offset, model.weights
        self.factors_, self.variances_ = model.factors, model.variances
        self.same_share_ = pairs.same_share
        self.slope_, self.shift_ = 2.0 if self.method == "additive" else 1.0, 0.0
        if self.calibrated:
            scores = model.offset - np.square(unit[pairs.left] - unit[pairs.right]) @ model.weights
            line = LogisticRegression(C=_LOOSE).fit(scores[:, np.newaxis], pairs.same)
            self.slope_, self.shift_ = max(float(line.coef_[0, 0]), 0.0), float(line.intercept_[0])
        return self

    def log_odds(self, codes: Any, others: Any, *, prior: float = 0.5) -> Array:
        """Log odds that documents share a category, codes x others.

        `prior` is the share of same-category pairs to expect; `same_share_` for pairs drawn at random.
        """
        return self.log_odds_at(squared_distances(self.points(codes), self.points(others)), prior=prior)

    def probability(self, codes: Any, others: Any, *, prior: float = 0.5) -> Array:
        """P(same category), codes x others; `prior` as in `log_odds`."""
        return np.asarray(expit(self.log_odds(codes, others, prior=prior)))

    def points(self, codes: Any) -> Array:
        """Codes as points whose squared Euclidean distances are sum_m weights_m (z_m - z'_m)^2."""
        check_is_fitted(self)
        unit = self._unit(codes)
        if unit.shape[1] != len(self.weights_):
            raise ValueError(f"codes of {unit.shape[1]} topics, fitted with {len(self.weights_)}")
        points: Array = unit * np.sqrt(self.weights_)
        return points

    def log_odds_at(self, distances: Array, *, prior: float = 0.5) -> Array:
        """Log odds at squared distances of points."""
        odds: Array = self.slope_ * (self.offset_ - distances) + self.shift_ + float(logit(prior))
        return odds

    def _post_load(self) -> None:
        n_topics = len(expect_array(self.weights_, "weights_", np.float64, (None,)))
        expect_array(self.factors_, "factors_", np.float64, (n_topics,))
        expect_array(self.variances_, "variances_", np.float64, (2, n_topics))
        if not np.all(np.isfinite([self.offset_, self.slope_, self.shift_, self.same_share_])):
            raise DataError("the weights of its topics must be finite numbers")
        if np.any(self.weights_ < 0) or self.slope_ < 0:
            raise DataError("the weights of its topics must not be negative")

    def _unit(self, codes: Any) -> Array:
        values = check_array(codes, dtype=np.float64, input_name="codes")
        if self.roots:
            if np.any(values < 0):
                raise ValueError("codes must not be negative; roots=False takes any")
            values = np.sqrt(values)
        unit: Array = normalize(values)
        return unit
