"""The documents of a leaderboard as vectors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bayesift.reproduce.corpora import corpus_part
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]


class Split(NamedTuple):
    """Vectors and categories (indicators) of training and test documents."""

    X: Any
    Y: Array
    X_test: Any
    Y_test: Array
    multilabel: bool

    @property
    def target(self) -> Array:
        """What estimators learn: the indicator, or the number of the class."""
        return self.Y if self.multilabel else np.argmax(self.Y, axis=1)


@lru_cache(maxsize=2)
def split_of(name: str, weighting: Any, quick: bool) -> Split:
    """A corpus as vectors of stems in at least two documents; RCV1's come weighted, whatever is asked for."""
    corpus = corpus_part(name, quick)
    train, test = corpus.split("train"), corpus.split("test")
    Y, Y_test = train.indicator.toarray(), test.indicator.toarray()
    if corpus.vectors is None:
        vectorizer = TermVectorizer(weighting=weighting, stemmer="porter", min_df=2)
        X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    else:
        assert train.vectors is not None
        assert test.vectors is not None
        X, X_test = train.vectors, test.vectors
        if weighting == "binary":
            X, X_test = X.sign(), X_test.sign()
    learned = Y.any(axis=0)
    return Split(X, Y[:, learned], X_test, Y_test[:, learned], multilabel=not corpus.is_single_label)
