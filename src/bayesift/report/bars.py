"""Bars: the scores of a category, and the weights of words."""

from __future__ import annotations

from collections.abc import Sequence

from bayesift.report.content import WordWeight
from bayesift.report.html import Markup, element, name_of
from bayesift.report.numbers import score, signed


def score_bar(f1: float, precision: float | None = None, recall: float | None = None) -> Markup:
    """F1 as a bar from 0 to 1, with ticks at precision (upper half) and recall (lower half); fills its container.

    Examples
    --------
    >>> bar = score_bar(0.8, precision=0.9, recall=0.72)
    >>> "F1 0.800, precision 0.900, recall 0.720" in bar
    True
    """
    parts = [("F1" if precision is not None else "value", f1), ("precision", precision), ("recall", recall)]
    told = ", ".join(f"{name} {score(value)}" for name, value in parts if value is not None)
    return element(
        "svg",
        element("title", told),
        element("rect", class_="track", width=200, height=16),
        element("rect", class_="bar", y=3, width=_place(f1), height=10),
        _tick("precision", precision, 0),
        _tick("recall", recall, 8),
        viewBox="0 0 200 16",
        preserveAspectRatio="none",
        role="img",
        class_="score-bar",
    )


def word_bars(words: Sequence[WordWeight], *, largest: float | None = None, numbers: bool = False) -> Markup:
    """Words with bars behind them as long as their weights, those against in another colour.

    Parameters
    ----------
    words : in the order to show
    largest : the weight of a full bar; that of the strongest word without
    numbers : whether to write the weights too

    Examples
    --------
    >>> "--share:50.0%" in word_bars([WordWeight("wheat", 2.0), WordWeight("corn", 1.0)])
    True
    """
    full = largest or max((abs(word.weight) for word in words), default=1.0) or 1.0
    return element("ol", (_word_bar(word, full, numbers) for word in words), class_="words")


def _word_bar(word: WordWeight, full: float, numbers: bool) -> Markup:
    share = 100 * min(1.0, abs(word.weight) / full)
    return element(
        "li",
        name_of(word.word),
        f" {signed(word.weight)}" if numbers else None,
        class_="for" if word.weight >= 0 else "against",
        style=f"--share:{share:.1f}%",
    )


def _tick(name: str, value: float | None, y: int) -> Markup | None:
    if value is None:
        return None
    return element("rect", class_=f"tick {name}", x=f"{min(_place(value), 197.5):.1f}", y=y, width=2.5, height=8)


def _place(value: float) -> float:
    return round(200 * min(1.0, max(0.0, value)), 1)
