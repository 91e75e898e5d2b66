"""Times that people write."""

from __future__ import annotations

from datetime import UTC, datetime

from bayesift.errors import DataError


def moment(text: str) -> str:
    """A date or time as the log writes it; without a zone it is UTC.

    Examples
    --------
    >>> moment("2026-03-01")
    '2026-03-01T00:00:00.000000+00:00'
    """
    try:
        given = datetime.fromisoformat(text)
        zoned = given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    except (ValueError, OverflowError):
        raise DataError(f"not a date or time (ISO 8601): {text!r:.60}") from None
    return zoned.isoformat(timespec="microseconds")
