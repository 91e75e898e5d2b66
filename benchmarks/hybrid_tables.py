"""`python -m benchmarks.hybrid_tables`: Table 1 and Figures 1 to 3 of Nandanwar & Murty (2013) on 20 Newsgroups.

The paper does not say which texts, cuts of Zipf's curve, C or split it took. Here: the by-date split; terms in at least
three training documents (rare zone) and not among the 50 most frequent; C = 1; alpha by five-fold cross-validation on
the training part. Two text treatments: raw counts of bodies without headers, and log TF-IDF of whole texts. NBSVM,
which the paper does not have, sees presence of terms.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.datasets import load_newsgroups
from bayesift.models import HybridClassifier, NaiveBayesClassifier, NBSVMClassifier, SupportVectorClassifier
from bayesift.models.hyperplanes.hybrid import heaviest, hyperplanes_of
from bayesift.models.hyperplanes.plots import alpha_figure, kept_figure
from bayesift.text import TermVectorizer
from bayesift.text.plots import zipf_figure

Array = np.ndarray[Any, Any]

# Table 1: accuracy of SVM, NBC and the hybrid, in per cent
PAPER = {
    ("alt.atheism", "soc.religion.christian"): (89.79, 91.42, 95.13),
    ("alt.atheism", "talk.politics.guns"): (94.96, 97.48, 98.49),
    ("alt.atheism", "talk.politics.mideast"): (93.75, 95.50, 96.50),
    ("alt.atheism", "talk.religion.misc"): (67.55, 76.78, 77.31),
    ("comp.graphics", "comp.sys.mac.hardware"): (85.54, 89.88, 91.33),
    ("comp.graphics", "comp.windows.x"): (80.93, 86.34, 87.89),
    ("comp.sys.ibm.pc.hardware", "misc.forsale"): (86.67, 90.71, 92.62),
    ("comp.sys.ibm.pc.hardware", "sci.crypt"): (94.91, 95.60, 96.99),
    ("comp.windows.x", "sci.crypt"): (95.05, 95.83, 96.88),
    ("comp.windows.x", "sci.electronics"): (90.21, 94.07, 95.62),
    ("rec.autos", "rec.motorcycles"): (90.38, 90.89, 93.42),
    ("rec.motorcycles", "sci.med"): (94.85, 95.10, 97.16),
    ("sci.space", "soc.religion.christian"): (92.66, 96.89, 98.31),
    ("talk.politics.guns", "talk.religion.misc"): (83.91, 86.33, 87.67),
    ("talk.politics.mideast", "talk.religion.misc"): (90.52, 94.01, 95.01),
}
TREATMENTS = {
    "body, raw counts": ("tf", True),
    "whole text, log TF-IDF": ("ltc", False),
}
SYSTEMS = {
    "SVM": SupportVectorClassifier,
    "NBC": NaiveBayesClassifier,
    "hybrid": HybridClassifier,
    "NBSVM": NBSVMClassifier,
}


def pair_of(corpus: Any, pair: tuple[str, str], weighting: str, *, body: bool) -> tuple[Any, Array, Any, Array, Any]:
    """Vectors and labels of the training and test documents of two groups, and the vectorizer."""
    parts = []
    for split in ("train", "test"):
        documents = [d for d in corpus.split(split) if d.categories[0] in pair]
        texts = [d.text.partition("\n\n")[2] if body else d.text for d in documents]
        parts.append((texts, np.array([d.categories[0] for d in documents])))
    (train_texts, train), (test_texts, test) = parts
    vectorizer = TermVectorizer(weighting=weighting, min_df=3, drop_frequent=50)  # type: ignore[arg-type]
    return vectorizer.fit_transform(train_texts), train, vectorizer.transform(test_texts), test, vectorizer


def table(corpus: Any, weighting: str, *, body: bool) -> dict[tuple[str, str], list[float]]:
    """Accuracy of every system on every pair, in per cent."""
    rows = {}
    for pair in PAPER:
        X, y, more, truth, _ = pair_of(corpus, pair, weighting, body=body)
        binary = X.sign(), more.sign()
        for_system = {name: binary if name == "NBSVM" else (X, more) for name in SYSTEMS}
        rows[pair] = [
            100 * float(np.mean(make().fit(for_system[name][0], y).predict(for_system[name][1]) == truth))
            for name, make in SYSTEMS.items()
        ]
    return rows


def pictures(corpus: Any, folder: Path) -> None:
    """Figures 1 to 3, for the first pair."""
    X, y, more, truth, vectorizer = pair_of(corpus, next(iter(PAPER)), "tf", body=True)
    names = vectorizer.vocabulary_.names
    zipf_figure(names, np.asarray(X.sum(axis=0)).ravel(), title="Figure 1").savefig(folder / "hybrid-figure-1.png")
    model = HybridClassifier().fit(X, y)
    alpha_figure(model.alphas_, model.validation_scores_).savefig(folder / "hybrid-figure-2.png")
    shares, curves = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0]), {}
    for name in ("SVM", "NBC"):
        weights, intercepts = hyperplanes_of(SYSTEMS[name]().fit(X, y))
        kept = [more @ heaviest(weights, share)[0] + intercepts[0] > 0 for share in shares]
        curves[name] = np.array([np.mean(np.unique(y)[k.astype(int)] == truth) for k in kept])
    kept_figure(shares, curves).savefig(folder / "hybrid-figure-3.png")


def render(rows: dict[tuple[str, str], list[float]]) -> list[str]:
    """Paper / ours (difference) of each pair, and the means."""
    lines = [f"| pair | {' | '.join(SYSTEMS)} |", "|---" * (len(SYSTEMS) + 1) + "|"]
    lines += [f"| {' / '.join(pair)} | {_cells(PAPER[pair], ours)} |" for pair, ours in rows.items()]
    means = (np.mean(list(values), axis=0).tolist() for values in (PAPER.values(), rows.values()))
    return [*lines, f"| mean | {_cells(*means)} |"]


def _cells(paper: Sequence[float], ours: Sequence[float]) -> str:
    pairs = zip(paper, ours, strict=False)
    both = [f"{printed:.1f} / {found:.1f} ({found - printed:+.1f})" for printed, found in pairs]
    return " | ".join([*both, *(f"{found:.1f}" for found in ours[len(paper) :])])


def main() -> None:
    """Print the table of both text treatments and write the pictures."""
    corpus = load_newsgroups()
    folder = Path("out")
    folder.mkdir(exist_ok=True)
    for treatment, (weighting, body) in TREATMENTS.items():
        rows = table(corpus, weighting, body=body)
        print("\n".join(["", f"{treatment}: accuracy, paper / ours (difference)", "", *render(rows)]))
        gain = np.array([r[2] - max(r[0], r[1]) for r in rows.values()])
        above = f"above both in {np.mean(gain > 0):.0%} of the pairs"
        print(f"\nhybrid less the better part: mean {gain.mean():+.2f}, {above}", flush=True)
    pictures(corpus, folder)
    print(f"pictures in {folder}/", file=sys.stderr)


if __name__ == "__main__":
    main()
