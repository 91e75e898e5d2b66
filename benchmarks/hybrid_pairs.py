"""Compare hybrids of naive Bayes and hyperplanes on all 190 pairs of newsgroups.

    python -m benchmarks.hybrid_pairs

Texts and split are those of `papers/hybrid.py`: by date, bodies without headers, raw counts, terms
in three training documents at least and not among the 50 most frequent. Nothing is chosen on test
documents. Nandanwar & Murty (2013) print 15 of the pairs.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from bayesift.arrays import Array
from bayesift.corpora import load_newsgroups
from bayesift.models.baselines import (
    HybridClassifier,
    LinearSVM,
    NaiveBayesLogisticClassifier,
    NBSVMClassifier,
)
from bayesift.models.naive_bayes import NaiveBayesClassifier
from papers.hybrid import pair_of
from papers.printed import printed_table

SYSTEMS = {
    "naive Bayes": NaiveBayesClassifier,
    "SVM": LinearSVM,
    "hybrid, alpha on a grid": HybridClassifier,
    "NBSVM (presence)": NBSVMClassifier,
    "logistic, prior at naive Bayes": NaiveBayesLogisticClassifier,
}
OURS = "logistic, prior at naive Bayes"
PROBABILITIES = ("naive Bayes", OURS)


Measured = tuple[tuple[str, str], dict[str, Array], dict[str, float]]


def measure(pair: tuple[str, str]) -> Measured:
    """Return whether each test document of a pair is right, and log losses, by system."""
    with threadpool_limits(1):
        documents = pair_of(*pair, "tf", True, None, False)
        right, losses = {}, {}
        for name, make in SYSTEMS.items():
            X, X_test = documents.X, documents.X_test
            if "presence" in name:
                X, X_test = X.sign(), X_test.sign()
            model = make().fit(X, documents.y)
            right[name] = model.predict(X_test) == documents.y_test
            if name in PROBABILITIES:
                of_truth = np.searchsorted(model.classes_, documents.y_test)
                logs = model.predict_log_proba(X_test)[np.arange(len(of_truth)), of_truth]
                losses[name] = float(-np.mean(logs))
    return pair, right, losses


def rendered(measured: list[Measured]) -> Iterator[str]:
    """Yield the table: means over pairs, pairs won and lost, documents won and lost."""
    yield f"{len(measured)} pairs"
    columns = "pairs better : worse (P) | documents better : worse (P)"
    yield f"| system | accuracy | log loss | {columns} |"
    yield "|---|---|---|---|---|"
    for name in SYSTEMS:
        accuracy = 100 * np.mean([right[name].mean() for _, right, _ in measured])
        loss = ""
        if name in PROBABILITIES:
            loss = f"{np.mean([losses[name] for _, _, losses in measured]):.3f}"
        by_pair, by_document = "", ""
        if name != OURS:
            differences = [right[OURS].mean() - right[name].mean() for _, right, _ in measured]
            by_pair = _compared(np.array(differences))
            by_document = _compared(
                np.concatenate([right[OURS] * 1 - right[name] * 1 for _, right, _ in measured])
            )
        yield f"| {name} | {accuracy:.2f} | {loss} | {by_pair} | {by_document} |"


def _compared(differences: Array) -> str:
    """Return how often ours is better and worse, with the two-sided P of the sign test."""
    wins, losses = int(np.sum(differences > 0)), int(np.sum(differences < 0))
    return f"{wins} : {losses} ({binomtest(wins, wins + losses).pvalue:.2g})"


def main() -> None:
    """Measure every pair on all cores and print the tables."""
    groups = sorted(set(load_newsgroups().labels))
    pairs = list(itertools.combinations(groups, 2))
    printed = {row for row in printed_table("hybrid:table-1").rows if " vs " in row}
    measured = []
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for result in pool.map(measure, pairs):
            measured.append(result)
            print(f"\r{len(measured)} of {len(pairs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print("\n".join(rendered(measured)))
    print("\n".join(rendered([row for row in measured if " vs ".join(row[0]) in printed])))


if __name__ == "__main__":
    main()
