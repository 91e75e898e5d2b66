"""What `FindsForecast` says on pools it did not see: `python -m benchmarks.finds [learn]`.

Its weights are learned from the orders that `python -m benchmarks.pools rank` left, at about 50
looks a pool and for many numbers m a look; recalls of 80, 90 and 95% count more. An eighth of the
pools are added shuffled and an eighth half shuffled, with half the weight, so that the forecast
knows useless rankings. The intercept is set so that the rule that stops at a probability of 0.95
reaches 95% recall in 95% of the pools, each forecast by weights learned without its fold.

Printed are, out of fold, coverage and reading of the rule for three recalls beside the rule of
Callaghan & Müller-Hansen and a reader who knows when to stop; how often the interval holds, on
average and in the worst tenth of pools; and what the probability says against what is true. The
reviews are not learned from. `learn` writes the weights into the package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from bayesift.screening import CallaghanMuellerHansen, FindsForecast
from bayesift.screening.stopping import finds
from bayesift.screening.stopping.finds import Moment
from bayesift.screening.stopping.remaining import allowed_missing
from benchmarks.pools import kept

TABLE = Path(finds.__file__).with_name("finds.json")
RECALLS = (0.8, 0.9, 0.95)
OTHER_RECALLS = (0.7, 0.98)
FOCUS = 5.0  # further weight of the numbers that these recalls allow to miss
NUMBERS = np.unique(np.concatenate([np.arange(9), np.geomspace(9, 3000, 28).astype(int)]))
N_FOLDS = 6
CONFIDENCE = 0.95
WEAK_WEIGHT = 0.5  # of a shuffled pool
WEAK = {0: 1.0, 4: 0.5}  # of every eighth pool, the share of places that is shuffled
RIDGE = 1e-3  # on standardised features; there are many more looks than features
LOOKS = 100  # of the rule at a pool; at least ten documents lie between two
GAUGE_EVERY = 4  # looks at the interval


@dataclass(frozen=True, eq=False)
class Looks:
    """Features of looks at a pool and of numbers, and whether at most so many were left."""

    features: Any
    true: Any
    weights: Any
    names: list[str]
    n_free: int


@dataclass(frozen=True, eq=False)
class ReadPool:
    """A pool in the order of reading."""

    name: str
    kind: str
    hits: Any


def pools(variant: str = "meaning") -> list[ReadPool]:
    """Return the pools and reviews that were read."""
    read = []
    for key, run in kept(variant).items():
        hits = np.zeros(run["n"], dtype=bool)
        hits[np.array(run["places"]) - 1] = True
        read.append(ReadPool(key, run["kind"], hits))
    return read


def shuffled(pool: ReadPool, share: float) -> ReadPool:
    """Return the pool with this share of its places shuffled."""
    rng = np.random.default_rng(3)
    hits = pool.hits.copy()
    moved = rng.random(len(hits)) < share
    hits[moved] = rng.permutation(hits[moved])
    return ReadPool(pool.name, pool.kind, hits)


def moments(hits: Any) -> Iterator[Moment]:
    """Yield looks early and late, from the third find on, of which the start is one."""
    n = len(hits)
    early = np.geomspace(20, n, 15)[:-1]
    late = np.linspace(0, n, 41)[1:-1]
    for n_read in np.unique(np.concatenate([early, late]).round().astype(int)).tolist():
        found = np.flatnonzero(hits[:n_read])
        if len(found) >= 2:
            yield Moment(n, n_read, found)


def looks(pool: ReadPool) -> Looks | None:
    """Return all looks at a pool; None if it has too few relevant documents."""
    features, true, weights = [], [], []
    names: list[str] = []
    n_free = 0
    for moment in moments(pool.hits):
        found = len(moment.finds) + 1
        left = int(pool.hits.sum()) + 1 - found
        allowed = [allowed_missing(found, recall) for recall in RECALLS]
        others = [allowed_missing(found, recall) for recall in OTHER_RECALLS]
        numbers = np.unique(np.concatenate([NUMBERS, allowed, others]))
        numbers = numbers[numbers < moment.n_unread]
        known, asked = moment.features, moment.features_of(numbers)
        names, n_free = [*known, *asked], len(known)
        of_moment = np.tile(list(known.values()), (len(numbers), 1))
        features.append(np.column_stack([of_moment, *asked.values()]))
        true.append(left <= numbers)
        weights.append(1.0 + FOCUS * np.sum([numbers == one for one in allowed], axis=0))
    if not features:
        return None
    every = np.concatenate(weights)
    return Looks(
        np.concatenate(features), np.concatenate(true), every / every.sum(), names, n_free
    )


def learned_from(pools_looks: Sequence[tuple[Looks, float]]) -> dict[str, float]:
    """Return the weights of highest likelihood, those of the number at least 0."""
    first = pools_looks[0][0]
    X = np.concatenate([one.features for one, _ in pools_looks])
    y = np.concatenate([one.true for one, _ in pools_looks]).astype(np.float64)
    w = np.concatenate([one.weights * weight for one, weight in pools_looks])
    w /= w.sum()
    centre, spread = X.mean(axis=0), X.std(axis=0)
    X = (X - centre) / spread

    def loss(b: Any) -> tuple[float, Any]:
        scores = X @ b[1:] + b[0]
        slope = w * (expit(scores) - y)
        value = w @ (np.logaddexp(0.0, scores) - y * scores) + RIDGE / 2.0 * b[1:] @ b[1:]
        return value, np.append(slope.sum(), X.T @ slope + RIDGE * b[1:])

    n_asked = X.shape[1] - first.n_free
    bounds = [(None, None)] * (1 + first.n_free) + [(0.0, None)] * n_asked
    b = minimize(loss, np.zeros(1 + X.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B").x
    slopes = b[1:] / spread
    weights = dict(zip(first.names, slopes.tolist(), strict=True))
    return {"intercept": float(b[0] - slopes @ centre)} | weights


def path(pool: ReadPool, weights: dict[str, float], recall: float) -> Any:
    """Return at all looks: documents read, log odds of the recall, whether it is reached."""
    n = len(pool.hits)
    forecast = FindsForecast(n, weights=weights)
    counts = np.cumsum(pool.hits)
    rows = []
    every = max(10, n // LOOKS)
    for n_read in range(every, n, every):
        found = 1 + int(counts[n_read - 1])
        if found >= finds.LEAST_FOUND:
            chance = forecast.probability_of_recall(pool.hits[:n_read], recall, found_before=1)
            left = int(counts[-1]) + 1 - found
            rows.append([n_read, logit(chance), left <= allowed_missing(found, recall)])
    return np.array([*rows, [n, np.inf, True]])


def stopped(paths: Sequence[Any], shift: float) -> Any:
    """Return of every pool whether the recall was reached at the stop, and the share read."""
    least = logit(CONFIDENCE) - shift
    points = []
    for rows in paths:
        first = int(np.argmax(rows[:, 1] >= least))
        points.append([rows[first, 2], rows[first, 0] / rows[-1, 0]])
    return np.array(points)


def shift_of(paths: Sequence[Any]) -> float:
    """Return the largest shift of the log odds with which enough pools are covered."""
    shifts = np.linspace(1.0, -1.0, 201)
    covered = [stopped(paths, shift)[:, 0].mean() >= CONFIDENCE for shift in shifts]
    return float(shifts[int(np.argmax(covered))])


def learn(
    read: Sequence[ReadPool],
) -> tuple[dict[str, float], list[ReadPool], list[dict[str, float]]]:
    """Return weights from all made pools, these pools, and for each those of the other folds."""
    made = [pool for pool in read if pool.kind != "review" and looks(pool) is not None]
    clean = [(looks(pool), 1.0) for pool in made]
    weak = [
        (looks(shuffled(pool, WEAK[number % 8])), WEAK_WEIGHT) if number % 8 in WEAK else None
        for number, pool in enumerate(made)
    ]
    fold = np.random.default_rng(0).permutation(len(made)) % N_FOLDS
    of_fold = []
    for held_out in range(N_FOLDS + 1):  # the last one holds out nothing
        rows = np.flatnonzero(fold != held_out).tolist()
        seen = [clean[row] for row in rows] + [weak[row] for row in rows]
        of_fold.append(learned_from([one for one in seen if one and one[0]]))  # type: ignore[misc]
    weights = of_fold.pop()
    paths = [path(p, of_fold[f], CONFIDENCE) for p, f in zip(made, fold, strict=True)]
    shift = shift_of(paths)
    for one in (*of_fold, weights):
        one["intercept"] += shift
    return weights, made, [of_fold[f] for f in fold]


def stops(
    read: Sequence[ReadPool], weights: Sequence[dict[str, float]], name: str
) -> list[str]:
    """Return rows: of every recall the coverage and the share read, and the peers at the last."""
    lines = [f"| {name}, {len(read)} | coverage | read |", "|---|---|---|"]
    for recall in RECALLS:
        paths = [path(pool, one, recall) for pool, one in zip(read, weights, strict=True)]
        ours = stopped(paths, 0.0)
        oracle = np.mean([_oracle(pool.hits, recall) for pool in read])
        lines.append(f"| {recall:.0%} | {_cells(ours)} |")
        lines.append(f"| {recall:.0%}, a reader who knows | 1.000 | {oracle:.1%} |")
    kinds = np.array([pool.kind for pool in read])
    for kind in sorted(set(kinds.tolist())):
        some = ours[kinds == kind]
        lines.append(f"| {recall:.0%}, {kind}: {len(some)} | {_cells(some)} |")
    peers = []
    for pool in read:
        rule = CallaghanMuellerHansen(recall=recall, every=max(10, len(pool.hits) // LOOKS))
        point = rule.stop(pool.hits)
        peers.append([point.recall >= recall, point.n_read / len(pool.hits)])
    lines.append(f"| {recall:.0%}, Callaghan & Müller-Hansen | {_cells(np.array(peers))} |")
    return lines


def _cells(points: Any) -> str:
    covered, share = points.mean(axis=0)
    return f"{covered:.3f} | {share:.1%}"


def _oracle(hits: Any, recall: float) -> float:
    found = 1 + np.cumsum(hits)
    return float((1 + np.argmax(found >= recall * found[-1])) / len(hits))


def gauges(
    read: Sequence[ReadPool], weights: Sequence[dict[str, float]], name: str
) -> list[str]:
    """Return rows: how often the interval holds where it is shown, and the probability."""
    held, said = [], []
    n_looks = n_shown = 0
    for pool, learned in zip(read, weights, strict=True):
        forecast = FindsForecast(len(pool.hits), weights=learned)
        holds = []
        for moment in list(moments(pool.hits))[::GAUGE_EVERY]:
            n_looks += 1
            estimate = forecast.estimate(pool.hits[: moment.n_read], found_before=1)
            if estimate.caveat:
                continue
            n_shown += 1
            left = int(pool.hits[moment.n_read :].sum())
            holds.append(estimate.low <= left <= estimate.high)
            reached = left <= allowed_missing(estimate.n_found, CONFIDENCE)
            said.append([estimate.probability, reached])
        if holds:
            held.append(float(np.mean(holds)))
    worst = np.sort(held)[: max(1, len(held) // 10)]
    lines = [
        f"{name}: interval holds {np.mean(held):.3f}, worst tenth of pools {np.mean(worst):.3f}, "
        f"shown at {n_shown / n_looks:.0%} of the looks",
        "",
        "| probability said | looks | said | true |",
        "|---" * 4 + "|",
    ]
    pairs = np.array(said)
    ends = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 1.01)
    for low, high in pairwise(ends):
        some = pairs[(pairs[:, 0] >= low) & (pairs[:, 0] < high)]
        if len(some):
            said_here, true = some.mean(axis=0)
            lines.append(
                f"| {low} to {min(high, 1)} | {len(some)} | {said_here:.2f} | {true:.2f} |"
            )
    return [*lines, ""]


def main(*, save: bool) -> None:
    """Learn, write the weights if asked to, and print what they say."""
    read = pools()
    weights, made, out_of_fold = learn(read)
    if save:
        rounded = {name: round(weight, 4) for name, weight in weights.items()}
        table = {"learned by": "python -m benchmarks.finds learn", "weights": rounded}
        TABLE.write_text(json.dumps(table, indent=2) + "\n")
    reviews = [pool for pool in read if pool.kind == "review"]
    for name, some, learned in (
        ("made pools", made, out_of_fold),
        ("reviews", reviews, [weights] * len(reviews)),
    ):
        print("\n".join(stops(some, learned, name)), flush=True)
        print("\n".join(gauges(some, learned, name)), flush=True)


if __name__ == "__main__":
    main(save="learn" in sys.argv[1:])
