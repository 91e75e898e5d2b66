"""Measures in plain language, with the numbers of the evaluation at hand."""

from __future__ import annotations

from bayesift.evaluation import Scores
from bayesift.report.content import Measure


def measures_of(scores: Scores, *, multilabel: bool) -> tuple[Measure, ...]:
    """The measures of an evaluation, each with a sentence; those that say nothing new are left out.

    With one category a document, micro precision, recall and F1 all equal the accuracy, which alone is shown.

    Examples
    --------
    >>> from bayesift.evaluation import evaluate_decisions
    >>> scores = evaluate_decisions(["ham", "spam", "ham"], ["ham", "ham", "ham"], categories=["ham", "spam"])
    >>> [measure.name for measure in measures_of(scores, multilabel=False)]
    ['accuracy', 'macro F1', 'macro precision', 'macro recall']
    >>> measures_of(scores, multilabel=False)[0].meaning
    '2 of 3 documents were decided right.'
    """
    return (*(_several(scores) if multilabel else _single(scores)), *_macro(scores), *_probabilities(scores))


def _single(scores: Scores) -> tuple[Measure, ...]:
    right = round(scores.accuracy * scores.n_documents)
    meaning = f"{right:,} of {scores.n_documents:,} documents were decided right."
    return Measure("accuracy", scores.accuracy, meaning, headline=True), _macro_f1(scores)


def _several(scores: Scores) -> tuple[Measure, ...]:
    micro = scores.micro
    right = sum(row.true_positives for row in scores.categories)
    return (
        Measure(
            "micro F1", micro.f1, "Precision and recall in one number (their harmonic mean), over all decisions.", True
        ),
        Measure(
            "precision", micro.precision, f"{right:,} of {scores.n_assigned:,} assigned categories are right.", True
        ),
        Measure("recall", micro.recall, f"{right:,} of {scores.n_positives:,} true categories were found.", True),
        _macro_f1(scores),
        Measure(
            "accuracy",
            scores.accuracy,
            f"The share of the {scores.n_documents:,} documents whose categories are all right and none is missing.",
        ),
    )


def _macro_f1(scores: Scores) -> Measure:
    meaning = f"F1 averaged over {len(scores.categories):,} categories, small ones counting as much as large ones."
    return Measure("macro F1", scores.macro.f1, meaning, headline=True)


def _macro(scores: Scores) -> tuple[Measure, ...]:
    return (
        Measure(
            "macro precision",
            scores.macro.precision,
            f"The precision of each category, averaged; {scores.zero_division:g} where nothing was assigned.",
        ),
        Measure(
            "macro recall",
            scores.macro.recall,
            f"The recall of each category, averaged; {scores.zero_division:g} where no document belongs to it.",
        ),
    )


def _probabilities(scores: Scores) -> tuple[Measure, ...]:
    measured = scores.probabilities
    if measured is None:
        return ()
    return (
        Measure(
            "average precision",
            measured.average_precision,
            "How well documents are ranked, whatever the threshold, averaged over categories; 1 is perfect.",
        ),
        Measure(
            "R-precision",
            measured.r_precision,
            "Precision among as many top documents as a category truly has, averaged over categories.",
        ),
        Measure(
            "log loss",
            measured.log_loss,
            "Surprise at the truth: 0 is sure and right. Confident mistakes cost most.",
            rising=False,
        ),
        Measure(
            "Brier score", measured.brier_score, "Mean squared error of the probabilities; 0 is perfect.", rising=False
        ),
        Measure(
            "calibration error",
            measured.calibration_error_width,
            "How far probabilities lie from the shares that came true, on average; 0 is perfect.",
            rising=False,
        ),
    )
