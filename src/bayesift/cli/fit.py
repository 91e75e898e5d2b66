"""`bayesift fit`: learn from a labelled corpus."""

from __future__ import annotations

import re
import shlex
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bayesift.cli.check import print_findings
from bayesift.cli.console import (
    busy,
    counting,
    print_guesses,
    print_note,
    print_problems,
    working,
)
from bayesift.cli.interrupts import NotedInterrupt
from bayesift.cli.options import (
    CorpusName,
    CorpusOptions,
    EngineOptions,
    LearnerOptions,
    Quiet,
    TrainingOptions,
    check_settings,
    has_parameter,
    part_of,
    read_settings,
    usage_errors,
)

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier
    from bayesift.cli.console import ProgressSteps
    from bayesift.features import BlockKind
    from bayesift.knowledge import TermKnowledge
    from bayesift.records import Corpus

_DOCUMENTS_TO_COMPARE = 2000  # columns of text by


@dataclass(frozen=True)
class ModelOptions:
    """The learner and its parameters."""

    model: Annotated[
        str | None,
        Option(
            help="Name of the learner, see `bayesift models`. Default: auto, or naive-bayes on "
            "Spark and out of core."
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="A setting of the learner, such as gamma=10 or prior=gaussian; `bayesift models "
            "NAME` lists them. May be given several times.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None
    effort: Annotated[
        str | None,
        Option(help="How many models auto tries: quick, normal (default) or thorough."),
    ] = None
    budget: Annotated[
        float | None,
        Option(
            help="Time limit of auto in seconds; it tries fewer models to keep it.",
            metavar="SECONDS",
        ),
    ] = None
    knowledge: Annotated[
        Path | None,
        Option(help="YAML or JSON file of words that you expect to matter; for linear models."),
    ] = None
    posterior: Annotated[
        bool,
        Option(
            "--posterior",
            help="Keep the uncertainty of each weight, for explain and inspect; linear models.",
        ),
    ] = False
    prior_scale: Annotated[
        str | None,
        Option(
            help="Strength of the prior of a linear model: norm, cross-validation, "
            "one-standard-error, search, evidence, or a factor of its standard deviations.",
        ),
    ] = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the learner that were named."""
        named = {
            "posterior": "normal" if self.posterior else None,
            "prior_scale": None
            if self.prior_scale is None
            else _number_or_name(self.prior_scale),
            "effort": self.effort,
            "budget": self.budget,
        }
        given = {name: value for name, value in named.items() if value is not None}
        return {**read_settings(self.settings or (), "--set"), **given}

    def read_knowledge(self) -> TermKnowledge | None:
        """Read what is known about words."""
        from bayesift.knowledge import TermKnowledge

        if self.knowledge is None:
            return None
        return TermKnowledge.read(self.knowledge)

    def check(self, model: str) -> None:
        """Refuse learners that cannot be saved, and options that auto does not take."""
        from bayesift.models import LEARNERS, is_storable

        if model in LEARNERS and not is_storable(LEARNERS[model].make()):
            raise typer.BadParameter(
                f"{model} cannot be saved, only compared (bayesift compare)",
                param_hint="--model",
            )
        for name in ("knowledge", "posterior", "prior_scale") if model == "auto" else ():
            if getattr(self, name):
                raise typer.BadParameter(
                    "auto has several priors; use --model logistic-gaussian",
                    param_hint=f"--{name.replace('_', '-')}",
                )
        if model in LEARNERS:
            check_settings(model, read_settings(self.settings or (), "--set"), "--set")


def fit(
    corpus: CorpusName,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            help="Where to save the model: a folder, or a file that ends in .zip. By default "
            "NAME.model.zip here.",
        ),
    ] = None,
    *,
    choice: ModelOptions = ModelOptions(),
    split: Annotated[
        str | None, Option(help="Split to learn from; `train` by default, if there is one.")
    ] = None,
    bundle_vectors: Annotated[
        bool,
        Option(
            "--bundle-vectors",
            help="Store the word vectors in the model file; always done with --vectors.",
        ),
    ] = False,
    out_of_core: Annotated[
        bool,
        Option(
            "--out-of-core",
            help="Learn from a table or stream (-) chunk by chunk, for data larger than memory; "
            "naive Bayes and online learners.",
        ),
    ] = False,
    learner: LearnerOptions = LearnerOptions(),
    source: TrainingOptions = TrainingOptions(),
    engine: EngineOptions = EngineOptions(),
    quiet: Quiet = False,
) -> TextClassifier:
    """Learn the categories of a labelled corpus and save the model."""
    if not engine.is_spark:
        source.check_path(corpus)
    from bayesift.model_file import check_place

    output = output or default_output(corpus)
    check_place(output)
    model = choice.model or ("naive-bayes" if engine.is_spark or out_of_core else "auto")
    choice.check(model)
    start = time.perf_counter()
    if engine.is_spark:
        _refuse(
            "--engine spark",
            split=split,
            knowledge=choice.knowledge,
            group=source.columns.group,
            columns=source.columns.others or None,
        )
        from bayesift.cli.spark import fit_on_spark

        with usage_errors():
            classifier = fit_on_spark(
                engine.master, model, corpus, learner, source, choice.parameters, quiet=quiet
            )
    elif out_of_core:
        _refuse(
            "--out-of-core",
            knowledge=choice.knowledge,
            budget=choice.budget,
            effort=choice.effort,
            group=source.columns.group,
            columns=source.columns.others or None,
        )
        classifier = _fit_chunks(
            corpus, model, learner, source, choice.parameters, split, quiet=quiet
        )
    else:
        knowledge = choice.read_knowledge()
        part = part_of(_read(corpus, source, split, quiet=quiet), split, default="train")
        if not quiet:
            print_findings(corpus, part, strip_html=learner.strip_html)
        start = time.perf_counter()  # of learning: reading the file does not count
        interrupt = NotedInterrupt("ending with the best model so far")
        with working("reading texts", len(part), quiet=quiet) as steps, usage_errors():
            classifier = learner.classifier(
                model,
                steps.first("learning"),
                knowledge=knowledge,
                parameters={**choice.parameters, **_reporting(model, steps, interrupt)},
                columns=source.columns.others,
            )
            classifier.fit_corpus(part, multilabel=source.multilabel or None)
        interrupt.ignore()
    bundle = bundle_vectors or learner.has_vectors
    _save(
        classifier,
        output,
        model,
        time.perf_counter() - start,
        bundle_vectors=bundle,
        quiet=quiet,
    )
    return classifier


def _reporting(model: str, steps: ProgressSteps, interrupt: NotedInterrupt) -> dict[str, Any]:
    """Return the parameters of a learner that show its progress, and let it end early."""
    if not has_parameter(model, "tell"):
        is_counted = has_parameter(model, "progress")
        return {"progress": steps.then("learning")} if is_counted else {}
    update = steps.then("learning", timed=True)

    def report(done: int, total: int) -> bool:
        interrupt.listen()
        update(done, total)
        return interrupt.is_noted

    return {"progress": report, "tell": steps.tell("learning")}


def _read(name: str, source: TrainingOptions, split: str | None, *, quiet: bool) -> Corpus:
    """Load a corpus; of two columns of text, both are used where that lowers the held-out loss."""
    read = source.load(name, quiet=quiet)
    layout = read.layout
    columns = source.columns
    is_free = columns.text is None and columns.title is None and name != "-"
    if is_free and layout is not None and layout.unused_texts and not layout.columns.title:
        with busy("comparing columns of text", quiet=quiet):
            read = _choose_texts(name, read, source, split)
    print_problems(read.problems)
    if not quiet:
        print_guesses(name, read.notes)
    return read


def _choose_texts(
    name: str, alone: Corpus, source: TrainingOptions, split: str | None
) -> Corpus:
    """Return the corpus as it is, or with another column of text as title."""
    from bayesift.records import Note

    layout = alone.layout
    other = layout.unused_texts[0]
    options = replace(source, text=layout.columns.text, label=layout.columns.label, title=other)
    both = options.load(name, quiet=True)
    losses = []
    for corpus in (alone, both):
        part = part_of(corpus, split, default="train")
        losses.append(_held_out_loss(part, multilabel=source.multilabel))
    without, together = losses
    if without is None or together is None:
        return alone
    notes = [note for note in alone.notes if other not in note.value]
    if together < without:
        told = f"which lowers the held-out log loss from {without:.3f} to {together:.3f}"
        return replace(both, notes=(*notes, Note("title", f"{other!r}, {told}", "", "--title")))
    told = f"not used: the held-out log loss is {together:.3f} with it, {without:.3f} without"
    return replace(alone, notes=(*notes, Note("another text column", f"{other!r}, {told}")))


def _held_out_loss(corpus: Corpus, *, multilabel: bool) -> float | None:
    """Return the held-out loss of a quick model of some documents; None if they are too few."""
    import numpy as np

    from bayesift.classifier import TextClassifier
    from bayesift.models import make_learner

    if not corpus.n_labels.any():
        return None
    if len(corpus) > _DOCUMENTS_TO_COMPARE:
        random = np.random.default_rng(0)
        rows = random.choice(len(corpus), _DOCUMENTS_TO_COMPARE, replace=False)
        corpus = corpus.select(np.sort(rows))
    quick = TextClassifier(model=make_learner("auto", effort="quick"), embedder=None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself says what there is to say
            quick.fit_corpus(corpus, multilabel=multilabel or None)
    except ValueError:  # so does it of what cannot be learned
        return None
    quality = quick.expected_quality_
    return None if quality is None else quality.log_loss


def _refuse(way: str, **given: object) -> None:
    """Refuse options that a way of fitting does not take."""
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"does not take --{name}", param_hint=way)


def _fit_chunks(
    corpus: str,
    model: str,
    learner: LearnerOptions,
    source: CorpusOptions,
    parameters: dict[str, Any],
    split: str | None,
    *,
    quiet: bool,
) -> TextClassifier:
    from bayesift.errors import DataError

    with counting(f"learning from {corpus}", None, quiet=quiet) as progress, usage_errors():
        classifier = learner.classifier(model, None, parameters=parameters)
        if not hasattr(classifier, "partial_fit_corpus"):
            from bayesift.classifier.incremental import learners_that_grow

            able = ", ".join(learners_that_grow())
            raise typer.BadParameter(
                f"{model} needs all documents at once; use one of {able}", param_hint="--model"
            )
        n_documents = 0
        is_first = True
        for chunk in source.chunks(corpus, quiet=quiet):
            if is_first and split is None and "train" in chunk.splits:
                split = "train"
            is_first = False
            if split is not None:
                if split not in chunk.splits:
                    continue
                chunk = chunk.split(split)
            classifier.partial_fit_corpus(chunk, multilabel=source.multilabel)
            n_documents += len(chunk)
            progress(n_documents)
    if not hasattr(classifier, "estimator_"):
        raise DataError(
            "no document has a category; name the column of labels with --label",
            file=Path(corpus),
        )
    return classifier


def default_output(corpus: str) -> Path:
    """Name the model file of a corpus if no output is given.

    Files of other kinds than CSV keep their suffix.

    Examples
    --------
    >>> [str(default_output(corpus)) for corpus in ("mails/2026.csv.gz", "2026.xlsx", "-")]
    ['2026.model.zip', '2026.xlsx.model.zip', 'stdin.model.zip']
    """
    if corpus == "-":
        name = "stdin"
    else:
        name = re.sub(r"(\.csv)?(\.gz|\.zst)?$", "", Path(corpus).name, flags=re.IGNORECASE)
    return Path(f"{name or 'bayesift'}.model.zip")


def _save(
    classifier: TextClassifier,
    output: Path,
    model: str,
    seconds: float,
    *,
    bundle_vectors: bool,
    quiet: bool,
) -> None:
    with busy(f"saving {output}", quiet=quiet):
        classifier.save(output, bundle_vectors=bundle_vectors)
    if quiet:
        return
    if classifier.coverage_ is not None:
        print_note(f"knowledge: {classifier.coverage_}")
    n_documents = 0
    if classifier.corpus_:
        n_documents = classifier.corpus_["documents"]
    elif classifier.vectorizer_:
        n_documents = classifier.vectorizer_.n_documents_
    print(
        f"{output}: {model}, learned from {n_documents:,} documents in "
        f"{len(classifier.categories_):,} categories ({classifier.estimator_.n_features_in_:,} "
        f"terms) in {seconds:.1f} s"
    )
    _print_quality(classifier)
    print(f"next: bayesift classify {shlex.quote(str(output))} NEW_TEXTS -o answers.csv")


def _print_quality(classifier: TextClassifier) -> None:
    """Print how many texts repeat, and of auto what it chose and its expected quality."""
    from bayesift.models.ensemble import AutoClassifier

    repeats = classifier.repeats_
    if repeats is not None and repeats.n_repeated:
        print(f"repeated texts: {repeats}; copies are held out together")
    model = classifier.model_
    if not isinstance(model, AutoClassifier):
        return
    print(f"model: {model.describe()}")
    if len(model.tried_) > 1:
        print(f"held-out log loss: {_tried(model.tried_)}")
    quality = classifier.expected_quality_
    if quality is None and classifier.selection_ is not None:
        print("expected quality: unknown, terms were selected by the labels of all documents")
    elif quality is None:
        print("expected quality: unknown, there are too few documents")
    else:
        print(f"expected quality: {quality} ({quality.n_documents:,} documents held out)")
        later = quality.later
        if later is not None and quality.differs_later:
            print(f"on later texts: {later} (the latest {later.n_documents:,} held out)")


def _tried(losses: Mapping[BlockKind, float]) -> str:
    """Say what was tried beside words and what it brought.

    Examples
    --------
    >>> _tried({"words": 0.94, "characters": 0.7431, "pairs": 0.9412})
    '0.940 with words alone, 0.743 with characters, 0.941 with word pairs'
    """
    parts = []
    for kind, loss in losses.items():
        names: dict[BlockKind, str] = {"words": "words alone", "pairs": "word pairs"}
        parts.append(f"{loss:#.3g} with {names.get(kind, kind)}")
    return ", ".join(parts)


def _number_or_name(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
