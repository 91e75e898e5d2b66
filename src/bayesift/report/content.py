"""What a report shows, as plain values: pages are made of these alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bayesift.classifier.top_terms import CategoryWords, WordWeight
from bayesift.evaluation import PrecisionRecallCurve, ReliabilityCurve
from bayesift.evaluation.scores import CategoryScores

_EXCERPT = 700
_SHOWN_WORDS = 6
_BLANKS = re.compile(r"[^\S\n]+|\n\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Fact:
    """One line about what was evaluated."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of an evaluation (None if not measured), and its meaning in a sentence."""

    name: str
    value: float | None
    meaning: str
    headline: bool = False  # whether it is shown large
    rising: bool = True  # whether more is better


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often a document of one category (row) was assigned to another (column).

    There are `n_categories` in all.

    Examples
    --------
    >>> Confusion(("ham", "spam"), ((9, 1), (3, 5)), n_categories=2).largest()
    [('spam', 'ham', 3), ('ham', 'spam', 1)]
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    n_categories: int

    def largest(self, limit: int = 10) -> list[tuple[str, str, int]]:
        """Return true category, assigned category and count of the most frequent mistakes."""
        found = [
            (self.categories[i], self.categories[j], count)
            for i, row in enumerate(self.counts)
            for j, count in enumerate(row)
            if i != j and count
        ]
        return sorted(found, key=lambda entry: -entry[2])[:limit]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text and its contribution to the log odds."""

    text: str
    contribution: float = 0.0


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong decision of which the model was certain.

    Parameters
    ----------
    category, assigned : the category, and whether it was wrongly assigned; otherwise it was missed
    truth, decided : the categories of the document, and those the model assigned
    confidence : probability of the wrong decision; None without probabilities
    words : contributions to the log odds of the category, the largest in size first
    prior : the log odds of the category before any word is read; None where the decision was not
        explained
    unseen_share : the share of the text that the model does not know
    """

    document: str
    category: str
    assigned: bool
    truth: tuple[str, ...]
    decided: tuple[str, ...]
    confidence: float | None
    excerpt: tuple[Span, ...]
    words: tuple[WordWeight, ...] = ()
    prior: float | None = None
    unseen_share: float = 0.0

    def largest_weight(self) -> float:
        """Return the size of the largest contribution of a word."""
        return max((abs(word.weight) for word in self.words), default=1.0)

    def words_for(self) -> list[WordWeight]:
        """Return the words that count most for the category."""
        return [word for word in self.words if word.weight > 0][:_SHOWN_WORDS]

    def words_against(self) -> list[WordWeight]:
        """Return the words that count most against the category."""
        return [word for word in self.words if word.weight < 0][:_SHOWN_WORDS]

    def shown_excerpt(self) -> Iterator[Span]:
        """Return the excerpt up to the length a page shows, with runs of blanks made one."""
        left = _EXCERPT
        for span in self.excerpt:
            # A span may hold a megabyte: only its beginning is looked at.
            text = _BLANKS.sub(
                lambda blank: "\n" if "\n" in blank.group() else " ", span.text[: 4 * _EXCERPT]
            )
            if len(text) > left:
                yield Span(text[:left].rstrip() + " …", span.contribution)
                return
            left -= len(text)
            if text:
                yield Span(text, span.contribution)


@dataclass(frozen=True, slots=True)
class EvaluationContent:
    """All that the report of one evaluated model shows; what is empty or None is left out.

    `decided` holds recall and precision of the decisions, by the name of their curve; `reliability`
    the curves of all categories and of the top label.
    """

    title: str
    facts: tuple[Fact, ...]
    measures: tuple[Measure, ...]
    categories: tuple[CategoryScores, ...]
    curves: Mapping[str, PrecisionRecallCurve] = field(
        default_factory=lambda: MappingProxyType({})
    )
    decided: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    reliability: Mapping[str, ReliabilityCurve] = field(
        default_factory=lambda: MappingProxyType({})
    )
    confusion: Confusion | None = None
    words: tuple[CategoryWords, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """One of several compared systems and its measures."""

    name: str
    measures: tuple[Measure, ...]


@dataclass(frozen=True, slots=True)
class ComparisonContent:
    """All that the report of several systems shows.

    Parameters
    ----------
    systems : at least one; a measure that only some of them have is shown for those
    symbols : what the micro and the macro sign test say of a row's system against a column's; may
        be empty
    note : how the tests were made
    """

    title: str
    facts: tuple[Fact, ...]
    systems: tuple[System, ...]
    symbols: tuple[tuple[tuple[str, str], ...], ...] = ()
    note: str = ""

    def measures(self) -> list[Measure]:
        """Return the measures that at least one system has."""
        return list(
            {
                measure.name: measure
                for system in self.systems[::-1]
                for measure in system.measures
            }.values()
        )

    def values(self, name: str) -> list[float | None]:
        """Return a measure of every system; None where it has no such measure."""
        return [
            next((m.value for m in system.measures if m.name == name), None)
            for system in self.systems
        ]

    def best(self, measure: Measure) -> float | None:
        """Return the best value of a measure; None where there is nothing to compare."""
        values = [value for value in self.values(measure.name) if value is not None]
        if len(self.systems) < 2 or not values:
            return None
        return max(values) if measure.rising else min(values)
