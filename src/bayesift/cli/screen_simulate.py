"""`bayesift screen simulate`: screen a labelled pool again, and see how soon the relevant records are found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from typer import Option

from bayesift.cli.console import busy, counting, stdout
from bayesift.cli.options import AsJson, CorpusName, CorpusOptions, Quiet, usage_errors
from bayesift.errors import DataError

if TYPE_CHECKING:
    from bayesift.records import Corpus
    from bayesift.screening import ReviewCurve

ORDERS = ("relevance", "information", "mixture")


def simulate(
    corpus: CorpusName,
    category: Annotated[str | None, Option(help="Category of the relevant documents; the first by default.")] = None,
    by: Annotated[str, Option(help=f"Order of reading: {', '.join(ORDERS)}.")] = "relevance",
    starts: Annotated[
        int, Option(help="Number of starts, each from one relevant and one irrelevant document.", min=1)
    ] = 3,
    query: Annotated[str | None, Option(help="Start once, from these words and no labels.")] = None,
    batch: Annotated[int, Option(help="Documents judged between two rankings.", min=1)] = 1,
    recall: Annotated[float, Option(help="Recall that the stopping rules aim at.", min=0.0, max=1.0)] = 0.95,
    chart: Annotated[Path | None, Option(help="Write the recall curves to this file, as SVG.", dir_okay=False)] = None,
    as_json: AsJson = False,
    *,
    source: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Simulate the screening of a labelled pool.

    It shows how soon relevant documents are found, and when to stop. ATD, WSS@95, RRF@10, loss and NDCG are those of
    ASReview: the records of the start do not count.
    """
    import numpy as np

    from bayesift.screening import Pool, random_start, recall_curves, simulate_review

    if by not in ORDERS:
        raise typer.BadParameter(f"no order {by!r}; there are: {', '.join(ORDERS)}", param_hint="--by")
    order: Any = by
    if chart is not None and chart.suffix.lower() != ".svg":
        raise typer.BadParameter("a chart is an SVG file: choose a name that ends in .svg", param_hint="--chart")
    read = source.read(corpus, quiet=quiet)
    labels = _labels(read, category)
    texts = [document.full_text for document in read]
    with busy("reading words", quiet=quiet):
        asked = [] if query is None else [query]
        pool = Pool.of_texts([*texts, *asked], titles=[*(document.title for document in read), *asked])
    simulated: dict[str, Any] = {"by": order, "batch": batch, "parts": pool.parts}
    curves: dict[str, ReviewCurve] = {}
    with counting("starts", 1 if query else starts, quiet=quiet) as progress, usage_errors():
        if query is not None:
            relevant = np.append(labels, True)
            curves["query"] = simulate_review(pool.X, relevant, start=[len(labels)], **simulated)
        else:
            for seed in range(starts):
                start = random_start(labels, seed)
                curves[str(seed)] = simulate_review(pool.X, labels, start=start, **simulated)
                progress(seed + 1)
        played = [_measures(name, curve, recall, 0 if query else 1) for name, curve in curves.items()]
    if chart is not None:
        recall_curves({f"start {name}": curve for name, curve in curves.items()}).save(chart)
        print(f"chart: {chart}", file=sys.stderr)
    if as_json:
        print(json.dumps(played, indent=2))
    else:
        _print(played, labels, recall)


def _measures(name: str, curve: ReviewCurve, recall: float, found_before: int) -> dict[str, Any]:
    """The measures of one start; shares are of the documents to read."""
    from bayesift.screening import simulate_stopping

    stopped = simulate_stopping(curve, found_before=found_before, recall=recall, seed=int(name) if found_before else 0)
    posterior, sample = stopped.by_posterior, stopped.by_sample
    return {
        "start": name,
        "atd": curve.average_time_to_discovery,
        "wss95": curve.work_saved_over_sampling(0.95),
        "rrf10": curve.relevant_found(0.1),
        "loss": curve.loss,
        "ndcg": curve.ndcg,
        "read_by_posterior": posterior.n_read / curve.n_documents,
        "recall_by_posterior": posterior.recall,
        "read_by_sample": sample.n_read / curve.n_documents,
        "recall_by_sample": sample.recall,
    }


def _labels(corpus: Corpus, category: str | None) -> Any:
    import numpy as np

    name = category or (corpus.categories[0] if corpus.categories else "")
    if name not in corpus.categories:
        raise DataError(f"no category {name!r} in this corpus")
    labels = np.array([name in document.categories for document in corpus])
    if not 2 <= labels.sum() < len(labels):
        raise DataError(f"{labels.sum()} of {len(labels)} documents are {name!r}; a review needs two, and others")
    return labels


def _print(played: list[dict[str, Any]], labels: Any, recall: float) -> None:
    import numpy as np

    console = stdout()
    console.print(f"[bold]{len(labels):,} documents[/bold], {labels.sum():,} relevant\n")
    table = Table(box=None, header_style="bold", pad_edge=False)
    headings = (
        "start",
        "ATD",
        "WSS@95",
        "RRF@10",
        "loss",
        "NDCG",
        "posterior: read",
        "recall",
        "sample: read",
        "recall",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    rows = np.array([list(row.values())[1:] for row in played])
    shown = [*zip((row["start"] for row in played), rows, strict=True)]
    for name, values in [*shown, ("mean", rows.mean(0))] if len(played) > 1 else shown:
        shares = [f"{value:.1%}" for value in values[5:]]
        table.add_row(name, f"{values[0]:.1f}", *(f"{value:.3f}" for value in values[1:5]), *shares)
    console.print(table)
    console.print(f"\nread until each rule stops at a recall of {recall:.0%} with 95% confidence")
