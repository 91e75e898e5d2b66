"""`python -m benchmarks.online_tables [ROW ...] [--keep FOLDER]`: Tables 2 and 3 of Chai, Ng & Chieu (2002).

Reuters-21578, ModApte (9,603 + 3,299 documents, 90 categories), Porter stems, English stop words, ltc. Bayesian models
and SVM b use at most 300 terms a category with -2 ln lambda above 12.13, weighted before they are selected, and go
through the documents three times in the order of the corpus; SVM a uses all words of at least three training documents.
Thresholds: 0.5 (margins: 0), MaxF1 on the training documents, ExpectedF1 on the test documents. With --keep the scores
of each row are kept, so that rows can be run one by one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.datasets import load_reuters
from bayesift.evaluation import evaluate_decisions, significance_table
from bayesift.features import SelectTerms
from bayesift.models import MarginClassifier
from bayesift.models.online import OnlineGaussianProcess, OnlinePerceptron
from bayesift.text import TermVectorizer
from bayesift.thresholds import Bayes, ExpectedF1, MaxF1

Array = np.ndarray[Any, Any]
Pair = tuple[float, float]

RULES = ("0.5", "MaxF1", "ExpectedF1")
PAPER: dict[str, tuple[Pair, ...]] = {
    "SVMa-1": ((86.15, 42.63), (86.35, 56.92)),
    "SVMa-2": ((85.44, 40.13), (86.19, 56.42)),
    "SVMa-R1": ((84.99, 37.61), (86.63, 53.14)),
    "SVMb-1": ((85.60, 52.03), (85.05, 52.43)),
    "SVMb-2": ((85.60, 50.53), (84.50, 50.49)),
    "SVMb-R1": ((85.75, 50.52), (84.65, 51.27)),
    "Perceptron": ((85.12, 45.23), (86.69, 52.16), (86.44, 53.08)),
    "GP-1": ((85.08, 45.20), (86.73, 52.12), (86.54, 53.12)),
    "GP-2": ((85.58, 47.90), (86.60, 52.19), (86.77, 55.04)),
    "GP-R1": ((85.18, 44.88), (86.76, 52.61), (86.93, 53.35)),
}
_KERNELS = {"1": "linear", "2": "polynomial", "R1": "rbf"}


@dataclass(frozen=True)
class Scores:
    """The scores of a system on training and test documents, and what they took."""

    train: Array
    test: Array
    probabilities: bool
    fit_wall: float
    fit_cpu: float


@dataclass(frozen=True)
class Reuters:
    """Labels, all words, common words, and the terms selected for each category."""

    Y: Array
    Y_test: Array
    words: tuple[sparse.csr_array, sparse.csr_array]
    common: tuple[sparse.csr_array, sparse.csr_array]
    supports: sparse.csr_array


def load(data_dir: str | Path | None = None) -> Reuters:
    """The corpus as the paper prepares it."""
    corpus = load_reuters(data_dir, subset="modapte")
    train, test = corpus.split("train"), corpus.split("test")
    matrices = []
    for min_df in (1, 3):
        vectorizer = TermVectorizer(weighting="ltc", stop_words="english", stemmer="porter", min_df=min_df)
        matrices.append((vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)))
    Y, Y_test = train.indicator.toarray(), test.indicator.toarray()
    selection = SelectTerms(by="likelihood-ratio", threshold=12.13, k=300, per_category=True)
    return Reuters(Y, Y_test, matrices[0], matrices[1], selection.fit(matrices[0][0], Y).supports_)


def model_of(row: str, n_jobs: int = -1) -> Any:
    """The unfitted model of a row."""
    family, _, number = row.partition("-")
    if family == "GP":
        return OnlineGaussianProcess(kernel=_KERNELS[number], max_basis="terms", n_jobs=n_jobs)
    if family == "Perceptron":
        return OnlinePerceptron(n_jobs=n_jobs)
    return MarginClassifier(kernel=_KERNELS[number], n_jobs=n_jobs)


def scores_of(row: str, data: Reuters, n_jobs: int = -1) -> Scores:
    """Fit the model of a row and score all documents."""
    model, supports = model_of(row, n_jobs), {} if row.startswith("SVMa") else {"supports": data.supports}
    X, X_test = data.common if row.startswith("SVMa") else data.words
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, data.Y, **supports)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    probabilities = hasattr(model, "predict_proba")
    score = model.predict_proba if probabilities else model.decision_function
    return Scores(score(X), score(X_test), probabilities, wall, cpu)


def decisions_of(scores: Scores, data: Reuters) -> dict[str, Array]:
    """Decisions on the test documents by each threshold."""
    decided = {
        "0.5": Bayes().fit(data.Y, scores.train).decide(scores.test) if scores.probabilities else scores.test > 0,
        "MaxF1": MaxF1().fit(data.Y, scores.train).decide(scores.test),
    }
    if scores.probabilities:
        decided["ExpectedF1"] = ExpectedF1().fit(data.Y, scores.train).decide(scores.test)
    return decided


def table_2(decisions: Mapping[str, Mapping[str, Array]], data: Reuters) -> dict[str, dict[str, Pair]]:
    """Micro and macro F1 of every row and threshold, in percent."""
    table: dict[str, dict[str, Pair]] = {}
    for row, by_rule in decisions.items():
        table[row] = {}
        for rule, decided in by_rule.items():
            measured = evaluate_decisions(data.Y_test, decided)
            table[row][rule] = 100 * measured.micro.f1, 100 * measured.macro.f1
    return table


def render_2(table: Mapping[str, Mapping[str, Pair]], kept: Mapping[str, Scores]) -> list[str]:
    """Table 2, the paper's and ours."""
    heading = " | ".join(f"{rule}, paper | ours" for rule in RULES)
    lines = [f"| micro / macro F1 | {heading} | fit wall s | CPU s |", "|---" * 9 + "|"]
    for row, by_rule in table.items():
        cells = []
        for rule, paper in zip(RULES, [*PAPER[row], None][:3], strict=True):
            cells.append("" if paper is None else "{:.2f} / {:.2f}".format(*paper))
            cells.append("" if rule not in by_rule else "{:.2f} / {:.2f}".format(*by_rule[rule]))
        lines.append(f"| {row} | {' | '.join(cells)} | {kept[row].fit_wall:.1f} | {kept[row].fit_cpu:.1f} |")
    return lines


def main(say: Callable[[str], None] = print) -> None:
    """Run rows and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(PAPER)}; all without")
    parser.add_argument("--keep", type=Path, help="folder for scores; rows that are there are not run again")
    parser.add_argument("--jobs", type=int, default=-1)
    chosen = parser.parse_args()
    rows = chosen.rows or list(PAPER)
    data = load()
    say(f"{len(data.Y)} + {len(data.Y_test)} documents, {data.common[0].shape[1]} words in three documents or more")
    kept = {row: _kept(row, data, chosen.keep, chosen.jobs, say) for row in rows}
    decisions = {row: decisions_of(scores, data) for row, scores in kept.items()}
    say("\n".join(["", "Table 2", "", *render_2(table_2(decisions, data), kept)]))
    by_max_f1 = {row: decided["MaxF1"] for row, decided in decisions.items()}
    significance = significance_table(data.Y_test, by_max_f1, correction=None)
    say(f"\nTable 3: s-test / S-test of MaxF1 decisions, without correction as the paper's\n\n{significance.render()}")


def _kept(row: str, data: Reuters, folder: Path | None, n_jobs: int, say: Callable[[str], None]) -> Scores:
    file = None if folder is None else folder / f"{row}.npz"
    if file is not None and file.exists():
        with np.load(file) as kept:
            return Scores(kept["train"], kept["test"], bool(kept["probabilities"]), *kept["seconds"].tolist())
    scores = scores_of(row, data, n_jobs)
    say(f"{row}: {scores.fit_wall:.1f} s, {scores.fit_cpu:.1f} CPU s")
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        seconds = np.array([scores.fit_wall, scores.fit_cpu])
        np.savez(file, train=scores.train, test=scores.test, probabilities=scores.probabilities, seconds=seconds)
    return scores


if __name__ == "__main__":
    main()
