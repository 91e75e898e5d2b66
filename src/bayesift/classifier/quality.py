"""The quality to expect on new documents, by documents that were held out.

**What is estimated** is the quality of the model on new documents like those of the training. Every
held-out document is judged by a model that was fitted without it, without its copies and without
the other documents of its group. A document that is the only one of its category counts as wrong:
the share of such documents estimates how often new documents have a category that the model has
never seen (Good 1953).

**The interval** is Wilson's, for as many documents as the held-out ones are worth:

    n_effective = q (1 - q) / (f s^2),    s^2 = sum_g d_g^2 / N^2

where q is the measure, d_g the sum of the deviations from it over the documents of group g, and f
what the variance over training sets adds: the held-out documents were judged by one training set
only. Where there are few errors s says little, and the number of groups is used instead. As models
of four fifths of the documents were judged, the upper end allows for the errors that the last fifth
may save. The constants of the measure were chosen by `python -m benchmarks.expected_quality
--choose`, which also tells how often the intervals hold on a corpus that they were chosen without.
That of categories was chosen on ten corpora, none of them left out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy
from scipy.stats import norm, t
from sklearn.base import clone

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.evaluation import ReliabilityCurve, reliability_curve, top_label_curve
from bayesift.evaluation.calibration import wilson_interval
from bayesift.folds import units_of
from bayesift.state import storable
from bayesift.text.near_copies import group_equal_rows
from bayesift.validation import number_labels

if TYPE_CHECKING:
    from bayesift.classifier.labels import Labels
    from bayesift.classifier.text_classifier import TextClassifier
    from bayesift.models.ensemble.auto import HeldOutProbabilities

_LEVEL = 0.95
# What the variance over training sets adds to that over documents.
_TRAINING_VARIANCE = 0.2
_TRAINING_VARIANCE_OF_FEW = 16.0  # divided by the number of documents
# The share of errors that the documents held out may save when they are learned too.
_ERRORS_SAVED = 0.08
_ERRORS_SAVED_OF_CATEGORIES = 0.2  # rare categories gain most from more documents

Measure = Literal["accuracy", "micro F1"]


@storable("repeats")
@dataclass(frozen=True)
class Repeats:
    """How many training texts repeat others: the same words, or nearly.

    Parameters
    ----------
    n_texts : all training texts
    n_repeated : those that have a copy
    n_conflicting : those that have a copy with another label

    Examples
    --------
    >>> str(Repeats(100, 6, 2))
    '6 of 100 texts repeat others or nearly, 2 of them with different labels'
    """

    n_texts: int
    n_repeated: int
    n_conflicting: int

    @classmethod
    def of(cls, groups: IntArray, labels: Labels) -> Repeats:
        """Count the texts of groups of copies."""
        unit_of, sizes = units_of(groups)
        answers = _answer_numbers(labels.y)
        # The answers of the first and of the last document of each group, sorted by answers.
        order = np.lexsort((answers, unit_of))
        ends = np.cumsum(sizes)
        first = answers[order[ends - sizes]]
        last = answers[order[ends - 1]]
        n_repeated = int(sizes[sizes > 1].sum())
        return cls(len(groups), n_repeated, int(sizes[first != last].sum()))

    def __str__(self) -> str:
        told = f"{self.n_repeated:,} of {self.n_texts:,} texts repeat others or nearly"
        if self.n_conflicting:
            told += f", {self.n_conflicting:,} of them with different labels"
        return told


def _answer_numbers(y: Any) -> IntArray:
    """Return a number for each document, the same for documents with the same labels."""
    return number_labels(y)[1] if y.ndim == 1 else group_equal_rows(y)


@storable("later-quality")
@dataclass(frozen=True)
class LaterQuality:
    """A measure on the latest documents, by a model that was fitted to the earlier ones."""

    measure: Measure
    value: float
    low: float
    high: float
    log_loss: float
    n_documents: int

    def __str__(self) -> str:
        return _in_words(self)


@storable("expected-quality")
@dataclass(frozen=True, eq=False)
class ExpectedQuality:
    """A measure on documents held out, its interval, and what else they tell.

    Parameters
    ----------
    measure : "accuracy", or "micro F1" where documents may have several categories
    value, low, high : of the measure: the value and the ends of its 95% interval
    log_loss : mean over documents, or over documents and categories where they may have several
    n_documents : how many were held out
    category_counts : 3 x categories: documents that were rightly given the category, that were
        given it, and that have it
    effective_share : how many independent documents one of these is worth
    reliability : how often probabilities came true: of the most probable category, or of all where
        documents may have several
    repeats : how many texts repeat others; None where documents are vectors
    later : the measure on the latest documents; None where times are not known
    """

    measure: Measure
    value: float
    low: float
    high: float
    log_loss: float
    n_documents: int
    category_counts: FloatArray
    effective_share: float
    reliability: ReliabilityCurve
    repeats: Repeats | None = None
    later: LaterQuality | None = None

    def __str__(self) -> str:
        return _in_words(self)

    def __repr__(self) -> str:
        return f"ExpectedQuality({self}; {self.n_documents:,} documents held out)"

    def describe(self) -> list[str]:
        """Return what held-out documents tell, in lines: quality, repeated texts, later quality."""
        lines = [
            f"expected on new documents: {self} ({self.n_documents:,} documents held out; "
            "95% interval)"
        ]
        if self.repeats is not None and self.repeats.n_repeated:
            lines.append(f"{self.repeats}; repeats were held out together")
        if self.later is not None:
            what = "on the latest documents, by a model of the earlier ones"
            lines.append(f"{what}: {self.later} ({self.later.n_documents:,} documents)")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as a dictionary that JSON can hold."""
        names = ("measure", "value", "low", "high", "log_loss", "n_documents")
        return {
            **{name: getattr(self, name) for name in names},
            "repeats": None if self.repeats is None else asdict(self.repeats),
            "later": None if self.later is None else asdict(self.later),
        }

    @property
    def differs_later(self) -> bool:
        """Whether the latest documents are harder or easier than chance can explain."""
        later = self.later
        return later is not None and (later.high < self.value or later.low > self.value)

    def of_categories(self) -> list[CategoryQuality]:
        """Return precision and recall of each category, with intervals."""
        found = []
        for right, assigned, documents in self.category_counts.T.tolist():
            found.append(
                CategoryQuality(
                    documents=round(documents),
                    precision=self._share(right, assigned),
                    recall=self._share(right, documents),
                )
            )
        return found

    def _share(self, part: float, whole: float) -> Share | None:
        if whole == 0:
            return None
        value = part / whole
        n_effective = whole * self.effective_share
        return Share(value, *_interval(value, n_effective, _ERRORS_SAVED_OF_CATEGORIES))

    def _post_load(self) -> None:
        counts = self.category_counts
        if counts.ndim != 2 or len(counts) != 3 or not np.all(np.isfinite(counts)):
            raise DataError("the counts of held-out documents must be three rows of numbers")


@dataclass(frozen=True)
class Share:
    """A share and the ends of its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.0f}% ({100 * self.low:.0f} to {100 * self.high:.0f})"


@dataclass(frozen=True)
class CategoryQuality:
    """What held-out documents tell of a category; None where there is nothing to tell by."""

    documents: int
    precision: Share | None
    recall: Share | None


def expected_quality(
    classifier: TextClassifier, repeats: Repeats | None = None
) -> ExpectedQuality | None:
    """Return the quality to expect of a model that was fitted now; None if it held out nothing.

    Examples
    --------
    >>> from bayesift import TextClassifier
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> classifier.expected_quality_.value
    1.0
    """
    held_out = getattr(classifier.model_, "held_out_", None)
    if held_out is None:
        return None
    judged = judge(classifier, held_out)
    if judged.results.n_units < 2:
        return None
    estimate = judged.results.estimate()
    later = getattr(classifier.model_, "later_", None)
    return ExpectedQuality(
        judged.measure,
        estimate.value,
        estimate.low,
        estimate.high,
        judged.log_loss,
        len(held_out.documents),
        judged.category_counts,
        estimate.n_effective / len(held_out.documents),
        judged.reliability,
        repeats,
        None if later is None else _later_quality(judge(classifier, later)),
    )


def _later_quality(judged: JudgedDocuments) -> LaterQuality:
    estimate = judged.results.estimate()
    return LaterQuality(
        judged.measure,
        estimate.value,
        estimate.low,
        estimate.high,
        judged.log_loss,
        len(judged.results.above),
    )


def _in_words(quality: ExpectedQuality | LaterQuality) -> str:
    interval = f"{100 * quality.low:.1f} to {100 * quality.high:.1f}%"
    value = f"{quality.measure} {100 * quality.value:.1f}%"
    return f"{value} ({interval}), log loss {quality.log_loss:.3f}"


class QualityEstimate(NamedTuple):
    """A measure, its interval, and the number of independent documents that it is worth."""

    value: float
    low: float
    high: float
    n_effective: float


@dataclass(frozen=True, eq=False)
class HeldOutResults:
    """What became of each held-out document; the measure is the sum of `above` over `below`.

    Parameters
    ----------
    above, below, weights : one number per document
    groups : the group of each document; None if each is on its own
    alone : the share of further documents that count as wrong
    """

    above: FloatArray
    below: FloatArray
    weights: FloatArray
    groups: IntArray | None = None
    alone: float = 0.0

    @property
    def n_units(self) -> int:
        """How many documents or groups were held out apart."""
        return len(self.above) if self.groups is None else len(np.unique(self.groups))

    def estimate(self) -> QualityEstimate:
        """Return the measure with its interval."""
        above = self.above * self.weights
        below = self.below * self.weights
        # The documents that count as wrong, as one more document of their weight.
        wrong = self.alone / (1.0 - self.alone) * float(self.weights.sum())
        total = float(below.sum()) + wrong
        value = float(above.sum()) / total if total else 0.0
        deviations: FloatArray = above - value * below
        if self.groups is not None:
            unit_of = units_of(self.groups)[0]
            deviations = np.bincount(unit_of, weights=deviations).astype(np.float64)
        squares = float(deviations @ deviations) + value**2 * wrong
        n_effective = _effective_size(value, squares, total, self.n_units)
        return QualityEstimate(value, *_interval(value, n_effective), n_effective)


def _effective_size(value: float, squares: float, total: float, n_units: int) -> float:
    """Return the number of documents with the variance that squared deviations of units tell."""
    smooth = (value * n_units + 1.0) / (n_units + 2.0)
    of_one = smooth * (1.0 - smooth)
    n_errors = n_units * min(value, 1.0 - value)
    variance = (n_errors * squares / total**2 + of_one / n_units) / (n_errors + 1.0)
    few = (t.ppf(0.5 + _LEVEL / 2, max(n_units - 1, 1)) / norm.ppf(0.5 + _LEVEL / 2)) ** 2
    of_training = 1.0 + _TRAINING_VARIANCE + _TRAINING_VARIANCE_OF_FEW / n_units
    return float(of_one / (few * of_training * variance))


def _interval(
    value: float, n_effective: float, errors_saved: float | None = None
) -> tuple[float, float]:
    """Return Wilson's interval; its upper end is that of a share without the errors saved."""
    saved = _ERRORS_SAVED if errors_saved is None else errors_saved
    shares = np.array([value, value + saved * (1.0 - value)])
    trials = np.full(2, n_effective)
    lows, highs = wilson_interval(shares * trials, trials, level=_LEVEL)
    # Rounding may leave the lower end of a share of 0 a little above it.
    return min(float(lows[0]), value), float(highs[1])


@dataclass(frozen=True, eq=False)
class JudgedDocuments:
    """Decisions on held-out documents, and what they come to."""

    measure: Measure
    results: HeldOutResults
    log_loss: float
    category_counts: FloatArray
    reliability: ReliabilityCurve


def judge(classifier: TextClassifier, held_out: HeldOutProbabilities) -> JudgedDocuments:
    """Decide on held-out documents as on new ones, and compare with their labels."""
    labels = held_out.labels
    probabilities = held_out.probabilities
    weights = held_out.weights
    if classifier.multilabel_:
        decisions = _cross_fitted_decisions(classifier, held_out)
        above = 2.0 * np.sum(decisions & labels, axis=1)
        below = decisions.sum(axis=1) + labels.sum(axis=1).astype(np.float64)
        losses = -xlogy(labels, probabilities) - xlog1py(~labels, -probabilities)
        per_document = losses.mean(axis=1)
        curve = reliability_curve(labels, probabilities)
    else:
        if labels.shape[1] == 1:
            labels = np.hstack([~labels, labels])
            probabilities = np.hstack([1.0 - probabilities, probabilities])
        decisions = classifier.decisions_of(probabilities)
        above = np.any(decisions & labels, axis=1).astype(np.float64)
        below = np.ones(len(above))
        per_document = -np.log(np.maximum(probabilities, 1e-15)[labels])
        curve = top_label_curve(labels, probabilities, n_bins=10)
    counts = np.stack([weights @ (decisions & labels), weights @ decisions, weights @ labels])
    return JudgedDocuments(
        "micro F1" if classifier.multilabel_ else "accuracy",
        HeldOutResults(above, below, weights, held_out.groups, held_out.alone),
        float(weights @ per_document / weights.sum()),
        counts,
        curve,
    )


def _cross_fitted_decisions(
    classifier: TextClassifier, held_out: HeldOutProbabilities
) -> BoolArray:
    """Decide each half of the documents by thresholds that were fitted to the other half."""
    rule = classifier.estimator_.rule_
    if not rule.needs_scores:
        decided: BoolArray = rule.decide(held_out.probabilities)
        return decided
    units: IntArray = np.arange(len(held_out.documents))
    if held_out.groups is not None:
        units = units_of(held_out.groups)[0]
    decisions = np.zeros(held_out.labels.shape, dtype=bool)
    for half in (units % 2 == 0, units % 2 == 1):
        if half.all() or not half.any():
            continue
        other = clone(rule).fit(held_out.labels[~half], held_out.probabilities[~half])
        decisions[half] = other.decide(held_out.probabilities[half])
    return decisions
