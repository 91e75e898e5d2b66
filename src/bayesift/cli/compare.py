"""`bayesift compare`: several models on one corpus, with significance."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from rich.console import Console
from rich.table import Table

from bayesift.cli.corpora import CorpusName, CorpusOptions, busy
from bayesift.cli.groups import grouped
from bayesift.cli.options import AsJson, LearnerOptions, Quiet, ReportPath, bad_options
from bayesift.files import whole_file

if TYPE_CHECKING:
    from bayesift.classifier import Evaluation
    from bayesift.evaluation import SignificanceTable
    from bayesift.records import Corpus


@grouped
def compare(
    corpus: CorpusName,
    models: Annotated[
        str,
        typer.Option(
            help="Learners with commas between; `bayesift models` lists them. Options of one alone follow it: "
            "svm,nbsvm:ngrams=2:min-df=2."
        ),
    ],
    test_folds: Annotated[
        int, typer.Option(help="Without a test split, one part in so many is held out for testing.", min=2)
    ] = 4,
    as_json: AsJson = False,
    report: ReportPath = None,
    *,
    learner: LearnerOptions,
    source: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Fit several models to the train part, measure them on the test part, and test the differences."""
    from bayesift.evaluation import significance_table

    train, test = _train_and_test(source.read(corpus, quiet=quiet), test_folds, learner.seed)
    systems = {}
    for name in _names(models):
        with busy(f"fitting {name}", quiet=quiet), bad_options():
            systems[name] = _run(*_adjusted(name, learner), train, test)
    first = next(iter(systems.values()))[0]
    table = significance_table(first.truth, {name: evaluation.decisions for name, (evaluation, _) in systems.items()})
    if report is not None:
        from bayesift.report import comparison_content, comparison_report

        measures = {name: evaluation.measures for name, (evaluation, _) in systems.items()}
        with whole_file(report, "w") as stream:
            stream.write(comparison_report(comparison_content(measures, test, table)))
        print(f"report: {report}", file=sys.stderr)
    if as_json:
        print(json.dumps(_as_dict(systems, table), indent=2))
    else:
        print(f"{len(train):,} documents to train on, {len(test):,} to test\n")
        print_comparison(systems, table)


def _names(models: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in models.split(",") if name.strip()))
    if not names:
        raise typer.BadParameter("names no model", param_hint="--models")
    return names


def _adjusted(description: str, learner: LearnerOptions) -> tuple[str, LearnerOptions]:
    """The name of "name:option=value:...", and the options with these values."""
    name, *assignments = description.split(":")
    kinds, changes = get_type_hints(LearnerOptions), {}
    for assignment in assignments:
        option, _, value = assignment.partition("=")
        option = option.strip().replace("-", "_")
        if option not in kinds:
            known = ", ".join(kind.replace("_", "-") for kind in kinds)
            raise typer.BadParameter(
                f"{description!r}: no option {option!r}; there are: {known}", param_hint="--models"
            )
        changes[option] = _value(value.strip())
        if not isinstance(changes[option], kinds[option]):
            raise typer.BadParameter(f"{description!r}: {option} cannot be {value!r}", param_hint="--models")
    return name, replace(learner, **changes)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _train_and_test(corpus: Corpus, test_folds: int, seed: int) -> tuple[Corpus, Corpus]:
    """The splits of that name, or one part in `test_folds` held out, spread over the categories."""
    import numpy as np

    from bayesift.thresholds import category_folds

    if {"train", "test"} <= set(corpus.splits):
        return corpus.split("train"), corpus.split("test")
    if corpus.is_single_label:
        # A class no training document has cannot be learned: folds keep one of each in training.
        corpus = corpus.labelled()
    folds = category_folds(corpus.indicator, n_folds=test_folds, random_state=seed)
    return corpus.select(np.flatnonzero(folds != 0)), corpus.select(np.flatnonzero(folds == 0))


def _run(name: str, learner: LearnerOptions, train: Corpus, test: Corpus) -> tuple[Evaluation, float]:
    from bayesift.classifier import evaluate

    classifier = learner.classifier(name)
    start = time.perf_counter()
    classifier.fit_corpus(train)
    seconds = time.perf_counter() - start
    return evaluate(classifier, test), seconds


def _as_dict(systems: dict[str, tuple[Evaluation, float]], table: SignificanceTable) -> dict[str, Any]:
    measured = [
        {"model": name, "fit_seconds": seconds, "scores": evaluation.measures.to_dict()}
        for name, (evaluation, seconds) in systems.items()
    ]
    return {"systems": measured, "significance": table.to_dict()}


def print_comparison(systems: dict[str, tuple[Evaluation, float]], table: SignificanceTable) -> None:
    """Scores and significance as tables."""
    console = Console(highlight=False)
    scores = Table(box=None, header_style="bold", pad_edge=False)
    scores.add_column("model", no_wrap=True)
    for heading in ("accuracy", "micro F1", "macro F1", "log loss", "ECE", "s"):
        scores.add_column(heading, justify="right")
    for name, (evaluation, seconds) in systems.items():
        m, p = evaluation.measures, evaluation.measures.probabilities
        calibration = ("", "") if p is None else (f"{p.log_loss:.4f}", f"{p.calibration_error_width:.4f}")
        scores.add_row(
            name, f"{m.accuracy:.4f}", f"{m.micro.f1:.4f}", f"{m.macro.f1:.4f}", *calibration, f"{seconds:.2f}"
        )
    console.print(scores)
    console.print("[dim]s: seconds to fit[/dim]")
    if len(systems) > 1:
        console.print("\n[bold]Significance[/bold] of row against column, micro / macro sign test, corrected by Holm:")
        console.print("[dim]>> or << P <= 0.01, > or < P <= 0.05, ~ neither[/dim]\n")
        print(table.render())
