"""Whether one system is better than another, or only luckier.

Tests of two systems on the same documents. P-values of the sign tests are exact. "one-sided", as Yang and Liu (1999)
have it, is the chance of a result at least as good for the system that looks better; "two-sided" is twice that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import bdtr, chdtrc

from bayesift.evaluation.contingency import Contingency
from bayesift.evaluation.labels import aligned
from bayesift.evaluation.measures import wholly_right

Array = np.ndarray[Any, Any]
Alternative = Literal["one-sided", "two-sided"]


@dataclass(frozen=True)
class PairedTest:
    """The outcome of comparing system A with system B.

    Parameters
    ----------
    wins, losses : how often A was right where B was wrong, and the other way round
    p_value : the chance of such a difference between equals

    Examples
    --------
    >>> PairedTest(wins=9, losses=1, p_value=0.0107).symbol
    '>'
    """

    wins: int
    losses: int
    p_value: float

    @property
    def symbol(self) -> str:
        """How a table shows it: ">>" or "<<" for P <= 0.01, ">" or "<" for P <= 0.05, "~" otherwise."""
        return symbol(self.wins - self.losses, self.p_value)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and the symbol."""
        return {**asdict(self), "symbol": self.symbol}


def symbol(difference: float, p_value: float) -> str:
    """The sign of a table of comparisons.

    Examples
    --------
    >>> [symbol(+1, 0.01), symbol(-1, 0.05), symbol(+1, 0.051)]
    ['>>', '<', '~']
    """
    if p_value > 0.05 or difference == 0:
        return "~"
    sign = ">" if difference > 0 else "<"
    return sign * (2 if p_value <= 0.01 else 1)


def micro_sign_test(
    Y: Any, a: Any, b: Any, *, alternative: Alternative = "one-sided", labels: Sequence[Any] | None = None
) -> PairedTest:
    """The s-test of Yang and Liu: how often A is right among the decisions on which the systems differ.

    Examples
    --------
    >>> micro_sign_test([[1, 0, 1], [0, 1, 1]], [[1, 0, 1], [0, 1, 1]], [[0, 0, 1], [1, 1, 0]])
    PairedTest(wins=3, losses=0, p_value=0.125)
    """
    wins, losses = _disagreements(Y, a, b, labels)
    return _sign_test(int(wins.sum()), int(losses.sum()), alternative)


def macro_sign_test(
    Y: Any, a: Any, b: Any, *, alternative: Alternative = "one-sided", labels: Sequence[Any] | None = None
) -> PairedTest:
    """The S-test of Yang and Liu: how often A has the higher F1 among the categories on which they differ.

    Examples
    --------
    >>> macro_sign_test([[1, 0, 1], [0, 1, 1]], [[1, 0, 1], [0, 1, 1]], [[0, 0, 1], [1, 1, 0]])
    PairedTest(wins=2, losses=0, p_value=0.25)
    """
    # Quotients of whole numbers are rounded alike, so that equal F1 compare equal.
    truth, *systems = aligned(Y, a, b, labels=labels)
    ours, theirs = (Contingency.of(truth, decisions).f1() for decisions in systems)
    return _sign_test(int(np.sum(ours > theirs)), int(np.sum(ours < theirs)), alternative)


def mcnemar_test(
    Y: Any,
    a: Any,
    b: Any,
    *,
    unit: Literal["documents", "decisions"] = "documents",
    exact: bool = True,
    labels: Sequence[Any] | None = None,
) -> PairedTest:
    """McNemar's two-sided test of the documents, or decisions, that one system gets right and the other wrong.

    Parameters
    ----------
    Y, a, b : labels and the decisions of both systems
    unit : a document is right when all its decisions are; over "decisions" this is the two-sided s-test
    exact : binomial; otherwise chi-square with continuity correction, (|wins - losses| - 1)² / (wins + losses)

    Examples
    --------
    >>> mcnemar_test([0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 0])
    PairedTest(wins=3, losses=0, p_value=0.25)
    """
    if unit not in ("documents", "decisions"):
        raise ValueError(f"unit must be 'documents' or 'decisions', got {unit!r}")
    if unit == "decisions":
        won, lost = _disagreements(Y, a, b, labels)
        wins, losses = int(won.sum()), int(lost.sum())
    else:
        truth, *systems = aligned(Y, a, b, labels=labels)
        ours, theirs = (wholly_right(truth, decisions) for decisions in systems)
        wins, losses = int(np.sum(ours & ~theirs)), int(np.sum(theirs & ~ours))
    if exact:
        return _sign_test(wins, losses, "two-sided")
    distance = max(abs(wins - losses) - 1, 0)
    return PairedTest(wins, losses, float(chdtrc(1, distance**2 / (wins + losses))) if wins + losses else 1.0)


def holm(p_values: Sequence[float] | Array) -> Array:
    """P-values corrected for being several: the i-th smallest of m times m - i + 1, never falling, at most 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return corrected


def _disagreements(Y: Any, a: Any, b: Any, labels: Sequence[Any] | None) -> tuple[Any, Any]:
    """Decisions that only A, and that only B, has right; sparse."""
    truth, ours, theirs = aligned(Y, a, b, labels=labels)
    # Over 0 and 1: A minus B is +1 where A alone says yes, which is right where the truth is 1.
    difference = ours - theirs
    right = difference.multiply(2 * truth) - difference
    return right > 0, right < 0


def _sign_test(wins: int, losses: int, alternative: Alternative) -> PairedTest:
    if alternative not in get_args(Alternative):
        raise ValueError(f"alternative must be one of {', '.join(get_args(Alternative))}, got {alternative!r}")
    one_sided = float(bdtr(min(wins, losses), wins + losses, 0.5))
    p_value = one_sided if alternative == "one-sided" else min(1.0, 2 * one_sided)
    return PairedTest(wins, losses, p_value)
