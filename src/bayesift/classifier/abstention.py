"""When not to decide: how unsure a model is of a text, compared with documents held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logit

from bayesift.arrays import BoolArray, FloatArray, IntArray
from bayesift.errors import DataError
from bayesift.state import expect_array, storable

_KEPT = 1000  # quantiles of held-out documents that are kept
_FEWEST = 20  # held-out documents that a share can be read off
_SURE = 1e-9


@dataclass(frozen=True, eq=False)
class Doubts:
    """What speaks against deciding on each text.

    Parameters
    ----------
    probabilities : texts x categories
    n_terms : number of distinct terms of each text, known or not
    n_known : how many of them the model knows
    """

    probabilities: FloatArray
    n_terms: IntArray
    n_known: IntArray

    @property
    def best(self) -> FloatArray:
        """The highest probability of each text."""
        highest: FloatArray = self.probabilities.max(axis=1)
        return highest

    @property
    def unseen(self) -> FloatArray:
        """The share of the terms that the model does not know, half a term added."""
        share: FloatArray = (self.n_terms - self.n_known + 0.5) / (self.n_terms + 1.0)
        return share

    @property
    def scores(self) -> FloatArray:
        """Log odds against the best category plus the log of the unseen share.

        Infinite if no term is known.
        """
        doubt = np.log(self.unseen) - logit(np.clip(self.best, _SURE, 1.0 - _SURE))
        return np.where(self.n_known > 0, doubt, np.inf)


@storable("abstention")
@dataclass(frozen=True, eq=False)
class Abstention:
    """Places the doubts about a text among those about documents like the training documents.

        doubt = log (1 - p) / p + log (unseen + 1/2) / (terms + 1),    p the highest probability

    and the uncertainty of a text is the share of held-out documents with a smaller doubt, so that
    uncertainties of documents of the same kind are uniform on (0, 1), and those of foreign
    documents are near 1.

    Parameters
    ----------
    doubts, best, unseen : doubts, highest probabilities and unseen shares of documents that the
        model was not fitted to, each sorted; at most 1,000 quantiles

    Examples
    --------
    >>> probabilities = np.linspace(0.5, 0.99, 99)
    >>> both = np.stack([probabilities, 1 - probabilities], axis=1)
    >>> held_out = Doubts(both, np.full(99, 9), np.full(99, 9))
    >>> abstention = Abstention.of(held_out)
    >>> new = np.array([[0.55, 0.45], [0.99, 0.01]])
    >>> abstention.uncertainty(Doubts(new, np.array([9, 9]), np.array([9, 3])))
    array([0.88888889, 0.22222222])
    """

    doubts: FloatArray
    best: FloatArray
    unseen: FloatArray

    @classmethod
    def of(cls, held_out: Doubts) -> Self:
        """From documents like those to come that the model was not fitted to."""
        known = held_out.n_known > 0
        parts = held_out.scores[known], held_out.best[known], held_out.unseen[known]
        if len(parts[0]) < _FEWEST:
            raise DataError(
                f"{len(parts[0])} held-out documents; at least {_FEWEST} with known words are "
                "needed"
            )
        shares = np.linspace(0.0, 1.0, _KEPT)
        return cls(
            *(
                np.sort(part) if len(part) <= _KEPT else np.quantile(part, shares)
                for part in parts
            )
        )

    def uncertainty(self, doubts: Doubts) -> FloatArray:
        """Return the share of held-out documents that the model is surer of, from 0 to 1."""
        return _rank(self.doubts, doubts.scores)

    def words_are_the_reason(self, doubts: Doubts) -> BoolArray:
        """Whether unknown words are more unusual in a text than its highest probability."""
        return _rank(self.unseen, doubts.unseen) > 1.0 - _rank(self.best, doubts.best)

    def _post_load(self) -> None:
        for name in ("doubts", "best", "unseen"):
            array = expect_array(getattr(self, name), name, np.float64, (len(self.doubts),))
            if len(array) < _FEWEST or np.any(np.diff(array) < 0):
                raise DataError(
                    f"{name} of held-out documents must be sorted numbers, {_FEWEST} or more"
                )


def abstention_from_fit(
    model: Any, X: sparse.csr_array, n_terms: IntArray, *, multilabel: bool
) -> Abstention | None:
    """From the held-out probabilities that a model has of its training documents.

    None if it has none, or too few.

    A term that only the document itself contains would not have been known without it.
    """
    held_out = getattr(model, "held_out_", None)
    if held_out is None or len(held_out.documents) < _FEWEST:
        return None
    alone = np.bincount(X.indices, minlength=X.shape[1])[X.indices] == 1
    n_known = np.add.reduceat(np.append(~alone, False), X.indptr[:-1], dtype=np.int64) * (
        np.diff(X.indptr) > 0
    )
    probabilities = held_out.probabilities
    if probabilities.shape[1] == 1 and not multilabel:
        probabilities = np.hstack([1.0 - probabilities, probabilities])
    indices = held_out.documents
    doubts = Doubts(probabilities, n_terms[indices], n_known[indices])
    return Abstention.of(doubts) if np.count_nonzero(doubts.n_known) >= _FEWEST else None


def unsure_texts(doubts: Doubts, rate: float, abstention: Abstention | None) -> BoolArray:
    """Which texts to abstain on: those less sure than all but a share `rate` of held-out documents.

    Without `abstention` they are that share of the texts at hand, the least sure of them.
    """
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"abstain must be a share between 0 and 1, got {rate!r}")
    if abstention is not None:
        unsure: BoolArray = abstention.uncertainty(doubts) > 1.0 - rate
        return unsure
    unsure = np.zeros(len(doubts.n_terms), dtype=bool)
    unsure[np.argsort(-doubts.scores, kind="stable")[: int(rate * len(unsure))]] = True
    return unsure | (~np.isfinite(doubts.scores) & (rate > 0))


def reasons(
    doubts: Doubts, rows: IntArray, categories: tuple[str, ...], abstention: Abstention | None
) -> list[str]:
    """Why each of some texts is unsure: few known words, or no category that stands out."""
    by_words = (
        doubts.unseen > 0.5 if abstention is None else abstention.words_are_the_reason(doubts)
    )
    answers = []
    for row in rows:
        if doubts.n_terms[row] == 0:
            answers.append("no words")
        elif by_words[row] or doubts.n_known[row] == 0:
            answers.append(f"{doubts.n_known[row]} of {doubts.n_terms[row]} words known")
        else:
            ranked = np.argsort(-doubts.probabilities[row], kind="stable")[:2]
            named = (
                f"{categories[j]} {doubts.probabilities[row, j]:.2f}".replace(" 0.", " .")
                for j in ranked
            )
            answers.append(" or ".join(named))
    return answers


def _rank(ordered: FloatArray, values: FloatArray) -> FloatArray:
    """Return the share of sorted numbers below each value."""
    return np.searchsorted(ordered, values, side="left") / len(ordered)
