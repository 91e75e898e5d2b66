"""The experiment of Eyheramendy et al. (2003) on Reuters-21578: what it fixes, and what it leaves open as parameters.

Fixed: the ten largest categories; labelled documents of the ModApte split (7,770 and 3,019); stop words and punctuation
left out; log TF; terms chosen for each category by |Pearson|; the threshold with the fewest training errors. Open, and
here as their defaults: words are runs of letters, without stems; the intercept has no prior; the mode is exact; of
equally good thresholds the one in the widest gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.datasets import load_reuters
from bayesift.evaluation import evaluate_decisions
from bayesift.features import SelectTerms
from bayesift.models import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    NaiveBayesClassifier,
    SparseBayesClassifier,
    SupportVectorClassifier,
)
from bayesift.text import TermVectorizer
from bayesift.text.weighting import scale_to_length_one
from bayesift.thresholds import MinimumErrors

Array = np.ndarray[Any, Any]

TEN = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn")

PEERS: dict[str, Callable[[], Any]] = {"naive Bayes": NaiveBayesClassifier, "SVM": SupportVectorClassifier}
CHANGE, CUT = 1e-2, 1e-3  # where an impatient EM stops, as a share of the largest weight, and what it then takes for 0
JEFFREYS_CHANGE = 1e-3  # where EM stops under the Jeffreys prior


@dataclass(frozen=True)
class Setting:
    """One column of one of the paper's tables, or a variation of it.

    Parameters
    ----------
    model : "probit", "logit"; "naive Bayes" and "SVM" have no prior
    prior, parameter : "jeffreys", "laplace" (gamma) or "gaussian" (variance)
    terms, by : how many terms a category, by which score
    weighting : "log-tf", "tf" or "binary"
    idf : "none", "ln" or "log2" of (documents / those with the term); "cosine" is "ln", then documents of length one
    subset, characters, stop_words, stemmer : the documents and their words, as `load_reuters` and `TermVectorizer` say
    intercept : "flat", or "prior" for that of the other weights
    stop : "mode", or "early" for an EM that stops at a change of `CHANGE` and cuts at `CUT`
    threshold : the one with the fewest training errors in the "widest" gap, the "highest" or "lowest" of these; "zero"
    """

    model: str = "probit"
    prior: Literal["jeffreys", "laplace", "gaussian"] = "laplace"
    parameter: float = 10.0
    terms: int = 300
    by: str = "pearson"
    weighting: Literal["log-tf", "tf", "binary"] = "log-tf"
    idf: Literal["none", "ln", "log2", "cosine"] = "none"
    subset: Literal["labelled", "modapte"] = "labelled"
    characters: Literal["letters", "words"] = "letters"
    stop_words: str | None = "english"
    stemmer: str | None = None
    intercept: Literal["flat", "prior"] = "flat"
    stop: Literal["mode", "early"] = "mode"
    threshold: Literal["widest", "highest", "lowest", "zero"] = "widest"


class Vectors(NamedTuple):
    """Training and test documents as vectors, and their categories among the ten as indicators."""

    train: Any
    train_categories: Array
    test: Any
    test_categories: Array


class Measured(NamedTuple):
    """F1 of the ten, micro and macro F1, in per cent; and how many parameters are not 0, the intercept included."""

    f1: Array
    micro: float
    macro: float
    parameters: Array


@cache
def _corpus(subset: Any) -> Any:
    return load_reuters(subset=subset)


@cache
def _vectors(subset: Any, weighting: Any, idf: str, characters: Any, stop_words: Any, stemmer: Any) -> Vectors:
    corpus = _corpus(subset)
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(weighting=weighting, characters=characters, stop_words=stop_words, stemmer=stemmer)
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    if idf != "none":
        rarity = np.log(len(train.texts) / vectorizer.document_frequencies_) / (np.log(2) if idf == "log2" else 1.0)
        X, X_test = (sparse.csr_array(matrix * rarity) for matrix in (X, X_test))
    if idf == "cosine":
        scale_to_length_one(X)
        scale_to_length_one(X_test)
    places = [list(corpus.categories).index(name) for name in TEN]
    return Vectors(X, train.indicator[:, places].toarray(), X_test, test.indicator[:, places].toarray())


def vectors_of(setting: Setting) -> Vectors:
    """The documents as a setting wants them."""
    return _vectors(
        setting.subset, setting.weighting, setting.idf, setting.characters, setting.stop_words, setting.stemmer
    )


def supports_of(setting: Setting) -> Any:
    """Which terms each category may use, categories x terms."""
    vectors = vectors_of(setting)
    return SelectTerms(by=setting.by, k=setting.terms, per_category=True).fit(*vectors[:2]).supports_


def classifier_of(setting: Setting) -> Any:
    """The classifier, not fitted."""
    priors: dict[str, Callable[[], Any]] = {
        "jeffreys": JeffreysPrior,
        "laplace": lambda: LaplacePrior(gamma=setting.parameter),
        "gaussian": lambda: GaussianPrior(variance=setting.parameter),
    }
    early, em = setting.stop == "early", setting.stop == "early" or setting.prior == "jeffreys"
    return SparseBayesClassifier(
        link=setting.model,
        prior=priors[setting.prior](),
        intercept="flat" if setting.intercept == "flat" else None,
        solver="em" if em else "auto",
        tol=100 * (CHANGE if early else JEFFREYS_CHANGE) if em else 1e-3,  # EM stops at 1% of tol
        max_iter=20_000,
    )


@cache
def measure(setting: Setting) -> Measured:
    """Fit the ten categories, choose thresholds on the training documents, and measure on the test documents."""
    vectors, supports = vectors_of(setting), supports_of(setting)
    train, test = vectors.train, vectors.test
    if setting.intercept == "prior":
        train, test = (sparse.csr_array(sparse.hstack([X, np.ones((X.shape[0], 1))])) for X in (train, test))
        supports = sparse.csr_array(sparse.hstack([supports, np.ones((len(TEN), 1), dtype=bool)]))
    fit = _fit_peers if setting.model in PEERS else _fit
    (train_scores, test_scores), parameters = fit(setting, (train, test), vectors.train_categories, supports)
    thresholds = _thresholds(setting.threshold, vectors.train_categories, train_scores)
    found = evaluate_decisions(vectors.test_categories, test_scores > thresholds)
    f1 = 100 * np.array([row.f1 for row in found.categories])
    return Measured(f1, 100 * found.micro.f1, 100 * found.macro.f1, parameters)


def _fit(setting: Setting, matrices: tuple[Any, Any], Y: Array, supports: Any) -> tuple[list[Array], Array]:
    """Scores of both matrices, and the parameters of each category that are not 0."""
    model = classifier_of(setting).fit(matrices[0], Y, supports=supports)
    weights = np.array([solution.coefficients for solution in model.solutions_])
    intercepts = np.array([solution.intercept for solution in model.solutions_])
    if setting.stop == "early":
        weights[np.abs(weights) < CUT] = 0.0
    parameters = np.count_nonzero(np.column_stack([weights, intercepts]), axis=1)
    return [X @ weights.T + intercepts for X in matrices], parameters


def _fit_peers(setting: Setting, matrices: tuple[Any, Any], Y: Array, supports: Any) -> tuple[list[Array], Array]:
    """The same for a model without supports: each category by itself on its own columns."""
    scores: list[list[Array]] = [[], []]
    for place, terms in enumerate(supports.toarray().astype(bool)):
        columns = [sparse.csr_array(X)[:, np.flatnonzero(terms)] for X in matrices]
        model = PEERS[setting.model]().fit(columns[0], Y[:, place])
        for found, X in zip(scores, columns, strict=True):
            found.append(_score(model, X))
    return [np.column_stack(found) for found in scores], supports.sum(axis=1) + 1


def _score(model: Any, X: Any) -> Array:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X)).ravel()
    logarithms = model.predict_log_proba(X)
    return np.asarray(logarithms[:, 1] - logarithms[:, 0])


def _thresholds(which: str, Y: Array, scores: Array) -> Array:
    if which == "zero":
        return np.zeros(Y.shape[1])
    if which == "widest":
        return MinimumErrors().fit(Y, scores).thresholds_
    return np.array([_extreme(y, s, highest=which == "highest") for y, s in zip(Y.T, scores.T, strict=True)])


def _extreme(y: Array, scores: Array, *, highest: bool) -> float:
    """The highest or the lowest score that as a threshold (exclusive) makes the fewest errors."""
    order = np.argsort(scores)
    missed, false = np.cumsum(y[order] > 0), np.sum(y == 0) - np.cumsum(y[order] == 0)
    last = np.append(np.diff(scores[order]) > 0, True)  # equal scores are decided alike
    errors = np.where(last, missed + false, len(y))
    best = scores[order][errors == errors.min()]
    return float(best[-1] if highest else best[0])
