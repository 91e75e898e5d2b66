"""Made pools: categories of corpora as reviews. `python -m benchmarks.pools rank [VARIANT ...]`.

The constants of ranking and stopping are chosen on these pools, because reviews that anybody can
have are few. A pool holds documents of a category (or of two or three unrelated ones) among others
of the same corpus, with 3 to 300 relevant ones among 300 to 30,000:

    one        a category (RCV1 has no texts: its documents are sets of numbered terms)
    two, three unrelated categories, so that some are found late (second waves)
    changed    2 to 15% of the relevant documents are exchanged for others (flat tails)
    titles     half of the abstracts are missing
    copies     a tenth of the documents are there twice, with a few words changed
    wrong      5% of the decisions on relevant documents are wrong

`rank` reads every pool and every review once from a relevant and an irrelevant document, one
judgement at a time up to 200 and then in batches of 1% of what is read, and keeps the places of
the relevant documents in out/benchmarks/pools/VARIANT.jsonl; what is there is not run again.
`show` compares the mean places of two variants pool by pool.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from bayesift.corpora import load_newsgroups, load_ohsumed, load_rcv1, load_reuters
from bayesift.corpora.directory import find
from bayesift.corpora.screening import load_screening
from bayesift.records import Document
from bayesift.screening import Pool, ReviewQueue
from bayesift.text import TextEmbedder, WordVectors
from benchmarks.screening_asreview import REVIEWS

RESULTS = Path(__file__).parent.parent / "out" / "benchmarks" / "pools"
KINDS = ("one", "one", "two", "three", "changed", "titles", "copies", "wrong")
N_POOLS = 320
START = 100  # seed of the start; those of the comparison with ASReview are 200 to 209


def load_rcv1_terms() -> list[Document]:
    """Return RCV1 with the numbers of its terms as words: there are no texts."""
    corpus = load_rcv1(folder="rcv1-sample")
    X: Any = corpus.vectors
    return [
        replace(document, text=" ".join(f"term{term}" for term in X.indices[first:last]))
        for document, first, last in zip(corpus, X.indptr[:-1], X.indptr[1:], strict=True)
    ]


CORPORA: dict[str, Callable[[], Any]] = {
    "ohsumed": load_ohsumed,
    "reuters": lambda: load_reuters(subset="labelled"),
    "newsgroups": load_newsgroups,
    "rcv1": load_rcv1_terms,
}


@dataclass(frozen=True, eq=False)
class MadePool:
    """Records and whether each is relevant."""

    name: str
    kind: str
    titles: Sequence[str]
    texts: Sequence[str]
    relevant: Any


@cache
def documents(corpus: str) -> list[Document]:
    """Return the documents of a corpus that have a category."""
    return [document for document in CORPORA[corpus]() if document.categories]


@cache
def members(corpus: str) -> dict[str, list[int]]:
    """Return the documents of every category with ten or more."""
    rows: dict[str, list[int]] = {}
    for row, document in enumerate(documents(corpus)):
        for category in document.categories:
            rows.setdefault(category, []).append(row)
    return {name: held for name, held in sorted(rows.items()) if len(held) >= 10}


def make(number: int) -> MadePool:
    """Make the pool of this number; the same at every call."""
    rng = np.random.default_rng([32, number])
    corpus = list(CORPORA)[number % len(CORPORA)]
    kind = KINDS[number // len(CORPORA) % len(KINDS)]
    held = members(corpus)
    n_categories = {"two": 2, "three": 3}.get(kind, 1)
    chosen = rng.choice(sorted(held), n_categories, replace=False).tolist()
    inside = np.unique(np.concatenate([held[name] for name in chosen]))
    outside = np.setdiff1d(np.arange(len(documents(corpus))), inside)
    largest = 30_000 if number % 10 == 0 else 3_000
    size = int(np.exp(rng.uniform(np.log(300), np.log(largest))))
    size = min(size, len(outside))
    many = min(300, 0.25 * size, len(inside))
    few = min(max(3, 0.01 * size), many)
    n_relevant = int(np.exp(rng.uniform(np.log(3 if number % 5 == 0 else few), np.log(many))))
    relevant = _spread(rng, [held[name] for name in chosen], n_relevant)
    others = rng.choice(outside, size - len(relevant), replace=False)
    rows = np.concatenate([relevant, others])
    labels = np.arange(len(rows)) < len(relevant)
    if kind == "changed":
        n_changed = max(1, round(rng.uniform(0.02, 0.15) * len(relevant)))
        rows[:n_changed] = rng.choice(np.setdiff1d(outside, others), n_changed, replace=False)
    if kind == "wrong":
        labels[: len(relevant)] = rng.random(len(relevant)) > 0.05
        labels[:2] = True
    titles = [documents(corpus)[row].title for row in rows]
    texts = [documents(corpus)[row].full_text for row in rows]
    if kind == "titles":
        titles, texts = _without_abstracts(rng, titles, texts)
    if kind == "copies":
        labels, titles, texts = _with_copies(rng, labels, titles, texts)
    order = rng.permutation(len(labels))
    name = f"{number:03d} {kind} {corpus}: {', '.join(chosen)}"
    return MadePool(
        name, kind, [titles[i] for i in order], [texts[i] for i in order], labels[order]
    )


def _spread(rng: Any, categories: Sequence[Sequence[int]], n: int) -> Any:
    """Draw documents of the categories, of each about half as many as of the one before."""
    shares = 0.5 ** np.arange(len(categories))
    drawn = []
    for rows, share in zip(categories, shares / shares.sum(), strict=True):
        size = min(max(2, round(n * share)), len(rows))
        drawn.append(rng.choice(rows, size, replace=False))
    return np.unique(np.concatenate(drawn))


def _without_abstracts(rng: Any, titles: list[str], texts: list[str]) -> Any:
    short = rng.random(len(texts)) < 0.5
    heads = [
        title or " ".join(text.split()[:10]) for title, text in zip(titles, texts, strict=True)
    ]
    kept = [h if s else t for h, t, s in zip(heads, texts, short, strict=True)]
    return heads, kept


def _with_copies(rng: Any, labels: Any, titles: list[str], texts: list[str]) -> Any:
    copied = np.flatnonzero(rng.random(len(texts)) < 0.1)
    more = []
    for row in copied.tolist():
        words = texts[row].split()
        kept = rng.random(len(words)) > 0.03
        more.append(" ".join(word for word, keep in zip(words, kept, strict=True) if keep))
    return (
        np.concatenate([labels, labels[copied]]),
        titles + [titles[row] for row in copied.tolist()],
        texts + more,
    )


def review(name: str) -> MadePool:
    """Return a review of the folder as a pool."""
    corpus = load_screening(find(name, [f"screening/{name}.csv"], None))
    relevant = np.array([bool(document.categories) for document in corpus])
    titles = [document.title for document in corpus]
    return MadePool(name, "review", titles, [d.full_text for d in corpus], relevant)


def pools() -> Iterator[tuple[str, Callable[[], MadePool]]]:
    """Yield a key and how to make it for the reviews and all made pools."""
    for name in REVIEWS:
        yield name, lambda name=name: review(name)  # type: ignore[misc]
    for number in range(N_POOLS):
        yield str(number), lambda number=number: make(number)  # type: ignore[misc]


def plain_pool(made: MadePool) -> Pool:
    """Return the vectors without word vectors."""
    return Pool.of_texts(made.texts, titles=made.titles)


def meaning_pool(made: MadePool) -> Pool:
    """Return the vectors with the word vectors of the extra."""
    vectors = WordVectors.installed()
    if vectors is None:
        raise SystemExit("install bayesift[embeddings]")
    dense = TextEmbedder(vectors).fit_transform(made.texts)
    return Pool.of_texts(made.texts, titles=made.titles, dense=dense)


VARIANTS: dict[str, Callable[[MadePool], Pool]] = {"words": plain_pool, "meaning": meaning_pool}


def read(pool: Pool, relevant: Any, seed: int = START) -> list[int]:
    """Return the places (from 1) of the relevant documents that a review finds."""
    rng = np.random.default_rng(seed)
    queue = ReviewQueue.of_pool(pool)
    for row in (rng.choice(np.flatnonzero(relevant)), rng.choice(np.flatnonzero(~relevant))):
        queue.judge(str(row), bool(relevant[row]))
    places: list[int] = []
    n_read = 0
    while queue.n_found < relevant.sum():
        for name in queue.next_documents(max(1, (n_read - 100) // 100)):
            n_read += 1
            queue.judge(name, bool(relevant[int(name)]))
            if relevant[int(name)]:
                places.append(n_read)
    return places


def kept(variant: str) -> dict[str, Any]:
    """Return the runs of a variant by the key of the pool."""
    file = RESULTS / f"{variant}.jsonl"
    if not file.exists():
        return {}
    runs = map(json.loads, file.read_text().splitlines())
    return {run["key"]: run for run in runs}


def rank(variant: str) -> None:
    """Read all pools that are not read yet."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    done = kept(variant)
    with (RESULTS / f"{variant}.jsonl").open("a") as stream:
        for key, prepare in pools():
            if key in done:
                continue
            made = prepare()
            begun = time.process_time()
            places = read(VARIANTS[variant](made), made.relevant)
            run = {"key": key, "name": made.name, "kind": made.kind, "n": len(made.texts) - 2}
            run |= {"places": places, "cpu": round(time.process_time() - begun, 2)}
            stream.write(json.dumps(run) + "\n")
            stream.flush()
            print(made.name, run["n"], len(places), run["cpu"], file=sys.stderr, flush=True)


def show(variant: str, base: str) -> list[str]:
    """Compare the mean places of two variants."""
    ours, theirs = kept(variant), kept(base)
    lines = [f"| pools | n | ATD of {variant} / {base} | tenths of pools | better | p |"]
    lines.append("|---" * 6 + "|")
    kinds = sorted({run["kind"] for run in ours.values()})
    for kind in [*kinds, "all made"]:
        logs = [
            np.log(np.mean(run["places"]) / np.mean(theirs[key]["places"]))
            for key, run in ours.items()
            if key in theirs
            and (run["kind"] == kind or (kind == "all made" and run["kind"] != "review"))
        ]
        if len(logs) < 2:
            continue
        low, high = np.exp(np.quantile(logs, [0.1, 0.9]))
        p = wilcoxon(logs).pvalue
        lines.append(
            f"| {kind} | {len(logs)} | {np.exp(np.mean(logs)):.3f} | {low:.3f} to {high:.3f} | "
            f"{np.mean(np.array(logs) < 0):.0%} | {p:.3g} |"
        )
    return lines


if __name__ == "__main__":
    if sys.argv[1] == "show":
        print("\n".join(show(*sys.argv[2:4])))
    else:
        for name in sys.argv[2:] or VARIANTS:
            rank(name)
