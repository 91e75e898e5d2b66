"""From log odds to probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax

from bayesift.models.hyperplanes.stored import StoredHyperplanes

Array = np.ndarray[Any, Any]


class Verdicts(StoredHyperplanes):
    """Scores that are log odds of a category against the rest, or of several classes what a softmax takes."""

    def predict_proba(self, X: Any) -> Array:
        """P(c | d), documents x categories."""
        scores = self._scores(X)
        return expit(scores) if self.multilabel_ else np.exp(self._log_proba(scores))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of P(c | d), documents x categories."""
        return self._log_proba(self._scores(X))

    def _log_proba(self, scores: Array) -> Array:
        several = not (self.multilabel_ or self._is_binary())
        sided = scores * [[-1.0, 1.0]] if self._is_binary() else scores
        logarithms: Array = log_softmax(scores, axis=1) if several else log_expit(sided)
        return logarithms
