"""scikit-learn's LinearSVC."""

from functools import partial

from sklearn.svm import LinearSVC

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.one_vs_rest import one_vs_rest

CONTENDER = Contender(
    "LinearSVC",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(partial(LinearSVC, random_state=0, **setting), multilabel),
    [{"C": cost} for cost in (0.1, 0.3, 1.0, 3.0)],
)
