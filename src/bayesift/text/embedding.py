"""Texts to dense rows: means of the vectors of their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, FloatArray, IntArray
from bayesift.errors import DataError, MissingExtraError
from bayesift.state import expect_array, storable
from bayesift.text.counting import weigh
from bayesift.text.vectorizer import TermVectorizer
from bayesift.text.vectors import WordVectors

Averaging = Literal["log-tf", "tf", "sublinear-tf-idf"]

_LEAST = 1e-12
_REASONS = 3


@dataclass(frozen=True, slots=True)
class SimilarText:
    """A text of a collection, by its index; its score, and the words that add most to it."""

    document: int
    score: float
    words: tuple[str, ...]


@storable("text-embedder")
class TextEmbedder(TransformerMixin, BaseEstimator):
    """Turns texts into dense rows: the mean of the vectors of their words.

    Rows are centred and scaled on the training texts.

        row = (v / |v| - centre) / size,    v = sum_t w_t v_t

    t are words, or the pieces that the vectors have for words, w_t their weights. `size` is such
    that training rows have a mean square length of one, as term vectors of length one have. Texts
    without a known word are rows of zeros.

    Parameters
    ----------
    vectors : `WordVectors`, or the path of a file or folder that `WordVectors.load` reads; None
        takes those of the extra `embeddings`
    averaging : the weights of words, formulas in `bayesift.text.weigh`: "log-tf", "tf", or
        "sublinear-tf-idf", which counts rare words more
    n_jobs : number of threads; -1 for all cores

    Attributes
    ----------
    vectors_ : the `WordVectors`
    digest_ : their digest, by which a saved model knows them
    centre_, size_ : as in the formula

    Examples
    --------
    >>> vectors = WordVectors.of(["corn", "wheat", "oil"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> TextEmbedder(vectors).fit_transform(["Corn and wheat", "oil"]).round(2)
    array([[ 0.73, -0.69],
           [-0.73,  0.69]])
    """

    FITTED = ("documents_", "n_documents_", "centre_", "size_", "digest_", "source_")
    UNSTORED = ("vectors", "n_jobs")

    documents_: sparse.csr_array
    n_documents_: int
    centre_: FloatArray
    size_: float
    digest_: str
    source_: str

    def __init__(
        self,
        vectors: Any = None,
        *,
        averaging: Averaging = "log-tf",
        n_jobs: int | None = None,
    ) -> None:
        self.vectors = vectors
        self.averaging = averaging
        self.n_jobs = n_jobs

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the frequencies of words, the centre and the size of rows."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> FloatArray:
        """Fit to texts and return their rows, in one pass."""
        self._check_parameters()
        self.vectors_ = vectors_of(self.vectors)
        counts = self._counts(texts)
        self.n_documents_ = int(counts.shape[0])
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        self.documents_ = sparse.csr_array(frequencies[np.newaxis].astype(np.float64))
        rows = self._directions(counts)
        used = np.any(rows, axis=1)
        self.centre_ = rows[used].mean(axis=0) if used.any() else np.zeros(rows.shape[1])
        rows[used] -= self.centre_
        n_used = max(1, int(np.count_nonzero(used)))
        self.size_ = max(float(np.sqrt(np.sum(rows**2) / n_used)), _LEAST)
        self.digest_, self.source_ = self.vectors_.digest, self.vectors_.source
        rows /= self.size_
        return rows

    def transform(self, texts: Iterable[str]) -> FloatArray:
        """Return the rows of texts, texts x dimensions."""
        check_is_fitted(self)
        rows = self._directions(self._counts(texts))
        rows[np.any(rows, axis=1)] -= self.centre_
        rows /= self.size_
        return rows

    def word_parts(self, text: str) -> tuple[list[str], FloatArray]:
        """Return the words of a text and what each adds to its row, words x dimensions.

        The parts add up to the row of `transform`, plus `centre_ / size_`.

        Examples
        --------
        >>> vectors = WordVectors.of(["corn", "oil"], [[1.0, 0.0], [0.0, 1.0]])
        >>> words, parts = TextEmbedder(vectors).fit(["corn", "oil"]).word_parts("corn of mine")
        >>> words, parts.round(2).tolist()
        (['corn', 'of', 'mine'], [[1.41, 0.0], [0.0, 0.0], [0.0, 0.0]])
        """
        check_is_fitted(self)
        counts, words = self._counter().count_terms([text])
        pieces = self.vectors_.pieces(words)
        occurrences = sparse.csr_array(sparse.diags_array(counts.toarray()[0]) @ pieces)
        weighed = self._weighed(sparse.csr_array(occurrences.sum(axis=0)[np.newaxis]))
        totals = np.maximum(occurrences.sum(axis=0), 1.0)
        shares = sparse.csr_array(
            occurrences @ sparse.diags_array(weighed.toarray()[0] / totals)
        )
        used = np.unique(shares.indices)
        parts = np.asarray(shares[:, used] @ self.vectors_.take(used).astype(np.float64))
        length = max(float(np.linalg.norm(parts.sum(axis=0))), _LEAST)
        return words.to_strings(), parts / (length * self.size_)

    def more_like_this(
        self,
        texts: Sequence[str],
        *,
        liked: Sequence[int],
        disliked: Sequence[int] = (),
        top: int = 10,
    ) -> list[SimilarText]:
        """Find the texts that mean about what the liked ones do, and not what the disliked ones do.

        The score is the mean cosine with the liked texts less that with the disliked ones; texts
        that are named as `liked` or `disliked`, by their indices, are not ranked. Words are those
        that add most to the score.

        Examples
        --------
        >>> vectors = WordVectors.of(["corn", "wheat", "oil"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
        >>> texts = ["corn", "crude oil", "wheat prices"]
        >>> found = TextEmbedder(vectors).fit(texts).more_like_this(texts, liked=[0], top=1)
        >>> found[0].document, found[0].words
        (2, ('wheat',))
        """
        judged = [*liked, *disliked]
        if not len(liked) or not all(0 <= index < len(texts) for index in judged):
            raise ValueError(
                f"liked must name at least one of the {len(texts):,} texts by its index, disliked "
                "too"
            )
        rows = self.transform(texts)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _LEAST)
        direction = rows[list(liked)].mean(axis=0)
        if len(disliked):
            direction = direction - rows[list(disliked)].mean(axis=0)
        scores = rows @ direction
        order = [
            index for index in np.argsort(-scores, kind="stable") if index not in set(judged)
        ][:top]
        return [
            SimilarText(int(k), float(scores[k]), self._largest_words(texts[k], direction))
            for k in order
        ]

    def _largest_words(self, text: str, direction: FloatArray) -> tuple[str, ...]:
        words, parts = self.word_parts(text)
        added = parts @ direction
        return tuple(
            words[k] for k in np.argsort(-added, kind="stable")[:_REASONS] if added[k] > 0
        )

    def needed_rows(self) -> IntArray:
        """Return the rows that a copy of the vectors needs.

        They are those of the training words, or of all pieces of words.
        """
        check_is_fitted(self)
        whole_words = self.vectors_.words is not None
        return (
            self.documents_.indices.copy() if whole_words else np.arange(self.vectors_.n_rows)
        )

    def attach(self, vectors: WordVectors) -> Self:
        """Use these vectors, which must be those that the embedder was fitted with."""
        check_is_fitted(self, "digest_")
        if vectors.digest != self.digest_:
            raise DataError(
                f"the model was fitted with other vectors ({self.source_}) than those that are "
                f"here ({vectors.source})"
            )
        self.vectors_ = vectors
        return self

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Name the columns by the number of each dimension."""
        check_is_fitted(self, "centre_")
        return np.array(
            [f"dimension {index}" for index in range(len(self.centre_))], dtype=object
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vectors_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _post_load(self) -> None:
        self._check_parameters()
        n_columns = len(expect_array(self.centre_, "centre_", np.float64, (None,)))
        if n_columns < 1 or not self.size_ > 0 or self.n_documents_ < 0:
            raise DataError("not a fitted embedder of texts")

    def _check_parameters(self) -> None:
        if self.averaging not in get_args(Averaging):
            raise ValueError(
                f"averaging must be one of {', '.join(get_args(Averaging))}, got {self.averaging!r}"
            )

    def _counter(self) -> TermVectorizer:
        return TermVectorizer(min_length=1, unspaced="words", n_jobs=self.n_jobs)

    def _counts(self, texts: Iterable[str]) -> sparse.csr_array:
        """How often each row of the vectors is in each text.

        Every distinct word is looked up once.
        """
        counts, words = self._counter().count_terms(texts)
        return sparse.csr_array(counts @ self.vectors_.pieces(words))

    def _weighed(self, counts: sparse.csr_array) -> sparse.csr_array:
        frequencies, n_documents = self.documents_.toarray()[0], max(self.n_documents_, 1)
        return weigh(
            counts, self.averaging, document_frequencies=frequencies, n_documents=n_documents
        )

    def _directions(self, counts: sparse.csr_array) -> FloatArray:
        """Weighted sums of vectors, of length one."""
        weighed = self._weighed(counts)
        present = np.bincount(weighed.indices, minlength=weighed.shape[1]) > 0
        used, indices = np.flatnonzero(present), np.cumsum(present, dtype=np.int32) - 1
        parts = (weighed.data.astype(np.float32), indices[weighed.indices], weighed.indptr)
        inside = sparse.csr_array(parts, shape=(weighed.shape[0], len(used)))
        sums = np.asarray(inside @ self.vectors_.take(used), dtype=np.float64)
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), _LEAST)
        return sums


def vectors_of(given: Any) -> WordVectors:
    """Vectors as they are, those of a path, or for None those of the extra `embeddings`."""
    if isinstance(given, WordVectors):
        return given
    if isinstance(given, str | Path):
        return WordVectors.load(given)
    if given is not None:
        raise TypeError(f"vectors must be WordVectors or a path, not a {type(given).__name__}")
    found = WordVectors.installed()
    if found is None:
        raise MissingExtraError(
            'there are no word vectors here; run: pip install "bayesift[embeddings]"'
        )
    return found
