"""Make vectors of documents: ltc weights over words, which get columns when they are kept.

The weight of a word is (1 + log2 f) idf, scaled to length one over **all** words of the document,
known or not (Chai, Ng & Chieu 2002, section 2.2). The inverse document frequencies are

    fixed      log2(N / n), counted over the background documents (the batch phase) and never
               changed; a word in none of them counts as if in one, so that a vector does not
               depend on when a word became known
    running    log2(1 + N / n), updated with every observed document; for a start without background

Only words of background, judged and retrieved documents and of profiles get a column. Other words
of the stream only add to the length of their document, so that memory does not grow with the
stream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from bayesift.arrays import FloatArray, IntArray, SparseRows
from bayesift.errors import DataError
from bayesift.kernels.filtering import scale_rows
from bayesift.text import TermVectorizer
from bayesift.text.language import stemmer
from bayesift.text.scripts import Unspaced
from bayesift.text.words import Words, WordTable

Idf = Literal["fixed", "running"]
_NOTHING: dict[str, Any] = {"n": 0, "columns": [], "counts": []}


@dataclass(eq=False, slots=True, weakref_slot=True)
class DocumentVector:
    """One document as its columns and weights."""

    id: str
    columns: IntArray
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, slots=True)
class CountedTexts:
    """How often each text has each of its words, before any of them has a column.

    Splitting texts into words takes most of the time of `VectorSpace.weigh` and needs nothing of
    what a space has learned, so that it may be done beforehand, in another thread.

    Parameters
    ----------
    counts : texts x words
    words : sorted
    """

    counts: SparseRows
    words: Words

    def take(self, rows: Sequence[int]) -> CountedTexts:
        """Return the counts of some of the texts, over their own words."""
        counts = self.counts[list(rows)]
        present, indices = np.unique(counts.indices, return_inverse=True)
        indptr = counts.indptr.astype(np.int64)
        own = matrix_of(indptr, indices.astype(np.int32), counts.data, len(present))
        return CountedTexts(own, self.words.take(present.astype(np.int64)))


@dataclass(eq=False, slots=True)
class VectorBatch:
    """Vectors of a batch of documents; `take` gives columns to the unknown words of one of them.

    Parameters
    ----------
    rows : documents x columns that were known when the batch was weighted
    whole : documents x words of the batch, with the weights of unknown words too
    words : of the batch
    columns : of these words, -1 for unknown ones
    counted : what the batch added to running frequencies: the number "n" of documents, and "counts"
        of "columns"
    """

    ids: Sequence[str]
    rows: SparseRows
    whole: SparseRows
    words: Words
    columns: IntArray
    counted: dict[str, Any]

    def take(self, row: int, space: VectorSpace) -> DocumentVector:
        """Return the vector of one document; its unknown words get columns."""
        part = slice(self.whole.indptr[row], self.whole.indptr[row + 1])
        words = self.whole.indices[part]
        unknown = words[self.columns[words] < 0].astype(np.int64)
        if len(unknown):
            self.columns[unknown] = space.add_words(self.words.take(unknown))
        columns = self.columns[words]
        # Kernels expect columns in order, and new words got theirs just now.
        order = np.argsort(columns)
        return DocumentVector(self.ids[row], columns[order], self.whole.data[part][order])


class VectorSpace:
    """Turns texts into vectors: words, their columns and document frequencies.

    Parameters
    ----------
    idf : "fixed" or "running", see above
    stop_words, stemmer : as of `TermVectorizer`; the paper's are English stop words and Porter's
        stems
    unspaced : as of `TermVectorizer`; spaces saved before it was there keep "words"

    Examples
    --------
    >>> space = VectorSpace(stemmer=None)
    >>> X = space.learn_background(["corn and wheat", "crude oil", "corn oil"])
    >>> space.words_of(space.weigh(["1"], ["wheat and barley"]).rows.indices)
    ['wheat']
    """

    def __init__(
        self,
        *,
        idf: Idf = "fixed",
        stop_words: str | Collection[str] | None = "english",
        stemmer: str | None = "porter",
        unspaced: Unspaced = "ngrams",
    ) -> None:
        if idf not in ("fixed", "running"):
            raise ValueError(f"idf must be 'fixed' or 'running', got {idf!r}")
        self.idf = idf
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.unspaced = unspaced
        self.n_documents = 0
        self.frequencies: IntArray = np.zeros(0, dtype=np.int64)
        self._table = WordTable()

    def __len__(self) -> int:
        return len(self._table)

    def learn_background(self, texts: Iterable[str]) -> SparseRows:
        """Count the words of background documents.

        Returns their vectors, weighted with all of them counted.
        """
        counter = self._counter()
        counts = counter.fit_transform(texts)
        columns = self.add_words(counter.vocabulary_.words)
        np.add.at(self.frequencies, columns, np.diff(counts.tocsc().indptr))
        self.n_documents += counts.shape[0]
        self._weigh(counts, self._rarity(columns))
        return _moved(counts, columns, len(self))

    def count_texts(self, texts: Sequence[str]) -> CountedTexts:
        """Count the words of texts; nothing of the space changes."""
        counter = self._counter()
        try:
            counts = counter.fit_transform(texts)
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            return CountedTexts(sparse.csr_array((len(texts), 0)), Words.of([]))
        return CountedTexts(counts, counter.vocabulary_.words)

    def weigh(self, ids: Sequence[str], texts: Sequence[str]) -> VectorBatch:
        """Weigh documents; with running frequencies their words are counted first."""
        return self.weigh_counted(ids, self.count_texts(texts))

    def weigh_counted(self, ids: Sequence[str], texts: CountedTexts) -> VectorBatch:
        """Weigh documents as `weigh` does, from the counts of their words."""
        whole = texts.counts.copy()
        columns = self._table.find(texts.words).astype(np.int32)
        counted = _NOTHING
        if self.idf == "running" and len(columns):
            order = np.argsort(columns)[np.count_nonzero(columns < 0) :]
            counts = np.diff(whole.tocsc().indptr)[order]
            counted = {
                "n": whole.shape[0],
                "columns": columns[order].tolist(),
                "counts": counts.tolist(),
            }
            self.count(counted)
        self._weigh(whole, self._rarity(columns))
        rows = _moved(whole, columns, len(self))
        return VectorBatch(ids, rows, whole, texts.words, columns, counted)

    def count(self, counted: dict[str, Any]) -> None:
        """Add the documents of a batch (`VectorBatch.counted`) to the running frequencies."""
        self.n_documents += int(counted["n"])
        np.add.at(
            self.frequencies, np.array(counted["columns"], dtype=np.int64), counted["counts"]
        )

    def vector(self, id: str, text: str) -> DocumentVector:  # noqa: A002
        """Make the vector of one text; its unknown words get columns, and nothing is counted."""
        counts = self._counter().term_counts(text)
        return self._weighed(id, counts, self.add_words(Words.of(counts)))

    def known_vector(self, id: str, text: str) -> DocumentVector:  # noqa: A002
        """Make the vector of one text over the words that have columns; nothing changes."""
        counts = self._counter().term_counts(text)
        vector = self._weighed(id, counts, self._table.find(Words.of(counts)).astype(np.int32))
        known = vector.columns >= 0
        return DocumentVector(id, vector.columns[known], vector.weights[known])

    def _weighed(self, id: str, counts: dict[str, int], columns: IntArray) -> DocumentVector:  # noqa: A002
        order = np.argsort(columns)
        weights = (1 + np.log2(np.fromiter(counts.values(), dtype=np.float64)))[
            order
        ] * self._rarity(columns)[order]
        scale_rows(np.array([0, len(weights)], dtype=np.int64), weights)
        return DocumentVector(id, columns[order], weights)

    def columns_of(self, text: str) -> IntArray:
        """Find the columns of the words of a text, without stop words, stemmed as documents are."""
        return self.add_words(self._counter().term_counts(text))

    def forms_of(self, text: str) -> dict[str, list[str]]:
        """Map each term of a text to its lower-case words, the most frequent first.

        Examples
        --------
        >>> VectorSpace().forms_of("The harvests of 1987: harvest, Harvests")
        {'1987': ['1987'], 'harvest': ['harvests', 'harvest']}
        """
        counts = self._counter().set_params(stemmer=None).term_counts(text)
        words = sorted(counts, key=lambda word: (-counts[word], word))
        terms = words if self.stemmer is None else stemmer(self.stemmer)(words)
        forms: dict[str, list[str]] = {}
        for word, term in zip(words, terms, strict=True):
            forms.setdefault(term, []).append(word)
        return dict(sorted(forms.items()))

    def add_words(self, words: Words | Iterable[str]) -> IntArray:
        """Return the columns of terms (already stemmed); unknown ones get new columns."""
        columns: IntArray = self._table.add(
            words if isinstance(words, Words) else Words.of(words)
        ).astype(np.int32)
        missing = len(self._table) - len(self.frequencies)
        if missing:
            self.frequencies = np.concatenate(
                [self.frequencies, np.zeros(missing, dtype=np.int64)]
            )
        return columns

    def words_of(self, columns: Iterable[int] | IntArray) -> list[str]:
        """Return the words of columns."""
        indices = columns if isinstance(columns, np.ndarray) else list(columns)
        return self._table.words.take(np.asarray(indices, dtype=np.int64)).to_strings()

    def get_state(self) -> tuple[dict[str, Any], dict[str, IntArray], list[str]]:
        """Return parameters for JSON, arrays, and the words in the order of their columns."""
        stop_words = self.stop_words
        parameters = {
            "idf": self.idf,
            "stop_words": stop_words
            if isinstance(stop_words, str | None)
            else sorted(stop_words),
            "stemmer": self.stemmer,
            "unspaced": self.unspaced,
            "n_documents": self.n_documents,
        }
        return (
            parameters,
            {"frequencies": self.frequencies.copy()},
            self._table.words.to_strings(),
        )

    @classmethod
    def from_state(
        cls, parameters: dict[str, Any], arrays: dict[str, IntArray], words: list[str]
    ) -> Self:
        """Make the space of `get_state`; refuses what does not fit together."""
        try:
            options = {"unspaced": "words", **parameters}
            n_documents = int(options.pop("n_documents"))
            space = cls(**options)
            # A language or stemmer that does not exist is refused when it is first used.
            space._counter().term_counts("a probe of the parameters")
            frequencies = np.array(arrays["frequencies"], dtype=np.int64)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise DataError(f"not a saved vector space ({error})") from error
        space.add_words(words)
        if len(space) != len(words) or frequencies.shape != (len(words),) or n_documents < 0:
            raise DataError(
                "not a saved vector space: frequencies and words do not fit together"
            )
        if np.any((frequencies < 0) | (frequencies > n_documents)):
            raise DataError(
                "not a saved vector space: a word was seen in more documents than there were"
            )
        space.frequencies = frequencies
        space.n_documents = n_documents
        return space

    def _counter(self) -> TermVectorizer:
        return TermVectorizer(
            weighting="tf",
            stop_words=self.stop_words,
            stemmer=self.stemmer,
            unspaced=self.unspaced,
        )

    def _rarity(self, columns: IntArray) -> FloatArray:
        """Return the inverse document frequency of words by their columns, -1 for unknown ones."""
        seen = np.ones(len(columns))
        known = columns >= 0
        seen[known] = np.maximum(self.frequencies[columns[known]], 1)
        if self.idf == "running":
            return np.log2(1 + max(self.n_documents, 1) / seen)
        if self.n_documents > 1:
            return np.log2(self.n_documents / seen)
        return np.ones(len(columns))

    @staticmethod
    def _weigh(counts: SparseRows, rarity: FloatArray) -> None:
        """Replace counts by (1 + log2 f) idf, with each row of length one."""
        counts.data[:] = (1 + np.log2(counts.data)) * rarity[counts.indices]
        scale_rows(counts.indptr.astype(np.int64), counts.data)


def _moved(rows: SparseRows, columns: IntArray, n_columns: int) -> SparseRows:
    """Move rows to other columns, without those at -1 and without zeros."""
    wanted = columns[rows.indices]
    kept = (wanted >= 0) & (rows.data != 0)
    indptr = np.concatenate([[0], np.cumsum(kept)])[rows.indptr].astype(np.int64)
    return matrix_of(indptr, wanted[kept].astype(np.int32), rows.data[kept], n_columns)


def matrix_of(
    indptr: IntArray, indices: IntArray, data: FloatArray, n_columns: int
) -> SparseRows:
    """Make a matrix of arrays that are known to be right.

    SciPy's constructor would check them and change the types that kernels are compiled for.
    """
    rows = sparse.csr_array((len(indptr) - 1, n_columns))
    rows.indptr = indptr
    rows.indices = indices
    rows.data = data
    return rows


def stacked(vectors: Sequence[DocumentVector], n_columns: int) -> SparseRows:
    """Stack vectors as the rows of a matrix."""
    columns = [np.zeros(0, np.int32), *(vector.columns for vector in vectors)]
    weights = [np.zeros(0), *(vector.weights for vector in vectors)]
    ends = np.cumsum([0, *map(len, vectors)], dtype=np.int64)
    return matrix_of(ends, np.concatenate(columns), np.concatenate(weights), n_columns)
