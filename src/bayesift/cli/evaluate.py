"""`bayesift evaluate`: measure a model on a labelled corpus."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesift.cli.corpora import CorpusName, CorpusOptions, busy
from bayesift.cli.engines import EngineOptions, evaluate_on_spark
from bayesift.cli.groups import grouped
from bayesift.cli.options import AsJson, ModelPath, Quiet, ReportPath, part_of
from bayesift.files import whole_file

if TYPE_CHECKING:
    from bayesift.classifier import Evaluation, TextClassifier
    from bayesift.evaluation import Scores
    from bayesift.spark import SparkEvaluation


@grouped
def evaluate(
    model: ModelPath,
    corpus: CorpusName,
    split: Annotated[
        str | None, typer.Option(help="Part to measure on; `test` where there is one.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    report: ReportPath = None,
    *,
    source: CorpusOptions,
    engine: EngineOptions,
    quiet: Quiet = False,
) -> None:
    """Measure a model on a labelled corpus."""
    from bayesift.classifier import TextClassifier
    from bayesift.classifier import evaluate as measure

    if engine.is_spark:
        if report is not None or split is not None:
            raise typer.BadParameter("takes no --report and no --split", param_hint="--engine spark")
        _print_counted(evaluate_on_spark(engine, model, corpus, source, quiet=quiet), as_json=as_json)
        return
    classifier = TextClassifier.load(model)
    part = part_of(source.read(corpus, quiet=quiet), split, default="test")
    with busy(f"classifying {len(part):,} documents", quiet=quiet):
        evaluation = measure(classifier, part)
    _warn(classifier, evaluation)
    if report is not None:
        from bayesift.report import evaluation_report, report_content

        with busy("writing the report", quiet=quiet):
            content = report_content(classifier, evaluation)
            page = evaluation_report(content)
            with whole_file(report, "w") as stream:
                stream.write(page)
        print(f"report: {report}", file=sys.stderr)
    if as_json:
        print(json.dumps(evaluation.measures.to_dict(), indent=2))
    else:
        print_scores(evaluation.measures)


def _print_counted(evaluation: SparkEvaluation, *, as_json: bool) -> None:
    """What was counted on Spark; rankings are not."""
    if evaluation.n_unreadable:
        print(f"texts that could not be read, left out: {evaluation.n_unreadable:,}", file=sys.stderr)
    if as_json:
        more = {"log_loss": evaluation.log_loss, "brier_score": evaluation.brier_score}
        print(json.dumps({**evaluation.measures.to_dict(), **more}, indent=2))
        return
    print_scores(evaluation.measures)
    if evaluation.log_loss is not None:
        print(f"\nlog loss {evaluation.log_loss:.4f}, Brier score {evaluation.brier_score:.4f}")


def _warn(classifier: TextClassifier, evaluation: Evaluation) -> None:
    if classifier.corpus_ and classifier.corpus_.get("fingerprint") == evaluation.corpus.fingerprint:
        print("these are the documents the model was trained on: the scores say little", file=sys.stderr)
    if evaluation.unknown_categories:
        names = ", ".join(evaluation.unknown_categories[:5])
        more = "" if len(evaluation.unknown_categories) <= 5 else ", ..."
        print(f"categories the model does not know, left out: {names}{more}", file=sys.stderr)


def print_scores(scores: Scores, *, n_categories: int = 10) -> None:
    """The measures as tables, with the largest categories."""
    console = Console(highlight=False)
    console.print(
        f"[bold]{scores.n_documents:,} documents[/bold], {scores.n_positives:,} labels, "
        f"{scores.n_assigned:,} assigned; accuracy [bold]{scores.accuracy:.4f}[/bold]\n"
    )
    averages = _table("", "precision", "recall", "F1")
    for name, average in (("micro", scores.micro), ("macro (mean of F1)", scores.macro)):
        averages.add_row(name, *(f"{value:.4f}" for value in (average.precision, average.recall, average.f1)))
    console.print(averages)
    if scores.probabilities is not None:
        probabilities = _table("probabilities", "log loss", "Brier", "ECE", "mean AP")
        p = scores.probabilities
        values = (p.log_loss, p.brier_score, p.calibration_error_width, p.average_precision)
        probabilities.add_row("", *(f"{value:.4f}" for value in values))
        console.print()
        console.print(probabilities)
    largest = sorted(scores.categories, key=lambda row: -row.positives)[:n_categories]
    rows = _table("category", "documents", "assigned", "precision", "recall", "F1")
    for row in largest:
        rows.add_row(
            escape(row.category),
            f"{row.positives:,}",
            f"{row.assigned:,}",
            *(f"{value:.4f}" for value in (row.precision, row.recall, row.f1)),
        )
    console.print()
    console.print(rows)
    if len(scores.categories) > len(largest):
        console.print(f"[dim]and {len(scores.categories) - len(largest):,} smaller categories (--json has all)[/dim]")


def _table(first: str, *headings: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table
