"""Members of every kind, weighed by held-out documents; the quick ones, or all."""

from bayesift.models import JuryClassifier
from bayesift.models.committee.jury import JURORS
from bayesift.reproduce.leaderboard.contenders import Contender

QUICK = ("margin", "neighbors", "perceptron", "naive-bayes")

CONTENDER = Contender(
    "Jury",
    "bayesift",
    lambda setting, multilabel: JuryClassifier(n_folds=3, **setting),
    [{"members": QUICK}, {"members": tuple(JURORS)}],
)
