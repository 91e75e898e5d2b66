"""Content that tries to break the page."""

import numpy as np

from bayesift.classifier import CategoryWords, WordWeight
from bayesift.evaluation import PrecisionRecallCurve, ReliabilityCurve
from bayesift.evaluation.scores import CategoryScores
from bayesift.report import (
    ComparisonContent,
    Confusion,
    EvaluationContent,
    Fact,
    Measure,
    Mistake,
    Span,
    System,
)

CURVE = PrecisionRecallCurve(np.array([0.9, 0.1]), np.array([1.0, 0.5]), np.array([0.5, 1.0]))
SCRIPT = "<script>document.title='owned'</script>"
NAMES = (
    SCRIPT,
    "\" onmouseover=\"alert(1)' x='",
    "\u202eevil\u202d \u0645\u0631\u062d\u0628\u0627",
    "👩‍👩‍👧‍👦 🔥",
    "a\x00b\x1b[31m\ud800\uffff",
    "</style></title></svg><img src=http://example.org/x onerror=alert(1)>",
    "x" * 1_000_000,
    "",
)


def hostile_evaluation():
    words = tuple(WordWeight(name, 3.0 - i) for i, name in enumerate(NAMES))
    mistakes = [
        Mistake(
            name,
            name,
            i % 2 == 0,
            NAMES[:i],
            NAMES[i:],
            0.9,
            (Span(name), Span(SCRIPT, 2.0)),
            words,
            -1.5,
            0.25,
        )
        for i, name in enumerate((*NAMES, "\n" * 1_000_000))
    ]
    n = len(NAMES)
    return EvaluationContent(
        title=SCRIPT,
        facts=tuple(Fact(name, name) for name in NAMES),
        measures=tuple(
            Measure(name[:99], None if i % 2 else 0.5, name[:99], i > 4)
            for i, name in enumerate(NAMES)
        ),
        categories=tuple(
            CategoryScores(name, i, i, i, 0.5, 0.5, 0.5) for i, name in enumerate(NAMES)
        ),
        curves=dict.fromkeys(NAMES, CURVE),
        decided=dict.fromkeys(NAMES, (0.5, 1.0)),
        reliability={
            SCRIPT: ReliabilityCurve(
                *(np.array([x]) for x in (1.0, 1.0, 10**9, 0.9, 1.0)), 0.95
            )
        },
        confusion=Confusion(NAMES, tuple(tuple(range(n)) for _ in range(n)), n),
        words=tuple(CategoryWords(name, words) for name in NAMES),
        mistakes=tuple(mistakes),
    )


def hostile_comparison():
    measures = (
        Measure(SCRIPT, 0.5, SCRIPT, headline=True),
        Measure("log loss", None, SCRIPT, rising=False),
    )
    systems = tuple(System(name, measures) for name in NAMES)
    symbols = tuple(tuple((SCRIPT, "<<") for _ in NAMES) for _ in NAMES)
    return ComparisonContent(SCRIPT, (Fact(SCRIPT, SCRIPT),), systems, symbols, SCRIPT)
