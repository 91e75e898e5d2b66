"""Run bib-dedupe and ASReview on the sets of `benchmarks.duplicates export DIR`.

Both run in an environment of their own.

`pip install bib-dedupe asreview`, then `python benchmarks/duplicates_peers.py DIR`. Precision and
recall are over pairs, as in `benchmarks.duplicates measure`. ASReview's `duplicated` marks rows and
names no pairs: a marked row is counted as joined to the first row with the same DOI or the same
text, as its rule has it.
"""

from __future__ import annotations

import csv
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from pathlib import Path
from typing import Any

Rows = list[dict[str, str]]


def quality(groups: Iterable[Sequence[int]], rows: Rows) -> str:
    """Precision and recall over pairs."""
    names = [row["publication"] for row in rows]
    joined = {pair for group in groups for pair in combinations(sorted(group), 2)}
    right = sum(names[i] == names[j] for i, j in joined)
    wanted = sum(n * (n - 1) // 2 for n in Counter(names).values())
    return f"recall {right / max(wanted, 1):.4f}, precision {right / max(len(joined), 1):.4f}"


def bib_dedupe(rows: Rows) -> Iterable[Sequence[int]]:
    """Return the groups that bib-dedupe finds by the four steps of its documentation."""
    steps: Any = import_module("bib_dedupe.bib_dedupe")
    table = import_module("pandas").DataFrame(rows).drop(columns=["publication", "pmid"])
    options = {"verbosity_level": 0, "cpu": 1}
    matched = steps.match(steps.block(steps.prep(table, **options), **options), **options)
    return [
        [int(name) for name in group] for group in steps.cluster(matched, verbosity_level=0)
    ]


def asreview(rows: Rows) -> Iterable[Sequence[int]]:
    """Return the groups by ASReview's rule: the same DOI, or the same title and abstract.

    Title and abstract are compared by their letters and digits.
    """
    parent = list(range(len(rows)))

    def root(place: int) -> int:
        while parent[place] != place:
            place = parent[place]
        return place

    for key in (_doi, _text):
        first: dict[str, int] = {}
        for place, row in enumerate(rows):
            value = key(row)
            if value:
                parent[root(place)] = root(first.setdefault(value, place))
    groups = defaultdict(list)
    for place in range(len(rows)):
        groups[root(place)].append(place)
    return list(groups.values())


def _doi(row: dict[str, str]) -> str:
    return re.sub(r"^https?://(www\.)?doi\.org/", "", row["doi"].strip().lower())


def _text(row: dict[str, str]) -> str:
    return re.sub("[^A-Za-z0-9]", "", f"{row['title']} {row['abstract']}").lower()


def main(folder: Path) -> None:
    """Print a line per set and program."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        for name, find in (("bib-dedupe", bib_dedupe), ("asreview", asreview)):
            started = time.process_time()
            try:
                told = quality(find(rows), rows)
            except Exception as error:
                told = f"failed: {type(error).__name__}: {error}"
            try:
                told += f" ({version(name)})"
            except PackageNotFoundError:
                told += " (its rule)"
            print(
                f"{path.stem}, {name}: {told}, CPU {time.process_time() - started:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
