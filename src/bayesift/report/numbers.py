"""Numbers as the report writes them."""

from __future__ import annotations

import math


def score(value: float | None, digits: int = 3) -> str:
    """A measure, or a dash where there is none.

    Examples
    --------
    >>> score(0.84567), score(None), score(float("nan"))
    ('0.846', '–', '–')
    """
    return "–" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"  # noqa: RUF001


def signed(value: float) -> str:
    """A contribution with its sign.

    Examples
    --------
    >>> signed(2.345), signed(-0.5)
    ('+2.3', '−0.5')
    """
    return f"{'−' if value < 0 else '+'}{abs(value):.1f}"  # noqa: RUF001


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
    """A share for readers; what is nearly but not wholly sure is not rounded to certainty.

    Examples
    --------
    >>> percent(0.874), percent(0.99987), percent(0.999999), percent(1.0)
    ('87.4%', '99.99%', 'over 99.99%', '100%')
    """
    if share >= 1:
        return "100%"
    if share > 0.9999:
        return "over 99.99%"
    return f"{100 * share:.2f}%" if share > 0.999 else f"{100 * share:.1f}%"
