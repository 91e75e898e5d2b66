"""Significance tests of the difference between systems.

Tests of two systems on the same documents. P-values of the sign tests are exact. "one-sided", as in
Yang and Liu (1999), is the probability of a result at least as good for the system that looks
better; "two-sided" is twice that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import bdtr, chdtrc

from bayesift.arrays import Array
from bayesift.evaluation.measures import Classes, Contingency, aligned, exact_matches

Alternative = Literal["one-sided", "two-sided"]
Correction = Literal["holm"]
Pair = tuple[str, str]
Unit = Literal["documents", "decisions"]

_MIRROR = str.maketrans("<>", "><")


@dataclass(frozen=True)
class PairedTest:
    """System A against system B: how often only one was right, and the P-value of that."""

    wins: int
    losses: int
    p_value: float

    @property
    def symbol(self) -> str:
        """Symbol in tables: ">>" or "<<" for P <= 0.01, ">" or "<" for P <= 0.05, "~" otherwise."""
        return symbol(self.wins - self.losses, self.p_value)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and the symbol."""
        return {**asdict(self), "symbol": self.symbol}


def symbol(difference: float, p_value: float) -> str:
    """Return the symbol of a difference in a table."""
    if p_value > 0.05 or difference == 0:
        return "~"
    sign = ">" if difference > 0 else "<"
    return sign * (2 if p_value <= 0.01 else 1)


def micro_sign_test(
    Y: Any, a: Any, b: Any, *, alternative: Alternative = "one-sided", labels: Classes = None
) -> PairedTest:
    """Test how often A is right where the systems decide differently (s-test of Yang and Liu).

    Examples
    --------
    >>> micro_sign_test([[1, 0, 1], [0, 1, 1]], [[1, 0, 1], [0, 1, 1]], [[0, 0, 1], [1, 1, 0]])
    PairedTest(wins=3, losses=0, p_value=0.125)
    """
    return _micro_test(Y, a, b, "decisions", alternative, labels)


def macro_sign_test(
    Y: Any, a: Any, b: Any, *, alternative: Alternative = "one-sided", labels: Classes = None
) -> PairedTest:
    """Test how often A has the higher F1 of a category (S-test of Yang and Liu).

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
    unit: Unit = "documents",
    exact: bool = True,
    labels: Classes = None,
) -> PairedTest:
    """Test the documents or decisions that one system gets right and the other wrong.

    This is McNemar's two-sided test.

    Parameters
    ----------
    Y, a, b : labels and the decisions of both systems
    unit : a document is right when all its decisions are; over "decisions" this is the two-sided
        s-test
    exact : binomial; otherwise chi-square with continuity correction, (|wins - losses| - 1)² /
        (wins + losses)

    Examples
    --------
    >>> mcnemar_test([0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 0])
    PairedTest(wins=3, losses=0, p_value=0.25)
    """
    wins, losses = _wins_and_losses(Y, a, b, unit, labels)
    if exact:
        return _sign_test(wins, losses, "two-sided")
    distance = max(abs(wins - losses) - 1, 0)
    return PairedTest(
        wins, losses, float(chdtrc(1, distance**2 / (wins + losses))) if wins + losses else 1.0
    )


def holm(p_values: Sequence[float] | Array) -> Array:
    """Holm's correction of m P-values: the i-th smallest times m - i + 1, made monotone, at most 1.

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


@dataclass(frozen=True)
class SignificanceTable:
    """Sign tests of every pair of systems (earlier, later); the row is compared with the column.

    Examples
    --------
    >>> table = significance_table([[1, 0]] * 9, {"good": [[1, 0]] * 9, "bad": [[0, 1]] * 9})
    >>> print(table.render())
          good    bad
    good          >> / ~
    bad   << / ~
    """

    systems: tuple[str, ...]
    micro: Mapping[Pair, PairedTest]
    macro: Mapping[Pair, PairedTest]
    correction: Correction | None

    def symbols(self, row: str, column: str) -> tuple[str, str]:
        """Return what the s-test and the S-test say of one system against another."""
        if row == column:
            return "", ""
        if (row, column) in self.micro:
            return self.micro[row, column].symbol, self.macro[row, column].symbol
        s, S = self.symbols(column, row)
        return s.translate(_MIRROR), S.translate(_MIRROR)

    def render(self) -> str:
        """Return the table as text, "s-test / S-test" in each cell."""
        cells = [["", *self.systems]]
        for row in self.systems:
            pairs = [self.symbols(row, column) for column in self.systems]
            cells.append([row, *(" / ".join(pair) if any(pair) else "" for pair in pairs)])
        widths = [max(len(line[j]) for line in cells) for j in range(len(cells[0]))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            for line in cells
        ]
        return "\n".join(line.rstrip() for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and symbols."""
        pairs = [
            {
                "a": a,
                "b": b,
                "micro": self.micro[a, b].to_dict(),
                "macro": self.macro[a, b].to_dict(),
            }
            for a, b in self.micro
        ]
        return {"systems": list(self.systems), "correction": self.correction, "pairs": pairs}


def significance_table(
    Y: Any,
    decisions_by_system: Mapping[str, Any],
    *,
    correction: Correction | None = "holm",
    alternative: Alternative = "one-sided",
    unit: Unit = "decisions",
    labels: Classes = None,
) -> SignificanceTable:
    """Compare every pair of systems by the micro and the macro sign test.

    Parameters
    ----------
    Y : labels
    decisions_by_system : the decisions of each system on the same documents
    correction : "holm" over all pairs, for each test on its own; None for P-values as the papers'
        tables have them
    alternative : "one-sided" as Yang and Liu, or "two-sided"
    unit : what the micro test counts: "decisions" as Yang and Liu, or "documents", for one category
        per document; there a document that one system gets right and the other wrong would count as
        two decisions
    """
    if correction not in (None, "holm"):
        raise ValueError(f"correction must be 'holm' or None, got {correction!r}")
    truth, *decided = aligned(Y, *decisions_by_system.values(), labels=labels)
    systems = dict(zip(decisions_by_system, decided, strict=True))
    pairs = list(combinations(systems, 2))
    micro = {
        (a, b): _micro_test(truth, systems[a], systems[b], unit, alternative) for a, b in pairs
    }
    macro = {
        (a, b): macro_sign_test(truth, systems[a], systems[b], alternative=alternative)
        for a, b in pairs
    }
    if correction == "holm":
        micro = _corrected(micro)
        macro = _corrected(macro)
    return SignificanceTable(tuple(systems), micro, macro, correction)


def _micro_test(
    Y: Any, a: Any, b: Any, unit: Unit, alternative: Alternative, labels: Classes = None
) -> PairedTest:
    return _sign_test(*_wins_and_losses(Y, a, b, unit, labels), alternative)


def _wins_and_losses(Y: Any, a: Any, b: Any, unit: Unit, labels: Classes) -> tuple[int, int]:
    """How many documents, or decisions, only A has right, and only B."""
    if unit not in get_args(Unit):
        raise ValueError(f"unit must be 'documents' or 'decisions', got {unit!r}")
    if unit == "decisions":
        won, lost = _disagreements(Y, a, b, labels)
        return int(won.sum()), int(lost.sum())
    truth, *systems = aligned(Y, a, b, labels=labels)
    ours, theirs = (exact_matches(truth, decisions) for decisions in systems)
    return int(np.sum(ours & ~theirs)), int(np.sum(theirs & ~ours))


def _disagreements(Y: Any, a: Any, b: Any, labels: Classes) -> tuple[Any, Any]:
    """Decisions that only A, and that only B, has right; sparse."""
    truth, ours, theirs = aligned(Y, a, b, labels=labels)
    # Over 0 and 1: A minus B is +1 where A alone says yes, which is right where the truth is 1.
    difference = ours - theirs
    right = difference.multiply(2 * truth) - difference
    return right > 0, right < 0


def _sign_test(wins: int, losses: int, alternative: Alternative) -> PairedTest:
    if alternative not in get_args(Alternative):
        raise ValueError(
            f"alternative must be one of {', '.join(get_args(Alternative))}, got {alternative!r}"
        )
    one_sided = float(bdtr(min(wins, losses), wins + losses, 0.5))
    p_value = one_sided if alternative == "one-sided" else min(1.0, 2 * one_sided)
    return PairedTest(wins, losses, p_value)


def _corrected(tests: dict[Pair, PairedTest]) -> dict[Pair, PairedTest]:
    p_values = holm([test.p_value for test in tests.values()])
    return {
        pair: replace(test, p_value=float(p))
        for (pair, test), p in zip(tests.items(), p_values, strict=True)
    }
