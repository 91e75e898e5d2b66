"""Two logistic regressions and naive Bayes, weighed by held-out documents."""

from bayesift.models import CommitteeClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "Committee",
    "bayesift",
    lambda setting, multilabel: CommitteeClassifier(n_folds=3, **setting),
    [{"variance": 10 * scale, "informed_variance": scale} for scale in (3.0, 10.0)],
)
