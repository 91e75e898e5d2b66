"""Explanations: the terms that are evidence for and against the categories of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.classifier.features import TextFeatures
from bayesift.classifier.notebook import explanation_html
from bayesift.classifier.texts import Texts
from bayesift.classifier.word_parts import WordParts, meaning_parts, spelling_parts
from bayesift.errors import DataError

Block = Literal["meaning", "spelling"]

_EXPLAINED = 5
_IN_REPR = 3  # terms of each category in the text of an explanation
_COMPARED = 20_000  # words of the vocabulary among which the nearest are sought


@dataclass(frozen=True, slots=True)
class TermContribution:
    """What one term adds to the log odds of a category; negative values are evidence against it.

    `weight` is that of the term in the text's vector; `deviation` the standard deviation of the
    contribution, if the model keeps its posterior; `inclusion` the probability that the term
    matters to the category, if the model says so. `meaning` is the part of the contribution that
    comes from word vectors, if the model uses them, and where that is the larger part `like` are
    the known words that are nearest by them. `spelling` is the part that comes from n-grams of
    characters.
    """

    term: str
    weight: float
    contribution: float
    deviation: float | None = None
    meaning: float | None = None
    like: tuple[str, ...] = ()
    inclusion: float | None = None
    spelling: float | None = None


@dataclass(frozen=True, slots=True)
class CategoryExplanation:
    """The evidence for and against one category of a text.

    Parameters
    ----------
    score : the probability of the category, or the score of a classifier without probabilities
    threshold : the category is assigned above it; None where the largest score wins
    prior : the log odds without any term
    terms : contributions, the largest in absolute value first
    integrated : the probability averaged over the posterior of the weights, if the model keeps it
    interval : the 90% credible interval of the probability
    """

    category: str
    score: float
    threshold: float | None
    assigned: bool
    prior: float
    terms: tuple[TermContribution, ...]
    integrated: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The explanation of the categories of a text, the most probable first.

    `known` and `unseen` are how many tokens of the text are terms of the model, and how many are
    not; `by_meaning` how many of the latter the word vectors of the model have.
    """

    categories: tuple[CategoryExplanation, ...]
    known: int
    unseen: int
    unseen_terms: tuple[str, ...]
    by_meaning: int = 0

    @property
    def unseen_share(self) -> float:
        """The share of tokens that are not terms of the model."""
        return self.unseen / max(1, self.known + self.unseen)

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold."""
        return {**asdict(self), "unseen_share": self.unseen_share}

    def __repr__(self) -> str:
        parts = []
        for category in self.categories:
            terms = [f"{t.term} {t.contribution:+.2f}" for t in category.terms[:_IN_REPR]]
            decided = "assigned" if category.assigned else "not assigned"
            head = f"{category.category!r} {category.score:.4g} {decided}"
            parts.append(f"{head}: {', '.join(terms)}" if terms else head)
        if self.unseen:
            total = self.known + self.unseen
            parts.append(f"{self.unseen:,} of {total:,} tokens are not known")
        return f"Explanation({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        return explanation_html(self)


def explain_texts(
    classifier: Any, texts: Texts, *, categories: Sequence[Any] | None, top: int
) -> list[Explanation]:
    """Explain categories of texts by a fitted `TextClassifier`; see its `explain`."""
    model = classifier.model_
    if not hasattr(model, "contributions"):
        raise DataError(f"a {type(model).__name__} cannot explain its decisions")
    texts = texts.whole()
    if not texts.n_texts:
        return []
    X = sparse.csr_array(classifier.features_.transform(texts))
    scores = classifier.scores_of(X)
    decisions = classifier.decisions_of(scores)
    thresholds = _thresholds(classifier, scores)
    features = classifier.features_
    names = features.listed_names(X)
    n_terms = X.shape[1] - sum(features.block_sizes().values())
    found = []
    for row, value in enumerate(texts.values):
        text = str(value)
        blocks = _block_parts(features, text, X.shape[1], n_terms)
        explained = []
        columns = _to_explain(classifier.categories_, categories, decisions[row], scores[row])
        for j in sorted(columns, key=lambda j: -scores[row, j]):
            key = j if classifier.multilabel_ else model.classes_[j]
            decision = (
                classifier.categories_[j],
                float(scores[row, j]),
                thresholds[row][j],
                bool(decisions[row, j]),
            )
            explained.append(
                explain_category(model, X[[row]], j, key, decision, names, top, blocks)
            )
        if classifier.embedder_ is not None:
            explained = _with_neighbours(classifier, explained)
        if texts.are_vectors:
            found.append(Explanation(tuple(explained), X[[row]].nnz, 0, ()))
        else:
            found.append(_with_unseen(classifier, text, explained))
    return found


def _with_unseen(
    classifier: Any, text: str, explained: list[CategoryExplanation]
) -> Explanation:
    """Count the words of a text that the model does not know."""
    counts = classifier.vectorizer_.term_counts(text)
    are_known = classifier.features_.knows(counts)
    unseen = {
        term: n for (term, n), known in zip(counts.items(), are_known, strict=True) if not known
    }
    n_unseen = sum(unseen.values())
    by_meaning = 0
    embedder = classifier.embedder_
    if unseen and embedder is not None:
        has_vector = np.any(embedder.vectors_.vectors(unseen), axis=1)
        by_meaning = int(has_vector @ list(unseen.values()))
    return Explanation(
        tuple(explained), sum(counts.values()) - n_unseen, n_unseen, tuple(unseen), by_meaning
    )


def _to_explain(
    names: Sequence[str], wanted: Sequence[Any] | None, decisions: Array, scores: Array
) -> list[int]:
    """Return the columns of the wanted categories, or of the most probable ones."""
    if wanted is None:
        assigned = sorted(np.flatnonzero(decisions), key=lambda j: -scores[j])[:_EXPLAINED]
        return [int(j) for j in {*assigned, np.argmax(scores)}]
    for name in wanted:
        if str(name) not in names:
            raise DataError(f"no category {name!r}; there are: {', '.join(names[:20])}")
    return [names.index(str(name)) for name in wanted]


def _thresholds(classifier: Any, scores: Array) -> list[list[float | None]]:
    """Return the threshold of each category for each text; None where the largest score wins."""
    if not classifier.multilabel_:
        return [[None] * scores.shape[1]] * len(scores)
    thresholds = classifier.estimator_.rule_.thresholds_for(scores)
    listed: list[list[float | None]] = np.broadcast_to(thresholds, scores.shape).tolist()
    return listed


def explain_category(
    model: Any,
    X: sparse.csr_array,
    column: int,
    key: Any,
    decision: tuple[str, float, float | None, bool],
    terms: Mapping[int, str | None],
    top: int,
    blocks: Sequence[tuple[Block, WordParts]] = (),
) -> CategoryExplanation:
    """Explain one category of one text.

    Parameters
    ----------
    X : the vector of the text, a matrix of one row
    column, key : the column of the category in probabilities, and its name in `contributions`
    decision : category, score, threshold and whether it is assigned
    terms, top : the terms of the columns of X (None for a column that words share in), and how many
        to list
    blocks : what words add to the columns that they share in
    """
    contributions, prior = model.contributions(X, key)
    deviations, integrated, interval = None, None, None
    if hasattr(model, "posteriors_"):
        low, high = model.probability_interval(X)
        integrated, interval = (
            model.predict_proba_integrated(X)[0, column],
            (low[0, column], high[0, column]),
        )
        deviations = model.contribution_std(X, key).data
    inclusion = model.inclusion_of(key)[X.indices] if hasattr(model, "inclusion_") else None
    found = [
        TermContribution(
            str(terms[X.indices[i]]),
            float(X.data[i]),
            float(contributions.data[i]),
            None if deviations is None else float(deviations[i]),
            inclusion=None if inclusion is None else float(inclusion[i]),
        )
        for i in range(X.nnz)
        if terms[X.indices[i]] is not None
    ]
    before = float(prior[0])
    for block, words in blocks:
        constant, *parts = model.contributions(words.rows, key)[0].sum(axis=1)
        before += float(constant)
        found = _added(found, block, words.words, parts)
    largest = tuple(sorted(found, key=lambda term: -abs(term.contribution))[:top])
    return CategoryExplanation(
        *decision,
        prior=before,
        terms=largest,
        integrated=None if integrated is None else float(integrated),
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
    )


def _block_parts(
    features: TextFeatures, text: str, n_columns: int, first: int
) -> list[tuple[Block, WordParts]]:
    """Return what the words of a text add to the blocks that they share in, over all columns.

    `first` is the position of the first column behind the terms.
    """
    found: list[tuple[Block, WordParts]] = []
    if features.embedder is not None:
        parts = meaning_parts(features.embedder, text)
        found.append(("meaning", _placed(parts, first, n_columns)))
        first += parts.rows.shape[1]
    if features.characters is not None:
        parts = spelling_parts(features.characters, text)
        found.append(("spelling", _placed(parts, first, n_columns)))
    return found


def _placed(parts: WordParts, first: int, n_columns: int) -> WordParts:
    rows = parts.rows
    moved = sparse.csr_array(
        (rows.data, rows.indices + first, rows.indptr), shape=(rows.shape[0], n_columns)
    )
    return WordParts(parts.words, moved)


def _added(
    terms: list[TermContribution], block: Block, words: list[str], parts: Sequence[float]
) -> list[Any]:
    """Add the contributions of a block to those of the words.

    Words that are no terms have the latter only.
    """
    totals: dict[str, float] = dict.fromkeys(words, 0.0)
    for word, part in zip(words, parts, strict=True):
        totals[word] += float(part)
    joined = []
    for term in terms:
        if term.term in totals:
            value = totals.pop(term.term)
            changes: dict[str, Any] = {"contribution": term.contribution + value, block: value}
            term = replace(term, **changes)
        joined.append(term)
    changed: list[dict[str, Any]] = [
        {"term": word, block: value} for word, value in totals.items() if value
    ]
    return joined + [
        TermContribution(weight=0.0, contribution=fields[block], **fields) for fields in changed
    ]


def _with_neighbours(
    classifier: Any, explained: list[CategoryExplanation]
) -> list[CategoryExplanation]:
    """Add the nearest known words of terms that count more by their meaning than by themselves."""
    listed = {term for category in explained for term in category.terms}
    words = sorted(
        {
            term.term
            for term in listed
            if term.meaning and abs(2 * term.meaning) > abs(term.contribution)
        }
    )
    nearest = classifier.embedder_.vectors_.nearest_of(words, _frequent_words(classifier), n=2)
    near = dict(zip(words, nearest, strict=True))

    def complete(term: TermContribution) -> TermContribution:
        return replace(term, like=tuple(word for word, _ in near.get(term.term, ())))

    return [
        replace(category, terms=tuple(map(complete, category.terms))) for category in explained
    ]


def _frequent_words(classifier: Any) -> list[str]:
    """Return the words of the vocabulary, the most frequent where there are very many."""
    vectorizer = classifier.vectorizer_
    single = np.flatnonzero(vectorizer.ngram_lengths_ == 1)
    order = np.argsort(-vectorizer.document_frequencies_[single], kind="stable")[:_COMPARED]
    return [vectorizer.vocabulary_.names[column] for column in single[order]]
