"""`python -m benchmarks [NAME ...]`: run benchmarks, write out/benchmarks/NAME.json, render docs/benchmarks.md."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    classify_throughput,
    filtering,
    harness,
    linear_gaussian,
    linear_laplace,
    linear_synthetic,
    naive_bayes,
    online,
    online_gp,
    path,
    probit_paper,
    scoring,
    service,
    softmax,
    term_scores,
    text_footprint,
    text_to_csr,
    thresholds,
    topics,
)

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "out" / "benchmarks"
REPORT = ROOT / "docs" / "benchmarks.md"

RACES = {
    race.name: race
    for race in (
        text_to_csr.BENCHMARK,
        term_scores.BENCHMARK,
        naive_bayes.BENCHMARK,
        naive_bayes.BENCHMARK_MULTILABEL,
        thresholds.BENCHMARK,
        linear_gaussian.BENCHMARK,
        linear_gaussian.BENCHMARK_NEWSGROUPS,
        scoring.BENCHMARK,
        probit_paper.BENCHMARK,
        softmax.BENCHMARK,
        softmax.BENCHMARK_GAUSSIAN,
        path.BENCHMARK,
        path.BENCHMARK_VALIDATION,
        linear_laplace.BENCHMARK,
        linear_laplace.BENCHMARK_SKGLM,
        linear_laplace.BENCHMARK_CELER,
        linear_synthetic.BENCHMARK,
        topics.BENCHMARK,
        online_gp.BENCHMARK,
        online_gp.BENCHMARK_BATCH,
        online.BENCHMARK,
        online.BENCHMARK_STREAM,
        classify_throughput.BENCHMARK,
    )
}
FOOTPRINTS = {
    text_footprint.NAME: text_footprint,
    linear_synthetic.NAME: linear_synthetic,
    filtering.NAME: filtering,
    service.NAME: service,
}


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all of them."""
    unknown = [name for name in names if name not in RACES and name not in FOOTPRINTS]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are: {', '.join([*RACES, *FOOTPRINTS])}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in names or [*RACES, *FOOTPRINTS]:
        measured = harness.run(RACES[name], _say) if name in RACES else FOOTPRINTS[name].run(_say)
        (RESULTS / f"{name}.json").write_text(json.dumps(measured, indent=2) + "\n")
    REPORT.write_text("\n".join(render()) + "\n")
    _say(f"written: {REPORT.relative_to(ROOT)}, {RESULTS.relative_to(ROOT)}/")


def render() -> list[str]:
    """The report of all results that are there."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`: ours and the peers run in turns in one process. Times are medians, in CPU seconds",
        "unless the row says wall; a ratio is the peer's time over ours. Results that have to agree are checked.",
    ]
    for name in [*RACES, *FOOTPRINTS]:
        file = RESULTS / f"{name}.json"
        if file.exists():
            measured = json.loads(file.read_text())
            lines += ["", f"## {name}", "", _where(measured), ""]
            lines += _render_race(measured) if name in RACES else FOOTPRINTS[name].render(measured)
    return lines


def _where(measured: dict[str, Any]) -> str:
    machine = measured["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"`{measured['command']}` on {machine['cores']} cores ({machine['processor']}), "
        f"Python {machine['python']}, {packages}."
    )


def _render_race(measured: dict[str, Any]) -> list[str]:
    lines = [f"Objective: {measured['objective']}.", ""]
    lines += ["| data | ours | s | peer | s | ratio | asked |", "|---|---|---|---|---|---|---|"]
    for result in measured["results"]:
        for c in result["comparisons"]:
            clock = " (wall)" if c["clock"] == "wall" else ""
            lines.append(
                f"| {result['dataset']} | {c['ours']} | {c['ours_seconds']:.3f}{clock} | {c['peer']} "
                f"| {c['peer_seconds']:.3f} | **{c['ratio']:.3g}** | {c['asked'] or '—'} |"
            )
    return lines


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
