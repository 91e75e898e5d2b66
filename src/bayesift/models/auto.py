"""The default learner: a few strong linear models, stacked by what they say of documents they have not seen."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.folds import deal_folds
from bayesift.models.base.categories import models_of
from bayesift.models.ensemble.calibration import BetaCalibration
from bayesift.models.ensemble.members import (
    Hyperplanes,
    LogisticMember,
    Member,
    NaiveBayesMember,
    NBLogisticMember,
    PerceptronMember,
    Progress,
    ProgressCounter,
    Sample,
    Settings,
    SoftmaxMember,
    SVMMember,
    as_new,
)
from bayesift.models.ensemble.stacking import LogOddsMixin, stacking_loss, stacking_weights
from bayesift.models.linear import GaussianPrior
from bayesift.state import expect_array, storable
from bayesift.validation import check_sample_weight, check_targets, check_terms

Effort = Literal["quick", "normal", "thorough"]

_INTERCEPT = GaussianPrior(variance=10.0)
_FOLDS: dict[str, int] = {"quick": 3, "normal": 5, "thorough": 10}
_CELLS = 300_000  # documents x categories that weights are fitted to, at most; they are few numbers
_KEPT_CELLS = 20_000_000  # documents x categories of held-out probabilities that are kept, at most
_FEWEST = 2_000  # documents that weights are fitted to, however many categories there are
_NEGLIGIBLE = 1e-3  # share of the score below which a member is left out
_WORTH_A_TRY = 1.02  # loss with word pairs relative to that without, up to which more members are given them
_WORTH_PAIRS = 0.99  # the same of the whole stack, up to which the model uses them


@dataclass(frozen=True)
class _Candidate:
    """A member, and whether it uses word pairs too where there are any."""

    member: Member
    pairs: bool = False


def _candidates(effort: Effort, *, exclusive: bool, pairs: bool) -> list[_Candidate]:
    """The candidates, the most useful first; classes that exclude one another share a softmax model."""
    main = SoftmaxMember if exclusive else LogisticMember
    if effort == "quick":
        return [_Candidate(member) for member in (main(30.0), NaiveBayesMember(0.5), NaiveBayesMember(0.9))]
    words: list[Member] = [
        main(100.0),
        NaiveBayesMember(0.5),
        NaiveBayesMember(0.9),
        LogisticMember(3.0),
        NBLogisticMember(10.0),
    ]
    both: list[Member] = [main(100.0), NaiveBayesMember(0.5), NBLogisticMember(10.0)]
    if effort == "thorough":
        words += [main(10.0), SVMMember(1.0), SVMMember(0.3), NBLogisticMember(10.0, 0.5), PerceptronMember()]
        both += [LogisticMember(3.0), main(10.0), SVMMember(1.0)]
    return [_Candidate(member) for member in words] + [_Candidate(member, pairs=True) for member in both if pairs]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the model says of training documents by members that were fitted without them.

    Parameters
    ----------
    documents : their places in the training documents
    labels : documents x categories, boolean; one column for two classes
    probabilities : in the same shape, by stacking weights that were fitted without the documents
    weights : one per document
    """

    documents: Array
    labels: Array
    probabilities: Array
    weights: Array


@storable("auto")
class AutoClassifier(LogOddsMixin, ClassifierMixin, BaseEstimator):
    """The default learner: a few linear models, stacked by their scores of documents that they were fitted without.

        z(d, c) = sum_m w_m s_m(d, c) + b,    w_m >= 0

    The members are logistic regressions under a weak and a strong Gaussian prior, one of them a softmax model where
    classes exclude one another, logistic regression with the prior of naive Bayes, and naive Bayes itself. All are
    fitted to shared folds. Their weights are those of a `StackedClassifier` with weights of at least 0, which also
    calibrate: z are log odds, or for classes the logarithms of probabilities. Where the stack is not better than the
    best calibrated member, by the loss of documents that neither members nor weights have seen, that member is the
    model. In the end it is one linear model, as quick as any. Meant for term weights such as `sublinear-tf-idf`.

    Parameters
    ----------
    effort : "quick", "normal" or "thorough": how many members and folds
    budget : seconds to stay within, by fewer members; the result then depends on the speed of the machine
    random_state : seed of the folds
    n_jobs : threads over categories; -1 for all cores
    progress : called with the number of fits done and their total

    Attributes
    ----------
    members_, weights_, offset_ : the members of the model, their weights in the score, and b
    uses_pairs_ : whether it uses columns of several words
    calibration_ : what corrects the log odds of an indicator matrix; None for class labels, whose weights calibrate
    shares_ : the root mean square that each member adds to the score
    held_out_ : the held-out probabilities, a `HeldOut`; None in a model that was loaded, or where there were none
    classes_, multilabel_, coef_, intercept_ : as in `LinearScoresMixin`

    References
    ----------
    Wolpert (1992), Stacked generalization. Breiman (1996), Stacked regressions (weights of at least 0). Wang & Manning
    (2012), Baselines and bigrams.

    Examples
    --------
    >>> X, y = [[2, 1, 0], [1, 0, 0], [0, 1, 3], [0, 0, 1]], ["grain", "grain", "crude", "crude"]
    >>> model = AutoClassifier().fit(X, y)
    >>> model.predict([[1, 0, 0], [0, 0, 1]]).tolist()
    ['grain', 'crude']
    """

    FITTED = (*LogOddsMixin.FITTED, "members_", "weights_", "shares_", "offset_", "uses_pairs_", "calibration_")

    members_: tuple[Member, ...]
    weights_: Array
    shares_: Array
    offset_: float
    uses_pairs_: bool
    calibration_: BetaCalibration | None
    held_out_: HeldOut | None

    def __init__(
        self,
        *,
        effort: Effort = "normal",
        budget: float | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.effort = effort
        self.budget = budget
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None, ngram_lengths: Any = None) -> Self:
        """Compare the members on documents held out, then fit those of the model to all documents.

        Documents of weight 0 are left out. `ngram_lengths` has the number of words that each column joins; columns of
        several words are used only where they lower the loss. Without it all columns are words.
        """
        self._check_parameters()
        start = time.perf_counter()
        targets = check_targets(y)
        weights = check_sample_weight(sample_weight, targets.n_documents, some_positive=True)
        rows = check_terms(self, X, n_documents=targets.n_documents)
        labels = sparse.csr_array(models_of(targets).T)
        exclusive = not targets.multilabel and labels.shape[1] > 2
        words = _words_of(ngram_lengths, rows.shape[1])
        size = _typical_length(rows if words is None else rows[:, words])
        used = np.flatnonzero(weights)
        sample = Sample(rows / size, labels, weights).take(used)
        deadline = None if self.budget is None else start + self.budget
        candidates = _candidates(self.effort, exclusive=exclusive, pairs=words is not None)
        work = _Work(candidates, sample, words, self._settings(), _FOLDS[self.effort], self.progress, deadline)
        stacker = work.hold_out(exclusive=exclusive)
        choice = stacker.choose()
        kept = np.flatnonzero(choice.weights)
        linear = work.combine(kept, choice.weights[kept])
        self.members_ = tuple(candidates[place].member for place in kept)
        self.uses_pairs_ = any(candidates[place].pairs for place in kept)
        self.weights_, self.shares_, self.offset_ = choice.weights[kept], choice.shares[kept], choice.offset
        self.calibration_, scores = None, choice.scores
        if targets.multilabel and len(scores):
            self.calibration_, scores = stacker.calibrate(scores)
        self.held_out_ = _kept(scores, stacker.held_out, used, exclusive=exclusive)
        return self._set_hyperplanes(targets, linear.weights / size, linear.intercepts + self.offset_)

    def contributions(self, X: Any, category: Any, *, against: Any = None) -> tuple[sparse.csr_array, Array]:
        """What each term adds to the score of a category, and the remainder: the intercept and the calibration."""
        terms, intercepts = super().contributions(X, category, against=against)
        if self.calibration_ is None:
            return terms, intercepts
        whole = self._scores(X)[:, self._place(category)[0]]
        return terms, whole - terms.sum(axis=1)

    def _scores(self, X: Any) -> Array:
        scores = super()._scores(X)
        return scores if self.calibration_ is None else self.calibration_(scores)

    def keep_columns(self, columns: Array) -> Self:
        """Forget all other columns, whose weights are 0."""
        self.coef_, self.n_features_in_ = self.coef_[:, columns], len(columns)
        return self

    def describe(self) -> str:
        """The kinds of members in words, each with its share of the score; `members_` has them all.

        Examples
        --------
        >>> AutoClassifier().fit([[1, 0], [0, 1]], ["grain", "crude"]).describe()
        'logistic regression'
        """
        check_is_fitted(self)
        text = self.members_[0].kind if len(self.members_) == 1 else f"a stack of {self._shares_of_kinds()}"
        return f"{text}; words and word pairs" if self.uses_pairs_ else text

    def _shares_of_kinds(self) -> str:
        of_kind: dict[str, float] = defaultdict(float)
        for member, share in zip(self.members_, 100 * self.shares_ / self.shares_.sum(), strict=True):
            of_kind[member.kind] += share
        largest = sorted(of_kind.items(), key=lambda kind: -kind[1])
        return ", ".join(f"{kind} {share:.0f}%" for kind, share in largest if share >= 0.5)

    def _settings(self) -> Settings:
        return Settings(1e-2, self.random_state, self.n_jobs, _INTERCEPT)

    def _check_parameters(self) -> None:
        if self.effort not in get_args(Effort):
            raise ValueError(f"effort must be one of {', '.join(get_args(Effort))}, got {self.effort!r}")
        if self.budget is not None and not self.budget > 0:
            raise ValueError(f"budget must be a number of seconds above 0, got {self.budget!r}")

    def _post_load(self) -> None:
        super()._post_load()
        self._check_parameters()
        for name in ("weights_", "shares_"):
            expect_array(getattr(self, name), name, np.float64, (len(self.members_),))
        if not all(isinstance(member, Member) for member in self.members_):
            raise DataError("its members are not models of an ensemble")
        self.held_out_ = None


def _kept(scores: Array, of: _Scores, places: Array, *, exclusive: bool) -> HeldOut | None:
    if not len(scores):
        return None
    probabilities = softmax(scores, axis=1) if exclusive else expit(scores)
    return HeldOut(places[of.documents], of.labels, probabilities, of.weights)


def _words_of(ngram_lengths: Any, n_columns: int) -> Array | None:
    """The columns of single words; None where all are."""
    if ngram_lengths is None:
        return None
    lengths = np.asarray(ngram_lengths)
    if lengths.shape != (n_columns,):
        raise ValueError(f"ngram_lengths must be one number for each of the {n_columns} columns")
    words = np.flatnonzero(lengths == 1)
    return words if 0 < len(words) < n_columns else None


def _typical_length(rows: sparse.csr_array) -> float:
    """The root mean square length of documents that have terms: priors are stated for documents of length one."""
    n_documents = np.count_nonzero(np.diff(rows.indptr))
    return float(np.sqrt(rows.data @ rows.data / n_documents)) if n_documents else 1.0


@dataclass(frozen=True, eq=False)
class _Scores:
    """Out-of-fold scores, members x documents x categories; which documents and what they are."""

    scores: Array
    documents: Array
    labels: Array
    weights: Array


class _Work:
    """Fits candidates to folds, then those that are kept to all documents, within the time there is."""

    def __init__(
        self,
        candidates: Sequence[_Candidate],
        sample: Sample,
        words: Array | None,
        settings: Settings,
        n_folds: int,
        progress: Progress | None,
        deadline: float | None,
    ) -> None:
        self.candidates, self.whole, self.words, self.settings = candidates, sample, words, settings
        self.of_words = sample if words is None else Sample(sample.rows[:, words], sample.labels, sample.weights)
        self.in_pairs = np.full(sample.rows.shape[1], words is not None)
        self.in_pairs[words if words is not None else []] = False
        self.n_folds = min(n_folds, len(sample.weights))
        self.counter = ProgressCounter(progress, len(candidates) * (self.n_folds + 1))
        self.deadline, self.promised = deadline, 0.0  # seconds that the last fits of the candidates so far will take

    def hold_out(self, *, exclusive: bool) -> _Stacker:
        """The scores of each document by members that were fitted without it; candidates that are not tried score 0.

        Where documents and categories are very many, only some documents are scored.
        """
        labels = self.whole.labels.toarray() != 0
        folds = self._folds(labels)
        documents = np.flatnonzero(folds >= 0)
        most = max(_FEWEST, _KEPT_CELLS // labels.shape[1])
        if len(documents) > most:
            chosen = np.random.default_rng(self.settings.random_state).permutation(documents)[:most]
            documents = np.sort(chosen)
        scores = np.zeros((len(self.candidates), len(documents), labels.shape[1]))
        held_out = _Scores(scores, documents, labels[documents], self.whole.weights[documents])
        stacker = _Stacker(held_out, self.candidates, exclusive=exclusive, random_state=self.settings.random_state)
        for place, candidate in enumerate(self.candidates):
            if candidate.pairs and not stacker.pairs_may_pay():
                break
            if not self._score(candidate, folds, documents, scores[place], first=place == 0):
                scores[place] = 0.0
                break
        return stacker

    def _folds(self, labels: Array) -> Array:
        if self.n_folds < 2:
            return np.full(len(labels), -1)
        classes = labels if labels.shape[1] > 1 else np.hstack([labels, ~labels])
        return deal_folds(classes, n_folds=self.n_folds, random_state=self.settings.random_state)

    def _sample(self, candidate: _Candidate) -> Sample:
        return self.whole if candidate.pairs else self.of_words

    def _score(self, candidate: _Candidate, folds: Array, documents: Array, out: Array, *, first: bool) -> bool:
        """Write the out-of-fold scores of a candidate; False, and no more fits, when the time would not suffice."""
        begin, done, sample = time.perf_counter(), 0, self._sample(candidate)
        for fold in range(self.n_folds):
            part = np.flatnonzero(folds[documents] == fold)
            if not len(part):
                continue
            rest = sample.take(np.flatnonzero(folds != fold))
            plane = self.counter.count(candidate.member.fit(rest, self.settings))
            in_pairs = self.in_pairs if candidate.pairs else None
            out[part] = plane.scores(as_new(sample.rows[documents[part]], rest.rows, in_pairs))
            done += 1
            each = (time.perf_counter() - begin) / done
            left = each * (self.n_folds - done + 1) + self.promised
            if self.deadline is not None and not first and time.perf_counter() + left > self.deadline:
                return False
        self.promised += (time.perf_counter() - begin) / max(done, 1)
        return True

    def combine(self, places: Array, weights: Array) -> Hyperplanes:
        """The weighted sum of candidates fitted to all documents, over all columns."""
        shape = self.whole.labels.shape[1], self.whole.rows.shape[1]
        total, intercepts = np.zeros(shape), np.zeros(shape[0])
        for place, weight in zip(places, weights, strict=True):
            candidate = self.candidates[place]
            plane = candidate.member.fit(self._sample(candidate), self.settings)
            assert isinstance(plane, Hyperplanes)
            columns = slice(None) if candidate.pairs or self.words is None else self.words
            total[:, columns] += weight * plane.weights
            intercepts += weight * plane.intercepts
            self.counter.count(plane)
        self.counter.finish()
        return Hyperplanes(total, intercepts)


@dataclass(frozen=True, eq=False)
class _Choice:
    """The weights of members, 0 for those that are not in the model; cross-fitted scores, and their loss."""

    weights: Array
    shares: Array  # of members in the size of the score
    offset: float
    scores: Array
    loss: float


class _Stacker:
    """Weights of members by their out-of-fold scores, judged by documents that the weights were fitted without."""

    def __init__(
        self, held_out: _Scores, candidates: Sequence[_Candidate], *, exclusive: bool, random_state: int | None
    ) -> None:
        self.held_out, self.exclusive = held_out, exclusive
        self.pairs = np.array([candidate.pairs for candidate in candidates])
        n_documents, n_categories = held_out.labels.shape
        order = np.random.default_rng(random_state).permutation(n_documents)
        self.halves = order[::2], order[1::2]
        self.most = max(_FEWEST, _CELLS // n_categories)

    @property
    def tried(self) -> Array:
        """The candidates with scores."""
        return np.flatnonzero([np.any(scores) for scores in self.held_out.scores])

    def pairs_may_pay(self) -> bool:
        """Whether the first candidate with word pairs, once tried, is about as good as the same without them."""
        first = int(np.flatnonzero(self.pairs)[0])
        if not np.any(self.held_out.scores[first]):
            return True
        return self.judge(np.array([first])).loss < _WORTH_A_TRY * self.judge(np.array([0])).loss

    def choose(self) -> _Choice:
        """The stack of all members or only of those without word pairs, or the best member where that is as good."""
        tried = self.tried
        if not len(tried):
            weights = np.append(1.0, np.zeros(len(self.pairs) - 1))
            return _Choice(weights, weights, 0.0, self.held_out.scores[0], np.nan)
        words = tried[~self.pairs[tried]]
        chosen, best = words, self.judge(words)
        if len(words) < len(tried):
            richer = self.judge(tried)
            if richer.loss < _WORTH_PAIRS * best.loss:
                chosen, best = tried, richer
        members = [self.judge(np.array([place])) for place in chosen] if len(chosen) > 1 else []
        return min([best, *members], key=lambda choice: choice.loss)

    def judge(self, places: Array) -> _Choice:
        """The weights of some members, and their scores with weights fitted to the other half of the documents."""
        scores = np.empty(self.held_out.labels.shape)
        for half, other in (self.halves, self.halves[::-1]):
            scores[half] = self._scores(*self._fit(places, other), half)
        labels, importance = self.held_out.labels, self.held_out.weights
        loss, _ = stacking_loss(scores, labels, importance, exclusive=self.exclusive)
        weights, offset = self._fit(places, np.concatenate(self.halves))
        shares = weights * _sizes(self.held_out.scores)
        return _Choice(weights, shares, offset, scores, loss)

    def calibrate(self, scores: Array) -> tuple[BetaCalibration, Array]:
        """The calibration of cross-fitted scores, and the scores calibrated by the other half of the documents."""
        calibrated = np.empty_like(scores)
        for half, other in (self.halves, self.halves[::-1]):
            calibrated[half] = self._calibration(scores, other)(scores[half])
        return self._calibration(scores, np.concatenate(self.halves)), calibrated

    def _calibration(self, scores: Array, documents: Array) -> BetaCalibration:
        chosen = np.sort(documents[: self.most])
        return BetaCalibration.fit(scores[chosen], self.held_out.labels[chosen], self.held_out.weights[chosen])

    def _fit(self, places: Array, documents: Array) -> tuple[Array, float]:
        """Weights and offset; a member that hardly moves the score has the weight 0."""
        chosen = np.sort(documents[: self.most])
        scores = self.held_out.scores[np.ix_(places, chosen)]
        scales = _sizes(scores)
        scales[scales == 0.0] = 1.0
        scores /= scales[:, np.newaxis, np.newaxis]
        labels, importance = self.held_out.labels[chosen], self.held_out.weights[chosen]
        found, offset = stacking_weights(scores, labels, importance, exclusive=self.exclusive)
        found[found < _NEGLIGIBLE * found.sum()] = 0.0
        weights = np.zeros(len(self.pairs))
        weights[places] = found / scales
        return weights, offset

    def _scores(self, weights: Array, offset: float, documents: Array) -> Array:
        places = np.flatnonzero(weights)
        scores: Array = np.tensordot(weights[places], self.held_out.scores[np.ix_(places, documents)], 1) + offset
        return scores


def _sizes(scores: Array) -> Array:
    """The root mean square of the scores of each member; 0 without documents."""
    sizes: Array = np.sqrt(np.sum(scores**2, axis=(1, 2)) / max(scores[0].size, 1))
    return sizes
