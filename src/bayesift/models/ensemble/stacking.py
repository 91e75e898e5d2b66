"""Stacking: scores of documents by members that were fitted without them, and weights that are fitted to the scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp, softmax

from bayesift.arrays import Array, inner
from bayesift.folds import deal_folds
from bayesift.models.ensemble.members import Fitted, Hyperplanes, Member, Odds, Sample, Settings
from bayesift.models.linear.design import dense_columns

Progress = Callable[[int, int], None]
Corrected = TypeVar("Corrected", bound=Callable[[Array], Array])

_CELLS = 300_000  # documents x categories that weights are fitted to, at most; they are few numbers
_FEWEST = 2_000  # documents that weights are fitted to, however many categories there are
_DENSE = 0.1  # the cost of an entry of a dense column, which BLAS multiplies, relative to that of another
_NEGLIGIBLE = 1e-3  # share of the score below which a member is left out

# The kinds of columns, by the number of words that each joins; for n-grams of more words the kind
# is that of pairs.
PAIRS, WORDS, VECTORS, CHARACTERS, TABLE = 2, 1, 0, -1, -2


def most_documents(n_categories: int, cells: int = _CELLS) -> int:
    """How many documents are enough: as many as there are `cells`, documents x categories, but 2,000 at least."""
    return max(_FEWEST, cells // n_categories)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A member and the kinds of columns that it uses."""

    member: Member
    kinds: tuple[int, ...] = (WORDS, PAIRS)

    def columns(self, ngram_lengths: Array) -> Array:
        """The columns, by the number of words that each joins."""
        return np.flatnonzero(np.isin(np.minimum(ngram_lengths, PAIRS), self.kinds))


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Scores, members x documents x categories, by fits without the documents.

    Which these are, and what they are.
    """

    scores: Array
    documents: Array
    labels: Array
    weights: Array


class ProgressCounter:
    """Counts the members that have been fitted and reports each to `progress`."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

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
    """Fits candidates to folds, then those that are kept to all documents, within the time there is.

    Every document is held out once, except those that `deal_folds` keeps in training for a rare
    category. `enough` documents are scored at most: by `some_folds` all of as many folds as hold
    them, otherwise some of each fold.

    Parameters
    ----------
    candidates : the members and their columns
    sample : the documents
    settings : what the members share
    n_folds : how many folds; below 2 nothing is held out
    enough : documents to score, at most
    some_folds : whether the folds that are not needed for `enough` documents are left out
    ngram_lengths : the number of words that each column joins, or its kind: `VECTORS`, `CHARACTERS`
        (n-grams of them) or `TABLE` (numbers and categories beside texts); 1 for all without it
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
        ngram_lengths: Array | None = None,
        progress: Progress | None = None,
        deadline: float | None = None,
    ) -> None:
        self.candidates, self.whole, self.settings, self.ngram_lengths = (
            candidates,
            sample,
            settings,
            ngram_lengths,
        )
        self.parts: dict[tuple[int, ...], Sample] = {}
        labels = sample.labels.toarray() != 0
        self.folds = _folds_of(labels, n_folds, settings.random_state)
        if some_folds:
            self._join_training_after(enough)
        documents = self._held_out(enough)
        scores = np.zeros((len(candidates), len(documents), labels.shape[1]))
        self.held_out = OutOfFold(scores, documents, labels[documents], sample.weights[documents])
        self.used_folds = np.unique(self.folds[documents])
        self.counter = ProgressCounter(progress, len(candidates) * (len(self.used_folds) + 1))
        self.deadline, self.promised = (
            deadline,
            0.0,
        )  # seconds that the last fits of the candidates so far will take
        self.paces: dict[type[Member], float] = {}  # seconds of a fit by its size

    def score(self, place: int) -> bool:
        """Write the scores of a candidate; False, and scores of 0, when the time would not suffice.

        That is judged before the first fit by the pace of such members so far, then by the fits
        themselves. The first candidate is always scored.
        """
        candidate, documents, out = (
            self.candidates[place],
            self.held_out.documents,
            self.held_out.scores[place],
        )
        begin, sample = time.perf_counter(), self._sample(candidate)
        size, kind = _size_of(sample), type(candidate.member)
        if place > 0 and self._is_late(
            size * self.paces.get(kind, 0.0) * (len(self.used_folds) + 1)
        ):
            return False
        lengths = (
            None
            if self.ngram_lengths is None
            else self.ngram_lengths[candidate.columns(self.ngram_lengths)]
        )
        for done, fold in enumerate(self.used_folds, 1):
            part = np.flatnonzero(self.folds[documents] == fold)
            rest = sample.take(np.flatnonzero(self.folds != fold))
            out[part] = self._fit(candidate.member, rest).scores(
                as_new(sample.rows[documents[part]], rest.rows, lengths)
            )
            each = (time.perf_counter() - begin) / done
            if place > 0 and self._is_late(each * (len(self.used_folds) - done + 1)):
                out[:] = 0.0
                return False
        each = (time.perf_counter() - begin) / max(len(self.used_folds), 1)
        self.promised, self.paces[kind] = self.promised + each, each / size
        return True

    def _is_late(self, seconds: float) -> bool:
        """Whether so many more seconds, and the last fits, end after the deadline."""
        return (
            self.deadline is not None
            and time.perf_counter() + seconds + self.promised > self.deadline
        )

    def combine(self, weights: Array) -> tuple[Hyperplanes, list[Odds]]:
        """The weighted sum of the linear candidates fitted to all documents, over all columns.

        And the other ones.

        Candidates of weight 0 are not fitted.
        """
        shape = self.whole.labels.shape[1], self.whole.rows.shape[1]
        total, intercepts, others = np.zeros(shape), np.zeros(shape[0]), list[Odds]()
        for weight, candidate in zip(weights, self.candidates, strict=True):
            if weight == 0.0:
                continue
            fitted = self._fit(candidate.member, self._sample(candidate))
            if not isinstance(fitted, Hyperplanes):
                others.append(fitted)
                continue
            lengths = self.ngram_lengths
            columns = slice(None) if lengths is None else candidate.columns(lengths)
            total[:, columns] += weight * fitted.weights
            intercepts += weight * fitted.intercepts
        self.counter.finish()
        return Hyperplanes(total, intercepts), others

    def _fit(self, member: Member, sample: Sample) -> Fitted:
        fitted = member.fit(sample, self.settings)
        self.counter.count()
        return fitted

    def _sample(self, candidate: Candidate) -> Sample:
        if self.ngram_lengths is None:
            return self.whole
        if candidate.kinds not in self.parts:
            self.parts[candidate.kinds] = self.whole.of_columns(
                candidate.columns(self.ngram_lengths)
            )
        return self.parts[candidate.kinds]

    def _join_training_after(self, enough: int) -> None:
        """Hold out only the first folds that together have enough documents."""
        sizes = np.bincount(self.folds[self.folds >= 0])
        n_needed = int(np.searchsorted(np.cumsum(sizes), enough)) + 1
        self.folds[self.folds >= n_needed] = -1

    def _held_out(self, enough: int) -> Array:
        documents = np.flatnonzero(self.folds >= 0)
        if len(documents) <= enough:
            return documents
        return np.sort(
            np.random.default_rng(self.settings.random_state).permutation(documents)[:enough]
        )


def _size_of(sample: Sample) -> float:
    """What the time of a fit is about proportional to: entries, of which those of dense columns cost less."""
    counts = np.bincount(sample.rows.indices, minlength=sample.rows.shape[1])
    dense = counts[dense_columns(sample.rows)].sum()
    return float(1 + sample.rows.shape[0] + counts.sum() - (1.0 - _DENSE) * dense)


def _folds_of(labels: Array, n_folds: int, random_state: int | None) -> Array:
    n_folds = min(n_folds, len(labels))
    if n_folds < 2:
        return np.full(len(labels), -1)
    classes = labels if labels.shape[1] > 1 else np.hstack([labels, ~labels])
    return deal_folds(classes, n_folds=n_folds, random_state=random_state)


def as_new(
    rows: sparse.csr_array, training: sparse.csr_array, ngram_lengths: Array | None = None
) -> sparse.csr_array:
    """Rows as they would be if only the training documents were known: without terms that those lack.

    Columns of several words (`ngram_lengths` above 1) must be in two training documents. Rows whose
    words, pairs or n-grams of characters have one length keep it, as a vectorizer would give it to
    what is left of them. Vectors and columns of a table stay.
    """
    kinds = (
        np.full(rows.shape[1], WORDS) if ngram_lengths is None else np.minimum(ngram_lengths, PAIRS)
    )
    known = np.bincount(training.indices, minlength=training.shape[1]) > (kinds == PAIRS)
    known |= np.isin(kinds, (VECTORS, TABLE))
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    data = np.where(known[rows.indices], rows.data, 0.0)
    for kind in np.intersect1d(kinds, (WORDS, PAIRS, CHARACTERS)):
        _keep_lengths(data, rows.data, owners, kinds[rows.indices] == kind)
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _keep_lengths(data: Array, original: Array, owners: Array, entries: Array) -> None:
    """Scale what is left of rows, in some entries, to the length they had, if all had the same."""
    rows = owners[entries]
    before, after = (np.sqrt(np.bincount(rows, part[entries] ** 2)) for part in (original, data))
    lengths = before[before > 0]
    if len(lengths) and np.ptp(lengths) <= 1e-6 * lengths.max():
        data[entries] *= np.divide(before, after, out=np.ones(len(before)), where=after > 0)[rows]


@dataclass(frozen=True, eq=False)
class Choice:
    """The weights of members, 0 for those that are not in the model.

    Cross-fitted scores, and their loss.
    """

    weights: Array
    shares: Array  # of members in the size of the score
    offset: float
    scores: Array
    loss: float


class Stacker:
    """Weights of members by their out-of-fold scores, judged by documents that the weights were fitted without.

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
        self.held_out, self.exclusive, self.signed, self.scaled = (
            held_out,
            exclusive,
            signed,
            scaled,
        )
        n_documents, n_categories = held_out.labels.shape
        self.order = np.random.default_rng(random_state).permutation(n_documents)
        self.halves = self.order[::2], self.order[1::2]
        self.most = most_documents(n_categories)

    def judge(self, places: Array) -> Choice:
        """The weights of some members, and their scores with weights fitted to the other half of the documents."""
        scores = np.empty(self.held_out.labels.shape)
        for half, other in (self.halves, self.halves[::-1]):
            scores[half] = self._scores(*self.fit(places, other), half)
        labels, importance = self.held_out.labels, self.held_out.weights
        loss, _ = stacking_loss(scores, labels, importance, exclusive=self.exclusive)
        weights, offset = self.fit(places, np.concatenate(self.halves))
        return Choice(weights, weights * _sizes(self.held_out.scores), offset, scores, loss)

    def fit(self, places: Array, documents: Array | None = None) -> tuple[Array, float]:
        """Weights and offset by documents in random order.

        A member that hardly moves the score has the weight 0.
        """
        chosen = np.sort((self.order if documents is None else documents)[: self.most])
        scores, importance = (
            self.held_out.scores[np.ix_(places, chosen)],
            self.held_out.weights[chosen],
        )
        scales = np.ones(len(places))
        if self.scaled:
            scales = _sizes(scores, importance)
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
            found[np.abs(found) < _NEGLIGIBLE * np.abs(found).sum()] = 0.0
        weights = np.zeros(len(self.held_out.scores))
        weights[places] = found / scales
        return weights, offset

    def correct(
        self, scores: Array, fit: Callable[[Array, Array, Array], Corrected]
    ) -> tuple[Corrected, Array]:
        """The correction of cross-fitted scores, and the scores corrected by the other half of the documents."""
        corrected = np.empty_like(scores)
        for half, other in (self.halves, self.halves[::-1]):
            corrected[half] = self._correction(scores, other, fit)(scores[half])
        return self._correction(scores, np.concatenate(self.halves), fit), corrected

    def _correction(
        self, scores: Array, documents: Array, fit: Callable[[Array, Array, Array], Corrected]
    ) -> Corrected:
        chosen = np.sort(documents[: self.most])
        return fit(scores[chosen], self.held_out.labels[chosen], self.held_out.weights[chosen])

    def _scores(self, weights: Array, offset: float, documents: Array) -> Array:
        places = np.flatnonzero(weights)
        scores: Array = (
            np.tensordot(weights[places], self.held_out.scores[np.ix_(places, documents)], 1)
            + offset
        )
        return scores


def _sizes(scores: Array, importance: Array | None = None) -> Array:
    """The root mean square of the scores of each member; 0 without documents."""
    importance = np.ones(scores.shape[1]) if importance is None else importance
    squares = np.einsum("mdc,mdc,d->m", scores, scores, importance)
    sizes: Array = np.sqrt(squares / max(importance.sum() * scores.shape[2], np.finfo(float).tiny))
    return sizes


def stacking_weights(
    scores: Array,
    labels: Array,
    importance: Array,
    *,
    exclusive: bool,
    signed: bool = False,
    prior_means: Sequence[float] | None = None,
) -> tuple[Array, float]:
    """The weights w_m of members and the offset b that maximise the posterior on out-of-fold scores s_m.

        sum log P(labels of d | z),   z(d, c) = sum_m w_m s_m(d, c) + b

    P is the logistic function of each category's z, or for class labels the softmax over categories
    (without offset, which would cancel). The priors are w_m ~ N(1/M, 1), or of other means, and b ~
    N(0, 1), so that without data z is the mean of the members. Scores are members x documents x
    categories; weights may be negative if `signed`.
    """
    start = (
        np.full(len(scores), 1.0 / len(scores)) if prior_means is None else np.array(prior_means)
    )
    flat = scores.reshape(len(scores), -1)

    def objective(point: Array) -> tuple[float, Array]:
        weights, offset = point[:-1], point[-1]
        z = np.einsum("m,mk->k", weights, flat).reshape(labels.shape) + offset
        value, slopes = stacking_loss(z, labels, importance, exclusive=exclusive)
        gradient = np.append(
            np.einsum("mk,k->m", flat, slopes.ravel()) + weights - start, slopes.sum() + offset
        )
        return value + 0.5 * float(np.sum((weights - start) ** 2) + offset**2), gradient

    bounds = [(None if signed else 0.0, None)] * len(scores) + [
        (0.0, 0.0) if exclusive else (None, None)
    ]
    found = minimize(objective, np.append(start, 0.0), jac=True, bounds=bounds, method="L-BFGS-B")
    return found.x[:-1], float(found.x[-1])


def stacking_loss(
    z: Array, labels: Array, importance: Array, *, exclusive: bool
) -> tuple[float, Array]:
    """Minus the log-likelihood of the labels at scores z, and its derivatives."""
    return (_softmax_loss if exclusive else _logistic_loss)(z, labels, importance)


def _logistic_loss(z: Array, labels: Array, importance: Array) -> tuple[float, Array]:
    margins = np.where(labels, z, -z)
    losses, wrong = -log_expit(margins), expit(-margins)
    return inner(importance, losses.sum(axis=1)), np.where(labels, -wrong, wrong) * importance[
        :, np.newaxis
    ]


def _softmax_loss(z: Array, labels: Array, importance: Array) -> tuple[float, Array]:
    losses = logsumexp(z, axis=1) - np.sum(z * labels, axis=1)
    return inner(importance, losses), (softmax(z, axis=1) - labels) * importance[:, np.newaxis]
