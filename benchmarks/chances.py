"""The probability beside each record, on made pools and reviews: `python -m benchmarks.chances`.

Every fifth pool of `benchmarks/pools.py` up to 3,000 documents, and the reviews, are read in the
order of the ranking. At twelve looks, the probabilities of all unread documents are compared with
what is true. The constants of `bayesift.screening.chances` are learned on two thirds of the pools
(all unread documents of a look count as much as the first twenty), and printed with what they say
on the other third and on the reviews. Looks are kept in out/benchmarks/pools/chances.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from bayesift.screening import ReviewQueue, chances
from benchmarks.pools import RESULTS, START, meaning_pool, pools
from benchmarks.screening_asreview import REVIEWS

LOOKS = RESULTS / "chances"
EVERY = 5
LARGEST = 3_000
N_LOOKS = 12
FIRST = 20


@dataclass(frozen=True, eq=False)
class Look:
    """Unread documents, the best first: the features of each, and whether it is relevant."""

    features: Any
    relevant: Any
    share_read: float


def looks(key: str, make: Any) -> list[Look]:
    """Return the looks at a pool; what is kept is not read again."""
    file = LOOKS / f"{key}.npz"
    if not file.exists():
        made = make()
        if len(made.texts) > LARGEST:
            return []
        found = read(ReviewQueue.of_pool(meaning_pool(made)), made.relevant)
        LOOKS.mkdir(parents=True, exist_ok=True)
        np.savez(file, **{str(number): rows for number, rows in enumerate(found)})
        print(key, len(made.texts), file=sys.stderr, flush=True)
    kept = np.load(file)
    return [Look(kept[name][:, :4], kept[name][:, 4], kept[name][0, 5]) for name in kept]


def read(queue: ReviewQueue, relevant: Any) -> Iterator[Any]:
    """Yield at every look features, truth and share read of all unread documents."""
    rng = np.random.default_rng(START)
    for row in (rng.choice(np.flatnonzero(relevant)), rng.choice(np.flatnonzero(~relevant))):
        queue.judge(str(row), bool(relevant[row]))
    n = len(queue) - 2
    due = np.geomspace(20, 0.9 * n, N_LOOKS).tolist()
    found: list[bool] = []
    while due:
        names = queue.next_documents(max(1, (len(found) - 100) // 100))
        if len(found) >= due[0]:
            due.pop(0)
            if sum(found) >= 2:
                yield _rows(queue, found, relevant, len(found) / n)
        for name in names:
            queue.judge(name, bool(relevant[int(name)]))
            found.append(bool(relevant[int(name)]))


def _rows(queue: ReviewQueue, found: Sequence[bool], relevant: Any, share_read: float) -> Any:
    unread = queue.unseen
    unread = unread[np.argsort(-queue.scores[unread], kind="stable")]
    scores = queue.scores[unread]
    top, spread = chances.placing(scores)
    late, longer = chances.rates(found)
    ones = np.ones(len(unread))
    columns = [ones, late * ones, longer * ones, (scores - top) / spread]
    return np.column_stack([*columns, relevant[unread], share_read * ones])


def learned_from(every: Sequence[Look]) -> Any:
    """Return the constants of highest likelihood."""
    X = np.concatenate([look.features for look in every])
    y = np.concatenate([look.relevant for look in every])
    w = np.concatenate([_weights(len(look.relevant)) for look in every])

    def loss(b: Any) -> tuple[float, Any]:
        scores = X @ b
        value = w @ (np.logaddexp(0.0, scores) - y * scores)
        return value / w.sum(), X.T @ (w * (expit(scores) - y)) / w.sum()

    return minimize(loss, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B").x


def _weights(n: int) -> Any:
    weights = np.full(n, 1.0 / n)
    weights[:FIRST] += 1.0 / min(n, FIRST)
    return weights


def row(name: str, every: Sequence[Look], constants: Any) -> str:
    """Return a table row: said and true of all, of the first twenty and of the next record."""
    told = []
    for look in every:
        said = expit(look.features @ constants)
        cells = []
        for some in (slice(None), slice(FIRST), slice(1)):
            cells += [said[some].mean(), look.relevant[some].mean()]
        told.append(cells)
    cells = np.mean(told, axis=0)
    pairs = [f"{said:.3f}, {true:.3f}" for said, true in cells.reshape(-1, 2)]
    return f"| {name} | {len(every)} | {' | '.join(pairs)} |"


def main() -> None:
    """Learn and print."""
    of_pools, of_reviews = [], []
    for number, (key, make) in enumerate(pools()):
        if key in REVIEWS:
            of_reviews += looks(key, make)
        elif number % EVERY == 0:
            of_pools.append(looks(key, make))
    seen = [look for place, some in enumerate(of_pools) if place % 3 for look in some]
    held_out = [look for some in of_pools[::3] for look in some]
    constants = learned_from(seen)
    print("constants", constants.round(2).tolist(), "in use", chances.CONSTANTS)
    print("| | looks | all: said, true | first twenty | next |\n" + "|---" * 5 + "|")
    for name, every in (("made pools, held out", held_out), ("reviews", of_reviews)):
        print(row(name, every, constants))
        for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 1.0)):
            some = [look for look in every if low <= look.share_read < high]
            print(row(f"{low:.0%} to {high:.0%} read", some, constants))


if __name__ == "__main__":
    main()
