"""scikit-learn's SGDClassifier with the logistic loss."""

from functools import partial

from sklearn.linear_model import SGDClassifier

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.one_vs_rest import one_vs_rest

CONTENDER = Contender(
    "SGDClassifier",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(
        partial(SGDClassifier, loss="log_loss", random_state=0, **setting), multilabel
    ),
    [{"alpha": alpha} for alpha in (1e-6, 1e-5, 1e-4)],
)
