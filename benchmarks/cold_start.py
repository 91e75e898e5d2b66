"""Time the first and the second command on a new machine against a scikit-learn script.

Everything runs in processes of its own with an empty home and an empty cache of kernels; what
counts is the CPU time of the process and its children, start and imports included. Our modules are
compiled to bytecode before, as pip does when it installs a package. One script fits TF-IDF of words
and word pairs and a logistic regression; the other one also cross-validates it, as `bayesift fit`
does to say what to expect.
"""

from __future__ import annotations

import compileall
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bayesift
from bayesift.corpora import load
from bayesift.errors import CorpusNotFoundError
from benchmarks.harness import machine

NAME = "cold_start"

_MESSAGES = 4_000
_REPEATS = 3
_SCRIPT = """
import csv, sys
import joblib
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

source, target, validate, penalty = sys.argv[1:]
with open(source, newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]
line = LogisticRegression(C=30.0, max_iter=1000)
if penalty == "l1":
    line = LogisticRegression(C=10.0, l1_ratio=1.0, solver="liblinear")
ngrams = (1, 1 if penalty == "l1" else 2)
model = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=ngrams), line)
if validate == "yes":
    print("accuracy", cross_val_score(model, texts, labels, cv=5).mean())
joblib.dump(model.fit(texts, labels), target)
"""


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Measure the commands and the scripts in turns."""
    seconds: dict[str, list[float]] = {}
    compileall.compile_dir(str(Path(bayesift.__file__).parent), quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        corpus = _write_messages(Path(folder))
        for turn in range(_REPEATS):
            for name, (command, home) in _commands(Path(folder), corpus, turn).items():
                say(f"{NAME}: {name}, turn {turn + 1}")
                seconds.setdefault(name, []).append(_cpu_seconds(command, home))
    return {
        "benchmark": NAME,
        "command": f"python -m benchmarks {NAME}",
        "machine": machine(),
        "cpu_seconds": {name: statistics.median(turns) for name, turns in seconds.items()},
    }


def render(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the report."""
    seconds = measured["cpu_seconds"]
    lines = [
        "| command | CPU s | of the script | of the script that validates |",
        "|---|---|---|---|",
    ]
    for name, value in seconds.items():
        peers = (
            ("script, L1", "script, L1, validates")
            if "laplace" in name
            else ("script", "script, validates")
        )
        ratios = [f"{value / seconds[peer]:.2f}x" if "fit" in name else "" for peer in peers]
        lines.append(f"| {name} | {value:.2f} | {' | '.join(ratios)} |")
    return lines


def _write_messages(folder: Path) -> Path:
    """Write 4,000 messages as a CSV file: SMS spam, or sentences of Python's documentation."""
    try:
        documents = load("sms-spam").documents
    except CorpusNotFoundError:
        documents = load("pydocs").documents
    rows = [
        (document.text, document.categories[0]) for document in documents if document.categories
    ]
    path = folder / "messages.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows[:_MESSAGES]])
    return path


def _commands(folder: Path, corpus: Path, turn: int) -> dict[str, tuple[list[str], Path]]:
    """Return the commands by name, each with its home; a second run has the home of the first."""
    bayesift = [sys.executable, "-m", "bayesift"]
    commands: dict[str, tuple[list[str], Path]] = {}
    for label, more in (
        ("fit", []),
        ("fit --model logistic-laplace", ["--model", "logistic-laplace"]),
    ):
        home = folder / f"{label}-{turn}"
        fit = [*bayesift, "fit", str(corpus), "-o", str(folder / "model.zip"), "--quiet", *more]
        commands[f"bayesift {label}, first"] = commands[f"bayesift {label}, second"] = (
            fit,
            home,
        )
    for label, *given in (
        ("script", "no", "l2"),
        ("script, validates", "yes", "l2"),
        ("script, L1", "no", "l1"),
        ("script, L1, validates", "yes", "l1"),
    ):
        script = [
            sys.executable,
            "-c",
            _SCRIPT,
            str(corpus),
            str(folder / "model.joblib"),
            *given,
        ]
        commands[label] = script, folder / "scripts"
    commands["bayesift --help"] = [*bayesift, "--help"], folder / "other"
    commands["bayesift explain missing.zip x"] = (
        [*bayesift, "explain", "missing.zip", "x"],
        folder / "other",
    )
    return commands


def _cpu_seconds(command: Sequence[str], home: Path) -> float:
    home.mkdir(exist_ok=True)
    places = {
        "HOME": str(home),
        "BAYESIFT_CACHE": str(home / "cache"),
        "XDG_CACHE_HOME": str(home / "cache"),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **places}, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
