"""`bayesift fit`: learn from a labelled corpus."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesift.cli.corpora import CorpusName, CorpusOptions, busy
from bayesift.cli.engines import EngineOptions, fit_on_spark
from bayesift.cli.groups import grouped
from bayesift.cli.options import LearnerOptions, Quiet, bad_options, part_of, takes, working

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier
    from bayesift.knowledge import TermKnowledge


@grouped
def fit(
    corpus: CorpusName,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save the model: a folder, or a file that ends in .zip.")
    ],
    model: Annotated[str, typer.Option(help="The learner; `bayesift models` lists them.")] = "naive-bayes",
    split: Annotated[
        str | None, typer.Option(help="Part to learn from; `train` where there is one.", show_default=False)
    ] = None,
    knowledge: Annotated[
        Path | None,
        typer.Option(help="What you know of words, YAML or JSON; for linear models.", show_default=False),
    ] = None,
    posterior: Annotated[
        bool, typer.Option("--posterior", help="Keep how sure each weight is, for explain and inspect; linear models.")
    ] = False,
    prior_scale: Annotated[
        str | None,
        typer.Option(
            help="How strong the prior of a linear model is: norm, cross-validation, one-standard-error, search, "
            "evidence, or a factor of its standard deviations.",
            show_default=False,
        ),
    ] = None,
    *,
    learner: LearnerOptions,
    source: CorpusOptions,
    engine: EngineOptions,
    quiet: Quiet = False,
) -> None:
    """Learn the categories of a labelled corpus and save the model."""
    from bayesift.model_file import check_place

    check_place(output)
    _check_storable(model)
    known = None if knowledge is None else _known(knowledge)
    parameters: dict[str, Any] = {"posterior": "normal"} if posterior else {}
    if prior_scale is not None:
        parameters["prior_scale"] = _number_or_name(prior_scale)
    start = time.perf_counter()
    if engine.is_spark:
        _check_on_spark(split, known)
        with bad_options():
            classifier, n = fit_on_spark(engine, model, corpus, learner, source, parameters, quiet=quiet)
        _save(classifier, output, model, n, time.perf_counter() - start, quiet=quiet)
        return
    part = part_of(source.read(corpus, quiet=quiet), split, default="train")
    start = time.perf_counter()
    with working("reading texts", len(part), quiet=quiet) as steps, bad_options():
        if takes(model, "progress"):
            parameters["progress"] = steps.then("learning")
        classifier = learner.classifier(model, steps.first(), knowledge=known, parameters=parameters)
        classifier.fit_corpus(part)
    _save(classifier, output, model, len(part), time.perf_counter() - start, quiet=quiet)


def _save(classifier: TextClassifier, output: Path, model: str, n: int, seconds: float, *, quiet: bool) -> None:
    with busy(f"saving {output}", quiet=quiet):
        classifier.save(output)
    if not quiet:
        if classifier.coverage_ is not None:
            print(f"knowledge: {classifier.coverage_}", file=sys.stderr)
        print(
            f"{output}: {model} learned from {n:,} documents, {len(classifier.categories_):,} categories, "
            f"{classifier.estimator_.n_features_in_:,} terms in {seconds:.1f} s"
        )


def _check_on_spark(split: str | None, known: TermKnowledge | None) -> None:
    if split is not None or known is not None:
        raise typer.BadParameter("takes no --split and no --knowledge", param_hint="--engine spark")


def _number_or_name(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _known(path: Path) -> TermKnowledge:
    from bayesift.knowledge import TermKnowledge

    return TermKnowledge.read(path)


def _check_storable(model: str) -> None:
    """Refuse a learner that cannot be saved before it has learned anything."""
    from bayesift.models import LEARNERS, is_storable

    if model in LEARNERS and not is_storable(LEARNERS[model].make()):
        raise typer.BadParameter(f"{model} cannot be saved, only compared (bayesift compare)", param_hint="--model")
