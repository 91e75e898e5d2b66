"""From words as people write them to the columns of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.knowledge.beliefs import Belief, Description
from bayesift.knowledge.term_knowledge import TermKnowledge
from bayesift.text import TermVectorizer

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class TermIndex:
    """The terms of a model, and what of them knowledge needs.

    Parameters
    ----------
    columns : the column of each term
    analyse : the terms of a text with their counts, as the model would read it
    typical : the mean weight of each term in the texts that hold it
    rarity : ln(N / n) / ln N of each term: 1 in a single one of the N training texts, 0 in all
    """

    columns: Mapping[str, int]
    analyse: Callable[[str], Mapping[str, int]]
    typical: Array
    rarity: Array

    @classmethod
    def of(cls, vectorizer: TermVectorizer, X: sparse.csr_array, kept: Array | None = None) -> TermIndex:
        """The terms of a fitted vectorizer, with X the training vectors; `kept` says which terms the model sees.

        Examples
        --------
        >>> vectorizer = TermVectorizer(weighting="tf")
        >>> X = vectorizer.fit_transform(["corn corn", "corn oil", "oil", "gold"])
        >>> index = TermIndex.of(vectorizer, X)
        >>> index.typical.tolist(), index.rarity.tolist()
        ([1.5, 1.0, 1.0], [0.5, 1.0, 0.5])
        """
        names, frequencies = vectorizer.vocabulary_.names, vectorizer.document_frequencies_
        places = np.arange(len(names)) if kept is None else np.flatnonzero(kept)
        columns = {names[place]: column for column, place in enumerate(places)}
        counts = np.bincount(X.indices, minlength=len(names))
        sums = np.bincount(X.indices, weights=X.data, minlength=len(names))
        typical = np.where(sums > 0, sums / np.maximum(counts, 1), 1.0)
        n = max(2, vectorizer.n_documents_)
        rarity = np.log(n / np.clip(frequencies, 1, n)) / np.log(n)
        return cls(columns, vectorizer.term_counts, typical[places], rarity[places])

    @classmethod
    def of_names(cls, terms: Sequence[str]) -> TermIndex:
        """Terms of which only the names are known: all count alike, and a strength is a weight.

        Examples
        --------
        >>> TermIndex.of_names(["corn", "oil"]).columns
        {'corn': 0, 'oil': 1}
        """
        columns = {term: column for column, term in enumerate(terms)}
        return cls(columns, TermVectorizer().term_counts, np.ones(len(columns)), np.ones(len(columns)))

    def __len__(self) -> int:
        return len(self.columns)

    def terms_of(self, word: str) -> list[str]:
        """The known terms of a word or phrase: itself if it is one, else what the model reads, the longest n-grams."""
        if word in self.columns:
            return [word]
        known = [term for term in self.analyse(word) if term in self.columns]
        longest = max((term.count(" ") for term in known), default=0)
        return [term for term in known if term.count(" ") == longest]


@dataclass(frozen=True)
class Coverage:
    """How much of what people know met the vocabulary.

    Parameters
    ----------
    used : how many words were found
    missing : the others of each category
    """

    used: int = 0
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_missing(self) -> int:
        """How many words are not in the vocabulary."""
        return sum(map(len, self.missing.values()))

    def __str__(self) -> str:
        """One line for people.

        Examples
        --------
        >>> print(Coverage(3, {"corn": ("maise",)}))
        3 words used, 1 not in the vocabulary: maise (corn)
        """
        named = [f"{word} ({category})" for category, words in self.missing.items() for word in words]
        more = f", and {len(named) - 8} more" if len(named) > 8 else ""
        missing = f", {len(named)} not in the vocabulary: {', '.join(named[:8])}{more}" if named else ""
        return f"{self.used} words used{missing}"


class Resolved(NamedTuple):
    """What is said of the weight of one term; None where nothing is."""

    mode: float | None = None
    scale: float | None = None
    sign: int = 0


Row = dict[int, Resolved]


def resolve(
    knowledge: TermKnowledge, categories: Iterable[str], index: TermIndex, unit: float = 1.0
) -> tuple[list[Row], Coverage]:
    """What is said of each column for each category; beliefs go before descriptions, the strongest before others.

    Parameters
    ----------
    knowledge : what is known
    categories : in the order of the rows
    index : the terms of the model
    unit : the score of one unit of log odds; less than 1 for the probit link

    Examples
    --------
    >>> knowledge = TermKnowledge.from_keywords({"corn": {"Corn": 3, "maise": 2}})
    >>> rows, coverage = resolve(knowledge, ["corn", "gold"], TermIndex.of_names(["corn", "oil"]))
    >>> rows[0][0].mode, rows[1], coverage.missing
    (3.0, {}, {'corn': ('maise',)})
    """
    knowledge.check_categories(categories := tuple(categories))
    rows: list[Row] = []
    used, missing = 0, {}
    for category in categories:
        description, beliefs = knowledge.descriptions.get(category), knowledge.words.get(category, {})
        described = {} if description is None else _described(description, index, unit)
        believed = {word: _believed(word, belief, index, unit) for word, belief in beliefs.items()}
        words = {**described, **believed}
        absent = tuple(word for word, row in words.items() if not row)
        used += len(words) - len(absent)
        if absent:
            missing[category] = absent
        rows.append(_merged(described.values(), believed.values()))
    return rows, Coverage(used, missing)


def _described(description: Description, index: TermIndex, unit: float) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for term, count in index.analyse(description.text).items():
        column = index.columns.get(term)
        if column is None:
            rows[term] = {}
            continue
        strength = description.strength * (1.0 + np.log(count)) * index.rarity[column]
        rows[term] = {column: Resolved(float(strength * unit / index.typical[column]))}
    return rows


def _believed(word: str, belief: Belief, index: TermIndex, unit: float) -> Row:
    """The words of a phrase share its strength."""
    terms = index.terms_of(word)
    row: Row = {}
    for term in terms:
        column, mode = index.columns[term], belief.mode
        if belief.strength is not None:
            mode = float(belief.strength * unit / (len(terms) * index.typical[column]))
        row[column] = Resolved(mode, belief.scale, belief.sign)
    return row


def _merged(*sources: Iterable[Row]) -> Row:
    """One row of all words; where several mean one term, later sources and then the strongest win in what they say."""
    ranked = [
        (source, abs(said.mode or 0.0), column, said)
        for source, rows in enumerate(sources)
        for row in rows
        for column, said in row.items()
    ]
    merged: Row = {}
    for _, _, column, said in sorted(ranked, key=lambda entry: entry[:3]):
        weaker = merged.get(column, Resolved())
        mode = weaker.mode if said.mode is None else said.mode
        merged[column] = Resolved(mode, said.scale or weaker.scale, said.sign or weaker.sign)
    return merged
