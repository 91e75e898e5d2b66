"""The help of every command: readable at 80 columns, options in panels, examples that exist."""

import re
import shlex

import pytest
import typer
from rich.cells import cell_len

from bayesift.cli.app import app


def names_of(command, path=()):
    """The commands of a group, and those of its groups."""
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from names_of(inner, (*path, name))


def command_of(names):
    command = typer.main.get_command(app)
    for name in names:
        command = command.commands[name]
    return command


NAMES = list(names_of(command_of(())))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_help_fits_the_terminal(run, monkeypatch, names, width):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", width)
    code, out, err = run(*names, "--help")
    assert (code, err) == (0, "")
    assert max(map(cell_len, out.splitlines())) <= width
    assert "…" not in out
    words = re.sub(r"[│╭╮╰╯─]", " ", out).split()
    # Two names of an option stand in one word.
    words += [name for word in words if word.startswith("--") for name in word.split(",")]
    for parameter in command_of(names).params:
        if parameter.param_type_name == "option":
            assert parameter.opts[0] in words, f"{parameter.opts[0]} is broken"
            help_words = parameter.help.split()
            assert set(help_words) <= set(words), (
                f"{parameter.opts[0]}: {set(help_words) - set(words)} are broken"
            )


@pytest.mark.parametrize("names", NAMES[1:], ids=" ".join)
def test_the_first_line_is_short(names):
    first = command_of(names).help.partition("\n")[0]
    assert len(first) <= 70
    assert first.endswith(".")


@pytest.mark.parametrize("names", NAMES[1:], ids=" ".join)
def test_examples_name_options_that_exist(names):
    epilog = command_of(names).epilog or ""
    for line in epilog.splitlines()[2:]:
        words = shlex.split(line.split("|")[-1])
        # `screen FILE` is short for `screen open FILE`.
        assert words[: 1 + len(names)] == ["bayesift", *names] or (
            names[-1] == "open" and words[1] == "screen"
        )
        known = {option for parameter in command_of(names).params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known


def test_options_are_grouped(run):
    _, out, _ = run("fit", "--help")
    panels = re.findall(r"╭─ (\w+)", out)
    assert panels == ["Arguments", "Options", "Input", "Output", "Terms", "Decisions", "Engine"]


def test_without_a_command_the_first_ones_are_shown(run):
    code, out, err = run()
    assert (code, err) == (2, "")
    shown = re.findall(r"^  (\w+)", out, re.M)
    assert len(shown) == 5
    assert {"fit", "classify", "evaluate", "explain"} <= set(shown)
    assert "bayesift --help" in out
