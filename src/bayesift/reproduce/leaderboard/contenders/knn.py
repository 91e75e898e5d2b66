"""Nearest neighbours by cosine."""

from bayesift.models import NeighborsClassifier
from bayesift.reproduce.leaderboard.contenders import Contender

CONTENDER = Contender(
    "k nearest neighbours",
    "bayesift",
    lambda setting, multilabel: NeighborsClassifier(**setting),
    [{"k": k} for k in (10, 20, 45)],
)
