"""A support vector machine on naive Bayes features."""

from bayesift.models import NBSVMClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "NBSVM",
    "bayesift",
    lambda setting, multilabel: NBSVMClassifier(**setting),
    [{"C": 0.1}, {"C": 1.0}],
    weighting="binary",
)
