"""Tokens to term counts and weights: the terms of tokens, rows of counts, one weighted matrix."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from bayesift.arrays import Array, BoolArray, FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.kernels import counts as kernels
from bayesift.state import expect_array, storable
from bayesift.text.tokens import Tokens
from bayesift.text.words import Words, WordTable
from bayesift.threads import in_order

Weighting = Literal["binary", "tf", "log-tf", "tf-idf", "sublinear-tf-idf", "ltc"]
WEIGHTINGS: tuple[str, ...] = get_args(Weighting)

_LOCAL: dict[str, Callable[[FloatArray], FloatArray]] = {
    "binary": np.ones_like,
    "tf": lambda counts: counts,
    "log-tf": lambda counts: 1 + np.log(counts),
    "tf-idf": lambda counts: counts,
    "sublinear-tf-idf": lambda counts: 1 + np.log(counts),
    "ltc": lambda counts: 1 + np.log2(counts),
}
_GLOBAL: dict[str, Callable[[FloatArray], FloatArray]] = {
    "tf-idf": np.log,
    "sublinear-tf-idf": lambda rarity: np.log(rarity) + 1,
    "ltc": np.log2,
}
_OF_LENGTH_ONE = ("sublinear-tf-idf", "ltc")
_NONE = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Counts:
    """Term counts of a batch, as compressed rows over its terms.

    `terms` are the numbers of these terms in the vocabulary.

    The terms of a large batch are a slice: all terms from the first on.
    """

    terms: IntArray | slice
    indptr: IntArray
    indices: IntArray
    values: Array
    document_frequencies: IntArray
    collection_frequencies: IntArray

    @property
    def n_documents(self) -> int:
        """Number of documents of the batch."""
        return len(self.indptr) - 1

    def rows(self) -> Counts:
        """Return the counts without the frequencies, which take room for every term."""
        return replace(self, document_frequencies=_NONE, collection_frequencies=_NONE)

    @property
    def n_vocabulary(self) -> int:
        """Number of terms up to the last one of the batch."""
        return int(
            self.terms.stop if isinstance(self.terms, slice) else self.terms.max(initial=-1) + 1
        )


@storable("term-frequencies")
@dataclass(eq=False)
class Frequencies:
    """Number of documents, and of each term its documents and occurrences, summed over batches."""

    n_documents: int = 0
    documents: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    collection: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def _post_load(self) -> None:
        self.documents = expect_array(self.documents, "documents", np.int64, (None,)).copy()
        self.collection = expect_array(
            self.collection, "collection", np.int64, self.documents.shape
        ).copy()
        if self.n_documents < 0:
            raise DataError("no number of documents is below 0")

    def add(self, counts: Counts) -> None:
        """Add the counts of a batch."""
        self.n_documents += counts.n_documents
        missing = counts.n_vocabulary - len(self.documents)
        if missing > 0:
            self.documents = np.concatenate([self.documents, np.zeros(missing, dtype=np.int64)])
            self.collection = np.concatenate(
                [self.collection, np.zeros(missing, dtype=np.int64)]
            )
        self.documents[counts.terms] += counts.document_frequencies
        self.collection[counts.terms] += counts.collection_frequencies

    def copy(self) -> Frequencies:
        """Return frequencies that may be added to while these stay."""
        return Frequencies(self.n_documents, self.documents.copy(), self.collection.copy())

    def take(self, terms: IntArray) -> Frequencies:
        """Return the frequencies of these terms."""
        return Frequencies(self.n_documents, self.documents[terms], self.collection[terms])


class Lexicon:
    """Turns words into numbered terms: removes stop words, stems, forms n-grams.

    New terms are added or ignored.
    """

    def __init__(
        self,
        terms: WordTable,
        *,
        grow: bool,
        stop_words: Collection[str] = (),
        stem: Callable[[list[bytes]], list[bytes]] | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        are_ngrams: Callable[[Words], BoolArray] | None = None,
    ) -> None:
        self._terms, self._number_terms = terms, terms.add if grow else terms.find
        self._stop_words = WordTable(Words.of(sorted(stop_words)) if stop_words else None)
        self._stem = stem
        self._ngrams = ngram_range
        self._are_ngrams = are_ngrams
        self._units = WordTable()
        self._seen = WordTable()
        self._numbers_of: dict[WordTable, IntArray] = {}
        self._keeps_words = not len(self._stop_words) and stem is None
        # What is kept of the words is numbered as terms, or as the units of n-grams.
        kept, self._number_kept = (
            (terms, self._number_terms)
            if ngram_range == (1, 1)
            else (self._units, self._units.add)
        )
        self._adds_words = self._keeps_words and (grow or kept is self._units)
        self._words = kept if self._adds_words else self._seen

    @property
    def words(self) -> WordTable:
        """The table that may number the words of batches, before stop words, stems and n-grams."""
        return self._words

    def prepare(self, batch: Tokens) -> Callable[[], Counts]:
        """Give numbers to the terms of a batch; return a function that counts them."""
        if len(batch.tokens) > kernels.SMALL:
            for table in (self._terms, self._units, self._seen):
                table.use_hashes()
        units = self._number(batch.words, batch.table)
        if self._ngrams == (1, 1):
            return partial(_count, batch.tokens, batch.ends, units, len(self._terms))
        tokens = batch.tokens if units is None else units.take(batch.tokens)
        grams, ends, words = _form_ngrams(
            tokens, batch.ends, self._units.words, self._ngrams, self._are_ngrams
        )
        return partial(_count, grams, ends, self._number_terms(words), len(self._terms))

    def _number(self, words: Words, table: WordTable | None) -> IntArray | None:
        """Return the number of each word, or of all words of a table to which these are new.

        -1 for stop words.

        None if the table's own numbers are the numbers.
        """
        if table is None:
            return self._number_words(words)
        if table is self._words and self._adds_words:
            return None
        return self._extend(
            table, self._number_new(words) if table is self._seen else self._number_words(words)
        )

    def _number_words(self, words: Words) -> IntArray:
        """Return the number of each word; one is stemmed only when it is first seen."""
        if self._keeps_words:
            return self._number_kept(words)
        n_known = len(self._seen)
        seen = self._seen.add(words)
        return self._extend(self._seen, self._number_new(self._seen.words.after(n_known)))[seen]

    def _extend(self, table: WordTable, numbers: IntArray) -> IntArray:
        """Return the numbers of all words of a table, with those of its newest words."""
        known = self._numbers_of.get(table, numbers[:0])
        self._numbers_of[table] = np.concatenate([known, numbers])
        return self._numbers_of[table]

    def _number_new(self, words: Words) -> IntArray:
        """Return the number of each word, stemmed; -1 for stop words."""
        kept = np.arange(len(words))
        if len(self._stop_words):
            kept = np.flatnonzero(self._stop_words.find(words) < 0)
        if len(kept) < len(words):
            numbers = np.full(len(words), -1, dtype=np.int32)
            numbers[kept] = self._number_kept(self._stemmed(words.take(kept)))
            return numbers
        return self._number_kept(self._stemmed(words))

    def _stemmed(self, words: Words) -> Words:
        return words if self._stem is None else Words.of(self._stem(words.to_bytes()))


def count_batches(
    batches: Iterable[Tokens], lexicon: Lexicon, pool: Executor | None, width: int
) -> Iterator[Counts]:
    """Count each batch, in order; terms are numbered in this thread and counted in the pool."""
    return in_order(_call, (lexicon.prepare(batch) for batch in batches), pool, width)


def _call(work: Callable[[], Counts]) -> Counts:
    return work()


def _count(tokens: IntArray, ends: IntArray, term_of: IntArray | None, n_terms: int) -> Counts:
    """Count the terms of tokens, which may be overwritten.

    A small batch has columns for its own terms only.
    """
    if len(tokens) > kernels.SMALL:
        if term_of is not None:
            kernels.renumber(tokens, term_of)
        return Counts(slice(n_terms), *kernels.count_terms(tokens, ends, n_terms))
    present, indices = np.unique(tokens if term_of is None else term_of, return_inverse=True)
    n_left_out = int(np.searchsorted(present, 0))
    columns = np.maximum(indices - n_left_out, -1).astype(np.int32)
    columns = columns if term_of is None else columns.take(tokens)
    return Counts(
        present[n_left_out:], *kernels.count_terms(columns, ends, len(present) - n_left_out)
    )


def _form_ngrams(
    units: IntArray,
    ends: IntArray,
    words: Words,
    lengths: tuple[int, int],
    are_ngrams: Callable[[Words], BoolArray] | None = None,
) -> tuple[IntArray, IntArray, Words]:
    """Tokens, ends and words of all n-grams.

    Units of -1 are removed first, and those that are n-grams stay alone.
    """
    units, ends = kernels.interleave(units[None, :], ends)
    present, local = np.unique(units, return_inverse=True)
    units, words = local.astype(np.int32), words.take(present)
    alone = np.zeros(len(words), dtype=np.bool_) if are_ngrams is None else are_ngrams(words)
    single = np.flatnonzero(alone | (lengths[0] == 1))
    index = np.full(len(words), -1, dtype=np.int32)
    index[single] = np.arange(len(single), dtype=np.int32)
    streams, found = ([index[units]], [words.take(single)]) if len(single) else ([], [])
    units = np.where(alone[units], -1, units).astype(np.int32)
    grams, names = units, words
    for length in range(2, lengths[1] + 1):
        following = kernels.next_in_document(units, ends, length - 1)
        grams, left, right = kernels.number_pairs(grams, following)
        parts = names.to_arrow().take(pa.array(left)), words.to_arrow().take(pa.array(right))
        names = Words.of(pc.binary_join_element_wise(*parts, pa.scalar(" ", pa.large_string())))
        if not len(names):
            break
        if length >= lengths[0]:
            offset = sum(map(len, found))
            streams.append(np.where(grams >= 0, grams + offset, -1).astype(np.int32))
            found.append(names)
    woven, woven_ends = kernels.interleave(
        np.stack(streams) if streams else np.full((1, len(units)), -1, np.int32), ends
    )
    return woven, woven_ends, Words.concatenate(found)


def assemble(
    batches: list[Counts], columns: IntArray, n_columns: int, pool: Executor | None, width: int
) -> sparse.csr_array:
    """Make the matrix of all counts, with sorted rows.

    Columns[term] is the column of a term, or -1 to leave it out.

    Batches are removed from the list and freed one by one, so that the counts are never in memory
    twice.
    """
    left = dict(enumerate(batches))
    batches.clear()
    column_of = [columns[batch.terms] for batch in left.values()]
    kept = in_order(
        lambda i: kernels.kept_per_row(left[i].indptr, left[i].indices, column_of[i]),
        range(len(left)),
        pool,
        width,
    )
    rows = np.cumsum([0, *(batch.n_documents for batch in left.values())])
    indptr = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *kept]))
    index_type = np.int32 if indptr[-1] < np.iinfo(np.int32).max else np.int64
    indices = np.empty(indptr[-1], dtype=index_type)
    values = np.empty(indptr[-1], dtype=np.float64)

    def write(i: int) -> None:
        batch = left.pop(i)
        begins = indptr[rows[i] : rows[i + 1]]
        kernels.order_rows(
            batch.indptr, batch.indices, batch.values, column_of[i], begins, indices, values
        )

    for _ in in_order(write, range(len(column_of)), pool, width):
        pass
    matrix = sparse.csr_array(
        (values, indices, indptr.astype(index_type)), shape=(rows[-1], n_columns)
    )
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def weigh(
    counts: sparse.csr_array,
    weighting: Weighting,
    *,
    document_frequencies: Array,
    n_documents: int,
    cosine: bool = False,
    blocks: IntArray | None = None,
) -> sparse.csr_array:
    """Replace counts by weights, in place; weights of 0 (terms in every document) are not stored.

    `cosine` scales each document to length one, or its terms of each of the `blocks` (one number
    per term). With f the count of a term in a document, n its document frequency, and N the number
    of all documents:

        binary    1
        tf        f
        log-tf    1 + ln f
        tf-idf    f ln(N / n)
        ltc       (1 + log2 f) log2(N / n), always with `cosine`
                  (Chai, Ng & Chieu 2002, section 2.2)
        sublinear-tf-idf    (1 + ln f) (ln(N / n) + 1), always with `cosine`: scikit-learn's
                  TfidfVectorizer(sublinear_tf=True, smooth_idf=False)

    Examples
    --------
    >>> X = sparse.csr_array([[4.0, 1.0], [0.0, 2.0]])
    >>> weigh(X, "tf-idf", document_frequencies=np.array([1, 2]), n_documents=2).toarray().round(3)
    array([[2.773, 0.   ],
           [0.   , 0.   ]])
    """
    counts.data[:] = _LOCAL[weighting](counts.data)
    if weighting in _GLOBAL:
        if counts.nnz < len(document_frequencies):
            frequencies = document_frequencies[counts.indices]
            counts.data *= _GLOBAL[weighting](n_documents / np.maximum(frequencies, 1))
        else:
            rarity = _GLOBAL[weighting](n_documents / np.maximum(document_frequencies, 1))
            counts.data *= rarity[counts.indices]
        counts.eliminate_zeros()
    if cosine or weighting in _OF_LENGTH_ONE:
        scale_to_length_one(counts, blocks)
    return counts


def scale_to_length_one(X: sparse.csr_array, blocks: IntArray | None = None) -> None:
    """Scale each row, or its part in each block of columns, to Euclidean length one in place.

    Rows of zeros stay.
    """
    if blocks is None:
        lengths = np.sqrt(X.power(2).sum(axis=1))
        X.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(X.indptr))
        return
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    block_of = blocks[X.indices]
    for block in np.unique(block_of):
        inside = np.flatnonzero(block_of == block)
        squares = np.bincount(rows[inside], weights=X.data[inside] ** 2, minlength=X.shape[0])
        X.data[inside] /= np.sqrt(squares)[rows[inside]]
