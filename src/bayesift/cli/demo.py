"""`bayesift demo`: the main job on a corpus that needs no download."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bayesift.errors import MissingExtraError


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.", file_okay=False)] = Path("out/demo"),
) -> None:
    """See what bayesift does, on a corpus that needs no download."""
    console = Console(highlight=False)
    _show_corpus(console, out)


def _show_corpus(console: Console, out: Path) -> None:
    from bayesift.datasets import load_pydocs
    from bayesift.text import TermVectorizer

    with console.status("Reading the documentation of Python's standard library ..."):
        corpus = load_pydocs()
    console.print(
        f"[bold]The corpus[/bold]: {len(corpus):,} documentation strings of Python's standard library, "
        f"{len(corpus.categories)} categories (their modules), {len(corpus.split('train')):,} to train on, "
        f"{len(corpus.split('test')):,} to test.\n"
    )
    document = corpus.documents[0]
    console.print(f"  for example [cyan]{document.id}[/cyan], of [green]{', '.join(document.categories)}[/green]:")
    console.print(f"  [dim]{' '.join(document.full_text.split())[:160]} ...[/dim]\n", markup=True, soft_wrap=False)

    with console.status("Turning texts into vectors (the first time, kernels are compiled: about 20 seconds) ..."):
        TermVectorizer().fit_transform(corpus.texts[:50])
        start = time.perf_counter()
        vectorizer = TermVectorizer()
        X = vectorizer.fit_transform(corpus.texts)
        seconds = time.perf_counter() - start
    megabytes = sum(map(len, corpus.texts)) / 1e6
    console.print(
        f"[bold]The vectors[/bold]: {X.shape[0]:,} documents x {X.shape[1]:,} terms, {X.nnz:,} counts, "
        f"made in {seconds * 1000:.0f} ms ({megabytes / seconds:.0f} MB of text a second).\n"
    )
    _show_terms(console, vectorizer.vocabulary_.names, vectorizer.collection_frequencies_)
    _draw_zipf(console, vectorizer.vocabulary_.names, vectorizer.collection_frequencies_, out / "zipf.png")


def _show_terms(console: Console, names: list[str], frequencies: object) -> None:
    """The most frequent terms as bars: the head of Zipf's curve."""
    import numpy as np

    counts = np.asarray(frequencies)
    table = Table(box=None, show_header=False, padding=(0, 1))
    top = np.argsort(-counts)[:10]
    for place, term in enumerate(top, 1):
        bar = "█" * max(1, round(40 * counts[term] / counts[top[0]]))
        table.add_row(f"{place:>4}", names[term], f"{counts[term]:>7,}", f"[blue]{bar}[/blue]")
    console.print(table)
    console.print()


def _draw_zipf(console: Console, names: list[str], frequencies: object, path: Path) -> None:
    import numpy as np

    from bayesift.text import zipf_figure

    try:
        figure = zipf_figure(names, np.asarray(frequencies), title="Words of Python's documentation")
    except MissingExtraError as missing:
        console.print(f"[yellow]No picture of Zipf's curve: {missing}[/yellow]", markup=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    console.print(f"[bold]The picture[/bold]: Zipf's curve of these terms is in [cyan]{path}[/cyan]")
