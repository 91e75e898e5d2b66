"""Measure word vectors, with the extra `embeddings`.

Run with `python -m benchmarks.vectors NAME...`; without a name all of these run:

    embed       documents per second against wordllama's own `embed`, 20 Newsgroups
    fit         CPU time of a fit to words and vectors against one to words, 10,000 short texts of
                69 classes
    few         the default learner with the extra against without, 5 and 10 examples per class,
                five draws
    all         the same with all training documents; micro F1 and loss per decision for several
                labels per document
    peers       scikit-learn's LogisticRegression on the same columns, of six C and three weights of
                vectors by folds
    characters  the default learner with n-grams of characters, with and without the extra
    curves      accuracy at 1, 2, 5, 10, 32 and 100 examples per class by words, knowledge of words,
                vectors and all three
    unlabelled  naive Bayes at 5 per class, with expectation-maximisation over 2,000 texts without
                labels (Nigam et al. 2000), and with the shares of classes held at those of the
                labelled texts (posterior regularisation, Ganchev et al. 2010)
    queries     average precision of one- and two-word queries, 20 Newsgroups (settings were chosen
                there) and Reuters, with and without words of similar meaning

Corpora without a split are cut by one fixed permutation. Settings were chosen on training documents
only. CPU times are of one thread; run with OPENBLAS_NUM_THREADS=1. `curves` keeps what it measured
and goes on from there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, log_loss
from sklearn.model_selection import StratifiedKFold

from bayesift.arrays import Array
from bayesift.charts import Axis, Figure, Frame, Line, Panel
from bayesift.charts.svg import series
from bayesift.classifier import TextClassifier
from bayesift.corpora import (
    load_customer_reviews,
    load_newsgroups,
    load_ohsumed,
    load_reuters,
    load_sms_spam,
    load_subjectivity,
    load_trec_questions,
)
from bayesift.knowledge import TermKnowledge
from bayesift.models.linear import GaussianPrior, SparseBayesClassifier
from bayesift.models.naive_bayes import NaiveBayesClassifier
from bayesift.records import Corpus
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks"
Parts = tuple[list[str], Array, list[str], Array]

_JUDGED = {
    "customer reviews": 1200,
    "subjectivity": 2500,
    "SMS spam": 1800,
}  # test documents, where there is no split
CORPORA: dict[str, Callable[[], Corpus]] = {
    "TREC questions": load_trec_questions,
    "customer reviews": load_customer_reviews,
    "subjectivity": load_subjectivity,
    "SMS spam": load_sms_spam,
    "20 Newsgroups": load_newsgroups,
}
SENTENCES = list(CORPORA)[:-1]
_QUERIES = (
    "atheism graphics windows pc_hardware mac_hardware x_window for_sale cars motorcycles "
    "baseball hockey cryptography "
    "electronics medicine space christian guns middle_east politics religion"
)  # of the newsgroups, in the order of their names
_TOPICS = (
    "wheat corn sugar coffee gold grain crude ship interest trade oilseed cocoa livestock cotton "
    "jobs rubber copper "
    "tin housing gas rice silver soybean barley fuel hog"
)
# What a person may say of the classes without having read a text.
KEYWORDS: dict[str, dict[str, str]] = {
    "TREC questions": {
        "ABBR": "abbreviation acronym stand stands mean full",
        "DESC": "why how definition mean cause reason origin describe difference",
        "ENTY": "animal color film book game food language product sport word plant disease",
        "HUM": "who person actor president author inventor company team whose",
        "LOC": "where country city state mountain river capital located island",
        "NUM": "many much when year long old date far percentage population cost",
    },
    "customer reviews": {
        "pos": "great good excellent love easy perfect best happy nice recommend works",
        "neg": "bad poor problem broken disappointed difficult terrible waste not worst return",
    },
    "subjectivity": {
        "objective": "he she his her they who when father young story life family murder discovers",
        "subjective": "film movie funny performances comedy entertaining boring feels but too you "
        "best",
    },
    "SMS spam": {
        "spam": "free win prize claim call txt urgent mobile cash offer award reply text",
        "ham": "ok home later love sorry going tomorrow dinner lol see",
    },
}


def parts_of(name: str) -> Parts:
    """Training texts and labels, test texts and labels."""
    corpus = CORPORA[name]()
    if name in _JUDGED:
        order = np.random.default_rng(99).permutation(len(corpus))
        rows = order[_JUDGED[name] :], order[: _JUDGED[name]]
        train, test = (corpus.select(part) for part in rows)
    else:
        train, test = corpus.split("train"), corpus.split("test")
    return train.texts, np.array(train.labels), test.texts, np.array(test.labels)


def draw(labels: Array, size: int | None, seed: int) -> Array:
    """So many documents of each class, or all."""
    order = np.random.default_rng(seed).permutation(len(labels))
    if size is None:
        return order
    return np.concatenate([order[labels[order] == name][:size] for name in np.unique(labels)])


def judge(probabilities: Array, classes: Array, truth: Array) -> tuple[float, float]:
    """Accuracy in percent and log loss."""
    right = np.mean(np.asarray(classes)[probabilities.argmax(axis=1)] == truth)
    return 100 * float(right), float(
        log_loss(truth, np.clip(probabilities, 1e-12, 1.0), labels=list(classes))
    )


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Run a function and return its result and CPU seconds."""
    start = time.process_time()
    return work(), time.process_time() - start


def fit_text(texts: list[str], labels: Array, *, extra: bool) -> tuple[TextClassifier, float]:
    """Fit the default learner and return it with its CPU seconds."""
    fitted, seconds = timed(
        lambda: TextClassifier(embedder="auto" if extra else None).fit(texts, labels)
    )
    return fitted, seconds


def compare(sizes: tuple[int | None, ...], draws: int) -> None:
    """Print the default learner with and without the extra."""
    for name in CORPORA:
        texts, labels, new, truth = parts_of(name)
        for size in sizes:
            found: dict[bool, list[tuple[float, ...]]] = {True: [], False: []}
            for seed in range(1000, 1000 + draws):
                rows = draw(labels, size, seed)
                for extra, results in found.items():
                    fitted, seconds = fit_text(
                        [texts[i] for i in rows], labels[rows], extra=extra
                    )
                    results.append(
                        (*judge(fitted.predict_proba(new), fitted.classes_, truth), seconds)
                    )
            ours, plain = (np.array(found[extra]).mean(axis=0) for extra in (True, False))
            print(
                f"{name}, {size or 'all'}: {_shown(ours)} with, {_shown(plain)} without",
                flush=True,
            )


def compare_all() -> None:
    """Print the default learner with and without the extra on all training documents."""
    compare((None,), 1)
    for load in (load_reuters, load_ohsumed):
        corpus = load()
        train, test = corpus.split("train"), corpus.split("test")
        for extra in (False, True):
            fitted = TextClassifier(embedder="auto" if extra else None)
            _, seconds = timed(partial(fitted.fit_corpus, train, multilabel=True))
            probabilities = np.clip(fitted.predict_proba(test.texts), 1e-12, 1 - 1e-12)
            truth = test.indicator.toarray() != 0
            loss = -np.where(truth, np.log(probabilities), np.log1p(-probabilities)).mean()
            right = 100 * f1_score(truth, fitted.decisions_of(probabilities), average="micro")
            shown = _shown(np.array([right, loss, seconds]))
            print(f"{corpus.name}, all: {shown} {'with' if extra else 'without'}", flush=True)


def characters() -> None:
    """Print the default learner with n-grams of characters."""
    for name in SENTENCES:
        texts, labels, new, truth = parts_of(name)
        for size, draws in ((5, 3), (None, 1)):
            for extra, beside in ((None, False), (None, True), ("auto", False), ("auto", True)):
                found = []
                for seed in range(1000, 1000 + draws):
                    rows = draw(labels, size, seed)
                    fitted = TextClassifier(embedder=extra, characters=beside)
                    _, seconds = timed(
                        partial(fitted.fit, [texts[i] for i in rows], labels[rows])
                    )
                    found.append(
                        (*judge(fitted.predict_proba(new), fitted.classes_, truth), seconds)
                    )
                blocks = "words" + ", vectors" * bool(extra) + ", characters" * beside
                print(
                    f"{name}, {size or 'all'}, {blocks}: {_shown(np.mean(found, axis=0))}",
                    flush=True,
                )


def _shown(values: Array) -> str:
    return f"{values[0]:.1f} / {values[1]:.3f} ({values[2]:.1f} s)"


def embed() -> None:
    """Print the speed of embedding."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer
    from wordllama.inference import WordLlamaInference

    found: Any = find_spec("wordllama")
    folder = Path(found.submodule_search_locations[0])
    table = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(
        str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
    )
    texts = load_newsgroups().split("train").texts
    TextEmbedder().fit(texts[:50])
    _, ours = timed(lambda: TextEmbedder().fit_transform(texts))
    some = texts[::10]
    _, theirs = timed(lambda: WordLlamaInference(table, tokenizer).embed(some))
    speeds = len(texts) / ours, len(some) / theirs
    print(
        f"{speeds[0]:,.0f} documents/s, wordllama {speeds[1]:,.0f}: {speeds[0] / speeds[1]:.0f}x"
    )


def short_texts() -> tuple[list[str], Array]:
    """10,000 questions and subject lines; classes of five texts or more."""
    questions, news = load_trec_questions(fine=True), load_newsgroups().split("train")
    subjects = [text.partition("Subject:")[2].partition("\n")[0].strip() for text in news.texts]
    texts, labels = [*questions.texts, *subjects], np.array([*questions.labels, *news.labels])
    names, counts = np.unique(labels, return_counts=True)
    kept = np.flatnonzero(np.isin(labels, names[counts >= 5]))
    chosen = np.random.default_rng(0).permutation(kept)[:10_000]
    return [texts[i] for i in chosen], labels[chosen]


def fit() -> None:
    """Print the time of fits with and without blocks."""
    texts, labels = short_texts()
    words = TermVectorizer(weighting="sublinear-tf-idf").fit_transform(texts)
    both = sparse.csr_array(
        sparse.hstack([words, sparse.csr_array(TextEmbedder().fit_transform(texts))])
    )
    print(f"{len(texts):,} texts, {len(np.unique(labels))} classes")
    model = SparseBayesClassifier(
        prior=GaussianPrior(variance=30.0), tol=1e-2, multiclass="softmax"
    )
    for _ in range(2):
        seconds = [timed(partial(model.fit, X, labels))[1] for X in (words, both)]
        print(f"softmax: words {seconds[0]:.1f} s, words and vectors {seconds[1]:.1f} s")
    seconds = [fit_text(texts, labels, extra=extra)[1] for extra in (False, True)]
    print(
        f"auto: words {seconds[0]:.1f} s, with vectors {seconds[1]:.1f} s "
        f"({seconds[1] / seconds[0]:.1f}x)"
    )


def peers() -> None:
    """Print scikit-learn on the same columns beside ours."""
    for name in SENTENCES:
        texts, labels, new, truth = parts_of(name)
        ours, seconds = fit_text(texts, labels, extra=True)
        measured = np.array([*judge(ours.predict_proba(new), ours.classes_, truth), seconds])
        (model, transform), theirs = timed(partial(_tuned, texts, labels))
        other = np.array(
            [*judge(model.predict_proba(transform(new)), model.classes_, truth), theirs]
        )
        print(f"{name}: ours {_shown(measured)}, scikit-learn {_shown(other)}", flush=True)


def _tuned(texts: list[str], labels: Array) -> tuple[Any, Callable[[list[str]], Any]]:
    """Return the best LogisticRegression on tf-idf and vectors, and its features."""
    vectorizer, embedder = (
        TermVectorizer(weighting="sublinear-tf-idf", ngram_range=(1, 2)),
        TextEmbedder(),
    )
    words, dense = vectorizer.fit_transform(texts), embedder.fit_transform(texts)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(dense, labels))

    def loss(C: float, factor: float) -> float:
        X, total = _joined(words, factor * dense), 0.0
        for rest, held_out in folds:
            model = LogisticRegression(C=C, max_iter=500).fit(X[rest], labels[rest])
            total += float(
                log_loss(
                    labels[held_out], model.predict_proba(X[held_out]), labels=model.classes_
                )
            )
        return total

    grid = [
        (C, factor) for C in (0.3, 1.0, 3.0, 10.0, 30.0, 100.0) for factor in (0.1, 0.3, 1.0)
    ]
    C, factor = min(grid, key=lambda pair: loss(*pair))
    model = LogisticRegression(C=C, max_iter=500).fit(_joined(words, factor * dense), labels)
    return model, lambda new: _joined(
        vectorizer.transform(new), factor * embedder.transform(new)
    )


def _joined(words: Any, dense: Array) -> sparse.csr_array:
    return sparse.csr_array(sparse.hstack([words, sparse.csr_array(dense)]))


def naive_bayes(
    texts: list[str],
    labels: Array,
    others: list[str],
    rounds: int,
    *,
    hold_shares: bool = False,
) -> Callable[[list[str]], Array]:
    """Naive Bayes, and with `rounds` of expectation-maximisation over texts without labels.

    Gives probabilities.
    """
    vectorizer = TermVectorizer()
    X = vectorizer.fit_transform([*texts, *others])
    known, unknown, model = (
        X[: len(texts)],
        X[len(texts) :],
        NaiveBayesClassifier().fit(X[: len(texts)], labels),
    )
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    for _ in range(rounds):
        weights = model.predict_proba(unknown)
        weights = with_shares(weights, shares) if hold_shares else weights
        rows = sparse.vstack([known, *[unknown] * len(model.classes_)], format="csr")
        repeated = np.concatenate([labels, np.repeat(model.classes_, unknown.shape[0])])
        model = NaiveBayesClassifier().fit(
            rows, repeated, np.concatenate([np.ones(len(labels)), weights.T.ravel()])
        )
    return lambda new: np.asarray(model.predict_proba(vectorizer.transform(new)))


def with_shares(posteriors: Array, shares: Array) -> Array:
    """Return the nearest distributions in which classes have these shares on average.

    Distance is the Kullback-Leibler divergence from the posteriors.
    """
    projected = np.maximum(posteriors, 1e-12)
    for _ in range(50):
        projected = projected * (shares / projected.mean(axis=0))
        projected /= projected.sum(axis=1, keepdims=True)
    return projected


def unlabelled() -> None:
    """Print naive Bayes at 5 a class with and without texts without labels."""
    modes = (0, False), (7, False), (7, True)
    for name in SENTENCES:
        texts, labels, new, truth = parts_of(name)
        found = []
        for seed in range(1000, 1005):
            rows = draw(labels, 5, seed)
            known, rest = (
                [texts[i] for i in rows],
                [texts[i] for i in np.setdiff1d(np.arange(len(texts)), rows)[:2000]],
            )
            fits = [
                naive_bayes(known, labels[rows], rest, n, hold_shares=hold) for n, hold in modes
            ]
            found.append([judge(predict(new), np.unique(labels), truth)[0] for predict in fits])
        means, worst = (
            np.mean(found, axis=0),
            (np.array(found) - np.array(found)[:, [0]]).min(axis=0),
        )
        print(
            f"{name}: alone {means[0]:.1f}, EM {means[1]:.1f} (worst draw {worst[1]:+.1f}), ",
            end="",
        )
        print(f"shares held {means[2]:.1f} (worst draw {worst[2]:+.1f})", flush=True)


def queries() -> None:
    """Print the average precision of queries."""
    vectors = WordVectors.installed()
    assert vectors is not None
    news, reuters = load_newsgroups().split("train"), load_reuters().split("test")
    names = dict(zip(sorted(news.categories), _QUERIES.split(), strict=True))
    for corpus, asked in (
        (news, names),
        (reuters, {topic: topic for topic in _TOPICS.split()}),
    ):
        vectorizer = TermVectorizer(weighting="ltc", stop_words="english", stemmer="porter")
        X, precisions = vectorizer.fit_transform(corpus.texts), []
        for category, words in asked.items():
            truth, query = (
                [category in document.categories for document in corpus],
                words.replace("_", " "),
            )
            plain = vectorizer.transform([query]).toarray()[0]
            expanded = plain.copy()
            for word, strength in vectors.expand(query).items():
                for term in vectorizer.term_counts(word):
                    if term in vectorizer.vocabulary_:
                        expanded[vectorizer.vocabulary_[term]] += strength
            if any(truth):
                precisions.append(
                    [
                        average_precision_score(truth, X @ weights)
                        for weights in (plain, expanded)
                    ]
                )
        means = np.mean(precisions, axis=0)
        print(
            f"{corpus.name}: {len(precisions)} queries, {means[0]:.3f}, expanded {means[1]:.3f}",
            flush=True,
        )


def _learners(
    name: str, texts: list[str], labels: Array
) -> Iterator[tuple[str, Callable[[list[str]], Array]]]:
    yield "words", TextClassifier(embedder=None).fit(texts, labels).predict_proba
    yield "words and vectors", TextClassifier().fit(texts, labels).predict_proba
    prior, several = GaussianPrior(variance=30.0), len(np.unique(labels)) > 2
    model = SparseBayesClassifier(
        prior=prior, multiclass="softmax" if several else "one-vs-rest"
    )
    embedder = TextEmbedder()
    alone = SparseBayesClassifier(**model.get_params()).fit(
        embedder.fit_transform(texts), labels
    )
    yield "vectors", lambda new: np.asarray(alone.predict_proba(embedder.transform(new)))
    knowledge = TermKnowledge.from_keywords(
        {c: words.split() for c, words in KEYWORDS[name].items()}
    )
    vectorizer = TermVectorizer(weighting="sublinear-tf-idf")
    for shown, beside in (("words and knowledge", None), ("all three", TextEmbedder())):
        made = TextClassifier(
            model=model, vectorizer=vectorizer, knowledge=knowledge, embedder=beside
        )
        yield shown, made.fit(texts, labels).predict_proba


def curves(draws: int = 3) -> None:
    """Print learning curves and draw them."""
    sizes, kept = (1, 2, 5, 10, 32, 100), RESULTS / "vectors-curves.json"
    RESULTS.mkdir(parents=True, exist_ok=True)
    known: dict[str, dict[str, float]] = json.loads(kept.read_text()) if kept.exists() else {}
    for name in SENTENCES:
        texts, labels, new, truth = parts_of(name)
        for size, seed in ((size, seed) for seed in range(draws) for size in sizes):
            key = f"{name}, {size}, {seed}"
            if key not in known:
                rows = draw(labels, size, seed)
                fitted = _learners(name, [texts[i] for i in rows], labels[rows])
                known[key] = {
                    k: judge(predict(new), np.unique(labels), truth)[0] for k, predict in fitted
                }
                kept.write_text(json.dumps(known))
                print(key, {k: round(value, 1) for k, value in known[key].items()}, flush=True)
    panels = []
    for place, name in enumerate(SENTENCES):
        found: dict[str, list[float]] = {}
        for learner in known[f"{name}, 1, 0"]:
            values = [
                [known[f"{name}, {n}, {s}"][learner] for s in range(draws)] for n in sizes
            ]
            found[learner] = [float(np.mean(of_size)) for of_size in values]
            print(f"{name}, {learner}: " + " ".join(f"{value:.1f}" for value in found[learner]))
        panels.append(_panel(name, place, sizes, found))
    Figure("Learning curves", panels, width=750, height=640).save(
        RESULTS / "vectors-learning-curves.svg"
    )


def _panel(
    name: str, place: int, sizes: tuple[int, ...], found: dict[str, list[float]]
) -> Panel:
    lines = [
        Line(
            [(float(n), value) for n, value in zip(sizes, values, strict=True)],
            series(k),
            key,
            marked=True,
        )
        for k, (key, values) in enumerate(found.items())
    ]
    y = Axis.over("right, %", [value for values in found.values() for value in values])
    x = Axis("examples a class", tuple(map(float, sizes)), log=True)
    left, top = 52.0 + 370 * (place % 2), 30.0 + 310 * (place // 2)
    return Panel(x, y, lines, Frame(left, left + 310, top, top + 230), name)


COMMANDS: dict[str, Callable[[], None]] = {
    "embed": embed,
    "fit": fit,
    "few": lambda: compare((5, 10), 5),
    "all": compare_all,
    "peers": peers,
    "characters": characters,
    "curves": curves,
    "unlabelled": unlabelled,
    "queries": queries,
}

if __name__ == "__main__":
    for command in sys.argv[1:] or list(COMMANDS):
        COMMANDS[command]()
