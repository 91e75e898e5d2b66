"""The content of a report, from an evaluation or from scores of several systems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayesift.arrays import Array, FloatArray
from bayesift.classifier.top_terms import CategoryWords, WordWeight
from bayesift.errors import DataError
from bayesift.evaluation import (
    PrecisionRecallCurve,
    ReliabilityCurve,
    Scores,
    SignificanceTable,
    reliability_curve,
    top_label_curve,
)
from bayesift.records import Corpus, Document
from bayesift.records.corpus import indicator_of
from bayesift.report.content import (
    ComparisonContent,
    Confusion,
    EvaluationContent,
    Fact,
    Measure,
    Mistake,
    Span,
    System,
)
from bayesift.state import kind_of
from bayesift.text.pieces import weighted_pieces

if TYPE_CHECKING:
    from bayesift.classifier import Evaluation, TextClassifier


_EXCERPT = 1500
_EXPLAINED_TERMS = 1000
_WRAPPED_LINE = re.compile(r"(?<=[^\n\s])[^\S\n]*\n[^\S\n]*(?=(\w))")


def worst_mistakes(
    classifier: TextClassifier,
    corpus: Corpus,
    decisions: Array,
    scores: FloatArray,
    n: int = 10,
) -> tuple[Mistake, ...]:
    """Return the n wrong decisions of which the model was most certain."""
    decided = np.asarray(decisions, dtype=bool)
    probable = classifier.has_probabilities_
    found = []
    for i, j in _most_certain(classifier, corpus, decided, np.asarray(scores), n):
        confidence = None
        if probable:
            confidence = scores[i, j] if decided[i, j] else 1 - scores[i, j]
        found.append(_explained_mistake(classifier, corpus, i, j, decided[i], confidence))
    return tuple(found)


def _most_certain(
    classifier: TextClassifier, corpus: Corpus, decided: Array, scores: FloatArray, n: int
) -> Iterator[tuple[int, int]]:
    """Document and category of wrong decisions.

    Of a single label only the wrongly assigned one counts.
    """
    labels = (document.categories for document in corpus)
    truth = (
        indicator_of(labels, classifier.categories_, skip_unknown=True).toarray().astype(bool)
    )
    wrong = decided & ~truth if not classifier.multilabel_ else decided != truth
    rows, columns = np.nonzero(wrong)
    assigned = decided[rows, columns]
    given = scores[rows, columns]
    certainty = np.where(assigned, given, (1 if classifier.has_probabilities_ else 0) - given)
    seen: set[int] = set()
    for index in np.argsort(-certainty, kind="stable").tolist():
        if len(seen) == n:
            return
        if rows[index] not in seen:
            seen.add(int(rows[index]))
            yield int(rows[index]), int(columns[index])


def _explained_mistake(
    classifier: TextClassifier,
    corpus: Corpus,
    i: int,
    j: int,
    decided: Array,
    confidence: float | None,
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
        words=tuple(
            WordWeight(term, weight) for term, weight in contributions.items() if weight
        ),
        prior=prior,
        unseen_share=unseen,
    )


def _explained(
    classifier: TextClassifier, corpus: Corpus, document: Document, category: str
) -> tuple[dict[str, float], float | None, float]:
    """Contributions of terms, the largest first, prior, and unseen share.

    Empty where the model cannot explain.
    """
    if corpus.vectors is not None or not hasattr(classifier.model_, "contributions"):
        return {}, None, 0.0
    explanation = classifier.explain(
        document.full_text, categories=[category], top=_EXPLAINED_TERMS
    )
    (explained,) = explanation.categories
    return (
        {term.term: term.contribution for term in explained.terms},
        explained.prior,
        explanation.unseen_share,
    )


def _spans(
    classifier: TextClassifier, text: str, contributions: dict[str, float]
) -> Iterator[Span]:
    """Split the beginning of a text into words with their contributions."""
    shown = _WRAPPED_LINE.sub(
        lambda line: " " if line[1].islower() else line[0], text.lstrip()[:_EXCERPT]
    )
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


_LARGEST_CURVES = 5
_SHOWN_CONFUSED = 30


def report_content(
    classifier: TextClassifier,
    evaluation: Evaluation,
    *,
    title: str | None = None,
    n_words: int = 10,
    n_mistakes: int = 10,
) -> EvaluationContent:
    """Gather what the report of one model shows, with n_words for each category and n_mistakes.

    Examples
    --------
    >>> from bayesift.classifier import TextClassifier, evaluate
    >>> from bayesift.records import Document
    >>> texts = {"wheat and corn": "grain", "corn exports": "grain", "crude oil": "crude",
    ...     "oil tankers": "crude"}
    >>> documents = tuple(Document(text, text, categories=(label,)) for text,
    ...     label in texts.items())
    >>> corpus = Corpus(documents, ("crude", "grain"), name="commodities")
    >>> classifier = TextClassifier().fit_corpus(corpus)
    >>> content = report_content(classifier, evaluate(classifier, corpus))
    >>> content.title, content.confusion.counts, content.mistakes
    ('auto on commodities', ((2, 0), (0, 2)), ())
    """
    corpus = evaluation.corpus
    decisions = evaluation.decisions
    scores = evaluation.scores
    truth = evaluation.truth.toarray().astype(bool)
    sizes = np.argsort(-truth.sum(axis=0), kind="stable")
    curves, decided = _curves(
        truth, np.asarray(decisions), np.asarray(scores), classifier.categories_, sizes
    )
    return EvaluationContent(
        title=title or f"{model_name(classifier)} on {corpus.name or 'a corpus'}",
        facts=_facts(classifier, evaluation),
        measures=measures_of(evaluation.measures, multilabel=classifier.multilabel_),
        categories=tuple(row for row in evaluation.measures.categories if row.positives),
        curves=curves,
        decided=decided,
        reliability=_reliability(truth, scores) if classifier.has_probabilities_ else {},
        confusion=confusion_of(classifier, evaluation),
        words=words_of(classifier, n_words, sizes),
        mistakes=worst_mistakes(classifier, corpus, decisions, scores, n_mistakes),
    )


def comparison_content(
    scores: Mapping[str, Scores],
    corpus: Corpus,
    significance: SignificanceTable | None = None,
    *,
    title: str | None = None,
) -> ComparisonContent:
    """Gather what the report of several systems shows."""
    multilabel = not corpus.is_single_label
    symbols: tuple[tuple[tuple[str, str], ...], ...] = ()
    if significance is not None:
        symbols = tuple(
            tuple(significance.symbols(row, column) for column in scores) for row in scores
        )
    corrected = significance is not None and significance.correction == "holm"
    return ComparisonContent(
        title=title or f"{len(scores)} systems on {corpus.name or 'a corpus'}",
        facts=_corpus_facts(corpus),
        systems=tuple(
            System(name, measures_of(of, multilabel=multilabel)) for name, of in scores.items()
        ),
        symbols=symbols,
        note="P-values are corrected for the number of pairs (Holm)." if corrected else "",
    )


def measures_of(scores: Scores, *, multilabel: bool) -> tuple[Measure, ...]:
    """Return the measures of an evaluation, each with its meaning.

    With one category per document, micro precision, recall and F1 all equal the accuracy, which
    alone is shown.
    """
    return (
        *(_several(scores) if multilabel else _single(scores)),
        *_macro(scores),
        *_probabilities(scores),
    )


def _single(scores: Scores) -> tuple[Measure, ...]:
    right = round(scores.accuracy * scores.n_documents)
    meaning = f"{right:,} of {scores.n_documents:,} documents were classified correctly."
    return Measure("accuracy", scores.accuracy, meaning, headline=True), _macro_f1(scores)


def _several(scores: Scores) -> tuple[Measure, ...]:
    micro = scores.micro
    right = sum(row.true_positives for row in scores.categories)
    found = f"{right:,} of {scores.n_positives:,} true categories were assigned."
    assigned = f"{right:,} of {scores.n_assigned:,} assigned categories are correct."
    complete = (
        f"Share of the {scores.n_documents:,} documents whose categories are all "
        "correct and complete."
    )
    return (
        Measure(
            "micro F1",
            micro.f1,
            "Harmonic mean of precision and recall over all decisions.",
            headline=True,
        ),
        Measure("precision", micro.precision, assigned, headline=True),
        Measure("recall", micro.recall, found, headline=True),
        _macro_f1(scores),
        Measure("accuracy", scores.accuracy, complete),
    )


def _macro_f1(scores: Scores) -> Measure:
    present = len(scores.categories) - len(scores.categories_without_documents)
    meaning = (
        f"Mean F1 of the {present:,} categories that have documents; small ones count as much "
        "as large ones."
    )
    return Measure("macro F1", scores.macro.f1, meaning, headline=True)


def _macro(scores: Scores) -> tuple[Measure, ...]:
    nothing = f"{scores.zero_division:g}"
    averages = scores.macro
    assigned = (
        f"Mean precision of these categories; {nothing} for a category that was never assigned."
    )
    found = "Mean recall of these categories."
    return Measure("macro precision", averages.precision, assigned), Measure(
        "macro recall", averages.recall, found
    )


_RANKING = "Quality of the ranking at all thresholds, averaged over categories; 1 is perfect."
_TOP = (
    "Precision among the top R documents of a category with R documents, averaged over "
    "categories."
)
_LOSS = "Negative log probability of the truth; 0 is perfect. Confident mistakes cost most."
_BRIER = "Mean squared error of the probabilities; 0 is perfect."
_TOP_LABEL = (
    "Mean difference between the probability of the top category and how often it is "
    "right; 0 is perfect."
)
_CALIBRATION = (
    "Mean difference between predicted probability and observed frequency, over all "
    "categories; 0 is perfect."
)


def _probabilities(scores: Scores) -> tuple[Measure, ...]:
    measured = scores.probabilities
    if measured is None:
        return ()
    return (
        Measure("average precision", measured.average_precision, _RANKING),
        Measure("R-precision", measured.r_precision, _TOP),
        Measure("log loss", measured.log_loss, _LOSS, rising=False),
        Measure("Brier score", measured.brier_score, _BRIER, rising=False),
        Measure(
            "ECE (top label)",
            measured.top_label_calibration_error_width,
            _TOP_LABEL,
            rising=False,
        ),
        Measure(
            "ECE (all categories)", measured.calibration_error_width, _CALIBRATION, rising=False
        ),
    )


def model_name(classifier: TextClassifier) -> str:
    """Return the name of the model, as users write it or by its kind."""
    if isinstance(classifier.model, str):
        return classifier.model
    model = classifier.model_
    return kind_of(model) or type(model).__name__


def _facts(classifier: TextClassifier, evaluation: Evaluation) -> tuple[Fact, ...]:
    trained = classifier.corpus_
    rule = type(classifier.estimator_.rule_).__name__
    facts = [
        Fact("model", model_name(classifier)),
        Fact(
            "decision rule",
            f"{rule} thresholds" if classifier.multilabel_ else "the most probable category",
        ),
        Fact(
            "vocabulary",
            f"{len(classifier.terms()):,} terms, {len(classifier.categories_):,} categories",
        ),
    ]
    if trained:
        facts.append(
            Fact(
                "trained on",
                f"{trained['name'] or 'a corpus'}, {trained['documents']:,} documents",
            )
        )
    facts += quality_facts(classifier)
    facts += _corpus_facts(evaluation.corpus)
    if evaluation.unknown_labels:
        facts.append(Fact("unknown labels", evaluation.describe_unknown()))
    if evaluation.measures.categories_without_documents:
        facts.append(Fact("absent categories", evaluation.measures.describe_absent()))
    return tuple(facts)


def quality_facts(classifier: TextClassifier) -> list[Fact]:
    """Return what documents held out in `fit` tell: quality, repeated texts, later quality."""
    quality = classifier.expected_quality_
    if quality is None:
        return []
    held_out = f"95% interval in brackets; {quality.n_documents:,} documents held out"
    facts = [Fact("expected quality", f"{quality} ({held_out})")]
    if quality.repeats is not None and quality.repeats.n_repeated:
        facts.append(Fact("repeated texts", str(quality.repeats)))
    if quality.later is not None:
        later = f"{quality.later} (the {quality.later.n_documents:,} latest documents)"
        facts.append(Fact("quality on later texts", later))
    return facts


def _corpus_facts(corpus: Corpus) -> tuple[Fact, ...]:
    splits = f" ({', '.join(corpus.splits)})" if corpus.splits else ""
    labels = sum(len(document.categories) for document in corpus)
    if corpus.is_single_label:
        per_document = "one per document"
    else:
        per_document = f"{labels / max(1, len(corpus)):.2f} per document"
    return (
        Fact("evaluated on", f"{corpus.name or 'a corpus'}{splits}, {len(corpus):,} documents"),
        Fact("categories", f"{len(corpus.categories):,}, {per_document}"),
    )


def _curves(
    truth: Array,
    decisions: Array,
    scores: FloatArray,
    categories: tuple[str, ...],
    sizes: Array,
) -> tuple[dict[str, PrecisionRecallCurve], dict[str, tuple[float, float]]]:
    """Draw precision-recall curves of all decisions and of the largest categories.

    Points show where the decisions lie.
    """
    parts = {"all decisions": (truth.ravel(), decisions.ravel().astype(bool), scores.ravel())}
    for j in sizes[:_LARGEST_CURVES]:
        if truth[:, j].any():
            parts[categories[j]] = (truth[:, j], decisions[:, j].astype(bool), scores[:, j])
    curves = {
        name: PrecisionRecallCurve.of(true, given) for name, (true, _, given) in parts.items()
    }
    decided = {}
    for name, (true, assigned, _) in parts.items():
        right = float((true & assigned).sum())
        if assigned.any():
            decided[name] = (right / max(1, true.sum()), right / assigned.sum())
    return curves, decided


def _reliability(truth: Array, scores: FloatArray) -> dict[str, ReliabilityCurve]:
    return {
        "all categories": reliability_curve(truth, scores),
        "top label": top_label_curve(truth, scores),
    }


def confusion_of(
    classifier: TextClassifier, evaluation: Evaluation, n_categories: int = _SHOWN_CONFUSED
) -> Confusion | None:
    """Count true against decided categories, of the most confused ones.

    None where texts may have several labels.
    """
    corpus = evaluation.corpus
    if classifier.multilabel_ or not corpus.is_single_label:
        return None
    names = [*classifier.categories_, *sorted(set(corpus.labels) - set(classifier.categories_))]
    index = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(
        counts,
        ([index[label] for label in corpus.labels], np.argmax(evaluation.decisions, axis=1)),
        1,
    )
    mistakes = counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diag(counts)
    shown = np.sort(np.argsort(-mistakes, kind="stable")[:n_categories])
    kept = counts[np.ix_(shown, shown)].tolist()
    return Confusion(tuple(names[i] for i in shown), tuple(map(tuple, kept)), len(names))


def words_of(
    classifier: TextClassifier, n_words: int, sizes: Array
) -> tuple[CategoryWords, ...]:
    """Return the words of the categories, the largest first; none without weights."""
    try:
        found = classifier.top_terms(n_words)
    except DataError:
        return ()
    return tuple(found[j] for j in sizes if found[j].words)
