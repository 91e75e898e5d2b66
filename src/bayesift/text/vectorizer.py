"""Texts to term vectors."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from threading import local
from typing import Any, Self, get_args

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array, BoolArray, IntArray
from bayesift.errors import DataError
from bayesift.state import Arrays, Parameters, decode_fitted, encode, storable
from bayesift.text.counting import (
    WEIGHTINGS,
    Counts,
    Frequencies,
    Lexicon,
    Weighting,
    assemble,
    count_batches,
    weigh,
)
from bayesift.text.language import stemmer, stop_words_of
from bayesift.text.scripts import UNSPACED, Characters, Unspaced
from bayesift.text.tokens import ANALYZERS, Analyzer, Tokeniser, batches_of
from bayesift.text.words import Vocabulary, Words, WordTable
from bayesift.text.zipf import moderate_zone
from bayesift.threads import in_order


@storable("term-vectorizer")
# The rows are sparse, which DataFrames cannot hold: there is no `set_output`, and scikit-learn's
# setting `transform_output` does not matter, as with its own vectorizers.
class TermVectorizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Turns texts into sparse vectors of term weights.

    Words are those of scikit-learn's default pattern.

    Texts are a list, an iterator, or an Arrow array of strings. `fit` sorts the columns by term;
    `partial_fit` appends columns for new terms and never moves earlier ones.

    Parameters
    ----------
    weighting : "binary", "tf", "log-tf", "tf-idf", "sublinear-tf-idf" or "ltc"; formulas in
        `bayesift.text.weigh`. None is "tf", and in a `TextClassifier` what its model wants
    cosine : scale each document to length one ("sublinear-tf-idf" and "ltc" always do)
    stop_words : a language such as "english", or a collection of words; removed before stemming
    stemmer : "porter", or a Snowball language such as "english"
    ngram_range : shortest and longest n-gram of words, or of characters if the analyzer is one of
        characters
    min_df, max_df : remove terms in fewer or more documents: a number (int) or a share of documents
        (float)
    drop_frequent, drop_rare : remove the most and least frequent terms: a number (int) or a share
        of terms (float)
    lowercase : whether "Grain" and "grain" are one term
    characters : "words" are made of letters, digits and underscores, "letters" of letters only
    min_length : minimum number of characters of a word
    analyzer : "word"; "char" for n-grams of characters, "char_wb" for those within words and the
        blanks around them
    unspaced : how text of scripts without spaces (Han, kana, Thai, Lao, Khmer, Myanmar, ...) is
        split: "ngrams" of one and two characters (to three in Katakana and South East Asia), or
        "words" between spaces and punctuation
    tokenizer : a function from a text to its words, instead of the rules for words; a model with
        one is not saved
    separate_ngrams : with words and n-grams of words, scale n-grams of each length to length one by
        themselves, so that words weigh what they weigh alone; and leave out n-grams of several
        words that are in one document only
    strip_html : whether texts are HTML: tags, comments, scripts and styles are left out, entities
        become characters
    n_jobs : number of threads; -1 for all cores. The result does not depend on it
    progress : called after each batch with the number of documents done

    Attributes
    ----------
    vocabulary_ : mapping of each term to its column
    document_frequencies_, collection_frequencies_ : number of documents with each term, and of its
        occurrences
    n_documents_ : number of documents

    Examples
    --------
    >>> vectorizer = TermVectorizer(weighting="log-tf", stop_words="english")
    >>> X = vectorizer.fit_transform(["The corn and the wheat", "Corn! Corn!"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['corn', 'wheat']
    >>> X.toarray().round(3)
    array([[1.   , 1.   ],
           [1.693, 0.   ]])
    """

    FITTED = ("_frequencies",)
    UNSTORED = ("n_jobs", "progress")

    _frequencies: Frequencies

    def __init__(
        self,
        *,
        weighting: Weighting | None = None,
        cosine: bool = False,
        stop_words: str | Collection[str] | None = None,
        stemmer: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        drop_frequent: float = 0,
        drop_rare: float = 0,
        lowercase: bool = True,
        characters: Characters = "words",
        min_length: int = 2,
        analyzer: Analyzer = "word",
        unspaced: Unspaced = "ngrams",
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        strip_html: bool = False,
        separate_ngrams: bool = False,
        n_jobs: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.weighting = weighting
        self.cosine = cosine
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.drop_frequent = drop_frequent
        self.drop_rare = drop_rare
        self.lowercase = lowercase
        self.characters = characters
        self.min_length = min_length
        self.analyzer = analyzer
        self.unspaced = unspaced
        self.tokenizer = tokenizer
        self.strip_html = strip_html
        self.separate_ngrams = separate_ngrams
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the vocabulary and the frequencies of terms."""
        self._learn(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_array:
        """Fit to texts and return their vectors, in one pass."""
        counts: list[Counts] = []
        columns = self._learn(texts, counts.append)
        return self._weighted(counts, columns)

    def fit_frequencies(
        self, terms: Any, documents: IntArray, collection: IntArray, n_documents: int
    ) -> Self:
        """Fit to terms that were counted elsewhere, with the result of `fit` on their texts.

        Examples
        --------
        >>> counts = np.array([1, 2]), np.array([3, 2])
        >>> vectorizer = TermVectorizer(min_df=2).fit_frequencies(["wheat", "corn"], *counts, 2)
        >>> vectorizer.get_feature_names_out().tolist()
        ['corn']
        """
        self._check_parameters()
        seen = np.asarray(documents, dtype=np.int64), np.asarray(collection, dtype=np.int64)
        frequencies = Frequencies(int(n_documents), *seen)
        self._choose_terms(Words.of(terms), frequencies)
        return self

    def partial_fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Update vocabulary and frequencies with more texts; new terms get the next columns."""
        self._grow(texts)
        return self

    @property
    def keeps_all_words(self) -> bool:
        """Whether every word that is not a stop word becomes a term, rare or frequent."""
        return (self.min_df, self.max_df, self.drop_frequent, self.drop_rare) == (1, 1.0, 0, 0)

    def partial_fit_transform(self, texts: Iterable[str]) -> sparse.csr_array:
        """Update with more texts, as `partial_fit`, and return their vectors."""
        counts: list[Counts] = []
        self._grow(texts, counts.append)
        return self._weighted(counts, np.arange(len(self.vocabulary_), dtype=np.int32))

    def _grow(self, texts: Iterable[str], keep: Callable[[Counts], None] | None = None) -> None:
        self._check_parameters()
        if not self.keeps_all_words:
            raise ValueError(
                "partial_fit keeps every term: min_df, max_df, drop_frequent and drop_rare are for "
                "fit"
            )
        with self.undone_if_refused():
            if not hasattr(self, "vocabulary_"):
                self._set_vocabulary(Words.of([]), Frequencies())
            frequencies = self._frequencies.copy()
            for counts in self._count(texts, self.vocabulary_.table, grow=True):
                frequencies.add(counts)
                if keep is not None:
                    keep(counts.rows())
            self._frequencies = frequencies

    @contextmanager
    def undone_if_refused(self) -> Iterator[None]:
        """Undo what `partial_fit` learns in the block if the block raises."""
        if not hasattr(self, "vocabulary_"):
            try:
                yield
            except BaseException:
                self.__dict__.pop("vocabulary_", None)
                self.__dict__.pop("_frequencies", None)
                raise
            return
        vocabulary = self.vocabulary_
        frequencies = self._frequencies
        n_terms = len(vocabulary)
        try:
            yield
        except BaseException:
            # Terms were added to the table in place; the first ones are those from before.
            self._set_vocabulary(vocabulary.words.take(np.arange(n_terms)), frequencies)
            raise

    def transform(self, texts: Iterable[str]) -> sparse.csr_array:
        """Vectors of texts over the vocabulary; other words are ignored."""
        check_is_fitted(self)
        self._check_parameters()
        counts = [
            counts.rows() for counts in self._count(texts, self.vocabulary_.table, grow=False)
        ]
        return self._weighted(counts, np.arange(len(self.vocabulary_), dtype=np.int32))

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Return the terms in the order of their columns."""
        check_is_fitted(self, "vocabulary_")
        return self.vocabulary_.to_numpy()

    def inverse_transform(self, X: Any) -> list[Array]:
        """Return the terms with a weight in each row of X."""
        names = self.get_feature_names_out()
        rows = sparse.csr_array(X)
        if rows.shape[1] != len(names):
            raise ValueError(
                f"X has {rows.shape[1]} columns, but the vocabulary has {len(names)} terms"
            )
        rows.eliminate_zeros()
        return [
            names[rows.indices[a:b]]
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ]

    def term_counts(self, text: str) -> dict[str, int]:
        """Count all terms of one text, in the vocabulary or not, in order of first appearance.

        Examples
        --------
        >>> vectorizer = TermVectorizer(stop_words="english")
        >>> vectorizer.term_counts("The corn and the other corn exporters")
        {'corn': 2, 'exporters': 1}
        """
        self._check_parameters()
        table = WordTable()
        (counts,) = self._count([text], table, grow=True)
        names = table.words.to_strings()
        numbers = np.arange(len(names))[counts.terms][counts.indices]
        return {names[i]: int(n) for i, n in zip(numbers, counts.values, strict=True)}

    def count_terms(self, texts: Iterable[str]) -> tuple[sparse.csr_array, Words]:
        """Count all terms of texts, in the vocabulary or not; return the counts and the terms.

        Needs no `fit`.

        Examples
        --------
        >>> counts, terms = TermVectorizer().count_terms(["corn and corn", ""])
        >>> counts.toarray().tolist(), terms.to_strings()
        ([[2.0, 1.0], [0.0, 0.0]], ['corn', 'and'])
        """
        self._check_parameters()
        table = WordTable()
        counts = [counts.rows() for counts in self._count(texts, table, grow=True)]
        with self._threads() as (pool, width):
            matrix = assemble(
                counts, np.arange(len(table), dtype=np.int32), len(table), pool, width
            )
        return matrix, table.words

    def n_terms(self, texts: Iterable[str]) -> IntArray:
        """Count the distinct terms of each text, in the vocabulary or not.

        Examples
        --------
        >>> TermVectorizer().fit(["corn exports"]).n_terms(["corn and corn", ""])
        array([2, 0])
        """
        self._check_parameters()
        sizes = [
            np.diff(counts.indptr) for counts in self._count(texts, WordTable(), grow=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *sizes]).astype(np.int64)

    def get_state(self) -> tuple[Parameters, Arrays, list[str]]:
        """All that `from_state` needs: parameters that JSON can hold, arrays, and the terms."""
        check_is_fitted(self)
        if self.tokenizer is not None:
            raise DataError(
                "a vectorizer with a tokenizer cannot be saved, since a model file holds no code; "
                "split the texts "
                "before, join their words by spaces, and fit with min_length=1 and unspaced='words'"
            )
        arrays: Arrays = {}
        return encode(self, arrays), arrays, [_escaped(term) for term in self.vocabulary_.names]

    @classmethod
    def from_state(cls, parameters: Parameters, arrays: Arrays, terms: list[str]) -> Self:
        """Make the vectorizer of `get_state`; refuse parts that do not fit together."""
        vectorizer = decode_fitted(parameters, arrays, cls)
        terms = [_unescaped(term) for term in terms]
        if len(vectorizer.document_frequencies_) != len(terms):
            raise DataError(
                f"not a saved vectorizer: frequencies do not fit its {len(terms):,} terms"
            )
        if vectorizer.document_frequencies_.max(initial=0) > vectorizer.n_documents_:
            raise DataError(
                f"not a saved vectorizer: a term in more than its {vectorizer.n_documents_:,} "
                "documents"
            )
        vectorizer._set_vocabulary(Words.of(terms), vectorizer._frequencies)
        if len(vectorizer.vocabulary_.table) != len(terms):
            raise DataError("not a saved vectorizer: a term occurs twice in its vocabulary")
        return vectorizer

    def _post_load(self) -> None:
        self.term_counts("a probe of the parameters")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vocabulary_")

    @property
    def document_frequencies_(self) -> IntArray:
        """Number of documents with each term."""
        return self._frequencies.documents

    @property
    def collection_frequencies_(self) -> IntArray:
        """Number of occurrences of each term."""
        return self._frequencies.collection

    @property
    def n_documents_(self) -> int:
        """Number of documents."""
        return self._frequencies.n_documents

    @property
    def ngram_lengths_(self) -> IntArray:
        """How many words each term joins."""
        check_is_fitted(self, "vocabulary_")
        return self.vocabulary_.ngram_lengths()

    def only_words(self) -> Self:
        """Return a fitted vectorizer of the same words, without n-grams of several words."""
        chosen = np.flatnonzero(self.ngram_lengths_ == 1)
        made: Self = clone(self).set_params(ngram_range=(1, 1), separate_ngrams=False)
        made._set_vocabulary(
            self.vocabulary_.table.words.take(chosen), self._frequencies.take(chosen)
        )
        return made

    def first_terms(self, n_terms: int) -> Self:
        """Return the vectorizer itself, or one of its first terms if it has more."""
        if len(self.vocabulary_) <= n_terms:
            return self
        made: Self = clone(self)
        first = np.arange(n_terms)
        made._set_vocabulary(
            self.vocabulary_.table.words.take(first), self._frequencies.take(first)
        )
        return made

    def _set_vocabulary(self, words: Words, frequencies: Frequencies) -> None:
        self.vocabulary_ = Vocabulary(words)
        self._frequencies = frequencies

    def _learn(
        self, texts: Iterable[str], keep: Callable[[Counts], None] | None = None
    ) -> IntArray:
        """Learn the pruned and sorted vocabulary.

        Returns the column of each term in order of appearance, or -1.
        """
        self._check_parameters()
        table, frequencies = WordTable(), Frequencies()
        for counts in self._count(texts, table, grow=True):
            frequencies.add(counts)
            if keep is not None:
                keep(counts.rows())
        return self._choose_terms(table.words, frequencies)

    def _choose_terms(self, words: Words, frequencies: Frequencies) -> IntArray:
        """Keep the terms of moderate frequency, sorted; returns the column of each term, or -1."""
        if not len(words):
            short = f"words of fewer than {self.min_length} characters"
            raise ValueError(
                "empty vocabulary: there are no texts, or they hold nothing but stop words and "
                f"{short}"
            )
        with self._threads() as (pool, width):
            by_name = words.sorted_order(pool, width)
        kept = self._moderate(frequencies.take(by_name))
        if self.separate_ngrams:
            kept &= (words.take(by_name).ngram_lengths() == 1) | (
                frequencies.documents[by_name] > 1
            )
        chosen = by_name[kept]
        if not len(chosen):
            raise ValueError(
                "no terms are left; lower min_df, drop_frequent or drop_rare, or raise max_df"
            )
        columns = np.full(len(words), -1, dtype=np.int32)
        columns[chosen] = np.arange(len(chosen), dtype=np.int32)
        self._set_vocabulary(words.take(chosen), frequencies.take(chosen))
        return columns

    def _moderate(self, frequencies: Frequencies) -> BoolArray:
        """Which terms are neither too rare nor too frequent."""
        fewest = _number_of_documents(self.min_df, frequencies.n_documents)
        most = _number_of_documents(self.max_df, frequencies.n_documents)
        if most < fewest:
            raise ValueError(
                f"max_df asks for at most {most:g} documents, min_df for at least {fewest:g}"
            )
        kept: BoolArray = (frequencies.documents >= fewest) & (frequencies.documents <= most)
        if self.drop_frequent or self.drop_rare:
            kept &= moderate_zone(
                frequencies.collection,
                drop_frequent=self.drop_frequent,
                drop_rare=self.drop_rare,
            )
        return kept

    def _count(self, texts: Iterable[str], table: WordTable, *, grow: bool) -> Iterator[Counts]:
        lengths = self.ngram_range[0], self.ngram_range[1]
        tokeniser = Tokeniser(
            lowercase=self.lowercase,
            characters=self.characters,
            min_length=self.min_length,
            unspaced=self.unspaced,
            analyzer=self.analyzer,
            ngram_range=lengths,
            tokenizer=self.tokenizer,
            strip_html=self.strip_html,
        )
        lexicon = Lexicon(
            table,
            grow=grow,
            stop_words=self._stop_words(),
            stem=None if self.stemmer is None else stemmer(self.stemmer),
            ngram_range=lengths if self.analyzer == "word" else (1, 1),
            are_ngrams=tokeniser.are_ngrams,
        )
        done = 0
        with self._threads() as (pool, width):
            encoded = map(tokeniser.encode, batches_of(texts))
            # Each of several threads has a table for the words of its batches; one thread needs no
            # second table.
            own = _OfThread(WordTable if pool else lambda: lexicon.words)
            batches = in_order(
                lambda batch: tokeniser.split(batch, own.table), encoded, pool, width
            )
            for counts in count_batches(batches, lexicon, pool, width):
                done += counts.n_documents
                if self.progress is not None:
                    self.progress(done)
                yield counts

    def _weighted(self, counts: list[Counts], columns: IntArray) -> sparse.csr_array:
        with self._threads() as (pool, width):
            matrix = assemble(counts, columns, len(self.vocabulary_), pool, width)
        return weigh(
            matrix,
            self.weighting or "tf",
            document_frequencies=self.document_frequencies_,
            n_documents=self.n_documents_,
            cosine=self.cosine,
            blocks=self.ngram_lengths_ if self.separate_ngrams else None,
        )

    def _stop_words(self) -> Collection[str]:
        if self.stop_words is None:
            return ()
        if isinstance(self.stop_words, str):
            return stop_words_of(self.stop_words)
        return frozenset(self.stop_words)

    @contextmanager
    def _threads(self) -> Iterator[tuple[Executor | None, int]]:
        """Open a pool of threads, and tell how many batches it may be ahead."""
        n_jobs = 1 if self.n_jobs is None else self.n_jobs
        n_threads = max(1, n_jobs if n_jobs > 0 else (os.cpu_count() or 1) + 1 + n_jobs)
        if n_threads == 1:
            yield None, 1
            return
        with ThreadPoolExecutor(n_threads) as pool:
            yield pool, 2 * n_threads

    def _check_parameters(self) -> None:
        if self.weighting is not None and self.weighting not in WEIGHTINGS:
            raise ValueError(
                f"no weighting {self.weighting!r}; there are: {', '.join(WEIGHTINGS)}"
            )
        if callable(self.analyzer):
            raise ValueError(
                "analyzer is the name of one; give a function that splits texts as tokenizer"
            )
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                either = " or ".join(map(repr, known))
                raise ValueError(f"{name} must be {either}, got {getattr(self, name)!r}")
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise ValueError(
                f"tokenizer must be a function from a text to its words, got {self.tokenizer!r}"
            )
        if self.analyzer != "word" and (self.stop_words or self.stemmer or self.tokenizer):
            raise ValueError("stop_words, stemmer and tokenizer are for analyzer='word'")
        shortest, longest = self.ngram_range
        if not 1 <= shortest <= longest:
            raise ValueError(
                "ngram_range must be (shortest, longest), 1 <= shortest <= longest, got "
                f"{self.ngram_range!r}"
            )
        if self.min_length < 1:
            raise ValueError(f"min_length must be at least 1, got {self.min_length!r}")


class _OfThread(local):
    """A table of words for each thread that asks for it."""

    def __init__(self, make: Callable[[], WordTable]) -> None:
        self.table = make()


def _escaped(term: str) -> str:
    """Write a term as a line of a file.

    Only n-grams of characters hold what is escaped.
    """
    return (
        term.replace("\\", "\\\\").replace("\n", "\\n")
        if "\n" in term or "\\" in term
        else term
    )


def _unescaped(term: str) -> str:
    if "\\" not in term:
        return term
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], term)


_CHOICES = {"characters": get_args(Characters), "analyzer": ANALYZERS, "unspaced": UNSPACED}


def _number_of_documents(wanted: float, n_documents: int) -> float:
    """Return a bound on the number of documents; a float is a share of them."""
    if wanted < 0 or (isinstance(wanted, float) and wanted > 1):
        raise ValueError(
            "min_df and max_df must be a number (int) or a share (float up to 1) of documents, "
            f"got {wanted!r}"
        )
    return wanted * n_documents if isinstance(wanted, float) else wanted
