"""Probit regression with a Gaussian prior."""

from bayesift.models import GaussianPrior, SparseBayesClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "probit, Gaussian prior",
    "bayesift",
    lambda setting, multilabel: SparseBayesClassifier(
        link="probit", prior=GaussianPrior(variance=setting["variance"]), tol=1e-2
    ),
    [{"variance": variance} for variance in (3.0, 10.0, 30.0, 100.0)],
)
