"""`bayesift export`: a model as one file that scores texts without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from bayesift.cli.console import busy, print_note
from bayesift.cli.options import OUTPUT, ModelPath, page_file


def export(
    model: ModelPath,
    out: Annotated[
        Path,
        Option(
            "--out",
            "-o",
            help="Write the scorer to this file: .html is a page, .js is for node and for pages.",
            callback=page_file(".html", ".js"),
            rich_help_panel=OUTPUT,
        ),
    ],
    name: Annotated[
        str | None, Option(help="The heading of the page. Default: the name of the model file.")
    ] = None,
) -> Path:
    """Write a model as one file that scores texts without Python.

    The page runs in any browser, from the disk too, and the script in node: node scorer.js <
    text.txt. Neither loads or sends anything. Decisions are those of this model, probabilities are
    within a millionth.

    Models of word vectors, stems or HTML, and those that are not linear, are refused.
    """
    from bayesift.classifier import TextClassifier
    from bayesift.export import write_scorer

    with busy(f"exporting {model}"):
        write_scorer(TextClassifier.load(model), out, name=name or model.stem)
    print_note(f"scorer: {out} ({out.stat().st_size / 1e6:,.1f} MB)")
    return out
