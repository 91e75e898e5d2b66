"""Vowpal Wabbit: logistic loss, one learner a category."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.documents import InRandomOrder, indicator_of, pairs_of

Array = np.ndarray[Any, Any]


class VowpalWabbit:
    """One workspace a category; its weights stay in memory."""

    def __init__(self, multilabel: bool, *, passes: int, rate: float) -> None:
        self.multilabel = multilabel
        self.passes = passes
        self.rate = rate

    def fit(self, X: Any, y: Array) -> VowpalWabbit:
        """Go through the documents in their order, by its own reader of files."""
        Y = indicator_of(y, self.multilabel)
        lines = _lines(X)
        with tempfile.TemporaryDirectory() as folder:
            self.models_ = [self._learn(Path(folder), np.where(labels > 0, 1, -1), lines) for labels in Y.T]
        self.size_ = np.zeros((len(self.models_), X.shape[1]))  # the weights that the terms use
        return self

    def _learn(self, folder: Path, labels: Array, lines: list[str]) -> Any:
        from vowpalwabbit import Workspace

        data, cache = folder / "train.txt", folder / "train.cache"
        data.write_text("".join(f"{label} | {line}\n" for label, line in zip(labels, lines, strict=True)))
        return Workspace(
            f"--loss_function logistic --learning_rate {self.rate} --bit_precision 18 --quiet --holdout_off "
            f"--passes {self.passes} --data {data} --cache_file {cache} --kill_cache"
        )

    def decision_function(self, X: Any) -> Array:
        """Log odds."""
        lines = _lines(X)
        return np.array([[model.predict(f"| {line}") for line in lines] for model in self.models_]).T


def _lines(X: Any) -> list[str]:
    return [" ".join(f"{j}:{x:.6g}" for j, x in pairs) for pairs in pairs_of(X)]


CONTENDER = Contender(
    "Vowpal Wabbit",
    "vowpalwabbit",
    lambda setting, multilabel: InRandomOrder(VowpalWabbit(multilabel, **setting)),
    [{"passes": passes, "rate": rate} for passes in (1, 10) for rate in (0.5, 4.0)],
    module="vowpalwabbit",
)
