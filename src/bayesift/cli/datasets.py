"""`bayesift datasets`: list, show and fetch corpora."""

from __future__ import annotations

import typer

app = typer.Typer(help="List, show and fetch corpora.", no_args_is_help=True)


@app.command("list")
def list_corpora() -> None:
    """List the corpora bayesift knows."""
