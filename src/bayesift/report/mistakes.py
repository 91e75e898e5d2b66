"""The wrong decisions of which the model was most certain, and their explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bayesift.arrays import Array
from bayesift.records import Corpus, Document, indicator_of
from bayesift.report.content import Mistake, Span, WordWeight
from bayesift.text.pieces import weighted_pieces

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier


_EXCERPT = 1500
_EXPLAINED_TERMS = 1000
_WRAPPED_LINE = re.compile(r"(?<=[^\n\s])[^\S\n]*\n[^\S\n]*(?=(\w))")


def worst_mistakes(
    classifier: TextClassifier, corpus: Corpus, decisions: Array, scores: Array, n: int = 10
) -> tuple[Mistake, ...]:
    """The n wrong decisions of which the model was most certain, at most one per document."""
    decided = np.asarray(decisions, dtype=bool)
    probable = classifier.has_probabilities_
    found = []
    for i, j in _most_certain(classifier, corpus, decided, np.asarray(scores), n):
        confidence = (scores[i, j] if decided[i, j] else 1 - scores[i, j]) if probable else None
        found.append(_explained_mistake(classifier, corpus, i, j, decided[i], confidence))
    return tuple(found)


def _most_certain(
    classifier: TextClassifier, corpus: Corpus, decided: Array, scores: Array, n: int
) -> Iterator[tuple[int, int]]:
    """Document and category of wrong decisions; of a single label only the wrongly assigned one counts."""
    labels = (document.categories for document in corpus)
    truth = indicator_of(labels, classifier.categories_, skip_unknown=True).toarray().astype(bool)
    wrong = decided & ~truth if not classifier.multilabel_ else decided != truth
    rows, columns = np.nonzero(wrong)
    assigned, given = decided[rows, columns], scores[rows, columns]
    certainty = np.where(assigned, given, (1 if classifier.has_probabilities_ else 0) - given)
    seen: set[int] = set()
    for place in np.argsort(-certainty, kind="stable").tolist():
        if len(seen) == n:
            return
        if rows[place] not in seen:
            seen.add(int(rows[place]))
            yield int(rows[place]), int(columns[place])


def _explained_mistake(
    classifier: TextClassifier, corpus: Corpus, i: int, j: int, decided: Array, confidence: float | None
) -> Mistake:
    document = corpus.documents[i]
    category = classifier.categories_[j]
    contributions, prior, unseen = _explained(classifier, corpus, document, category)
    return Mistake(
        document=document.id,
        category=category,
        assigned=bool(decided[j]),
        truth=document.categories,
        decided=tuple(classifier.categories_[c] for c in np.flatnonzero(decided)),
        confidence=None if confidence is None else float(confidence),
        excerpt=tuple(_spans(classifier, document.full_text, contributions)),
        words=tuple(WordWeight(term, weight) for term, weight in contributions.items() if weight),
        prior=prior,
        unseen_share=unseen,
    )


def _explained(
    classifier: TextClassifier, corpus: Corpus, document: Document, category: str
) -> tuple[dict[str, float], float | None, float]:
    """Contributions of terms, the largest first, prior, and unseen share; empty where the model cannot explain."""
    if corpus.vectors is not None or not hasattr(classifier.estimator_.estimator_, "contributions"):
        return {}, None, 0.0
    explanation = classifier.explain(document.full_text, categories=[category], top=_EXPLAINED_TERMS)
    (explained,) = explanation.categories
    return {term.term: term.contribution for term in explained.terms}, explained.prior, explanation.unseen_share


def _spans(classifier: TextClassifier, text: str, contributions: dict[str, float]) -> Iterator[Span]:
    """The beginning of a text, its words with their contributions; wrapped lines are joined."""
    shown = _WRAPPED_LINE.sub(lambda line: " " if line[1].islower() else line[0], text.lstrip()[:_EXCERPT])
    if not contributions or classifier.vectorizer_ is None:
        yield Span(shown)
        return
    plain = ""
    for piece, contribution in weighted_pieces(classifier.vectorizer_, shown, contributions):
        if contribution:
            if plain:
                yield Span(plain)
            yield Span(piece, contribution)
        plain = "" if contribution else plain + piece
    yield Span(plain)
