"""A benchmark is an objective, data sets and contenders.

Ours and the peers run in turns in one process.
"""

from __future__ import annotations

import datetime
import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Dataset:
    """Named input.

    `load` gives None when the corpus is not in the data directory, `judged` says whether bars
    apply.
    """

    name: str
    load: Callable[[], Any]
    judged: bool = True


@dataclass(frozen=True)
class Contender:
    """One way to reach the objective."""

    name: str
    run: Callable[[Any], Any]


@dataclass(frozen=True)
class Comparison:
    """A comparison with a peer: the speed-up that is asked, if any, and the clock."""

    ours: str
    peer: str
    asked: float | None = None
    clock: str = "cpu"


@dataclass(frozen=True)
class Benchmark:
    """What is measured.

    Parameters
    ----------
    name : also the name of the JSON file
    objective : what every contender has to produce, in a sentence
    datasets, contenders : who runs on what
    comparisons : the ratios to report
    check : raises when results of the contenders do not agree
    repeats : turns; medians are reported
    """

    name: str
    objective: str
    datasets: Sequence[Dataset]
    contenders: Sequence[Contender]
    comparisons: Sequence[Comparison]
    check: Callable[[dict[str, Any]], None] = lambda results: None
    repeats: int = 5


@dataclass
class Timing:
    """Seconds of each turn."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def median(self, clock: str) -> float:
        """Median by one clock."""
        return statistics.median({"wall": self.wall, "cpu": self.cpu}[clock])


def run(benchmark: Benchmark, say: Callable[[str], None]) -> dict[str, Any]:
    """Run a benchmark on every data set that is there."""
    results = []
    for dataset in benchmark.datasets:
        data = dataset.load()
        if data is None:
            say(f"{benchmark.name}: {dataset.name} is not in the data directory, left out")
            continue
        results.append({"dataset": dataset.name, **_run_on(benchmark, dataset, data, say)})
    return {
        "benchmark": benchmark.name,
        "objective": benchmark.objective,
        "command": f"python -m benchmarks {benchmark.name}",
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "results": results,
    }


def _run_on(
    benchmark: Benchmark, dataset: Dataset, data: Any, say: Callable[[str], None]
) -> dict[str, Any]:
    timings = {contender.name: Timing() for contender in benchmark.contenders}
    for turn in range(-1, benchmark.repeats):
        outputs = {}
        for contender in benchmark.contenders:
            say(
                f"{benchmark.name}: {dataset.name}: {contender.name}, "
                f"{'warm-up' if turn < 0 else f'turn {turn + 1}'}"
            )
            timing, outputs[contender.name] = _time(contender, data)
            if turn >= 0:
                timings[contender.name].wall.append(timing[0])
                timings[contender.name].cpu.append(timing[1])
        if turn < 0:
            benchmark.check(outputs)
    return {
        "timings": {name: asdict(timing) for name, timing in timings.items()},
        "comparisons": [
            _compare(comparison, timings, judged=dataset.judged)
            for comparison in benchmark.comparisons
        ],
    }


def _time(contender: Contender, data: Any) -> tuple[tuple[float, float], Any]:
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    output = contender.run(data)
    return (time.perf_counter() - wall, time.process_time() - cpu), output


def _compare(
    comparison: Comparison, timings: dict[str, Timing], *, judged: bool
) -> dict[str, Any]:
    ours = timings[comparison.ours].median(comparison.clock)
    peer = timings[comparison.peer].median(comparison.clock)
    asked = comparison.asked if judged else None
    return {
        **asdict(comparison),
        "asked": asked,
        "ours_seconds": ours,
        "peer_seconds": peer,
        "ratio": peer / ours,
    }


def machine() -> dict[str, Any]:
    """Return the versions and the hardware that the numbers depend on."""
    packages = ("bayesift", "numba", "numpy", "scipy", "scikit-learn", "pyarrow", "PyStemmer")
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "python": platform.python_version(),
        "versions": {package: version(package) for package in packages},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.partition(":")[2].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
