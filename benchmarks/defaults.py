"""Compare `TextClassifier()` with tuned scikit-learn on every corpus.

Run with `python -m benchmarks defaults`.

The peers read the same texts through `TfidfVectorizer()` and choose C out of six values by 3-fold
cross-validation (`GridSearchCV`): logistic regression and a linear SVM. The probabilities of
logistic regression are those of the C with the lowest log loss. Corpora with a public split keep
it; of the others a third is held out at random. Everything runs in one thread.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from bayesift import TextClassifier
from bayesift.arrays import Array
from bayesift.corpora import catalogue
from bayesift.errors import CorpusNotFoundError
from bayesift.evaluation import (
    f1,
    log_loss,
    mcnemar_test,
    micro_sign_test,
    top_label_calibration_error,
)
from bayesift.records import Corpus
from benchmarks.harness import machine

NAME = "defaults"
CORPORA = (
    "pydocs",
    "trec-questions",
    "trec-questions-fine",
    "subjectivity",
    "customer-reviews",
    "sms-spam",
    "enron1",
    "20newsgroups",
    "ohsumed",
    "reuters-labelled",
)
GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
N_LONG, LEVEL = 25_000, 0.05


@dataclass(frozen=True, eq=False)
class Task:
    """Texts and labels to learn from and to be judged by; labels are names, or rows of 0 and 1."""

    name: str
    texts: list[str]
    y: Array
    test_texts: list[str]
    test_y: Array
    categories: tuple[str, ...]

    @property
    def multilabel(self) -> bool:
        """Whether documents have none or several categories."""
        return self.y.ndim == 2


@dataclass(frozen=True, eq=False)
class Outcome:
    """Decisions and probabilities for the test texts, and CPU seconds of learning."""

    decisions: Array
    probabilities: Array | None
    seconds: float


def task_of(corpus: Corpus) -> Task:
    """Return the task of a corpus with its own split, or with a third of it held out."""
    if "test" in corpus.splits:
        train, test = corpus.split("train"), corpus.split("test")
    else:
        rows = train_test_split(
            np.arange(len(corpus)), test_size=1 / 3, random_state=1, stratify=corpus.labels
        )
        train, test = (corpus.select(part) for part in rows)
    single = corpus.is_single_label
    y, test_y = (np.array(c.labels) if single else c.indicator.toarray() for c in (train, test))
    return Task(corpus.name, train.texts, y, test.texts, test_y, corpus.categories)


def ours(task: Task) -> Outcome:
    """Fit the default classifier and return its outcome."""
    start = time.process_time()
    classifier = TextClassifier().fit(task.texts, task.y)
    seconds = time.process_time() - start
    return Outcome(
        np.asarray(classifier.predict(task.test_texts)),
        classifier.predict_proba(task.test_texts),
        seconds,
    )


def tuned(model: Any, task: Task) -> Outcome:
    """Fit a peer with C chosen by cross-validation and return its outcome.

    Each category against the rest where documents have several.

    Probabilities are those of the C with the lowest log loss, refitted outside the clock.
    """
    start = time.process_time()
    vectorizer = TfidfVectorizer()
    X = vectorizer.fit_transform(task.texts)
    parameter, estimator = (
        ("estimator__C", OneVsRestClassifier(model)) if task.multilabel else ("C", model)
    )
    folds = 3 if task.multilabel else StratifiedKFold(3, shuffle=True, random_state=0)
    by = "f1_micro" if task.multilabel else "accuracy"
    scoring = (by, "neg_log_loss") if hasattr(model, "predict_proba") else (by,)
    search = GridSearchCV(
        estimator, {parameter: GRID}, cv=folds, scoring=scoring, refit=by
    ).fit(X, task.y)
    seconds = time.process_time() - start
    X_test, probabilities = vectorizer.transform(task.test_texts), None
    if "neg_log_loss" in scoring:
        best = GRID[int(np.argmax(search.cv_results_["mean_test_neg_log_loss"]))]
        probabilities = (
            clone(estimator)
            .set_params(**{parameter: best})
            .fit(X, task.y)
            .predict_proba(X_test)
        )
    return Outcome(search.predict(X_test), probabilities, seconds)


CONTENDERS: Mapping[str, Callable[[Task], Outcome]] = {
    "default": ours,
    "logistic": partial(tuned, LogisticRegression(max_iter=1000)),
    "svm": partial(tuned, LinearSVC(max_iter=10_000)),
}


def judged(task: Task, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Measures of each contender, and tests of the default against the peers' decisions."""
    default, test = outcomes["default"], micro_sign_test if task.multilabel else mcnemar_test
    return {
        "documents": [len(task.texts), len(task.test_texts)],
        "categories": len(task.categories),
        "measures": {name: _measures(task, outcome) for name, outcome in outcomes.items()},
        "p_values": {
            peer: test(task.test_y, default.decisions, outcomes[peer].decisions).p_value
            for peer in ("logistic", "svm")
        },
    }


def _measures(task: Task, outcome: Outcome) -> dict[str, float | None]:
    quality = (
        f1(task.test_y, outcome.decisions, average="micro")
        if task.multilabel
        else float(np.mean(outcome.decisions == task.test_y))
    )
    probabilities = outcome.probabilities
    loss = ece = None
    if probabilities is not None:
        labels = None if task.multilabel else sorted(set(task.y))
        loss = log_loss(task.test_y, probabilities, labels=labels)
        ece = top_label_calibration_error(task.test_y, probabilities, labels=labels)
    return {"quality": quality, "log_loss": loss, "ece": ece, "seconds": outcome.seconds}


def throughput(task: Task) -> dict[str, float]:
    """Return the CPU seconds for predicting 25,000 long documents with a fitted classifier."""
    texts = (task.test_texts * (N_LONG // len(task.test_texts) + 1))[:N_LONG]
    classifier = TextClassifier().fit(task.texts, task.y)
    vectorizer = TfidfVectorizer()
    peer = LogisticRegression(max_iter=1000).fit(vectorizer.fit_transform(task.texts), task.y)
    found = {}
    for name, predict in (
        ("default", classifier.predict_proba),
        ("logistic", lambda texts: peer.predict_proba(vectorizer.transform(texts))),
    ):
        start = time.process_time()
        predict(texts)
        found[name] = time.process_time() - start
    return found


def tasks() -> Iterator[Task]:
    """Yield the tasks whose corpora are in the data directory."""
    for name in CORPORA:
        try:
            yield task_of(catalogue.load(name))
        except CorpusNotFoundError:
            continue


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Judge every contender on every corpus that is there."""
    results = []
    with threadpool_limits(1):
        ours(
            Task(
                "warm-up",
                ["corn", "oil"] * 20,
                np.array(["a", "b"] * 20),
                ["corn"],
                np.array(["a"]),
                ("a", "b"),
            )
        )
        for task in tasks():
            outcomes = {}
            for name, contender in CONTENDERS.items():
                say(f"{NAME}: {task.name}: {name}")
                outcomes[name] = contender(task)
            results.append({"corpus": task.name, **judged(task, outcomes)})
            if task.name == "20newsgroups":
                say(f"{NAME}: prediction of {N_LONG:,} documents")
                results[-1]["prediction"] = throughput(task)
    return {
        "benchmark": NAME,
        "command": f"python -m benchmarks {NAME}",
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "results": results,
    }


def render(measured: Mapping[str, Any]) -> list[str]:
    """Return the lines of the report, with one row per corpus."""
    lines = [
        (
            "`TextClassifier()` against scikit-learn tuned by 3-fold cross-validation over six "
            "values "
            "of C; accuracy, or "
            "micro F1 where documents have several categories; p of McNemar's test or of the sign "
            "test, and whether the "
            "peer is significantly behind the default or ahead of it; the log loss "
            "of logistic regression is that of C chosen by log loss; ECE of the most probable "
            "label "
            "in 15 bins; cost is "
            "the CPU time of learning over that of the tuned logistic regression."
        ),
        "",
        (
            "| corpus | documents | classes | default | logistic (p) | svm (p) | log loss | of "
            "logistic | ECE | cost |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for result in measured["results"]:
        m, p = result["measures"], result["p_values"]
        default, peer = m["default"], m["logistic"]
        lines.append(
            f"| {result['corpus']} | {result['documents'][0]:,} / {result['documents'][1]:,} | "
            f"{result['categories']} "
            f"| {default['quality']:.4f} | {_with_p(default, peer, p['logistic'])} "
            f"| {_with_p(default, m['svm'], p['svm'])} "
            f"| {default['log_loss']:.4f} | {peer['log_loss']:.4f} | {default['ece']:.3f} "
            f"| {default['seconds'] / peer['seconds']:.2f} ({default['seconds']:.1f} s) |"
        )
    for result in measured["results"]:
        if "prediction" in result:
            seconds = result["prediction"]
            ratio = seconds["default"] / seconds["logistic"]
            lines += [
                "",
                (
                    f"Prediction of {N_LONG:,} texts of {result['corpus']}: "
                    f"{seconds['default']:.1f} "
                    f"s, "
                    f"LogisticRegression {seconds['logistic']:.1f} s (ratio {ratio:.2f})."
                ),
            ]
    return lines


def _with_p(default: Mapping[str, float], peer: Mapping[str, float], p_value: float) -> str:
    sign = (
        ""
        if p_value > LEVEL
        else " behind"
        if peer["quality"] < default["quality"]
        else " **ahead**"
    )
    return f"{peer['quality']:.4f} ({p_value:.2g}{sign})"
