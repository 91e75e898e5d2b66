"""The spike-and-slab posterior of every word against the mode under a Laplace prior.

`python -m benchmarks.spike_slab` prints how stable the words are that each takes, over bootstrap
samples.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.corpora import load_reuters
from bayesift.models import make_learner
from bayesift.models.linear import LaplacePrior, SparseBayesClassifier, SpikeSlabClassifier
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

Data = tuple[Any, Any, Any, Array]


@cache
@if_present
def reuters() -> Data:
    """Return ltc vectors of all words and categories, of training and test documents."""
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
    learner = "logistic-spike-slab" if link == "logit" else "probit-spike-slab"
    probabilities: Array = (
        make_learner(learner).fit(*data[:2]).predict_proba_integrated(data[2])
    )
    return probabilities


def _check(results: dict[str, Any]) -> None:
    """Check that the log loss of the posterior is not above that of the mode."""
    data = reuters()
    assert data is not None
    truth = data[3] > 0
    losses = {}
    for name, found in results.items():
        clipped = np.clip(found, 1e-15, 1 - 1e-15)
        loss = -np.where(truth, np.log(clipped), np.log1p(-clipped)).sum(axis=1).mean()
        losses["mode" in name] = loss
        print(f"{name}: log loss {loss:.4f} per document")
    assert losses[False] <= losses[True]


def stability(*, n_samples: int = 8, n_categories: int = 10) -> None:
    """Print how bootstrap samples change the selected words of the largest categories.

    Jaccard: of the words taken (inclusion above 1/2; a weight that is not 0) by two samples, the
    share that both took. Words that all training documents call likely to matter should be taken
    again, the others should not.
    """
    data = reuters()
    assert data is not None
    X, Y = data[0], data[1].toarray()
    Y = Y[:, np.argsort(-Y.sum(axis=0))[:n_categories]]
    whole = SpikeSlabClassifier(background_variance=0.0).fit(X, Y).inclusion_.toarray()
    taken: dict[str, list[Array]] = {"spike and slab": [], "Laplace mode": []}
    for seed in range(n_samples):
        rows = np.random.default_rng(seed).integers(0, X.shape[0], X.shape[0])
        posterior = SpikeSlabClassifier(background_variance=0.0).fit(X[rows], Y[rows])
        mode = SparseBayesClassifier(prior=LaplacePrior(gamma=0.04)).fit(X[rows], Y[rows])
        taken["spike and slab"].append(posterior.inclusion_.toarray() > 0.5)
        taken["Laplace mode"].append(np.asarray(mode.coef_.toarray()) != 0)
    for name, sets in taken.items():
        pairs = [(a, b) for place, a in enumerate(sets) for b in sets[:place]]
        shares = [
            np.mean((a & b).sum(axis=1) / np.maximum((a | b).sum(axis=1), 1)) for a, b in pairs
        ]
        size = np.mean([found.sum(axis=1).mean() for found in sets])
        print(f"{name}: Jaccard {np.mean(shares):.3f}, {size:.1f} words a category")
    again = np.mean(taken["spike and slab"], axis=0)
    for low, high in (
        (0.0, 0.02),
        (0.02, 0.1),
        (0.1, 0.5),
        (0.5, 0.9),
        (0.9, 0.99),
        (0.99, 1.01),
    ):
        inside = (whole >= low) & (whole < high) & (whole > 0)
        if inside.any():
            share = again[inside].mean()
            print(
                f"inclusion {low:.2f} to {high:.2f}: {inside.sum():,} words, taken by {share:.0%} "
                f"of the samples"
            )


def _race(link: str) -> Benchmark:
    ours, peer = f"{link}, spike and slab", f"{link}, Laplace mode"
    return Benchmark(
        name=f"spike_slab_{link}",
        objective="inclusion probabilities of all words of 90 categories; at most 10 times the "
        "Laplace mode is asked",
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

if __name__ == "__main__":
    stability()
