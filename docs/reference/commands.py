"""Writes commands.md: the help of every command."""

from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from bayesift.cli.app import app

PAGE = Path(__file__).with_suffix(".md")


def commands_page() -> str:
    """Return the page as Markdown."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(
        obj=command, ctx=typer.Context(command), name="bayesift", title="Commands"
    )
    return text.replace("```console\n$ ", "```text\n").rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(commands_page())
