"""Summaries of corpora."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bayesift.records import Corpus, Document

LARGEST = 10


@dataclass(frozen=True)
class SplitSummary:
    """The counts of one split; `name` is None for documents without a split."""

    name: str | None
    documents: int
    labelled: int
    assignments: int
    title_only: int
    empty: int


@dataclass(frozen=True)
class CategorySummary:
    """A category and its number of documents, in all and by split."""

    name: str
    documents: int
    by_split: dict[str, int]


@dataclass(frozen=True)
class CorpusSummary:
    """The counts of a corpus.

    What it does not have (vectors, dates, a train and a test split) is None.
    """

    name: str
    documents: int
    splits: tuple[SplitSummary, ...]
    categories: int
    shared_categories: int | None
    largest: tuple[CategorySummary, ...]
    without_date: int | None
    terms: int | None
    nonzeros: int | None
    skipped: int
    fingerprint: str

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold."""
        return asdict(self)


def summarise(corpus: Corpus) -> CorpusSummary:
    """Count the documents, splits and categories of a corpus.

    Examples
    --------
    >>> corpus = Corpus((Document("1", "wheat", categories=("grain",), split="train"),), ("grain",))
    >>> summarise(corpus).splits
    (SplitSummary(name='train', documents=1, labelled=1, assignments=1, title_only=0, empty=0),)
    """
    parts: dict[str | None, list[Document]] = {name: [] for name in _ordered(corpus.splits)}
    for document in corpus:
        parts.setdefault(document.split, []).append(document)
    counts = {
        name: Counter(c for d in part for c in d.categories) for name, part in parts.items()
    }
    has_text = corpus.vectors is None
    undated = sum(document.date is None for document in corpus)
    return CorpusSummary(
        name=corpus.name,
        documents=len(corpus),
        splits=tuple(_summarise_split(name, part, has_text) for name, part in parts.items()),
        categories=len(corpus.categories),
        shared_categories=len(counts["train"].keys() & counts["test"].keys())
        if {"train", "test"} <= counts.keys()
        else None,
        largest=_largest(corpus, counts),
        without_date=None if undated == len(corpus) else undated,
        terms=None if corpus.vectors is None else corpus.vectors.shape[1],
        nonzeros=None if corpus.vectors is None else int(corpus.vectors.nnz),
        skipped=len(corpus.problems),
        fingerprint=corpus.fingerprint,
    )


def _ordered(splits: Sequence[str]) -> list[str]:
    """Sort splits: train, validation, test, then others."""
    usual = ["train", "validation", "test"]
    return sorted(splits, key=lambda name: usual.index(name) if name in usual else len(usual))


def _summarise_split(
    name: str | None, documents: Sequence[Document], has_text: bool
) -> SplitSummary:
    return SplitSummary(
        name=name,
        documents=len(documents),
        labelled=sum(bool(d.categories) for d in documents),
        assignments=sum(len(d.categories) for d in documents),
        title_only=sum(bool(d.title.strip()) and not d.text.strip() for d in documents),
        empty=sum(not d.full_text.strip() for d in documents) if has_text else 0,
    )


def _largest(
    corpus: Corpus, counts: dict[str | None, Counter[str]]
) -> tuple[CategorySummary, ...]:
    total = corpus.category_counts()
    leading = counts.get("train", total)
    names = sorted(corpus.categories, key=lambda name: (-leading[name], -total[name], name))[
        :LARGEST
    ]
    return tuple(
        CategorySummary(
            name, total[name], {s: count[name] for s, count in counts.items() if s is not None}
        )
        for name in names
    )
