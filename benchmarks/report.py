"""docs/benchmarks.md: a section a benchmark.

A run writes its own anew and leaves the others as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEAD = """# Benchmarks

Written by `make bench`: ours and the peers run in turns in one process. \
Times are medians, in CPU seconds
unless the row says wall; a ratio is the peer's time over ours. \
Results that have to agree are checked.
"""
_TITLE = "## "


def updated(page: str, sections: Mapping[str, str], order: Sequence[str]) -> str:
    """Return the page with these sections in place of those of the same names.

    Parameters
    ----------
    page : as it stands; empty if there is none
    sections : texts by the names of benchmarks
    order : names of benchmarks as they are to follow one another; sections of other names come last

    Examples
    --------
    >>> page = updated("", {"speed": "twice"}, ["size", "speed"])
    >>> print(updated(page, {"size": "half"}, ["size", "speed"]).removeprefix(HEAD).strip())
    ## size
    <BLANKLINE>
    half
    <BLANKLINE>
    ## speed
    <BLANKLINE>
    twice
    """
    texts = {**_sections(page), **sections}
    names = [name for name in order if name in texts] + [
        name for name in texts if name not in order
    ]
    return "\n".join([HEAD, *(f"{_TITLE}{name}\n\n{texts[name].strip()}\n" for name in names)])


def section(measured: Mapping[str, Any], lines: Sequence[str]) -> str:
    """Where a benchmark ran, and what it found."""
    machine = measured["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    where = (
        f"`{measured['command']}` on {machine['cores']} cores ({machine['processor']}), "
        f"Python {machine['python']}, {packages}."
    )
    return "\n".join([where, "", *lines])


def race_lines(measured: Mapping[str, Any]) -> list[str]:
    """Return the comparisons of a race as a table."""
    lines = [f"Objective: {measured['objective']}.", ""]
    lines += ["| data | ours | s | peer | s | ratio | asked |", "|---|---|---|---|---|---|---|"]
    for result in measured["results"]:
        for c in result["comparisons"]:
            clock = " (wall)" if c["clock"] == "wall" else ""
            lines.append(
                f"| {result['dataset']} | {c['ours']} | {c['ours_seconds']:.3f}{clock} | "
                f"{c['peer']} "
                f"| {c['peer_seconds']:.3f} | **{c['ratio']:.3g}** | {c['asked'] or '—'} |"
            )
    return lines


def _sections(page: str) -> dict[str, str]:
    parts = ("\n" + page).split(f"\n{_TITLE}")[1:]
    return {name.strip(): text for name, _, text in (part.partition("\n") for part in parts)}
