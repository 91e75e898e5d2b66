"""The mean document of each category."""

from bayesift.models import RocchioClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender("Rocchio", "bayesift", lambda setting, multilabel: RocchioClassifier(), [{}])
