"""`bayesift filter`: play a stream again, or filter one that comes through a pipe."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bayesift.cli.corpora import CorpusName, CorpusOptions, busy
from bayesift.cli.filter_review import review
from bayesift.cli.filter_run import run
from bayesift.cli.groups import grouped
from bayesift.cli.options import AsJson, Quiet, ReportPath, bad_options, counting
from bayesift.errors import DataError
from bayesift.files import whole_file

if TYPE_CHECKING:
    from bayesift.filtering import ProfileSettings, Simulation
    from bayesift.records import Corpus

app = typer.Typer(help="Filter a stream of documents, learning from every judgement.", no_args_is_help=True)
app.command()(run)
app.command()(review)


@dataclass(frozen=True)
class ProfileOptions:
    """How profiles learn."""

    target: Annotated[int, typer.Option(help="Documents that T9P and the schedule of queries aim at.", min=1)] = 50
    gain: Annotated[str, typer.Option(help="Information gain: paper, exact or gaussian.")] = "paper"
    kappa: Annotated[float, typer.Option(help="Probability that a label is wrong.")] = 0.1
    passes: Annotated[int, typer.Option(help="Passes over the batch phase.", min=1)] = 3
    cut: Annotated[float, typer.Option(help="Likelihood ratio, -2 ln lambda, from which a word joins.")] = 12.13
    max_terms: Annotated[
        int | None, typer.Option(help="No word joins beyond this number.", show_default=False, min=1)
    ] = None
    half_life: Annotated[
        float | None,
        typer.Option(help="+rel draws past documents by lot, older ones less often.", show_default=False),
    ] = None
    seed: Annotated[int, typer.Option(help="Of everything that is drawn by lot.")] = 0

    def settings(self) -> ProfileSettings:
        """The settings of profiles."""
        from bayesift.filtering import ProfileSettings, Strategy, TargetCount

        strategy: Any = Strategy(gain=self.gain, half_life=self.half_life, seed=self.seed)  # type: ignore[arg-type]
        return ProfileSettings(
            strategy=strategy,
            goal=TargetCount(self.target),
            kappa=self.kappa,
            passes=self.passes,
            cut=self.cut,
            max_terms=self.max_terms,
        )


@app.command()
@grouped
def simulate(
    corpus: CorpusName,
    profiles: Annotated[
        str | None, typer.Option(help="Categories with commas between; all unless named.", show_default=False)
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="Strategies with commas between: plain, +rel, +ig, +rel+ig, +rnd.")
    ] = "plain,+rel,+ig,+rel+ig,+rnd",
    batch: Annotated[
        int | None,
        typer.Option(help="Documents of the batch phase; else the train split, else a quarter.", show_default=False),
    ] = None,
    min_relevant: Annotated[int, typer.Option(help="Leave out topics with fewer in the stream.")] = 1,
    max_relevant: Annotated[
        int | None, typer.Option(help="Leave out topics with more in the stream.", show_default=False)
    ] = None,
    min_batch_relevant: Annotated[int, typer.Option(help="Leave out topics with fewer in the batch phase.")] = 1,
    splits: Annotated[
        str | None, typer.Option(help="Only documents of these splits, with commas between.", show_default=False)
    ] = None,
    order: Annotated[str, typer.Option(help="date (where there are dates) or corpus.")] = "date",
    plots: Annotated[
        Path | None, typer.Option(help="Folder for pictures (PNG).", show_default=False, file_okay=False)
    ] = None,
    as_json: AsJson = False,
    report: ReportPath = None,
    *,
    learning: ProfileOptions,
    source: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Play a labelled corpus to a profile for each category and measure what it retrieves."""
    from bayesift.filtering import simulate as play
    from bayesift.filtering import stream_of

    names = [name.strip() for name in strategy.split(",") if name.strip()]
    if order not in ("date", "corpus"):
        raise typer.BadParameter(f"no order {order!r}; there are: date, corpus", param_hint="--order")
    with bad_options():
        settings = learning.settings()
    read = _part(_whole(source.read(corpus, quiet=quiet), corpus), splits, dated=order == "date")
    with busy("reading words", quiet=quiet):
        stream = stream_of(
            read,
            n_batch=batch,
            topics=None if profiles is None else [name.strip() for name in profiles.split(",")],
            relevant=(min_relevant, max_relevant),
            relevant_in_batch=min_batch_relevant,
            statements=_statements(corpus, source),
        )
    with counting("profiles", len(stream.topics), quiet=quiet) as progress, bad_options():
        simulation = play(stream, names, settings=settings, progress=progress)
    _write_report(simulation, report)
    _write_plots(simulation, plots)
    if as_json:
        from bayesift.filtering.tables import as_record

        print(json.dumps(as_record(simulation), indent=2))
    else:
        print_simulation(simulation)


def _whole(read: Corpus, name: str) -> Corpus:
    """The corpus; of TREC-9's the sample holds no document of the stream."""
    if name == "ohsumed-trec9" and "test" not in read.splits:
        raise DataError(
            "only a sample of TREC-9's collection is here, without the stream (ohsumed.88-91); put "
            "ohsumed-trec9/t9.filtering.tar.gz into the data directory, or run: bayesift datasets fetch ohsumed-trec9"
        )
    return read


def _part(corpus: Corpus, splits: str | None, *, dated: bool) -> Corpus:
    """The documents of some splits, in the order they will be read in."""
    if splits is not None:
        wanted = {name.strip() for name in splits.split(",")}
        corpus = corpus.select([row for row, document in enumerate(corpus) if document.split in wanted])
    return corpus if dated else replace(corpus, documents=tuple(replace(d, date=None) for d in corpus))


def _statements(corpus: str, source: CorpusOptions) -> dict[str, str] | None:
    """The topic statements of the TREC-9 collection, which the paper takes as relevant documents."""
    if corpus != "ohsumed-trec9":
        return None
    from bayesift.datasets import load_trec9_topics

    return {topic.number: f"{topic.title}\n{topic.description}" for topic in load_trec9_topics(source.data_dir)}


def _write_report(simulation: Simulation, path: Path | None) -> None:
    if path is None:
        return
    from bayesift.report import filter_report

    with whole_file(path, "w") as stream:
        stream.write(filter_report(simulation))
    print(f"report: {path}", file=sys.stderr)


def _write_plots(simulation: Simulation, folder: Path | None) -> None:
    if folder is None:
        return
    from bayesift.filtering import Strategy, reading_figure, recall_figure, terms_figure, theta_figure

    figures = {
        "theta": theta_figure(Strategy(query="gain", target=simulation.target)),
        "words": terms_figure(simulation),
        "recall": recall_figure(simulation),
        "reading": reading_figure(simulation),
    }
    for name, figure in figures.items():
        with whole_file(folder / f"{name}.png") as stream:
            figure.savefig(stream, format="png", dpi=150)
    print(f"pictures: {folder}", file=sys.stderr)


def print_simulation(simulation: Simulation) -> None:
    """Tables 4 and 5."""
    from bayesift.filtering import table_five, table_four

    console = Console(highlight=False)
    console.print(
        f"[bold]{len(simulation.topics):,} topics[/bold], {simulation.n_batch:,} documents in the batch phase, "
        f"{simulation.n_stream:,} in the stream\n"
    )
    for rows, labels in ((table_four(simulation), 1), (table_five(simulation), 2)):
        table = Table(box=None, header_style="bold", pad_edge=False)
        for place, heading in enumerate(rows[0]):
            table.add_column(heading, justify="left" if place < labels else "right", no_wrap=True)
        for row in rows[1:]:
            table.add_row(*row)
        console.print(table)
        console.print()
