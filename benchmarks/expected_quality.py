"""Check the expected quality that `fit` states against texts it has not seen, on every corpus.

Run with `python -m benchmarks.expected_quality [--jobs 2] [--sizes 30,100] [--corpora a,b]`; it goes on where
it stopped. `--table` prints what is stored: how often the intervals held, by size and by corpus.

From every corpus 10 samples of 30, 100, 300 and 1,000 texts are drawn. The default classifier is fitted to each,
and the quality it expects is compared with that on at most 4,000 other texts, as many as the sample at least.
What was held out is stored document by document, so that `--table` shows the intervals of the code as it is now.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.classifier.quality import HeldOutResults

SIZES = (30, 100, 300, 1000)
N_DRAWS = 10
MOST_TEST_TEXTS = 4000
FEWEST_TEST_TEXTS = 200
STORE = Path("out/expected-quality.jsonl")
CATALOGUE = (
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
    "reuters",
)
LANGUAGES = ("arabic", "english", "german", "italian")
Texts = tuple[list[str], Array]


def data_dir() -> Path:
    """Return the folder of the corpora."""
    return Path(os.environ["BAYESIFT_DATA"])


def _of_catalogue(name: str) -> Texts:
    from bayesift.corpora import load

    corpus = load(name, data_dir=data_dir())
    if corpus.is_single_label:
        return corpus.texts, np.array(corpus.labels)
    return corpus.texts, corpus.indicator.toarray()


def _of_tweets(language: str) -> Texts:
    texts: list[str] = []
    labels: list[str] = []
    for part in ("train", "val", "test"):
        of_texts = data_dir() / "languages" / f"{language}-{part}_text.txt"
        of_labels = data_dir() / "languages" / f"{language}-{part}_labels.txt"
        texts += of_texts.read_text(encoding="utf-8").rstrip("\n").split("\n")
        labels += of_labels.read_text(encoding="utf-8").split()
    return texts, np.array(labels)


def _of_germeval(_: str) -> Texts:
    texts: list[str] = []
    labels: list[str] = []
    for part in ("training", "test"):
        path = data_dir() / "languages" / f"germeval2018.{part}.txt"
        for line in path.read_text(encoding="utf-8").splitlines():
            text, label, _finer = line.split("\t")
            texts.append(text)
            labels.append(label)
    return texts, np.array(labels)


def _of_subjects(_: str) -> Texts:
    """Return the Finnish web links by the first digit of their class."""
    texts: list[str] = []
    labels: list[str] = []
    for part in ("train", "validate", "test"):
        path = data_dir() / "subjects" / f"makupalat-{part}.tsv"
        for line in path.read_text(encoding="utf-8").splitlines():
            text, classes = line.split("\t")
            texts.append(text)
            labels.append(classes.split()[0].strip("<>").rsplit(":", 1)[-1][:1])
    return texts, np.array(labels)


def _of_review(name: str) -> Texts:
    texts: list[str] = []
    labels: list[str] = []
    with (data_dir() / "screening" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            texts.append(f"{row['title']}\n{row['abstract']}")
            labels.append("yes" if row["label_included"] == "1" else "no")
    return texts, np.array(labels)


def corpora() -> dict[str, Callable[[str], Texts]]:
    """Return the corpora of the data folder by name, each with the function that reads it."""
    found: dict[str, Callable[[str], Texts]] = {}
    found |= dict.fromkeys(CATALOGUE, _of_catalogue)
    found |= dict.fromkeys(LANGUAGES, _of_tweets)
    found["germeval2018"] = _of_germeval
    found["makupalat"] = _of_subjects
    reviews = sorted(path.stem for path in (data_dir() / "screening").glob("*.csv"))
    return found | dict.fromkeys(reviews, _of_review)


def draws(n_texts: int, y: Array, size: int) -> Iterator[tuple[int, Array, Array]]:
    """Yield the number of each draw, its rows, and the rows to compare with."""
    if n_texts - size < max(FEWEST_TEST_TEXTS, size):
        return
    for number in range(N_DRAWS):
        order = np.random.default_rng([size, number]).permutation(n_texts)
        train = order[:size]
        if y.ndim == 1 and len(np.unique(y[train])) < 2:
            continue
        yield number, train, order[size : size + MOST_TEST_TEXTS]


def measure(texts: list[str], y: Array, train: Array, test: Array) -> dict[str, Any]:
    """Fit to a draw; return what was held out and the quality on the other texts."""
    from bayesift import TextClassifier
    from bayesift.classifier.quality import judge
    from bayesift.evaluation import f1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = TextClassifier().fit([texts[row] for row in train], y[train])
    others = [texts[row] for row in test]
    if y.ndim == 2:
        decisions, _ = classifier.decide(others)
        truth = f1(y[test], decisions, average="micro")
    else:
        truth = float(np.mean(np.asarray(classifier.predict(others)) == y[test]))
    found: dict[str, Any] = {"truth": truth, "n_test": len(test)}
    if classifier.model_.held_out_ is not None:
        results = judge(classifier, classifier.model_.held_out_).results
        found["above"] = results.above.tolist()
        found["below"] = results.below.tolist()
        found["groups"] = None if results.groups is None else results.groups.tolist()
        found["alone"] = results.alone
    return found


def run(name: str, size: int, done: set[tuple[str, int, int]]) -> None:
    """Measure and store the draws of a corpus that are not stored."""
    texts, y = corpora()[name](name)
    for number, train, test in draws(len(texts), y, size):
        if (name, size, number) in done:
            continue
        found = {"corpus": name, "size": size, "draw": number}
        found |= measure(texts, y, train, test)
        with STORE.open("a") as file:
            file.write(json.dumps(found) + "\n")


def stored() -> list[dict[str, Any]]:
    """Return what was measured so far."""
    if not STORE.exists():
        return []
    return [json.loads(line) for line in STORE.read_text().splitlines()]


def results_of(row: dict[str, Any]) -> HeldOutResults:
    """Return what was held out in a draw."""
    groups = None if row["groups"] is None else np.array(row["groups"])
    above = np.array(row["above"], dtype=np.float64)
    below = np.array(row["below"], dtype=np.float64)
    return HeldOutResults(above, below, np.ones(len(above)), groups, row["alone"])


def print_table() -> None:
    """Print how often the intervals held and how wide they were, by size and by corpus."""
    held: dict[tuple[str, Any], list[bool]] = defaultdict(list)
    widths: dict[tuple[str, Any], list[float]] = defaultdict(list)
    below: dict[tuple[str, Any], int] = defaultdict(int)
    for row in stored():
        if "above" not in row:
            continue
        estimate = results_of(row).estimate()
        for key in (("all", ""), ("size", row["size"]), ("corpus", row["corpus"])):
            held[key].append(estimate.low <= row["truth"] <= estimate.high)
            widths[key].append(estimate.high - estimate.low)
            below[key] += row["truth"] < estimate.low
    print(f"{'':40} {'draws':>6} {'held':>6} {'truth below':>12} {'above':>6} {'width':>6}")
    for key, answers in held.items():
        missed_above = len(answers) - sum(answers) - below[key]
        label = f"{key[0]} {key[1]}"
        share = 100 * np.mean(answers)
        width = 100 * np.mean(widths[key])
        print(
            f"{label:40} {len(answers):6} {share:6.1f} {below[key]:12} {missed_above:6} {width:6.1f}"
        )


def main() -> None:
    """Measure what is not stored, or print what is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--corpora", default=None)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print_table()
        return
    STORE.parent.mkdir(exist_ok=True)
    done = {(row["corpus"], row["size"], row["draw"]) for row in stored()}
    names = options.corpora.split(",") if options.corpora else list(corpora())
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = []
        for size in options.sizes.split(","):
            for name in names:
                jobs.append(pool.submit(run, name, int(size), done))
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main()
