"""Members of every kind, weighed by held-out documents; the four quick ones, or all."""

from bayesift.models import JuryClassifier
from bayesift.models.committee.jury import JURORS
from bayesift.reproduce.leaderboard.contenders import Contender

SEATS = {"four": ("margin", "neighbors", "perceptron", "naive-bayes"), "all six": tuple(JURORS)}

CONTENDER = Contender(
    "Jury",
    "bayesift",
    lambda setting, multilabel: JuryClassifier(n_folds=3, members=SEATS[setting["members"]]),
    [{"members": seats} for seats in SEATS],
)
