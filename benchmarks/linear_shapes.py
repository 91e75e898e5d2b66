"""Time against gap on matrices of the shapes of real-sim, rcv1.binary, news20.binary.

One category that holds half of the documents, no intercept, so that all solvers minimise the same
objective: the sum of log(1 + exp(-y f)) plus |w|_1 (Laplace) or |w|^2 / 2 (Gaussian). Every solver
runs at falling tolerances; a point is the CPU seconds of a run and the relative gap of its
objective to the least one found. adelie needs other versions of NumPy: `ADELIE_PYTHON` names the
interpreter of an environment that has it.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bayesift.arrays import Array
from bayesift.charts import Axis, Figure, Frame, Line, Panel
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from benchmarks.harness import machine
from benchmarks.linear_synthetic import vectors

NAME = "linear_shapes"
SHAPES = {
    "real-sim": (72_309, 20_958, 52),
    "rcv1.binary": (20_242, 47_236, 74),
    "news20.binary": (19_996, 1_355_191, 455),
}  # documents, terms, words of a document
PRIORS = {"laplace": LaplacePrior(gamma=1.0), "gaussian": GaussianPrior(variance=1.0)}
PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "linear-gap.svg"
_OURS = {
    "laplace": (0.3, 0.1, 0.03, 0.01, 1e-3),
    "gaussian": (0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4),
}
_LIBLINEAR = {"laplace": (0.1, 0.01, 1e-3, 1e-4), "gaussian": (1.0, 0.1, 0.01, 1e-3)}
_ADELIE = (1e-4, 1e-6, 1e-8)
_FLOOR = 1e-10  # of the gaps drawn
_ADELIE_SCRIPT = """
import json, sys, time
import adelie, numpy, scipy.sparse
X, y = scipy.sparse.load_npz(sys.argv[1] + "/X.npz").tocsc(), numpy.load(sys.argv[1] + "/y.npy")
for tolerance in json.loads(sys.argv[2]):
    start = time.process_time()
    path = numpy.geomspace(numpy.abs(X.T @ (y - 0.5)).max(), 1.0, 10) / len(y)
    state = adelie.grpnet(
        adelie.matrix.sparse(X), adelie.glm.binomial(y), alpha=1, lmda_path=path, intercept=False,
        early_exit=False,
        tol=tolerance, irls_tol=tolerance, progress_bar=False, adev_tol=1.0,
    )
    seconds = time.process_time() - start
    row = state.betas.tocsr()[[-1]]
    numpy.save(f"{sys.argv[1]}/{tolerance}.npy", numpy.asarray(row.todense()).ravel())
    print(tolerance, seconds, flush=True)
"""


def labelled(shape: str) -> tuple[Any, Array]:
    """Return a matrix of a shape, and labels by sparse planted weights with noise.

    The positive half has the higher scores.
    """
    n, terms, length = SHAPES[shape]
    X, generator = vectors(n, terms, length), np.random.default_rng(1)
    weights = np.zeros(terms)
    weights[generator.choice(2000, size=200, replace=False)] = 4.0 * generator.normal(size=200)
    scores = X @ weights
    scores += generator.logistic(scale=0.1 * scores.std(), size=n)
    return X, (scores > np.median(scores)).astype(float)


def objective(X: Any, y: Array, weights: Array, prior: str) -> float:
    """Return the objective that all solvers minimise."""
    cost = np.abs(weights).sum() if prior == "laplace" else 0.5 * weights @ weights
    return float(np.logaddexp(0.0, -(2.0 * y - 1.0) * (X @ weights)).sum() + cost)


def _ours(X: Any, y: Array, prior: str) -> Iterator[tuple[float, Array]]:
    SparseBayesClassifier(prior=PRIORS[prior], intercept=None).fit(X[:200], y[:200])  # compiles
    for tolerance in _OURS[prior]:
        start = time.process_time()
        model = SparseBayesClassifier(
            prior=PRIORS[prior], intercept=None, tol=tolerance, n_jobs=1
        ).fit(X, y)
        seconds = time.process_time() - start
        yield (
            seconds,
            model.coef_.toarray().ravel()
            if sparse.issparse(model.coef_)
            else model.coef_.ravel(),
        )


def _liblinear(X: Any, y: Array, prior: str) -> Iterator[tuple[float, Array]]:
    settings = {"l1_ratio": 1.0} if prior == "laplace" else {"l1_ratio": 0.0, "dual": True}
    for tolerance in _LIBLINEAR[prior]:
        peer = LogisticRegression(
            solver="liblinear",
            C=1.0,
            fit_intercept=False,
            tol=tolerance,
            max_iter=2000,
            random_state=0,
            **settings,
        )
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.fit(sparse.csr_matrix(X), y)
        yield time.process_time() - start, peer.coef_.ravel()


def _lbfgs(X: Any, y: Array, prior: str) -> Iterator[tuple[float, Array]]:
    for tolerance in (1e-2, 1e-4, 1e-6) if prior == "gaussian" else ():
        peer = LogisticRegression(C=1.0, fit_intercept=False, tol=tolerance, max_iter=2000)
        start = time.process_time()
        peer.fit(sparse.csr_matrix(X), y)
        yield time.process_time() - start, peer.coef_.ravel()


def _adelie(X: Any, y: Array, prior: str) -> Iterator[tuple[float, Array]]:
    """Along a path of ten strengths, as it is meant to be used.

    In a process of its own environment.
    """
    if prior != "laplace" or "ADELIE_PYTHON" not in os.environ:
        return
    with tempfile.TemporaryDirectory() as folder:
        sparse.save_npz(f"{folder}/X.npz", sparse.csc_matrix(X), compressed=False)
        np.save(f"{folder}/y.npy", y)
        command = [
            os.environ["ADELIE_PYTHON"],
            "-c",
            _ADELIE_SCRIPT,
            folder,
            json.dumps(_ADELIE),
        ]
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONPATH"
        }
        written = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment
        ).stdout
        for line in written.splitlines():
            tolerance, seconds = line.split()
            yield float(seconds), np.load(f"{folder}/{tolerance}.npy")


CONTENDERS = {"bayesift": _ours, "liblinear": _liblinear, "lbfgs": _lbfgs, "adelie": _adelie}


def measure(
    shape: str, prior: str, say: Callable[[str], None]
) -> dict[str, list[tuple[float, float]]]:
    """Seconds and gaps of every contender."""
    X, y = labelled(shape)
    reached = {}
    for name, solve in CONTENDERS.items():
        reached[name] = [
            (seconds, objective(X, y, weights, prior))
            for seconds, weights in solve(X, y, prior)
        ]
        say(f"{NAME}: {shape}, {prior}, {name}: {reached[name]}")
    least = min(value for points in reached.values() for _, value in points)
    return {
        name: [(t, value / least - 1.0) for t, value in points]
        for name, points in reached.items()
        if points
    }


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Measure all shapes under both priors; writes the picture."""
    curves = {
        f"{shape}, {prior}": measure(shape, prior, say) for prior in PRIORS for shape in SHAPES
    }
    draw(curves).save(PICTURE)
    command, date = f"python -m benchmarks {NAME}", datetime.date.today().isoformat()
    return {"command": command, "date": date, "machine": machine(), "curves": curves}


def seconds_at(points: list[tuple[float, float]], gap: float) -> float | None:
    """Return the least time of a run that reached the gap."""
    return min((seconds for seconds, left in points if left <= gap), default=None)


def render(measured: dict[str, Any]) -> list[str]:
    """Return the rows of the report."""
    lines = [
        *" ".join((__doc__ or "").split("\n\n")[1].split()).split("\n"),
        "",
        "![Time against gap](pictures/linear-gap.svg)",
        "",
        (
            "CPU seconds of the quickest run with a gap of at most 1e-3, 1e-5 and 1e-7 (-: none of "
            "its runs):"
        ),
        "",
        "| shape, prior | solver | 1e-3 | 1e-5 | 1e-7 |",
        "|---|---|---|---|---|",
    ]
    for problem, curves in measured["curves"].items():
        for name, points in curves.items():
            found = [seconds_at(points, gap) for gap in (1e-3, 1e-5, 1e-7)]
            lines.append(
                f"| {problem} | {name} | "
                + " | ".join("-" if s is None else f"{s:.2f}" for s in found)
                + " |"
            )
    return lines


def _ticks(least: float, most: float) -> tuple[float, ...]:
    """1, 3, 10 and so on, around a range."""
    ticks = sorted(factor * 10.0**power for power in range(-4, 4) for factor in (1, 3))
    first = max(place for place, tick in enumerate(ticks) if tick <= least)
    last = min(place for place, tick in enumerate(ticks) if tick >= most)
    return tuple(float(f"{tick:.4g}") for tick in ticks[first : last + 1])


def draw(curves: dict[str, dict[str, list[tuple[float, float]]]]) -> Figure:
    """Draw a panel for each shape (across) and prior (down)."""
    panels, width, height = [], 300, 240
    for place, (problem, by_solver) in enumerate(curves.items()):
        down, right = divmod(place, len(SHAPES))
        left, top = 60 + right * width, 30 + down * height
        shown = {
            name: [(t, math.log10(max(gap, _FLOOR))) for t, gap in points]
            for name, points in by_solver.items()
        }
        times = [t for points in shown.values() for t, _ in points]
        x = Axis("CPU seconds", _ticks(min(times), max(times)), log=True)
        y = Axis("log10 of the relative gap", tuple(range(-10, 1, 2)))
        lines = [
            Line(shown[name], f"series-{1 + list(CONTENDERS).index(name)}", name, marked=True)
            for name in shown
        ]
        frame = Frame(left, left + width - 50, top, top + height - 70)
        panels.append(Panel(x, y, lines, frame, problem, y_shown=right == 0))
    rows = -(-len(curves) // len(SHAPES))
    return Figure(
        "Time against gap", panels, width=40 + len(SHAPES) * width, height=20 + rows * height
    )
