"""The stack of models against one logistic regression of scikit-learn."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from bayesift.arrays import Array
from bayesift.corpora import load_newsgroups, load_reuters
from bayesift.models.ensemble import StackedClassifier
from bayesift.text import TermVectorizer
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

N_SHORT, N_CLASSES, N_LONG = 10_000, 77, 25_000
LIKE_THEIRS = 0.9  # share of training documents of which the decisions agree


@cache
@if_present
def short_texts() -> tuple[Any, Array]:
    """First lines of Reuters stories with their first topic, one of the 77 most frequent."""
    stories = [
        (story.full_text.split("\n")[0], story.categories[0])
        for story in load_reuters()
        if story.categories
    ]
    frequent = {
        topic for topic, _ in Counter(topic for _, topic in stories).most_common(N_CLASSES)
    }
    texts, topics = zip(
        *[story for story in stories if story[1] in frequent][:N_SHORT], strict=True
    )
    return TermVectorizer(weighting="sublinear-tf-idf").fit_transform(texts), np.array(topics)


@cache
@if_present
def long_texts() -> tuple[Any, Array]:
    """Return posts of 20 Newsgroups, the longest cut in two, and whether they are on computers.

    Posts on science count as posts on computers.
    """
    corpus = load_newsgroups()
    posts = sorted(
        ((post.text, post.categories[0]) for post in corpus), key=lambda post: -len(post[0])
    )
    n_cut = N_LONG - len(posts)
    halves = [(part, group) for text, group in posts[:n_cut] for part in _halves(text)]
    texts, groups = zip(*halves, *posts[n_cut:], strict=True)
    about = np.array([group.split(".")[0] in ("comp", "sci") for group in groups])
    return TermVectorizer(weighting="sublinear-tf-idf").fit_transform(texts), about


def _halves(text: str) -> tuple[str, str]:
    words = text.split()
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


def _fit(model: Any, data: tuple[Any, Array]) -> tuple[Any, Any]:
    """Fit the model; return it and the documents on which decisions are compared."""
    return model.fit(*data), data[0][::20]


def _check(results: dict[str, tuple[Any, Any]]) -> None:
    ours, theirs = (model.predict(X) for model, X in results.values())
    agreement = float(np.mean(ours == theirs))
    print(f"decisions on training documents that agree: {agreement:.3f}")
    assert agreement > LIKE_THEIRS


def _benchmark(name: str, dataset: Dataset, *, most: float) -> Benchmark:
    return Benchmark(
        name=name,
        objective=f"a stack of six models, fitted in at most {most:g} times the time of one "
        f"logistic regression",
        datasets=[dataset],
        contenders=[
            Contender("jury", lambda data: _fit(StackedClassifier.jury(), data)),
            Contender(
                "LogisticRegression", lambda data: _fit(LogisticRegression(max_iter=1000), data)
            ),
        ],
        comparisons=[Comparison("jury", "LogisticRegression", asked=1 / most)],
        check=_check,
        repeats=3,
    )


BENCHMARK = _benchmark(
    "stacking_short",
    Dataset("first lines of 10,000 Reuters stories, 77 topics, tf-idf", short_texts),
    most=5,
)
BENCHMARK_LONG = _benchmark(
    "stacking_long",
    Dataset("20 Newsgroups as 25,000 texts, two classes, tf-idf", long_texts),
    most=8,
)
