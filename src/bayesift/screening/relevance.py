"""The documents of a fixed pool as vectors, and how relevant each is, given those judged so far.

**Vectors.** A row has three parts, so that two documents are alike by their words and pairs of words, by their stems,
and by their position along the leading directions of the pool (latent semantic analysis, Deerwester et al. 1990):

    x x' = a w w' + b s s' + c z z'        a = 0.6, b = 0.4, c = 0.15

w and s have weights (1 + ln f) (1 + ln((1 + N) / (1 + n))), z are the directions of `pool_vectors`; w, s and z have
length one each. The directions let the first few judgements generalise to words that the judged documents do not hold.

**Model.** Logistic regression with a Gaussian prior, refitted after every judgement with a warm start:

    w, b = argmax  sum_i c_i log psi(y_i (x_i w + b + o_i)) - |w|^2 / (2 v) - b^2 / (2 v s)

Judgements are balanced, because relevant documents are rare and shown first: each relevant document has the weight
c = share L / (number of them), L being the number of all judgements, each other one (1 - share) L / (their number).
Words that people name enter as the offset o = x m, where m is the mode of the prior. The dual variables
a_i = c_i (1 - psi) of the judged documents determine the weights, w = v X'(y a) (`bayesift.kernels.dual`). One epoch
costs 4 operations per entry of the judged documents; from a warm start a few epochs suffice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import expit

from bayesift.arrays import Array
from bayesift.errors import DataError
from bayesift.kernels.dual import visit
from bayesift.kernels.likelihoods import LOGIT
from bayesift.knowledge import TermIndex
from bayesift.model_file import ModelContent, load_model, save_model
from bayesift.text import TermVectorizer

_KIND = "pool"
_SHARES = (0.6, 0.4, 0.15)  # of words and pairs, stems, directions; the guide on screening says how they were chosen
_DIRECTIONS = 50
_MOST_ROWS = 20_000  # documents that the directions are found from
_DIRECTIONS_AT_ONCE = 10
_MIN_LENGTH = 1e-9  # of a document without terms, but for rounding
_MAX_DF = 0.95
_MAX_EPOCHS = 50
_TOLERANCE = 0.01  # the largest change of a dual variable in the last epoch, relative to its upper bound
_MIN_CURVATURE = 1e-10
_NO_PARAMETERS = np.zeros(1)


@dataclass(frozen=True, eq=False)
class Pool:
    """A pool as vectors, documents x columns, and the terms of the first columns."""

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
        vectorizer = pool_vectorizer()
        counts = vectorizer.fit_transform(documents)
        stems = TermVectorizer(weighting="log-tf", stemmer="porter", max_df=_MAX_DF).fit_transform(documents)
        directions = leading_directions(pool_vectors(counts), _DIRECTIONS)
        directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), _MIN_LENGTH)
        parts = [pool_vectors(counts, rarity=1.0), pool_vectors(stems, rarity=1.0), sparse.csr_array(directions)]
        parts = [math.sqrt(share) * part for share, part in zip(_SHARES, parts, strict=True)]
        return cls(sparse.csr_array(sparse.hstack(parts)), TermIndex.of(vectorizer, parts[0]))

    def save(self, path: str | Path, digest: str) -> None:
        """Write the vectors, so that they need not be made again for the texts of this digest."""
        X = self.X
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        arrays |= {"typical": self.index.typical, "rarity": self.index.rarity}
        header = {"kind": _KIND, "digest": digest, "columns": X.shape[1]}
        save_model(ModelContent(header, arrays, {"terms": list(self.index.columns)}), path)

    @classmethod
    def load(cls, path: str | Path, digest: str) -> Pool | None:
        """The vectors that were saved for these texts; None if there are none, or they are damaged."""
        try:
            content = load_model(path, mapped=True)
            header, arrays = content.header, content.arrays
            if header["kind"] != _KIND or header["digest"] != digest:
                return None
            shape = (len(arrays["indptr"]) - 1, int(header["columns"]))
            X = sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
            columns = {term: column for column, term in enumerate(content.lists["terms"])}
            index = TermIndex(columns, pool_vectorizer().term_counts, arrays["typical"], arrays["rarity"])
        except (DataError, KeyError, TypeError, ValueError):
            return None
        return cls(X, index)


def pool_vectorizer() -> TermVectorizer:
    """Words and pairs of words with 1 + ln f, without stems or stop words: in a narrow pool, small words matter."""
    return TermVectorizer(weighting="log-tf", ngram_range=(1, 2), max_df=_MAX_DF)


def pool_vectors(X: sparse.csr_array, *, rarity: float = 0.5) -> sparse.csr_array:
    """Term weights times the power `rarity` of 1 + ln((1 + N) / (1 + n)), with documents scaled to length one.

    The default is the square root: all records of a pool were found by one search, so that rare terms say less than in
    a mixed collection.

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

    Those of large pools are found from a part of the documents, evenly spread, and the others are placed along them.
    """
    if min(X.shape) <= directions + 1:
        left, values, _ = linalg.svd(X.toarray(), full_matrices=False)
        scaled: Array = left * values
        return scaled
    rows = X[:: -(-X.shape[0] // _MOST_ROWS)]
    by_rows = rows.shape[0] <= rows.shape[1]
    n = min(rows.shape)
    product = (lambda v: rows @ (rows.T @ v)) if by_rows else (lambda v: rows.T @ (rows @ v))
    # A fixed start makes the result deterministic.
    values, vectors = eigsh(LinearOperator((n, n), matvec=product, dtype=np.float64), k=directions, v0=np.ones(n))
    if by_rows and rows.shape == X.shape:
        along: Array = vectors * np.sqrt(np.maximum(values, 0.0))
        return along
    placed = np.empty((X.shape[0], directions))
    for first in range(0, directions, _DIRECTIONS_AT_ONCE):
        part = slice(first, first + _DIRECTIONS_AT_ONCE)
        axes = (
            rows.T @ vectors[:, part] / np.sqrt(np.maximum(values[part], _MIN_LENGTH)) if by_rows else vectors[:, part]
        )
        placed[:, part] = X @ axes
    return placed


@dataclass(frozen=True)
class RelevanceSettings:
    """Hyperparameters of the relevance model; the guide on screening says how they were chosen.

    Parameters
    ----------
    variance : v, of the prior of each weight; documents have a length of about one
    share : of the total weight of judgements that the relevant ones have
    intercept_spread : s, the variance of the intercept's prior relative to that of a weight
    """

    variance: float = 0.8
    share: float = 0.9
    intercept_spread: float = 1.0

    def __post_init__(self) -> None:
        if not (self.variance > 0 and self.intercept_spread > 0):
            raise ValueError("variance and intercept_spread must be positive")
        if not 0 < self.share < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share!r}")


class RelevanceModel:
    """Scores of all documents of a pool from the labels of some."""

    def __init__(self, X: sparse.csr_array, settings: RelevanceSettings) -> None:
        self.X = X
        self.settings = settings
        self._squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        self._indices = X.indices.astype(np.int32, copy=False)
        self._indptr = X.indptr.astype(np.int64, copy=False)

    def fit(self, labels: Array, duals: Array, offsets: Array) -> Array:
        """The dual variables of the mode, from a start such as those of the last fit; label 0 is not judged."""
        judged = np.flatnonzero(labels)
        bounds = self.settings.variance * self._importance(labels)
        found = np.where(labels == 0, 0.0, np.minimum(duals, bounds))[:, np.newaxis]
        weights, intercept = self._weights(labels, found[:, 0])
        rows, spread = (self._indptr, self._indices, self.X.data), self.settings.intercept_spread
        squares = self._squares + spread
        moves = np.zeros_like(found)
        fitted = weights, intercept, found, moves, np.zeros(1)
        targets = (labels * bounds)[:, np.newaxis], offsets[:, np.newaxis]
        for _ in range(_MAX_EPOCHS if len(judged) else 0):
            visit(*rows, judged, LOGIT, _NO_PARAMETERS, *targets, squares, spread, *fitted)
            if np.all(np.sqrt(moves[judged, 0]) <= _TOLERANCE * bounds[judged]):
                break
        return found[:, 0]

    def scores(self, labels: Array, duals: Array, offsets: Array) -> Array:
        """The score of every document of the pool, judged or not."""
        weights, intercept = self._weights(labels, duals)
        scores: Array = self.X @ weights[:, 0] + intercept[0] + offsets
        return scores

    def weights(self, labels: Array, duals: Array) -> Array:
        """The weight of every column."""
        weights: Array = self._weights(labels, duals)[0][:, 0]
        return weights

    def covariance(self, rows: Array, labels: Array, scores: Array) -> Array:
        """The covariance of the scores of some documents, by the normal approximation about the mode."""
        judged = np.flatnonzero(labels)
        prior = self._prior_covariance(rows, rows)
        if not len(judged):
            return prior
        chance = expit(scores[judged])
        curvature = np.maximum(self._importance(labels)[judged] * chance * (1.0 - chance), _MIN_CURVATURE)
        root = np.sqrt(curvature)
        inner = np.eye(len(judged)) + root[:, np.newaxis] * self._prior_covariance(judged, judged) * root
        shared = root[:, np.newaxis] * self._prior_covariance(judged, rows)
        half = linalg.solve_triangular(linalg.cholesky(inner, lower=True), shared, lower=True)
        posterior: Array = prior - half.T @ half
        return posterior

    def _prior_covariance(self, some: Array, others: Array) -> Array:
        products = (self.X[some] @ self.X[others].T).toarray()
        covariance: Array = self.settings.variance * (products + self.settings.intercept_spread)
        return covariance

    def _importance(self, labels: Array) -> Array:
        """The weight c of every document."""
        relevant, others = labels > 0, labels < 0
        total, share = float(np.count_nonzero(labels)), self.settings.share
        importance = np.zeros(len(labels))
        importance[relevant] = share * total / max(int(np.count_nonzero(relevant)), 1)
        importance[others] = (1.0 - share) * total / max(int(np.count_nonzero(others)), 1)
        return importance

    def _weights(self, labels: Array, duals: Array) -> tuple[Array, Array]:
        """Weights and intercept, as columns."""
        signed = labels * duals
        judged = np.flatnonzero(signed)
        weights: Array = np.ascontiguousarray((self.X[judged].T @ signed[judged])[:, np.newaxis])
        return weights, np.array([self.settings.intercept_spread * signed.sum()])
