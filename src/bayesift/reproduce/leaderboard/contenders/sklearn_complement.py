"""scikit-learn's ComplementNB."""

from functools import partial

from sklearn.naive_bayes import ComplementNB

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.one_vs_rest import one_vs_rest

CONTENDER = Contender(
    "ComplementNB",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(partial(ComplementNB, **setting), multilabel),
    [{"alpha": alpha} for alpha in (0.01, 0.1, 0.3, 1.0)],
)
