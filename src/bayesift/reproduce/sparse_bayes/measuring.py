"""Fitting and measuring one setting of the sparse Bayes paper."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.evaluation import Estimate, bootstrap_f1
from bayesift.features import SelectTerms
from bayesift.models import (
    GaussianPrior,
    JeffreysPrior,
    LaplacePrior,
    NaiveBayesClassifier,
    NeighborsClassifier,
    RocchioClassifier,
    SparseBayesClassifier,
    SupportVectorClassifier,
)
from bayesift.reproduce.corpora import corpus_part
from bayesift.reproduce.sparse_bayes.setting import CHANGE, CUT, TEN, Setting
from bayesift.text import TermVectorizer
from bayesift.text.weighting import scale_to_length_one
from bayesift.thresholds import MinimumErrors, SCut, ThresholdedClassifier

Array = np.ndarray[Any, Any]

PEERS: dict[str, Callable[[], Any]] = {
    "naive Bayes": NaiveBayesClassifier,
    "SVM": SupportVectorClassifier,
    "kNN": NeighborsClassifier,
    "Rocchio": RocchioClassifier,
}
JEFFREYS_CHANGE = 1e-3  # where EM stops under the Jeffreys prior


class Vectors(NamedTuple):
    """Training and test documents as vectors, their categories as indicators, and the names of these."""

    train: Any
    train_categories: Array
    test: Any
    test_categories: Array
    names: tuple[str, ...]


def measure_setting(*, quick: bool, seed: int, **parts: Any) -> dict[str, Any]:
    """F1 of the categories, micro and macro F1 in per cent, and how many parameters are not 0."""
    setting = Setting(**parts)
    vectors = vectors_of(setting, quick)
    if setting.terms == 0:
        decisions, parameters = _decide_by_peer(setting, vectors)
    else:
        decisions, parameters = _decide(setting, vectors)
    found = bootstrap_f1(vectors.test_categories, decisions, random_state=seed)
    named = dict(zip(vectors.names, found.categories, strict=True))
    measured: dict[str, Any] = {name: _percent(value) for name, value in named.items() if name in TEN}
    measured |= {"micro-average": _percent(found.micro), "macro-average": _percent(found.macro)}
    counts = dict(zip(vectors.names, parameters.tolist(), strict=True))
    measured |= {f"parameters of {name}": count for name, count in counts.items() if name in TEN}
    return {**measured, "parameters": int(parameters.sum())}


def _percent(estimate: Estimate) -> list[float | None]:
    return [None if part is None else 100 * part for part in estimate]


def vectors_of(setting: Setting, quick: bool = False) -> Vectors:
    """The documents as a setting wants them."""
    if setting.corpus == "rcv1-sample":
        return _given_vectors(quick, setting.scale)
    words = (setting.characters, setting.stop_words, setting.stemmer)
    return _vectors(setting.corpus, quick, setting.weighting, setting.idf, *words)


@lru_cache(maxsize=2)
def _vectors(
    name: str, quick: bool, weighting: Any, idf: str, characters: Any, stop_words: Any, stemmer: Any
) -> Vectors:
    corpus = corpus_part(name, quick)
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
    return Vectors(X, train.indicator.toarray()[:, places], X_test, test.indicator.toarray()[:, places], TEN)


@lru_cache(maxsize=1)
def _given_vectors(quick: bool, scale: float) -> Vectors:
    """The vectors of a corpus without text, with the categories that have a document to learn from."""
    corpus = corpus_part("rcv1-sample", quick)
    train, test = corpus.split("train"), corpus.split("test")
    assert train.vectors is not None
    assert test.vectors is not None
    Y, Y_test = train.indicator.toarray(), test.indicator.toarray()
    learned = np.flatnonzero(Y.any(axis=0))
    names = tuple(corpus.categories[i] for i in learned)
    return Vectors(scale * train.vectors, Y[:, learned], scale * test.vectors, Y_test[:, learned], names)


def supports_of(setting: Setting, vectors: Vectors) -> Any:
    """Which terms each category may use, categories x terms."""
    selection = SelectTerms(by=setting.by, k=setting.terms, per_category=True)
    return selection.fit(vectors.train, vectors.train_categories).supports_


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


def _decide(setting: Setting, vectors: Vectors) -> tuple[Array, Array]:
    """Decisions on the test documents by thresholds on training scores, and the parameters that are not 0."""
    supports, train, test = supports_of(setting, vectors), vectors.train, vectors.test
    if setting.intercept == "prior":
        train, test = (sparse.csr_array(sparse.hstack([X, np.ones((X.shape[0], 1))])) for X in (train, test))
        supports = sparse.csr_array(sparse.hstack([supports, np.ones((supports.shape[0], 1), dtype=bool)]))
    fit = _fit_peers if setting.model in PEERS else _fit
    (train_scores, test_scores), parameters = fit(setting, (train, test), vectors.train_categories, supports)
    return test_scores > _thresholds(setting.threshold, vectors.train_categories, train_scores), parameters


def _decide_by_peer(setting: Setting, vectors: Vectors) -> tuple[Array, Array]:
    """All terms, all categories at once, thresholds by F1 on documents held out."""
    model = ThresholdedClassifier(PEERS[setting.model](), rule=SCut(), cv=3)
    model.fit(vectors.train, vectors.train_categories)
    n_categories, n_terms = vectors.train_categories.shape[1], vectors.train.shape[1]
    return model.predict(vectors.test), np.full(n_categories, n_terms + 1)


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
