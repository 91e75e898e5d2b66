"""How probable it is that two bibliographic records describe the same publication.

The model of Fellegi & Sunter (1969): each field of a pair agrees to some level, and each level adds
its weight to the log odds; a field that one of the two records lacks adds nothing:

    log odds = b + sum over fields w(field, level)

The weights are logistic regression on pairs whose truth is known (`benchmarks/duplicates.py`
derives them), so that fields that repeat one another are not counted twice, as they are when each
weight is its own log likelihood ratio.

Similarity of titles is Dice's coefficient 2 |a b| / (|a| + |b|) of their sets of three letters.
Comparisons of abstracts and names use sets of words. All sets are rows of sparse matrices, so that
a comparison of many pairs is one product of rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse
from scipy.special import expit

from bayesift.arrays import FloatArray, IntArray, SparseRows
from bayesift.references import Reference
from bayesift.text import TermVectorizer

MISSING = -1
# Weights of the levels of each field, by `python -m benchmarks.duplicates weights`; the levels are
# those of `compare`.
INTERCEPT = -1.99
WEIGHTS: dict[str, tuple[float, ...]] = {
    "doi": (-3.34, 6.13),
    "pmid": (-4.75, 5.67),
    "title": (-4.93, -4.67, 0.03, 2.10, 1.97, 3.80),
    "markers": (-5.46, 1.36),
    "abstract": (-2.52, -4.23, -1.78, -0.06, 2.83),
    "authors": (-4.16, -0.22, 2.60, 2.06),
    "year": (-4.56, 0.33, 1.25),
    "journal": (-2.49, 0.92),
    "volume": (-2.95, 1.87),
    "pages": (-3.14, 4.98),
}
_TITLE_BANDS = (0.5, 0.7, 0.8, 0.9, 1.0)
_ABSTRACT_BANDS = (0.3, 0.5, 0.75, 0.95)
_NAME_BANDS = (0.01, 0.5, 0.99)
_PART_OF_TITLE = (
    0.9  # share of a title that another one has, when the other one has a subtitle more
)
_PART_LEVEL = 2
_MIN_PART_LETTERS = (
    20  # letters of such a title; shorter ones say little even if they are equal
)
_NO_MARKER = "-"
_PAIRS_PER_CHUNK = 50_000
_NOT_LETTERS = re.compile(r"[^\w]+|_")
_FIRST_NUMBER = re.compile(r"\d+")
_SMALL_WORDS = frozenset(
    {"a", "an", "and", "de", "der", "des", "die", "for", "in", "la", "le", "of", "on", "the"}
)
# What tells apart titles that are otherwise equal: parts of a series, and papers about a paper.
_MARKER = re.compile(
    r"\b(\d+|i|ii|iii|iv|v|vi|vii|viii|ix|x|abstract|comment|commentary|corrigendum|correction|correspondence|editorial|"
    r"erratum|interim|letter|protocol|reply|response|retracted|retraction|update|updated)\b"
)


def fold(text: str) -> str:
    """Fold a text: lower case, no accents, punctuation or markup, words between single spaces.

    Examples
    --------
    >>> fold("Müller-Hansen: <i>In vitro</i> ACTIVITY")
    'muller hansen in vitro activity'
    """
    if "<" in text:
        text = re.sub(r"</?\w{1,6}>", "", text)
    if not text.isascii():
        text = "".join(
            mark
            for mark in unicodedata.normalize("NFKD", text)
            if not unicodedata.combining(mark)
        )
    return " ".join(_NOT_LETTERS.sub(" ", text.lower()).split())


@dataclass(frozen=True, eq=False)
class Fields:
    """What is compared of records, a column per record: codes, or rows of sets.

    MISSING or an empty row where absent.

    Parameters
    ----------
    titles, abstracts, names : records x three letters or words, 1 where they occur
    doi, pmid, journal, volume, first_page, markers : equal where the folded texts are equal
    year : as a number
    journals : folded names, by their codes
    no_marker : the code of titles without a marker
    title_keys : folded titles
    """

    titles: SparseRows
    abstracts: SparseRows
    names: SparseRows
    doi: IntArray
    pmid: IntArray
    journal: IntArray
    volume: IntArray
    first_page: IntArray
    markers: IntArray
    year: IntArray
    journals: tuple[str, ...]
    no_marker: int
    title_keys: tuple[str, ...]

    @classmethod
    def of(cls, references: Sequence[Reference]) -> Fields:
        """Read the fields of records."""
        titles = tuple(fold(reference.title) for reference in references)
        markers, kinds = _codes(
            " ".join(sorted(_MARKER.findall(title))) or _NO_MARKER for title in titles
        )
        journals, names = _codes(fold(reference.journal) for reference in references)
        return cls(
            letter_sets(titles),
            _word_sets(reference.abstract for reference in references),
            _word_sets(fold(" ".join(reference.authors)) for reference in references),
            _codes(reference.doi for reference in references)[0],
            _codes(reference.pmid for reference in references)[0],
            journals,
            _codes(_volume(reference) for reference in references)[0],
            _codes(_first_page(reference) for reference in references)[0],
            markers,
            np.array([reference.year or MISSING for reference in references], dtype=np.int64),
            names,
            kinds.index(_NO_MARKER) if _NO_MARKER in kinds else MISSING,
            titles,
        )

    def __len__(self) -> int:
        return len(self.year)


def compare(fields: Fields, first: IntArray, second: IntArray) -> dict[str, IntArray]:
    """Compare the fields of pairs: the level of agreement, 0 for none, MISSING if one lacks it.

    Levels of titles are bands of similarity, the last for equal ones; a title that is part of the
    other has at least a middle level, a short title at most. Years agree, differ by one, or differ.
    """
    return {
        "doi": _equal(fields.doi, first, second),
        "pmid": _equal(fields.pmid, first, second),
        "title": _titles(fields, first, second),
        "markers": _markers(fields, first, second),
        "abstract": _bands(
            *overlaps(fields.abstracts, first, second), _ABSTRACT_BANDS, smaller=True
        ),
        "authors": _bands(*overlaps(fields.names, first, second), _NAME_BANDS, smaller=True),
        "year": _years(fields.year, first, second),
        "journal": _journals(fields, first, second),
        "volume": _equal(fields.volume, first, second),
        "pages": _equal(fields.first_page, first, second),
    }


def log_odds(levels: dict[str, IntArray]) -> FloatArray:
    """Compute the log odds that each pair is the same publication."""
    total: FloatArray = np.full(len(levels["title"]), INTERCEPT)
    for field, weights in WEIGHTS.items():
        total += np.append(weights, 0.0)[levels[field]]
    return total


def match_probability(first: Reference, second: Reference) -> float:
    """Compute the probability that two records describe the same publication.

    Examples
    --------
    >>> from bayesift.references import Reference
    >>> titles = "Triptans in acute migraine: a trial", "Triptans in acute migrane - a trial."
    >>> one = Reference(title=titles[0], authors=("Silberstein, S. D.",), year=1999)
    >>> other = Reference(title=titles[1], authors=("S D Silberstein",), year=1999)
    >>> match_probability(one, other) > 0.9
    True
    """
    pair = compare(Fields.of([first, second]), np.array([0]), np.array([1]))
    return float(expit(log_odds(pair))[0])


def letter_sets(texts: Sequence[str]) -> SparseRows:
    """Make a row of ones of the runs of three bytes of each text.

    Texts of one or two letters are one run.
    """
    padded = [text.encode().ljust(3) if text else b"" for text in texts]
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    letters = np.frombuffer(b"".join(padded) + b"\0\0", dtype=np.uint8).astype(np.int64)
    codes = (letters[:-2] << 16) + (letters[1:-1] << 8) + letters[2:]
    rows = np.repeat(np.arange(len(texts)), lengths)
    ends = np.repeat(np.cumsum(lengths), lengths)
    inside = np.arange(len(rows)) + 3 <= ends
    found = np.sort((rows[inside] << 24) + codes[: len(rows)][inside])
    distinct = found[np.append(True, found[1:] != found[:-1])] if len(found) else found
    return _rows_of_ones(distinct >> 24, distinct & 0xFFFFFF, (len(texts), 1 << 24))


def overlaps(
    sets: SparseRows, first: IntArray, second: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count for each pair of rows how many columns both have, and how many each has."""
    sizes = np.diff(sets.indptr)
    both = np.empty(len(first))
    for start in range(0, len(first), _PAIRS_PER_CHUNK):
        part = slice(start, start + _PAIRS_PER_CHUNK)
        both[part] = sets[first[part]].multiply(sets[second[part]]).sum(axis=1)
    return both, sizes[first], sizes[second]


def _rows_of_ones(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> SparseRows:
    indptr = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
    return sparse.csr_array((np.ones(len(rows)), columns.astype(np.int32), indptr), shape=shape)


def _word_sets(texts: Iterable[str]) -> SparseRows:
    """Make a row of ones of the words of each text that have two letters or more."""
    documents = list(texts)
    if not any(len(word) > 1 for text in documents for word in text.split()):
        return sparse.csr_array((len(documents), 1))
    counted = TermVectorizer(weighting="binary").fit_transform(documents)
    return sparse.csr_array(counted)


def _codes(texts: Iterable[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Give equal texts equal numbers, MISSING for empty ones; return texts by number too."""
    known: dict[str, int] = {}
    codes = [known.setdefault(text, len(known)) if text else MISSING for text in texts]
    return np.array(codes, dtype=np.int64), tuple(known)


def _volume(reference: Reference) -> str:
    return fold(reference.volume).removeprefix("vol ").removeprefix("volume ")


def _first_page(reference: Reference) -> str:
    """Read the first number of the pages, with a letter before it as in article numbers."""
    pages = fold(reference.pages)
    found = _FIRST_NUMBER.search(pages)
    if found is None:
        return pages
    before = pages[: found.start()].rpartition(" ")[2]
    return (before if len(before) == 1 else "").replace("p", "") + found[0].lstrip("0")


def _equal(codes: IntArray, first: IntArray, second: IntArray) -> IntArray:
    level: IntArray = (codes[first] == codes[second]).astype(np.int64)
    level[(codes[first] == MISSING) | (codes[second] == MISSING)] = MISSING
    return level


def _years(years: IntArray, first: IntArray, second: IntArray) -> IntArray:
    apart = np.abs(years[first] - years[second])
    level: IntArray = np.select([apart == 0, apart == 1], [2, 1], 0)
    level[(years[first] == MISSING) | (years[second] == MISSING)] = MISSING
    return level


def _bands(
    both: FloatArray,
    one: FloatArray,
    other: FloatArray,
    bands: tuple[float, ...],
    *,
    smaller: bool = False,
) -> IntArray:
    """Find the band of the shared part, relative to the smaller of the two or to their mean."""
    whole = np.minimum(one, other) if smaller else (one + other) / 2.0
    level = np.searchsorted(bands, both / np.maximum(whole, 1), side="right").astype(np.int64)
    level[(one == 0) | (other == 0)] = MISSING
    return level


def _titles(fields: Fields, first: IntArray, second: IntArray) -> IntArray:
    both, one, other = overlaps(fields.titles, first, second)
    level = _bands(both, one, other, _TITLE_BANDS)
    shorter = np.minimum(one, other)
    part = (both >= _PART_OF_TITLE * shorter) & (shorter >= _MIN_PART_LETTERS)
    level = np.where(part & (level >= 0), np.maximum(level, _PART_LEVEL), level)
    # Many publications have the title "Editorial" or "Results".
    short: IntArray = np.where(
        shorter < _MIN_PART_LETTERS, np.minimum(level, _PART_LEVEL), level
    )
    return short


def _markers(fields: Fields, first: IntArray, second: IntArray) -> IntArray:
    """Whether numbers and words such as "erratum" in the titles are the same.

    MISSING where neither title has any.
    """
    level = _equal(fields.markers, first, second)
    none = fields.markers == fields.no_marker
    level[none[first] & none[second]] = MISSING
    return level


def _journals(fields: Fields, first: IntArray, second: IntArray) -> IntArray:
    """Whether names are equal, or one abbreviates the other.

    Each pair of names is looked at once.
    """
    level = _equal(fields.journal, first, second)
    open_pairs = np.flatnonzero(level == 0)
    pairs = np.sort(
        np.stack(
            [fields.journal[first[open_pairs]], fields.journal[second[open_pairs]]], axis=1
        ),
        axis=1,
    )
    distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
    same = [same_journal(fields.journals[a], fields.journals[b]) for a, b in distinct]
    if same:
        level[open_pairs] = np.array(same, dtype=np.int64)[inverse.ravel()]
    return level


@cache
def _initials(name: str) -> tuple[str, ...]:
    return tuple(word for word in name.split() if word not in _SMALL_WORDS)


def same_journal(one: str, other: str) -> bool:
    """Whether each word of the shorter of two folded names begins a word of the longer, in order.

    Examples
    --------
    >>> same_journal("eur j med genet", "european journal of medical genetics")
    True
    >>> same_journal("j med", "journal of surgery")
    False
    """
    short, long = sorted(
        (_initials(one), _initials(other)), key=lambda words: (len(words), sum(map(len, words)))
    )
    if len(short) == 1 and len(long) > 1 and len(short[0]) == len(long):
        return short[0] == "".join(word[0] for word in long)
    if not short or (len(short) == 1 and len(long) > 1):
        return False
    rest = iter(long)
    begins: Callable[[str], bool] = lambda word: any(_abbreviates(word, full) for full in rest)  # noqa: E731
    return all(map(begins, short)) and len(long) <= 2 * len(short)


def _abbreviates(word: str, full: str) -> bool:
    return (
        full.startswith(word)
        or word.startswith(full)
        or (word[:1] == full[:1] and word.endswith(full[-1:]))
    )
