"""`bayesift fit`: learn from a labelled corpus."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesift.cli.corpora import CorpusName, CorpusOptions, busy
from bayesift.cli.groups import grouped
from bayesift.cli.options import LearnerOptions, Quiet, bad_options, counting, part_of

if TYPE_CHECKING:
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
    *,
    learner: LearnerOptions,
    source: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Learn the categories of a labelled corpus and save the model."""
    from bayesift.model_file import check_place

    check_place(output)
    _check_storable(model)
    known = None if knowledge is None else _known(knowledge)
    part = part_of(source.read(corpus, quiet=quiet), split, default="train")
    start = time.perf_counter()
    with counting("reading texts", len(part), quiet=quiet) as progress, bad_options():
        classifier = learner.classifier(model, progress, knowledge=known, posterior=posterior)
        classifier.fit_corpus(part)
    seconds = time.perf_counter() - start
    with busy(f"saving {output}", quiet=quiet):
        classifier.save(output)
    if not quiet:
        if classifier.coverage_ is not None:
            print(f"knowledge: {classifier.coverage_}", file=sys.stderr)
        print(
            f"{output}: {model} learned from {len(part):,} documents, {len(classifier.categories_):,} categories, "
            f"{classifier.estimator_.n_features_in_:,} terms in {seconds:.1f} s"
        )


def _known(path: Path) -> TermKnowledge:
    from bayesift.knowledge import TermKnowledge

    return TermKnowledge.read(path)


def _check_storable(model: str) -> None:
    """Refuse a learner that cannot be saved before it has learned anything."""
    from bayesift.models import LEARNERS, is_storable

    if model in LEARNERS and not is_storable(LEARNERS[model].make()):
        raise typer.BadParameter(f"{model} cannot be saved, only compared (bayesift compare)", param_hint="--model")
