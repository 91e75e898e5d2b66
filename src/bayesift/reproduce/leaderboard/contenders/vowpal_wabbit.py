"""Vowpal Wabbit: logistic loss, its own reductions of many categories (or classes) to one learner each."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.reproduce.leaderboard.contenders import Contender
from bayesift.reproduce.leaderboard.contenders.documents import InRandomOrder, indicator_of, pairs_of

Array = np.ndarray[Any, Any]


class VowpalWabbit:
    """All learners in one workspace, read off it as weights."""

    def __init__(self, multilabel: bool, *, passes: int, rate: float) -> None:
        self.multilabel = multilabel
        self.passes = passes
        self.rate = rate

    def fit(self, X: Any, y: Array) -> VowpalWabbit:
        """Go through the documents in their order, by its own reader of files."""
        Y = indicator_of(y, self.multilabel)
        n_terms, n_categories = X.shape[1], Y.shape[1]
        n_learners = n_categories + self.multilabel
        term_bits, learner_bits = n_terms.bit_length(), (n_learners - 1).bit_length()
        reduction = f"--multilabel_oaa {n_learners}" if self.multilabel else f"--oaa {n_learners}"
        workspace = self._learn(f"{reduction} --bit_precision {term_bits + learner_bits}", self._lines(X, Y))
        # The learners of a term lie side by side, in as many places as the next power of two.
        places = np.arange(n_terms + 1)[:, None] * 2**learner_bits + np.arange(n_categories)
        weights = np.array([workspace.get_weight(place) for place in places.ravel().tolist()]).reshape(places.shape)
        self.coef_, self.intercept_ = weights[:-1].T.copy(), weights[-1]
        return self

    def _lines(self, X: Any, Y: Array) -> list[str]:
        """Documents in its format; the constant is the term after the last."""
        if self.multilabel:
            # A document without a label would be passed over: it gets a category of its own.
            nothing = str(Y.shape[1])
            labels = [",".join(map(str, np.flatnonzero(row))) or nothing for row in Y]
        else:
            labels = [str(chosen + 1) for chosen in np.argmax(Y, axis=1)]
        terms = [" ".join(f"{j}:{x:.6g}" for j, x in pairs) for pairs in pairs_of(X)]
        return [f"{label} | {X.shape[1]}:1 {line}\n" for label, line in zip(labels, terms, strict=True)]

    def _learn(self, how: str, lines: list[str]) -> Any:
        from vowpalwabbit import Workspace

        with tempfile.TemporaryDirectory() as folder:
            data, cache = Path(folder) / "train.txt", Path(folder) / "train.cache"
            data.write_text("".join(lines))
            return Workspace(
                f"{how} --loss_function logistic --learning_rate {self.rate} --noconstant --quiet --holdout_off "
                f"--passes {self.passes} --data {data} --cache_file {cache} --kill_cache"
            )

    def decision_function(self, X: Any) -> Array:
        """Log odds."""
        return np.asarray(sparse.csr_array(X) @ self.coef_.T + self.intercept_)


CONTENDER = Contender(
    "Vowpal Wabbit",
    "vowpalwabbit",
    lambda setting, multilabel: InRandomOrder(VowpalWabbit(multilabel, **setting)),
    [{"passes": passes, "rate": rate} for passes in (1, 10) for rate in (0.5, 4.0)],
    module="vowpalwabbit",
)
