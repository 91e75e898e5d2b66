"""Screening of four reviews against ASReview: `python -m benchmarks.screening ranking|stopping|show [REVIEW ...]`.

    ranking    average time to discovery (ATD) and work saved over sampling at 95% recall (WSS@95), a judgement at a
               time, from one relevant and one irrelevant record; the records are drawn from the seeds of
               `benchmarks/screening_asreview.py`, whose results (out/benchmarks/screening-asreview*.json) are the peer
    stopping   the share of runs with at least 95% recall where each rule stops, and what was read until there
    show       the tables of all runs so far, over the seeds that both sides have; a figure of recall curves a review

Runs are kept in out/benchmarks/screening-*.json, a file a review, and what is there is not run again. The model was
chosen on the seeds 100 to 119 (docs/explanation/screening.md).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesift.charts import Axis, Band, Figure, Layer, Line, Panel, Rule
from bayesift.charts.svg import series
from bayesift.datasets.screening import REVIEWS, load_review
from bayesift.screening.relevance import Pool
from bayesift.screening.simulation import ReviewCurve, simulate_review, simulate_stopping
from benchmarks.screening_asreview import SEEDS, draw_start

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks"
FILES = {file: name for name, file in REVIEWS.items()}


def load(review: str) -> tuple[Any, Any]:
    """Vectors and decisions."""
    return Pool.of_texts(load_review(FILES[review]).texts).X, _labels(review)


def _labels(review: str) -> Any:
    return load_review(FILES[review]).indicator.toarray()[:, 0]


def run_ranking(review: str) -> None:
    """The order of reading of every seed."""
    X, labels = load(review)
    for seed, runs, keep in _missing("ranking", review):
        runs[seed] = simulate_review(X, labels, start=draw_start(labels, int(seed))).order.tolist()
        keep()


def run_stopping(review: str) -> None:
    """Where both rules stop in the order that was read, of every seed that `ranking` has run."""
    orders, labels = _kept("ranking", review), _labels(review)
    for seed, runs, keep in _missing("stopping", review, among=orders):
        curve = ReviewCurve.of(orders[seed], labels, draw_start(labels, int(seed)))
        stopped = simulate_stopping(curve, seed=int(seed))
        low, high = stopped.expected.interval(0.95)
        runs[seed] = {
            "posterior": [stopped.by_posterior.n_read / stopped.n_documents, stopped.by_posterior.recall],
            "sample": [stopped.by_sample.n_read / stopped.n_documents, stopped.by_sample.recall],
            "remaining": [low, stopped.expected.mean, high, stopped.n_missing],
        }
        keep()


def show() -> list[str]:
    """Both tables."""
    lines = [
        "| review | seeds | ATD ours | ATD ASReview | WSS@95 ours | WSS@95 ASReview |",
        "|---|---|---|---|---|---|",
    ]
    peers = _peers()
    for review in FILES:
        ours, theirs = _kept("ranking", review), peers.get(review, {})
        seeds = sorted(set(ours) & set(theirs), key=int)
        if not seeds:
            continue
        labels = _labels(review)
        curves = {
            name: [ReviewCurve.of(runs[seed], labels, draw_start(labels, int(seed))) for seed in seeds]
            for name, runs in (("bayesift", ours), ("ASReview", theirs))
        }
        recall_curves(curves).save(RESULTS / f"screening-{review}.svg")
        atd = [np.mean([c.average_time_to_discovery for c in runs]) for runs in curves.values()]
        wss = [np.mean([c.work_saved(0.95) for c in runs]) for runs in curves.values()]
        lines.append(f"| {review} | {len(seeds)} | {atd[0]:.1f} | {atd[1]:.1f} | {wss[0]:.4f} | {wss[1]:.4f} |")
    return [*lines, "", *_show_stopping()]


def recall_curves(curves: Mapping[str, Sequence[ReviewCurve]]) -> Figure:
    """Recall against the share of documents read: the mean over runs, and the range of all of them."""
    lines, bands, shares = [], [], np.linspace(0, 1, 201).tolist()
    for place, (name, runs) in enumerate(curves.items()):
        recalls = np.array([[run.recall_after(int(share * run.n_documents)) for share in shares] for run in runs])
        delay = np.mean([run.average_time_to_discovery for run in runs])
        mean, lowest, highest = (
            list(zip(shares, values.tolist(), strict=True))
            for values in (recalls.mean(axis=0), recalls.min(axis=0), recalls.max(axis=0))
        )
        lines.append(Line(mean, series(place), f"{name} (ATD {delay:.0f})"))
        bands.append(Band(lowest, highest, series(place)))
    layers: list[Layer] = [*lines, *bands, Line([(0, 0), (1, 1)], "ideal", "random order"), Rule(y=0.95, style="thin")]
    return Figure("Recall of a review", [Panel(Axis.unit("share of documents read"), Axis.unit("recall"), layers)])


def _show_stopping() -> list[str]:
    lines = [
        "| review | seeds | posterior: coverage | read | sample: coverage | read | 95% interval holds |",
        "|---|---|---|---|---|---|---|",
    ]
    for review in FILES:
        runs = list(_kept("stopping", review).values())
        if not runs:
            continue
        cells = []
        for rule in ("posterior", "sample"):
            read, recall = np.array([run[rule] for run in runs]).T
            cells += [f"{np.mean(recall >= 0.95):.2f} (mean recall {recall.mean():.3f})", f"{read.mean():.1%}"]
        holds = np.mean([low <= missing <= high for low, _, high, missing in (run["remaining"] for run in runs)])
        lines.append(f"| {review} | {len(runs)} | {' | '.join(cells)} | {holds:.2f} |")
    return lines


def _file(kind: str, review: str) -> Path:
    return RESULTS / f"screening-{kind}-{review}.json"


def _kept(kind: str, review: str) -> dict[str, Any]:
    file = _file(kind, review)
    runs: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return runs


def _peers() -> dict[str, dict[str, list[int]]]:
    """The runs of ASReview, from all files of them."""
    peers: dict[str, dict[str, list[int]]] = {}
    for file in sorted(RESULTS.glob("screening-asreview*.json")):
        for review, runs in json.loads(file.read_text())["runs"].items():
            peers.setdefault(review, {}).update(runs)
    return peers


def _missing(kind: str, review: str, among: Container[str] | None = None) -> Any:
    """The seeds still to run, the file's content, and how to keep it; those that ASReview has run come first."""
    runs = _kept(kind, review)
    theirs = _peers().get(review, {})
    RESULTS.mkdir(parents=True, exist_ok=True)
    for seed in sorted(map(str, SEEDS), key=lambda seed: (seed not in theirs, int(seed))):
        if seed not in runs and (among is None or seed in among):
            begun = time.process_time()
            yield seed, runs, lambda: _file(kind, review).write_text(json.dumps(runs))
            print(kind, review, seed, f"{time.process_time() - begun:.1f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    command, *names = sys.argv[1:] or ["show"]
    if command == "show":
        print("\n".join(show()))
    else:
        for name in names or FILES:
            {"ranking": run_ranking, "stopping": run_stopping}[command](name)
