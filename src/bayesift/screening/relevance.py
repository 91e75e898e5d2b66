"""The documents of a fixed pool as vectors, and how relevant each is, given those judged so far.

**Similarity.** Two documents are similar in several ways, the parts of their vectors, and how much
each part counts depends on how many relevant documents were found (`Part`):

    x x' = sum_p weight_p(t) x_p x_p',    t = min(1, relevant found / 20), in steps of 1/8

    words and pairs of words    1 - 0.4 t
    stems                       0.4 t
    leading directions          0.1 t      (latent semantic analysis, Deerwester et al. 1990)
    titles, words and pairs     0.3 t
    keywords                    0.2 t      where given
    dense                       0.2 t      where given: rows of numbers, such as the mean of word
                                           vectors

One or two relevant documents do not tell which of the other parts to trust, and words are the
safest. Terms have the weights (1 + ln f) (1 + ln((1 + N) / (1 + n))), and each part of a document
has length one.

**Model.** Logistic regression with a Gaussian prior, refitted after every judgement with a warm
start:

    w, b = argmax  sum_i c_i log psi(y_i (x_i w + b + o_i)) - |w|^2 / (2 v) - b^2 / (2 v s)

Judgements are balanced, because relevant documents are rare and shown first: the relevant documents
have together the weight share L, L being the number of all judgements, the others (1 - share) L;
among the relevant, a document counts by its grade. Words that people name enter as the offset o = x
m, where m is the mode of the prior. The dual variables a_i = c_i (1 - psi) of the judged documents
determine the weights, w = v X'(y a) (`bayesift.kernels.dual`). One epoch costs 4 operations per
entry of the judged documents; from a warm start a few epochs suffice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import expit

from bayesift.arrays import FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.dual import DualArrays, DualDocuments, visit
from bayesift.kernels.entries import Entries
from bayesift.kernels.likelihoods import LOGIT
from bayesift.knowledge import TermIndex
from bayesift.model_file import ModelContent, load_model, save_model
from bayesift.text import TermVectorizer

_KIND = "pool"
_FINAL_FOUND = 20  # relevant documents found, from which on the weights of the parts stay
_WEIGHT_STEPS = 8  # until then, because every step costs a pass over the vectors
_DIRECTIONS = 50
_MAX_DIRECTION_ROWS = 20_000  # documents that the directions are found from
_DIRECTIONS_AT_ONCE = 10
_MIN_LENGTH = 1e-9  # of a document without terms, but for rounding
_MAX_DF = 0.95
_MAX_EPOCHS = 50
# The largest change of a dual variable in the last epoch, relative to its upper bound.
_TOLERANCE = 0.01
_MIN_CURVATURE = 1e-10
_NO_PARAMETERS = np.zeros(1)


@dataclass(frozen=True)
class Part:
    """One way in which documents are similar: columns of their vectors, and a weight.

    Parameters
    ----------
    name : of the part
    n_columns : of the vectors, after those of the parts before it
    first, last : the weight without relevant documents, and with 20 or more of them found

    Examples
    --------
    >>> stems = Part("stems", 1000, first=0.0, last=0.4)
    >>> [round(stems.weight(n_found), 2) for n_found in (0, 2, 10, 50)]
    [0.0, 0.0, 0.2, 0.4]
    """

    name: str
    n_columns: int
    first: float = 1.0
    last: float = 1.0

    def __post_init__(self) -> None:
        if not (self.first >= 0 and self.last >= 0):
            raise ValueError(
                f"weights of a part must not be negative, got {self.first!r} and {self.last!r}"
            )

    def weight(self, n_found: int) -> float:
        """Return the weight of the part when so many relevant documents are found."""
        return (
            self.first
            + (self.last - self.first)
            * min(_WEIGHT_STEPS * n_found // _FINAL_FOUND, _WEIGHT_STEPS)
            / _WEIGHT_STEPS
        )


@dataclass(frozen=True, eq=False)
class Pool:
    """A pool as vectors.

    Parameters
    ----------
    X : documents x columns
    index : the terms of the first columns
    parts : that the columns form
    """

    X: SparseRows
    index: TermIndex
    parts: tuple[Part, ...] = ()

    @classmethod
    def of_texts(
        cls,
        texts: Iterable[str],
        *,
        titles: Sequence[str] | None = None,
        keywords: Sequence[str] | None = None,
        dense: FloatArray | None = None,
    ) -> Pool:
        """Make the vectors of texts.

        Parameters
        ----------
        texts : of the documents, titles included
        titles, keywords : of the same documents, for parts of their own; a document may have an
            empty one
        dense : a row of numbers per document, for a part of its own

        Examples
        --------
        >>> texts = ["corn prices", "corn price", "gold mine"]
        >>> pool = Pool.of_texts(texts, titles=texts)
        >>> [part.name for part in pool.parts]
        ['words', 'stems', 'directions', 'titles']
        >>> words = pool.X[:, : pool.parts[0].n_columns]
        >>> (words @ words.T).toarray().round(2).tolist()[0]
        [1.0, 0.22, 0.0]
        """
        documents = list(texts)
        vectorizer = pool_vectorizer()
        counts = vectorizer.fit_transform(documents)
        directions = sparse.csr_array(
            _unit_rows(leading_directions(pool_vectors(counts), _DIRECTIONS))
        )
        words = pool_vectors(counts, rarity=1.0)
        del counts  # as large as the words, which is much for a large pool
        stemmer = TermVectorizer(weighting="log-tf", stemmer="porter", max_df=_MAX_DF)
        stems = pool_vectors(stemmer.fit_transform(documents), rarity=1.0)
        stacked = [("words", words, 1.0, 0.6), ("stems", stems, 0.0, 0.4)]
        stacked.append(("directions", directions, 0.0, 0.1))
        for name, fields, last in (("titles", titles, 0.3), ("keywords", keywords, 0.2)):
            if (
                fields is not None
                and (matrix := _field_vectors(name, fields, len(documents))) is not None
            ):
                stacked.append((name, matrix, 0.0, last))
        if dense is not None:
            stacked.append(
                ("dense", sparse.csr_array(_dense_rows(dense, len(documents))), 0.0, 0.2)
            )
        parts = tuple(
            Part(name, matrix.shape[1], first, last) for name, matrix, first, last in stacked
        )
        X = sparse.csr_array(sparse.hstack([matrix for _, matrix, _, _ in stacked]))
        return cls(X, TermIndex.of(vectorizer, words), parts)

    def save(self, path: str | Path, digest: str) -> None:
        """Write the vectors, so that they need not be made again for the texts of this digest."""
        X = self.X
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        arrays |= {"typical": self.index.typical, "rarity": self.index.rarity}
        parts = [asdict(part) for part in self.parts]
        header = {"kind": _KIND, "digest": digest, "columns": X.shape[1], "parts": parts}
        save_model(ModelContent(header, arrays, {"terms": list(self.index.columns)}), path)

    @classmethod
    def load(cls, path: str | Path, digest: str) -> Pool | None:
        """Read the vectors that were saved for these texts.

        The result is None if none were saved, or they are damaged.
        """
        try:
            content = load_model(path, mapped=True)
            header, arrays = content.header, content.arrays
            if header["kind"] != _KIND or header["digest"] != digest:
                return None
            shape = (len(arrays["indptr"]) - 1, int(header["columns"]))
            X = sparse.csr_array(
                (arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape
            )
            columns = {term: column for column, term in enumerate(content.lists["terms"])}
            index = TermIndex(
                columns, pool_vectorizer().term_counts, arrays["typical"], arrays["rarity"]
            )
            parts = tuple(Part(**part) for part in header["parts"])
        except (DataError, KeyError, TypeError, ValueError):
            return None
        return cls(X, index, parts)


def _field_vectors(name: str, fields: Sequence[str], n_documents: int) -> SparseRows | None:
    """Make the vectors of a field of the documents; None if it holds no words."""
    if len(fields) != n_documents:
        raise DataError(f"{len(fields)} {name} for {n_documents} documents")
    try:
        return pool_vectors(pool_vectorizer().fit_transform(fields), rarity=1.0)
    except ValueError:
        return None


def _dense_rows(rows: FloatArray, n_documents: int) -> FloatArray:
    if rows.ndim != 2 or len(rows) != n_documents:
        raise DataError(f"dense rows of shape {rows.shape} for {n_documents} documents")
    if not np.all(np.isfinite(rows)):
        raise DataError("dense rows hold numbers that are not finite")
    return _unit_rows(np.asarray(rows, dtype=np.float64))


def _unit_rows(rows: FloatArray) -> FloatArray:
    scaled: FloatArray = rows / np.maximum(
        np.linalg.norm(rows, axis=1, keepdims=True), _MIN_LENGTH
    )
    return scaled


def pool_vectorizer() -> TermVectorizer:
    """Create the vectorizer of words and pairs with 1 + ln f.

    There are no stems or stop words: in a narrow pool, small words matter.
    """
    return TermVectorizer(weighting="log-tf", ngram_range=(1, 2), max_df=_MAX_DF)


def pool_vectors(X: SparseRows, *, rarity: float = 0.5) -> SparseRows:
    """Multiply term weights by a power of their rarity, and scale documents to length one.

    The rarity is 1 + ln((1 + N) / (1 + n)), and `rarity` the power. The default is the square root:
    all records of a pool were found by one search, so that rare terms say less than in a mixed
    collection.

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
    lengths = np.sqrt(squared_lengths(weighted))
    weighted.data /= np.repeat(lengths, np.diff(X.indptr))
    return weighted


def squared_lengths(X: SparseRows) -> FloatArray:
    """Return the squared length of every row."""
    squares = sparse.csr_array((X.data * X.data, X.indices, X.indptr), X.shape)
    lengths: FloatArray = squares @ np.ones(X.shape[1])
    return lengths


def leading_directions(X: SparseRows, directions: int) -> FloatArray:
    """Place the documents along the leading singular directions of the pool: Z Z' is near X X'.

    Those of large pools are found from a part of the documents, evenly spread, and the others are
    placed along them.
    """
    if min(X.shape) <= directions + 1:
        left, values, _ = linalg.svd(X.toarray(), full_matrices=False)
        scaled: FloatArray = left * values
        return scaled
    rows = X[:: -(-X.shape[0] // _MAX_DIRECTION_ROWS)]
    by_rows = rows.shape[0] <= rows.shape[1]
    n = min(rows.shape)
    product = (lambda v: rows @ (rows.T @ v)) if by_rows else (lambda v: rows.T @ (rows @ v))
    # A fixed start makes the result deterministic.
    values, vectors = eigsh(
        LinearOperator((n, n), matvec=product, dtype=np.float64), k=directions, v0=np.ones(n)
    )
    if by_rows and rows.shape == X.shape:
        along: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
        return along
    placed = np.empty((X.shape[0], directions))
    for first in range(0, directions, _DIRECTIONS_AT_ONCE):
        part = slice(first, first + _DIRECTIONS_AT_ONCE)
        axes = (
            rows.T @ vectors[:, part] / np.sqrt(np.maximum(values[part], _MIN_LENGTH))
            if by_rows
            else vectors[:, part]
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


class _JudgedRows(NamedTuple):
    """Judged documents, their weighted vectors, and the squared lengths of these."""

    documents: IntArray
    X: SparseRows
    lengths: FloatArray


def _entries_of_parts(X: SparseRows, parts: Sequence[Part]) -> IntArray:
    """Count the entries of every document in each part, and in the columns after the parts."""
    before = np.zeros(X.shape[0], dtype=np.int32)
    counts = []
    end = 0
    for part in parts:
        end += part.n_columns
        below = np.append(0, np.cumsum(X.indices < end, dtype=np.int32))
        entries = np.diff(below[X.indptr])
        counts.append(entries - before)
        before = entries
    counts.append(np.diff(X.indptr) - before)
    return np.column_stack(counts)


class RelevanceModel:
    """Scores of all documents of a pool from the labels of some.

    The parts of the vectors have the weights for `n_found` relevant documents; columns after those
    of the parts have the weight one. Only the rows of judged documents are ever multiplied by them:
    for the scores of all documents they are in the weights of the model.
    """

    def __init__(
        self,
        X: SparseRows,
        settings: RelevanceSettings,
        parts: Sequence[Part] = (),
        n_found: int = 0,
    ) -> None:
        if (n := sum(part.n_columns for part in parts)) > X.shape[1]:
            raise DataError(f"parts of {n} columns in all for vectors of {X.shape[1]}")
        self.settings = settings
        self.parts = tuple(parts)
        self._unweighted = X if X.has_sorted_indices else X.sorted_indices()
        self._entries = _entries_of_parts(self._unweighted, self.parts)
        self._weigh(n_found)

    def _weigh(self, n_found: int) -> None:
        self._weights_of_parts = [part.weight(n_found) for part in self.parts]
        # The last factor is that of the columns after those of the parts.
        self._part_factors = np.sqrt([*self._weights_of_parts, 1.0])
        sizes = [part.n_columns for part in self.parts]
        sizes.append(self._unweighted.shape[1] - sum(sizes))
        self._factors = np.repeat(self._part_factors, sizes)
        self._judged: _JudgedRows | None = None

    def weighed(self, n_found: int) -> RelevanceModel:
        """Return the model whose parts have the weights for so many relevant documents found."""
        if [part.weight(n_found) for part in self.parts] == self._weights_of_parts:
            return self
        model = copy(self)
        model._weigh(n_found)
        return model

    def rows(self, documents: IntArray | slice) -> SparseRows:
        """Return the vectors of some documents in their present weights."""
        rows = self._unweighted[documents]
        entries = self._entries[documents]
        # The entries of a row are in the order of the parts: a factor is repeated, not looked up.
        factors = np.repeat(np.tile(self._part_factors, len(entries)), entries.ravel())
        return sparse.csr_array((rows.data * factors, rows.indices, rows.indptr), rows.shape)

    def _judged_rows(self, labels: IntArray) -> _JudgedRows:
        """Return the rows of the judged documents; those of the last call are kept."""
        documents = np.flatnonzero(labels)
        kept = self._judged
        if kept is None or not np.array_equal(kept.documents, documents):
            X = self.rows(documents)
            kept = _JudgedRows(documents, X, squared_lengths(X))
            self._judged = kept
        return kept

    def fit(
        self,
        labels: IntArray,
        duals: FloatArray,
        offsets: FloatArray,
        grades: FloatArray | None = None,
    ) -> FloatArray:
        """Return the dual variables of the mode, from a start such as those of the last fit.

        Documents with label 0 are not judged.
        """
        judged, X, lengths = self._judged_rows(labels)
        signs = labels[judged].astype(np.float64)
        spread = self.settings.intercept_spread
        bounds = self.settings.variance * self._importance(labels, grades)[judged]
        found = np.minimum(duals[judged], bounds)[:, np.newaxis]
        moves = np.zeros_like(found)
        hyperplane = self._hyperplane(X, signs * found[:, 0])
        model = DualArrays(*hyperplane, found, moves, np.zeros(1))
        indices = X.indices.astype(np.int32, copy=False)
        rows = Entries(X.indptr.astype(np.int64, copy=False), indices, X.data)
        targets = (signs * bounds)[:, np.newaxis], offsets[judged, np.newaxis]
        documents = DualDocuments(rows, *targets, (lengths + spread)[:, np.newaxis])
        order = np.arange(len(judged))
        variances = np.array([spread]), np.ones((1, 1))
        for _ in range(_MAX_EPOCHS if len(judged) else 0):
            visit(documents, order, LOGIT, _NO_PARAMETERS, *variances, np.zeros(1), model)
            if np.all(np.sqrt(moves[:, 0]) <= _TOLERANCE * bounds):
                break
        every = np.zeros(len(labels))
        every[judged] = found[:, 0]
        return every

    def scores(self, labels: IntArray, duals: FloatArray, offsets: FloatArray) -> FloatArray:
        """Return the score of every document of the pool, judged or not."""
        weights, intercept = self._weights(labels, duals)
        scores: FloatArray = (
            self._unweighted @ (self._factors * weights[:, 0]) + intercept[0] + offsets
        )
        return scores

    def weights(self, labels: IntArray, duals: FloatArray) -> FloatArray:
        """Return the weight of every column."""
        weights: FloatArray = self._weights(labels, duals)[0][:, 0]
        return weights

    def covariance(
        self,
        rows: IntArray,
        labels: IntArray,
        scores: FloatArray,
        grades: FloatArray | None = None,
    ) -> FloatArray:
        """Return the covariance of the scores of some documents, normal about the mode."""
        judged = np.flatnonzero(labels)
        prior = self._prior_covariance(rows, rows)
        if not len(judged):
            return prior
        chance = expit(scores[judged])
        curvature = np.maximum(
            self._importance(labels, grades)[judged] * chance * (1.0 - chance), _MIN_CURVATURE
        )
        root = np.sqrt(curvature)
        inner = (
            np.eye(len(judged))
            + root[:, np.newaxis] * self._prior_covariance(judged, judged) * root
        )
        shared = root[:, np.newaxis] * self._prior_covariance(judged, rows)
        half = linalg.solve_triangular(linalg.cholesky(inner, lower=True), shared, lower=True)
        posterior: FloatArray = prior - half.T @ half
        return posterior

    def _prior_covariance(self, some: IntArray, others: IntArray) -> FloatArray:
        products = (self.rows(some) @ self.rows(others).T).toarray()
        covariance: FloatArray = self.settings.variance * (
            products + self.settings.intercept_spread
        )
        return covariance

    def _importance(self, labels: IntArray, grades: FloatArray | None = None) -> FloatArray:
        """Return the weight c of every document."""
        relevant, others = labels > 0, labels < 0
        total, share = float(np.count_nonzero(labels)), self.settings.share
        importance = np.zeros(len(labels))
        counted = np.ones(np.count_nonzero(relevant)) if grades is None else grades[relevant]
        importance[relevant] = share * total * counted / counted.sum()
        importance[others] = (1.0 - share) * total / max(int(np.count_nonzero(others)), 1)
        return importance

    def _weights(self, labels: IntArray, duals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return weights and intercept, as columns."""
        judged, X, _ = self._judged_rows(labels)
        return self._hyperplane(X, (labels * duals)[judged])

    def _hyperplane(self, X: SparseRows, signed: FloatArray) -> tuple[FloatArray, FloatArray]:
        weights: FloatArray = np.ascontiguousarray((X.T @ signed)[:, np.newaxis])
        return weights, np.array([self.settings.intercept_spread * signed.sum()])
