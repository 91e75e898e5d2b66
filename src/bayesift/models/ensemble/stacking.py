"""Stack models: score documents by members fitted without them, and fit weights to the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from bayesift.arrays import BoolArray, FloatArray, IntArray, SparseRows, inner
from bayesift.features import BlockKind
from bayesift.folds import NEVER_HELD_OUT, deal_folds, units_of
from bayesift.models.ensemble.members import (
    Fitted,
    Hyperplanes,
    Member,
    NeighborsMember,
    NotLinear,
    OnlineStackMember,
    Sample,
    Settings,
    SoftmaxMember,
)

# May ask for an early end by returning True, where there is one (`AutoClassifier`).
Progress = Callable[[int, int], bool | None]
Corrected = TypeVar("Corrected", bound=Callable[[FloatArray], FloatArray])

# Weights are few numbers: so many documents x categories are enough to fit them.
_MAX_CELLS = 300_000
# With many categories weights are fitted to so many documents, or to so many cells.
_MIN_DOCUMENTS = 2_000
_MANY_CELLS = 400_000
# Beyond so many columns x categories, categories are fitted in blocks of so many. Of all weights at
# most the last number is kept, and of each category none below this share of its largest.
_MANY_WEIGHTS = 1 << 26
_BLOCK_WEIGHTS = 1 << 23
_MAX_KEPT_WEIGHTS = 1 << 24
_NEGLIGIBLE_WEIGHT = 0.01
_COLUMNS_OF_MEDIAN = 1_000
# Entries of the samples of folds that are kept for the next member, which then need not be taken
# again; together.
_MAX_SHARED_ENTRIES = 25_000_000
# A member that adds less than this share to the score is left out.
_NEGLIGIBLE_SHARE = 1e-3


def most_documents(n_categories: int, cells: int = _MAX_CELLS) -> int:
    """Return how many documents are enough for so many cells, documents x categories."""
    fewest = min(_MIN_DOCUMENTS, _MANY_CELLS // n_categories)
    return max(fewest, cells // n_categories)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A member, the kinds of blocks whose columns it uses, and what it may bring.

    `gain` is relative to that of the most useful candidate.
    """

    member: Member
    kinds: tuple[BlockKind, ...] = ("words", "pairs")
    gain: float = 1.0

    def describe(self) -> str:
        """Name the member and its kinds of blocks in words."""
        names = ["word pairs" if kind == "pairs" else kind for kind in self.kinds]
        return f"{self.member.kind} of {' and '.join(names)}"


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

    def count(self, index: int) -> None:
        """Report one more fit, of the candidate `index`."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)

    def finish(self) -> None:
        """Report that nothing is left to do, where fewer members were fitted than planned."""
        if self.progress is not None and self.done < self.total:
            self.progress(self.total, self.total)


class CrossFitting:
    """Fits candidates to folds, then the chosen ones to all documents.

    Every document is held out once, except those that `deal_folds` keeps in training for a rare
    category. Where there are very many categories and columns, the categories are fitted in blocks,
    and of their weights the largest are kept.

    Parameters
    ----------
    candidates : the members and their columns
    sample : the documents
    settings : what the members share
    n_folds : how many folds; below 2 nothing is held out
    enough : documents to score, at most
    some_folds : score all documents of as many folds as hold `enough`, and keep the other folds in
        training; otherwise some documents of each fold are scored
    fitted : called after each fit with the index of the candidate
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
        fitted: Callable[[int], None] | None = None,
    ) -> None:
        self.candidates = candidates
        self.whole = sample
        self.settings = settings
        self.fitted = fitted
        members = [candidate.member for candidate in candidates]
        self.blocks = [slice(0, sample.labels.shape[1])]
        if has_many_weights(sample) and not any(isinstance(m, SoftmaxMember) for m in members):
            self.blocks = _blocks_of(sample)
        # Samples that several candidates share, by the kinds of their blocks.
        self.parts: dict[tuple[BlockKind, ...], Sample] = {}
        # The sample without a fold and the rows of its documents, by the kinds of blocks and fold.
        self.splits: dict[tuple[tuple[BlockKind, ...], int], tuple[Sample, SparseRows]] = {}
        self._n_shared = 0
        self.folds = _folds_of(sample.labels, n_folds, settings.random_state, sample.groups)
        # The share of documents that cannot be held out, as nothing else is like them.
        self.alone = float(np.mean(self.folds == NEVER_HELD_OUT))
        if some_folds:
            self._join_training_after(enough)
        documents = self._held_out(enough)
        labels = sample.labels[documents].toarray() != 0
        scores = np.zeros((len(candidates), *labels.shape))
        groups = None if sample.groups is None else sample.groups[documents]
        self.held_out = OutOfFold(scores, documents, labels, sample.weights[documents], groups)
        self.used_folds = np.unique(self.folds[documents])

    @property
    def n_fits(self) -> int:
        """The fits that a candidate takes: to the folds, and to all documents."""
        return len(self.used_folds) + 1

    def score(self, index: int, goes_on: Callable[[int, int], bool] | None = None) -> bool:
        """Write the scores of a candidate.

        `goes_on` is asked before each fit but the first whether there is time for so many more fits
        of the candidate. If not, its scores are 0, and the answer is False.
        """
        for done, fold in enumerate(self.used_folds):
            if done and goes_on is not None and not goes_on(index, self.n_fits - done):
                self.held_out.scores[index] = 0.0
                return False
            held_out = self.folds[self.held_out.documents] == fold
            split = self._without_fold(index, int(fold))
            self.held_out.scores[index, held_out] = self._scores_by(index, *split)
        return True

    def _without_fold(self, index: int, fold: int) -> tuple[Sample, SparseRows]:
        """Return what `_scores_by` takes, shared by candidates with the same blocks."""
        key = self.candidates[index].kinds, fold
        if key in self.splits:
            return self.splits[key]
        documents = self.held_out.documents
        held_out = documents[self.folds[documents] == fold]
        learned, unseen = self._split(index, np.flatnonzero(self.folds != fold), held_out)
        n_entries = learned.rows.nnz + unseen.nnz
        if self._n_shared + n_entries <= _MAX_SHARED_ENTRIES:
            self._n_shared += n_entries
            self.splits[key] = learned, unseen
        return learned, unseen

    def _split(
        self, index: int, training: IntArray, documents: IntArray
    ) -> tuple[Sample, SparseRows]:
        """Return a sample to learn from, and other documents as they are new to it."""
        sample = self.sample_of(index)
        learned = sample.take(training)
        return learned, sample.design.take(documents).as_new_to(learned.rows)

    def _scores_by(self, index: int, learned: Sample, unseen: SparseRows) -> FloatArray:
        """Return the scores of documents by a candidate that is fitted to a sample without them."""
        member = self.candidates[index].member
        if len(self.blocks) == 1 or not _is_linear(member):
            scores = member.fit(learned, self.settings).scores_checked(unseen)
        else:
            parts = []
            for block in self.blocks:
                fitted = member.fit(learned.of_categories(block), self.settings)
                parts.append(self._sparse(fitted, learned).scores_checked(unseen))
            scores = np.hstack(parts)
        self._note(index)
        return scores

    def scores_without(self, documents: IntArray, weights: FloatArray) -> FloatArray:
        """Return the weighted scores of documents by candidates fitted to all other documents."""
        others = np.setdiff1d(np.arange(self.whole.rows.shape[0]), documents)
        scores = np.zeros((len(documents), self.whole.labels.shape[1]))
        for index in np.flatnonzero(weights).tolist():
            split = self._split(index, others, documents)
            scores += weights[index] * self._scores_by(index, *split)
        return scores

    def combine(self, weights: FloatArray) -> tuple[Hyperplanes, list[NotLinear]]:
        """Fit the candidates whose weight is not 0 to all documents.

        The linear ones become one set of hyperplanes over all columns; the others come as they are.
        """
        chosen = np.flatnonzero(weights).tolist()
        others: list[NotLinear] = []
        linear: list[int] = []
        for index in chosen:
            member = self.candidates[index].member
            if _is_linear(member):
                linear.append(index)
                continue
            fitted = member.fit(self.sample_of(index), self.settings)
            assert not isinstance(fitted, Hyperplanes)
            others.append(fitted)
            self._note(index)
        parts = [self._combined(weights, linear, block) for block in self.blocks]
        for index in linear:
            self._note(index)
        if len(parts) == 1:
            return parts[0], others
        rows = sparse.csr_array(sparse.vstack([part.weights for part in parts]))
        return Hyperplanes(rows, np.concatenate([part.intercepts for part in parts])), others

    def _combined(self, weights: FloatArray, chosen: list[int], block: slice) -> Hyperplanes:
        """Fit candidates to all documents of some categories, and add up their hyperplanes."""
        n_categories = block.stop - block.start
        shape = n_categories, self.whole.rows.shape[1]
        is_part = n_categories < self.whole.labels.shape[1]
        total: Any = sparse.csr_array(shape) if is_part else np.zeros(shape)
        intercepts = np.zeros(n_categories)
        for index in chosen:
            candidate = self.candidates[index]
            sample = self.sample_of(index)
            part = sample.of_categories(block) if is_part else sample
            fitted = candidate.member.fit(part, self.settings)
            assert isinstance(fitted, Hyperplanes)
            columns = self.whole.design.columns_of(candidate.kinds)
            if is_part:
                fitted = self._sparse(fitted, sample)
                total = total + weights[index] * _placed(fitted.weights, columns, shape[1])
            else:
                total[:, columns] += weights[index] * fitted.weights
            intercepts += weights[index] * fitted.intercepts
        return Hyperplanes(total, intercepts)

    def _sparse(self, fitted: Fitted, sample: Sample) -> Hyperplanes:
        """Return the hyperplanes of some of very many categories with the weights that count."""
        assert isinstance(fitted, Hyperplanes)
        n_kept = _MAX_KEPT_WEIGHTS // self.whole.labels.shape[1]
        return _sparse(fitted, sample.rows.sum() / sample.rows.shape[0], n_kept)

    def _note(self, index: int) -> None:
        if self.fitted is not None:
            self.fitted(index)

    def sample_of(self, index: int) -> Sample:
        """Return the documents with the columns of a candidate."""
        kinds = self.candidates[index].kinds
        if kinds not in self.parts:
            self.parts[kinds] = self.whole.only(kinds)
        return self.parts[kinds]

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


def _blocks_of(sample: Sample) -> list[slice]:
    """Return the blocks of categories that members are fitted to at a time."""
    n_categories = sample.labels.shape[1]
    size = max(1, _BLOCK_WEIGHTS // sample.rows.shape[1])
    return [
        slice(first, min(first + size, n_categories)) for first in range(0, n_categories, size)
    ]


def _is_linear(member: Member) -> bool:
    return not isinstance(member, NeighborsMember | OnlineStackMember)


def has_many_weights(sample: Sample) -> bool:
    """Whether a weight for each column and category would take too much memory."""
    n_categories = int(sample.labels.shape[1])
    return n_categories * int(sample.rows.shape[1]) > _MANY_WEIGHTS


def _sparse(planes: Hyperplanes, length: float, n_kept: int) -> Hyperplanes:
    """Keep the weights of each category that differ most from its usual weight.

    The usual weight is that of words which the category lacks: of naive Bayes not 0. It counts for
    documents of a mean `length`, the sum of their entries, in the intercept.
    """
    columns = planes.weights.shape[1]
    some = np.arange(0, columns, max(1, columns // _COLUMNS_OF_MEDIAN))
    usual = np.median(planes.weights[:, some], axis=1)
    kept: list[IntArray] = []
    values: list[FloatArray] = []
    for weights, centre in zip(planes.weights, usual, strict=True):
        differences = weights - centre
        sizes = np.abs(differences)
        terms = np.flatnonzero(sizes > _NEGLIGIBLE_WEIGHT * sizes.max())
        if len(terms) > n_kept:
            terms = np.sort(terms[np.argpartition(sizes[terms], -n_kept)[-n_kept:]])
        kept.append(terms)
        values.append(differences[terms])
    ends = np.cumsum([0, *map(len, kept)])
    parts = np.concatenate(values), np.concatenate(kept), ends
    rows = sparse.csr_array(parts, shape=planes.weights.shape)
    return Hyperplanes(rows, planes.intercepts + usual * length)


def _placed(rows: SparseRows, columns: IntArray, n_columns: int) -> SparseRows:
    """Return rows whose columns are some of more."""
    shape = rows.shape[0], n_columns
    return sparse.csr_array((rows.data, columns[rows.indices], rows.indptr), shape=shape)


def _folds_of(
    labels: SparseRows, n_folds: int, random_state: int | None, groups: IntArray | None
) -> IntArray:
    n_documents = labels.shape[0]
    n_units = n_documents if groups is None else len(np.unique(groups))
    n_folds = min(n_folds, n_units)
    if n_folds < 2:
        return np.full(n_documents, -1)
    classes: Any = labels
    if labels.shape[1] == 1:
        is_member = labels.toarray() != 0
        classes = np.hstack([is_member, ~is_member])
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

    @property
    def n_judgements(self) -> float:
        """The weight of all documents; times the categories where they may have several."""
        n_each = 1 if self.exclusive else self.held_out.labels.shape[1]
        return float(self.held_out.weights.sum()) * n_each

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
        most = z.max(axis=1, keepdims=True)
        slopes = np.exp(z - most)
        sums = slopes.sum(axis=1, keepdims=True)
        losses = (most + np.log(sums))[:, 0] - np.einsum("dc,dc->d", z, labels)
        slopes /= sums
        slopes -= labels
    else:
        margins = np.where(labels, z, -z)
        losses = -log_expit(margins).sum(axis=1)
        wrong = expit(-margins)
        slopes = np.where(labels, -wrong, wrong)
    return inner(importance, losses), slopes * importance[:, np.newaxis]
