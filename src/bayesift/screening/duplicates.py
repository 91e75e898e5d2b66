"""Find records of the same publication: candidate pairs, groups, and one record per group.

**Candidates.** Pairs are compared only if they share a key, so that the cost grows with the number
of records and not with its square: the DOI, the PMID, volume and first page, the beginning of the
abstract, or a band of the min-hashes of the title (`bayesift.text.near_copies`). Of a key that many
records share, only neighbours in the order of titles are compared.

**Groups.** Pairs are joined, the most probable first, unless two of their records were compared and
found different.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.special import expit

from bayesift.arrays import IntArray
from bayesift.references import Reference
from bayesift.screening.linkage import MISSING, Fields, compare, fold, log_odds
from bayesift.text.near_copies import band_keys, pairs_with_a_key

JOINING_PROBABILITY = 0.9  # above this records are joined
_MIN_GROUP_PROBABILITY = 0.1  # below this records are never in one group
_ABSTRACT_CHARACTERS = 80


@dataclass(frozen=True)
class Match:
    """Two records, by their places, and the probability that they describe the same publication."""

    first: int
    second: int
    probability: float


@dataclass(frozen=True)
class Duplicates:
    """Groups of records that describe the same publication.

    Parameters
    ----------
    groups : the indices of the records of each publication, in order of first appearance; most have
        one member
    matches : the pairs that joined them
    possible : pairs that were not joined, with a probability between one half and that of joining

    Examples
    --------
    >>> from bayesift.references import Reference
    >>> corn, gold = Reference(title="Corn in Iowa"), Reference(title="Gold mines", doi="10.1/g")
    >>> find_duplicates([corn, gold, Reference(doi="10.1/g")]).groups
    ((0,), (1, 2))
    """

    groups: tuple[tuple[int, ...], ...]
    matches: tuple[Match, ...]
    possible: tuple[Match, ...] = ()

    @property
    def n_removed(self) -> int:
        """How many records are duplicates of another one."""
        return sum(len(group) - 1 for group in self.groups)


def find_duplicates(
    references: Sequence[Reference], *, probability: float = JOINING_PROBABILITY
) -> Duplicates:
    """Group the records that describe the same publication.

    Parameters
    ----------
    references : the records of one or several files
    probability : two records are joined if it is at least as probable that they are the same
    """
    if not 0.5 <= probability <= 1:
        raise ValueError(f"probability must lie between 0.5 and 1, got {probability!r}")
    columns = Fields.of(references)
    first, second = candidate_pairs(columns, references)
    chances = expit(log_odds(compare(columns, first, second)))
    apart = {
        (int(i), int(j))
        for i, j in zip(
            first[chances < _MIN_GROUP_PROBABILITY],
            second[chances < _MIN_GROUP_PROBABILITY],
            strict=True,
        )
    }
    order = np.argsort(-chances, kind="stable")
    order = order[chances[order] >= 0.5]
    groups = _Groups(len(references), apart)
    matches: list[Match] = []
    possible: list[Match] = []
    for pair in order:
        match = Match(int(first[pair]), int(second[pair]), float(chances[pair]))
        joined = match.probability >= probability and groups.join(match.first, match.second)
        (matches if joined else possible).append(match)
    left = tuple(match for match in possible if not groups.together(match.first, match.second))
    return Duplicates(groups.members(), tuple(matches), left)


def merge(references: Sequence[Reference]) -> Reference:
    """Merge a group into one record: the most complete one, with what it lacks from the others.

    The abstract is the longest; keywords, labels, notes and decisions are those of all.

    Examples
    --------
    >>> from bayesift.references import Reference
    >>> one = Reference(title="Corn", doi="10.1/c")
    >>> merged = merge([one, Reference(title="Corn", abstract="About corn.", year=2001)])
    >>> merged.title, merged.doi, merged.abstract, merged.year
    ('Corn', '10.1/c', 'About corn.', 2001)
    """
    if len(references) == 1:
        return references[0]
    best = max(
        references, key=lambda reference: (bool(reference.title), _completeness(reference))
    )
    ranked = [best, *(reference for reference in references if reference is not best)]
    parts = {
        part.name: next(
            (value for r in ranked if (value := getattr(r, part.name))),
            getattr(best, part.name),
        )
        for part in fields(Reference)
        if part.name not in {"id", "format", "file", "line", "fields"}
    }
    parts["abstract"] = max((reference.abstract for reference in ranked), key=len)
    for name in ("keywords", "labels", "notes", "decisions"):
        parts[name] = tuple(
            dict.fromkeys(value for reference in ranked for value in getattr(reference, name))
        )
    return replace(best, **parts)


def candidate_pairs(
    columns: Fields, references: Sequence[Reference]
) -> tuple[IntArray, IntArray]:
    """Find the pairs of records that share a key, each once, the earlier record first."""
    starts = [fold(reference.abstract[:_ABSTRACT_CHARACTERS]) for reference in references]
    known: dict[str, int] = {}
    abstracts = np.array(
        [known.setdefault(text, len(known)) if len(text) > 20 else MISSING for text in starts]
    )
    pages = np.where((columns.volume < 0) | (columns.first_page < 0), MISSING, 0)
    pages = np.where(
        pages == 0,
        columns.volume * (columns.first_page.max(initial=0) + 1) + columns.first_page,
        MISSING,
    )
    keys = [columns.doi, columns.pmid, pages, abstracts, *band_keys(columns.titles)]
    order = np.argsort(
        np.argsort(np.array(columns.title_keys, dtype=object), kind="stable"), kind="stable"
    )
    return pairs_with_a_key(keys, order)


def _completeness(reference: Reference) -> int:
    parts = (
        reference.abstract,
        reference.authors,
        reference.year,
        reference.journal,
        reference.pages,
        reference.doi,
    )
    return sum(bool(part) for part in parts)


class _Groups:
    """Groups that grow by joining (union-find), except where two members are known to be apart."""

    def __init__(self, n: int, apart: set[tuple[int, int]]) -> None:
        self._parent = list(range(n))
        self._members: dict[int, list[int]] = {}
        self._apart = apart

    def join(self, one: int, other: int) -> bool:
        """Join the groups of two records; False if two of their members are apart."""
        a = self._root(one)
        b = self._root(other)
        if a == b:
            return True
        first = self._of(a)
        second = self._of(b)
        if any((min(i, j), max(i, j)) in self._apart for i in first for j in second):
            return False
        a, b = min(a, b), max(a, b)
        self._parent[b] = a
        self._members[a] = sorted(first + second)
        self._members.pop(b, None)
        return True

    def together(self, one: int, other: int) -> bool:
        """Whether two records are in one group."""
        return self._root(one) == self._root(other)

    def members(self) -> tuple[tuple[int, ...], ...]:
        """Return all groups, by their first member."""
        return tuple(
            tuple(self._of(row)) for row in range(len(self._parent)) if self._parent[row] == row
        )

    def _of(self, root: int) -> list[int]:
        return self._members.get(root, [root])

    def _root(self, row: int) -> int:
        while self._parent[row] != row:
            self._parent[row] = self._parent[self._parent[row]]
            row = self._parent[row]
        return row
