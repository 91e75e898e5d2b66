"""Run benchmarks, write their results, and renew their sections of the page.

`python -m benchmarks [NAME ...]` writes out/benchmarks/NAME.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks import (
    classify_throughput,
    cold_start,
    defaults,
    filtering,
    harness,
    linear_gaussian,
    linear_laplace,
    linear_shapes,
    linear_svm,
    linear_synthetic,
    linear_whole,
    naive_bayes,
    online,
    online_gp,
    path,
    probit_paper,
    report,
    scoring,
    service,
    softmax,
    spike_slab,
    stacking,
    term_scores,
    text_footprint,
    text_to_csr,
    threads,
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
        linear_gaussian.BENCHMARK_RCV1,
        linear_svm.BENCHMARK,
        linear_svm.BENCHMARK_RCV1,
        scoring.BENCHMARK,
        probit_paper.BENCHMARK,
        softmax.BENCHMARK,
        softmax.BENCHMARK_GAUSSIAN,
        stacking.BENCHMARK,
        stacking.BENCHMARK_LONG,
        path.BENCHMARK,
        path.BENCHMARK_VALIDATION,
        linear_laplace.BENCHMARK,
        linear_laplace.BENCHMARK_SKGLM,
        linear_laplace.BENCHMARK_CELER,
        *linear_laplace.BENCHMARKS_OTHERS,
        linear_synthetic.BENCHMARK,
        *linear_synthetic.BENCHMARKS_TEN_TIMES,
        spike_slab.BENCHMARK,
        spike_slab.BENCHMARK_PROBIT,
        topics.BENCHMARK,
        online_gp.BENCHMARK,
        online_gp.BENCHMARK_BATCH,
        online.BENCHMARK,
        online.BENCHMARK_STREAM,
        classify_throughput.BENCHMARK,
        threads.BENCHMARK,
    )
}
FOOTPRINTS = {
    cold_start.NAME: cold_start,
    defaults.NAME: defaults,
    text_footprint.NAME: text_footprint,
    linear_synthetic.NAME: linear_synthetic,
    linear_shapes.NAME: linear_shapes,
    linear_whole.NAME: linear_whole,
    filtering.NAME: filtering,
    service.NAME: service,
}


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all of them."""
    unknown = [name for name in names if name not in RACES and name not in FOOTPRINTS]
    if unknown:
        sys.exit(
            f"no benchmark {', '.join(unknown)}; there are: {', '.join([*RACES, *FOOTPRINTS])}"
        )
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in names or [*RACES, *FOOTPRINTS]:
        measured = (
            harness.run(RACES[name], _say) if name in RACES else FOOTPRINTS[name].run(_say)
        )
        (RESULTS / f"{name}.json").write_text(json.dumps(measured, indent=2) + "\n")
        lines = (
            report.race_lines(measured) if name in RACES else FOOTPRINTS[name].render(measured)
        )
        page = REPORT.read_text() if REPORT.exists() else ""
        REPORT.write_text(
            report.updated(page, {name: report.section(measured, lines)}, [*RACES, *FOOTPRINTS])
        )
    _say(f"written: {REPORT.relative_to(ROOT)}, {RESULTS.relative_to(ROOT)}/")


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
