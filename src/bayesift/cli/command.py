"""Commands and groups of commands whose help fits 80 columns, with examples."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from bayesift.cli.options import PANELS, grouped


class Command(TyperCommand):
    """A command whose help does not name the type of flags and says ranges once."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters by panel, with short names of their types."""
        return sorted((_with_short_type(each, ctx) for each in super().get_params(ctx)), key=_place_of_panel)


class Group(TyperGroup):
    """A group of commands with the same help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with short names of their types."""
        return [_with_short_type(each, ctx) for each in super().get_params(ctx)]


def _with_short_type(parameter: Any, ctx: Any) -> Any:
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    elif parameter.param_type_name == "option" and parameter.metavar is None:
        parameter.metavar = (parameter.display_type(ctx) or "").replace(" range", "")
    return parameter


def _place_of_panel(parameter: Any) -> int:
    panel = getattr(parameter, "rich_help_panel", None)
    return PANELS.index(panel) + 1 if panel in PANELS else 0


def command_group(name: str, text: str, *, no_args_is_help: bool = True) -> typer.Typer:
    """An empty group of commands."""
    options: dict[str, Any] = {"no_args_is_help": no_args_is_help, "pretty_exceptions_enable": False}
    return typer.Typer(name=name, help=text, cls=Group, **options)


def add_command(
    app: typer.Typer,
    function: Callable[..., Any],
    *examples: str,
    name: str | None = None,
    panel: str | None = None,
) -> None:
    """Add a function to a group as a command, with examples of its use in its help."""
    lines = "".join(f"\n    {'' if '|' in example else 'bayesift '}{example}" for example in examples)
    epilog = f"Examples:\n{lines}" if examples else None
    # Typer keeps the line ends of paragraphs after the first.
    text = "\n\n".join(" ".join(part.split()) for part in cleandoc(function.__doc__ or "").split("\n\n"))
    app.command(name, cls=Command, help=text, epilog=epilog, rich_help_panel=panel)(grouped(function))
