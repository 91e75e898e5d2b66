"""Explanations: the terms that are evidence for and against the categories of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from bayesift.arrays import Array
from bayesift.classifier.notebook import explanation_html
from bayesift.classifier.texts import read_texts
from bayesift.errors import DataError

_EXPLAINED = 5


@dataclass(frozen=True, slots=True)
class TermContribution:
    """What one term adds to the log odds of a category; negative values are evidence against it.

    `weight` is that of the term in the text's vector; `deviation` the standard deviation of the contribution, if the
    model keeps its posterior; `inclusion` the probability that the term matters to the category, if the model says so.
    """

    term: str
    weight: float
    contribution: float
    deviation: float | None = None
    inclusion: float | None = None


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


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of the categories of a text, the most probable first.

    `known` and `unseen` are how many tokens of the text are terms of the model, and how many are not.
    """

    categories: tuple[CategoryExplanation, ...]
    known: int
    unseen: int
    unseen_terms: tuple[str, ...]

    @property
    def unseen_share(self) -> float:
        """The share of tokens that are not terms of the model."""
        return self.unseen / max(1, self.known + self.unseen)

    def as_dict(self) -> dict[str, Any]:
        """A dictionary that JSON can hold."""
        return {**asdict(self), "unseen_share": self.unseen_share}

    def _repr_html_(self) -> str:
        return explanation_html(self)


def explain_text(classifier: Any, text: str, *, categories: Sequence[Any] | None, top: int) -> Explanation:
    """Explain categories of a text by a fitted `TextClassifier`; see its `explain`."""
    check_is_fitted(classifier)
    (text,) = read_texts([text], columns=classifier.text_columns_).values
    X = classifier.vectors([text])
    model = classifier.estimator_.estimator_
    if not hasattr(model, "contributions"):
        raise DataError(f"a {type(model).__name__} cannot explain its decisions")
    scores = classifier.scores_of(X)
    decisions = classifier.decisions_of(scores)
    columns = _to_explain(classifier.categories_, categories, decisions[0], scores[0])
    thresholds, terms = _thresholds(classifier, scores), classifier.terms()
    explained = []
    for j in sorted(columns, key=lambda j: -scores[0, j]):
        key = j if classifier.multilabel_ else model.classes_[j]
        decision = (classifier.categories_[j], float(scores[0, j]), thresholds[j], bool(decisions[0, j]))
        explained.append(explain_category(model, X, j, key, decision, terms, top))
    counts = classifier.vectorizer_.term_counts(text)
    known = set(terms)
    unseen = {term: n for term, n in counts.items() if term not in known}
    n_unseen = sum(unseen.values())
    return Explanation(tuple(explained), sum(counts.values()) - n_unseen, n_unseen, tuple(unseen))


def _to_explain(names: Sequence[str], wanted: Sequence[Any] | None, decisions: Array, scores: Array) -> list[int]:
    """The columns of the categories that are wanted, or of the most probable ones."""
    if wanted is None:
        assigned = sorted(np.flatnonzero(decisions), key=lambda j: -scores[j])[:_EXPLAINED]
        return [int(j) for j in {*assigned, np.argmax(scores)}]
    for name in wanted:
        if str(name) not in names:
            raise DataError(f"no category {name!r}; there are: {', '.join(names[:20])}")
    return [names.index(str(name)) for name in wanted]


def _thresholds(classifier: Any, scores: Array) -> list[float | None]:
    """The threshold of each category; None where the largest score wins."""
    if not classifier.multilabel_:
        return [None] * len(classifier.categories_)
    thresholds = np.broadcast_to(classifier.estimator_.rule_.thresholds_for(scores), scores.shape)[0]
    return [float(threshold) for threshold in thresholds]


def explain_category(
    model: Any,
    X: sparse.csr_array,
    column: int,
    key: Any,
    decision: tuple[str, float, float | None, bool],
    terms: Sequence[str],
    top: int,
) -> CategoryExplanation:
    """Explain one category of one text.

    Parameters
    ----------
    X : the vector of the text, a matrix of one row
    column, key : the column of the category in probabilities, and its name in `contributions`
    decision : category, score, threshold and whether it is assigned
    terms, top : the terms of the columns of X, and how many to list
    """
    contributions, prior = model.contributions(X, key)
    deviations, integrated, interval = None, None, None
    if hasattr(model, "posteriors_"):
        low, high = model.probability_interval(X)
        integrated, interval = model.predict_proba_integrated(X)[0, column], (low[0, column], high[0, column])
        deviations = model.contribution_std(X, key).data
    inclusion = None
    if hasattr(model, "inclusion_"):
        inclusion = model.inclusion_of(key)[X.indices]
    largest = tuple(
        TermContribution(
            terms[X.indices[i]],
            float(X.data[i]),
            float(contributions.data[i]),
            None if deviations is None else float(deviations[i]),
            None if inclusion is None else float(inclusion[i]),
        )
        for i in np.argsort(-np.abs(contributions.data), kind="stable")[:top]
    )
    return CategoryExplanation(
        *decision,
        prior=float(prior[0]),
        terms=largest,
        integrated=None if integrated is None else float(integrated),
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
    )
