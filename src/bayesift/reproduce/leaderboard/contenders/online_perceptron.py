"""The Bayesian online perceptron, variances only."""

from bayesift.models import OnlinePerceptron
from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.documents import InRandomOrder

CONTENDER = Contender(
    "online perceptron",
    "bayesift",
    lambda setting, multilabel: InRandomOrder(OnlinePerceptron(covariance="diagonal", **setting)),
    [{"prior_variance": variance, "passes": passes} for variance in (4.0, 16.0) for passes in (1, 3)],
)
