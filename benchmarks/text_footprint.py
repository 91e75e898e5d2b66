"""Measure the vectorizer's first run on a new machine, and its memory for a million documents.

Each is measured in a process of its own: a compiled kernel or a high-water mark of memory cannot be
taken back.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks.harness import machine

NAME = "text_footprint"

_FIRST_RUN = """
import json, time
start = time.perf_counter()
from bayesift import TermVectorizer
imported = time.perf_counter()
TermVectorizer(ngram_range=(1, 2)).fit_transform(["corn and wheat", "blé"])
fitted = time.perf_counter()
print(json.dumps({"import_seconds": imported - start, "fit_seconds": fitted - imported}))
"""

_IMPORT = """
import json, sys, time
start = time.perf_counter()
import bayesift
print(json.dumps({"seconds": time.perf_counter() - start, "numba_loaded": "numba" in sys.modules}))
"""

_MEMORY = """
import json, random
from pathlib import Path
from %(module)s import %(vectorizer)s

def texts():
    rng = random.Random(0)
    words = [f"word{i}" for i in range(200_000)]
    ranks = [1 / (i + 10) for i in range(200_000)]
    pool = rng.choices(words, ranks, k=4_000_000)
    for i in range(1_000_000):
        start = rng.randrange(len(pool) - 20)
        yield " ".join(pool[start : start + 20])

def peak():
    # Not ru_maxrss: that of a child process starts at its parent's.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

%(vectorizer)s().fit_transform(["corn and wheat", "oats"])
for _ in texts():
    pass
before = peak()
X = %(vectorizer)s().fit_transform(texts())
matrix = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
memory = {"peak_mib": peak(), "before_mib": before, "matrix_mib": matrix}
print(json.dumps(memory | {"nonzeros": int(X.nnz)}))
"""


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Measure the footprint."""
    say(f"{NAME}: import bayesift")
    imported = [_python(_IMPORT) for _ in range(5)]
    with tempfile.TemporaryDirectory() as cache:
        say(f"{NAME}: first run, nothing compiled")
        first = _python(_FIRST_RUN, cache)
        say(f"{NAME}: second run, kernels cached")
        second = _python(_FIRST_RUN, cache)
    memory = {}
    for module, vectorizer in (
        ("bayesift", "TermVectorizer"),
        ("sklearn.feature_extraction.text", "CountVectorizer"),
    ):
        say(f"{NAME}: a million documents of 20 words, {vectorizer}")
        memory[vectorizer] = _python(_MEMORY % {"module": module, "vectorizer": vectorizer})
    return {
        "benchmark": NAME,
        "command": f"python -m benchmarks {NAME}",
        "machine": machine(),
        "import": sorted(imported, key=lambda measured: measured["seconds"])[
            len(imported) // 2
        ],
        "first_run": first,
        "second_run": second,
        "memory": memory,
    }


def render(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the report."""
    rows = [
        ("`import bayesift`", f"{measured['import']['seconds']:.2f} s"),
        (
            "first `fit_transform` of a process, nothing compiled yet",
            f"{measured['first_run']['fit_seconds']:.1f} s",
        ),
        ("the same with kernels cached", f"{measured['second_run']['fit_seconds']:.2f} s"),
        *(
            (
                (
                    f"memory a million documents of 20 words take at the peak, {name} (matrix: "
                    f"{m['matrix_mib']:,.0f} MiB)"
                ),
                f"{m['peak_mib'] - m['before_mib']:,.0f} MiB",
            )
            for name, m in measured["memory"].items()
        ),
    ]
    return [
        "| what | measured |",
        "|---|---|",
        *(f"| {what} | {value} |" for what, value in rows),
    ]


def _python(program: str, cache: str | None = None) -> dict[str, Any]:
    environment = {**os.environ, **({"BAYESIFT_CACHE": cache} if cache else {})}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured
