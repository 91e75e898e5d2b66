"""Order the next documents of a review by relevance, information or both.

Run with `python -m benchmarks.reading_orders [START ...]`.

For each order of `ReviewQueue.next_documents`, ten documents at a time: ATD, WSS@95 and how soon
every sub-topic of the relevant documents is met, in documents read and in relevant ones found.
Sub-topics are the clusters of the relevant documents by k-means, k the root of half their number.
Starts are those that settings were chosen on (100 to 104); runs are kept in
out/benchmarks/reading-orders.json, and what is there is not run again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
from sklearn.cluster import KMeans

from bayesift.corpora.screening import REVIEWS, load_review
from bayesift.files import whole_file
from bayesift.screening.information import Order
from bayesift.screening.relevance import Pool
from bayesift.screening.simulation import ReviewCurve, random_start, simulate_review

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks" / "reading-orders.json"
STARTS = (100, 101, 102, 103, 104)
BATCH = 10
ORDERS: tuple[Order, ...] = get_args(Order)
MEASURES = ("ATD", "WSS@95", "read until every sub-topic", "finds until every sub-topic")


def sub_topics(X: Any, labels: Any) -> Any:
    """Return the cluster of every relevant document, -1 for the others."""
    relevant = np.flatnonzero(labels)
    n_clusters = max(round(np.sqrt(len(relevant) / 2)), 2)
    found = np.full(len(labels), -1)
    found[relevant] = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(
        X[relevant].toarray()
    )
    return found


def measured(curve: ReviewCurve, clusters: Any) -> list[float]:
    """Return the measures of one run, without sub-topics that only the start belongs to."""
    met = clusters[curve.order]
    first = [int(np.flatnonzero(met == cluster)[0]) + 1 for cluster in np.unique(met[met >= 0])]
    read = max(first)
    finds = int(np.searchsorted(curve.positions, read, side="right"))
    return [curve.average_time_to_discovery, curve.work_saved(0.95), read, finds]


def run(starts: tuple[int, ...]) -> dict[str, list[float]]:
    """All runs that are not there yet, the quick ones first."""
    runs: dict[str, list[float]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for start in starts:
        for name in REVIEWS:
            missing = [by for by in ORDERS if f"{name} {by} {start}" not in runs]
            if not missing:
                continue
            corpus = load_review(name)
            X, labels = Pool.of_texts(corpus.texts).X, corpus.indicator.toarray()[:, 0] > 0
            clusters = sub_topics(X, labels)
            for by in missing:
                curve = simulate_review(
                    X, labels, start=random_start(labels, start), by=by, batch=BATCH
                )
                runs[f"{name} {by} {start}"] = measured(curve, clusters)
                with whole_file(RESULTS, "w") as stream:
                    json.dump(runs, stream, indent=1)
                print(
                    name, by, start, runs[f"{name} {by} {start}"], file=sys.stderr, flush=True
                )
    return runs


def table(runs: dict[str, list[float]]) -> list[str]:
    """Means over the starts that all orders have."""
    lines = [
        "| review | starts | order | " + " | ".join(MEASURES) + " |",
        "|---|---|---|" + "---|" * len(MEASURES),
    ]
    for name in REVIEWS:
        starts = [s for s in STARTS if all(f"{name} {by} {s}" in runs for by in ORDERS)]
        for by in ORDERS if starts else ():
            atd, wss, read, finds = np.mean([runs[f"{name} {by} {s}"] for s in starts], axis=0)
            lines.append(
                f"| {name} | {len(starts)} | {by} | {atd:.1f} | {wss:.3f} | {read:.0f} | "
                f"{finds:.1f} |"
            )
    return lines


if __name__ == "__main__":
    print("\n".join(table(run(tuple(map(int, sys.argv[1:])) or STARTS))))
