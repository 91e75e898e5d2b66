"""Logistic regression with a Laplace prior."""

from bayesift.models import LaplacePrior, SparseBayesClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "logistic, Laplace prior",
    "bayesift",
    lambda setting, multilabel: SparseBayesClassifier(prior=LaplacePrior(gamma=setting["gamma"]), tol=1e-2),
    [{"gamma": gamma} for gamma in (0.01, 0.04, 0.16)],
)
