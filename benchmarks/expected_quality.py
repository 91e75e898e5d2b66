"""Check the expected quality that `fit` states against held-out texts, on every corpus.

Run with `python -m benchmarks.expected_quality [--jobs 2] [--corpora a,b]`; it resumes where it stopped, and
`--table` prints what is stored.

From every corpus 10 samples of 30, 100, 300 and 1,000 texts are drawn. The default classifier is fitted to
each, and the quality it expects is compared with that on at most 4,000 other texts. An interval is right
if it contains the quality on those texts.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.arrays import Array

SIZES = (30, 100, 300, 1000)
N_DRAWS = 10
N_TEST = 4000
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


def data_dir() -> Path:
    """Return the folder of the corpora."""
    return Path(os.environ["BAYESIFT_DATA"])


def _of_catalogue(name: str) -> tuple[list[str], Array]:
    from bayesift.corpora import load

    corpus = load(name, data_dir=data_dir())
    if corpus.is_single_label:
        return corpus.texts, np.array(corpus.labels)
    return corpus.texts, corpus.indicator.toarray()


def _of_tweets(language: str) -> tuple[list[str], Array]:
    texts: list[str] = []
    labels: list[str] = []
    for part in ("train", "val", "test"):
        of_texts = data_dir() / "languages" / f"{language}-{part}_text.txt"
        of_labels = data_dir() / "languages" / f"{language}-{part}_labels.txt"
        texts += of_texts.read_text(encoding="utf-8").rstrip("\n").split("\n")
        labels += of_labels.read_text(encoding="utf-8").split()
    return texts, np.array(labels)


def _of_germeval(_: str) -> tuple[list[str], Array]:
    texts: list[str] = []
    labels: list[str] = []
    for part in ("training", "test"):
        path = data_dir() / "languages" / f"germeval2018.{part}.txt"
        for line in path.read_text(encoding="utf-8").splitlines():
            text, label, _finer = line.split("\t")
            texts.append(text)
            labels.append(label)
    return texts, np.array(labels)


def _of_subjects(_: str) -> tuple[list[str], Array]:
    """Return the Finnish web links by the first digit of their class."""
    texts: list[str] = []
    labels: list[str] = []
    for part in ("train", "validate", "test"):
        path = data_dir() / "subjects" / f"makupalat-{part}.tsv"
        for line in path.read_text(encoding="utf-8").splitlines():
            text, classes = line.split("\t")
            texts.append(text)
            labels.append(classes.split()[0].strip("<>").rsplit("/", 1)[-1][:1])
    return texts, np.array(labels)


def _of_review(name: str) -> tuple[list[str], Array]:
    texts: list[str] = []
    labels: list[str] = []
    with (data_dir() / "screening" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            texts.append(f"{row['title']}\n{row['abstract']}")
            labels.append("yes" if row["label_included"] == "1" else "no")
    return texts, np.array(labels)


def corpora() -> dict[str, Callable[[str], tuple[list[str], Array]]]:
    """Return the corpora of the data folder by name, each with the function that reads it."""
    found: dict[str, Callable[[str], tuple[list[str], Array]]] = {}
    found |= dict.fromkeys(CATALOGUE, _of_catalogue)
    found |= dict.fromkeys(LANGUAGES, _of_tweets)
    found["germeval2018"] = _of_germeval
    found["makupalat"] = _of_subjects
    reviews = sorted(path.stem for path in (data_dir() / "screening").glob("*.csv"))
    return found | dict.fromkeys(reviews, _of_review)


def draws(texts: list[str], y: Array, size: int) -> Iterator[tuple[int, Array, Array]]:
    """Yield the number of each draw, its rows, and the rows to compare with."""
    for number in range(N_DRAWS):
        order = np.random.default_rng([size, number]).permutation(len(texts))
        train = order[:size]
        if y.ndim == 1 and len(np.unique(y[train])) < 2:
            continue
        yield number, train, order[size : size + N_TEST]


def measure(texts: list[str], y: Array, train: Array, test: Array) -> dict[str, Any]:
    """Fit to a draw; return the expected quality and that on the other texts."""
    from bayesift import TextClassifier
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
    held = getattr(classifier.model_, "held_out_", None)
    raw: dict[str, Any] = {}
    if held is not None:
        labels, p = held.labels, held.probabilities
        if y.ndim == 1:
            if labels.shape[1] == 1:
                labels = np.hstack([~labels, labels])
                p = np.hstack([1 - p, p])
            d = classifier.decisions_of(p)
            raw = {
                "right": np.any(d & labels, axis=1).astype(int).tolist(),
                "conf": p.max(axis=1).round(4).tolist(),
            }
        else:
            d = classifier.decisions_of(p)
            raw = {
                "counts": [
                    np.sum(d & labels, axis=1).tolist(),
                    d.sum(axis=1).tolist(),
                    labels.sum(axis=1).tolist(),
                ]
            }
    return {
        "truth": truth,
        "n_test": len(test),
        "categories": len(classifier.categories_),
        "raw": raw,
    }


def run(
    name: str,
    reader: Callable[[str], tuple[list[str], Array]],
    done: set[tuple[str, int, int]],
    sizes,
) -> int:
    """Measure all draws of a corpus that are not stored."""
    texts, y = reader(name)
    for size in sizes:
        if len(texts) < size + 200:
            continue
        for number, train, test in draws(texts, y, size):
            if (name, size, number) in done:
                continue
            found = {
                "corpus": name,
                "size": size,
                "draw": number,
                **measure(texts, y, train, test),
            }
            with STORE.open("a") as file:
                file.write(json.dumps(found) + "\n")
    return 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sizes", default="30,100,300,1000")
    options = parser.parse_args()
    STORE.parent.mkdir(exist_ok=True)
    done = set()
    if STORE.exists():
        for line in STORE.read_text().splitlines():
            row = json.loads(line)
            done.add((row["corpus"], row["size"], row["draw"]))
    with ProcessPoolExecutor(options.jobs) as pool:
        for size in options.sizes.split(","):
            jobs = [
                pool.submit(run, name, reader, done, [int(size)])
                for name, reader in corpora().items()
            ]
            for job in jobs:
                job.result()


if __name__ == "__main__":
    main()
