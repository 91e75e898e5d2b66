"""Wrong decisions of which the model was surest, and why it made them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.records import Corpus, Document, indicator_of
from bayesift.report.content import Mistake, Span, WordWeight

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier

Array = np.ndarray[Any, Any]

_EXCERPT = 1500
_EXPLAINED_TERMS = 1000
_WORD = re.compile(r"\w+")
_WRAPPED_LINE = re.compile(r"(?<=[^\n\s])[^\S\n]*\n[^\S\n]*(?=(\w))")


def worst_mistakes(
    classifier: TextClassifier, corpus: Corpus, decisions: Array, scores: Array, n: int = 10
) -> tuple[Mistake, ...]:
    """The n wrong decisions of which the model was surest, at most one a document.

    Parameters
    ----------
    classifier : the fitted classifier
    corpus : the documents
    decisions, scores : of `classifier.decide` on them
    n : how many

    Examples
    --------
    >>> from bayesift.classifier import TextClassifier
    >>> texts = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
    >>> classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"])
    >>> corpus = Corpus((Document("1", "corn oil, and corn", categories=("crude",)),), ("crude", "grain"))
    >>> (mistake,) = worst_mistakes(classifier, corpus, *classifier.decide(corpus.texts))
    >>> mistake.category, mistake.truth, mistake.words[0].word, mistake.excerpt[0].text
    ('grain', ('crude',), 'corn', 'corn')
    """
    decided = np.asarray(decisions, dtype=bool)
    probable = classifier.has_probabilities_
    found = []
    for i, j in _surest(classifier, corpus, decided, np.asarray(scores), n):
        confidence = (scores[i, j] if decided[i, j] else 1 - scores[i, j]) if probable else None
        found.append(_mistake(classifier, corpus, i, j, decided[i], confidence))
    return tuple(found)


def _surest(
    classifier: TextClassifier, corpus: Corpus, decided: Array, scores: Array, n: int
) -> Iterator[tuple[int, int]]:
    """Document and category of wrong decisions; of a single label only the wrongly assigned one counts."""
    labels = (document.categories for document in corpus)
    truth = indicator_of(labels, classifier.categories_, skip_unknown=True).toarray().astype(bool)
    wrong = decided & ~truth if not classifier.multilabel_ else decided != truth
    rows, columns = np.nonzero(wrong)
    assigned, given = decided[rows, columns], scores[rows, columns]
    sureness = np.where(assigned, given, (1 if classifier.has_probabilities_ else 0) - given)
    seen: set[int] = set()
    for place in np.argsort(-sureness, kind="stable").tolist():
        if len(seen) == n:
            return
        if rows[place] not in seen:
            seen.add(int(rows[place]))
            yield int(rows[place]), int(columns[place])


def _mistake(
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
    """What each term added, the largest in size first, the prior, and the unseen share of the text.

    Nothing for vectors and for models that cannot explain.
    """
    if corpus.vectors is not None or not hasattr(classifier.estimator_.estimator_, "contributions"):
        return {}, None, 0.0
    explanation = classifier.explain(document.full_text, categories=[category], top=_EXPLAINED_TERMS)
    (explained,) = explanation.categories
    return {term.term: term.contribution for term in explained.terms}, explained.prior, explanation.unseen_share


def _spans(classifier: TextClassifier, text: str, contributions: dict[str, float]) -> Iterator[Span]:
    """The beginning of a text, its words with what their terms added; lines that were only wrapped run on."""
    shown = _WRAPPED_LINE.sub(lambda line: " " if line[1].islower() else line[0], text.lstrip()[:_EXCERPT])
    if not contributions or classifier.vectorizer_ is None:
        yield Span(shown)
        return
    end = 0
    for word in _WORD.finditer(shown):
        terms = classifier.vectorizer_.term_counts(word.group())
        contribution = sum(contributions.get(term, 0.0) for term in terms)
        if contribution:
            if word.start() > end:
                yield Span(shown[end : word.start()])
            yield Span(word.group(), contribution)
            end = word.end()
    yield Span(shown[end:])
