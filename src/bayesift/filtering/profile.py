"""Keep a profile: one reader's topic, a normal posterior over the weights of growing words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit, ndtri, xlogy

from bayesift.arrays import BoolArray, FloatArray, IntArray, SparseRows
from bayesift.filtering.stacked import ProfileStack
from bayesift.filtering.strategies import Goal, Strategy, TargetCount, hash_uniform, query_reach
from bayesift.filtering.vectors import DocumentVector, matrix_of, stacked
from bayesift.kernels.filtering import (
    RELEVANT,
    ScannedPosterior,
    ScanRoom,
    informative_terms,
    scan,
)
from bayesift.models.online import FlipNoise
from bayesift.models.online.likelihoods import GAINS
from bayesift.models.online.posteriors import Dynamics, FullPosterior
from bayesift.state import storable

CUT = 12.13  # -2 ln lambda of the paper, "0.05%"; the chi-square point is 12.116
# Before anything is learned, a profile that starts from words scores a document by its cosine to
# them: at 0.2 it is as likely relevant as not, at 0.1 it is queried, and without any of the words
# neither.
QUERY_STRENGTH = 15.0
QUERY_BIAS = -3.0
REGION_SIZE = 32  # past relevant documents that stand for those to come, the last ones
_NO_DRAWS = np.zeros(0)
_DOCUMENTS_PER_BLOCK = 20_000  # documents scored together, which bounds memory
_FIRST_SCANNED_DOCUMENTS = (
    64  # documents that a stack scores together, then twice as many until one is retrieved
)
_MAX_RATIO = 1e3  # mean over standard deviation that no document reaches


@storable("profile-settings")
@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """Hyperparameters of a profile.

    Parameters
    ----------
    strategy : what it does besides retrieving documents that are probably relevant
    goal : sets the threshold on the probability of relevance
    kappa : probability that a label is flipped (flip noise)
    prior_variance : of every weight
    cut : -2 ln lambda above which a word is added
    max_terms : maximum number of words; None for no limit
    n_epochs : passes over the labelled documents of the batch phase
    max_pending : maximum number of retrieved documents that wait for a judgement; beyond it the
        oldest is dropped
    model : "perceptron" decides by the normal posterior over its words; "stack" by that and an
        online stack over all words (`bayesift.filtering.stacked`), and queries by the posterior as
        before
    """

    strategy: Strategy = field(default_factory=Strategy)
    goal: Goal = field(default_factory=TargetCount)
    kappa: float = 0.1
    prior_variance: float = 1.0
    cut: float = CUT
    max_terms: int | None = None
    n_epochs: int = 3
    max_pending: int = 10_000
    model: Literal["perceptron", "stack"] = "perceptron"

    def __post_init__(self) -> None:
        FlipNoise(self.kappa)
        if not 0 < self.prior_variance < math.inf or not self.cut >= 0:
            raise ValueError(
                "prior_variance must be above 0 and cut at least 0, got "
                f"{self.prior_variance, self.cut}"
            )
        if (
            self.n_epochs < 1
            or self.max_pending < 1
            or (self.max_terms is not None and self.max_terms < 1)
        ):
            raise ValueError("n_epochs, max_pending and max_terms must be at least 1")
        if self.model not in ("perceptron", "stack"):
            raise ValueError(f"model must be 'perceptron' or 'stack', got {self.model!r}")


# Mean, covariance, pending updates, their weights, clock and deviations of a posterior


class Found(NamedTuple):
    """A document that a scan found."""

    row: int
    why: int
    probability: float
    gain: float


@dataclass
class Counters:
    """Numbers of documents retrieved, of these queried or drawn, judged, and learned again."""

    retrieved: int = 0
    queried: int = 0
    judged_relevant: int = 0
    judged_irrelevant: int = 0
    retrained: int = 0


class Profile:
    """One reader's topic: posterior, words, counts, relevant documents and retrieval rule.

    `FilterEngine.add_profile` creates one from a query, words, examples, or nothing.

    Parameters
    ----------
    name, settings : of the profile
    prior, bias : mean weights of the initial words, by column, and of the bias

    Attributes
    ----------
    terms : the columns of its words, in the order of their weights; weight 0 is the bias
    relevant_counts, irrelevant_counts : numbers of judged documents that hold each word, by column
    n_relevant, n_irrelevant : numbers of judged documents
    kept : the relevant documents, oldest first
    pending : retrieved documents that are not judged yet, oldest first
    judgements : whether each judged document is relevant, by its id
    taught : the strength of each word that was taught since the start
    stack : the `ProfileStack`, or None with model="perceptron"
    paused : whether nothing is retrieved for it

    Examples
    --------
    >>> profile = Profile("grain", ProfileSettings(), prior={2: 1.0})
    >>> columns = np.array([0, 2], dtype=np.int32)
    >>> profile.judge(DocumentVector("1", columns, np.array([0.6, 0.8])), True)
    >>> profile.probability(DocumentVector("2", np.array([2], dtype=np.int32), np.ones(1))) > 0.5
    True
    """

    def __init__(
        self,
        name: str,
        settings: ProfileSettings,
        *,
        prior: Mapping[int, float] | None = None,
        bias: float = 0.0,
    ) -> None:
        self.name = name
        self.settings = settings
        self.strategy = settings.goal.adapt(settings.strategy)
        self.likelihood = FlipNoise(settings.kappa)
        self.dynamics = Dynamics(settings.prior_variance)
        given = dict(sorted((prior or {}).items()))
        self.terms: IntArray = np.fromiter(given, dtype=np.int32)
        self.posterior = _posterior([bias, *given.values()], settings.prior_variance)
        self.stack = ProfileStack.empty() if settings.model == "stack" else None
        self.lookup = _lookup(self.terms)
        self.relevant_counts: IntArray = np.zeros(0, dtype=np.int32)
        self.irrelevant_counts: IntArray = np.zeros(0, dtype=np.int32)
        self.n_relevant = 0
        self.n_irrelevant = 0
        self.kept: list[DocumentVector] = []
        self.pending: dict[str, DocumentVector] = {}
        self.judgements: dict[str, bool] = {}
        self.taught: dict[str, float] = {}
        self.paused = False
        self.counters = Counters()
        self._rule: FloatArray | None = None
        self.set_threshold(settings.goal.threshold([], []))

    @property
    def n_terms(self) -> int:
        """The number of words with a weight."""
        return len(self.terms)

    def set_threshold(self, threshold: float) -> None:
        """Set the probability of relevance above which documents are retrieved."""
        kappa = self.settings.kappa
        self.threshold = float(threshold)
        share = np.clip((self.threshold - kappa) / (1 - 2 * kappa), 0.0, 1.0)
        if self.stack is None:
            self._relevant_from = float(np.clip(ndtri(share), -_MAX_RATIO, _MAX_RATIO))
        else:
            self._relevant_from = _MAX_RATIO
        self._forget_rule()

    def set_terms(self, terms: IntArray) -> None:
        """Set the columns of the weights after the bias."""
        self.terms = terms
        self.lookup = _lookup(terms)
        self._forget_rule()

    # ---- the batch phase

    def learn_batch(self, X: SparseRows, y: BoolArray, ids: list[str] | None = None) -> None:
        """Learn labelled documents: select words, run epochs, keep the relevant documents.

        The goal chooses the threshold in the first epoch, where each document is scored before it
        is learned.
        """
        labels = np.asarray(y, dtype=bool)
        relevant = np.flatnonzero(labels)
        held = np.bincount(X.indices, minlength=X.shape[1])
        held_relevant = np.bincount(X[relevant].indices, minlength=X.shape[1])
        self._widen_counts(X.shape[1])
        self.relevant_counts[: len(held)] += held_relevant.astype(np.int32)
        self.irrelevant_counts[: len(held)] += (held - held_relevant).astype(np.int32)
        self.n_relevant += len(relevant)
        self.n_irrelevant += len(labels) - len(relevant)
        self._add_informative_terms()
        rows = restricted(X, self.lookup)
        signs = np.where(labels, 1.0, -1.0)
        epochs = range(self.settings.n_epochs)
        fields = [
            self.posterior.learn(rows, signs, self.likelihood, self.dynamics)[1] for _ in epochs
        ]
        names = [f"batch/{i}" for i in range(len(labels))] if ids is None else ids
        self.kept += [row_vector(X, i, names[i]) for i in relevant.tolist()]
        probabilities = self.likelihood.predictive(*fields[0])
        if self.stack is not None:
            probabilities = expit(self.stack.learn(X, _ratios(*fields[0]), labels))
        self.set_threshold(self.settings.goal.threshold(labels, probabilities))

    # ---- events

    def count_retrieval(self, *, queried: bool) -> None:
        """Count a retrieval, which may change the rule."""
        self.counters.retrieved += 1
        self.counters.queried += queried
        self._rule = None

    def hold(self, document: DocumentVector) -> None:
        """Keep a retrieved document until it is judged.

        The oldest is dropped when there are too many.
        """
        self.pending[document.id] = document
        if len(self.pending) > self.settings.max_pending:
            del self.pending[next(iter(self.pending))]

    def judge(self, document: DocumentVector, relevant: bool) -> None:
        """Learn from a judgement: count its words, add informative ones, update the posterior."""
        self.pending.pop(document.id, None)
        self.judgements[document.id] = relevant
        # Counts come first: the words of this document may be the informative ones.
        self._widen_counts(int(document.columns.max(initial=-1)) + 1)
        counts = self.relevant_counts if relevant else self.irrelevant_counts
        counts[document.columns] += 1
        self.n_relevant += relevant
        self.n_irrelevant += not relevant
        if self.stack is not None:
            # The stack learns the field as it was before this judgement, as it will be used.
            self.stack.learn(
                _whole_row(document), _ratios(*self.field(document)), np.array([relevant])
            )
        self._add_informative_terms()
        examples = [(document, relevant)]
        if relevant:
            self.counters.judged_relevant += 1
            self.kept.append(document)
        else:
            self.counters.judged_irrelevant += 1
            # Irrelevant documents are many: each is balanced by a relevant one (+rel).
            if self.strategy.retrain and self.kept:
                examples.append((self._past_relevant(), True))
        for example, label in examples:
            sign = np.array([1.0 if label else -1.0])
            self.posterior.learn(self._row(example), sign, self.likelihood, self.dynamics)
        self._forget_rule()

    def teach(self, word: str, columns: Sequence[int], strength: float) -> None:
        """Move the prior mean of a word's weights.

        The posterior moves as if the prior had always been so.

        A profile that has learned nothing yet also gets the bias of one that starts from words.
        """
        blank = not (self.n_terms or self.n_relevant or self.n_irrelevant)
        indices = np.asarray(columns, dtype=np.int32)
        self._join(indices[~np.isin(indices, self.terms)])
        change = np.zeros(1 + self.n_terms)
        change[0] = QUERY_BIAS if blank else 0.0
        change[self.lookup[indices]] = QUERY_STRENGTH * strength
        self.posterior.move_prior(change, self.dynamics)
        self.taught[word] = strength
        self._forget_rule()

    # ---- scores

    def field(self, document: DocumentVector) -> tuple[float, float]:
        """Compute mean and variance of a document's field."""
        mean, variance = self.posterior.fields(self._row(document))[:, 0]
        return float(mean), float(variance)

    def probability(self, document: DocumentVector) -> float:
        """Compute the probability that a document is relevant."""
        return float(self.probabilities(_whole_row(document))[0])

    def probabilities(self, X: SparseRows) -> FloatArray:
        """Compute the probability that each document is relevant."""
        if self.stack is not None:
            relevant: FloatArray = expit(self.scores(X))
            return relevant
        return self.likelihood.predictive(*self.posterior.fields(restricted(X, self.lookup)))

    def scores(self, X: SparseRows) -> FloatArray:
        """Compute mean over standard deviation of each field, or the log odds of the stack.

        They are in the order of the probabilities.
        """
        scores = np.empty(X.shape[0])
        for start in range(0, X.shape[0], _DOCUMENTS_PER_BLOCK):
            rows = X[start : start + _DOCUMENTS_PER_BLOCK]
            ratios = _ratios(*self.posterior.fields(restricted(rows, self.lookup)))
            scores[start : start + _DOCUMENTS_PER_BLOCK] = (
                ratios if self.stack is None else self.stack.log_odds(rows, ratios)
            )
        return scores

    def scan(
        self, rows: SparseRows, start: int, draws: FloatArray | None = None
    ) -> Found | None:
        """Find the next document to retrieve, from a row on; None at the end."""
        if self.stack is None:
            return self._scan(rows, start, draws)
        # A query before the next relevant document comes first; the posterior alone finds it.
        queries = self.strategy.query is not None
        asked = self._scan(rows, start, draws) if queries else None
        relevant = self._next_relevant(
            rows, start, rows.shape[0] if asked is None else asked.row + 1
        )
        if relevant is None:
            return asked
        return relevant

    def _next_relevant(self, rows: SparseRows, start: int, stop: int) -> Found | None:
        """Find the first document of some rows whose probability is above the threshold."""
        size = _FIRST_SCANNED_DOCUMENTS
        while start < stop:
            block = _rows_between(rows, start, min(start + size, stop))
            probabilities = self.probabilities(block)
            hits = np.flatnonzero(probabilities > self.threshold)
            if len(hits):
                field = self.posterior.fields(restricted(block[hits[:1]], self.lookup))
                gain = self.likelihood.expected_information_gain(
                    *field, kind=self.strategy.gain_used
                )
                return Found(
                    start + int(hits[0]),
                    RELEVANT,
                    float(probabilities[hits[0]]),
                    float(gain[0]),
                )
            start = start + size
            size = min(2 * size, _DOCUMENTS_PER_BLOCK)
        return None

    def _scan(self, rows: SparseRows, start: int, draws: FloatArray | None) -> Found | None:
        """Scan by the posterior alone; nothing counts as relevant where there is a stack."""
        documents = (rows.indptr, rows.indices, rows.data)
        likelihood = self.likelihood.parameters
        rule = self._rule_now()
        posterior = self._scanned_now()
        gain = GAINS[self.strategy.gain_used]
        uniform = _NO_DRAWS if draws is None else draws
        room = ScanRoom(*self._room, self._found, *self._region)
        row, why = scan(
            documents, start, self.lookup, 1.0, posterior, gain, likelihood, rule, uniform, room
        )
        if why == 0:
            return None
        return Found(row, why, float(self._found[0]), float(self._found[1]))

    def draws(self, ids: list[str]) -> FloatArray | None:
        """Draw the uniform number of each document; None if the strategy draws none."""
        if self.strategy.rate(self.counters.retrieved) <= 0:
            return None
        return np.array([hash_uniform(self.strategy.seed, self.name, name) for name in ids])

    # ---- parts

    def _past_relevant(self) -> DocumentVector:
        """Choose a relevant document to learn again: the next in turn, or one at random."""
        number = self.counters.retrained
        self.counters.retrained += 1
        half_life = self.strategy.half_life
        if half_life is None:
            return self.kept[number % len(self.kept)]
        ages = np.arange(len(self.kept) - 1, -1, -1)
        shares = np.cumsum(0.5 ** (ages / half_life))
        drawn = hash_uniform(self.strategy.seed, self.name, "past", number) * shares[-1]
        return self.kept[
            min(int(np.searchsorted(shares, drawn, side="right")), len(self.kept) - 1)
        ]

    def _widen_counts(self, n_columns: int) -> None:
        more = n_columns - len(self.relevant_counts)
        if more > 0:
            # Over-allocate, so that a few new words per document do not copy the counts each time.
            more += len(self.relevant_counts) // 8
            self.relevant_counts = np.pad(self.relevant_counts, (0, more))
            self.irrelevant_counts = np.pad(self.irrelevant_counts, (0, more))

    def _add_informative_terms(self) -> None:
        """Add every word that passes the likelihood-ratio test (section 4.2.1), at the prior."""
        counts = (
            self.relevant_counts,
            self.irrelevant_counts,
            self.n_relevant,
            self.n_irrelevant,
        )
        table = _n_log_n(self.n_relevant + self.n_irrelevant)
        columns = informative_terms(*counts, self.lookup, table, self.settings.cut)
        if self.settings.max_terms is not None:
            columns = columns[: max(self.settings.max_terms - self.n_terms, 0)]
        self._join(columns)

    def _join(self, columns: IntArray) -> None:
        """Give words a weight, at the prior."""
        if len(columns):
            self.posterior.grow(1 + self.n_terms + len(columns), self.dynamics)
            self.set_terms(np.concatenate([self.terms, columns]))

    def _row(self, document: DocumentVector) -> SparseRows:
        columns = document.columns
        known = columns < len(self.lookup)
        local = self.lookup[columns[known]]
        kept = local >= 0
        return matrix_of(
            np.array([0, 1 + np.count_nonzero(kept)], dtype=np.int64),
            np.concatenate([np.zeros(1, dtype=np.int32), local[kept]]),
            np.concatenate([np.ones(1), document.weights[known][kept]]),
            1 + self.n_terms,
        )

    def _forget_rule(self) -> None:
        self._rule = None
        self._scanned: ScannedPosterior | None = None

    def _rule_now(self) -> FloatArray:
        """Return the retrieval rule after the documents retrieved so far."""
        if self._rule is None:
            n = self.counters.retrieved
            theta = self.strategy.theta(n)
            reach = -1.0
            if self.strategy.query in ("gain", "region"):
                reach = min(
                    query_reach(self.settings.kappa, self.strategy.gain_used, theta), _MAX_RATIO
                )
            self._rule = np.array([self._relevant_from, reach, theta, self.strategy.rate(n)])
        return self._rule

    def _scanned_now(self) -> ScannedPosterior:
        """Return what a scan reads of the posterior, and its work space."""
        if self._scanned is None:
            arrays = self.posterior.to_content()
            covariance, pending, weights, clock = (
                arrays[k] for k in ("covariance", "pending", "weights", "clock")
            )
            deviations = _deviations(covariance, pending, weights, clock)
            self._scanned = ScannedPosterior(
                arrays["mean"], covariance, pending, weights, clock, deviations
            )
            self._found = np.zeros(2)
            self._room = np.empty(1 + self.n_terms, dtype=np.int32), np.empty(1 + self.n_terms)
            self._region = self._region_now()
        return self._scanned

    def _region_now(self) -> tuple[FloatArray, FloatArray]:
        """Return the region as a scan reads it: C r / s_r and h_r / s_r of its documents.

        It is empty without a region.
        """
        documents = self.kept[-REGION_SIZE:] if self.strategy.query == "region" else []
        rows = [self._row(document) for document in documents]
        if not rows:
            return np.zeros((0, 0)), np.zeros(0)
        covariance = self.posterior.covariance()
        products = np.array([row.data @ covariance[row.indices] for row in rows])
        means, variances = np.array([self.posterior.fields(row)[:, 0] for row in rows]).T
        deviations = np.sqrt(variances)
        return products / deviations[:, np.newaxis], means / deviations


def row_vector(X: SparseRows, row: int, name: str) -> DocumentVector:
    """Copy one row as a document."""
    part = slice(X.indptr[row], X.indptr[row + 1])
    return DocumentVector(name, X.indices[part].astype(np.int32), X.data[part].copy())


def _whole_row(document: DocumentVector) -> SparseRows:
    """Make a document over all columns."""
    return stacked([document], int(document.columns.max(initial=0)) + 1)


def _rows_between(X: SparseRows, start: int, stop: int) -> SparseRows:
    """Take some rows, which share their entries with X."""
    part = slice(X.indptr[start], X.indptr[stop])
    return matrix_of(
        X.indptr[start : stop + 1] - X.indptr[start], X.indices[part], X.data[part], X.shape[1]
    )


def _ratios(means: Any, variances: Any) -> FloatArray:
    """Compute mean over standard deviation of fields."""
    ratios: FloatArray = np.atleast_1d(means) / np.sqrt(np.atleast_1d(variances))
    return ratios


def _posterior(mean: list[float], variance: float) -> FullPosterior:
    prior = FullPosterior.at_prior(len(mean), Dynamics(variance)).to_content()
    return FullPosterior(**{**prior, "mean": np.array(mean, dtype=np.float64)})


def _lookup(terms: IntArray) -> IntArray:
    lookup = np.full(int(terms.max(initial=-1)) + 1, -1, dtype=np.int32)
    lookup[terms] = np.arange(1, len(terms) + 1, dtype=np.int32)
    return lookup


def _deviations(
    covariance: FloatArray, pending: FloatArray, weights: FloatArray, clock: FloatArray
) -> FloatArray:
    """Compute standard deviations of the weights.

    The smallest increase over rounding keeps them a bound.
    """
    count = int(clock[0])
    waiting = weights[:count] @ pending[:count] ** 2
    variances = clock[1] * (np.diagonal(covariance) + waiting) + clock[2]
    deviations: FloatArray = np.sqrt(np.maximum(variances, 0.0)) * (1 + 1e-12)
    return deviations


def restricted(X: SparseRows, lookup: IntArray) -> SparseRows:
    """Restrict rows to a profile's weights, the bias first; `lookup` is the profile's."""
    wide = np.full(X.shape[1], -1, dtype=np.int32)
    wide[: len(lookup)] = lookup[: X.shape[1]]
    local = wide[X.indices]
    kept = local >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr] + np.arange(X.shape[0] + 1)
    columns = np.zeros(ends[-1], dtype=np.int32)
    values = np.ones(ends[-1])
    indices = np.delete(np.arange(ends[-1]), ends[:-1])
    columns[indices], values[indices] = local[kept], X.data[kept]
    return matrix_of(ends.astype(np.int64), columns, values, 1 + int(lookup.max(initial=0)))


def _n_log_n(n: int) -> FloatArray:
    """Return the values k ln k for k = 0, 1, ... up to n at least."""
    return _table(1 << n.bit_length())


@cache
def _table(size: int) -> FloatArray:
    numbers = np.arange(size, dtype=np.float64)
    values: FloatArray = xlogy(numbers, numbers)
    return values
