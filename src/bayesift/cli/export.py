"""`bayesift export`: a model as one file that scores texts without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from bayesift.cli.console import busy, print_note
from bayesift.cli.options import OUTPUT, ModelPath
from bayesift.files import check_writable

_SUFFIXES = (".html", ".htm", ".js")


def _check_scorer(path: Path) -> Path:
    """Refuse a path of another kind, or that cannot be written, before any work."""
    if path.suffix.lower() not in _SUFFIXES:
        raise typer.BadParameter(f"{path} must end in .html or .js")
    check_writable(path)
    return path


def export(
    model: ModelPath,
    out: Annotated[
        Path,
        Option(
            "--out",
            "-o",
            help="Write the scorer to this file: .html is a page, .js is for node and for pages.",
            callback=_check_scorer,
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
