"""Several systems compared, each with each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from bayesift.evaluation.labels import aligned
from bayesift.evaluation.significance import Alternative, PairedTest, holm, macro_sign_test, micro_sign_test

Correction = Literal["holm"]
Pair = tuple[str, str]


@dataclass(frozen=True)
class SignificanceTable:
    """Sign tests of every pair of systems; the row is compared with the column.

    Parameters
    ----------
    systems : their names, in order
    micro, macro : s-test and S-test of each pair (earlier, later)
    correction : of the P-values, over all pairs of one test

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
        """What the s-test and the S-test say of one system against another."""
        if row == column:
            return "", ""
        if (row, column) in self.micro:
            return self.micro[row, column].symbol, self.macro[row, column].symbol
        s, S = self.symbols(column, row)
        return s.translate(_MIRROR), S.translate(_MIRROR)

    def render(self) -> str:
        """The table as text, "s-test / S-test" in each cell."""
        cells = [["", *self.systems]]
        for row in self.systems:
            pairs = [self.symbols(row, column) for column in self.systems]
            cells.append([row, *(" / ".join(pair) if any(pair) else "" for pair in pairs)])
        widths = [max(len(line[j]) for line in cells) for j in range(len(cells[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        return "\n".join(line.rstrip() for line in lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and symbols."""
        pairs = [
            {"a": a, "b": b, "micro": self.micro[a, b].to_dict(), "macro": self.macro[a, b].to_dict()}
            for a, b in self.micro
        ]
        return {"systems": list(self.systems), "correction": self.correction, "pairs": pairs}


def significance_table(
    Y: Any,
    decisions_by_system: Mapping[str, Any],
    *,
    correction: Correction | None = "holm",
    alternative: Alternative = "one-sided",
    labels: Sequence[Any] | None = None,
) -> SignificanceTable:
    """Compare every pair of systems by the micro and the macro sign test.

    Parameters
    ----------
    Y : labels
    decisions_by_system : the decisions of each system on the same documents
    correction : "holm" over all pairs, for each test on its own; None for P-values as the papers' tables have them
    alternative : "one-sided" as Yang and Liu, or "two-sided"

    Examples
    --------
    >>> significance_table([1, 0], {"a": [1, 0], "b": [1, 1]}).symbols("a", "b")
    ('~', '~')
    """
    if correction not in (None, "holm"):
        raise ValueError(f"correction must be 'holm' or None, got {correction!r}")
    truth, *decided = aligned(Y, *decisions_by_system.values(), labels=labels)
    systems = dict(zip(decisions_by_system, decided, strict=True))
    micro, macro = (
        {(a, b): test(truth, systems[a], systems[b], alternative=alternative) for a, b in combinations(systems, 2)}
        for test in (micro_sign_test, macro_sign_test)
    )
    if correction == "holm":
        micro, macro = _corrected(micro), _corrected(macro)
    return SignificanceTable(tuple(systems), micro, macro, correction)


def _corrected(tests: dict[Pair, PairedTest]) -> dict[Pair, PairedTest]:
    p_values = holm([test.p_value for test in tests.values()])
    return {pair: replace(test, p_value=float(p)) for (pair, test), p in zip(tests.items(), p_values, strict=True)}


_MIRROR = str.maketrans("<>", "><")
