"""All of RCV1's shape on one machine: seconds and peak memory of a fit, in a process of its own.

The matrix is synthetic (`linear_synthetic.whole`). Peak memory is that of the whole process while
it fits, interpreter and libraries included; beside it what the process held before the fit, matrix
and labels included.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from benchmarks.harness import machine
from benchmarks.linear_laplace import RATE
from benchmarks.linear_synthetic import DOCUMENTS, whole

NAME = "linear_whole"

_RATE = 804_414 / DOCUMENTS * RATE  # the penalty per document of the smaller corpora
_MODELS = {
    "Laplace, all 103 categories": (LaplacePrior(gamma=_RATE**2), 7e-3, 1),
    "Gaussian, every tenth category": (GaussianPrior(variance=10.0), 2e-3, 10),
}


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Fit each model in a process of its own."""
    found = {}
    for name in _MODELS:
        command = [sys.executable, "-m", "benchmarks.linear_whole", name]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
        )
        found[name] = json.loads(done.stdout)
        say(f"{NAME}: {name}: {found[name]}")
    command_line, date = f"python -m benchmarks {NAME}", datetime.date.today().isoformat()
    return {"command": command_line, "date": date, "machine": machine(), "found": found}


def render(measured: dict[str, Any]) -> list[str]:
    """Return the rows of the report."""
    lines = [
        (
            "Logistic regression on a synthetic corpus of the shape of all of RCV1, 804,414 x "
            "47,236, "
            "one thread."
        ),
        "Memory in MB.",
        "",
        "| model | CPU s | converged | matrix | held before | peak | peak / matrix |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in measured["found"].items():
        share = row["peak"] / row["matrix"]
        lines.append(
            f"| {name} | {row['seconds']:.1f} | {row['converged']} | {row['matrix']:,.0f} | "
            f"{row['before']:,.0f} "
            f"| {row['peak']:,.0f} | {share:.2f} |"
        )
    return lines


def measure(name: str) -> dict[str, Any]:
    """Fit one model in this process."""
    prior, tol, every = _MODELS[name]
    X, Y = whole()
    Y = sparse.csr_array(Y[:, ::every])
    SparseBayesClassifier(prior=prior, tol=tol, n_jobs=1).fit(X[:2000], Y[:2000])  # compiles
    _forget_peak()
    before, start = _memory("VmRSS"), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        SparseBayesClassifier(prior=prior, tol=tol, n_jobs=1).fit(X, Y)
    return {
        "seconds": time.process_time() - start,
        "converged": "; ".join(str(warning.message) for warning in caught) or "all",
        "matrix": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6,
        "before": before,
        "peak": _memory("VmHWM"),
    }


def _forget_peak() -> None:
    """Set the kernel's record of the peak to what is held now."""
    Path("/proc/self/clear_refs").write_text("5")


def _memory(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024 / 1e6


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
