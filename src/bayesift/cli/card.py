"""`bayesift card`: describe a model for those who are to use it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from bayesift.cli.console import busy, print_note
from bayesift.cli.options import OUTPUT, ModelPath
from bayesift.files import check_writable

if TYPE_CHECKING:
    from bayesift.report import ModelCard


def _check_card(path: Path | None) -> Path | None:
    """Refuse a card that would replace data, or cannot be written, before any work."""
    if path is not None:
        if path.suffix.lower() not in (".html", ".htm", ".md"):
            raise typer.BadParameter(f"{path} must end in .html or .md")
        check_writable(path)
    return path


def card(
    model: ModelPath,
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="Write the card to this file, .html or .md. Else Markdown is printed.",
            callback=_check_card,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    top: Annotated[int, Option(help="Number of words to list for each category.", min=1)] = 8,
) -> ModelCard:
    """Write the card of a model: what it is, how good it is, and its limits.

    It has what the model was trained on, the quality to expect on new texts, overall and by
    category, how well probabilities are calibrated, the words that matter, and the digest of the
    file.
    """
    from bayesift.report import model_card

    with busy(f"loading {model}"):
        made = model_card(model, n_words=top)
    if out is None:
        print(made.to_markdown(), end="")
    else:
        made.save(out)
        print_note(f"card: {out}")
    return made
