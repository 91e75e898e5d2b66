"""What a cluster needs for a corpus, from the rates that `python -m benchmarks.spark` measured."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks"

_PAGE = Path(__file__).parent.parent / "docs" / "guides/scale-out.md"
_MARKS = ("<!-- sizes: python -m benchmarks.spark sizing -->", "<!-- end of sizes -->")
_HOUR = 3600.0
_CORES = (2, 16, 128, 1024)
_DOCUMENTS = (10**6, 10**7, 10**8, 10**9, 10**10)
_TEXT_BYTES = 100  # of a short document
_ENTRIES = 12  # distinct terms of a short document
_ENTRY_BYTES = 12  # of a block: a place and a number
_ROW_BYTES = 40  # of a count on its way: kind, name and two numbers
_HEAPS = (
    30.0,
    0.55,
)  # distinct terms = 30 tokens^0.55, Heaps' law as large English collections have it
_TOKENS = 20


@dataclass(frozen=True)
class Rates:
    """What a core does in a second, and how often a fit asks.

    Parameters
    ----------
    scoring : from Parquet to Parquet
    counting : naive Bayes, both passes
    answers : entries of blocks times models, answering questions of a Laplace fit
    passes : over all documents, for a model of that fit
    """

    scoring: float
    counting: float
    answers: float
    passes: float


def _read(name: str) -> dict[str, Any]:
    file = RESULTS / f"spark-{name}.json"
    if not file.exists():
        raise SystemExit(f"{file} is not there; run: python -m benchmarks.spark {name}")
    measured: dict[str, Any] = json.loads(file.read_text())
    return measured


def measured_rates() -> Rates:
    """Return the rates of the last runs on this machine, two cores each."""
    race, growth, blocks = (_read(name) for name in ("race", "growth", "blocks"))
    fits = [*growth["categories"], *growth["vocabulary"]]
    laplace = blocks["laplace"]
    work = (
        blocks["documents"]
        * blocks["entries_per_document"]
        * blocks["categories"]
        * laplace["passes_per_model"]
    )
    return Rates(
        scoring=race["documents_per_core_second"],
        # The first fit of a session waits for Spark.
        counting=statistics.median(fit["documents"] / fit["fit_seconds"] / 2 for fit in fits),
        answers=work / laplace["seconds"] / 2,
        passes=laplace["passes_per_model"],
    )


def distinct_terms(n_documents: int) -> float:
    """How many distinct terms so many short documents hold, by Heaps' law.

    Examples
    --------
    >>> round(distinct_terms(10**6) / 10**6, 1)
    0.3
    """
    factor, power = _HEAPS
    terms: float = factor * float(n_documents * _TOKENS) ** power
    return terms


def table(rates: Rates | None = None) -> list[str]:
    """Return the rows of the table of sizes, as Markdown."""
    rates = measured_rates() if rates is None else rates
    lines = [
        (
            f"Rates a core: scoring {rates.scoring:,.0f} documents/s, counting "
            f"{rates.counting:,.0f} "
            f"documents/s, "
            f"answers {rates.answers / 1e6:,.1f} M entries x models/s; {rates.passes:.0f} passes a "
            f"model."
        ),
        "",
        (
            "| documents | text | score, core hours | on cores | hours | naive Bayes, core hours | "
            "terms that are counted "
            "| shuffled by the count | blocks | row-block fit of 16 categories, core hours |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for n in _DOCUMENTS:
        scoring = n / rates.scoring / _HOUR
        cores = next((cores for cores in _CORES if scoring / cores <= 1.0), _CORES[-1])
        terms = distinct_terms(n)
        fit = n * _ENTRIES * 16 * rates.passes / rates.answers / _HOUR
        lines.append(
            f"| 10^{len(str(n)) - 1} | {_bytes(n * _TEXT_BYTES)} | {scoring:,.2f} | {cores:,} | "
            f"{scoring / cores:,.2f} "
            f"| {n / rates.counting / _HOUR:,.2f} | {terms / 1e6:,.1f} M | "
            f"{_bytes(terms * _ROW_BYTES * 4)} "
            f"| {_bytes(n * _ENTRIES * _ENTRY_BYTES)} | {fit:,.2f} |"
        )
    return lines


def write() -> None:
    """Put the table between its marks in docs/guides/scale-out.md."""
    text = _PAGE.read_text()
    before, _, rest = text.partition(_MARKS[0])
    _, _, after = rest.partition(_MARKS[1])
    lines = "\n".join(table())
    _PAGE.write_text(f"{before}{_MARKS[0]}\n{lines}\n{_MARKS[1]}{after}")
    print(lines)


def _bytes(n: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if n < 1000 or unit == "TB":
            return f"{n:,.0f} {unit}"
        n /= 1000
    raise AssertionError
