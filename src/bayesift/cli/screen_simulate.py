"""`bayesift screen simulate`: screen a labelled pool again, and measure how soon it is done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from typer import Option

from bayesift.cli.console import busy, counting, print_note, stdout
from bayesift.cli.options import AsJson, CorpusName, CorpusOptions, Quiet, usage_errors
from bayesift.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayesift.records import Corpus
    from bayesift.screening import ReviewCurve, StoppingRule

ORDERS = ("relevance", "information", "mixture")


def simulate(
    corpus: CorpusName,
    category: Annotated[
        str | None, Option(help="Category of the relevant documents; the first by default.")
    ] = None,
    by: Annotated[str, Option(help=f"Order of reading: {', '.join(ORDERS)}.")] = "relevance",
    starts: Annotated[
        int,
        Option(
            help="Number of starts, each from one relevant and one irrelevant document.", min=1
        ),
    ] = 3,
    query: Annotated[
        str | None, Option(help="Start once, from these words and no labels.")
    ] = None,
    batch: Annotated[int, Option(help="Documents judged between two rankings.", min=1)] = 1,
    recall: Annotated[
        float, Option(help="Recall that the stopping rules aim at.", min=0.0, max=1.0)
    ] = 0.95,
    rules: Annotated[
        bool, Option("--rules", help="Compare all stopping rules, not only the first two.")
    ] = False,
    chart: Annotated[
        Path | None,
        Option(help="Write the recall curves to this file, as SVG.", dir_okay=False),
    ] = None,
    as_json: AsJson = False,
    *,
    source: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Simulate the screening of a labelled pool.

    It shows how soon relevant documents are found, and when to stop. ATD, WSS@95, RRF@10, loss and
    NDCG are those of ASReview: the records of the start do not count.
    """
    import numpy as np

    from bayesift.screening import Pool, chao_rule, random_start, recall_curves, simulate_review

    if by not in ORDERS:
        raise typer.BadParameter(
            f"no order {by!r}; there are: {', '.join(ORDERS)}", param_hint="--by"
        )
    order: Any = by
    if chart is not None and chart.suffix.lower() != ".svg":
        raise typer.BadParameter(
            "a chart is an SVG file: choose a name that ends in .svg", param_hint="--chart"
        )
    read = source.read(corpus, quiet=quiet)
    labels = _labels(read, category)
    texts = [document.full_text for document in read]
    with busy("reading words", quiet=quiet):
        asked = [] if query is None else [query]
        pool = Pool.of_texts(
            [*texts, *asked], titles=[*(document.title for document in read), *asked]
        )
    simulated: dict[str, Any] = {"by": order, "batch": batch}
    curves: dict[str, ReviewCurve] = {}
    with counting("starts", 1 if query else starts, quiet=quiet) as progress, usage_errors():
        if query is not None:
            relevant = np.append(labels, True)
            curves["query"] = simulate_review(pool, relevant, start=[len(labels)], **simulated)
        else:
            for seed in range(starts):
                start = random_start(labels, seed)
                curves[str(seed)] = simulate_review(pool, labels, start=start, **simulated)
                progress(seed + 1)
        chosen = _rules(recall, all_rules=rules)
        played = []
        for name, curve in curves.items():
            if rules and query is None:
                several = chao_rule(pool, labels, curve, start=random_start(labels, int(name)))
                chosen["Chao, a ranker per part"] = replace(several, recall=recall)
            played.append(_measures(name, curve, chosen, 0 if query else 1))
    if chart is not None:
        recall_curves({f"start {name}": curve for name, curve in curves.items()}).save(chart)
        print_note(f"chart: {chart}")
    if as_json:
        print(json.dumps(played, indent=2))
    else:
        _print(played, labels, recall)


def _rules(recall: float, *, all_rules: bool) -> dict[str, StoppingRule]:
    """Make the stopping rules by name, those that aim at a recall with this one."""
    from dataclasses import fields

    from bayesift.screening import STOPPING_RULES

    if not 0 < recall < 1:
        raise typer.BadParameter("the recall must lie between 0 and 1", param_hint="--recall")
    chosen: dict[str, Any] = dict(
        STOPPING_RULES if all_rules else [*STOPPING_RULES.items()][:2]
    )
    for name, rule in chosen.items():
        if "recall" in {field.name for field in fields(rule)}:
            chosen[name] = replace(rule, recall=recall)
    return chosen


def _measures(
    name: str, curve: ReviewCurve, rules: Mapping[str, StoppingRule], found_before: int
) -> dict[str, Any]:
    """Compute the measures of one start; shares are of the documents to read."""
    from bayesift.screening import stop_points

    points = stop_points(
        curve, rules, found_before=found_before, seed=int(name) if found_before else 0
    )
    return {
        "start": name,
        "atd": curve.average_time_to_discovery,
        "wss95": curve.work_saved_over_sampling(0.95),
        "rrf10": curve.relevant_found(0.1),
        "loss": curve.loss,
        "ndcg": curve.ndcg,
        "stopping": {
            rule: {"read": point.n_read / curve.n_documents, "recall": point.recall}
            for rule, point in points.items()
        },
    }


def _labels(corpus: Corpus, category: str | None) -> Any:
    import numpy as np

    name = category or (corpus.categories[0] if corpus.categories else "")
    if name not in corpus.categories:
        raise DataError(f"no category {name!r} in this corpus")
    labels = np.array([name in document.categories for document in corpus])
    if not 2 <= labels.sum() < len(labels):
        raise DataError(
            f"{labels.sum()} of {len(labels)} documents are {name!r}; a review needs two, and "
            "others"
        )
    return labels


def _print(played: list[dict[str, Any]], labels: Any, recall: float) -> None:
    import numpy as np

    console = stdout()
    console.print(f"[bold]{len(labels):,} documents[/bold], {labels.sum():,} relevant\n")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("start", "ATD", "WSS@95", "RRF@10", "loss", "NDCG"):
        table.add_column(heading, justify="right")
    rows = np.array(
        [[row[name] for name in ("atd", "wss95", "rrf10", "loss", "ndcg")] for row in played]
    )
    shown = [*zip((row["start"] for row in played), rows, strict=True)]
    for name, values in [*shown, ("mean", rows.mean(0))] if len(played) > 1 else shown:
        table.add_row(name, f"{values[0]:.1f}", *(f"{value:.3f}" for value in values[1:]))
    console.print(table)
    stopping = Table("stopping rule", box=None, header_style="bold", pad_edge=False)
    for heading in ("read", "recall", f"runs that reach {recall:.0%}"):
        stopping.add_column(heading, justify="right")
    for rule in played[0]["stopping"]:
        points = [row["stopping"][rule] for row in played]
        read, reached = np.mean([[point["read"], point["recall"]] for point in points], axis=0)
        good = sum(point["recall"] >= recall for point in points)
        stopping.add_row(rule, f"{read:.1%}", f"{reached:.1%}", f"{good} of {len(points)}")
    console.print("")
    console.print(stopping)
