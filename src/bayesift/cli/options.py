"""Options that commands share, besides those of corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bayesift.cli.corpora import stderr

if TYPE_CHECKING:
    from bayesift.classifier import TextClassifier
    from bayesift.records import Corpus
    from bayesift.text.weighting import Weighting as WeightingName

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `bayesift fit` saved.")]
Weighting = Annotated[
    str | None,
    typer.Option(help="binary, tf, log-tf, tf-idf or ltc; what the model wants unless named.", show_default=False),
]
StopWords = Annotated[str | None, typer.Option(help="Leave out the stop words of this language.", show_default=False)]
StemmerName = Annotated[
    str | None, typer.Option("--stemmer", help="porter, or a Snowball language.", show_default=False)
]
MinDocuments = Annotated[int, typer.Option("--min-df", help="Leave out terms in fewer documents.")]
Ngrams = Annotated[int, typer.Option("--ngrams", help="Longest n-gram of words.")]
TermNumber = Annotated[
    int | None, typer.Option("--terms", help="Keep so many terms, those that score best.", show_default=False)
]
TermScore = Annotated[str, typer.Option("--score", help="What terms are scored by, with --terms.")]
Threshold = Annotated[str, typer.Option(help="Rule that turns probabilities into decisions.")]
ThresholdFolds = Annotated[
    int | None,
    typer.Option(help="Fit the rule on scores cross-validated over so many folds.", show_default=False),
]
Seed = Annotated[int, typer.Option(help="Of everything that is drawn by lot.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")]
Jobs = Annotated[int, typer.Option(help="Threads; -1 for all cores.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ReportPath = Annotated[
    Path | None, typer.Option("--report", help="Write a report, one HTML file.", show_default=False, dir_okay=False)
]


def new_classifier(
    model: str,
    *,
    weighting: str | None,
    stop_words: str | None,
    stemmer: str | None,
    min_df: int,
    ngrams: int,
    terms: int | None,
    score: str,
    threshold: str,
    threshold_folds: int | None,
    seed: int,
    jobs: int,
    progress: Callable[[int], None] | None = None,
) -> TextClassifier:
    """An unfitted classifier as the options say; unknown names are bad use."""
    from bayesift.classifier import TextClassifier
    from bayesift.features import SCORES, SelectTerms
    from bayesift.models import LEARNERS
    from bayesift.text import WEIGHTINGS, TermVectorizer
    from bayesift.thresholds import THRESHOLD_RULES

    _one_of("--model", model, LEARNERS)
    _one_of("--threshold", threshold, THRESHOLD_RULES)
    _one_of("--score", score, SCORES)
    if weighting is not None:
        _one_of("--weighting", weighting, WEIGHTINGS)
    vectorizer = TermVectorizer(
        weighting=cast("WeightingName", weighting) if weighting else LEARNERS[model].weighting,
        stop_words=stop_words,
        stemmer=stemmer,
        min_df=min_df,
        ngrams=(1, ngrams),
        n_jobs=jobs,
        progress=progress,
    )
    return TextClassifier(
        model=model,
        vectorizer=vectorizer,
        selection=None if terms is None else SelectTerms(score, k=terms),
        threshold=threshold,
        threshold_cv=threshold_folds,
        random_state=seed,
    )


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


@contextmanager
def counting(message: str, total: int | None, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr, on a terminal only; gives the function to call with the number done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task(message, total=total)
        yield lambda done: progress.update(task, completed=done)


def part_of(corpus: Corpus, split: str | None, *, default: str) -> Corpus:
    """The named split; without a name the default one where there is one, else everything."""
    if split is not None:
        return corpus.split(split)
    return corpus.split(default) if default in corpus.splits else corpus
