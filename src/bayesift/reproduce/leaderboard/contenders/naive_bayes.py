"""Naive Bayes with its smoothings."""

from collections.abc import Callable
from typing import Any

from bayesift.models import Dirichlet, JelinekMercer, NaiveBayesClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

SMOOTHINGS: dict[str, Callable[[float], Any]] = {"jelinek-mercer": JelinekMercer, "dirichlet": Dirichlet}

CONTENDER = Contender(
    "naive Bayes",
    "bayesift",
    lambda setting, multilabel: NaiveBayesClassifier(smoothing=SMOOTHINGS[setting["smoothing"]](setting["strength"])),
    [
        *({"smoothing": "jelinek-mercer", "strength": strength} for strength in (0.5, 0.8, 0.95)),
        *({"smoothing": "dirichlet", "strength": strength} for strength in (1000.0, 10_000.0)),
    ],
    weighting="tf",
)
