"""`bayesift evaluate` and `bayesift compare`: measure models on a labelled corpus."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer
from rich.markup import escape
from rich.table import Table
from typer import Option

from bayesift.cli.console import (
    ProgressSteps,
    busy,
    counting,
    print_note,
    stdout,
    table,
    working,
    write_report,
)
from bayesift.cli.options import (
    AsJson,
    CorpusName,
    CorpusOptions,
    EngineOptions,
    LearnerOptions,
    ModelPath,
    Quiet,
    ReportPath,
    TrainingOptions,
    check_settings,
    has_parameter,
    part_of,
    read_settings,
    split_names,
    usage_errors,
)

if TYPE_CHECKING:
    from bayesift.classifier import Evaluation, TextClassifier
    from bayesift.evaluation import Scores, SignificanceTable
    from bayesift.evaluation.scores import Probabilities
    from bayesift.records import Corpus
    from bayesift.spark import SparkEvaluation

    Systems: TypeAlias = dict[str, tuple[Evaluation, float]]  # by name, with the seconds to fit

DEFAULT_MODELS = "auto, naive-bayes, logistic-gaussian, logistic-laplace, svm, committee"


def evaluate(
    model: ModelPath,
    corpus: CorpusName,
    split: Annotated[
        str | None, Option(help="Split to measure on; `test` by default, if there is one.")
    ] = None,
    as_json: AsJson = False,
    report: ReportPath = None,
    *,
    source: CorpusOptions = CorpusOptions(),
    engine: EngineOptions = EngineOptions(),
    quiet: Quiet = False,
) -> Evaluation | SparkEvaluation:
    """Measure a model on labelled texts."""
    if not engine.is_spark:
        source.check_path(corpus)
    from bayesift.classifier import TextClassifier
    from bayesift.classifier import evaluate as measure

    if engine.is_spark:
        if report is not None or split is not None:
            raise typer.BadParameter(
                "takes no --report and no --split", param_hint="--engine spark"
            )
        from bayesift.cli.spark import evaluate_on_spark

        counted = evaluate_on_spark(engine.master, model, corpus, source, quiet=quiet)
        _print_counted(counted, as_json=as_json)
        return counted
    with busy(f"loading {model}", quiet=quiet):
        classifier = TextClassifier.load(model)
    read = source.read(corpus, quiet=quiet, layout=classifier.layout_)
    part = part_of(read, split, default="test")
    with counting("classifying", len(part), quiet=quiet) as progress:
        evaluation = measure(classifier, part, progress=progress)
    _warn(classifier, evaluation)
    if report is not None:
        from bayesift.report import evaluation_report, report_content

        with busy("writing the report", quiet=quiet):
            write_report(evaluation_report(report_content(classifier, evaluation)), report)
    if as_json:
        print(json.dumps(evaluation.to_dict(), indent=2))
    else:
        print_scores(evaluation.measures)
    return evaluation


def _print_counted(evaluation: SparkEvaluation, *, as_json: bool) -> None:
    """Print the measures that Spark counts; those of rankings are not among them."""
    if evaluation.n_unreadable:
        print_note(f"texts that could not be read, left out: {evaluation.n_unreadable:,}")
    if as_json:
        more = {"log_loss": evaluation.log_loss, "brier_score": evaluation.brier_score}
        print(json.dumps({**evaluation.measures.to_dict(), **more}, indent=2))
        return
    print_scores(evaluation.measures)
    if evaluation.log_loss is not None:
        print(f"\nlog loss {evaluation.log_loss:.4f}, Brier score {evaluation.brier_score:.4f}")


def _warn(classifier: TextClassifier, evaluation: Evaluation) -> None:
    if (
        classifier.corpus_
        and classifier.corpus_.get("fingerprint") == evaluation.corpus.fingerprint
    ):
        print_note("the model was trained on these documents, so the scores are too good")
    if evaluation.unknown_labels:
        print_note(evaluation.describe_unknown())
    _warn_of_terms(classifier, evaluation.corpus)


def _warn_of_terms(classifier: TextClassifier, corpus: Corpus) -> None:
    """Say how many terms of a vector file the model does not know."""
    if corpus.vectors is not None:
        n_unknown = len(
            {*corpus.vectors.indices.tolist()} - {*range(classifier.n_features_in_)}
        )
        if n_unknown:
            print_note(f"terms that the model does not know, left out: {n_unknown:,}")


def print_scores(scores: Scores, *, n_categories: int = 10) -> None:
    """Print the measures as tables, with the largest categories."""
    console = stdout()
    console.print(
        f"[bold]{scores.n_documents:,} documents[/bold], {scores.n_positives:,} labels, "
        f"{scores.n_assigned:,} assigned; accuracy [bold]{scores.accuracy:.4f}[/bold]\n"
    )
    averages = table("", "precision", "recall", "F1")
    for name, average in (("micro", scores.micro), ("macro (mean of F1)", scores.macro)):
        averages.add_row(
            name, *(f"{value:.4f}" for value in (average.precision, average.recall, average.f1))
        )
    console.print(averages)
    if scores.probabilities is not None:
        console.print()
        console.print(_probabilities(scores.probabilities))
        console.print(
            "[dim]ECE: calibration error of the top label, and of all categories[/dim]"
        )
    present = [row for row in scores.categories if row.positives]
    largest = sorted(present, key=lambda row: -row.positives)[:n_categories]
    rows = table("category", "documents", "assigned", "precision", "recall", "F1")
    for row in largest:
        rows.add_row(
            escape(row.category),
            f"{row.positives:,}",
            f"{row.assigned:,}",
            *(f"{value:.4f}" for value in (row.precision, row.recall, row.f1)),
        )
    console.print()
    console.print(rows)
    if len(present) > len(largest):
        console.print(
            f"[dim]and {len(present) - len(largest):,} smaller categories (--json has all)[/dim]"
        )
    if scores.categories_without_documents:
        console.print(escape(scores.describe_absent()))


def _probabilities(measured: Probabilities) -> Table:
    rows = table("probabilities", "log loss", "Brier", "ECE top", "ECE all", "mean AP")
    values = (
        measured.log_loss,
        measured.brier_score,
        measured.top_label_calibration_error_width,
        measured.calibration_error_width,
        measured.average_precision,
    )
    rows.add_row("", *(f"{value:.4f}" for value in values))
    return rows


def compare(
    corpus: CorpusName,
    models: Annotated[
        str,
        Option(
            help="Learners, separated by commas; `bayesift models` lists them. A learner's own "
            "options and settings follow its name, as in svm:ngrams=2:C=0.1."
        ),
    ] = DEFAULT_MODELS,
    test_folds: Annotated[
        int,
        Option(
            help="Without a test split, hold out one of this many folds for testing.", min=2
        ),
    ] = 4,
    as_json: AsJson = False,
    report: ReportPath = None,
    *,
    learner: LearnerOptions = LearnerOptions(),
    source: TrainingOptions = TrainingOptions(),
    quiet: Quiet = False,
) -> Systems:
    """Compare models on one corpus.

    Each learns from the train split and is measured on the test split. Without splits, a quarter of
    the texts is held out for testing; texts that repeat one another are held out together.
    Differences are tested for significance.
    """
    source.check_path(corpus)
    from bayesift.evaluation import significance_table

    names = split_names(models)
    if not names:
        raise typer.BadParameter("names no model", param_hint="--models")
    adjusted = {name: _adjusted(name, learner) for name in names}
    for learner_name, options, settings in adjusted.values():
        options.check_names(learner_name, option="--models")
        check_settings(learner_name, settings, "--models")
    read = source.read(corpus, quiet=quiet)
    with usage_errors():
        train, test = _train_and_test(
            read, test_folds, learner.seed, multilabel=source.multilabel
        )
    systems = {}
    for number, name in enumerate(names, 1):
        with (
            working(
                f"{name}, {number} of {len(names)}: reading texts", len(train), quiet=quiet
            ) as steps,
            usage_errors(),
        ):
            systems[name] = _run(
                *adjusted[name], train, test, steps, f"{name}, {number} of {len(names)}", source
            )
    first = next(iter(systems.values()))[0]
    decisions = {name: evaluation.decisions for name, (evaluation, _) in systems.items()}
    unit: Any = "documents" if test.is_single_label else "decisions"
    significance = significance_table(
        first.truth, decisions, alternative="two-sided", unit=unit
    )
    if first.unknown_labels:
        print_note(first.describe_unknown())
    if report is not None:
        from bayesift.report import comparison_content, comparison_report

        measures = {name: evaluation.measures for name, (evaluation, _) in systems.items()}
        write_report(
            comparison_report(comparison_content(measures, test, significance)), report
        )
    if as_json:
        print(json.dumps(_as_dict(systems, significance), indent=2))
    else:
        print(f"{len(train):,} documents to train on, {len(test):,} to test\n")
        print_comparison(systems, significance)
    return systems


def _adjusted(
    description: str, learner: LearnerOptions
) -> tuple[str, LearnerOptions, dict[str, Any]]:
    """Split "name:option=value:..." into the learner's name, its options and its settings."""
    name, *assignments = description.split(":")
    hints = get_type_hints(LearnerOptions)
    kinds = {field.name: hints[field.name] for field in fields(LearnerOptions)}
    changes: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for option, value in read_settings(assignments, "--models").items():
        if option not in kinds:
            settings[option] = value
        elif isinstance(value, kinds[option]) or (
            kinds[option] is float and type(value) is int
        ):
            changes[option] = value
        else:
            raise typer.BadParameter(
                f"{description!r}: {option} cannot be {value!r}", param_hint="--models"
            )
    return name, replace(learner, **changes), settings


def _train_and_test(
    corpus: Corpus, test_folds: int, seed: int, *, multilabel: bool
) -> tuple[Corpus, Corpus]:
    """Return the train and test splits, or one of `test_folds` stratified folds as test part.

    Texts that repeat one another, or nearly, are in the same part, as are those of one group.
    """
    import numpy as np

    from bayesift.classifier.predictions import labelled_part
    from bayesift.errors import RequestError
    from bayesift.folds import join_groups
    from bayesift.text import TermVectorizer
    from bayesift.text.near_copies import group_copies, group_equal_rows
    from bayesift.thresholds import category_folds
    from bayesift.validation import check_groups

    if {"train", "test"} <= set(corpus.splits):
        return corpus.split("train"), corpus.split("test")
    if not (multilabel or corpus.is_multilabel):
        # A class without a training document cannot be learned: the folds keep one of each class in
        # training.
        corpus = labelled_part(corpus)
    if corpus.vectors is None:
        copies = group_copies(TermVectorizer().fit_transform(corpus.text_column))
    else:
        copies = group_equal_rows(corpus.vectors)
    groups = join_groups(check_groups(corpus.groups, len(corpus)), copies)
    n_apart = len(np.unique(groups))
    if n_apart < test_folds:
        raise RequestError(
            f"{n_apart} texts that do not repeat others are too few for {test_folds} folds; "
            "--test-folds takes fewer, or give the file a column of splits"
        )
    folds = category_folds(
        corpus.indicator, n_folds=test_folds, random_state=seed, groups=groups
    )
    if not np.any(folds == 0):
        raise RequestError(
            "no text can be held out: each category has one text, or copies of one"
        )
    return corpus.select(np.flatnonzero(folds != 0)), corpus.select(np.flatnonzero(folds == 0))


def _run(
    name: str,
    learner: LearnerOptions,
    settings: dict[str, Any],
    train: Corpus,
    test: Corpus,
    steps: ProgressSteps,
    title: str,
    source: TrainingOptions,
) -> tuple[Evaluation, float]:
    """Learn and measure; steps are shown under the title."""
    from bayesift.classifier import evaluate

    learning = f"{title}: learning"
    parameters = dict(settings)
    if has_parameter(name, "progress"):
        is_timed = has_parameter(name, "tell")
        parameters["progress"] = steps.then(learning, timed=is_timed)
    classifier = learner.classifier(
        name, steps.first(learning), parameters=parameters, columns=source.columns.others
    )
    start = time.perf_counter()
    classifier.fit_corpus(train, multilabel=source.multilabel or None)
    seconds = time.perf_counter() - start
    classified = steps.then(f"{title}: classifying")
    return evaluate(
        classifier, test, progress=lambda done: classified(done, len(test))
    ), seconds


def _as_dict(systems: Systems, significance: SignificanceTable) -> dict[str, Any]:
    measured = [
        {"model": name, "fit_seconds": seconds, "scores": evaluation.to_dict()}
        for name, (evaluation, seconds) in systems.items()
    ]
    measure, best = _winner(systems)
    others = {name: significance.symbols(best, name)[0] for name in systems if name != best}
    winner = {
        "model": best,
        "measure": measure,
        "better_than": [name for name, symbol in others.items() if ">" in symbol],
        "no_significant_difference": [
            name for name, symbol in others.items() if ">" not in symbol
        ],
    }
    return {"systems": measured, "significance": significance.to_dict(), "best": winner}


def print_comparison(systems: Systems, significance: SignificanceTable) -> None:
    """Print scores and significance as tables, and which model is best."""
    console = stdout()
    scores = table("model", "accuracy", "micro F1", "macro F1", "log loss", "ECE", "s")
    for name, (evaluation, seconds) in systems.items():
        m = evaluation.measures
        p = evaluation.measures.probabilities
        if p is None:
            calibration = ("", "")
        else:
            calibration = (f"{p.log_loss:.4f}", f"{p.top_label_calibration_error_width:.4f}")
        scores.add_row(
            name,
            f"{m.accuracy:.4f}",
            f"{m.micro.f1:.4f}",
            f"{m.macro.f1:.4f}",
            *calibration,
            f"{seconds:.2f}",
        )
    console.print(scores)
    console.print("[dim]ECE: calibration error of the top label; s: seconds to fit[/dim]")
    if len(systems) > 1:
        console.print(
            "\n[bold]Significance[/bold] of row against column, micro / macro sign test, "
            "corrected by Holm:"
        )
        console.print("[dim]>> or << P <= 0.01, > or < P <= 0.05, ~ neither[/dim]\n")
        console.print(_significance(significance))
        console.print(f"\n{escape(_describe_winner(systems, significance))}")


def _significance(tests: SignificanceTable) -> Table:
    """Test every pair; columns have the numbers of their systems, so that many fit."""
    rows = table("", *map(str, range(1, len(tests.systems) + 1)), numbers=False)
    for number, row in enumerate(tests.systems, 1):
        pairs = [tests.symbols(row, column) for column in tests.systems]
        rows.add_row(
            f"{number} {escape(row)}",
            *(" / ".join(pair) if any(pair) else "" for pair in pairs),
        )
    return rows


def _winner(systems: Systems) -> tuple[str, str]:
    """Return the measure that decides, accuracy or micro F1, and the best system by it."""
    first = next(iter(systems.values()))[0]
    if first.corpus.is_single_label:
        return "accuracy", max(systems, key=lambda name: systems[name][0].measures.accuracy)
    return "micro F1", max(systems, key=lambda name: systems[name][0].measures.micro.f1)


def _describe_winner(systems: Systems, significance: SignificanceTable) -> str:
    """Name the best system, and which others it is significantly better than."""
    measure, best = _winner(systems)
    measures = systems[best][0].measures
    value = measures.accuracy if measure == "accuracy" else measures.micro.f1
    others = {name: significance.symbols(best, name)[0] for name in systems if name != best}
    worse = [name for name, symbol in others.items() if ">" in symbol]
    rest = [name for name in others if name not in worse]
    said = [f"significantly better than {_listed(worse)}" if worse else ""]
    if rest:
        said.append(
            "no significant difference to "
            f"{_listed(rest) if worse or len(rest) < 3 else 'the others'}"
        )
    return f"Best {measure}: {best}, {value:.4f}; {'; '.join(filter(None, said))}."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
