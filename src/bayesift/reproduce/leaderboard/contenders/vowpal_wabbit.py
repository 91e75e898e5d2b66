"""Vowpal Wabbit: logistic loss, one learner a category."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.documents import indicator_of, pairs_of

Array = np.ndarray[Any, Any]


class VowpalWabbit:
    """One workspace a category; its weights stay in memory."""

    def __init__(self, multilabel: bool, *, passes: int, rate: float) -> None:
        self.multilabel = multilabel
        self.passes = passes
        self.rate = rate

    def fit(self, X: Any, y: Array) -> VowpalWabbit:
        """Go through the documents in their order."""
        from vowpalwabbit import Workspace

        Y = indicator_of(y, self.multilabel)
        lines = _lines(X)
        self.models_ = []
        for labels in Y.T:
            workspace = Workspace(f"--loss_function logistic --learning_rate {self.rate} --bit_precision 18 --quiet")
            for _ in range(self.passes):
                for label, line in zip(labels, lines, strict=True):
                    workspace.learn(f"{1 if label > 0 else -1} | {line}")
            self.models_.append(workspace)
        self.size_ = np.zeros((len(self.models_), X.shape[1]))  # the weights that the terms use
        return self

    def decision_function(self, X: Any) -> Array:
        """Log odds."""
        lines = _lines(X)
        return np.array([[model.predict(f"| {line}") for line in lines] for model in self.models_]).T


def _lines(X: Any) -> list[str]:
    return [" ".join(f"{j}:{x:.6g}" for j, x in pairs) for pairs in pairs_of(X)]


CONTENDER = Contender(
    "Vowpal Wabbit",
    "vowpalwabbit",
    lambda setting, multilabel: VowpalWabbit(multilabel, **setting),
    [{"passes": 1, "rate": rate} for rate in (0.5, 2.0)],
    module="vowpalwabbit",
)
