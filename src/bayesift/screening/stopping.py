"""When to stop screening: estimates of how many relevant documents are left, and what a random sample proves.

**Posterior.** `RankDecay` estimates the number of relevant documents among the unseen from how quickly finds become
rarer, `Forecast` from the texts. They cost no reading, and are as good as their models: the coverage is measured, not
guaranteed.

**Sample.** From some moment on the reviewer reads unseen documents in random order. With K relevant ones among the N
unseen at that moment, the number of hits in n draws is hypergeometric, whatever the model did before. `recall_p_value`
is the test of Callaghan & Müller-Hansen (2020) at one n fixed beforehand. `SampleCheck` may be looked at after every
draw: for any distribution p over K that is fixed before the sample,

    R_n(K) = p(K) / p(K | hits) = sum_k p(k) h(hits | k) / h(hits | K)

is a martingale of mean 1 under the true K (Waudby-Smith & Ramdas 2020), so that the true K ever has R >= 1/alpha with
probability at most alpha (Ville). All K with a smaller R form the confidence set, at all n simultaneously. p may be the
model's posterior: a good one makes the sample short, a bad one long; neither invalidates the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.special import expit, gammaln, logsumexp
from scipy.stats import hypergeom

from bayesift.arrays import Array
from bayesift.screening.relevance import leading_directions

_TRUST = 0.9  # weight of the model's posterior in the prior of a sample check; the rest has a heavy tail
_ROUNDING = 1e-9
_EXPONENTS = np.linspace(0.0, 6.0, 25)
_SCALES = (0.01, 0.03, 0.1, 0.3)
_VARIANCES = (1.0, 10.0, 100.0)
_INTERCEPT_VARIANCE = 100.0
_MAX_STEPS = 50
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class RemainingRelevant:
    """How many relevant documents are still unseen, as numbers drawn from the posterior, and how many are found.

    Examples
    --------
    >>> remaining = RemainingRelevant(np.array([0, 0, 1, 3]), n_found=9)
    >>> remaining.mean, remaining.interval(0.5), remaining.probability_of_recall(0.9)
    (1.0, (0, 1), 0.75)
    """

    draws: Array
    n_found: int

    @property
    def mean(self) -> float:
        """The expected number."""
        return float(self.draws.mean())

    def interval(self, mass: float = 0.95) -> tuple[int, int]:
        """The central credible interval."""
        tails = [(1.0 - mass) / 2.0, (1.0 + mass) / 2.0]
        low, high = np.quantile(self.draws, tails, method="inverted_cdf")
        return int(low), int(high)

    def probability_of_recall(self, recall: float) -> float:
        """How probable it is that at least this share of all relevant documents is found."""
        return float(np.mean(self.draws <= allowed_missing(self.n_found, recall)))


class RankDecay:
    """The number of relevant documents still unseen when a pool is read in ranked order, from when others were found.

    Finds are modelled as a Poisson process over the places in the order of reading, with a falling rate:

        rate(t) = a r(t),   r(t) = (1 + t / (c N))^-b,   b in [0, 6],   c in {0.01, 0.03, 0.1, 0.3}

    b = 0 is a useless ranking; large b with large c is nearly exponential. With R(n) = sum of r up to n and k finds at
    places t_i among n read, the prior 1/a gives closed forms:

        p(b, c | finds)        ~ prod_i r(t_i) / R(n)^k
        left | b, c, finds     ~ negative binomial of k and R(n) / R(N)

    so that the posterior is a mixture of negative binomials over a grid. It assumes that the order is no worse than a
    random one and that the rate keeps falling as it did.

    Parameters
    ----------
    n_documents : to read in all, those the review started from left out

    Examples
    --------
    >>> early = RankDecay(1000).remaining([True] * 20 + [False] * 280, found_before=1)
    >>> early.probability_of_recall(0.95) > 0.95
    True
    >>> steady = RankDecay(1000).remaining(([True] + [False] * 14) * 20, found_before=1)
    >>> steady.probability_of_recall(0.95) < 0.05
    True
    """

    def __init__(self, n_documents: int) -> None:
        if n_documents < 1:
            raise ValueError(f"n_documents must be at least 1, got {n_documents}")
        self.n_documents = n_documents
        scales, exponents = (grid.reshape(-1, 1) for grid in np.meshgrid(_SCALES, _EXPONENTS))
        self._log_rates = -exponents * np.log1p(np.arange(1, n_documents + 1) / (scales * n_documents))
        self._sums = np.cumsum(np.exp(self._log_rates), axis=1)

    def remaining(
        self, judgements: Sequence[bool], *, found_before: int = 0, draws: int = 2000, seed: int = 0
    ) -> RemainingRelevant:
        """The posterior of the number of relevant documents among those not read.

        The judgements are in the order of reading; without a relevant one nothing is known. `found_before` counts the
        relevant documents that the review started from.
        """
        n_read, places = len(judgements), np.flatnonzero(np.asarray(judgements, dtype=bool))
        unseen, k = self.n_documents - n_read, len(places)
        if unseen < 0:
            raise ValueError(f"{n_read} judgements of {self.n_documents} documents")
        if not k or not unseen:
            return RemainingRelevant(np.full(draws, unseen), found_before + k)
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(self._sums), size=draws, p=self._shares(places, n_read))
        left = rng.negative_binomial(k, self._sums[chosen, n_read - 1] / self._sums[chosen, -1])
        return RemainingRelevant(np.minimum(left, unseen), found_before + k)

    def _shares(self, places: Array, n_read: int) -> Array:
        """The posterior of the points of the grid."""
        fits = self._log_rates[:, places].sum(axis=1) - len(places) * np.log(self._sums[:, n_read - 1])
        shares = np.exp(fits - fits.max())
        weights: Array = shares / shares.sum()
        return weights


class Forecast:
    """The number of relevant documents still unseen, from the texts and judgements of a pool.

    The ranking model balances its judgements, so that its scores are no log odds. The forecast counts every judgement
    once: logistic regression on the leading directions of the pool, with the Gaussian prior of the highest evidence
    and the normal approximation of the posterior about the mode (MacKay 1992):

        w | judgements ~ N(mode, S),   S^-1 = Z' D Z + diag(1 / v),   D = p (1 - p)

    Which documents were judged depends on their vectors and on earlier judgements only, so that the order of reading
    does not bias the posterior. Cost: judgements x directions^2 per Newton step, a few steps per variance.

    Parameters
    ----------
    X : the pool, documents x terms
    directions : of the pool that the model uses, at most

    Examples
    --------
    >>> pool = sparse.csr_array(np.vstack([np.tile([1.0, 0.0], (20, 1)), np.tile([0.0, 1.0], (20, 1))]))
    >>> labels = np.zeros(40)
    >>> labels[:15], labels[20:35] = 1, -1
    >>> 3.5 < Forecast(pool).remaining(labels).mean < 6.5
    True
    """

    def __init__(self, X: sparse.csr_array, *, directions: int = 100) -> None:
        self._design = np.hstack([leading_directions(X, directions), np.ones((X.shape[0], 1))])

    def remaining(self, labels: Array, *, draws: int = 1000, seed: int = 0) -> RemainingRelevant:
        """The posterior of the number of relevant documents among those with label 0."""
        judged, unseen = np.flatnonzero(labels), np.flatnonzero(labels == 0)
        Z, y = self._design[judged], (labels[judged] > 0).astype(np.float64)
        _, mode, root = max((_laplace(Z, y, variance) for variance in _VARIANCES), key=lambda fit: fit[0])
        rows = self._design[unseen]
        n_found = int(np.count_nonzero(labels > 0))
        return remaining_relevant(rows @ mode, rows @ root, n_found=n_found, draws=draws, seed=seed)


def remaining_relevant(
    means: Array, root: Array, *, n_found: int, draws: int = 1000, seed: int = 0
) -> RemainingRelevant:
    """The number of relevant documents among those with normal scores of these means and covariance root root'."""
    rng = np.random.default_rng(seed)
    scores = means[:, np.newaxis] + root @ rng.standard_normal((root.shape[1], draws))
    relevant = rng.random(scores.shape) < expit(scores)
    return RemainingRelevant(relevant.sum(axis=0), n_found)


def allowed_missing(n_found: int, recall: float) -> int:
    """How many relevant documents may be missing when so many are found.

    Examples
    --------
    >>> allowed_missing(19, 0.95), allowed_missing(18, 0.95), allowed_missing(0, 0.95)
    (1, 0, 0)
    """
    _check_share("recall", recall)
    return math.floor(n_found * (1.0 - recall) / recall + _ROUNDING)


def recall_p_value(*, n_unseen: int, n_sample: int, n_hits: int, n_found: int, recall: float) -> float:
    """How probable so few hits are, at most, if less than this recall was reached; for a sample size fixed beforehand.

    Parameters
    ----------
    n_unseen : documents unseen before the sample
    n_sample, n_hits : documents drawn from them at random, and the relevant ones among these
    n_found : relevant documents found before the sample
    recall : the share that is aimed at, of which the hits count as found

    Examples
    --------
    >>> recall_p_value(n_unseen=100, n_sample=78, n_hits=0, n_found=19, recall=0.95) < 0.05
    True
    """
    if not 0 <= n_hits <= n_sample <= n_unseen:
        raise ValueError("hits, sample and unseen documents must not fall short of one another")
    least = n_hits + allowed_missing(n_found + n_hits, recall) + 1
    if least - n_hits > n_unseen - n_sample:
        return 0.0
    return float(hypergeom.cdf(n_hits, n_unseen, least, n_sample))


class SampleCheck:
    """A bound on the relevant documents that are missing, true at every draw of a random sample together.

    Parameters
    ----------
    n_unseen : documents unseen before the first draw
    n_found : relevant documents found before it
    expected : `RemainingRelevant` of the model at that moment, or None; makes the sample short when it is right
    confidence : that the bound is never below the truth, as long as draws go on

    Examples
    --------
    >>> check = SampleCheck(n_unseen=100, n_found=40)
    >>> check.missing_bound
    100
    >>> for _ in range(80):
    ...     check.draw(relevant=False)
    >>> check.missing_bound, check.reaches(0.95)
    (2, True)
    """

    def __init__(
        self, *, n_unseen: int, n_found: int, expected: RemainingRelevant | None = None, confidence: float = 0.95
    ) -> None:
        _check_share("confidence", confidence)
        self.n_unseen = n_unseen
        self.n_found = n_found
        self.confidence = confidence
        self.n_drawn = 0
        self.n_hits = 0
        self._possible = np.arange(n_unseen + 1)
        self._log_factorials = gammaln(self._possible + 1.0)
        self._log_prior = np.log(_prior(n_unseen, expected))
        self._kept = np.ones(n_unseen + 1, dtype=bool)

    def draw(self, *, relevant: bool) -> None:
        """Take in the judgement of the next document of the sample."""
        if self.n_drawn == self.n_unseen:
            raise ValueError("all documents are drawn")
        self.n_drawn += 1
        self.n_hits += int(relevant)
        likelihood = self._log_likelihood()
        total = logsumexp(self._log_prior + likelihood)
        self._kept &= likelihood > total + math.log(1.0 - self.confidence)

    @property
    def missing_bound(self) -> int:
        """At most so many relevant documents are neither found before the sample nor hit by it."""
        left = np.flatnonzero(self._kept)
        # With all numbers excluded the improbable has happened; then nothing is known.
        most = int(left[-1]) if len(left) else self.n_unseen
        return max(0, min(most - self.n_hits, self.n_unseen - self.n_drawn))

    @property
    def recall_bound(self) -> float:
        """At least this share of all relevant documents is found; 1 where there are none."""
        found, missing = self.n_found + self.n_hits, self.missing_bound
        return found / (found + missing) if found + missing else 1.0

    def reaches(self, recall: float) -> bool:
        """Whether the sample proves that at least this share is found."""
        return self.missing_bound <= allowed_missing(self.n_found + self.n_hits, recall)

    def _log_likelihood(self) -> Array:
        """Of every K, up to a constant: ln C(n, h) C(N - n, K - h) / C(N, K)."""
        K, N, n, h = self._possible, self.n_unseen, self.n_drawn, self.n_hits
        likelihood = np.full(N + 1, -np.inf)
        some = (h <= K) & (K - h <= N - n)
        k = K[some]
        likelihood[some] = self._log_choose(N - n, k - h) - self._log_choose(N, k)
        return likelihood

    def _log_choose(self, n: int, k: Array) -> Array:
        ways: Array = self._log_factorials[n] - self._log_factorials[k] - self._log_factorials[n - k]
        return ways


def sample_size(*, n_unseen: int, n_found: int, recall: float, confidence: float = 0.95) -> int:
    """How many random documents without a hit it takes to prove this recall by `recall_p_value`.

    Examples
    --------
    >>> sample_size(n_unseen=1000, n_found=100, recall=0.95)
    393
    """
    _check_share("confidence", confidence)
    low, high = 0, n_unseen
    while low < high:
        middle = (low + high) // 2
        p = recall_p_value(n_unseen=n_unseen, n_sample=middle, n_hits=0, n_found=n_found, recall=recall)
        low, high = (low, middle) if p <= 1.0 - confidence else (middle + 1, high)
    return low


def _prior(n_unseen: int, expected: RemainingRelevant | None) -> Array:
    """p(K): what the model expects, mixed with 1 / ((K + 1) (K + 2))."""
    K = np.arange(n_unseen + 1.0)
    heavy = 1.0 / ((K + 1.0) * (K + 2.0))
    heavy /= heavy.sum()
    if expected is None:
        return heavy
    numbers = np.minimum(expected.draws, n_unseen)
    return _TRUST * np.bincount(numbers, minlength=n_unseen + 1) / len(numbers) + (1.0 - _TRUST) * heavy


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")


def _laplace(Z: Array, y: Array, variance: float) -> tuple[float, Array, Array]:
    """Log evidence, mode, and a root of the covariance, for one variance of the prior; Newton's method, damped."""
    precision = np.append(np.full(Z.shape[1] - 1, 1.0 / variance), 1.0 / _INTERCEPT_VARIANCE)
    mode = np.zeros(Z.shape[1])
    value = _log_posterior(Z, y, precision, mode)
    for _ in range(_MAX_STEPS):
        chance = expit(Z @ mode)
        gradient = Z.T @ (y - chance) - precision * mode
        step = linalg.solve(_hessian(Z, chance, precision), gradient, assume_a="pos")
        length = 1.0
        while (moved := _log_posterior(Z, y, precision, mode + length * step)) < value and length > _TOLERANCE:
            length /= 2.0
        mode, gained, value = mode + length * step, moved - value, max(moved, value)
        if gained < _TOLERANCE:
            break
    lower = linalg.cholesky(_hessian(Z, expit(Z @ mode), precision), lower=True)
    evidence = value + 0.5 * np.log(precision).sum() - np.log(np.diagonal(lower)).sum()
    root = linalg.solve_triangular(lower, np.eye(len(mode)), lower=True, trans="T")
    return float(evidence), mode, root


def _hessian(Z: Array, chance: Array, precision: Array) -> Array:
    hessian: Array = (Z.T * (chance * (1.0 - chance))) @ Z + np.diag(precision)
    return hessian


def _log_posterior(Z: Array, y: Array, precision: Array, w: Array) -> float:
    scores = Z @ w
    return float(np.sum(y * scores - np.logaddexp(0.0, scores)) - 0.5 * np.sum(precision * w**2))
