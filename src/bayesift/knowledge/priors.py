"""Convert word knowledge to the prior of a linear model: modes, scales and signs of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from bayesift.arrays import BoolArray, FloatArray, SparseRows
from bayesift.knowledge.term_knowledge import Belief, Description, TermKnowledge
from bayesift.models.linear import Link, Logit, Prior
from bayesift.models.linear.links import link_of
from bayesift.models.linear.priors import prior_of
from bayesift.text import TermVectorizer
from bayesift.text.scripts import is_unspaced

# The parameter that holds the scale of each prior, as a function of the standard deviation.
_SCALES: dict[str, tuple[str, Callable[[float], float]]] = {
    "gaussian": ("variance", lambda deviation: deviation**2),
    "laplace": ("gamma", lambda deviation: 2.0 / deviation**2),
}


@dataclass(frozen=True, eq=False)
class TermIndex:
    """The terms of a model, with the statistics that knowledge needs.

    Parameters
    ----------
    columns : the column of each term
    analyse : maps a text to its terms and their counts, as the model reads it
    typical : the mean weight of each term over the texts that contain it
    rarity : ln(N / n) / ln N of each term: 1 in a single one of the N training texts, 0 in all
    n_others : columns behind those of terms, of which nothing is known
    """

    columns: Mapping[str, int]
    analyse: Callable[[str], Mapping[str, int]]
    typical: FloatArray
    rarity: FloatArray
    n_others: int = 0

    @classmethod
    def of(
        cls,
        vectorizer: TermVectorizer,
        X: SparseRows,
        kept: BoolArray | None = None,
        n_others: int = 0,
    ) -> TermIndex:
        """Index the terms of a fitted vectorizer.

        X holds the training vectors of the terms that the model uses, which `kept` marks.
        """
        names = vectorizer.vocabulary_.names
        frequencies = vectorizer.document_frequencies_
        indices = np.arange(len(names)) if kept is None else np.flatnonzero(kept)
        columns = {names[index]: column for column, index in enumerate(indices)}
        counts = np.bincount(X.indices, minlength=len(columns))
        sums = np.bincount(X.indices, weights=X.data, minlength=len(columns))
        typical = np.where(sums > 0, sums / np.maximum(counts, 1), 1.0)
        n = max(2, vectorizer.n_documents_)
        rarity = np.log(n / np.clip(frequencies, 1, n)) / np.log(n)
        return cls(columns, vectorizer.term_counts, typical, rarity[indices], n_others)

    @classmethod
    def of_names(cls, terms: Sequence[str]) -> TermIndex:
        """Index terms without statistics: all weigh the same, so that a strength is a weight."""
        columns = {term: column for column, term in enumerate(terms)}
        return cls(
            columns, TermVectorizer().term_counts, np.ones(len(columns)), np.ones(len(columns))
        )

    def __len__(self) -> int:
        return len(self.columns) + self.n_others

    def terms_of(self, word: str) -> list[str]:
        """Find the terms of a word or phrase: itself if it is a term, else its longest n-grams."""
        if word in self.columns:
            return [word]
        known = [term for term in self.analyse(word) if term in self.columns]
        known = [
            term
            for term in known
            if not (is_unspaced(term) and any(term in o and term != o for o in known))
        ]
        longest = max((term.count(" ") for term in known), default=0)
        return [term for term in known if term.count(" ") == longest]


@dataclass(frozen=True)
class Coverage:
    """The number of words of the knowledge in the vocabulary of a model, and those missing."""

    used: int = 0
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def n_missing(self) -> int:
        """How many words are not in the vocabulary."""
        return sum(map(len, self.missing.values()))

    def __str__(self) -> str:
        named = [
            f"{word} ({category})" for category, words in self.missing.items() for word in words
        ]
        more = f", and {len(named) - 8} more" if len(named) > 8 else ""
        if named:
            missing = f", {len(named)} not in the vocabulary: {', '.join(named[:8])}{more}"
        else:
            missing = ""
        return f"{self.used} words used{missing}"


class TermPrior(NamedTuple):
    """Mode, scale and sign of the weight of one term; None or 0 where nothing is known."""

    mode: float | None = None
    scale: float | None = None
    sign: int = 0


Row = dict[int, TermPrior]


def apply_knowledge(
    model: Any,
    knowledge: TermKnowledge,
    categories: Sequence[str],
    terms: TermIndex,
    *,
    one_model: bool = False,
) -> tuple[Any, Coverage]:
    """Copy an unfitted linear model with a prior that holds the knowledge; return its coverage.

    See `prior_for`.
    """
    parameters = model.get_params(deep=False)
    if "prior" not in parameters or "link" not in parameters:
        raise ValueError(
            f"a {type(model).__name__} has no prior of weights to put knowledge into; use a "
            "linear model"
        )
    prior, coverage = prior_for(
        knowledge,
        parameters["prior"],
        categories,
        terms,
        link=link_of(parameters["link"]),
        one_model=one_model,
    )
    return clone(model).set_params(prior=prior), coverage


def prior_for(
    knowledge: TermKnowledge,
    base: Any,
    categories: Sequence[str],
    terms: TermIndex | Sequence[str],
    *,
    link: Link | None = None,
    one_model: bool = False,
) -> tuple[Any, Coverage]:
    """Make a prior of the same kind with the modes, scales and signs of the knowledge.

    Parameters
    ----------
    knowledge : without any word in the vocabulary the base prior is returned unchanged
    base : a Laplace or Gaussian prior, or its name; it stays in force for all other weights
    categories : one per row of the prior
    terms : the terms of the model, or only their names
    link : converts strengths, which are log odds, into the unit of the scores
    one_model : whether two categories share one model, in which the second is the positive one

    Examples
    --------
    >>> knowledge = TermKnowledge.from_keywords({"corn": {"corn": 3, "oil": "-"}})
    >>> prior, coverage = prior_for(knowledge, "laplace", ["corn", "gold"], ["corn", "gold", "oil"])
    >>> prior.mode.tolist(), prior.sign.tolist(), coverage.used
    ([[3.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]], 2)
    """
    base = prior_of(base)
    if base.kind not in _SCALES:
        raise ValueError(
            f"knowledge needs a {' or a '.join(_SCALES)} prior, not a {base.kind} one"
        )
    index = terms if isinstance(terms, TermIndex) else TermIndex.of_names(terms)
    unit = math.sqrt(Logit.moderation / (Logit() if link is None else link).moderation)
    rows, coverage = resolve(knowledge, categories, index, unit)
    if one_model:
        rows = [_difference(rows[1], rows[0])]
    return _with_rows(base, rows, len(index)), coverage


def resolve(
    knowledge: TermKnowledge, categories: Iterable[str], index: TermIndex, unit: float = 1.0
) -> tuple[list[Row], Coverage]:
    """List what is known of each column, a row per category; `unit` is the score of log odds 1."""
    knowledge.check_categories(categories := tuple(categories))
    rows: list[Row] = []
    used = 0
    missing = {}
    for category in categories:
        description = knowledge.descriptions.get(category)
        beliefs = knowledge.words.get(category, {})
        described = {} if description is None else _from_description(description, index, unit)
        believed = {
            word: _from_belief(word, belief, index, unit) for word, belief in beliefs.items()
        }
        words = {**described, **believed}
        absent = tuple(word for word, row in words.items() if not row)
        used += len(words) - len(absent)
        if absent:
            missing[category] = absent
        rows.append(_merged(described.values(), believed.values()))
    return rows, Coverage(used, missing)


def _from_description(
    description: Description, index: TermIndex, unit: float
) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for term, count in index.analyse(description.text).items():
        column = index.columns.get(term)
        if column is None:
            rows[term] = {}
            continue
        strength = description.strength * (1.0 + np.log(count)) * index.rarity[column]
        rows[term] = {column: TermPrior(float(strength * unit / index.typical[column]))}
    return rows


def _from_belief(word: str, belief: Belief, index: TermIndex, unit: float) -> Row:
    """Share the strength of a phrase among its terms."""
    terms = index.terms_of(word)
    row: Row = {}
    for term in terms:
        column = index.columns[term]
        mode = belief.mode
        if belief.strength is not None:
            mode = float(belief.strength * unit / (len(terms) * index.typical[column]))
        row[column] = TermPrior(mode, belief.scale, belief.sign)
    return row


def _merged(*sources: Iterable[Row]) -> Row:
    """Merge all words into one row.

    Of several words for one term, later sources win, then the largest mode.
    """
    ranked = [
        (source, abs(term.mode or 0.0), column, term)
        for source, rows in enumerate(sources)
        for row in rows
        for column, term in row.items()
    ]
    merged: Row = {}
    for _, _, column, term in sorted(ranked, key=lambda entry: entry[:3]):
        weaker = merged.get(column, TermPrior())
        mode = weaker.mode if term.mode is None else term.mode
        merged[column] = TermPrior(mode, term.scale or weaker.scale, term.sign or weaker.sign)
    return merged


def _with_rows(base: Prior, rows: list[Row], n_terms: int) -> Any:
    """Put the known values of the rows into the base prior; other parameters stay."""
    name, parameter_of = _SCALES[base.kind]
    entries = [
        (row, column, term)
        for row, columns in enumerate(rows)
        for column, term in columns.items()
    ]
    shape = (len(rows), n_terms)
    changed = {}
    for parameter, values in (
        ("mode", ((row, column, term.mode) for row, column, term in entries)),
        (
            name,
            (
                (row, column, term.scale and parameter_of(term.scale))
                for row, column, term in entries
            ),
        ),
        ("sign", ((row, column, term.sign or None) for row, column, term in entries)),
    ):
        placed = [value for value in values if value[2] is not None]
        if placed:
            changed[parameter] = _filled(getattr(base, parameter), shape, placed)
    if not changed:
        return base
    return replace(base, **changed)  # type: ignore[type-var]


def _filled(
    parameter: Any, shape: tuple[int, int], values: Iterable[tuple[int, int, float | None]]
) -> FloatArray:
    array = np.array(np.broadcast_to(np.asarray(parameter, dtype=np.float64), shape))
    rows, columns, entries = zip(*values, strict=True)
    array[list(rows), list(columns)] = entries
    return array


def _difference(positive: Row, negative: Row) -> Row:
    """Make the row of one model for two categories: evidence for one is against the other."""
    row: Row = {}
    for column in {**positive, **negative}:
        ours = positive.get(column, TermPrior())
        theirs = negative.get(column, TermPrior())
        modes = [
            mode
            for mode in (ours.mode, None if theirs.mode is None else -theirs.mode)
            if mode is not None
        ]
        sign = int(np.sign(ours.sign - theirs.sign)) if ours.sign != theirs.sign else 0
        row[column] = TermPrior(sum(modes) if modes else None, ours.scale or theirs.scale, sign)
    return row
