"""Texts to a sparse matrix of term counts, with and without stems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import Stemmer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from bayesift.text import TermVectorizer
from benchmarks.corpora import pydocs, reuters_and_newsgroups
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset


def _fit(vectorizer: Any) -> Callable[[list[str]], Any]:
    def run(texts: list[str]) -> Any:
        return vectorizer.fit_transform(texts), vectorizer.get_feature_names_out()

    return run


def _stemming_analyzer() -> Callable[[str], list[str]]:
    """Return an analyzer that stems every token, the usual way with scikit-learn."""
    words = CountVectorizer().build_analyzer()
    stem = Stemmer.Stemmer("english").stemWord
    return lambda text: [stem(word) for word in words(text)]


def _check(results: dict[str, Any]) -> None:
    _same(results["bayesift"], results["CountVectorizer"])
    _same(results["bayesift, 2 threads"], results["CountVectorizer"])
    _same(results["bayesift, stemmed"], results["CountVectorizer, stemmed"])


def _same(ours: Any, theirs: Any) -> None:
    (X, names), (Y, other_names) = ours, theirs
    Y.sort_indices()
    np.testing.assert_array_equal(names, other_names)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(X, part), getattr(Y, part))


BENCHMARK = Benchmark(
    name="text_to_csr",
    objective="fit_transform texts to a matrix of counts and give the names of its columns",
    datasets=[
        Dataset("Reuters-21578 + 20 Newsgroups", reuters_and_newsgroups),
        Dataset("pydocs", pydocs, judged=False),
    ],
    contenders=[
        Contender("bayesift", _fit(TermVectorizer())),
        Contender("bayesift, 2 threads", _fit(TermVectorizer(n_jobs=2))),
        Contender("CountVectorizer", _fit(CountVectorizer())),
        Contender("HashingVectorizer", lambda texts: HashingVectorizer().transform(texts)),
        Contender("bayesift, stemmed", _fit(TermVectorizer(stemmer="english"))),
        Contender(
            "CountVectorizer, stemmed", _fit(CountVectorizer(analyzer=_stemming_analyzer()))
        ),
    ],
    comparisons=[
        Comparison("bayesift", "CountVectorizer", asked=15),
        Comparison("bayesift", "HashingVectorizer"),
        Comparison("bayesift, stemmed", "CountVectorizer, stemmed", asked=20),
        Comparison("bayesift, 2 threads", "bayesift", asked=1.7, clock="wall"),
    ],
    check=_check,
)
