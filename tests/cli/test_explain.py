"""Bars of an explanation, as a terminal shows them."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from bayesift.classifier import CategoryExplanation, Explanation, TermContribution
from bayesift.cli.explain import print_explanation


def printed(terms, *, prior=0.5, score=0.75, **console):
    category = CategoryExplanation(
        category="grain",
        score=score,
        threshold=None,
        assigned=True,
        prior=prior,
        terms=tuple(TermContribution(term, 1.0, value) for term, value in terms),
    )
    stream = io.StringIO()
    print_explanation(
        Console(file=stream, width=80, **console), Explanation((category,), 3, 1, ("oats",))
    )
    return stream.getvalue()


def test_bars_go_left_against_and_right_for():
    lines = printed([("wheat", 2.0), ("oil", -1.0), ("the", 0.0)]).splitlines()
    axis = lines[1].index("│")
    assert all(line[axis] == "│" for line in lines[1:6])
    assert "against" in lines[1][:axis]
    assert "for" in lines[1][axis:]
    by_term = {
        line.split("│")[0].split("▐")[0].split("█")[0].strip(): line for line in lines[2:6]
    }
    left, right = by_term["wheat"].split("│")
    assert (left.count("█"), right.count("█")) == (0, 16)
    left, right = by_term["oil"].split("│")
    assert (left.count("█"), right.count("█")) == (8, 0)
    assert left.endswith("█")
    assert by_term["(before any word)"].split("│")[1].startswith("████ ")
    assert "█" not in by_term["the"]


def test_rounding_makes_nothing_certain():
    assert "probability above 0.9999" in printed([], score=0.999999)
    assert "probability 0.7500" in printed([])


def test_wide_characters_are_aligned_by_their_width():
    lines = printed([("小麦", 2.0), ("oil", -1.0), ("とうもろこし", 1.0)]).splitlines()
    places = {cell_len(line[: line.index("│")]) for line in lines[1:6]}
    assert len(places) == 1
    assert len({cell_len(line.rstrip()) for line in lines[2:6]}) == 1


def test_long_terms_and_infinite_contributions_keep_the_line():
    out = printed([("a" * 200, 1.0), ("never", float("-inf"))], prior=float("inf"))
    assert max(map(cell_len, out.splitlines())) <= 80
    assert "-inf" in out


@pytest.mark.parametrize(
    ("terminal", "no_color"), [(False, False), (True, True), (True, False)]
)
def test_colours_are_for_terminals_that_want_them(monkeypatch, terminal, no_color):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("COLORTERM", raising=False)
    monkeypatch.setenv("NO_COLOR", "1" if no_color else "")
    out = printed([("wheat", 2.0)], force_terminal=terminal)
    assert ("\x1b[32m" in out) == (terminal and not no_color)
