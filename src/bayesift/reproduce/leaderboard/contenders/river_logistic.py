"""river's logistic regression, one learner a category, one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.documents import InRandomOrder, indicator_of, pairs_of

Array = np.ndarray[Any, Any]


class RiverLogistic:
    """One learner a category."""

    def __init__(self, multilabel: bool, *, rate: float) -> None:
        self.multilabel = multilabel
        self.rate = rate

    def fit(self, X: Any, y: Array) -> RiverLogistic:
        """Go through the documents once in their order."""
        from river import linear_model, optim

        Y = indicator_of(y, self.multilabel)
        documents, weights, biases = [dict(pairs) for pairs in pairs_of(X)], [], []
        for labels in (Y.T > 0).tolist():
            model = linear_model.LogisticRegression(optimizer=optim.SGD(self.rate), intercept_lr=0.1)
            for x, label in zip(documents, labels, strict=True):
                model.learn_one(x, label)
            row = np.zeros(X.shape[1])
            row[list(model.weights)] = list(model.weights.values())
            weights.append(row)
            biases.append(model.intercept)
        self.coef_, self.intercept_ = np.array(weights), np.array(biases)
        return self

    def decision_function(self, X: Any) -> Array:
        """Log odds: what `predict_proba_one` puts through the sigmoid, for all documents at once."""
        return np.asarray(sparse.csr_array(X) @ self.coef_.T + self.intercept_)


CONTENDER = Contender(
    "river, logistic",
    "river",
    lambda setting, multilabel: InRandomOrder(RiverLogistic(multilabel, **setting)),
    [{"rate": rate} for rate in (4.0, 16.0)],
    module="river",
)
