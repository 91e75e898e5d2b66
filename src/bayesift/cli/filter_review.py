"""`bayesift filter review`: play the screening of a labelled pool, ranked anew after every judgement."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from bayesift.cli.corpora import CorpusName, CorpusOptions, busy
from bayesift.cli.groups import grouped
from bayesift.cli.options import AsJson, Quiet, bad_options, counting
from bayesift.errors import DataError

if TYPE_CHECKING:
    from bayesift.records import Corpus

ORDERS = ("relevance", "information", "mixture")


@dataclass(frozen=True)
class PlayedReview:
    """What one start gave; shares are of the documents to read."""

    seed: int
    atd: float
    wss95: float
    read_by_posterior: float
    recall_by_posterior: float
    read_by_sample: float
    recall_by_sample: float


@grouped
def review(
    corpus: CorpusName,
    category: Annotated[
        str | None, typer.Option(help="What is looked for; the first category unless named.", show_default=False)
    ] = None,
    by: Annotated[str, typer.Option(help=f"Order of reading: {', '.join(ORDERS)}.")] = "relevance",
    starts: Annotated[int, typer.Option(help="Starts, of a relevant and an irrelevant document each.", min=1)] = 3,
    batch: Annotated[int, typer.Option(help="Documents judged before the ranking is made anew.", min=1)] = 1,
    recall: Annotated[float, typer.Option(help="Recall at which the rules for stopping aim.")] = 0.95,
    as_json: AsJson = False,
    *,
    source: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Play the screening of a labelled pool: how soon relevant documents are found, and when it could stop."""
    from bayesift.filtering import Pool

    if by not in ORDERS:
        raise typer.BadParameter(f"no order {by!r}; there are: {', '.join(ORDERS)}", param_hint="--by")
    read = source.read(corpus, quiet=quiet)
    labels = _labels(read, category)
    with busy("reading words", quiet=quiet):
        X = Pool.of_texts(document.full_text for document in read).X
    with counting("starts", starts, quiet=quiet) as progress, bad_options():
        played = []
        for seed in range(starts):
            played.append(_play(X, labels, seed, by, batch, recall))
            progress(seed + 1)
    if as_json:
        print(json.dumps([asdict(row) for row in played], indent=2))
    else:
        _print(played, labels, recall)


def _play(X: Any, labels: Any, seed: int, by: Any, batch: int, recall: float) -> PlayedReview:
    from bayesift.filtering import random_start, simulate_review, simulate_stopping

    curve = simulate_review(X, labels, start=random_start(labels, seed), by=by, batch=batch)
    stopped = simulate_stopping(curve, recall=recall, seed=seed)
    posterior, sample = stopped.by_posterior, stopped.by_sample
    return PlayedReview(
        seed,
        curve.average_time_to_discovery,
        curve.work_saved(0.95),
        posterior.n_read / curve.n_documents,
        posterior.recall,
        sample.n_read / curve.n_documents,
        sample.recall,
    )


def _labels(corpus: Corpus, category: str | None) -> Any:
    name = category or (corpus.categories[0] if corpus.categories else "")
    if name not in corpus.categories:
        raise DataError(f"no category {name!r} in this corpus")
    labels = np.array([name in document.categories for document in corpus])
    if not 2 <= labels.sum() < len(labels):
        raise DataError(f"{labels.sum()} of {len(labels)} documents are {name!r}; a review needs two, and others")
    return labels


def _print(played: list[PlayedReview], labels: Any, recall: float) -> None:
    console = Console(highlight=False)
    console.print(f"[bold]{len(labels):,} documents[/bold], {labels.sum():,} relevant\n")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("start", "ATD", "WSS@95", "posterior: read", "recall", "sample: read", "recall"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = np.array([list(asdict(row).values())[1:] for row in played])
    for name, values in [
        *((str(row.seed), line) for row, line in zip(played, rows, strict=True)),
        ("mean", rows.mean(0)),
    ]:
        shares = [f"{value:.1%}" for value in values[2:]]
        table.add_row(name, f"{values[0]:.1f}", f"{values[1]:.3f}", *shares)
    console.print(table)
    console.print(
        f"\nread until each rule stops at a recall of {recall:.0%} with 95% confidence; see docs/screening.md"
    )
