"""Logistic regression with a Gaussian prior."""

from bayesift.models import GaussianPrior, SparseBayesClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "logistic, Gaussian prior",
    "bayesift",
    lambda setting, multilabel: SparseBayesClassifier(prior=GaussianPrior(variance=setting["variance"]), tol=1e-2),
    [{"variance": variance} for variance in (10.0, 30.0, 100.0, 300.0)],
)
