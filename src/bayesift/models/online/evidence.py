"""Choosing likelihood and number of passes by the evidence, the log probability of labels the model has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from bayesift.models.online.perceptron import OnlinePerceptron

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class EvidenceTable:
    """Average log evidence by candidate and number of passes.

    Parameters
    ----------
    candidates : the settings that were tried
    passes : 1, 2, ...
    evidence : candidates x passes; the log evidence of the held-out documents, averaged over models
    """

    candidates: tuple[dict[str, Any], ...]
    passes: tuple[int, ...]
    evidence: Array

    @property
    def best(self) -> dict[str, Any]:
        """The settings with the highest evidence, the number of passes among them; of equals the first."""
        candidate, passes = np.unravel_index(np.argmax(self.evidence), self.evidence.shape)
        return {**self.candidates[int(candidate)], "passes": self.passes[int(passes)]}


def select_by_evidence(
    model: OnlinePerceptron,
    X: Any,
    y: Any,
    *,
    candidates: Sequence[dict[str, Any]] = ({"likelihood": "probit"}, {"likelihood": "logit"}, {"likelihood": "flip"}),
    max_passes: int = 5,
    held_out: tuple[Any, Any] | None = None,
    folds: int = 5,
    supports: Any = None,
) -> EvidenceTable:
    """Average log evidence of candidates after 1 to `max_passes` passes (Chai, Ng & Chieu, appendix A).

    The paper's Tables 6 and 7 hold the evidence of the *test* documents: give them as `held_out` to draw the tables,
    but not to choose a model that is then tested on them. Without `held_out` the training documents are dealt into
    folds and every document is judged by a model that has not seen it. The evidence of the documents learned from
    would not do: it rises with every pass.

    Parameters
    ----------
    model : what all candidates share
    X, y : training documents, in the order of the stream
    candidates : parameters of the model to try
    max_passes : the largest number of passes
    held_out : documents and labels to judge by; cross-validation on X without
    folds : parts of the cross-validation; documents are dealt in turns, without shuffling
    supports : models x terms, as in `OnlinePerceptron.fit`

    Returns
    -------
    EvidenceTable
        `best` names the settings for `model.set_params`

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> table = select_by_evidence(OnlinePerceptron(), X, X[:, 0] > 0.2, max_passes=2)
    >>> table.evidence.shape, table.best["likelihood"]
    ((3, 2), 'probit')
    """
    y = y if hasattr(y, "shape") else np.asarray(y)
    X = X if hasattr(X, "shape") else np.asarray(X)
    evidence = np.zeros((len(candidates), max_passes))
    for row, candidate in enumerate(candidates):
        for (X_learn, y_learn), (X_judge, y_judge) in _parts(X, y, held_out, folds):
            learner = clone(model).set_params(**candidate, passes=1)
            for passes in range(max_passes):
                learner = learner.partial_fit(X_learn, y_learn) if passes else learner.fit(X_learn, y_learn, supports)
                evidence[row, passes] += learner.log_evidence(X_judge, y_judge).mean()
    return EvidenceTable(tuple(dict(c) for c in candidates), tuple(range(1, max_passes + 1)), evidence)


def _parts(X: Any, y: Any, held_out: tuple[Any, Any] | None, folds: int) -> Any:
    """Pairs of what to learn from and what to judge by."""
    if held_out is not None:
        yield (X, y), held_out
        return
    turns = np.argsort(np.arange(X.shape[0]) % folds, kind="stable")  # fold k gets documents k, k + folds, ...
    for learn, judge in KFold(folds).split(turns):
        inside, outside = np.sort(turns[learn]), np.sort(turns[judge])
        yield (X[inside], y[inside]), (X[outside], y[outside])
