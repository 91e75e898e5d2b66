"""Stack models: score documents by members fitted without them, and fit weights to the scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp, softmax

from bayesift.arrays import BoolArray, FloatArray, IntArray, inner
from bayesift.features import BlockKind
from bayesift.folds import deal_folds, units_of
from bayesift.models.ensemble.members import (
    Fitted,
    Hyperplanes,
    Member,
    NotLinear,
    Sample,
    Settings,
)
from bayesift.models.linear.mixed_matrix import dense_columns

Progress = Callable[[int, int], None]
Corrected = TypeVar("Corrected", bound=Callable[[FloatArray], FloatArray])

# Weights are few numbers: so many documents x categories are enough to fit them.
_MAX_CELLS = 300_000
# However many categories there are, weights are fitted to so many documents.
_MIN_DOCUMENTS = 2_000
# The cost of an entry of a dense column, which BLAS multiplies, relative to that of another.
_DENSE_COST = 0.1
# A member that adds less than this share to the score is left out.
_NEGLIGIBLE_SHARE = 1e-3


def most_documents(n_categories: int, cells: int = _MAX_CELLS) -> int:
    """Return how many documents are enough for so many cells, documents x categories."""
    return max(_MIN_DOCUMENTS, cells // n_categories)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A member, and the kinds of blocks whose columns it uses."""

    member: Member
    kinds: tuple[BlockKind, ...] = ("words", "pairs")


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Scores of documents by members that were fitted without them.

    Parameters
    ----------
    scores : members x documents x categories
    documents : the positions of the documents in the sample
    labels : documents x categories, boolean
    weights : one per document
    groups : the group of each document; None if each is on its own
    """

    scores: FloatArray
    documents: IntArray
    labels: BoolArray
    weights: FloatArray
    groups: IntArray | None = None


class ProgressCounter:
    """Counts the members that have been fitted and reports each to `progress`."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress = progress
        self.total = total
        self.done = 0

    def count(self) -> None:
        """Report one more fitted member."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)

    def finish(self) -> None:
        """Report that nothing is left to do, where fewer members were fitted than planned."""
        if self.progress is not None and self.done < self.total:
            self.progress(self.total, self.total)


class CrossFitting:
    """Fits candidates to folds, then the chosen ones to all documents, within the time there is.

    Every document is held out once, except those that `deal_folds` keeps in training for a rare
    category.

    Parameters
    ----------
    candidates : the members and their columns
    sample : the documents
    settings : what the members share
    n_folds : how many folds; below 2 nothing is held out
    enough : documents to score, at most
    some_folds : score all documents of as many folds as hold `enough`, and keep the other folds in
        training; otherwise some documents of each fold are scored
    progress : called with the number of fits done and their total
    deadline : what `time.perf_counter` will say when the fits should be done
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        sample: Sample,
        settings: Settings,
        *,
        n_folds: int,
        enough: int,
        some_folds: bool = False,
        progress: Progress | None = None,
        deadline: float | None = None,
    ) -> None:
        self.candidates = candidates
        self.whole = sample
        self.settings = settings
        self.deadline = deadline
        # Samples that several candidates share, by the kinds of their blocks.
        self.parts: dict[tuple[BlockKind, ...], Sample] = {}
        labels = sample.labels.toarray() != 0
        self.folds = _folds_of(labels, n_folds, settings.random_state, sample.groups)
        if some_folds:
            self._join_training_after(enough)
        documents = self._held_out(enough)
        scores = np.zeros((len(candidates), len(documents), labels.shape[1]))
        groups = None if sample.groups is None else sample.groups[documents]
        self.held_out = OutOfFold(
            scores, documents, labels[documents], sample.weights[documents], groups
        )
        self.used_folds = np.unique(self.folds[documents])
        self.counter = ProgressCounter(progress, len(candidates) * (len(self.used_folds) + 1))
        # Seconds that fitting the candidates so far to all documents will take.
        self.promised_seconds = 0.0
        # Seconds per unit of size, by the type of the member.
        self.paces: dict[type[Member], float] = {}

    def score(self, index: int) -> bool:
        """Write the scores of a candidate; False, and scores of 0, when the time would not suffice.

        That is judged before the first fit by the pace of such members so far, then by the fits
        themselves. The first candidate is always scored.
        """
        begin = time.perf_counter()
        member = self.candidates[index].member
        sample = self._sample(self.candidates[index])
        size = _size_of(sample)
        n_folds = len(self.used_folds)
        is_first = index == 0
        expected_seconds = size * self.paces.get(type(member), 0.0) * (n_folds + 1)
        if not is_first and self._is_late(expected_seconds):
            return False
        seconds_per_fit = 0.0
        for done, fold in enumerate(self.used_folds, 1):
            self._score_fold(index, fold)
            seconds_per_fit = (time.perf_counter() - begin) / done
            if not is_first and self._is_late(seconds_per_fit * (n_folds - done + 1)):
                self.held_out.scores[index] = 0.0
                return False
        self.promised_seconds += seconds_per_fit
        self.paces[type(member)] = seconds_per_fit / size
        return True

    def _score_fold(self, index: int, fold: int) -> None:
        held_out = np.flatnonzero(self.folds[self.held_out.documents] == fold)
        self.held_out.scores[index, held_out] = self._scores_by(
            self.candidates[index],
            np.flatnonzero(self.folds != fold),
            self.held_out.documents[held_out],
        )

    def _scores_by(
        self, candidate: Candidate, training: IntArray, documents: IntArray
    ) -> FloatArray:
        """Return the scores of documents by a candidate that is fitted to other documents."""
        sample = self._sample(candidate)
        learned = sample.take(training)
        fitted = self._fit(candidate.member, learned)
        unseen = sample.design.take(documents)
        return fitted.scores_checked(unseen.as_new_to(learned.rows))

    def scores_without(self, documents: IntArray, weights: FloatArray) -> FloatArray:
        """Return the weighted scores of documents by candidates fitted to all other documents."""
        others = np.setdiff1d(np.arange(self.whole.rows.shape[0]), documents)
        scores = np.zeros((len(documents), self.whole.labels.shape[1]))
        for weight, candidate in zip(weights, self.candidates, strict=True):
            if weight != 0.0:
                scores += weight * self._scores_by(candidate, others, documents)
        return scores

    def _is_late(self, seconds: float) -> bool:
        """Whether so many more seconds, and the last fits, end after the deadline."""
        if self.deadline is None:
            return False
        return time.perf_counter() + seconds + self.promised_seconds > self.deadline

    def combine(self, weights: FloatArray) -> tuple[Hyperplanes, list[NotLinear]]:
        """Fit the candidates whose weight is not 0 to all documents.

        The linear ones become one set of hyperplanes over all columns; the others come as they are.
        """
        shape = self.whole.labels.shape[1], self.whole.rows.shape[1]
        total = np.zeros(shape)
        intercepts = np.zeros(shape[0])
        others: list[NotLinear] = []
        for weight, candidate in zip(weights, self.candidates, strict=True):
            if weight == 0.0:
                continue
            fitted = self._fit(candidate.member, self._sample(candidate))
            if isinstance(fitted, Hyperplanes):
                columns = self.whole.design.columns_of(candidate.kinds)
                total[:, columns] += weight * fitted.weights
                intercepts += weight * fitted.intercepts
            else:
                others.append(fitted)
        self.counter.finish()
        return Hyperplanes(total, intercepts), others

    def _fit(self, member: Member, sample: Sample) -> Fitted:
        fitted = member.fit(sample, self.settings)
        self.counter.count()
        return fitted

    def _sample(self, candidate: Candidate) -> Sample:
        if candidate.kinds not in self.parts:
            self.parts[candidate.kinds] = self.whole.only(candidate.kinds)
        return self.parts[candidate.kinds]

    def _join_training_after(self, enough: int) -> None:
        """Hold out only the first folds that together have enough documents."""
        sizes = np.bincount(self.folds[self.folds >= 0])
        n_needed = int(np.searchsorted(np.cumsum(sizes), enough)) + 1
        self.folds[self.folds >= n_needed] = -1

    def _held_out(self, enough: int) -> IntArray:
        documents = np.flatnonzero(self.folds >= 0)
        if len(documents) <= enough:
            return documents
        random = np.random.default_rng(self.settings.random_state)
        return np.sort(random.permutation(documents)[:enough])


def _size_of(sample: Sample) -> float:
    """Return what the time of a fit is about proportional to: entries, dense ones for less."""
    counts = np.bincount(sample.rows.indices, minlength=sample.rows.shape[1])
    dense = counts[dense_columns(sample.rows)].sum()
    return float(1 + sample.rows.shape[0] + counts.sum() - (1.0 - _DENSE_COST) * dense)


def _folds_of(
    labels: BoolArray, n_folds: int, random_state: int | None, groups: IntArray | None
) -> IntArray:
    n_units = len(labels) if groups is None else len(np.unique(groups))
    n_folds = min(n_folds, n_units)
    if n_folds < 2:
        return np.full(len(labels), -1)
    classes = labels
    if labels.shape[1] == 1:
        classes = np.hstack([labels, ~labels])
    return deal_folds(classes, n_folds=n_folds, random_state=random_state, groups=groups)


@dataclass(frozen=True, eq=False)
class StackChoice:
    """A stack, as documents that its weights were fitted without judge it.

    Parameters
    ----------
    weights : of members, 0 for those that are not in the stack
    shares : the root mean square that each member adds to the score
    offset : added to every score
    scores : cross-fitted, documents x categories
    loss : of these scores
    """

    weights: FloatArray
    shares: FloatArray
    offset: float
    scores: FloatArray
    loss: float


class Stacker:
    """Fits weights of members to out-of-fold scores, and judges them by other documents.

    Parameters
    ----------
    held_out : the scores
    exclusive : whether each document has exactly one of several classes
    signed : whether weights may be negative
    scaled : fit the weights to scores divided by the root mean square of their member
    random_state : seed of the halves of the documents
    """

    def __init__(
        self,
        held_out: OutOfFold,
        *,
        exclusive: bool,
        signed: bool = False,
        scaled: bool = True,
        random_state: int | None = 0,
    ) -> None:
        self.held_out = held_out
        self.exclusive = exclusive
        self.signed = signed
        self.scaled = scaled
        self.order = _random_order(held_out, random_state)
        self.halves = _halves_of(self.order, held_out.groups)
        self.most = most_documents(held_out.labels.shape[1])

    def judge(self, members: Sequence[int]) -> StackChoice:
        """Stack some members; each half is scored by weights fitted to the other half."""
        scores = np.empty(self.held_out.labels.shape)
        for half, other in (self.halves, self.halves[::-1]):
            weights, offset = self.fit(members, other)
            scores[half] = self._scores(weights, offset, half)
        labels, importance = self.held_out.labels, self.held_out.weights
        loss, _ = stacking_loss(scores, labels, importance, exclusive=self.exclusive)
        weights, offset = self.fit(members, np.concatenate(self.halves))
        shares = weights * _root_mean_squares(self.held_out.scores)
        return StackChoice(weights, shares, offset, scores, loss)

    def fit(
        self, members: Sequence[int], documents: IntArray | None = None
    ) -> tuple[FloatArray, float]:
        """Fit weights and offset to documents in random order.

        A member that hardly moves the score has the weight 0.
        """
        if documents is None:
            documents = self.order
        chosen = np.sort(documents[: self.most])
        scores = self.held_out.scores[members][:, chosen]
        importance = self.held_out.weights[chosen]
        scales = np.ones(len(members))
        if self.scaled:
            scales = _root_mean_squares(scores, importance)
            scales[scales == 0.0] = 1.0
            scores /= scales[:, np.newaxis, np.newaxis]
        found, offset = stacking_weights(
            scores,
            self.held_out.labels[chosen],
            importance,
            exclusive=self.exclusive,
            signed=self.signed,
        )
        if self.scaled:
            found[np.abs(found) < _NEGLIGIBLE_SHARE * np.abs(found).sum()] = 0.0
        weights = np.zeros(len(self.held_out.scores))
        weights[members] = found / scales
        return weights, offset

    def correct(
        self,
        scores: FloatArray,
        fit: Callable[[FloatArray, BoolArray, FloatArray], Corrected],
    ) -> tuple[Corrected, FloatArray]:
        """Correct cross-fitted scores, each half by a correction fitted to the other half."""
        corrected = np.empty_like(scores)
        for half, other in (self.halves, self.halves[::-1]):
            corrected[half] = self._correction(scores, other, fit)(scores[half])
        return self._correction(scores, np.concatenate(self.halves), fit), corrected

    def _correction(
        self,
        scores: FloatArray,
        documents: IntArray,
        fit: Callable[[FloatArray, BoolArray, FloatArray], Corrected],
    ) -> Corrected:
        chosen = np.sort(documents[: self.most])
        return fit(scores[chosen], self.held_out.labels[chosen], self.held_out.weights[chosen])

    def _scores(self, weights: FloatArray, offset: float, documents: IntArray) -> FloatArray:
        members = np.flatnonzero(weights)
        scores = self.held_out.scores[np.ix_(members, documents)]
        stacked: FloatArray = np.tensordot(weights[members], scores, 1) + offset
        return stacked


def _random_order(held_out: OutOfFold, random_state: int | None) -> IntArray:
    """Return the documents in random order, those of a group one after the other."""
    random = np.random.default_rng(random_state)
    if held_out.groups is None:
        return random.permutation(len(held_out.documents))
    unit_of, sizes = units_of(held_out.groups)
    rank = random.permutation(len(sizes))
    return np.argsort(rank[unit_of], kind="stable")


def _halves_of(order: IntArray, groups: IntArray | None) -> tuple[IntArray, IntArray]:
    """Deal ordered documents alternately to two halves, those of a group to the same one."""
    turns = np.arange(len(order))
    if groups is not None:
        ordered = groups[order]
        turns = np.cumsum(np.append(0, ordered[1:] != ordered[:-1]))[: len(order)]
    is_first = turns % 2 == 0
    return order[is_first], order[~is_first]


def _root_mean_squares(scores: FloatArray, importance: FloatArray | None = None) -> FloatArray:
    """Return the root mean square of the scores of each member; 0 without documents."""
    if importance is None:
        importance = np.ones(scores.shape[1])
    squares = np.einsum("mdc,mdc,d->m", scores, scores, importance)
    total = max(importance.sum() * scores.shape[2], np.finfo(float).tiny)
    roots: FloatArray = np.sqrt(squares / total)
    return roots


def stacking_weights(
    scores: FloatArray,
    labels: BoolArray,
    importance: FloatArray,
    *,
    exclusive: bool,
    signed: bool = False,
    prior_means: Sequence[float] | None = None,
) -> tuple[FloatArray, float]:
    """Find the weights w_m and the offset b that maximise the posterior on out-of-fold scores s_m.

        sum log P(labels of d | z),   z(d, c) = sum_m w_m s_m(d, c) + b

    P is the logistic function of each category's z, or for class labels the softmax over categories
    (without offset, which would cancel). The priors are w_m ~ N(1/M, 1), or of other means, and
    b ~ N(0, 1), so that without data z is the mean of the M members. Scores are members x documents
    x categories; weights may be negative if `signed`.
    """
    means = np.full(len(scores), 1.0 / len(scores))
    if prior_means is not None:
        means = np.array(prior_means)
    flat = scores.reshape(len(scores), -1)

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        weights, offset = point[:-1], point[-1]
        z = np.einsum("m,mk->k", weights, flat).reshape(labels.shape) + offset
        loss, slopes = stacking_loss(z, labels, importance, exclusive=exclusive)
        penalty = 0.5 * float(np.sum((weights - means) ** 2) + offset**2)
        of_weights = np.einsum("mk,k->m", flat, slopes.ravel()) + weights - means
        return loss + penalty, np.append(of_weights, slopes.sum() + offset)

    lowest = None if signed else 0.0
    bounds: list[tuple[float | None, float | None]] = [(lowest, None)] * len(scores)
    bounds.append((0.0, 0.0) if exclusive else (None, None))
    found = minimize(
        objective, np.append(means, 0.0), jac=True, bounds=bounds, method="L-BFGS-B"
    )
    return found.x[:-1], float(found.x[-1])


def stacking_loss(
    z: FloatArray, labels: BoolArray, importance: FloatArray, *, exclusive: bool
) -> tuple[float, FloatArray]:
    """Return minus the log-likelihood of the labels at scores z, and its derivatives."""
    if exclusive:
        losses = logsumexp(z, axis=1) - np.sum(z * labels, axis=1)
        slopes = softmax(z, axis=1) - labels
    else:
        margins = np.where(labels, z, -z)
        losses = -log_expit(margins).sum(axis=1)
        wrong = expit(-margins)
        slopes = np.where(labels, -wrong, wrong)
    return inner(importance, losses), slopes * importance[:, np.newaxis]
