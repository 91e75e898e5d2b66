"""Read a generated CSV file and compare with `csv.DictReader`; then fit on short texts.

Run with `python -m benchmarks.tables [rows]`.

Prints CPU seconds of each step in one process, and their ratio to `csv.DictReader`, which makes a
dictionary per row and checks nothing. Then CPU seconds and peak memory of `bayesift fit --model
naive-bayes` on pieces of 20 words of Reuters and 20 Newsgroups, of the same `--out-of-core`, and of
a scikit-learn script, in processes of their own.
"""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from bayesift.corpora import check_corpus, load_newsgroups, load_reuters
from bayesift.corpora.streaming import TextReader
from bayesift.tables import load_table
from benchmarks.corpora import if_present

_SCRIPT = """
import csv, sys
import joblib
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

texts, labels = [], []
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        texts.append(row["text"])
        labels.append(row["label"])
joblib.dump(make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, labels), sys.argv[2])
"""


def write_file(path: Path, n_rows: int, seed: int = 0) -> None:
    """Rows of an id, a title, 20 to 120 invented words and one of 20 labels.

    One text in ten is not ASCII.
    """
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(20_000)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "title", "body", "desk"])
        for number in range(n_rows):
            text = " ".join(rng.choices(words, k=rng.randint(20, 120))) + (
                " caf\u00e9" if number % 10 == 0 else ""
            )
            writer.writerow(
                [
                    f"d{number}",
                    " ".join(rng.choices(words, k=6)),
                    text,
                    f"desk{rng.randrange(20)}",
                ]
            )


def read_dictionaries(path: Path) -> int:
    """Read each row into a dictionary and return the number of rows."""
    with path.open(encoding="utf-8", newline="") as stream:
        return len(list(csv.DictReader(stream)))


@if_present
def write_pieces(path: Path, n_rows: int) -> Path:
    """Write shuffled rows of 20 words and the first category of their document.

    The documents are those of Reuters or 20 Newsgroups.
    """
    rows: list[tuple[str, str]] = []
    for document in chain(load_newsgroups().labelled(), load_reuters().labelled()):
        words = document.full_text.split()
        rows += [
            (" ".join(words[k : k + 20]), document.categories[0])
            for k in range(0, len(words), 20)
        ]
    random.Random(0).shuffle(rows)
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows[:n_rows]])
    return path


def fit_race(folder: Path, n_rows: int, repeats: int = 3) -> None:
    """CPU seconds and peak memory of the commands and the script, in turns."""
    path = write_pieces(folder / "pieces.csv", n_rows)
    if path is None:
        print("Reuters and 20 Newsgroups are not in the data directory: fit is left out")
        return
    fit = [
        sys.executable,
        "-m",
        "bayesift",
        "fit",
        str(path),
        "--model",
        "naive-bayes",
        "-o",
        str(folder / "model.zip"),
    ]
    commands = {
        "scikit-learn script": [
            sys.executable,
            "-c",
            _SCRIPT,
            str(path),
            str(folder / "model.joblib"),
        ],
        "bayesift fit": fit,
        "bayesift fit --out-of-core": [*fit, "--out-of-core"],
    }
    used: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            used[name].append(_usage(command))
    best = {
        name: (min(cpu for cpu, _ in turns), max(mb for _, mb in turns))
        for name, turns in used.items()
    }
    unit, memory = best["scikit-learn script"]
    for name, (cpu, mb) in best.items():
        print(
            f"{name}: {cpu:.2f} CPU s, ratio {cpu / unit:.2f}; {mb:.0f} MB, ratio {mb / memory:.2f}"
        )


def _usage(command: list[str]) -> tuple[float, float]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def timed(step: str, work: Callable[[], Any], unit: float | None = None) -> tuple[Any, float]:
    """Run a step, print its CPU seconds, and return its result and the seconds."""
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
        timed(
            "TextReader (classify)",
            lambda: sum(len(batch.ids) for batch in TextReader(path)),
            unit,
        )
        corpus, _ = timed("load_table (fit)", lambda: load_table(path), unit)
        timed("check_corpus, inside fit", lambda: check_corpus(corpus, thorough=False), unit)
        timed("check_corpus, thorough", lambda: check_corpus(corpus), unit)
        fit_race(Path(folder), n_rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
