"""Numbers as the report writes them."""

from __future__ import annotations

import math


def score(value: float | None, digits: int = 3) -> str:
    """A measure, or a dash where there is none.

    Examples
    --------
    >>> score(0.84567), score(None) == score(float("nan"))
    ('0.846', True)
    """
    return "\N{EN DASH}" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def signed(value: float) -> str:
    r"""A contribution with its sign.

    Examples
    --------
    >>> signed(2.345), signed(-0.5) == "\N{MINUS SIGN}0.5"
    ('+2.3', True)
    """
    sign = "\N{MINUS SIGN}" if value < 0 else "+"
    return f"{sign}{abs(value):.1f}"


def compact(count: int) -> str:
    """A count in at most four characters.

    Examples
    --------
    >>> [compact(n) for n in (0, 999, 1234, 9999, 56789, 999_999, 2_500_000)]
    ['0', '999', '1.2k', '10k', '57k', '1M', '2.5M']
    """
    value, unit = float(count), ""
    for larger in ("k", "M", "G"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f}".removesuffix(".0") + unit if unit and value < 9.95 else f"{value:.0f}{unit}"


def percent(share: float) -> str:
    """A share for readers.

    Examples
    --------
    >>> percent(0.874), percent(1.0)
    ('87.4%', '100.0%')
    """
    return f"{100 * share:.1f}%"


def sureness(probability: float) -> str:
    """The probability of a decision for readers; what only floating point makes certain is not called so.

    Examples
    --------
    >>> sureness(0.874), sureness(0.9993), sureness(1.0)
    ('87.4%', '99.93%', 'over 99.99%')
    """
    if probability > 0.9999:
        return "over 99.99%"
    return f"{100 * probability:.2f}%" if probability > 0.999 else percent(probability)
