"""The commands put together."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer import Option

import bayesift
from bayesift.cli import datasets, screen, serve
from bayesift.cli import filter as filtering
from bayesift.cli.card import card
from bayesift.cli.check import check
from bayesift.cli.classify import classify
from bayesift.cli.console import stdout, table
from bayesift.cli.demo import demo
from bayesift.cli.evaluate import compare, evaluate
from bayesift.cli.explain import explain, inspect, models
from bayesift.cli.export import export
from bayesift.cli.fit import fit
from bayesift.cli.learn import learn
from bayesift.cli.options import Group, add_command, command_group
from bayesift.cli.warm_up import warm_up

_FIRST = "First steps"
_MORE = "More about models"
_SERVICES = "Corpora, streams, reviews and services"

# What people who know other programs type, and the command that does it here.
_MEANT = {
    "fit": "train build create make",
    "classify": "predict label tag categorize categorise apply infer run",
    "evaluate": "test eval score measure validate",
    "compare": "benchmark cv select",
    "explain": "why reasons",
    "check": "lint verify",
    "inspect": "show info describe words terms",
    "models": "learners list",
    "learn": "update stream",
    "serve": "web server ui start page app gui",
    "screen": "review",
    "datasets fetch": "download fetch",
    "--help": "help",
    "--version": "version",
}
_SYNONYMS = {word: command for command, words in _MEANT.items() for word in words.split()}


class _Commands(Group):
    """The commands; a name that other programs have is answered with ours."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the first argument names."""
        meant = _SYNONYMS.get(args[0].lower())
        if meant is not None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean: bayesift {meant}")
        return super().resolve_command(ctx, args)


app = command_group(
    "bayesift",
    "Sort texts into categories, with probabilities and reasons.",
    no_args_is_help=False,
    cls=_Commands,
)

add_command(
    app,
    check,
    "check reviews.csv",
    "check mails.jsonl --text body --label folder",
    panel=_FIRST,
)
add_command(
    app,
    fit,
    "fit reviews.csv",
    "fit mails.jsonl -o spam.zip --text body --label folder",
    "fit reuters -o news --model logistic-laplace",
    panel=_FIRST,
)
add_command(
    app,
    classify,
    "classify model new.csv -o answers.csv",
    "echo 'free prize, call now' | bayesift classify spam.zip",
    panel=_FIRST,
)
add_command(
    app,
    evaluate,
    "evaluate model held-out.csv",
    "evaluate model held-out.csv --report report.html",
    panel=_FIRST,
)
add_command(
    app,
    compare,
    "compare reviews.csv",
    "compare reviews.csv --models naive-bayes,svm --report report.html",
    panel=_FIRST,
)
add_command(
    app, explain, "explain model 'the plot is thin but the music is lovely'", panel=_FIRST
)
add_command(app, demo, panel=_MORE)
add_command(
    app,
    learn,
    "learn mails.jsonl --state mails.stream",
    "tail -f mails.jsonl | bayesift learn --stream --state mails.stream --reasons",
    panel=_MORE,
)
add_command(app, inspect, "inspect model --top 20", panel=_MORE)
add_command(app, card, "card model -o card.html", panel=_MORE)
add_command(
    app, export, "export model -o scorer.html", "export model -o scorer.js", panel=_MORE
)
add_command(app, models, panel=_MORE)
add_command(app, warm_up, "warm-up", "warm-up --models auto", name="warm-up", panel=_MORE)
app.add_typer(datasets.app, rich_help_panel=_SERVICES)
app.add_typer(filtering.app, rich_help_panel=_SERVICES)
app.add_typer(screen.app, rich_help_panel=_SERVICES)
add_command(
    app, serve.serve, "serve --demo", "serve --data filters --port 8000", panel=_SERVICES
)
add_command(app, serve.backup, "backup bayesift-data -o monday.backup", panel=_SERVICES)
add_command(app, serve.restore, "restore monday.backup --data restored", panel=_SERVICES)
app.add_typer(serve.users, rich_help_panel=_SERVICES)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"bayesift {bayesift.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    ctx: typer.Context,
    version: Annotated[
        bool,
        Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        _print_first_steps(ctx)
        raise typer.Exit(2)


def _print_first_steps(ctx: typer.Context) -> None:
    """Print the commands that people need first."""
    console = stdout()
    console.print(f"[bold]Usage: bayesift COMMAND ...[/bold]\n\n{ctx.command.help}\n")
    rows = table("First steps", "", numbers=False)
    for command in (check, fit, classify, evaluate, explain):
        rows.add_row(f"  {command.__name__}", (command.__doc__ or "").partition("\n")[0])
    console.print(rows)
    console.print(
        "\nAll commands: bayesift --help. Options and examples of one: bayesift fit --help."
    )
