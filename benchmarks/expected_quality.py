"""Check the expected quality that `fit` states against texts it has not seen, on every corpus.

Run with `python -m benchmarks.expected_quality [--jobs 2] [--sizes 30,100] [--corpora a,b]`; it
goes on where it stopped. `--table` prints what is stored: how often the intervals held, by size
and by corpus. `--choose` chooses the three constants of the interval, and again without each
corpus, and judges the latter by that corpus.

From every corpus 10 samples of 30, 100, 300 and 1,000 texts are drawn. The default classifier is
fitted to each, and the quality it expects is compared with that on at most 4,000 other texts, as
many as the sample at least. Then samples of 600 texts in which some repeat: all of them three
times, 120 of them twice, or each with a copy in which one word is another; copies keep their
label, and the other texts have none.

What was held out is stored document by document, so that `--table` shows the intervals of the
code as it is now.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.arrays import Array
from bayesift.classifier import quality
from bayesift.classifier.quality import HeldOutResults

SIZES = (30, 100, 300, 1000)
N_DRAWS = 10
REPEATED_SIZE = 600
REPEATED_DRAWS = 3
REPEATS = ("three times", "120 twice", "a word changed")
MOST_TEST_TEXTS = 4000
FEWEST_TEST_TEXTS = 200
FEWEST_OF_CATEGORY = 30  # texts that a precision or recall is compared with
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
    if classifier.expected_quality_ is not None:
        results = judge(classifier, classifier.model_.held_out_).results
        found["above"] = results.above.tolist()
        found["below"] = results.below.tolist()
        found["groups"] = None if results.groups is None else results.groups.tolist()
        found["alone"] = results.alone
        if y.ndim == 1:
            decided = np.asarray(classifier.predict(others))
            found["categories"] = category_shares(classifier, decided, y[test])
    return found


def category_shares(classifier: Any, decided: Array, truth: Array) -> list[list[float]]:
    """Return low and high of each precision and recall, and the share on the other texts."""
    found = []
    expected = classifier.expected_quality_.of_categories()
    for name, quality_of in zip(classifier.classes_, expected, strict=True):
        right = np.count_nonzero((decided == name) & (truth == name))
        for share, whole in (
            (quality_of.precision, np.count_nonzero(decided == name)),
            (quality_of.recall, np.count_nonzero(truth == name)),
        ):
            if share is not None and whole >= FEWEST_OF_CATEGORY:
                found.append([share.low, share.high, right / whole])
    return found


def run(name: str, size: int | str, done: set[tuple[str, int | str, int]]) -> None:
    """Measure and store the draws of a corpus that are not stored.

    `size` is how many texts are drawn, or which of them repeat.
    """
    texts, y = corpora()[name](name)
    n_drawn = REPEATED_SIZE if isinstance(size, str) else size
    for number, train, test in draws(len(texts), y, n_drawn):
        if (name, size, number) in done or (isinstance(size, str) and number >= REPEATED_DRAWS):
            continue
        found: dict[str, Any] = {"corpus": name, "size": size, "draw": number}
        if isinstance(size, str):
            own, labels = repeat([texts[row] for row in train], y[train], size)
            # Copies of the sample among the other texts would be learned too.
            known = set(map(folded, own))
            test = np.array([row for row in test if folded(texts[row]) not in known])
            all_texts = own + [texts[row] for row in test]
            all_labels = np.concatenate([labels, y[test]])
            rows = np.arange(len(all_texts))
            found |= measure(all_texts, all_labels, rows[: len(own)], rows[len(own) :])
        else:
            found |= measure(texts, y, train, test)
        with STORE.open("a") as file:
            file.write(json.dumps(found) + "\n")


def folded(text: str) -> str:
    """Return a text without differences of case and white space."""
    return " ".join(text.casefold().split())


def repeat(texts: list[str], y: Array, kind: str) -> Texts:
    """Return texts of which some repeat, and their labels."""
    if kind == "three times":
        return texts * 3, np.concatenate([y] * 3)
    if kind == "120 twice":
        return texts + texts[:120], np.concatenate([y, y[:120]])
    random = np.random.default_rng(0)
    words = " ".join(texts).split()
    changed = []
    for text in texts:
        own = text.split()
        if own:
            own[random.integers(len(own))] = words[random.integers(len(words))]
        changed.append(" ".join(own))
    return texts + changed, np.concatenate([y, y])


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
        keys = [("size", row["size"])]
        if isinstance(row["size"], int):
            keys += [("all", ""), ("corpus", row["corpus"])]
        for low, high, share in row.get("categories", ()):
            key = ("categories, size", row["size"])
            held[key].append(low <= share <= high)
            widths[key].append(high - low)
            below[key] += share < low
        for key in keys:
            held[key].append(estimate.low <= row["truth"] <= estimate.high)
            widths[key].append(estimate.high - estimate.low)
            below[key] += row["truth"] < estimate.low
    print(f"{'':40} {'draws':>6} {'held':>6} {'truth below':>12} {'above':>6} {'width':>6}")
    for key, answers in held.items():
        missed_above = len(answers) - sum(answers) - below[key]
        label = f"{key[0]} {key[1]}"
        share = 100 * np.mean(answers)
        width = 100 * np.mean(widths[key])
        counts = f"{below[key]:12} {missed_above:6}"
        print(f"{label:40} {len(answers):6} {share:6.1f} {counts} {width:6.1f}")


GRID = {
    "_TRAINING_VARIANCE": (0.0, 0.2, 0.4, 0.6),
    "_TRAINING_VARIANCE_OF_FEW": (4.0, 8.0, 12.0, 16.0, 20.0),
    "_ERRORS_SAVED": (0.03, 0.05, 0.08, 0.1, 0.13),
}


def choose() -> None:
    """Print the constants that suit all corpora, and how those chosen without a corpus do on it."""
    rows = [row for row in stored() if "above" in row and isinstance(row["size"], int)]
    results = [results_of(row) for row in rows]
    truth = np.array([row["truth"] for row in rows])
    size = np.array([row["size"] for row in rows])
    corpus = np.array([row["corpus"] for row in rows])
    outcomes = {}
    for values in product(*GRID.values()):
        for name, value in zip(GRID, values, strict=True):
            setattr(quality, name, value)
        estimates = np.array([result.estimate()[1:3] for result in results])
        outcomes[values] = np.column_stack([truth - estimates[:, 0], estimates[:, 1] - truth])

    def misfit(values: tuple[float, ...], some: Array) -> float:
        """Return how far coverage is from 95% at each size, plus width and one-sidedness."""
        above_low, below_high = outcomes[values][some].T
        held = (above_low >= 0) & (below_high >= 0)
        far = sum(abs(held[size[some] == n].mean() - 0.95) for n in SIZES if n in size[some])
        one_sided = abs(np.mean(above_low < 0) - np.mean(below_high < 0))
        return float(far + 0.2 * np.mean(above_low + below_high) + 0.2 * one_sided)

    everything = np.ones(len(rows), dtype=bool)
    best = min(outcomes, key=lambda values: misfit(values, everything))
    print("chosen on all corpora:", dict(zip(GRID, best, strict=True)))
    held = np.zeros(len(rows), dtype=bool)
    chosen: Counter[tuple[float, ...]] = Counter()
    for name in np.unique(corpus):
        own = corpus == name
        values = min(outcomes, key=lambda values: misfit(values, ~own))
        chosen[values] += 1
        held[own] = (outcomes[values][own] >= 0).all(axis=1)
    print("chosen without a corpus:", dict(chosen))
    by_corpus = [held[corpus == name].mean() for name in np.unique(corpus)]
    print(
        f"held on the corpus left out: {100 * held.mean():.1f}% of {len(rows):,} draws; corpora "
        f"from {100 * min(by_corpus):.0f}% to {100 * max(by_corpus):.0f}%, "
        f"standard deviation {100 * np.std(by_corpus):.1f}"
    )
    for n in SIZES:
        print(f"  {n}: {100 * held[size == n].mean():.1f}%")


def main() -> None:
    """Measure what is not stored, or print what is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sizes", default=",".join(map(str, (*SIZES, *REPEATS))))
    parser.add_argument("--corpora", default=None)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--choose", action="store_true")
    options = parser.parse_args()
    if options.choose:
        choose()
        return
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
                kind = int(size) if size.isdigit() else size
                jobs.append(pool.submit(run, name, kind, done))
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main()
