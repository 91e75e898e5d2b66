"""The most informative words of each category.

A word of naive Bayes is weighted by how certainly it is more frequent in the category than outside,

    weight(w, c) = sqrt(p(w | c)) log(p(w | c) / p(w | rest of c)),

which is the log odds over their standard error 1 / sqrt(n_wc), but for a factor that all words of a
category share (Monroe, Colaresi & Quinn 2008). The log odds alone would show the rarest words, and
the expected contribution, with p instead of its root, the stop words. Linear models show their
coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesift.arrays import FloatArray
from bayesift.errors import DataError

if TYPE_CHECKING:
    from bayesift.classifier.text_classifier import TextClassifier


# Without smoothing a word may be impossible outside its category; no log odds count for more than
# this.
_LARGEST_LOG_ODDS = 30.0


@dataclass(frozen=True, slots=True)
class WordWeight:
    """A word and its weight for a category, below 0 if against it.

    With its standard deviation and the probability that it matters (`inclusion`), if the model has
    them.
    """

    word: str
    weight: float
    deviation: float | None = None
    inclusion: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class CategoryWords:
    """The most informative words of a category, the strongest first."""

    category: str
    words: tuple[WordWeight, ...]

    def __repr__(self) -> str:
        words = ", ".join(f"{word.word} {word.weight:.2f}" for word in self.words)
        return f"CategoryWords({self.category!r}: {words})"


def top_terms(classifier: TextClassifier, n: int) -> list[CategoryWords]:
    """Return the n most informative words of each category, in the order of `categories_`."""
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n!r}")
    names = classifier.terms()
    model = classifier.model_
    found = []
    for row, weights in enumerate(_term_weights(model)):
        words = _largest(
            names, weights[: len(names)], _deviations(model, row), _inclusion(model, row), n
        )
        found.append(CategoryWords(classifier.categories_[row], words))
    return found


def _largest(
    names: list[str],
    weights: FloatArray,
    deviations: FloatArray | None,
    inclusion: FloatArray | None,
    k: int,
) -> tuple[WordWeight, ...]:
    order = np.argsort(-weights, kind="stable")[:k]
    more = (deviations, inclusion)
    return tuple(
        WordWeight(
            names[j],
            float(weights[j]),
            *(None if values is None else float(values[j]) for values in more),
        )
        for j in order
        if weights[j] > 0
    )


def _deviations(model: Any, row: int) -> FloatArray | None:
    """Return the standard deviations of the weights of a category."""
    if not hasattr(model, "coef_variance_"):
        return None
    variances = model.coef_variance_[[min(row, model.coef_variance_.shape[0] - 1)]]
    deviations: FloatArray = np.sqrt(variances.toarray()[0])
    return deviations


def _inclusion(model: Any, row: int) -> FloatArray | None:
    """Return the probabilities that words matter to a category."""
    if not hasattr(model, "inclusion_"):
        return None
    probabilities: FloatArray = model.inclusion_[
        [min(row, model.inclusion_.shape[0] - 1)]
    ].toarray()[0]
    return probabilities


def _term_weights(model: Any) -> Iterator[FloatArray]:
    """Return the weights of all terms, category by category."""
    if hasattr(model, "log_odds_coef_") and model.multilabel_:
        return map(_weights, np.exp(model.feature_log_prob_), model.log_odds_coef_)
    if hasattr(
        model, "estimators_"
    ):  # one classifier per category, as scikit-learn's OneVsRestClassifier
        return (
            _second_class(estimator, model.n_features_in_) for estimator in model.estimators_
        )
    if hasattr(model, "feature_count_"):  # scikit-learn's naive Bayes
        counts = np.asarray(model.feature_count_, np.float64) + 1
        sizes = np.asarray(model.class_count_, np.float64)
        return _against_rest(counts / counts.sum(axis=1, keepdims=True), sizes)
    if hasattr(model, "feature_log_prob_"):
        return _against_rest(np.exp(model.feature_log_prob_), np.exp(model.class_log_prior_))
    if hasattr(model, "coef_") and model.coef_.shape[1] == model.n_features_in_:
        if sparse.issparse(model.coef_):
            coefficients = model.coef_.toarray()
        else:
            coefficients = np.asarray(model.coef_)
        return iter(
            np.vstack([-coefficients, coefficients]) if len(coefficients) == 1 else coefficients
        )
    raise DataError(f"a {type(model).__name__} has no weights of words")


def _second_class(estimator: Any, n_terms: int) -> FloatArray:
    """Return the weights of the positive class of a binary classifier; zeros for a constant one."""
    if not any(
        hasattr(estimator, name) for name in ("feature_count_", "feature_log_prob_", "coef_")
    ):
        return np.zeros(n_terms)
    *_, positive = _term_weights(estimator)
    return positive


def _against_rest(probabilities: FloatArray, priors: FloatArray) -> Iterator[FloatArray]:
    """Each class against all others taken together, weighted by their priors."""
    joint = probabilities * priors[:, np.newaxis]
    together = joint.sum(axis=0)
    for c in range(len(priors)):
        others = priors.sum() - priors[c]
        rest = (
            np.maximum(together - joint[c], 0) / others
            if others > 0
            else np.ones_like(together)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            log_odds = np.log(probabilities[c]) - np.log(rest)
        yield _weights(probabilities[c], log_odds)


def _weights(probabilities: FloatArray, log_odds: FloatArray) -> FloatArray:
    # A word that is impossible everywhere has no log odds and weight 0.
    finite = np.nan_to_num(np.clip(log_odds, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS))
    weights: FloatArray = np.sqrt(probabilities) * finite
    return weights
