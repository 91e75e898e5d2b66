"""The documents of a fixed pool as vectors, made from all of them at once.

A row has three parts, so that two documents are alike by their words and pairs of words as they stand, by their stems,
and by where they lie along the leading directions of the pool (latent semantic analysis, Deerwester et al. 1990):

    x x' = a w w' + b s s' + c z z'        a = 0.6, b = 0.4, c = 0.15

w and s have weights (1 + ln f) (1 + ln((1 + N) / (1 + n))), z are the directions of `pool_vectors`; w, s and z have
length one each. The directions let the first few judgements speak of words they do not hold: they are what the unjudged
documents have to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds

from bayesift.knowledge import TermIndex
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]

_SHARES = (0.6, 0.4, 0.15)  # of words and pairs, stems, directions; chosen as docs/screening.md says
_DIRECTIONS = 50
_NO_LENGTH = 1e-9  # a document without terms, but for rounding
_MAX_SHARE = 0.95  # terms in more documents than this are left out


@dataclass(frozen=True, eq=False)
class Pool:
    """A pool as vectors.

    Parameters
    ----------
    X : documents x columns
    index : the terms that the first columns stand for
    """

    X: sparse.csr_array
    index: TermIndex

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Pool:
        """The vectors of texts.

        Examples
        --------
        >>> pool = Pool.of_texts(["corn prices", "corn price", "gold mine"])
        >>> (pool.X @ pool.X.T).toarray().round(2).tolist()[0]
        [1.15, 0.58, 0.0]
        """
        documents = list(texts)
        reader = pool_vectorizer()
        counts = reader.fit_transform(documents)
        stems = TermVectorizer(weighting="log-tf", stemmer="porter", max_df=_MAX_SHARE).fit_transform(documents)
        directions = leading_directions(pool_vectors(counts), _DIRECTIONS)
        directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), _NO_LENGTH)
        parts = [pool_vectors(counts, rarity=1.0), pool_vectors(stems, rarity=1.0), sparse.csr_array(directions)]
        parts = [math.sqrt(share) * part for share, part in zip(_SHARES, parts, strict=True)]
        return cls(sparse.csr_array(sparse.hstack(parts)), TermIndex.of(reader, parts[0]))


def pool_vectorizer() -> TermVectorizer:
    """Words and pairs of words with 1 + ln f; neither stems nor stop words: in a narrow pool, small words tell.

    Examples
    --------
    >>> pool_vectorizer().fit_transform(["a trial of corn", "corn"]).shape
    (2, 4)
    """
    return TermVectorizer(weighting="log-tf", ngrams=(1, 2), max_df=_MAX_SHARE)


def pool_vectors(X: sparse.csr_array, *, rarity: float = 0.5) -> sparse.csr_array:
    """Terms times a power of 1 + ln((1 + N) / (1 + n)), documents to length one.

    Parameters
    ----------
    X : documents x terms
    rarity : the power: 1 is scikit-learn's IDF, 0 none. The root is half way: all records of a pool were found by one
        search, so that rare terms say less than in a mixed collection.

    Examples
    --------
    >>> pool_vectors(sparse.csr_array([[1.0, 1.0], [0.0, 2.0]])).toarray().round(3)
    array([[0.764, 0.645],
           [0.   , 1.   ]])
    """
    frequencies = np.bincount(X.indices, minlength=X.shape[1])
    factors = (1.0 + np.log((1.0 + X.shape[0]) / (1.0 + frequencies))) ** rarity
    weighted = X.copy()
    weighted.data *= factors[X.indices]
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    weighted.data /= np.repeat(lengths, np.diff(X.indptr))
    return weighted


def leading_directions(X: sparse.csr_array, directions: int) -> Array:
    """The documents along the leading singular directions of the pool: Z with Z Z' near X X'.

    Examples
    --------
    >>> Z = leading_directions(sparse.csr_array(np.eye(3)[:2]), 5)
    >>> (Z @ Z.T).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if min(X.shape) <= directions + 1:
        left, values, _ = linalg.svd(X.toarray(), full_matrices=False)
    else:
        # A start of equal entries makes the answer the same every time.
        left, values, _ = svds(sparse.csr_matrix(X), k=directions, v0=np.ones(min(X.shape)))
    scaled: Array = left * values
    return scaled
