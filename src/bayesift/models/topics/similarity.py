"""How probable it is that two documents share a category, from their topics.

Documents ranked by it, with reasons.

The similarity is an additive logistic regression on the differences of topics of pairs of
documents:

    F(x) = sum_m a_m f_m(x_m),    f_m(x) = log N(x; 0, v+_m) - log N(x; 0, v-_m)

A stage estimates the variances of same-category (+) and different-category (-) differences under
weights e^{-yF} (y is +1 or -1), then the factor a_m that minimises sum e^{-y(F + a f_m)} by
Newton's method. F estimates half the log odds: P(same) = 1/(1 + e^{-2F}) (Friedman, Hastie &
Tibshirani 2000; the paper's eq. 23 lacks the 2, its eq. 26 a minus). The paper has one stage per
topic; further rounds correct each topic given all others.

Each stage adds a constant and a multiple of x_m^2. A stage after which the multiples of a topic
would sum to more than 0 is left out: documents would become more similar the more they differ.

Pairs are drawn without listing all n^2. Same: a document uniformly among those that have a partner,
one of its categories with a partner uniformly, another document of that category uniformly.
Different: uniformly from all pairs of documents that share no category. Documents without a
category are not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.models.baselines.neighbors import squared_distances
from bayesift.state import StateMixin, expect_array, storable
from bayesift.validation import Targets, check_targets

_TOLERANCE = 1e-10
_NEWTON_STEPS = 50
_LEAST_VARIANCE = 1e-9  # relative to the topic's variance in all pairs
_LARGEST_SCORE = 30.0  # of |F|, so that weights stay within e^30
_MOST_DRAWS = 1000  # times the number of pairs, before giving up


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of documents by their rows; as many share a category (`same`) as do not.

    `same_share` is the share of pairs with a common category among pairs drawn uniformly.
    """

    left: Array
    right: Array
    same: Array
    same_share: float


def draw_pairs(members: SparseRows, n_pairs: int, random: np.random.RandomState) -> Pairs:
    """Draw half of the pairs from the same category, half from different ones.

    `members` is categories x documents.
    """
    half = max(1, n_pairs // 2)
    same = _draw_same(members, half, random)
    different, same_share = _draw_different(members, half, random)
    left, right = np.concatenate([same, different], axis=1)
    return Pairs(left, right, np.repeat([True, False], half), same_share)


def _draw_same(members: SparseRows, n_pairs: int, random: np.random.RandomState) -> Array:
    sizes = np.diff(members.indptr)
    usable = members[np.flatnonzero(sizes > 1)]
    by_document = sparse.csr_array(usable.T)
    degrees = np.diff(by_document.indptr)
    candidates = np.flatnonzero(degrees)
    if not len(candidates):
        raise ValueError(
            "no category has two documents; there is nothing to learn similarity from"
        )
    documents = random.choice(candidates, n_pairs)
    categories = by_document.indices[
        by_document.indptr[documents] + _below(degrees[documents], random)
    ]
    starts = usable.indptr[categories]
    last = usable.indptr[categories + 1] - 1
    partners = usable.indices[starts + _below(last - starts, random)]
    # The index of the document itself stands for the last one, which is not drawn.
    return np.stack(
        [documents, np.where(partners == documents, usable.indices[last], partners)]
    )


def _draw_different(
    members: SparseRows, n_pairs: int, random: np.random.RandomState
) -> tuple[Array, float]:
    by_document = sparse.csr_array(members.T)
    candidates = np.flatnonzero(np.diff(by_document.indptr))
    found = []
    n_found = 0
    n_drawn = 0
    while n_found < n_pairs:
        if n_drawn > _MOST_DRAWS * n_pairs:
            raise ValueError(
                "hardly any two documents differ in category; there is nothing to learn "
                "similarity from"
            )
        pairs = random.choice(candidates, (2, n_pairs))
        pairs = pairs[:, pairs[0] != pairs[1]]
        shared = by_document[pairs[0]].multiply(by_document[pairs[1]]).sum(axis=1) > 0
        found.append(pairs[:, ~shared])
        n_found += found[-1].shape[1]
        n_drawn += max(pairs.shape[1], 1)
    return np.concatenate(found, axis=1)[:, :n_pairs], 1 - n_found / n_drawn


def _below(limits: Array, random: np.random.RandomState) -> Array:
    """Integers from 0 to below each limit, uniformly."""
    drawn: Array = np.minimum(
        (random.uniform(size=len(limits)) * limits).astype(np.int64), limits - 1
    )
    return drawn


@dataclass(frozen=True, eq=False)
class AdditiveModel:
    """F(x) = offset - sum_m weights_m x_m^2.

    A_m (0 where it was left out) and variances of the first stages.

    `variances` are those of same- and different-category differences, 2 x topics.
    """

    offset: float
    weights: FloatArray
    factors: FloatArray
    variances: FloatArray


def fit_additive(
    codes: FloatArray, left: IntArray, right: IntArray, same: BoolArray, *, rounds: int = 1
) -> AdditiveModel:
    """Fit `rounds` stages per topic on pairs of rows, in the order of columns."""
    signs = np.where(same, 1.0, -1.0)
    columns = np.ascontiguousarray(codes.T)
    scores = np.zeros(len(left))
    offset = 0.0
    weights = np.zeros(len(columns))
    factors = np.zeros(len(columns))
    variances = np.zeros((2, len(columns)))
    for round_ in range(rounds):
        for m, column in enumerate(columns):
            squares = np.square(column[left] - column[right])
            importance = np.exp(-signs * np.clip(scores, -_LARGEST_SCORE, _LARGEST_SCORE))
            intra, extra = _variances(squares, importance, same)
            if intra == extra:  # the topic is the same in all documents
                continue
            constant = 0.5 * np.log(extra / intra)
            slope = 0.5 * (1 / intra - 1 / extra)
            ratios = constant - slope * squares
            factor = best_factor(signs * ratios, importance)
            if round_ == 0:
                variances[:, m] = intra, extra
            if weights[m] + factor * slope < 0:
                continue
            scores += factor * ratios
            offset += factor * constant
            weights[m] += factor * slope
            if round_ == 0:
                factors[m] = factor
    return AdditiveModel(float(offset), weights, factors, variances)


def fit_naive_bayes(
    codes: FloatArray, left: IntArray, right: IntArray, same: BoolArray
) -> AdditiveModel:
    """Return factors and weights 1: naive Bayes on topics (eq. 28).

    F is then the log odds themselves.

    As in `fit_additive`, a topic on which documents of one category differ more than others is left
    out.
    """
    columns = np.ascontiguousarray(codes.T)
    everything = np.ones(len(left))
    squares = (np.square(column[left] - column[right]) for column in columns)
    variances = np.array([_variances(square, everything, same) for square in squares]).T
    factors = (variances[0] < variances[1]).astype(np.float64)
    safe = np.where(factors > 0, variances, 1.0)
    weights = 0.5 * (1.0 / safe[0] - 1.0 / safe[1])
    return AdditiveModel(
        float(0.5 * np.sum(np.log(safe[1] / safe[0]))), weights, factors, variances
    )


def best_factor(margins: FloatArray, importance: FloatArray) -> float:
    """Find the a that minimises sum importance e^{-a margins}, by Newton's method."""
    factor = 0.0
    losses = importance
    total = float(losses.sum())
    for _ in range(_NEWTON_STEPS):
        gain = float(losses @ margins)
        curvature = float(losses @ margins**2)
        if curvature <= 0.0:
            break
        step = gain / curvature
        while True:
            with np.errstate(over="ignore"):
                new_losses = importance * np.exp(-(factor + step) * margins)
            new_total = float(new_losses.sum())
            if new_total <= total or abs(step) <= _TOLERANCE:
                break
            step *= 0.5
        factor = factor + step
        losses = new_losses
        total = new_total
        if abs(step) <= _TOLERANCE * max(1.0, abs(factor)):
            break
    return factor


def _variances(squares: FloatArray, importance: FloatArray, same: Array) -> tuple[float, float]:
    least = _LEAST_VARIANCE * float(squares.mean())
    intra, extra = (
        float(np.average(squares[part], weights=importance[part])) for part in (same, ~same)
    )
    return max(intra, least), max(extra, least)


_LINE_COST = 1e4  # C of the line: keeps it finite where pairs are separable


@storable("topic-similarity")
class TopicSimilarity(StateMixin, BaseEstimator):
    """P(two documents share a category | the difference of their codes).

        log odds = slope F + shift,    F = offset - sum_m weights_m (z_m - z'_m)^2

    z are square roots of codes, of Euclidean length one; F is an additive logistic regression on
    zero-mean normal densities of same- and different-category differences. The paper's (`paper`)
    has codes themselves, one stage per topic, slope 2 and shift 0.

    Parameters
    ----------
    n_pairs : number of pairs of documents to learn from, half of them from the same category; see
        `bayesift.models.topics.similarity` for how they are drawn
    n_rounds : number of stages per topic; 1 is the paper's
    roots : compare square roots of codes, whose differences hang less on the few largest; otherwise
        the codes
    calibrated : fit slope and shift by maximum likelihood on the pairs; otherwise 2 (naive Bayes:
        1) and 0
    method : "additive", or "naive-bayes": all factors 1 (eq. 28), topics counted as independent
    random_state : draws the pairs

    Attributes
    ----------
    weights_ : how much a squared difference on each topic counts; 0 for topics that say nothing
    offset_ : F of two documents with the same code
    slope_, shift_ : from F to log odds
    factors_, variances_ : a_m of each topic's first stage, and the variances it saw (same,
        different)
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

    FITTED = (
        "weights_",
        "factors_",
        "variances_",
        "offset_",
        "slope_",
        "shift_",
        "same_share_",
    )

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
        """Return the paper's own form: differences of codes, one stage per topic.

        Examples
        --------
        >>> TopicSimilarity.paper(n_pairs=1000)
        TopicSimilarity(calibrated=False, n_pairs=1000, n_rounds=1, roots=False)
        """
        return cls(**{"n_rounds": 1, "roots": False, "calibrated": False, **parameters})

    def fit(self, codes: Any, y: Any) -> Self:
        """Learn from codes (documents x topics) and labels or an indicator matrix."""
        from sklearn.linear_model import LogisticRegression

        targets = y if isinstance(y, Targets) else check_targets(y)
        unit = self._unit(codes)
        if len(unit) != targets.n_documents:
            raise ValueError(
                f"inconsistent numbers of samples: {len(unit)} codes, y has {targets.n_documents}"
            )
        if self.n_pairs < 2:
            raise ValueError(f"n_pairs must be at least 2, got {self.n_pairs!r}")
        if self.n_rounds < 1:
            raise ValueError(f"n_rounds must be at least 1, got {self.n_rounds!r}")
        if self.method not in ("additive", "naive-bayes"):
            raise ValueError(f"method must be 'additive' or 'naive-bayes', got {self.method!r}")
        pairs = draw_pairs(targets.members, self.n_pairs, check_random_state(self.random_state))
        if self.method == "additive":
            model = fit_additive(
                unit, pairs.left, pairs.right, pairs.same, rounds=self.n_rounds
            )
        else:
            model = fit_naive_bayes(unit, pairs.left, pairs.right, pairs.same)
        self.offset_ = model.offset
        self.weights_ = model.weights
        self.factors_ = model.factors
        self.variances_ = model.variances
        self.same_share_ = pairs.same_share
        self.slope_ = 2.0 if self.method == "additive" else 1.0
        self.shift_ = 0.0
        if self.calibrated:
            scores = (
                model.offset - np.square(unit[pairs.left] - unit[pairs.right]) @ model.weights
            )
            line = LogisticRegression(C=_LINE_COST).fit(scores[:, np.newaxis], pairs.same)
            self.slope_ = max(float(line.coef_[0, 0]), 0.0)
            self.shift_ = float(line.intercept_[0])
        return self

    def log_odds(self, codes: Any, others: Any, *, prior: float = 0.5) -> Array:
        """Log odds that documents share a category, codes x others.

        `prior` is the share of same-category pairs to expect; `same_share_` for pairs drawn at
        random.
        """
        return self.log_odds_at(
            squared_distances(self.points(codes), self.points(others)), prior=prior
        )

    def probability(self, codes: Any, others: Any, *, prior: float = 0.5) -> Array:
        """P(same category), codes x others; `prior` as in `log_odds`."""
        return np.asarray(expit(self.log_odds(codes, others, prior=prior)))

    def points(self, codes: Any) -> Array:
        """Codes as points whose squared Euclidean distances are sum_m weights_m (z_m - z'_m)^2."""
        check_is_fitted(self)
        unit = self._unit(codes)
        if unit.shape[1] != len(self.weights_):
            raise ValueError(
                f"codes of {unit.shape[1]} topics, fitted with {len(self.weights_)}"
            )
        return unit * np.sqrt(self.weights_)

    def log_odds_at(self, distances: FloatArray, *, prior: float = 0.5) -> Array:
        """Log odds at squared distances of points."""
        return self.slope_ * (self.offset_ - distances) + self.shift_ + float(logit(prior))

    def _post_load(self) -> None:
        n_topics = len(expect_array(self.weights_, "weights_", np.float64, (None,)))
        expect_array(self.factors_, "factors_", np.float64, (n_topics,))
        expect_array(self.variances_, "variances_", np.float64, (2, n_topics))
        if not np.all(np.isfinite([self.offset_, self.slope_, self.shift_, self.same_share_])):
            raise DataError("the weights of its topics must be finite numbers")
        if np.any(self.weights_ < 0) or self.slope_ < 0:
            raise DataError("the weights of its topics must not be negative")

    def _unit(self, codes: Any) -> Array:
        from sklearn.preprocessing import normalize

        values = check_array(codes, dtype=np.float64, input_name="codes")
        if self.roots:
            if np.any(values < 0):
                raise ValueError("codes must not be negative; roots=False takes any")
            values = np.sqrt(values)
        unit: Array = normalize(values)
        return unit


@dataclass(frozen=True, slots=True)
class TopicReason:
    """What one topic adds to the log odds of a document; negative lowers its rank."""

    topic: int
    contribution: float


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document (by its row) that is like those a person liked.

    The score is its mean log odds of sharing a category with the liked, less those with the
    disliked; reasons are the topics that moved it most, relative to an average document of the
    collection, largest first.
    """

    document: int
    score: float
    reasons: tuple[TopicReason, ...]


def more_like_this(
    similarity: TopicSimilarity,
    codes: Any,
    *,
    liked: Sequence[int],
    disliked: Sequence[int] = (),
    top: int = 10,
    n_reasons: int = 3,
) -> list[RankedDocument]:
    """Find the documents that resemble the liked ones and not the disliked ones.

    The similarity is a sum over topics, so its means are too: a score is exactly the sum of what
    its topics add and the collection's mean score. Documents that a person has judged, `liked` and
    `disliked` by their rows, are not ranked.

    Examples
    --------
    >>> codes = np.array([[3, 0.1], [2, 0.2], [1, 0.1], [0.2, 4], [0.1, 3]])
    >>> similarity = TopicSimilarity(n_pairs=100).fit(codes,
    ...     ["grain", "grain", "grain", "crude", "crude"])
    >>> best = more_like_this(similarity, codes, liked=[0], disliked=[3], top=1)[0]
    >>> best.document, best.reasons[0].contribution > 0
    (1, True)
    """
    points = similarity.points(codes)
    judged = np.unique(
        np.r_[np.asarray(liked, dtype=np.int64), np.asarray(disliked, dtype=np.int64)]
    )
    if not len(liked):
        raise ValueError("at least one liked document is needed")
    if judged.min() < 0 or judged.max() >= len(points):
        raise ValueError(f"judged documents must be rows of the {len(points)} codes")
    parts = _parts(similarity, points, liked, disliked)
    scores = parts.sum(axis=1)
    if not len(disliked):
        scores += similarity.slope_ * similarity.offset_ + similarity.shift_
    order = np.argsort(-scores, kind="stable")
    order = order[~np.isin(order, judged)][:top]
    mean = parts.mean(axis=0)
    return [
        RankedDocument(int(d), float(scores[d]), _reasons(parts[d] - mean, n_reasons))
        for d in order
    ]


def _parts(
    similarity: TopicSimilarity,
    points: FloatArray,
    liked: Sequence[int],
    disliked: Sequence[int],
) -> Array:
    """Return what each topic adds to each document's score, documents x topics."""
    parts = _mean_squares(points, points[list(liked)])
    if len(disliked):
        parts -= _mean_squares(points, points[list(disliked)])
    parts *= -similarity.slope_
    return parts


def _mean_squares(points: FloatArray, judged: Array) -> Array:
    """Return the mean of (p - j)^2 over the judged, by topic."""
    squares: FloatArray = np.square(points - judged.mean(axis=0)) + judged.var(axis=0)
    return squares


def _reasons(contributions: Array, n_reasons: int) -> tuple[TopicReason, ...]:
    order = np.argsort(-np.abs(contributions), kind="stable")[:n_reasons]
    return tuple(
        TopicReason(int(a), float(contributions[a])) for a in order if contributions[a] != 0
    )
