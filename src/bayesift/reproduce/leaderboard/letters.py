"""Letters of significance: systems that share one do not differ beyond luck."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def shared_letters(names: Sequence[str], differ: Callable[[str, str], bool]) -> dict[str, str]:
    """Letters by name, the first for the best (Piepho's insert and absorb).

    Parameters
    ----------
    names : the best first
    differ : whether two differ

    Examples
    --------
    >>> shared_letters("xyz", lambda a, b: {a, b} == {"x", "z"})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    groups = [frozenset(names)]
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            if differ(first, second):
                groups = _absorbed([part for group in groups for part in _parted(group, first, second)])
    order = sorted(groups, key=lambda group: [name not in group for name in names])
    return {name: "".join(_letter(i) for i, group in enumerate(order) if name in group) for name in names}


def _parted(group: frozenset[str], first: str, second: str) -> list[frozenset[str]]:
    return [group - {first}, group - {second}] if {first, second} <= group else [group]


def _absorbed(groups: list[frozenset[str]]) -> list[frozenset[str]]:
    distinct = list(dict.fromkeys(groups))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"({place + 1})"
