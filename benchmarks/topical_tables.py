"""Tables 1 and 2 of Qiu, Huang & Wu: micro F1 of kNN, SVM and additive LR on few features, paper beside ours.

`python -m benchmarks.topical_tables [--corpus reuters] [--features 2,4,8] [--selection SNMF,DF]`

Both corpora are ltc vectors of stemmed words (Porter, letters only, English stop words left out); 20 Newsgroups with
words of at least two documents. Every document gets one category (RCut, t = 1), which caps Reuters at 89.3. What the
paper leaves open: k is the best of 1, 3, 5, 10, 15, 20, 30 by leave-one-out on 2,000 training documents; the SVM is
libsvm's with a radial kernel as in the paper, C = 10, gamma = 1 / (features x variance), a document learned once under
each of its categories. Nothing is chosen on test documents.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
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
from bayesift.models.topics.neighbours import chosen_neighbours, nearest
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
        encoder = SparseNMF(n_components=k, max_iter=200).fit(split.train)
        return normalize(encoder.transform(split.train)), normalize(encoder.transform(split.test))
    by, average = {"DF": ("document-frequency", "max"), "CHI": ("chi2", "max"), "OCFS": ("ocfs", "weighted")}[selection]
    chosen = SelectTerms(by=by, k=k, average=average).fit(split.train, split.train_categories)  # type: ignore[arg-type]
    dense = [sparse.csr_array(chosen.transform(X)).toarray() for X in (split.train, split.test)]
    return normalize(dense[0]), normalize(dense[1])


def by_neighbours(train: Array, test: Array, categories: Array) -> Array:
    """Scores of kNN, cosines as votes; a document like no other gets the largest category."""
    return _votes(train, test, categories, lambda distances: 1 - distances / 2)


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
    """The class libsvm decides for, as an indicator."""
    documents, labels = np.nonzero(categories)
    machine = SVC(C=10.0, gamma="scale").fit(train[documents], labels)
    indicator: Array = np.eye(categories.shape[1])[machine.predict(test)]
    return indicator


CLASSIFIERS = {"kNN": by_neighbours, "SVM": by_support_vectors, "additive LR": by_additive_regression}


def micro_f1(categories: Array, scores: Array) -> float:
    """Micro F1 in percent when each document gets its best category."""
    hits = categories[np.arange(len(scores)), np.argmax(scores, axis=1)].sum()
    return float(200 * hits / (len(scores) + categories.sum()))


def main(arguments: list[str]) -> None:
    """Print a row a classifier, selection and number of features, as they are done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.topical_tables")
    parser.add_argument("--corpus", default="reuters,newsgroups")
    parser.add_argument("--features", default=",".join(map(str, FEATURES)))
    parser.add_argument("--selection", default="SNMF,DF,CHI,OCFS")
    parser.add_argument("--classifier", default="kNN,SVM,additive LR")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for corpus in options.corpus.split(","):
        split = load(corpus)
        print(f"\n{corpus}: {split.train.shape[0]} + {split.test.shape[0]} documents, {split.train.shape[1]} words\n")
        print("| features | selection | classifier | paper | ours |\n|---|---|---|---|---|")
        for selection in options.selection.split(","):
            for k in map(int, options.features.split(",")):
                _print_rows(corpus, selection, k, split, options.classifier.split(","))


def _print_rows(corpus: str, selection: str, k: int, split: Split, classifiers: list[str]) -> None:
    train, test = features_of(selection, k, split)
    for classifier in classifiers:
        if (classifier, selection) in PAPER[corpus]:
            printed = PAPER[corpus][classifier, selection][FEATURES.index(k)]
            ours = micro_f1(split.test_categories, CLASSIFIERS[classifier](train, test, split.train_categories))
            print(f"| {k} | {selection} | {classifier} | {printed} | {ours:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
