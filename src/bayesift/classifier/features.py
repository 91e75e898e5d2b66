"""From texts to columns: the words of a `TextClassifier`, and the blocks that stand beside them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone

from bayesift.arrays import BoolArray, IntArray, SparseRows
from bayesift.classifier.table_columns import TableColumns
from bayesift.classifier.texts import Texts
from bayesift.errors import DataError
from bayesift.features import BlockKind, Design
from bayesift.text import TermVectorizer, TextEmbedder, WordVectors

if TYPE_CHECKING:
    from bayesift.features import SelectTerms


# Transformers give arrays here, also where scikit-learn is set to DataFrames.
_AS_ARRAYS = config_context(transform_output="default")
# Texts that an n-gram of characters must be in, and from which on they are tried unasked.
_MIN_TEXTS_OF_NGRAM = 2
_MIN_TEXTS_FOR_CHARACTERS = 300


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """The transformers that make the columns of a model from texts, in the order of the columns.

    Parameters
    ----------
    vectorizer : of words; None if documents come as term vectors
    selection : of words; None keeps all
    embedder : of word vectors
    characters : a vectorizer of n-grams of characters
    table : columns of the user's table
    tries_pairs : whether the pairs of the vectorizer are a block that the model may do without
    """

    vectorizer: TermVectorizer | None = None
    selection: SelectTerms | None = None
    embedder: TextEmbedder | None = None
    characters: TermVectorizer | None = None
    table: TableColumns | None = None
    tries_pairs: bool = False

    @_AS_ARRAYS
    def fit_words(self, texts: Texts) -> Design:
        """Fit the vectorizer to texts; returns the columns of their words, before a selection."""
        words = texts.values
        lengths = None
        if self.vectorizer is not None:
            words = self.vectorizer.fit_transform(texts.values)
            if self.tries_pairs:
                lengths = self.vectorizer.ngram_lengths_
        return Design.of_words(words, lengths)

    @_AS_ARRAYS
    def fit_blocks(self, words: Design, texts: Texts, y: Any) -> Design:
        """Fit the other transformers to labelled texts with these words; returns all columns."""
        n_texts = words.rows.shape[0]
        if n_texts != y.shape[0]:
            raise DataError(f"{n_texts:,} texts, but {y.shape[0]:,} labels")
        design = words
        if self.selection is not None:
            self.selection.fit(words.rows, y)
            design = Design.of_words(self.selection.transform(words.rows))
        if self.embedder is not None:
            rows = sparse.csr_array(self.embedder.fit_transform(texts.values))
            design = design.beside("vectors", "vectors", rows)
        if self.characters is not None:
            rows = _fit_characters(self.characters, texts)
            design = design.beside("characters", "characters", rows)
        if self.table is not None:
            design = design.beside("columns", "columns", self.table.rows(texts.table))
        return design

    @_AS_ARRAYS
    def transform(self, texts: Texts) -> SparseRows:
        """Return the columns of texts."""
        if texts.are_vectors != (self.vectorizer is None):
            kind = "vectors" if texts.are_vectors else "texts"
            raise DataError(f"the model was not trained on {kind}")
        texts = texts.whole() if self.kinds else texts
        rows = texts.values
        if self.vectorizer is not None:
            rows = self.vectorizer.transform(texts.values)
        if self.selection is not None:
            rows = self.selection.transform(rows)
        if not self.kinds:
            return rows
        blocks = [rows]
        if self.embedder is not None:
            blocks.append(sparse.csr_array(self.embedder.transform(texts.values)))
        if self.characters is not None:
            blocks.append(self.characters.transform(texts.values))
        if self.table is not None:
            blocks.append(self.table.rows(texts.table))
        return sparse.csr_array(sparse.hstack(blocks))

    @property
    def kinds(self) -> tuple[BlockKind, ...]:
        """The kinds of blocks that stand beside the words."""
        parts: dict[BlockKind, Any] = {
            "vectors": self.embedder,
            "characters": self.characters,
            "columns": self.table,
        }
        return tuple(kind for kind, part in parts.items() if part is not None)

    def only(self, kinds: Collection[BlockKind]) -> TextFeatures:
        """Return what makes the words and the blocks of these kinds."""
        vectorizer = self.vectorizer
        if vectorizer is not None and self.tries_pairs and "pairs" not in kinds:
            vectorizer = vectorizer.only_words()
        return replace(
            self,
            vectorizer=vectorizer,
            embedder=self.embedder if "vectors" in kinds else None,
            characters=self.characters if "characters" in kinds else None,
            table=self.table if "columns" in kinds else None,
        )

    def term_names(self, n_columns: int) -> list[str]:
        """Return the terms of the words, in the order of their columns.

        Term vectors have no names; `n_columns` is how many they have.
        """
        if self.vectorizer is not None:
            names = self.vectorizer.vocabulary_.names
        else:
            names = [f"term {column}" for column in range(n_columns)]
        if self.selection is None:
            return names
        return [names[column] for column in np.flatnonzero(self.selection.get_support())]

    def block_names(self) -> dict[BlockKind, list[str]]:
        """Return the names of the columns of each block beside the words."""
        names: dict[BlockKind, list[str]] = {}
        if self.embedder is not None:
            names["vectors"] = self.embedder.get_feature_names_out().tolist()
        if self.characters is not None:
            names["characters"] = self.characters.vocabulary_.names
        if self.table is not None:
            names["columns"] = self.table.names
        return names

    def block_sizes(self) -> dict[BlockKind, int]:
        """Return the number of columns of each block beside the words."""
        sizes: dict[BlockKind, int] = {}
        if self.embedder is not None:
            sizes["vectors"] = len(self.embedder.get_feature_names_out())
        if self.characters is not None:
            sizes["characters"] = len(self.characters.vocabulary_)
        if self.table is not None:
            sizes["columns"] = len(self.table.names)
        return sizes

    def listed_names(self, rows: SparseRows) -> dict[int, str | None]:
        """Return the names of the columns in which rows have entries.

        Columns that words share in have None. The names of a large vocabulary are not all made.
        """
        used = np.unique(rows.indices)
        sizes = self.block_sizes()
        listed: dict[int, str | None] = dict.fromkeys(used.tolist())
        columns = used[used < rows.shape[1] - sum(sizes.values())]
        if self.vectorizer is None:
            names = [f"term {column}" for column in columns]
        else:
            terms = columns
            if self.selection is not None:
                terms = np.flatnonzero(self.selection.get_support())[columns]
            names = self.vectorizer.vocabulary_.words.take(terms).to_strings()
        listed.update(zip(columns.tolist(), names, strict=True))
        if self.table is not None:
            first = rows.shape[1] - sizes["columns"]
            for column in used[used >= first].tolist():
                listed[column] = self.table.names[column - first]
        return listed

    def knows(self, terms: Collection[str]) -> BoolArray:
        """Whether terms are columns of the model."""
        assert self.vectorizer is not None
        columns = np.array(self.vectorizer.vocabulary_.columns(terms), dtype=np.intp)
        known: BoolArray = columns >= 0
        if self.selection is not None:
            known[known] = self.selection.get_support()[columns[known]]
        return known

    def known_words(self, rows: SparseRows) -> SparseRows:
        """Return the columns of the shortest terms: if a word is unknown, its pairs are too."""
        words = sparse.csr_array(rows)
        if self.kinds:
            words = words[:, : words.shape[1] - sum(self.block_sizes().values())]
        are_words = self._are_words()
        return words if are_words is None else words[:, np.flatnonzero(are_words)]

    def count_known_words(self, rows: SparseRows) -> IntArray:
        """Count the entries of each row in the columns of `known_words`."""
        is_counted = rows.indices < rows.shape[1] - sum(self.block_sizes().values())
        are_words = self._are_words()
        if are_words is not None:
            is_counted[is_counted] = are_words[rows.indices[is_counted]]
        until = np.concatenate([[0], np.cumsum(is_counted)])
        counts: IntArray = np.diff(until[rows.indptr])
        return counts

    def _are_words(self) -> BoolArray | None:
        """Whether each term is one of the shortest; None where all are of one length."""
        vectorizer = self.vectorizer
        if vectorizer is None or vectorizer.ngram_range[0] == vectorizer.ngram_range[1]:
            return None
        lengths = vectorizer.ngram_lengths_
        if self.selection is not None:
            lengths = lengths[self.selection.get_support()]
        shortest: BoolArray = lengths == vectorizer.ngram_range[0]
        return shortest

    def count_words(self, texts: Texts) -> IntArray:
        """Count the distinct words of each text, known or not."""
        assert self.vectorizer is not None
        shortest, longest = self.vectorizer.ngram_range
        counter: TermVectorizer = self.vectorizer
        if longest > shortest:
            counter = clone(self.vectorizer)
            counter.set_params(ngram_range=(shortest, shortest))
        return counter.n_terms(texts.values)

    @property
    def knows_all_training_words(self) -> bool:
        """Whether every word of the training texts became a column."""
        if self.selection is not None:
            return False
        return self.vectorizer is None or self.vectorizer.keeps_all_words


def embedder_for(
    embedder: TextEmbedder | str | None, texts: Texts, *, is_tried: bool
) -> TextEmbedder | None:
    """Return an unfitted copy of the embedder.

    "auto" is that of the extra `embeddings`, where it is installed and the model tries it.
    """
    if isinstance(embedder, str):
        if embedder != "auto":
            raise ValueError(
                f"embedder must be a TextEmbedder, 'auto' or None, got {embedder!r}"
            )
        if texts.are_vectors or not is_tried or WordVectors.installed() is None:
            return None
        return TextEmbedder()
    if embedder is None:
        return None
    if texts.are_vectors:
        raise DataError("an embedder needs texts; the documents are vectors")
    return TextEmbedder(**embedder.get_params(deep=False))


def characters_for(
    characters: TermVectorizer | bool | str,
    texts: Texts,
    words: TermVectorizer | None,
    *,
    is_tried: bool,
) -> TermVectorizer | None:
    """Return an unfitted vectorizer of n-grams of characters.

    It is a copy of the one given; for True, of two to five characters within words, and so it is
    for "auto" where the model tries it. It reads texts as the vectorizer of `words` does.
    """
    if characters is False:
        return None
    if isinstance(characters, str) and characters == "auto":
        if texts.are_vectors or not is_tried or _are_few(texts):
            return None
        characters = True
    if texts.are_vectors:
        raise DataError("n-grams of characters need texts; the documents are vectors")
    if characters is True:
        assert words is not None
        return TermVectorizer(
            analyzer="char_wb",
            ngram_range=(2, 5),
            weighting="sublinear-tf-idf",
            min_df=_MIN_TEXTS_OF_NGRAM,
            strip_html=words.strip_html,
            n_jobs=words.n_jobs,
        )
    if not isinstance(characters, TermVectorizer) or characters.analyzer == "word":
        raise ValueError(
            "characters must be True, False, 'auto', or a TermVectorizer with an analyzer of "
            "characters"
        )
    made: TermVectorizer = clone(characters)
    if made.weighting is None:
        made.set_params(weighting="sublinear-tf-idf")
    return made


def _fit_characters(characters: TermVectorizer, texts: Texts) -> SparseRows:
    """Fit to texts; where no n-gram is in as many as it should be, all are kept."""
    try:
        return characters.fit_transform(texts.values)
    except ValueError:
        if characters.min_df != _MIN_TEXTS_OF_NGRAM:
            raise
        return characters.set_params(min_df=1).fit_transform(texts.values)


def _are_few(texts: Texts) -> bool:
    """Whether texts are too few to tell whether n-grams of characters help."""
    return texts.n_texts is not None and texts.n_texts < _MIN_TEXTS_FOR_CHARACTERS


def table_for(columns: Sequence[str], texts: Texts) -> TableColumns | None:
    """Learn how the named columns of a table become numbers; None if none is named."""
    return TableColumns.learn(columns, texts.table) if columns else None
