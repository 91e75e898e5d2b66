"""Measure how well uncertainty tells documents of categories that were not in the training set.

Run with `python -m benchmarks.abstention`.

A quarter of the categories of a corpus is left out of training, at random; test documents that have
only those are foreign. Three such sets per corpus, none of which settings were chosen on. The peer
is `TfidfVectorizer()` and `LogisticRegression()` with their defaults, unseen words those that its
vocabulary lacks. Figures are areas under the ROC curve of foreign against other test documents;
then what `predict(abstain=0.1)` does with the other documents.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import logit
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier

from bayesift import TextClassifier
from bayesift.arrays import Array
from bayesift.charts import Axis, Figure, Frame, Line, Panel
from bayesift.charts.svg import series
from bayesift.corpora import catalogue
from bayesift.records import Corpus

CORPORA = (
    "trec-questions",
    "trec-questions-fine",
    "20newsgroups",
    "reuters-10",
    "reuters-labelled",
)
SETS = (0, 1, 2)
LEFT_OUT, RATE = 0.25, 0.1
CHART = Path(__file__).parent.parent / "out" / "benchmarks" / "risk-coverage.svg"


@dataclass(frozen=True, eq=False)
class Task:
    """Training texts without some categories, and test texts with their known labels."""

    texts: list[str]
    labels: list[tuple[str, ...]]
    test_texts: list[str]
    test_labels: list[tuple[str, ...]]

    @property
    def foreign(self) -> Array:
        """Which test texts have no category that training had."""
        return np.array([not labels for labels in self.test_labels])

    @property
    def single(self) -> bool:
        """Whether every training text has one label."""
        return all(len(labels) == 1 for labels in self.labels)


def task_of(name: str, seed: int) -> Task:
    """Return the task of a corpus without a quarter of its categories."""
    corpus = catalogue.load("reuters-labelled" if name == "reuters-10" else name)
    train, test = corpus.split("train"), corpus.split("test")
    counts = train.category_counts()
    kept = (
        [c for c, _ in counts.most_common(10)]
        if name == "reuters-10"
        else [c for c in counts if counts[c]]
    )
    names = sorted(kept)
    chosen = np.random.default_rng(seed).choice(
        len(names), max(1, round(LEFT_OUT * len(names))), replace=False
    )
    known = set(names) - {names[j] for j in chosen}
    texts, labels = _rows(train, names, known)
    kept_rows = [row for row, held in enumerate(labels) if held]
    return Task(
        [texts[row] for row in kept_rows],
        [labels[row] for row in kept_rows],
        *_rows(test, names, known),
    )


def _rows(
    part: Corpus, names: list[str], known: set[str]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the texts that have one of the categories, and which of these are known."""
    documents = [document for document in part if set(document.categories) & set(names)]
    labels = [
        tuple(name for name in document.categories if name in known) for document in documents
    ]
    return [document.full_text for document in documents], labels


def peer(task: Task) -> tuple[Array, Array]:
    """Return the top probability of logistic regression and the share of unseen words per text."""
    vectorizer = TfidfVectorizer()
    X, new = vectorizer.fit_transform(task.texts), vectorizer.transform(task.test_texts)
    if task.single:
        model = LogisticRegression().fit(X, [labels[0] for labels in task.labels])
    else:
        names = sorted({name for labels in task.labels for name in labels})
        model = OneVsRestClassifier(LogisticRegression())
        model.fit(
            X,
            np.array([[name in labels for name in names] for labels in task.labels], dtype=int),
        )
    words = vectorizer.build_analyzer()
    sizes = np.array([len(set(words(text))) for text in task.test_texts])
    return model.predict_proba(new).max(axis=1), (sizes - np.diff(new.indptr) + 0.5) / (
        sizes + 1.0
    )


@dataclass(frozen=True, eq=False)
class Outcome:
    """Areas under the curve of each score, the abstention rate, and accuracy before and after."""

    areas: dict[str, float]
    rate: float
    accuracy: float
    accuracy_sure: float
    uncertainty: Array
    right: Array


def measure(task: Task) -> Outcome:
    """Fit both classifiers and score the test texts."""
    best, unseen = peer(task)
    labels = [held[0] for held in task.labels] if task.single else task.labels
    classifier = TextClassifier().fit(task.texts, labels)
    doubts, uncertainty = (
        classifier.doubts(task.test_texts),
        classifier.uncertainty(task.test_texts),
    )
    scores = {
        "LR, max probability": -best,
        "LR, with unseen share, ranks added": rankdata(-best) + rankdata(unseen),
        "LR, with unseen share, our formula": np.log(unseen)
        - logit(np.clip(best, 1e-9, 1 - 1e-9)),
        "bayesift, max probability": -doubts.best,
        "bayesift, uncertainty": uncertainty + 1e-9 * rankdata(doubts.scores),
    }
    foreign = task.foreign
    decided = [
        (name,) if isinstance(name, str) else tuple(name)
        for name in classifier.predict(task.test_texts)
    ]
    right = np.array([set(a) == set(b) for a, b in zip(decided, task.test_labels, strict=True)])
    sure = uncertainty <= 1.0 - RATE
    return Outcome(
        {name: float(roc_auc_score(foreign, score)) for name, score in scores.items()},
        float(np.mean(~sure[~foreign])),
        float(np.mean(right[~foreign])),
        float(np.mean(right[~foreign & sure])),
        uncertainty[~foreign],
        right[~foreign],
    )


def risk_curve(outcome: Outcome) -> tuple[Array, Array]:
    """Return the share of texts decided and their error rate, the most certain texts first."""
    order = np.argsort(outcome.uncertainty, kind="stable")
    wrong = np.cumsum(~outcome.right[order])
    n = np.arange(1, len(order) + 1)
    shown = np.unique(np.linspace(len(order) // 20, len(order) - 1, 100).astype(int))
    return (n / len(order))[shown], (wrong / n)[shown]


def risk_chart(curves: dict[str, tuple[Array, Array]]) -> Figure:
    """Draw the share of wrong decisions against the share of texts that are decided."""
    lines = [
        Line(
            list(zip(*map(np.ndarray.tolist, curve), strict=True)),
            series(i),
            name,
            f"{curve[1][-1]:.1%}",
        )
        for i, (name, curve) in enumerate(curves.items())
    ]
    most = max(float(risk.max()) for _, risk in curves.values())
    return Figure(
        "Risk and coverage",
        [
            Panel(
                Axis.unit("share decided"),
                Axis.over("share of those wrong", [0.0, most]),
                lines,
                Frame(60, 318),
            )
        ],
        caption="The surest texts first; the number is the share of wrong decisions on all texts.",
        description="; ".join(
            f"{name}: {risk[-1]:.1%} wrong of all" for name, (_, risk) in curves.items()
        ),
        width=360,
    )


def main(names: list[str]) -> None:
    """Measure the corpora, print a row for each; draw the curves of the first set of categories."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    curves = {}
    for name in names or CORPORA:
        outcomes = [measure(task_of(name, seed)) for seed in SETS]
        curves[name] = risk_curve(outcomes[0])
        print(name)
        for score in outcomes[0].areas:
            areas = [outcome.areas[score] for outcome in outcomes]
            print(
                f"  {score:36} {np.mean(areas):.3f}   {' '.join(f'{area:.3f}' for area in areas)}",
                flush=True,
            )
        rates = " ".join(f"{outcome.rate:.3f}" for outcome in outcomes)
        gains = " ".join(
            f"{outcome.accuracy:.3f} to {outcome.accuracy_sure:.3f}" for outcome in outcomes
        )
        print(f"  abstains at {RATE} on {rates}; accuracy {gains}", flush=True)
    CHART.parent.mkdir(parents=True, exist_ok=True)
    risk_chart(curves).save(CHART)


if __name__ == "__main__":
    main(sys.argv[1:])
