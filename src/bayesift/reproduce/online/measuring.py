"""Classification on Reuters-21578 as Chai, Ng & Chieu (2002) did it.

Porter stems, English stop words, ltc over the whole vocabulary. Bayesian models and SVM b use at most 300 terms a
category with -2 ln lambda above 12.13, and go through the documents three times in the order of the corpus; SVM a
uses all words of at least three training documents.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bayesift.evaluation import Estimate, bootstrap_f1, bootstrap_mean
from bayesift.features import SelectTerms
from bayesift.models import MarginClassifier
from bayesift.models.online import FlipNoise, LogitNoise, OnlineGaussianProcess, OnlinePerceptron, ProbitNoise
from bayesift.reproduce.corpora import corpus_part
from bayesift.text import TermVectorizer
from bayesift.text.weighting import scale_to_length_one
from bayesift.thresholds import Bayes, ExpectedF1, MaxF1

Array = np.ndarray[Any, Any]

KERNELS = {"1": "linear", "2": "polynomial", "R1": "rbf"}
LIKELIHOODS: dict[str, Callable[[], Any]] = {
    "probit": lambda: ProbitNoise(0.5),
    "logit": lambda: LogitNoise(by="probit"),
    "exact logit": LogitNoise,
    "flip": lambda: FlipNoise(0.1),
}


class Reuters(NamedTuple):
    """Vectors of training and test documents, their labels, and the terms selected for each category."""

    X: Any
    X_test: Any
    Y: Array
    Y_test: Array
    supports: Any


@lru_cache(maxsize=2)
def reuters_vectors(quick: bool, min_df: int) -> tuple[Any, Any, Array, Array]:
    """Vectors and labels."""
    corpus = corpus_part("reuters", quick)
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(weighting="ltc", stop_words="english", stemmer="porter", min_df=min_df)
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    return X, X_test, train.indicator.toarray(), test.indicator.toarray()


@lru_cache(maxsize=1)
def _supports(quick: bool) -> Any:
    X, _, Y, _ = reuters_vectors(quick, 1)
    return SelectTerms(by="likelihood-ratio", threshold=12.13, k=300, per_category=True).fit(X, Y).supports_


def data_of(row: str, quick: bool) -> Reuters:
    """What a system reads."""
    every_word = row.startswith("SVMa")
    vectors = reuters_vectors(quick, 3 if every_word else 1)
    return Reuters(*vectors, None if every_word else _supports(quick))


def model_of(row: str, *, likelihood: str = "probit", passes: int = 3, bias: float = 1.0) -> Any:
    """The unfitted model of a row of Table 2."""
    family, _, number = row.partition("-")
    if family == "GP":
        return OnlineGaussianProcess(kernel=KERNELS[number], max_basis="terms")
    if family == "Perceptron":
        return OnlinePerceptron(likelihood=LIKELIHOODS[likelihood](), passes=passes, bias=bias)
    return MarginClassifier(kernel=KERNELS[number])


def measure_system(
    *,
    row: str,
    quick: bool,
    seed: int,
    likelihood: str = "probit",
    passes: int = 3,
    bias: float = 1.0,
    order: str = "corpus",
    length: str = "all words",
) -> dict[str, Any]:
    """Micro and macro F1 by each threshold, evidence, and the decisions by MaxF1.

    Parameters
    ----------
    row : a row of Table 2
    quick, seed : as always
    likelihood, passes, bias : of the perceptron
    order : of the training documents: "corpus", "reversed" or "shuffled"
    length : what is of length one: a document with "all words", or with those of any category's "terms"
    """
    data = data_of(row, quick)
    if length == "terms":
        data = _of_selected_length(data)
    model, rows = model_of(row, likelihood=likelihood, passes=passes, bias=bias), _ordered(order, len(data.Y), seed)
    model.fit(data.X[rows], data.Y[rows], **({} if data.supports is None else {"supports": data.supports}))
    probabilities = hasattr(model, "predict_proba")
    score = model.predict_proba if probabilities else model.decision_function
    train, test = score(data.X), score(data.X_test)
    decided = _decisions(data.Y, train, test, probabilities)
    measured: dict[str, Any] = {}
    for rule, decisions in decided.items():
        found = bootstrap_f1(data.Y_test, decisions, random_state=seed)
        measured |= {f"{rule} micro": _percent(found.micro), f"{rule} macro": _percent(found.macro)}
    if row == "Perceptron":
        measured["evidence"] = _evidence(model, data, test, seed)
    return {**measured, "decisions": np.flatnonzero(decided["MaxF1"]).tolist(), "shape": list(data.Y_test.shape)}


def labels_of_test(*, quick: bool, seed: int) -> dict[str, Any]:
    """The labels of the test documents, for the sign tests."""
    Y_test = reuters_vectors(quick, 1)[3]
    return {"shape": list(Y_test.shape), "labels": np.flatnonzero(Y_test).tolist()}


def _decisions(Y: Array, train: Array, test: Array, probabilities: bool) -> dict[str, Array]:
    decided = {
        "0.5": Bayes().fit(Y, train).decide(test) if probabilities else test > 0,
        "MaxF1": MaxF1().fit(Y, train).decide(test),
    }
    if probabilities:
        decided["ExpectedF1"] = ExpectedF1().fit(Y, train).decide(test)
    return decided


def _evidence(model: Any, data: Reuters, probabilities: Array, seed: int) -> list[float | None]:
    """The log evidence of the test documents, mean over categories; the interval resamples documents."""
    value = float(np.mean(model.log_evidence(data.X_test, data.Y_test)))
    clipped = np.clip(probabilities, 1e-300, 1 - 1e-16)
    each = np.where(data.Y_test > 0, np.log(clipped), np.log1p(-clipped)).sum(axis=1)
    scale = len(each) / data.Y_test.shape[1]
    spread = bootstrap_mean(each, random_state=seed)
    assert spread.lower is not None
    assert spread.upper is not None
    return [value, value + scale * (spread.lower - spread.value), value + scale * (spread.upper - spread.value)]


def _ordered(order: str, n_documents: int, seed: int) -> Array:
    rows = np.arange(n_documents)
    return {"corpus": rows, "reversed": rows[::-1], "shuffled": np.random.default_rng(seed).permutation(rows)}[order]


def _of_selected_length(data: Reuters) -> Reuters:
    chosen = np.flatnonzero(data.supports.sum(axis=0) > 0)
    parts = [matrix.tocsc()[:, chosen].tocsr() for matrix in (data.X, data.X_test)]
    for part in parts:
        scale_to_length_one(part)
    return data._replace(X=parts[0], X_test=parts[1], supports=data.supports.tocsc()[:, chosen].tocsr())


def _percent(estimate: Estimate) -> list[float | None]:
    return [None if part is None else 100 * part for part in estimate]
