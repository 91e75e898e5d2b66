"""Two logistic regressions and naive Bayes, weighed by held-out documents."""

from bayesift.models import CommitteeClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "Committee",
    "bayesift",
    lambda setting, multilabel: CommitteeClassifier(**setting),
    [{"variance": 30.0, "informed_variance": 3.0}, {"variance": 100.0, "informed_variance": 10.0}],
)
