"""One pass over whole vocabularies against 300 terms per category.

Run with `python -m benchmarks.online_vocabulary [--test]`.

Reuters-21578, ModApte, 90 categories, ltc, documents in the order of the corpus. The paper's full
covariance uses at most 300 terms a category; diagonal and low-rank covariances use all terms, whose
priors are scaled by the likelihood ratio, sqrt(LR / (LR + soft)). The prior variance and `soft` are
chosen by the log evidence of the last 30% of the training documents after learning the first 70%.
With --test the chosen ones learn all training documents and decide the test documents.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bayesift.arrays import Array
from bayesift.corpora import load_reuters
from bayesift.evaluation import evaluate_decisions
from bayesift.features import SelectTerms
from bayesift.models.online import OnlinePerceptron
from bayesift.text import TermVectorizer
from bayesift.thresholds import Bayes, ExpectedF1, MaxF1

SHARE = 0.7
SOFT = (12.13, 50.0, 200.0)
VARIANCES = (4.0, 16.0)
RULES: dict[str, Any] = {"0.5": Bayes, "MaxF1": MaxF1, "ExpectedF1": ExpectedF1}


@dataclass(frozen=True)
class Split:
    """Documents to learn from and documents to judge by."""

    X: Any
    Y: Array
    X_new: Any
    Y_new: Array


@dataclass(frozen=True)
class System:
    """Which terms a model uses, and how."""

    name: str
    selection: SelectTerms
    model: OnlinePerceptron


@dataclass(frozen=True)
class Outcome:
    """Log evidence of the new documents, F1 by rule, and updates per second of one category."""

    evidence: float
    f1: dict[str, tuple[float, float]]
    speed: float


def paper_system() -> System:
    """At most 300 terms a category, full covariance, prior variance 1."""
    terms = SelectTerms("likelihood-ratio", k=300, threshold=12.13, per_category=True)
    return System("300 terms, full", terms, OnlinePerceptron(n_epochs=1, shuffle=False))


def whole_systems() -> Iterator[System]:
    """All terms, by covariance, softness and prior variance."""
    for covariance in ("diagonal", "low-rank"):
        for soft in SOFT:
            for variance in VARIANCES:
                name = f"all terms, {covariance}, soft {soft:g}, prior variance {variance:g}"
                terms = SelectTerms("likelihood-ratio", per_category=True, soft=soft)
                yield System(
                    name,
                    terms,
                    OnlinePerceptron(
                        covariance=covariance,
                        rank=1,
                        n_epochs=1,
                        shuffle=False,
                        prior_variance=variance,
                    ),
                )


def splits() -> tuple[Split, Split]:
    """Forward in time within the training documents.

    And training documents against test documents.
    """
    corpus = load_reuters(subset="modapte")
    train, test = corpus.split("train"), corpus.split("test")
    texts, Y = list(train.texts), train.indicator.toarray()
    n = int(SHARE * len(texts))
    return (
        _split(texts[:n], Y[:n], texts[n:], Y[n:]),
        _split(texts, Y, list(test.texts), test.indicator.toarray()),
    )


def _split(texts: list[str], Y: Array, new: list[str], Y_new: Array) -> Split:
    vectorizer = TermVectorizer(weighting="ltc", stop_words="english", stemmer="porter")
    return Split(vectorizer.fit_transform(texts), Y, vectorizer.transform(new), Y_new)


def judge(system: System, split: Split) -> Outcome:
    """Learn and judge."""
    feature_mask = system.selection.fit(split.X, split.Y).feature_mask_
    start = time.process_time()
    model = system.model.fit(split.X, split.Y, feature_mask=feature_mask)
    seconds = time.process_time() - start
    training, new = model.predict_proba(split.X), model.predict_proba(split.X_new)
    f1 = {}
    for name, rule in RULES.items():
        measured = evaluate_decisions(split.Y_new, rule().fit(split.Y, training).decide(new))
        f1[name] = 100 * measured.micro.f1, 100 * measured.macro.f1
    return Outcome(
        float(model.log_evidence(split.X_new, split.Y_new).mean()), f1, split.Y.size / seconds
    )


def report(system: System, outcome: Outcome) -> str:
    """One line of the table."""
    cells = " | ".join(f"{micro:.2f} / {macro:.2f}" for micro, macro in outcome.f1.values())
    return f"| {system.name} | {cells} | {outcome.evidence:.2f} | {outcome.speed:,.0f} |"


def main() -> None:
    """Choose on training documents; with --test decide the test documents."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--test",
        action="store_true",
        help="read the test documents, once, with what was chosen",
    )
    reads_test = parser.parse_args().test
    forward, final = splits()
    heading = f"| | {' | '.join(RULES)} | evidence | updates/s |\n|---|---|---|---|---|---|"
    print(
        f"the last {1 - SHARE:.0%} of the training documents, micro / macro F1\n{heading}",
        flush=True,
    )
    print(report(paper_system(), judge(paper_system(), forward)), flush=True)
    chosen: dict[str, tuple[float, System]] = {}
    for system in whole_systems():
        outcome = judge(system, forward)
        print(report(system, outcome), flush=True)
        kind = system.model.covariance
        if kind not in chosen or outcome.evidence > chosen[kind][0]:
            chosen[kind] = outcome.evidence, system
    if reads_test:
        print(f"\nthe test documents, by what has the highest evidence\n{heading}", flush=True)
        for system in (paper_system(), *(system for _, system in chosen.values())):
            print(report(system, judge(system, final)), flush=True)


if __name__ == "__main__":
    main()
