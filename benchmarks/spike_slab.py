"""The spike-and-slab posterior of every word against the mode under a Laplace prior: time and log loss."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.datasets import load_reuters
from bayesift.models import LaplacePrior, SparseBayesClassifier, SpikeSlabClassifier
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

Data = tuple[Any, Any, Any, Array]


@cache
@if_present
def reuters() -> Data:
    """Unit-length ltc vectors of all words: training documents and their categories, test documents and theirs."""
    corpus = load_reuters(subset="modapte")
    train, test = corpus.split("train"), corpus.split("test")
    vectorizer = TermVectorizer(weighting="ltc")
    X = vectorizer.fit_transform(train.texts)
    return X, train.indicator, vectorizer.transform(test.texts), test.indicator.toarray()


def laplace(data: Data, link: str) -> Array:
    """Probabilities at the mode, of the learner's default rate."""
    gamma = 0.04 if link == "logit" else 0.1
    model = SparseBayesClassifier(link=link, prior=LaplacePrior(gamma=gamma)).fit(*data[:2])
    return model.predict_proba(data[2])


def spike_slab(data: Data, link: str) -> Array:
    """Probabilities averaged over the posterior."""
    return SpikeSlabClassifier(link=link).fit(*data[:2]).predict_proba_integrated(data[2])


def _check(results: dict[str, Any]) -> None:
    """Log loss is printed; that of the posterior is known to be higher (docs/explanation/linear.md)."""
    data = reuters()
    assert data is not None
    truth = data[3] > 0
    for name, found in results.items():
        clipped = np.clip(found, 1e-15, 1 - 1e-15)
        loss = -np.where(truth, np.log(clipped), np.log1p(-clipped)).sum(axis=1).mean()
        print(f"{name}: log loss {loss:.4f} per document")


def _race(link: str) -> Benchmark:
    ours, peer = f"{link}, spike and slab", f"{link}, Laplace mode"
    return Benchmark(
        name=f"spike_slab_{link}",
        objective="inclusion probabilities of all words of 90 categories; at most 10 times the Laplace mode is asked",
        datasets=[Dataset("Reuters-21578 ModApte, ltc, 90 categories, all words", reuters)],
        contenders=[
            Contender(ours, lambda data: spike_slab(data, link)),
            Contender(peer, lambda data: laplace(data, link)),
        ],
        comparisons=[Comparison(ours, peer, asked=0.1)],
        check=_check,
        repeats=3,
    )


BENCHMARK = _race("logit")
BENCHMARK_PROBIT = _race("probit")
