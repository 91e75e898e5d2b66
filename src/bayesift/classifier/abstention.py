"""What held-out documents tell: the expected quality, and when not to decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import logit, xlog1py, xlogy
from scipy.stats import norm

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.state import expect_array, storable

if TYPE_CHECKING:
    from bayesift.classifier.text_classifier import TextClassifier


_KEPT = 1000  # quantiles of held-out documents that are kept
_FEWEST = 20  # held-out documents that a share can be read off
_SURE = 1e-9


@dataclass(frozen=True, eq=False)
class Doubts:
    """What speaks against deciding on each text.

    Parameters
    ----------
    probabilities : texts x categories
    n_terms : number of distinct terms of each text, known or not
    n_known : how many of them the model knows
    """

    probabilities: FloatArray
    n_terms: IntArray
    n_known: IntArray

    @property
    def best(self) -> FloatArray:
        """The highest probability of each text."""
        highest: FloatArray = self.probabilities.max(axis=1)
        return highest

    @property
    def unseen(self) -> FloatArray:
        """The share of the terms that the model does not know, half a term added."""
        share: FloatArray = (self.n_terms - self.n_known + 0.5) / (self.n_terms + 1.0)
        return share

    @property
    def scores(self) -> FloatArray:
        """Log odds against the best category plus the log of the unseen share.

        Infinite if no term is known.
        """
        doubt = np.log(self.unseen) - logit(np.clip(self.best, _SURE, 1.0 - _SURE))
        return np.where(self.n_known > 0, doubt, np.inf)


@storable("abstention")
@dataclass(frozen=True, eq=False)
class Abstention:
    """Places the doubts about a text among those about documents like the training documents.

        doubt = log (1 - p) / p + log (unseen + 1/2) / (terms + 1),    p the highest probability

    and the uncertainty of a text is the share of held-out documents with a smaller doubt, so that
    uncertainties of documents of the same kind are uniform on (0, 1), and those of foreign
    documents are near 1.

    Parameters
    ----------
    doubts, best, unseen : doubts, highest probabilities and unseen shares of documents that the
        model was not fitted to, each sorted; at most 1,000 quantiles

    Examples
    --------
    >>> probabilities = np.linspace(0.5, 0.99, 99)
    >>> both = np.stack([probabilities, 1 - probabilities], axis=1)
    >>> held_out = Doubts(both, np.full(99, 9), np.full(99, 9))
    >>> abstention = Abstention.of(held_out)
    >>> new = np.array([[0.55, 0.45], [0.99, 0.01]])
    >>> abstention.uncertainty(Doubts(new, np.array([9, 9]), np.array([9, 3])))
    array([0.88888889, 0.22222222])
    """

    doubts: FloatArray
    best: FloatArray
    unseen: FloatArray

    @classmethod
    def of(cls, held_out: Doubts) -> Self:
        """From documents like those to come that the model was not fitted to."""
        known = held_out.n_known > 0
        parts = held_out.scores[known], held_out.best[known], held_out.unseen[known]
        if len(parts[0]) < _FEWEST:
            raise DataError(
                f"{len(parts[0])} held-out documents; at least {_FEWEST} with known words are "
                "needed"
            )
        shares = np.linspace(0.0, 1.0, _KEPT)
        return cls(
            *(
                np.sort(part) if len(part) <= _KEPT else np.quantile(part, shares)
                for part in parts
            )
        )

    def uncertainty(self, doubts: Doubts) -> FloatArray:
        """Return the share of held-out documents that the model is surer of, from 0 to 1."""
        return _rank(self.doubts, doubts.scores)

    def words_are_the_reason(self, doubts: Doubts) -> BoolArray:
        """Whether unknown words are more unusual in a text than its highest probability."""
        return _rank(self.unseen, doubts.unseen) > 1.0 - _rank(self.best, doubts.best)

    def _post_load(self) -> None:
        for name in ("doubts", "best", "unseen"):
            array = expect_array(getattr(self, name), name, np.float64, (len(self.doubts),))
            if len(array) < _FEWEST or np.any(np.diff(array) < 0):
                raise DataError(
                    f"{name} of held-out documents must be sorted numbers, {_FEWEST} or more"
                )


def abstention_from_fit(
    model: Any, X: sparse.csr_array, n_terms: IntArray, *, multilabel: bool
) -> Abstention | None:
    """From the held-out probabilities that a model has of its training documents.

    None if it has none, or too few.

    A term that only the document itself contains would not have been known without it.
    """
    held_out = getattr(model, "held_out_", None)
    if held_out is None or len(held_out.documents) < _FEWEST:
        return None
    alone = np.bincount(X.indices, minlength=X.shape[1])[X.indices] == 1
    n_known = np.add.reduceat(np.append(~alone, False), X.indptr[:-1], dtype=np.int64) * (
        np.diff(X.indptr) > 0
    )
    probabilities = held_out.probabilities
    if probabilities.shape[1] == 1 and not multilabel:
        probabilities = np.hstack([1.0 - probabilities, probabilities])
    indices = held_out.documents
    doubts = Doubts(probabilities, n_terms[indices], n_known[indices])
    return Abstention.of(doubts) if np.count_nonzero(doubts.n_known) >= _FEWEST else None


def unsure_texts(doubts: Doubts, rate: float, abstention: Abstention | None) -> BoolArray:
    """Which texts to abstain on: those less sure than all but a share `rate` of held-out documents.

    Without `abstention` they are that share of the texts at hand, the least sure of them.
    """
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"abstain must be a share between 0 and 1, got {rate!r}")
    if abstention is not None:
        unsure: BoolArray = abstention.uncertainty(doubts) > 1.0 - rate
        return unsure
    unsure = np.zeros(len(doubts.n_terms), dtype=bool)
    unsure[np.argsort(-doubts.scores, kind="stable")[: int(rate * len(unsure))]] = True
    return unsure | (~np.isfinite(doubts.scores) & (rate > 0))


def reasons(
    doubts: Doubts, rows: IntArray, categories: tuple[str, ...], abstention: Abstention | None
) -> list[str]:
    """Why each of some texts is unsure: few known words, or no category that stands out."""
    by_words = (
        doubts.unseen > 0.5 if abstention is None else abstention.words_are_the_reason(doubts)
    )
    answers = []
    for row in rows:
        if doubts.n_terms[row] == 0:
            answers.append("no words")
        elif by_words[row] or doubts.n_known[row] == 0:
            answers.append(f"{doubts.n_known[row]} of {doubts.n_terms[row]} words known")
        else:
            ranked = np.argsort(-doubts.probabilities[row], kind="stable")[:2]
            named = (
                f"{categories[j]} {doubts.probabilities[row, j]:.2f}".replace(" 0.", " .")
                for j in ranked
            )
            answers.append(" or ".join(named))
    return answers


def _rank(ordered: FloatArray, values: FloatArray) -> FloatArray:
    """Return the share of sorted numbers below each value."""
    return np.searchsorted(ordered, values, side="left") / len(ordered)


_RESAMPLES = 500


@dataclass(frozen=True)
class ExpectedQuality:
    """A measure on documents held out, its interval, and their log loss.

    Parameters
    ----------
    measure : "accuracy", or "micro F1" where documents may have several categories
    value, low, high : of the measure: the value and the ends of its 95% interval
    log_loss : mean over documents, or over documents and categories where they may have several
    n_documents : how many were held out
    """

    measure: Literal["accuracy", "micro F1"]
    value: float
    low: float
    high: float
    log_loss: float
    n_documents: int

    def __str__(self) -> str:
        interval = f"{100 * self.low:.1f} to {100 * self.high:.1f}%"
        return (
            f"{self.measure} {100 * self.value:.1f}% ({interval}), log loss {self.log_loss:.3f}"
        )


def expected_quality(classifier: TextClassifier) -> ExpectedQuality | None:
    """Return the quality to expect on documents like the training documents.

    None for a model that held none out, or was loaded.

    The interval of an accuracy is Wilson's, that of F1 a bootstrap over documents.

    Examples
    --------
    >>> from bayesift import TextClassifier
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"] * 5
    >>> labels = ["grain", "grain", "crude", "crude"] * 5
    >>> expected_quality(TextClassifier().fit(texts, labels)).value
    1.0
    """
    held_out = getattr(classifier.model_, "held_out_", None)
    if held_out is None:
        return None
    labels, probabilities, weights = held_out.labels, held_out.probabilities, held_out.weights
    size = float(weights.sum())
    if not classifier.multilabel_:
        if labels.shape[1] == 1:
            labels, probabilities = (
                np.hstack([~labels, labels]),
                np.hstack([1.0 - probabilities, probabilities]),
            )
        decisions = classifier.decisions_of(probabilities)
        right = float(weights @ np.any(decisions & labels, axis=1)) / size
        loss = -float(weights @ np.log(np.maximum(probabilities, 1e-15)[labels])) / size
        return ExpectedQuality(
            "accuracy", right, *wilson_interval(right, size), loss, len(weights)
        )
    decisions = classifier.decisions_of(probabilities)
    losses = -xlogy(labels, probabilities) - xlog1py(~labels, -probabilities)
    counts = np.stack(
        [np.sum(decisions & labels, axis=1), decisions.sum(axis=1), labels.sum(axis=1)]
    )
    low, high = _bootstrap_f1(counts, weights)
    loss = float(weights @ losses.mean(axis=1)) / size
    return ExpectedQuality(
        "micro F1", float(_micro_f1(counts @ weights)), low, high, loss, len(weights)
    )


def wilson_interval(share: float, size: float, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of so many documents.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(0.9, 100)]
    [0.826, 0.945]
    """
    z = float(norm.ppf(0.5 + level / 2))
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = (
        z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    )
    return float(max(middle - half, 0.0)), float(min(middle + half, 1.0))


def _micro_f1(totals: FloatArray) -> FloatArray:
    """Return 2 t / (s + r) of true positives t, assigned s and positives r; 0 if both are 0."""
    f1: FloatArray = 2 * totals[0] / np.maximum(totals[1] + totals[2], 1e-300)
    return f1


def _bootstrap_f1(counts: FloatArray, weights: FloatArray) -> tuple[float, float]:
    random = np.random.default_rng(0)
    n_documents = counts.shape[1]
    drawn = (
        np.bincount(random.integers(n_documents, size=n_documents), minlength=n_documents)
        for _ in range(_RESAMPLES)
    )
    low, high = np.quantile(
        [_micro_f1(counts @ (weights * times)) for times in drawn], [0.025, 0.975]
    )
    return float(low), float(high)
