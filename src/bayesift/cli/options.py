"""Options that commands share, besides those of corpora."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bayesift.cli.corpora import stderr

if TYPE_CHECKING:
    from rich.progress import Progress

    from bayesift.classifier import TextClassifier
    from bayesift.features import SelectTerms
    from bayesift.knowledge import TermKnowledge
    from bayesift.records import Corpus
    from bayesift.text.weighting import Weighting as WeightingName
    from bayesift.thresholds import ThresholdRule

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `bayesift fit` saved.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ReportPath = Annotated[
    Path | None, typer.Option("--report", help="Write a report, one HTML file.", show_default=False, dir_okay=False)
]


def _unless_named(*names: str, meaning: str) -> object:
    return typer.Option(*names, help=meaning, show_default=False)


@dataclass(frozen=True)
class LearnerOptions:
    """How to learn: what text becomes, which terms are kept, how it is decided."""

    weighting: Annotated[
        str | None, _unless_named(meaning="binary, tf, log-tf, tf-idf or ltc; what the model wants unless named.")
    ] = None
    stop_words: Annotated[str | None, _unless_named(meaning="Leave out the stop words of this language.")] = None
    stemmer: Annotated[str | None, _unless_named(meaning="porter, or a Snowball language.")] = None
    min_df: Annotated[int, typer.Option(help="Leave out terms in fewer documents.")] = 1
    ngrams: Annotated[int, typer.Option(help="Longest n-gram of words.")] = 1
    terms: Annotated[int | None, _unless_named(meaning="Keep so many terms, those that score best.")] = None
    score: Annotated[str, typer.Option(help="What terms are scored by, with --terms.")] = "likelihood-ratio"
    score_above: Annotated[float | None, _unless_named(meaning="Keep only terms that score above it.")] = None
    per_category: Annotated[bool, typer.Option(help="Select the terms of each category by themselves.")] = False
    soft: Annotated[
        float | None,
        _unless_named(
            meaning="Scale the priors of each category's terms by their scores, sqrt(score / (score + SOFT)); for "
            "online-perceptron."
        ),
    ] = None
    threshold: Annotated[
        str,
        typer.Option(
            help="Rule that turns scores into decisions, such as scut or max-f1:shrinkage=3; auto is bayes for "
            "probabilities and sign for other scores."
        ),
    ] = "auto"
    threshold_folds: Annotated[
        int | None, _unless_named(meaning="Fit the rule on scores cross-validated over so many folds.")
    ] = None
    seed: Annotated[int, typer.Option(help="Of everything that is drawn by lot.")] = 0
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1

    def classifier(
        self,
        model: str,
        progress: Callable[[int], None] | None = None,
        *,
        knowledge: TermKnowledge | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> TextClassifier:
        """An unfitted classifier; unknown names are bad use."""
        from bayesift.classifier import TextClassifier
        from bayesift.models import LEARNERS
        from bayesift.text import TermVectorizer

        self._check_names(model)
        vectorizer = TermVectorizer(
            weighting=cast("WeightingName", self.weighting) if self.weighting else LEARNERS[model].weighting,
            stop_words=self.stop_words,
            stemmer=self.stemmer,
            min_df=self.min_df,
            ngrams=(1, self.ngrams),
            n_jobs=self.jobs,
            progress=progress,
        )
        return TextClassifier(
            model=_with(model, parameters) if parameters else model,
            vectorizer=vectorizer,
            selection=self._selection(),
            threshold=_rule(self.threshold),
            threshold_cv=self.threshold_folds,
            random_state=self.seed,
            knowledge=knowledge,
        )

    def _selection(self) -> SelectTerms | None:
        from bayesift.features import SelectTerms

        if self.terms is None and self.score_above is None and self.soft is None:
            return None
        each = self.per_category or self.soft is not None
        return SelectTerms(self.score, k=self.terms, threshold=self.score_above, per_category=each, soft=self.soft)

    def _check_names(self, model: str) -> None:
        from bayesift.features import SCORES
        from bayesift.models import LEARNERS
        from bayesift.text import WEIGHTINGS

        _one_of("--model", model, LEARNERS)
        _one_of("--score", self.score, SCORES)
        if self.weighting is not None:
            _one_of("--weighting", self.weighting, WEIGHTINGS)


def takes(model: str, parameter: str) -> bool:
    """Whether the learner of that name has such a parameter."""
    from bayesift.models import LEARNERS

    return model in LEARNERS and parameter in LEARNERS[model].make().get_params()


def _with(model: str, parameters: dict[str, Any]) -> Any:
    """The learner of that name with these parameters."""
    from bayesift.models import make_learner

    for name in parameters:
        if not takes(model, name):
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(f"{model} does not take it; the linear models do", param_hint=option)
    return make_learner(model, **parameters)


def _rule(description: str) -> ThresholdRule | str:
    """The rule of "name:parameter=value,...", its values as JSON spells them; "auto" stays what it is."""
    from bayesift.thresholds import THRESHOLD_RULES, threshold_rule

    if description == "auto":
        return description
    name, _, assignments = description.partition(":")
    _one_of("--threshold", name, THRESHOLD_RULES)
    parameters = dict(part.partition("=")[::2] for part in assignments.split(",") if part)
    try:
        return threshold_rule(name, **{key.strip(): json.loads(value) for key, value in parameters.items()})
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(f"{description!r}: {error}", param_hint="--threshold") from error


def _one_of(option: str, name: str, known: Any) -> None:
    if name not in known:
        raise typer.BadParameter(f"no {name!r}; there are: {', '.join(known)}", param_hint=option)


@contextmanager
def bad_options() -> Iterator[None]:
    """What a constructor or `fit` refuses of its parameters is bad use."""
    from bayesift.errors import DataError

    try:
        yield
    except DataError:
        raise
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error


class Steps:
    """A progress bar that goes from one step of the work to the next.

    It gives plain functions to call: estimators hold them, and are cloned with them.
    """

    def __init__(self, progress: Progress, message: str, total: int | None) -> None:
        self._progress, self._task = progress, progress.add_task(message, total=total)

    def first(self) -> Callable[[int], None]:
        """What the first step is to call with how much of it is done."""
        return lambda done: self._progress.update(self._task, completed=done)

    def then(self, message: str) -> Callable[[int, int], None]:
        """What the next step is to call with how much of it is done and how much there is."""
        return lambda done, total: self._progress.update(self._task, description=message, completed=done, total=total)


@contextmanager
def working(message: str, total: int | None, *, quiet: bool) -> Iterator[Steps]:
    """A progress bar on stderr, on a terminal only."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        yield Steps(progress, message, total)


@contextmanager
def counting(message: str, total: int | None, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """The same for one step; gives the function to call with the number done."""
    with working(message, total, quiet=quiet) as steps:
        yield steps.first()


def part_of(corpus: Corpus, split: str | None, *, default: str) -> Corpus:
    """The named split; without a name the default one where there is one, else everything."""
    if split is not None:
        return corpus.split(split)
    return corpus.split(default) if default in corpus.splits else corpus
