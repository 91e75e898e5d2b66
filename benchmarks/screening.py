"""Screening of 14 reviews against ASReview: `python -m benchmarks.screening COMMAND [REVIEW ...]`.

    ranking    the order of reading, a judgement at a time, from one relevant and one irrelevant
               record; the records are drawn from the seeds of `benchmarks/screening_asreview.py`,
               whose results (out/benchmarks/screening-asreview.json) are the peer
    show       measures of both sides over the seeds that both have, ratios with Wilcoxon's test,
               and CPU seconds
    stopping   for every rule the share of runs with at least 95% recall where it stops, and the
               number of records read until then, in the orders of `ranking` and, for `FindsRule`,
               in shuffled, half shuffled and reversed ones; its weights were learned on made pools
               (`benchmarks/finds.py`), not on these reviews
    chao       where Chao's rule stops on the first seeds, with the parts of the pool as rankers;
               for `stopping`
    query      ATD from a query in words and no labels, over the mean ATD of `ranking`
    picture    recall curves of all reviews, as docs/pictures/screening-recall.svg

Records are ranked with the word vectors of the extra, or without them if the environment variable
VARIANT is "words". Orders are kept in out/benchmarks/screening-VARIANT.json, and what is there is
not run again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from bayesift.charts import Axis, Band, Figure, Frame, Layer, Line, Panel, Rule
from bayesift.charts.svg import series
from bayesift.corpora import load_screening
from bayesift.corpora.directory import find
from bayesift.records import Corpus
from bayesift.screening import (
    STOPPING_RULES,
    FindsForecast,
    Pool,
    ReviewCurve,
    chao_rule,
    sample_size,
)
from bayesift.screening.simulation import simulate_review
from benchmarks.pools import VARIANTS
from benchmarks.pools import review as made_review
from benchmarks.screening_asreview import REVIEWS, SEEDS, draw_start

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks"
VARIANT = os.environ.get("VARIANT", "meaning")
ORDERS = RESULTS / f"screening-{VARIANT}.json"
PEER = RESULTS / "screening-asreview.json"
CHAO = RESULTS / "screening-chao.json"
PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "screening-recall.svg"
MEASURES = ("ATD", "WSS@95", "RRF@10", "loss", "NDCG")
_COLUMNS, _PANEL = 5, 190  # of the picture
CHAO_SEEDS = ("200", "201")

QUERIES = {
    "Cohen_2006_Antihistamines": "randomized trial of antihistamines for allergic rhinitis or "
    "urticaria",
    "Cohen_2006_Estrogens": "randomized trial of estrogen replacement for menopausal symptoms or "
    "bone density",
    "Cohen_2006_OralHypoglycemics": "randomized trial of oral hypoglycemic drugs for type 2 "
    "diabetes",
    "Cohen_2006_Triptans": "randomized trial of triptans for acute migraine",
    "Cohen_2006_ADHD": "randomized trial of drugs for attention deficit hyperactivity disorder",
    "Cohen_2006_CalciumChannelBlockers": "randomized trial of calcium channel blockers for "
    "hypertension or angina",
    "Cohen_2006_SkeletalMuscleRelaxants": "randomized trial of skeletal muscle relaxants for "
    "spasticity or back pain",
    "Kitchenham_2010": "systematic literature review in software engineering",
    "Cohen_2006_Opioids": "randomized trial of long-acting opioids for chronic pain",
    "Nagtegaal_2019": "nudging interventions to change the behaviour of healthcare professionals",
}

Runs = dict[str, dict[str, Any]]


@cache
def corpus(review: str) -> Corpus:
    """Return the records of a review."""
    return load_screening(find(review, [f"screening/{review}.csv"], None))


@cache
def labels(review: str) -> Any:
    """Whether each record is included."""
    return np.array([bool(document.categories) for document in corpus(review)])


def run_ranking(reviews: Sequence[str]) -> None:
    """Rank every review with every seed; CPU seconds include the vectors."""
    runs = kept(ORDERS)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for seed in map(str, SEEDS):
        for review in reviews:
            if seed in runs.setdefault(review, {}):
                continue
            begun = time.process_time()
            pool = vectors(review)
            start = draw_start(labels(review), int(seed))
            order = simulate_review(pool, labels(review), start=start).order.tolist()
            runs[review][seed] = {"order": order, "cpu": time.process_time() - begun}
            whole = ORDERS.with_suffix(".tmp")
            whole.write_text(json.dumps(runs))
            whole.replace(ORDERS)
            print(
                review,
                seed,
                len(order),
                f"{runs[review][seed]['cpu']:.1f} s",
                file=sys.stderr,
                flush=True,
            )


def vectors(review: str) -> Pool:
    """Return the pool of a review: titles and abstracts only."""
    return VARIANTS[VARIANT](made_review(review))


def run_chao(reviews: Sequence[str]) -> None:
    """Whether Chao's rule reaches the recall, and the share it reads."""
    points = kept(CHAO)
    for review in reviews:
        found, of_review = curves(kept(ORDERS), review), points.setdefault(review, {})
        for seed in sorted({*CHAO_SEEDS} - {*of_review}):
            start, known = draw_start(labels(review), int(seed)), labels(review)
            point = chao_rule(vectors(review), known, found[seed], start=start).stop(
                found[seed].hits
            )
            of_review[seed] = [
                bool(point.recall >= 0.95),
                point.n_read / found[seed].n_documents,
            ]
            CHAO.write_text(json.dumps(points))


def from_query(reviews: Sequence[str]) -> list[str]:
    """Return the mean position of relevant documents, from a query and from labelled starts."""
    lines, ratios = ["| review | query | labelled start | ratio |", "|---|---|---|---|"], []
    for review in reviews:
        documents, query = corpus(review), QUERIES[review]
        texts, titles = [d.full_text for d in documents], [d.title for d in documents]
        pool = Pool.of_texts([*texts, query], titles=[*titles, query])
        found = np.append(labels(review), True)
        asked = simulate_review(pool, found, start=[len(texts)]).average_time_to_discovery
        labelled = np.mean(
            [c.average_time_to_discovery for c in curves(kept(ORDERS), review).values()]
        )
        ratios.append(asked / labelled)
        lines.append(f"| {review} | {asked:.1f} | {labelled:.1f} | {ratios[-1]:.3f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return [*lines, f"| geometric mean | | | {np.exp(np.log(ratios).mean()):.3f} |"]


def measured(curve: ReviewCurve) -> list[float]:
    """Return the measures of one run."""
    return [
        curve.average_time_to_discovery,
        curve.work_saved_over_sampling(0.95),
        curve.relevant_found(0.1),
        curve.loss,
        curve.ndcg,
    ]


def show(reviews: Sequence[str]) -> list[str]:
    """Means over the seeds that both sides have, ours / ASReview."""
    lines = [
        "| review | starts | " + " | ".join(MEASURES) + " | CPU s |",
        "|---|---|" + "---|" * (len(MEASURES) + 1),
    ]
    means = []
    for review in reviews:
        ours, theirs = curves(kept(ORDERS), review), curves(kept(PEER), review)
        seeds = sorted(set(ours) & set(theirs))
        if not seeds:
            continue
        cpu = [
            np.mean([kept(file)[review][seed]["cpu"] for seed in seeds])
            for file in (ORDERS, PEER)
        ]
        pair = np.array(
            [
                np.mean([measured(side[seed]) for seed in seeds], axis=0)
                for side in (ours, theirs)
            ]
        )
        means.append(np.column_stack([pair, cpu]))
        lines.append(f"| {review} | {len(seeds)} | {_cells(means[-1])} |")
    both = np.array(means)
    lines.append(f"| mean | | {_cells(both.mean(axis=0))} |")
    ratios = both[:, 0, 0] / both[:, 1, 0]
    p = wilcoxon(np.log(ratios)).pvalue
    lines += [
        "",
        (
            f"ATD ratio, geometric mean: {np.exp(np.log(ratios).mean()):.3f}; better on "
            f"{np.sum(ratios < 1)} of "
        ),
    ]
    lines[-1] += (
        f"{len(ratios)}; Wilcoxon p = {p:.3f}; CPU ratio "
        f"{both[:, 0, -1].sum() / both[:, 1, -1].sum():.2f}"
    )
    return lines


def curves(runs: Runs, review: str) -> dict[str, ReviewCurve]:
    """Return the curve of every seed."""
    found = labels(review)
    return {
        seed: ReviewCurve.of(run["order"], found, draw_start(found, int(seed)))
        for seed, run in runs.get(review, {}).items()
    }


def stopping(reviews: Sequence[str]) -> list[str]:
    """Return a table of the stopping rules, and one of weak orders."""
    runs = {review: curves(kept(ORDERS), review) for review in reviews}
    names = [name.removeprefix("Cohen_2006_") for name in reviews]
    lines = [
        "| rule | coverage | read | " + " | ".join(names) + " |",
        "|---|---|---|" + "---|" * len(names),
    ]
    for name, rule in STOPPING_RULES.items():
        lines.append(_row(name, _stopped(runs, dict.fromkeys(reviews, rule))))
    if all(kept(CHAO).get(review) for review in reviews):
        chao = [np.mean(list(kept(CHAO)[review].values()), axis=0) for review in reviews]
        lines.append(_row("Chao, a ranker per part (two starts)", np.array(chao)))
    least = [
        [1.0, np.mean([least_for_a_proof(curve) for curve in runs[review].values()])]
        for review in reviews
    ]
    lines.append(_row("least that a sample can prove it with", np.array(least)))
    own = dict.fromkeys(reviews, STOPPING_RULES["finds"])
    for name, change in {"shuffled": 1.0, "half shuffled": 0.5, "reversed": -1.0}.items():
        weak = {
            review: {seed: weakened(curve, change, int(seed)) for seed, curve in found.items()}
            for review, found in runs.items()
        }
        lines.append(_row(f"finds, {name}", _stopped(weak, own)))
    holds = [interval_holds(runs[review]) for review in reviews]
    moments = np.concatenate(holds)
    cells = " | ".join(f"{np.mean(held):.3f}" if held else "" for held in holds)
    return [
        *lines,
        f"| 95% interval holds | {moments.mean():.3f} of {len(moments)} moments | | {cells} |",
    ]


def least_for_a_proof(curve: ReviewCurve) -> float:
    """Return the share to read for a proof by a sample without relevant records.

    The sample begins at the best moment, which a reviewer cannot know.
    """
    n, hits = curve.n_documents, curve.hits
    found = 1 + np.cumsum(hits)
    reached = (np.flatnonzero(found >= 0.95 * found[-1]) + 1).tolist()
    totals = [
        read + sample_size(n_unseen=n - read, n_found=int(found[read - 1]), recall=0.95)
        for read in reached
        if hits[read - 1]
    ]
    return float(min(totals) / n)


def weakened(curve: ReviewCurve, change: float, seed: int) -> ReviewCurve:
    """Return the curve with this share of positions shuffled, or reversed if it is negative."""
    rng, hits = np.random.default_rng(seed), curve.hits
    if change < 0:
        hits = hits[::-1]
    else:
        moved = rng.random(len(hits)) < change
        hits[moved] = rng.permutation(hits[moved])
    return ReviewCurve(curve.order, np.flatnonzero(hits) + 1, curve.n_documents)


def interval_holds(runs: Mapping[str, ReviewCurve], every: int = 10) -> list[bool]:
    """Whether the 95% interval holds what is left, at all looks where it is shown."""
    held = []
    for curve in runs.values():
        forecast, hits = FindsForecast(curve.n_documents), curve.hits
        for n in range(every, curve.n_documents, every):
            estimate = forecast.estimate(hits[:n], found_before=1)
            if not estimate.caveat:
                held.append(bool(estimate.low <= hits[n:].sum() <= estimate.high))
    return held


def picture(reviews: Sequence[str]) -> Figure:
    """Draw the recall curves of all reviews, in rows of five."""
    sides, panels = {"bayesift": kept(ORDERS), "ASReview": kept(PEER)}, []
    for place, review in enumerate(reviews):
        down, right = divmod(place, _COLUMNS)
        left, top = 50 + right * _PANEL, 40 + down * (_PANEL + 40)
        frame = Frame(left, left + _PANEL - 30, top, top + _PANEL - 30)
        of_sides = {side: curves(runs, review) for side, runs in sides.items()}
        seeds = set.intersection(*map(set, of_sides.values()))
        found = {
            side: [of_side[seed] for seed in sorted(seeds)]
            for side, of_side in of_sides.items()
        }
        title = review.removeprefix("Cohen_2006_")
        panels.append(recall_curves(found, frame, title, y_shown=right == 0))
    rows = -(-len(reviews) // _COLUMNS)
    return Figure(
        "Recall", panels, width=40 + _COLUMNS * _PANEL, height=40 + rows * (_PANEL + 40)
    )


def recall_curves(
    curves: Mapping[str, Sequence[ReviewCurve]],
    frame: Frame,
    title: str,
    *,
    y_shown: bool = True,
) -> Panel:
    """Draw mean recall and its range over runs against the share of documents read."""
    lines, bands, shares = [], [], np.linspace(0, 1, 101).tolist()
    for place, (name, runs) in enumerate(curves.items()):
        recalls = np.array(
            [
                [run.recall_after(int(share * run.n_documents)) for share in shares]
                for run in runs
            ]
        )
        mean, lowest, highest = (
            list(zip(shares, np.round(values, 3).tolist(), strict=True))
            for values in (recalls.mean(axis=0), recalls.min(axis=0), recalls.max(axis=0))
        )
        lines.append(Line(mean, series(place), name))
        bands.append(Band(lowest, highest, series(place)))
    layers: list[Layer] = [
        *lines,
        *bands,
        Line([(0, 0), (1, 1)], "ideal", "random order"),
        Rule(y=0.95, style="thin"),
    ]
    axes = Axis.unit("share read"), Axis.unit("recall")
    return Panel(*axes, layers, frame=frame, title=title, y_shown=y_shown)


def _stopped(runs: Mapping[str, Mapping[str, ReviewCurve]], rules: Mapping[str, Any]) -> Any:
    """Share of runs that reach 95%, and share read, a row per review."""
    rows = []
    for review, found in runs.items():
        points = [
            (rules[review].stop(c.hits, seed=int(s)), c.n_documents) for s, c in found.items()
        ]
        rows.append(
            np.mean([[point.recall >= 0.95, point.n_read / n] for point, n in points], axis=0)
        )
    return np.array(rows)


def _row(name: str, rows: Any) -> str:
    cells = " | ".join(f"{coverage:.2f}, {read:.1%}" for coverage, read in rows)
    return f"| {name} | {rows[:, 0].mean():.3f} | {rows[:, 1].mean():.1%} | {cells} |"


def _cells(pair: Any) -> str:
    kinds = (".1f", ".3f", ".3f", ".3f", ".3f", ".1f")
    return " | ".join(
        f"{ours:{kind}} / {theirs:{kind}}"
        for kind, ours, theirs in zip(kinds, *pair, strict=True)
    )


def kept(file: Path) -> Runs:
    """Return the runs that a file holds."""
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    runs: Runs = kept.get("runs", kept)
    return runs


if __name__ == "__main__":
    command, *names = sys.argv[1:] or ["show"]
    chosen = names or REVIEWS
    if command in ("ranking", "chao"):
        {"ranking": run_ranking, "chao": run_chao}[command](chosen)
    elif command == "picture":
        picture(chosen).save(PICTURE)
    else:
        print(
            "\n".join(
                {"show": show, "stopping": stopping, "query": from_query}[command](chosen)
            )
        )
