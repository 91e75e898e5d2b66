"""Naive Bayes mixed with a support vector machine."""

from bayesift.models import HybridClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "naive Bayes and SVM mixed",
    "bayesift",
    lambda setting, multilabel: HybridClassifier(validation=0.2, **setting),
    [{"keep": 0.5}, {"keep": 1.0}],
)
