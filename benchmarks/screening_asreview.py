"""Run ASReview on 14 reviews, in an environment of its own.

Run with `python benchmarks/screening_asreview.py OUT.json`.

Needs `pip install asreview==3.0.8` and nothing of bayesift. Its default model (ELAS u4: TF-IDF of
words and pairs of words, linear SVM, balanced) is simulated through its own `Simulate` with the
stages of its command line, a record at a time, from one relevant and one irrelevant record.
`benchmarks.screening` draws the same records from the same seeds.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

REVIEWS = (
    "Cohen_2006_Antihistamines",
    "Cohen_2006_Estrogens",
    "Cohen_2006_OralHypoglycemics",
    "Cohen_2006_Triptans",
    "Cohen_2006_ADHD",
    "Cohen_2006_CalciumChannelBlockers",
    "Cohen_2006_SkeletalMuscleRelaxants",
    "Kitchenham_2010",
    "Cohen_2006_Opioids",
    "Nagtegaal_2019",
    "More_BannachBrown",
    "More_COPD",
    "More_Kwok",
    "More_ProtonPumpInhibitors",
)
SEEDS = range(200, 210)  # looked at once, when the model was settled


def draw_start(labels: Any, seed: int) -> tuple[int, int]:
    """Draw a relevant and an irrelevant row at random."""
    rng = np.random.default_rng(seed)
    labels = np.asarray(labels)
    return int(rng.choice(np.flatnonzero(labels == 1))), int(
        rng.choice(np.flatnonzero(labels == 0))
    )


def simulate(table: Any, labels: Any, seed: int) -> list[int]:
    """Return the rows in ASReview's order, without the start, up to the last relevant one."""
    from asreview import ActiveLearningCycle, Simulate
    from asreview.models.models import get_ai_config

    np.random.seed(seed)  # noqa: NPY002 - what its command line does
    cycle = ActiveLearningCycle.from_meta(get_ai_config()["value"])
    simulation = Simulate(table, labels, [cycle], print_progress=False)
    start = draw_start(labels, seed)
    simulation.label(list(start))
    simulation.review()
    return [int(row) for row in simulation._results["record_id"]][2:]


def main(target: Path) -> None:
    """Run all seeds of all reviews; what the file holds already is kept."""
    from asreview import load_dataset
    from asreview.models.models import get_ai_config

    results = json.loads(target.read_text()) if target.exists() else {"runs": {}}
    results |= {"asreview": version("asreview"), "model": get_ai_config()["label"]}
    folder = Path(os.environ["BAYESIFT_DATA"]) / "screening"
    tables = {}
    for review in REVIEWS:
        with load_dataset(folder / f"{review}.csv") as database:
            tables[review] = (
                database.input.get_df(),
                np.asarray(database.input["included"]).astype(int),
            )
    for seed in SEEDS:
        for review, (table, labels) in tables.items():
            runs = results["runs"].setdefault(review, {})
            if str(seed) not in runs:
                begun = time.process_time()
                order = simulate(table, labels, seed)
                runs[str(seed)] = {"order": order, "cpu": time.process_time() - begun}
                target.write_text(json.dumps(results))
                print(
                    review, seed, len(order), f"{time.process_time() - begun:.1f} s", flush=True
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
