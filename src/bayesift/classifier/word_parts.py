"""What each word of a text adds to the blocks of columns that words share in."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bayesift.text import TermVectorizer, TextEmbedder

_AROUND_WORDS = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class WordParts:
    """What the words of a text add to a block: a row for all texts alike, then one per word."""

    words: list[str]
    rows: sparse.csr_array


def meaning_parts(embedder: TextEmbedder, text: str) -> WordParts:
    """Return the parts of words in the row of a text by its vectors.

    The row of all texts is the centre.
    """
    words, parts = embedder.word_parts(text)
    centre = -embedder.centre_ / embedder.size_ * bool(np.any(parts))
    return WordParts(words, sparse.csr_array(np.vstack([centre, parts])))


def spelling_parts(characters: TermVectorizer, text: str) -> WordParts:
    """Return the parts of words in the n-grams of characters of a text.

    Each word gets its n-grams in proportion to how often it has them.

    What n-grams across words add (of the analyzer "char") is in the row of all texts.
    """
    counter = copy(characters)  # of the same vocabulary
    counter.set_params(weighting="tf", cosine=False)
    chunks = text.split() if characters.analyzer == "char_wb" else []
    whole, counts = counter.transform([text]), counter.transform(chunks or [""])
    row = characters.transform([text]).toarray()[0]
    each = np.divide(
        row, whole.toarray()[0], out=np.zeros_like(row), where=whole.toarray()[0] > 0
    )
    parts = sparse.csr_array(counts.multiply(each[np.newaxis]))
    rest = sparse.csr_array((row - parts.sum(axis=0))[np.newaxis])
    rest.data[np.abs(rest.data) < 1e-12] = 0.0
    names = [_AROUND_WORDS.sub("", chunk.lower()) or chunk for chunk in chunks] or [""]
    return WordParts(names, sparse.csr_array(sparse.vstack([rest, parts])))
