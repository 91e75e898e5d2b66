"""Texts to term counts: tokens of a batch, the terms they stand for, rows of counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.kernels import counts as kernels
from bayesift.kernels.words import PADDING
from bayesift.text.batches import in_order
from bayesift.text.tokens import Tokens
from bayesift.text.words import Words, WordTable

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    """Term counts of a batch of documents.

    Parameters
    ----------
    terms : number of each local term in the vocabulary
    indptr, indices, values : compressed rows over the local terms, in order of first appearance
    document_frequencies, collection_frequencies : in how many documents, and how often, each local term stands
    """

    terms: Array
    indptr: Array
    indices: Array
    values: Array
    document_frequencies: Array
    collection_frequencies: Array

    @property
    def n_documents(self) -> int:
        """The documents of the batch."""
        return len(self.indptr) - 1


class Frequencies:
    """How often terms were seen, gathered batch by batch.

    Attributes
    ----------
    n_documents : documents seen
    documents : in how many of them each term stands
    collection : how often each term stands in all of them
    """

    def __init__(self) -> None:
        self.n_documents = 0
        self.documents = np.zeros(0, dtype=np.int64)
        self.collection = np.zeros(0, dtype=np.int64)

    def add(self, counts: Counts) -> None:
        """Take a batch into account."""
        self.n_documents += counts.n_documents
        missing = int(counts.terms.max(initial=-1)) + 1 - len(self.documents)
        if missing > 0:
            self.documents = np.concatenate([self.documents, np.zeros(missing, dtype=np.int64)])
            self.collection = np.concatenate([self.collection, np.zeros(missing, dtype=np.int64)])
        self.documents[counts.terms] += counts.document_frequencies
        self.collection[counts.terms] += counts.collection_frequencies

    def take(self, terms: Array) -> Frequencies:
        """The frequencies of these terms only."""
        taken = Frequencies()
        taken.n_documents = self.n_documents
        taken.documents, taken.collection = self.documents[terms], self.collection[terms]
        return taken


class Lexicon:
    """Turns the words of a batch into terms: drops stop words, stems, forms word n-grams, numbers the terms.

    Parameters
    ----------
    terms : the vocabulary
    grow : give unknown terms the next number, instead of leaving them out
    stop_words : words to leave out, before stemming
    stem : stems of a list of words
    ngrams : shortest and longest n-gram
    """

    def __init__(
        self,
        terms: WordTable,
        *,
        grow: bool,
        stop_words: Collection[str] = (),
        stem: Callable[[list[str]], list[str]] | None = None,
        ngrams: tuple[int, int] = (1, 1),
    ) -> None:
        self._number_terms = terms.add if grow else terms.find
        self._stop_words = WordTable(Words.of(sorted(stop_words)))
        self._stem = stem
        self._ngrams = ngrams
        self._units = WordTable()
        self._seen = WordTable()
        self._unit_of_seen = np.zeros(0, dtype=np.int32)

    def prepare(self, batch: Tokens) -> Callable[[], Counts]:
        """Number the terms of a batch now; the counting that is left may run in any thread."""
        if self._ngrams == (1, 1):
            terms = self._number(batch.words, self._number_terms)
            return partial(_count, batch.tokens, batch.ends, terms, distinct=self._stem is None)
        units = self._number(batch.words, self._units.add)
        grams, ends, words = _form_ngrams(units[batch.tokens], batch.ends, self._units.words, self._ngrams)
        return partial(_count, grams, ends, self._number_terms(words), distinct=True)

    def _number(self, words: Words, number: Callable[[Words], Array]) -> Array:
        """What each word stands for, -1 for stop words; a word is stemmed only when it is first seen."""
        if self._stem is None:
            return self._number_kept(words, number)
        seen = self._seen.add(words)
        new = np.flatnonzero(seen >= len(self._unit_of_seen))
        units = self._number_kept(words.take(new), number)
        self._unit_of_seen = np.concatenate([self._unit_of_seen, units])
        return self._unit_of_seen[seen]

    def _number_kept(self, words: Words, number: Callable[[Words], Array]) -> Array:
        kept = np.flatnonzero(self._stop_words.find(words) < 0) if len(self._stop_words) else np.arange(len(words))
        if len(kept) < len(words):
            numbers = np.full(len(words), -1, dtype=np.int32)
            numbers[kept] = number(self._stemmed(words.take(kept)))
            return numbers
        return number(self._stemmed(words))

    def _stemmed(self, words: Words) -> Words:
        return words if self._stem is None else Words.of(self._stem(words.to_strings()))


def count_batches(batches: Iterable[Tokens], lexicon: Lexicon, pool: Executor | None, width: int) -> Iterator[Counts]:
    """Counts of each batch, in order; the vocabulary grows in this thread, the counting runs in the pool."""
    return in_order(_call, (lexicon.prepare(batch) for batch in batches), pool, width)


def _call(work: Callable[[], Counts]) -> Counts:
    return work()


def _count(tokens: Array, ends: Array, term_of: Array, *, distinct: bool) -> Counts:
    """Count the terms that words stand for; `distinct` words stand for terms of their own."""
    local_of = np.full(len(term_of), -1, dtype=np.int32)
    present = np.flatnonzero(term_of >= 0)
    terms = term_of[present]
    if distinct:
        local_of[present] = np.arange(len(present), dtype=np.int32)
    else:
        terms, local_of[present] = np.unique(terms, return_inverse=True)
    return Counts(terms, *kernels.count_terms(tokens, ends, local_of, len(terms)))


def _form_ngrams(units: Array, ends: Array, words: Words, lengths: tuple[int, int]) -> tuple[Array, Array, Words]:
    """Tokens, ends and words of all n-grams; units of -1 are left out before n-grams are formed."""
    units, ends = kernels.weave(units[None, :], ends)
    present, local = np.unique(units, return_inverse=True)
    units, words = local.astype(np.int32), words.take(present)
    grams, names = units, words
    streams: list[Array] = []
    found: list[Words] = []
    for length in range(1, lengths[1] + 1):
        if length > 1:
            following = kernels.next_in_document(units, ends, length - 1)
            grams, left, right = kernels.number_pairs(grams, following)
            joined = kernels.join_words(names.pool, names.starts, left, words.pool, words.starts, right, PADDING)
            names = Words(*joined)
        if not len(names):
            break
        if length >= lengths[0]:
            offset = sum(map(len, found))
            streams.append(np.where(grams >= 0, grams + offset, -1).astype(np.int32))
            found.append(names)
    woven, woven_ends = kernels.weave(np.stack(streams) if streams else np.full((1, len(units)), -1, np.int32), ends)
    return woven, woven_ends, Words.concatenate(found)


def assemble(
    batches: list[Counts], columns: Array, n_columns: int, pool: Executor | None, width: int
) -> sparse.csr_array:
    """One matrix of all counts, rows sorted; columns[term] is the column of a term, -1 to leave it out.

    The list is emptied: each batch is let go once it is written, so that the counts are not held twice.
    """
    left = dict(enumerate(batches))
    batches.clear()
    ranked = [_rank(batch.terms, columns) for batch in left.values()]
    kept = in_order(
        lambda i: kernels.kept_per_row(left[i].indptr, left[i].indices, ranked[i][0]), range(len(left)), pool, width
    )
    rows = np.cumsum([0, *(batch.n_documents for batch in left.values())])
    indptr = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *kept]))
    index_type = np.int32 if indptr[-1] < np.iinfo(np.int32).max else np.int64
    indices = np.empty(indptr[-1], dtype=index_type)
    values = np.empty(indptr[-1], dtype=np.float64)

    def write(i: int) -> None:
        batch = left.pop(i)
        begins = indptr[rows[i] : rows[i + 1]]
        kernels.order_rows(batch.indptr, batch.indices, batch.values, *ranked[i], begins, indices, values)

    for _ in in_order(write, range(len(ranked)), pool, width):
        pass
    matrix = sparse.csr_array((values, indices, indptr.astype(index_type)), shape=(rows[-1], n_columns))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def _rank(terms: Array, columns: Array) -> tuple[Array, Array]:
    """Order of each local term by its column (-1: left out), and the column at each rank."""
    wanted = columns[terms]
    order = np.argsort(wanted.astype(np.int64))
    order = order[wanted[order] >= 0]
    rank = np.full(len(terms), -1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank, wanted[order].astype(np.int32)
