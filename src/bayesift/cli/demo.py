"""`bayesift demo`: the main job on a corpus that needs no download."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer import Option

from bayesift.cli.console import stdout
from bayesift.cli.evaluate import print_comparison, print_scores
from bayesift.cli.explain import print_explanation
from bayesift.files import whole_file

if TYPE_CHECKING:
    from bayesift.classifier import Evaluation, TextClassifier
    from bayesift.records import Corpus
    from bayesift.text import TermVectorizer

_MODEL = "auto"
_RIVAL = "naive-bayes"
_NEWCOMER = "Give the record to every handler of this logger, unless its level is too low."


def demo(
    out: Annotated[
        Path, Option(help="Folder for the model, the report and the picture.", file_okay=False)
    ] = Path("out/demo"),
) -> None:
    """Show what bayesift does, on a corpus that needs no download."""
    console = stdout()
    corpus = _show_corpus(console)
    classifier, seconds = _fit(console, corpus, out)
    _draw_zipf(console, classifier.vectorizer_, out / "zipf.svg")
    evaluation = _evaluate(console, classifier, corpus)
    _compare(console, corpus, evaluation, seconds)
    _heading(
        console,
        "Why",
        f"how the model classifies a sentence it has never seen: [italic]{_NEWCOMER}[/italic]",
    )
    print_explanation(console, classifier.explain(_NEWCOMER, top=6))
    _report(console, classifier, evaluation, out / "report.html")


def _heading(console: Console, what: str, text: str) -> None:
    console.print(f"\n[bold blue]{what}[/bold blue]: {text}\n")


def _show_corpus(console: Console) -> Corpus:
    from bayesift.corpora import load_pydocs

    with console.status("Reading the documentation of Python's standard library ..."):
        corpus = load_pydocs()
    _heading(
        console,
        "The corpus",
        f"{len(corpus):,} documentation strings of Python's standard library; which of "
        f"{len(corpus.categories)} modules does each belong to? {len(corpus.split('train')):,} to "
        f"learn from, {len(corpus.split('test')):,} to test.",
    )
    document = corpus.split("test").documents[0]
    excerpt = " ".join(document.full_text.split())[:150]
    console.print(
        f"  [cyan]{escape(document.id)}[/cyan] of [green]{document.categories[0]}[/green]:"
    )
    console.print(f"  [dim]{escape(excerpt)} ...[/dim]")
    return corpus


def _fit(console: Console, corpus: Corpus, out: Path) -> tuple[TextClassifier, float]:
    train = corpus.split("train")
    with console.status(
        "Learning (the first time, kernels are compiled: about half a minute) ..."
    ):
        _timed_fit(_MODEL, train)
        classifier, seconds = _timed_fit(_MODEL, train)
    classifier.save(out / "model")
    _heading(
        console,
        "The model",
        f"{_MODEL}, {len(classifier.terms()):,} terms, learned in {seconds:.1f} s and saved in "
        f"{out / 'model'}",
    )
    return classifier, seconds


def _timed_fit(model: str, train: Corpus) -> tuple[TextClassifier, float]:
    from bayesift.classifier import TextClassifier

    start = time.perf_counter()
    classifier = TextClassifier(model=model).fit_corpus(train)
    return classifier, time.perf_counter() - start


def _draw_zipf(console: Console, vectorizer: TermVectorizer | None, path: Path) -> None:
    """Draw Zipf's curve: its head as bars here, the whole of it as a picture."""
    import numpy as np

    from bayesift.text import zipf_figure

    assert vectorizer is not None
    names = vectorizer.vocabulary_.names
    counts = vectorizer.collection_frequencies_
    table = Table(box=None, show_header=False, padding=(0, 1))
    top = np.argsort(-counts)[:5]
    for rank, term in enumerate(top, 1):
        bar = "█" * max(1, round(40 * counts[term] / counts[top[0]]))
        table.add_row(f"{rank:>4}", names[term], f"{counts[term]:>7,}", f"[blue]{bar}[/blue]")
    console.print(table)
    zipf_figure(names, counts, title="Words of Python's documentation").save(path)
    console.print(f"\nZipf's curve of its words is in [cyan]{path}[/cyan]")


def _evaluate(console: Console, classifier: TextClassifier, corpus: Corpus) -> Evaluation:
    from bayesift.classifier import evaluate

    with console.status("Testing ..."):
        evaluation = evaluate(classifier, corpus.split("test"))
    _heading(console, "Its quality", "on the documents it has not seen")
    print_scores(evaluation.measures, n_categories=5)
    return evaluation


def _compare(console: Console, corpus: Corpus, evaluation: Evaluation, seconds: float) -> None:
    from bayesift.classifier import evaluate
    from bayesift.evaluation import significance_table

    rival, rival_seconds = _timed_fit(_RIVAL, corpus.split("train"))
    measured = evaluate(rival, corpus.split("test"))
    systems = {_MODEL: (evaluation, seconds), _RIVAL: (measured, rival_seconds)}
    table = significance_table(
        evaluation.truth, {name: e.decisions for name, (e, _) in systems.items()}
    )
    _heading(console, "Compared", "the default learner and naive Bayes, on the same documents")
    print_comparison(systems, table)


def _report(
    console: Console, classifier: TextClassifier, evaluation: Evaluation, path: Path
) -> None:
    from bayesift.report import evaluation_report, report_content

    with console.status("Writing the report ..."):
        content = report_content(classifier, evaluation)
        with whole_file(path, "w") as stream:
            stream.write(evaluation_report(content))
    _heading(
        console,
        "The report",
        f"open [cyan]{path}[/cyan] in a browser: curves, words, the worst mistakes",
    )
    console.print(
        "[dim]Now with your own: bayesift fit texts.csv -o model && bayesift classify model "
        "new.csv[/dim]"
    )
