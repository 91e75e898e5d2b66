"""Texts to term vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayesift.errors import DataError
from bayesift.text.batches import batches_of, in_order
from bayesift.text.counting import Counts, Frequencies, Lexicon, assemble, count_batches
from bayesift.text.stems import stemmer
from bayesift.text.stopwords import stop_words_of
from bayesift.text.tokens import Characters, Tokeniser
from bayesift.text.vocabulary import Vocabulary
from bayesift.text.weighting import WEIGHTINGS, Weighting, weigh
from bayesift.text.words import Words, WordTable
from bayesift.text.zipf import moderate_zone

Array = np.ndarray[Any, Any]


class TermVectorizer(TransformerMixin, BaseEstimator):
    """Turns texts into sparse vectors of term weights; tokens are exactly scikit-learn's default ones.

    Texts come as a list, any iterator, or an Arrow array of strings. `fit` sorts its columns by name;
    `partial_fit` gives new terms the next columns, and earlier columns never move.

    Parameters
    ----------
    weighting : "binary", "tf", "log-tf", "tf-idf" or "ltc"; see `bayesift.text.weighting` for the formulas
    cosine : scale each document to length one ("ltc" always does)
    stop_words : a language such as "english", or the words to leave out themselves
    stemmer : "porter", or a Snowball language such as "english"; stop words are left out before stemming
    ngrams : shortest and longest n-gram of words
    min_df, max_df : leave out terms in fewer or more documents: a number (int) or a share of them (float)
    drop_frequent, drop_rare : leave out the ends of the Zipf curve: a number of terms (int) or a share (float)
    lowercase : whether "Grain" and "grain" are one term
    characters : "words" takes letters, digits and underscores as parts of a word, "letters" letters only
    min_length : the fewest characters of a word
    n_jobs : threads; -1 for all cores. The result does not depend on it
    progress : called after each batch with the number of documents done so far

    Attributes
    ----------
    vocabulary_ : mapping of each term to its column
    document_frequencies_, collection_frequencies_ : in how many documents, and how often, each term was seen
    n_documents_ : how many documents were seen

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

    def __init__(
        self,
        *,
        weighting: Weighting = "tf",
        cosine: bool = False,
        stop_words: str | Collection[str] | None = None,
        stemmer: str | None = None,
        ngrams: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        drop_frequent: float = 0,
        drop_rare: float = 0,
        lowercase: bool = True,
        characters: Characters = "words",
        min_length: int = 2,
        n_jobs: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.weighting = weighting
        self.cosine = cosine
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.drop_frequent = drop_frequent
        self.drop_rare = drop_rare
        self.lowercase = lowercase
        self.characters = characters
        self.min_length = min_length
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn the vocabulary and the document frequencies."""
        self._learn(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None) -> sparse.csr_array:
        """Learn from texts and return their vectors, reading them once."""
        counts: list[Counts] = []
        columns = self._learn(texts, counts.append)
        return self._weighted(counts, columns)

    def fit_frequencies(self, terms: Any, documents: Array, collection: Array, n_documents: int) -> Self:
        """Learn from terms that were counted elsewhere; the result is that of `fit` to the texts they were counted in.

        Parameters
        ----------
        terms : the distinct terms, in any order: strings, or an Arrow array of large strings
        documents, collection : in how many documents, and how often, each was seen
        n_documents : how many documents were seen

        Examples
        --------
        >>> counts = np.array([1, 2]), np.array([3, 2])
        >>> vectorizer = TermVectorizer(min_df=2).fit_frequencies(["wheat", "corn"], *counts, 2)
        >>> vectorizer.get_feature_names_out().tolist()
        ['corn']
        """
        self._check_parameters()
        frequencies = Frequencies()
        frequencies.n_documents = int(n_documents)
        frequencies.documents = np.asarray(documents, dtype=np.int64)
        frequencies.collection = np.asarray(collection, dtype=np.int64)
        self._choose_terms(Words.of(terms), frequencies)
        return self

    def partial_fit(self, texts: Iterable[str], y: object = None) -> Self:
        """Learn from more texts: new terms get the next columns, document frequencies are kept up to date."""
        self._check_parameters()
        if (self.min_df, self.max_df, self.drop_frequent, self.drop_rare) != (1, 1.0, 0, 0):
            raise ValueError("partial_fit keeps every term: min_df, max_df, drop_frequent and drop_rare are for fit")
        if not hasattr(self, "vocabulary_"):
            self._set_vocabulary(Words.of([]), Frequencies())
        for counts in self._count(texts, self.vocabulary_.table, grow=True):
            self._frequencies.add(counts)
        return self

    def transform(self, texts: Iterable[str]) -> sparse.csr_array:
        """Vectors of texts over the learned vocabulary; other words are passed over."""
        check_is_fitted(self)
        self._check_parameters()
        counts = list(self._count(texts, self.vocabulary_.table, grow=False))
        return self._weighted(counts, np.arange(len(self.vocabulary_), dtype=np.int32))

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """The terms in the order of their columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(self.vocabulary_.names, dtype=object)

    def inverse_transform(self, X: Any) -> list[Array]:
        """The terms with a weight in each row of X."""
        names = self.get_feature_names_out()
        rows = sparse.csr_array(X)
        if rows.shape[1] != len(names):
            raise ValueError(f"X has {rows.shape[1]} columns, but the vocabulary has {len(names)} terms")
        rows.eliminate_zeros()
        return [names[rows.indices[a:b]] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]

    def term_counts(self, text: str) -> dict[str, int]:
        """The terms of one text, known or not, with how often they stand in it, by first appearance.

        Examples
        --------
        >>> TermVectorizer(stop_words="english").term_counts("The corn and the other corn exporters")
        {'corn': 2, 'exporters': 1}
        """
        self._check_parameters()
        table = WordTable()
        (counts,) = self._count([text], table, grow=True)
        names = table.words.to_strings()
        numbers = counts.terms[counts.indices]
        return {names[i]: int(n) for i, n in zip(numbers, counts.values, strict=True)}

    def get_state(self) -> tuple[dict[str, Any], dict[str, Array], list[str]]:
        """All that `from_state` needs: parameters that JSON can hold, arrays, and the terms."""
        check_is_fitted(self)
        unsaved = {"n_jobs", "progress"}
        parameters = {name: value for name, value in self.get_params().items() if name not in unsaved}
        if not isinstance(self.stop_words, str | None):
            parameters["stop_words"] = sorted(self.stop_words)
        parameters["ngrams"] = list(self.ngrams)
        parameters["n_documents"] = self.n_documents_
        arrays = {
            "document_frequencies": self.document_frequencies_,
            "collection_frequencies": self.collection_frequencies_,
        }
        return parameters, arrays, self.vocabulary_.names

    @classmethod
    def from_state(cls, parameters: dict[str, Any], arrays: dict[str, Array], terms: list[str]) -> Self:
        """The vectorizer of `get_state`; refuses what does not fit together.

        Examples
        --------
        >>> fitted = TermVectorizer(weighting="ltc").fit(["corn", "wheat"])
        >>> TermVectorizer.from_state(*fitted.get_state()).transform(["corn"]).toarray()
        array([[1., 0.]])
        """
        frequencies = Frequencies()
        try:
            options = dict(parameters)
            frequencies.n_documents = int(options.pop("n_documents"))
            vectorizer = cls(**{**options, "ngrams": tuple(options["ngrams"])})
            vectorizer.term_counts("a probe of the parameters")
            frequencies.documents = np.array(arrays["document_frequencies"], dtype=np.int64)
            frequencies.collection = np.array(arrays["collection_frequencies"], dtype=np.int64)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise DataError(f"not a saved vectorizer ({error})") from error
        shape = (len(terms),)
        if frequencies.documents.shape != shape or frequencies.collection.shape != shape or frequencies.n_documents < 0:
            raise DataError(f"not a saved vectorizer: frequencies do not fit its {len(terms):,} terms")
        vectorizer._set_vocabulary(Words.of(terms), frequencies)
        if len(vectorizer.vocabulary_.table) != len(terms):
            raise DataError("not a saved vectorizer: a term stands twice in its vocabulary")
        return vectorizer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vocabulary_")

    @property
    def document_frequencies_(self) -> Array:
        """In how many documents each term was seen."""
        return self._frequencies.documents

    @property
    def collection_frequencies_(self) -> Array:
        """How often each term was seen."""
        return self._frequencies.collection

    @property
    def n_documents_(self) -> int:
        """How many documents were seen."""
        return self._frequencies.n_documents

    def _set_vocabulary(self, words: Words, frequencies: Frequencies) -> None:
        self.vocabulary_ = Vocabulary(words)
        self._frequencies = frequencies

    def _learn(self, texts: Iterable[str], keep: Callable[[Counts], None] | None = None) -> Array:
        """Learn the pruned and sorted vocabulary; returns the column of each term as it was found, -1 if pruned."""
        self._check_parameters()
        table, frequencies = WordTable(), Frequencies()
        for counts in self._count(texts, table, grow=True):
            frequencies.add(counts)
            if keep is not None:
                keep(counts)
        return self._choose_terms(table.words, frequencies)

    def _choose_terms(self, words: Words, frequencies: Frequencies) -> Array:
        """Keep the moderate terms, sorted; returns the column of each, -1 if it is left out."""
        if not len(words):
            raise ValueError("empty vocabulary: there are no texts, or they hold nothing but stop words")
        by_name = words.sorted_order()
        chosen = by_name[self._moderate(frequencies.take(by_name))]
        if not len(chosen):
            raise ValueError("no terms are left; lower min_df, drop_frequent or drop_rare, or raise max_df")
        columns = np.full(len(words), -1, dtype=np.int32)
        columns[chosen] = np.arange(len(chosen), dtype=np.int32)
        self._set_vocabulary(words.take(chosen), frequencies.take(chosen))
        return columns

    def _moderate(self, frequencies: Frequencies) -> Array:
        """Which terms are neither too rare nor too frequent."""
        fewest = _number_of_documents(self.min_df, frequencies.n_documents)
        most = _number_of_documents(self.max_df, frequencies.n_documents)
        if most < fewest:
            raise ValueError(f"max_df asks for at most {most:g} documents, min_df for at least {fewest:g}")
        kept = (frequencies.documents >= fewest) & (frequencies.documents <= most)
        zone = moderate_zone(frequencies.collection, drop_frequent=self.drop_frequent, drop_rare=self.drop_rare)
        return kept & zone

    def _count(self, texts: Iterable[str], table: WordTable, *, grow: bool) -> Iterator[Counts]:
        lexicon = Lexicon(
            table,
            grow=grow,
            stop_words=self._stop_words(),
            stem=None if self.stemmer is None else stemmer(self.stemmer),
            ngrams=(self.ngrams[0], self.ngrams[1]),
        )
        tokeniser = Tokeniser(self.lowercase, self.characters, self.min_length)
        done = 0
        with self._threads() as (pool, width):
            encoded = map(tokeniser.encode, batches_of(texts))
            batches = in_order(tokeniser.split, encoded, pool, width)
            for counts in count_batches(batches, lexicon, pool, width):
                done += counts.n_documents
                if self.progress is not None:
                    self.progress(done)
                yield counts

    def _weighted(self, counts: list[Counts], columns: Array) -> sparse.csr_array:
        with self._threads() as (pool, width):
            matrix = assemble(counts, columns, len(self.vocabulary_), pool, width)
        return weigh(
            matrix,
            self.weighting,
            document_frequencies=self.document_frequencies_,
            n_documents=self.n_documents_,
            cosine=self.cosine,
        )

    def _stop_words(self) -> Collection[str]:
        if self.stop_words is None:
            return ()
        return stop_words_of(self.stop_words) if isinstance(self.stop_words, str) else frozenset(self.stop_words)

    @contextmanager
    def _threads(self) -> Iterator[tuple[Executor | None, int]]:
        """A pool of threads and how far it may run ahead; no pool for one thread."""
        n_jobs = 1 if self.n_jobs is None else self.n_jobs
        n_threads = max(1, n_jobs if n_jobs > 0 else (os.cpu_count() or 1) + 1 + n_jobs)
        if n_threads == 1:
            yield None, 1
            return
        with ThreadPoolExecutor(n_threads) as pool:
            yield pool, 2 * n_threads

    def _check_parameters(self) -> None:
        if self.weighting not in WEIGHTINGS:
            raise ValueError(f"no weighting {self.weighting!r}; there are: {', '.join(WEIGHTINGS)}")
        if self.characters not in ("words", "letters"):
            raise ValueError(f"characters must be 'words' or 'letters', got {self.characters!r}")
        shortest, longest = self.ngrams
        if not 1 <= shortest <= longest:
            raise ValueError(f"ngrams must be (shortest, longest) with 1 <= shortest <= longest, got {self.ngrams!r}")
        if self.min_length < 1:
            raise ValueError(f"min_length must be at least 1, got {self.min_length!r}")


def _number_of_documents(wanted: float, n_documents: int) -> float:
    """A bound as a number of documents; a float is a share of them."""
    if wanted < 0 or (isinstance(wanted, float) and wanted > 1):
        raise ValueError(
            f"min_df and max_df must be a number (int) or a share (float up to 1) of documents, got {wanted!r}"
        )
    return wanted * n_documents if isinstance(wanted, float) else wanted
