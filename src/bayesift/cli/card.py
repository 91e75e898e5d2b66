"""`bayesift card`: describe a model for those who are to use it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from bayesift.cli.console import busy, print_note
from bayesift.cli.options import OUTPUT, ModelPath, page_file

if TYPE_CHECKING:
    from bayesift.report import ModelCard


def card(
    model: ModelPath,
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="Write the card to this file, .html or .md. Else Markdown is printed.",
            callback=page_file(".html", ".md"),
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
