"""`python -m benchmarks.tables [rows]`: reading and checking a generated CSV file, beside `csv.DictReader`.

Prints CPU seconds of each step in one process, and their ratio to `csv.DictReader`, which makes a dictionary per row
and checks nothing.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayesift.datasets import check_corpus, load_table
from bayesift.datasets.streaming import TextReader


def write_file(path: Path, n_rows: int, seed: int = 0) -> None:
    """Rows of an id, a title, 20 to 120 invented words and one of 20 labels; one text in ten is not ASCII."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(20_000)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "title", "body", "desk"])
        for number in range(n_rows):
            text = " ".join(rng.choices(words, k=rng.randint(20, 120))) + (" caf\u00e9" if number % 10 == 0 else "")
            writer.writerow([f"d{number}", " ".join(rng.choices(words, k=6)), text, f"desk{rng.randrange(20)}"])


def read_dictionaries(path: Path) -> int:
    """The number of rows, each read into a dictionary."""
    with path.open(encoding="utf-8", newline="") as stream:
        return len(list(csv.DictReader(stream)))


def timed(step: str, work: Callable[[], Any], unit: float | None = None) -> tuple[Any, float]:
    """The result of some work and its CPU seconds, which are printed."""
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    print(f"{step}: {seconds:.2f} CPU s" + (f", ratio {seconds / unit:.2f}" if unit else ""))
    return result, seconds


def main(n_rows: int = 300_000) -> None:
    """Measure every step on one file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "news.csv"
        write_file(path, n_rows)
        print(f"{n_rows:,} rows, {path.stat().st_size / 2**20:.0f} MB")
        _, unit = timed("csv.DictReader", lambda: read_dictionaries(path))
        timed("TextReader (classify)", lambda: sum(len(batch.ids) for batch in TextReader(path)), unit)
        corpus, _ = timed("load_table (fit)", lambda: load_table(path), unit)
        timed("check_corpus, inside fit", lambda: check_corpus(corpus, thorough=False), unit)
        timed("check_corpus, thorough", lambda: check_corpus(corpus), unit)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
