"""Choice of likelihood and number of epochs by the evidence of unseen labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from bayesift.arrays import FloatArray
from bayesift.models.online.perceptron import OnlinePerceptron


@dataclass(frozen=True, eq=False)
class EvidenceTable:
    """Log evidence of held-out documents, averaged over models: candidates x epochs."""

    candidates: tuple[dict[str, Any], ...]
    n_epochs: tuple[int, ...]
    evidence: FloatArray

    @property
    def best(self) -> dict[str, Any]:
        """The settings with the highest evidence, the number of epochs among them.

        Ties go to the first.
        """
        candidate, epochs = np.unravel_index(np.argmax(self.evidence), self.evidence.shape)
        return {**self.candidates[int(candidate)], "n_epochs": self.n_epochs[int(epochs)]}


def select_by_evidence(
    model: OnlinePerceptron,
    X: Any,
    y: Any,
    *,
    candidates: Sequence[dict[str, Any]] = (
        {"likelihood": "probit"},
        {"likelihood": "logit"},
        {"likelihood": "flip"},
    ),
    max_epochs: int = 5,
    held_out: tuple[Any, Any] | None = None,
    folds: int = 5,
    feature_mask: Any = None,
) -> EvidenceTable:
    """Compare candidates by average log evidence after 1 to `max_epochs` epochs.

    See Chai, Ng & Chieu, appendix A.

    The paper's Tables 6 and 7 hold the evidence of the *test* documents: give them as `held_out` to
    draw the tables, but not to choose a model that is then tested on them. Without `held_out` the
    evidence is cross-validated.

    Parameters
    ----------
    model : what all candidates share
    X, y : training documents
    candidates : parameters of the model to try
    max_epochs : the largest number of epochs
    held_out : documents and labels to predict; cross-validation on X without
    folds : number of folds; document i is in fold i mod `folds`
    feature_mask : models x terms, as in `OnlinePerceptron.fit`

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> table = select_by_evidence(OnlinePerceptron(), X, X[:, 0] > 0.2, max_epochs=2)
    >>> table.evidence.shape, table.best["likelihood"]
    ((3, 2), 'probit')
    """
    y = y if hasattr(y, "shape") else np.asarray(y)
    X = X if hasattr(X, "shape") else np.asarray(X)
    evidence = np.zeros((len(candidates), max_epochs))
    for row, candidate in enumerate(candidates):
        for (X_learn, y_learn), (X_judge, y_judge) in _parts(X, y, held_out, folds):
            if model.shuffle:  # as `fit` would
                order = np.random.default_rng(model.random_state).permutation(X_learn.shape[0])
                X_learn = X_learn[order]
                y_learn = y_learn[order]
            learner = clone(model).set_params(**candidate, n_epochs=1, shuffle=False)
            for done in range(max_epochs):
                if done:
                    learner = learner.partial_fit(X_learn, y_learn)
                else:
                    learner = learner.fit(X_learn, y_learn, feature_mask)
                evidence[row, done] += learner.log_evidence(X_judge, y_judge).mean()
    return EvidenceTable(
        tuple(dict(c) for c in candidates), tuple(range(1, max_epochs + 1)), evidence
    )


def _parts(X: Any, y: Any, held_out: tuple[Any, Any] | None, folds: int) -> Any:
    """Pairs of what to learn from and what to judge by."""
    from sklearn.model_selection import KFold

    if held_out is not None:
        yield (X, y), held_out
        return
    turns = np.argsort(
        np.arange(X.shape[0]) % folds, kind="stable"
    )  # fold k gets documents k, k + folds, ...
    for learn, judge in KFold(folds).split(turns):
        inside = np.sort(turns[learn])
        outside = np.sort(turns[judge])
        yield (X[inside], y[inside]), (X[outside], y[outside])
