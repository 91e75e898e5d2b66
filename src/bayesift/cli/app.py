"""The commands put together, and how each run ends: 0 done, 1 bad data, 2 bad use, 130 interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import bayesift
from bayesift.cli import classify, compare, datasets, demo, evaluate, explain, fit, inspect, models, reproduce, serve
from bayesift.cli import filter as filtering
from bayesift.errors import BayesiftError

_INTERRUPTED = 130

app = typer.Typer(
    name="bayesift",
    help="Bayesian text categorization and filtering.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (
    demo.demo,
    fit.fit,
    classify.classify,
    evaluate.evaluate,
    compare.compare,
    explain.explain,
    inspect.inspect,
    models.models,
    reproduce.reproduce,
    serve.serve,
):
    app.command()(command)
app.add_typer(datasets.app, name="datasets")
app.add_typer(filtering.app, name="filter")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"bayesift {bayesift.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; never ends in a traceback for what a user did."""
    try:
        code = typer.main.get_command(app).main(args=arguments, standalone_mode=False)
    except typer.TyperException as error:
        _fail(error.format_message(), error.exit_code)
    except BayesiftError as error:
        _fail(str(error), 1)
    except BrokenPipeError:
        # The reader of our output has gone; point stdout at nothing so that the flush at exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except typer.Abort:
        code = _INTERRUPTED
    if code == _INTERRUPTED:
        _fail("interrupted", code)
    sys.exit(code)


def _fail(message: str, code: int) -> None:
    if message:
        print(f"bayesift: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
