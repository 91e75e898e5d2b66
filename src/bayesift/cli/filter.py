"""`bayesift filter`: simulate a stream, filter one in a pipe; a run resumes where it stopped."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich.table import Table
from typer import Argument, Option

from bayesift.cli.console import busy, counting, print_note, stdout, table, write_report
from bayesift.cli.options import (
    AsJson,
    CorpusName,
    CorpusOptions,
    Quiet,
    ReportPath,
    SkipBad,
    add_command,
    command_group,
    split_names,
    usage_errors,
)
from bayesift.errors import DataError

if TYPE_CHECKING:
    from bayesift.filtering import OpenFilter, ProfileSettings, Simulation
    from bayesift.records import Corpus


def run(
    profiles: Annotated[Path, Argument(metavar="PROFILES", help="YAML file of profiles.")],
    state: Annotated[
        Path | None,
        Option(
            help="Folder of the filter's state; PROFILES with the suffix .filter by default."
        ),
    ] = None,
    save_every: Annotated[int, Option(help="Lines between two checkpoints.", min=1)] = 100_000,
    from_start: Annotated[
        bool,
        Option(
            "--from-start",
            help="The input starts from its beginning again: skip lines that were read before, and "
            "write no answer twice.",
        ),
    ] = False,
    stream: Annotated[
        bool, Option("--stream", help="Answer each document at once instead of in batches.")
    ] = False,
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
) -> None:
    """Filter JSON lines from stdin to stdout.

    Documents and judgements come in one stream. The state is kept, so that a run resumes where the
    last one stopped.
    """
    from bayesift.filtering import FilterRun

    if not profiles.is_file():
        raise DataError("no such file of profiles", file=profiles)
    folder = profiles.with_suffix(".filter") if state is None else state
    opened = _open(folder, profiles, from_start=from_start, quiet=quiet)
    problems: list[DataError] = []
    runner = FilterRun(
        folder,
        opened,
        batch=1 if stream else 256,
        save_every=save_every,
        report=problems.append if skip_bad else None,
        output=sys.stdout,
    )
    with opened.log, _Reading() as reading, counting("lines", None, quiet=quiet) as progress:
        for answer in runner.feed(
            reading.lines(progress), skip=opened.position if from_start else 0
        ):
            print(answer, flush=stream)
    _tell(problems, runner.n_lines, runner.n_retrieved, quiet=quiet)
    if reading.stopped:
        raise KeyboardInterrupt


def _open(folder: Path, profiles: Path, *, from_start: bool, quiet: bool) -> OpenFilter:
    from bayesift.filtering import create_filter, engine_of, open_filter
    from bayesift.filtering.saving import START

    if not (folder / START).exists():
        return create_filter(folder, engine_of(profiles))
    opened = open_filter(folder, roll_back=from_start)
    print_note(opened.log.note)
    if (
        from_start
        and not (opened.output is not None and opened.output.cut(sys.stdout))
        and not quiet
    ):
        print_note(
            f"continues after line {opened.position:,}; answers that an earlier run wrote after it "
            "are repeated"
        )
    return opened


class _Reading:
    """Lines of stdin, until its end or a signal; a signal takes effect after the current line."""

    def __init__(self) -> None:
        self.stopped = False
        self._waiting = False
        self._earlier: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._earlier = {
            number: signal.signal(number, self._stop)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *error: object) -> None:
        for number, earlier in self._earlier.items():
            signal.signal(number, earlier)

    def lines(self, progress: Any) -> Iterator[str]:
        """Read the lines; progress is reported every thousand."""
        number = 0
        while line := self._next():
            yield line.decode("utf-8", "replace")
            number += 1
            if number % 1000 == 0:
                progress(number)

    def _next(self) -> bytes:
        """Read the next line; it is empty at the end."""
        self._waiting = True
        try:
            if self.stopped:
                return b""
            return sys.stdin.buffer.readline()
        except KeyboardInterrupt:
            return b""
        finally:
            self._waiting = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True
        if self._waiting:
            raise KeyboardInterrupt


def _tell(problems: list[DataError], n_lines: int, n_retrieved: int, *, quiet: bool) -> None:
    if problems:
        print_note(f"lines skipped: {len(problems):,}; the first: {problems[0]}")
    if not quiet:
        print_note(f"{n_lines:,} lines read, {n_retrieved:,} retrieved")


app = command_group("filter", "Filter a stream of documents, learning from every judgement.")
add_command(app, run, "filter run profiles.yaml < documents.jsonl > answers.jsonl")


@dataclass(frozen=True)
class ProfileOptions:
    """Options of profiles."""

    target: Annotated[
        int,
        Option(
            help="Number of documents to retrieve: the target of T9P and of the query schedule.",
            min=1,
        ),
    ] = 50
    gain: Annotated[
        str, Option(help="Formula of the information gain: paper, exact or gaussian.")
    ] = "paper"
    kappa: Annotated[float, Option(help="Probability that a label is wrong.")] = 0.1
    n_epochs: Annotated[
        int, Option(help="Passes over the labelled documents of the batch phase.", min=1)
    ] = 3
    cut: Annotated[
        float, Option(help="Likelihood ratio, -2 ln lambda, above which a word is added.")
    ] = 12.13
    max_terms: Annotated[
        int | None, Option(help="Maximum number of words of a profile.", min=1)
    ] = None
    half_life: Annotated[
        float | None,
        Option(
            help="With +rel, draw past relevant documents at random, older ones less often."
        ),
    ] = None
    model: Annotated[
        str,
        Option(
            help="Model that decides: perceptron, or stack, which adds an online stack over all "
            "words."
        ),
    ] = "perceptron"
    seed: Annotated[int, Option(help="Random seed.")] = 0

    def settings(self) -> ProfileSettings:
        """Return the settings of profiles."""
        from bayesift.filtering import ProfileSettings, Strategy, TargetCount

        strategy: Any = Strategy(gain=self.gain, half_life=self.half_life, seed=self.seed)  # type: ignore[arg-type]
        return ProfileSettings(
            strategy=strategy,
            goal=TargetCount(self.target),
            kappa=self.kappa,
            n_epochs=self.n_epochs,
            cut=self.cut,
            max_terms=self.max_terms,
            model=self.model,  # type: ignore[arg-type]
        )


def simulate(
    corpus: CorpusName,
    profiles: Annotated[
        str | None, Option(help="Categories, separated by commas; all by default.")
    ] = None,
    strategy: Annotated[
        str,
        Option(
            help="Strategies, separated by commas: plain, +rel, +ig, +roi, +rnd, and +rel with "
            "each."
        ),
    ] = "plain,+rel,+ig,+rel+ig,+roi,+rnd",
    batch: Annotated[
        int | None,
        Option(
            help="Documents of the batch phase; by default the train split, else a quarter."
        ),
    ] = None,
    min_relevant: Annotated[
        int, Option(help="Leave out topics with fewer relevant documents in the stream.")
    ] = 1,
    max_relevant: Annotated[
        int | None, Option(help="Leave out topics with more relevant documents in the stream.")
    ] = None,
    min_batch_relevant: Annotated[
        int, Option(help="Leave out topics with fewer relevant documents in the batch phase.")
    ] = 1,
    splits: Annotated[
        str | None, Option(help="Only documents of these splits, separated by commas.")
    ] = None,
    order: Annotated[
        str, Option(help="Order of the stream: date (if the documents have dates) or corpus.")
    ] = "date",
    plots: Annotated[
        Path | None, Option(help="Folder for charts (SVG).", file_okay=False)
    ] = None,
    routing: Annotated[
        int | None,
        Option(
            help="Instead: a reader judges groups of this many documents, those that rank highest "
            "after learning; learners are compared by what was found.",
            min=1,
        ),
    ] = None,
    as_json: AsJson = False,
    report: ReportPath = None,
    *,
    learning: ProfileOptions,
    source: CorpusOptions,
    quiet: Quiet = False,
) -> None:
    """Simulate a filter on a labelled corpus.

    One profile per category retrieves documents and learns; what is retrieved is measured.
    """
    if routing is not None:
        if report is not None or plots is not None:
            raise typer.BadParameter(
                "takes neither --report nor --plots", param_hint="--routing"
            )
        named = None if profiles is None else split_names(profiles)
        read = _part(_whole(source.read(corpus, quiet=quiet), corpus), splits, dated=False)
        _route(read, named, (max(min_relevant, 1), max_relevant), routing, as_json, quiet=quiet)
        return
    from bayesift.filtering import simulate as play
    from bayesift.filtering import stream_of

    if order not in ("date", "corpus"):
        raise typer.BadParameter(
            f"no order {order!r}; there are: date, corpus", param_hint="--order"
        )
    with usage_errors():
        settings = learning.settings()
    read = _part(
        _whole(source.read(corpus, quiet=quiet), corpus), splits, dated=order == "date"
    )
    with busy("reading words", quiet=quiet):
        stream = stream_of(
            read,
            n_batch=batch,
            topics=None if profiles is None else split_names(profiles),
            relevant=(min_relevant, max_relevant),
            relevant_in_batch=min_batch_relevant,
            statements=_statements(corpus, source),
        )
    with counting("profiles", len(stream.topics), quiet=quiet) as progress, usage_errors():
        simulation = play(stream, split_names(strategy), settings=settings, progress=progress)
    if report is not None:
        from bayesift.report import filter_report

        write_report(filter_report(simulation), report)
    if plots is not None:
        _write_plots(simulation, plots)
    if as_json:
        from bayesift.filtering.tables import as_record

        print(json.dumps(as_record(simulation), indent=2))
    else:
        print_simulation(simulation)


def _route(
    corpus: Corpus,
    topics: list[str] | None,
    relevant: tuple[int, int | None],
    group: int,
    as_json: bool,
    *,
    quiet: bool,
) -> None:
    """Print the shares of relevant documents found by group, mean over topics and starts."""
    from bayesift.filtering.routing import routed_topics, simulate_routing

    chosen = routed_topics(corpus, topics, relevant)
    with counting("topics", len(chosen), quiet=quiet) as progress, usage_errors():
        routing = simulate_routing(corpus, topics=chosen, group=group, progress=progress)
    means = {name: runs.mean(axis=0).tolist() for name, runs in routing.recall.items()}
    if as_json:
        found = {"topics": routing.topics, "group": group, "recall": means}
        print(json.dumps(found, indent=2))
        return
    n_groups = len(next(iter(means.values())))
    shown = [k for k in (1, 2, 5, 10) if k <= n_groups]
    rows = table("learner", *(f"{k * group:,} judged" for k in shown))
    for name, recall in means.items():
        rows.add_row(name, *(f"{100 * recall[k - 1]:.1f}%" for k in shown))
    print(
        f"{routing.n_documents:,} documents, {len(routing.topics):,} topics: relevant documents "
        f"found, {group:,} at a time\n"
    )
    stdout().print(rows)


add_command(
    app, simulate, "filter simulate reuters --profiles grain,crude --report report.html"
)


def _whole(read: Corpus, name: str) -> Corpus:
    """Load the corpus; refuses the sample of TREC-9, which has no stream."""
    if name == "ohsumed-trec9" and "test" not in read.splits:
        raise DataError(
            "only a sample of the TREC-9 collection was found, without the stream "
            "(ohsumed.88-91); put ohsumed-trec9/t9.filtering.tar.gz into the data directory, or "
            "run: bayesift datasets fetch ohsumed-trec9"
        )
    return read


def _part(corpus: Corpus, splits: str | None, *, dated: bool) -> Corpus:
    """Return the documents of some splits; without dates they keep the order of the corpus."""
    if splits is not None:
        wanted = split_names(splits)
        corpus = corpus.select([row for row, name in enumerate(corpus) if name.split in wanted])
    if dated:
        return corpus
    return replace(corpus, documents=tuple(replace(document, date=None) for document in corpus))


def _statements(corpus: str, source: CorpusOptions) -> dict[str, str] | None:
    """Return the topic statements of TREC-9, which the paper learns as relevant documents."""
    if corpus != "ohsumed-trec9":
        return None
    from bayesift.corpora import load_trec9_topics

    return {
        topic.number: f"{topic.title}\n{topic.description}"
        for topic in load_trec9_topics(source.data_dir)
    }


def _write_plots(simulation: Simulation, folder: Path) -> None:
    from bayesift.filtering import (
        Strategy,
        reading_figure,
        recall_figure,
        terms_figure,
        theta_figure,
    )

    figures = {
        "theta": theta_figure(Strategy(query="gain", target=simulation.target)),
        "words": terms_figure(simulation),
        "recall": recall_figure(simulation),
        "reading": reading_figure(simulation),
    }
    for name, figure in figures.items():
        figure.save(folder / f"{name}.svg")
    print_note(f"charts: {folder}")


def print_simulation(simulation: Simulation) -> None:
    """Print tables 4 and 5."""
    from bayesift.filtering import table_five, table_four

    console = stdout()
    console.print(
        f"[bold]{len(simulation.topics):,} topics[/bold], {simulation.n_batch:,} documents in the "
        f"batch phase, {simulation.n_stream:,} in the stream\n"
    )
    for rows, labels in ((table_four(simulation), 1), (table_five(simulation), 2)):
        table = Table(box=None, header_style="bold", pad_edge=False)
        for column, heading in enumerate(rows[0]):
            table.add_column(
                heading, justify="left" if column < labels else "right", no_wrap=True
            )
        for row in rows[1:]:
            table.add_row(*row)
        console.print(table)
        console.print()
