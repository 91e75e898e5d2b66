"""The content of a report, from a classifier, a corpus and what it decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift.errors import DataError
from bayesift.evaluation import (
    PrecisionRecallCurve,
    Scores,
    SignificanceTable,
    reliability_curve,
)
from bayesift.records import Corpus
from bayesift.report.charts import N_SERIES
from bayesift.report.content import (
    CategoryRow,
    CategoryWords,
    ComparisonContent,
    Confusion,
    Curve,
    EvaluationContent,
    Fact,
    ReliabilityBin,
    System,
)
from bayesift.report.meanings import measures_of
from bayesift.report.top_terms import top_terms
from bayesift.report.worst_mistakes import worst_mistakes

if TYPE_CHECKING:
    from bayesift.classifier import Evaluation, TextClassifier

Array = np.ndarray[Any, Any]

_CURVE_POINTS = 300
_SHOWN_CONFUSED = 30


def report_content(
    classifier: TextClassifier,
    evaluation: Evaluation,
    *,
    title: str | None = None,
    n_words: int = 10,
    n_mistakes: int = 10,
) -> EvaluationContent:
    """Gather what the report of one model shows.

    Parameters
    ----------
    classifier : the fitted classifier
    evaluation : of `bayesift.classifier.evaluate`
    title : of the page
    n_words : how many words to show for each category
    n_mistakes : how many mistakes to show

    Examples
    --------
    >>> from bayesift.classifier import TextClassifier, evaluate
    >>> from bayesift.records import Document
    >>> texts = {"wheat and corn": "grain", "corn exports": "grain", "crude oil": "crude", "oil tankers": "crude"}
    >>> documents = tuple(Document(text, text, categories=(label,)) for text, label in texts.items())
    >>> corpus = Corpus(documents, ("crude", "grain"), name="commodities")
    >>> classifier = TextClassifier().fit_corpus(corpus)
    >>> content = report_content(classifier, evaluate(classifier, corpus))
    >>> content.title, content.confusion.counts, content.mistakes
    ('naive-bayes on commodities', ((2, 0), (0, 2)), ())
    """
    corpus, decisions, scores = evaluation.corpus, evaluation.decisions, evaluation.scores
    truth = evaluation.truth.toarray().astype(bool)
    categories = classifier.categories_
    sizes = np.argsort(-truth.sum(axis=0), kind="stable")
    return EvaluationContent(
        title=title or f"{_model_name(classifier)} on {corpus.name or 'a corpus'}",
        facts=_facts(classifier, corpus),
        measures=measures_of(evaluation.measures, multilabel=classifier.multilabel_),
        categories=_category_rows(evaluation.measures),
        curves=_curves(truth, np.asarray(decisions), np.asarray(scores), categories, sizes),
        reliability=_reliability(truth, scores) if classifier.has_probabilities_ else (),
        confusion=_confusion(classifier, corpus, decisions),
        words=_words(classifier, n_words, sizes),
        mistakes=worst_mistakes(classifier, corpus, decisions, scores, n_mistakes),
    )


def comparison_content(
    scores: Mapping[str, Scores],
    corpus: Corpus,
    significance: SignificanceTable | None = None,
    *,
    title: str | None = None,
) -> ComparisonContent:
    """Gather what the report of several systems shows.

    Examples
    --------
    >>> from bayesift.evaluation import evaluate_decisions
    >>> from bayesift.records import Document
    >>> corpus = Corpus((Document("1", "oil", categories=("crude",)),), ("crude", "grain"), name="one")
    >>> scores = evaluate_decisions([[1, 0]], [[1, 0]], categories=corpus.categories)
    >>> content = comparison_content({"a": scores, "b": scores}, corpus)
    >>> content.title, [system.name for system in content.systems]
    ('2 systems on one', ['a', 'b'])
    """
    multilabel = not corpus.is_single_label
    symbols: tuple[tuple[tuple[str, str], ...], ...] = ()
    if significance is not None:
        symbols = tuple(tuple(significance.symbols(row, column) for column in scores) for row in scores)
    corrected = significance is not None and significance.correction == "holm"
    return ComparisonContent(
        title=title or f"{len(scores)} systems on {corpus.name or 'a corpus'}",
        facts=_corpus_facts(corpus),
        systems=tuple(System(name, measures_of(of, multilabel=multilabel)) for name, of in scores.items()),
        symbols=symbols,
        note="P-values are corrected for the number of pairs (Holm)." if corrected else "",
    )


def _model_name(classifier: TextClassifier) -> str:
    return classifier.model if isinstance(classifier.model, str) else type(classifier.estimator_.estimator_).__name__


def _facts(classifier: TextClassifier, corpus: Corpus) -> tuple[Fact, ...]:
    trained = classifier.corpus_
    rule = type(classifier.estimator_.rule_).__name__
    facts = [
        Fact("model", _model_name(classifier)),
        Fact("decides by", f"{rule} thresholds" if classifier.multilabel_ else "the most probable category"),
        Fact("knows", f"{len(classifier.terms()):,} terms, {len(classifier.categories_):,} categories"),
    ]
    if trained:
        facts.append(Fact("trained on", f"{trained['name'] or 'a corpus'}, {trained['documents']:,} documents"))
    unknown = set(corpus.categories) - set(classifier.categories_)
    if unknown:
        facts.append(Fact("cannot know", f"{len(unknown):,} categories that its training documents did not have"))
    return (*facts, *_corpus_facts(corpus))


def _corpus_facts(corpus: Corpus) -> tuple[Fact, ...]:
    splits = f" ({', '.join(corpus.splits)})" if corpus.splits else ""
    labels = sum(len(document.categories) for document in corpus)
    per_document = "one each" if corpus.is_single_label else f"{labels / max(1, len(corpus)):.2f} a document"
    return (
        Fact("measured on", f"{corpus.name or 'a corpus'}{splits}, {len(corpus):,} documents"),
        Fact("categories", f"{len(corpus.categories):,}, {per_document}"),
    )


def _category_rows(measured: Scores) -> tuple[CategoryRow, ...]:
    return tuple(
        CategoryRow(row.category, row.positives, row.assigned, row.precision, row.recall, row.f1, row.average_precision)
        for row in measured.categories
    )


def _curves(
    truth: Array, decisions: Array, scores: Array, categories: tuple[str, ...], sizes: Array
) -> tuple[Curve, ...]:
    """All decisions together, then the largest categories."""
    pooled = _curve("all decisions", truth.ravel(), decisions.ravel(), scores.ravel())
    largest = [j for j in sizes[: N_SERIES - 1] if truth[:, j].any()]
    return (pooled, *(_curve(categories[j], truth[:, j], decisions[:, j], scores[:, j]) for j in largest))


def _curve(name: str, truth: Array, decisions: Array, scores: Array) -> Curve:
    curve = PrecisionRecallCurve.of(truth, scores)
    # So many points as a screen can show: the first cut that reaches each recall.
    places = np.searchsorted(curve.recall, np.linspace(0, 1, _CURVE_POINTS) * curve.recall[-1])
    kept = np.unique(np.append(places[1:], 0))
    right = float((truth & decisions.astype(bool)).sum())
    decided = (right / max(1, truth.sum()), right / decisions.sum()) if decisions.any() else None
    recall, precision = curve.recall[kept].tolist(), curve.precision[kept].tolist()
    return Curve(name, tuple(recall), tuple(precision), curve.average_precision, decided)


def _reliability(truth: Array, probabilities: Array) -> tuple[ReliabilityBin, ...]:
    curve = reliability_curve(truth, probabilities)
    columns = (curve.mean_probability, curve.share_positive, curve.lower, curve.upper, curve.count)
    return tuple(ReliabilityBin(*row) for row in zip(*(column.tolist() for column in columns), strict=True))


def _confusion(classifier: TextClassifier, corpus: Corpus, decisions: Array) -> Confusion | None:
    """Counts of true against decided categories, of the most confused ones."""
    if classifier.multilabel_ or not corpus.is_single_label:
        return None
    names = [*classifier.categories_, *sorted(set(corpus.labels) - set(classifier.categories_))]
    place = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, ([place[label] for label in corpus.labels], np.argmax(decisions, axis=1)), 1)
    mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
    shown = np.sort(np.argsort(-mistakes, kind="stable")[:_SHOWN_CONFUSED])
    kept = counts[np.ix_(shown, shown)].tolist()
    return Confusion(tuple(names[i] for i in shown), tuple(map(tuple, kept)), len(names))


def _words(classifier: TextClassifier, n_words: int, sizes: Array) -> tuple[CategoryWords, ...]:
    """The words of the categories, the largest first; none for models that cannot tell."""
    try:
        found = top_terms(classifier, n_words)
    except DataError:
        return ()
    return tuple(found[j] for j in sizes if found[j].words)
