"""Keep an online stack beside the posterior of a profile, of models that see every word.

A profile keeps its normal posterior, of which information gain, words that are taught and the first
words of a query are properties. With `ProfileSettings(model="stack")` the probability of relevance
is that of a Bayesian logistic regression over the posterior's log odds and those of an online
stack, which learns the same judgements:

    log odds = (m z) / sqrt(1 + pi z'Sz / 8),  z = (log odds of the posterior, of the stack, 1)

Before anything is judged m is (1, 0, 0): the profile itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import log_ndtr

from bayesift.arrays import BoolArray, FloatArray, SparseRows
from bayesift.kernels.online_experts import CLIP
from bayesift.kernels.online_mixers import learn_mixer
from bayesift.models.online.stack import OnlineStackedClassifier
from bayesift.models.online.stack_state import StackState, new_mixer
from bayesift.models.online.streaming import KernelArrays
from bayesift.state import expect_array, storable

_SETTINGS = OnlineStackedClassifier()
_START_MEAN = [1.0, 0.0, 0.0]
_START_VARIANCES = [0.1, 0.1, 0.1]


@storable("profile-stack")
@dataclass(eq=False)
class ProfileStack(KernelArrays):
    """An online stack of one category over all words, mixed with the posterior of a profile.

    Parameters
    ----------
    state : of the stack
    mixer : mean and covariance of the regression, 1 x 3 x (mean, covariance)
    """

    state: StackState
    mixer: FloatArray

    @classmethod
    def empty(cls) -> Self:
        """Make a stack before any judgement."""
        return cls(
            StackState.empty(1, 1, len(_SETTINGS.rates)),
            new_mixer(1, _START_MEAN, _START_VARIANCES),
        )

    def log_odds(self, rows: SparseRows, ratios: FloatArray) -> FloatArray:
        """Compute the log odds of relevance of documents x words.

        `ratios` are mean over deviation of their fields.
        """
        return self._mixed(self._inputs(ratios, self._run(rows, None)))

    def learn(self, rows: SparseRows, ratios: FloatArray, relevant: BoolArray) -> FloatArray:
        """Learn documents in their order.

        Gives the log odds of each before its label was learned.
        """
        labels = np.asarray(relevant, dtype=np.float64)
        inputs = self._inputs(ratios, self._run(rows, labels))
        scores = np.empty(len(labels))
        work = np.empty(3)
        for i, (z, y) in enumerate(zip(inputs, labels, strict=True)):
            scores[i] = self._mixed(z[np.newaxis])[0]
            learn_mixer(inputs, i, 0.0, y, self.mixer, 0, work)
        return scores

    def _run(self, rows: SparseRows, labels: FloatArray | None) -> FloatArray:
        if labels is None:
            # All columns that no judged document had are one, the last: prediction changes nothing.
            columns = np.minimum(rows.indices, self.state.n_terms - 1)
            shape = rows.shape[0], self.state.n_terms
            odds = self.state.run(
                sparse.csr_array((rows.data, columns, rows.indptr), shape=shape),
                None,
                _SETTINGS,
            )[0]
        else:
            self.state.grow_terms(rows.shape[1] + 1)
            odds = self.state.run(rows, labels[:, np.newaxis], _SETTINGS)[0]
        return np.clip(odds[:, 0], -CLIP, CLIP)

    def _inputs(self, ratios: FloatArray, odds: FloatArray) -> FloatArray:
        own = np.clip(log_ndtr(ratios) - log_ndtr(-ratios), -CLIP, CLIP)
        return np.column_stack([own, odds, np.ones(len(odds))])

    def _mixed(self, inputs: FloatArray) -> FloatArray:
        mean = self.mixer[0, :, 0]
        covariance = self.mixer[0, :, 1:]
        variances = np.maximum(np.einsum("di,ij,dj->d", inputs, covariance, inputs), 0.0)
        mixed: FloatArray = inputs @ mean / np.sqrt(1.0 + np.pi / 8.0 * variances)
        return mixed

    def _post_load(self) -> None:
        self._take_arrays()
        expect_array(self.mixer, "mixer", np.float64, (1, 3, 4))
