"""Tables 1 and 2 of Qiu, Huang & Wu: micro F1 of kNN, SVM and additive LR on few features, paper beside ours.

`python -m benchmarks.topical_tables [--corpus reuters] [--features 2,4,8] [--selection SNMF,DF] [--keep FILE]`

Every cell that is done is a line of the file to keep; cells that are there are not run again.

Both corpora are ltc vectors of stemmed words (Porter, letters only, English stop words left out); 20 Newsgroups with
words of at least two documents. Every document gets one category (RCut, t = 1), which caps Reuters at 89.3. What the
paper leaves open: topics start from "nndsvd" or "nndsvda", whichever gives kNN more hits by leave-one-out on 2,000
training documents, and k is chosen in the same way; a document without any of the chosen words gets the largest
category of the training documents without any; the SVM is libsvm's with a radial kernel and a machine for every two
categories as in the paper, C = 10, gamma = 1 / (features x variance), a document learned once under each of its
categories; CHI is the largest over categories. Nothing is chosen on test documents.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from bayesift.datasets import load_newsgroups, load_reuters
from bayesift.features import SelectTerms
from bayesift.models.topics import SparseNMF, TopicSimilarity
from bayesift.models.topics.neighbours import chosen_neighbours, leave_one_out, nearest
from bayesift.models.topics.similarity import squared_distances
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]

FEATURES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
# (classifier, selection) -> micro F1 at each of FEATURES
TABLE_1 = {
    ("kNN", "DF"): (21.3, 38.2, 40.4, 52.9, 56.4, 62.0, 67.3, 70.4, 73.0, 73.9),
    ("kNN", "CHI"): (21.3, 21.3, 21.4, 26.7, 30.2, 31.1, 64.9, 73.7, 76.4, 79.6),
    ("kNN", "OCFS"): (23.8, 24.3, 26.2, 41.0, 51.6, 68.9, 73.0, 72.8, 76.1, 76.7),
    ("kNN", "SNMF"): (50.3, 54.6, 64.4, 68.5, 70.0, 72.0, 74.2, 75.6, 76.5, 76.9),
    ("SVM", "DF"): (38.4, 38.2, 43.2, 53.7, 59.3, 64.8, 70.4, 72.4, 73.9, 74.2),
    ("SVM", "CHI"): (32.1, 32.1, 32.2, 37.6, 55.3, 55.9, 67.8, 74.1, 77.5, 78.9),
    ("SVM", "OCFS"): (34.9, 40.0, 44.1, 53.5, 58.6, 71.6, 76.1, 77.1, 77.6, 76.6),
    ("SVM", "SNMF"): (50.9, 55.4, 63.2, 68.7, 72.5, 74.7, 76.9, 77.6, 78.8, 79.7),
    ("additive LR", "SNMF"): (50.2, 55.6, 64.4, 68.5, 73.0, 74.9, 77.1, 78.0, 78.9, 79.9),
}
TABLE_2 = {
    ("kNN", "DF"): (4.9, 6.3, 9.8, 12.6, 16.1, 20.7, 29.6, 40.1, 50.8, 58.4),
    ("kNN", "CHI"): (8.6, 11.5, 20.8, 27.3, 32.9, 45.9, 54.5, 59.8, 65.3, 69.6),
    ("kNN", "OCFS"): (4.3, 4.7, 5.0, 7.5, 12.4, 29.4, 46.6, 56.1, 61.0, 64.5),
    ("kNN", "SNMF"): (10.3, 25.0, 38.5, 49.0, 55.4, 56.9, 57.4, 61.1, 70.5, 71.4),
    ("SVM", "DF"): (5.9, 7.2, 12.1, 13.6, 19.5, 27.2, 39.3, 49.7, 62.3, 69.6),
    ("SVM", "CHI"): (9.6, 12.6, 22.0, 28.3, 41.8, 51.1, 60.2, 65.0, 70.5, 74.6),
    ("SVM", "OCFS"): (5.4, 5.9, 9.4, 10.2, 15.4, 33.2, 52.0, 61.4, 68.3, 73.0),
    ("SVM", "SNMF"): (10.8, 25.7, 40.1, 51.3, 62.2, 65.3, 68.7, 70.9, 73.4, 75.1),
    ("additive LR", "SNMF"): (10.1, 27.5, 42.6, 50.2, 65.2, 69.4, 71.6, 73.2, 74.9, 76.7),
}
PAPER = {"reuters": TABLE_1, "newsgroups": TABLE_2}


class Cell(NamedTuple):
    """A place in a table."""

    corpus: str
    selection: str
    features: int
    classifier: str


class Split(NamedTuple):
    """Vectors and categories (dense indicators) of training and test documents."""

    train: Any
    train_categories: Array
    test: Any
    test_categories: Array


def load(corpus: str) -> Split:
    """A corpus as vectors."""
    documents = load_reuters(subset="labelled") if corpus == "reuters" else load_newsgroups()
    train, test = documents.split("train"), documents.split("test")
    vectorizer = TermVectorizer(
        weighting="ltc",
        stop_words="english",
        characters="letters",
        stemmer="porter",
        min_df=1 if corpus == "reuters" else 2,
    )
    X = vectorizer.fit_transform(train.texts)
    return Split(X, train.indicator.toarray(), vectorizer.transform(test.texts), test.indicator.toarray())


def features_of(selection: str, k: int, split: Split) -> tuple[Array, Array]:
    """So many features of training and test documents, in length one."""
    if selection == "SNMF":
        return topics_of(k, split)
    by, average = {"DF": ("document-frequency", "max"), "CHI": ("chi2", "max"), "OCFS": ("ocfs", "weighted")}[selection]
    chosen = SelectTerms(by=by, k=k, average=average).fit(split.train, split.train_categories)  # type: ignore[arg-type]
    dense = [sparse.csr_array(chosen.transform(X)).toarray() for X in (split.train, split.test)]
    return normalize(dense[0]), normalize(dense[1])


def topics_of(k: int, split: Split) -> tuple[Array, Array]:
    """Codes of length one, from the start whose codes leave-one-out on training documents prefers."""
    best = -1.0
    for start in ("nndsvd", "nndsvda"):
        encoder = SparseNMF(n_components=k, importance="variance", alpha=1.0, start=start, max_iter=200).fit(
            split.train
        )
        train = normalize(encoder.transform(split.train))
        members = sparse.csr_array(split.train_categories.T)
        quality = max(leave_one_out(train, members, cosines, np.random.RandomState(0)).values())
        if quality > best:
            best, chosen = quality, (train, encoder)
    return chosen[0], normalize(chosen[1].transform(split.test))


def cosines(distances: Array) -> Array:
    """Of points of length one, by their squared distances."""
    return 1 - distances / 2


def by_neighbours(train: Array, test: Array, categories: Array) -> Array:
    """Scores of kNN, cosines as votes; documents without any feature are like one another."""
    spoken, found = train.any(axis=1), test.any(axis=1)
    silent = categories if spoken.all() else categories[~spoken]
    scores = np.tile(silent.mean(axis=0), (len(test), 1))
    scores[found] = _votes(train[spoken], test[found], categories[spoken], cosines)
    return scores


def by_additive_regression(train: Array, test: Array, categories: Array) -> Array:
    """Scores of the nearest by `TopicSimilarity`, their probabilities as votes."""
    similarity = TopicSimilarity().fit(train, categories)
    return _votes(
        similarity.points(train),
        similarity.points(test),
        categories,
        lambda distances: expit(similarity.log_odds_at(distances)),
    )


def _votes(train: Array, test: Array, categories: Array, weigh: Callable[[Array], Array]) -> Array:
    members = sparse.csr_array(categories.T)
    k = chosen_neighbours(train, members, weigh, np.random.RandomState(0))
    places, distances = nearest(test, train, k)
    scores: Array = np.einsum("ik,ikc->ic", weigh(distances), categories[places]) + 1e-9 * categories.mean(axis=0)
    return scores


def by_support_vectors(train: Array, test: Array, categories: Array) -> Array:
    """The class libsvm decides for, as an indicator; kernel values come from two matrix products."""
    documents, labels = np.nonzero(categories)
    learned = train[documents]
    gamma = 1 / (learned.shape[1] * learned.var())
    machine = SVC(C=10.0, kernel="precomputed").fit(_radial(learned, learned, gamma), labels)
    indicator: Array = np.eye(categories.shape[1])[machine.predict(_radial(test, learned, gamma))]
    return indicator


def _radial(points: Array, others: Array, gamma: float) -> Array:
    """exp(-gamma |p - o|^2), points x others."""
    kernel = squared_distances(points, others)
    kernel *= -gamma
    return np.exp(kernel, out=kernel)


CLASSIFIERS = {"kNN": by_neighbours, "SVM": by_support_vectors, "additive LR": by_additive_regression}


def micro_f1(categories: Array, scores: Array) -> float:
    """Micro F1 in percent when each document gets its best category."""
    hits = categories[np.arange(len(scores)), np.argmax(scores, axis=1)].sum()
    return float(200 * hits / (len(scores) + categories.sum()))


def main(arguments: list[str]) -> None:
    """Run the cells that are not kept yet, then print what there is as tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.topical_tables", description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="reuters,newsgroups")
    parser.add_argument("--features", default=",".join(map(str, FEATURES)))
    parser.add_argument("--selection", default="SNMF,DF,CHI,OCFS")
    parser.add_argument("--classifier", default="kNN,SVM,additive LR")
    parser.add_argument("--keep", type=Path, default=Path("out/topical-tables.jsonl"), help="file of finished cells")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ConvergenceWarning)
    options.keep.parent.mkdir(parents=True, exist_ok=True)
    for corpus in options.corpus.split(","):
        wanted = [
            Cell(corpus, selection, int(k), classifier)
            for selection in options.selection.split(",")
            for k in options.features.split(",")
            for classifier in options.classifier.split(",")
            if (classifier, selection) in PAPER[corpus]
        ]
        kept = run(wanted, options.keep)
        print("\n".join(["", f"{corpus}: micro F1, paper / ours (difference)", "", *render(wanted, kept)]), flush=True)


def run(wanted: list[Cell], file: Path) -> dict[Cell, float]:
    """Micro F1 of cells; those that the file does not hold yet are run and added to it."""
    kept = read(file)
    missing = [cell for cell in wanted if cell not in kept]
    split = load(missing[0].corpus) if missing else None
    for (_, selection, k), cells in groupby(missing, key=lambda cell: cell[:3]):
        assert split is not None
        train, test = features_of(selection, k, split)
        for cell in cells:
            start = time.process_time()
            scores = CLASSIFIERS[cell.classifier](train, test, split.train_categories)
            kept[cell] = micro_f1(split.test_categories, scores)
            seconds = round(time.process_time() - start, 1)
            with file.open("a") as stream:
                stream.write(json.dumps({**cell._asdict(), "micro_f1": kept[cell], "seconds": seconds}) + "\n")
            print(f"{' '.join(map(str, cell))}: {kept[cell]:.1f}, {seconds} CPU s", file=sys.stderr, flush=True)
    return kept


def read(file: Path) -> dict[Cell, float]:
    """The cells of a file and their micro F1."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return {Cell(*(line[name] for name in Cell._fields)): line["micro_f1"] for line in lines}


def render(cells: list[Cell], kept: dict[Cell, float]) -> list[str]:
    """A row a number of features, a column a classifier and selection."""
    columns = list(dict.fromkeys((cell.classifier, cell.selection) for cell in cells))
    rows = list(dict.fromkeys(cell.features for cell in cells))
    lines = [f"| features | {' | '.join(', '.join(column) for column in columns)} |", "|---" * (len(columns) + 1) + "|"]
    for k in rows:
        values = []
        for classifier, selection in columns:
            paper = PAPER[cells[0].corpus][classifier, selection][FEATURES.index(k)]
            ours = kept[Cell(cells[0].corpus, selection, k, classifier)]
            values.append(f"{paper:.1f} / {ours:.1f} ({ours - paper:+.1f})")
        lines.append(f"| {k:,} | {' | '.join(values)} |")
    return lines


if __name__ == "__main__":
    main(sys.argv[1:])
