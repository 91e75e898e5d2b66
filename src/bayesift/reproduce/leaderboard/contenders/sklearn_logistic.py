"""scikit-learn's LogisticRegression: liblinear's dual solver one against the rest, or lbfgs for classes."""

from functools import partial

from sklearn.linear_model import LogisticRegression

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.one_vs_rest import one_vs_rest

DUAL = {"solver": "liblinear", "dual": True, "tol": 1e-2, "random_state": 0}

CONTENDER = Contender(
    "LogisticRegression",
    "scikit-learn",
    lambda setting, multilabel: one_vs_rest(
        partial(LogisticRegression, max_iter=1000, **setting, **(DUAL if multilabel else {})), multilabel
    ),
    [{"C": cost} for cost in (10.0, 30.0, 100.0, 300.0)],
)
