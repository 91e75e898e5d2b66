"""`bayesift explain`: why a text gets its categories."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bayesift.cli.options import AsJson, ModelPath

if TYPE_CHECKING:
    from bayesift.classifier import CategoryExplanation, Explanation

_BAR = 24
_SHOWN_UNSEEN = 8


def explain(
    model: ModelPath,
    text: Annotated[str, typer.Argument(metavar="[TEXT|-]", help="The text; - or nothing reads it from stdin.")] = "-",
    category: Annotated[
        list[str] | None,
        typer.Option(help="Explain this category; may be given again. Else the assigned ones.", show_default=False),
    ] = None,
    top: Annotated[int, typer.Option(help="How many words to list for each category.", min=1)] = 10,
    as_json: AsJson = False,
) -> None:
    """Say which words of a text speak for its categories, and which against.

    A model fitted with --posterior also says how sure it is: of the probability, and of each word.
    """
    from bayesift.classifier import TextClassifier

    classifier = TextClassifier.load(model)
    explanation = classifier.explain(sys.stdin.read() if text == "-" else text, categories=category, top=top)
    if as_json:
        print(json.dumps(explanation.as_dict(), indent=2, ensure_ascii=False))
    else:
        print_explanation(Console(highlight=False), explanation)


def print_explanation(console: Console, explanation: Explanation) -> None:
    """The words as bars to the right (for) and to the left (against)."""
    for category in explanation.categories:
        console.print(_verdict(category))
        console.print(_bars(category))
        console.print()
    unseen = ", ".join(explanation.unseen_terms[:_SHOWN_UNSEEN])
    more = ", ..." if len(explanation.unseen_terms) > _SHOWN_UNSEEN else ""
    share = f"{explanation.unseen_share:.0%} of the text is new to the model"
    console.print(f"{share}{f': {escape(unseen)}{more}' if unseen else ''}")


def _verdict(category: CategoryExplanation) -> str:
    verdict = "[green]assigned[/green]" if category.assigned else "[yellow]not assigned[/yellow]"
    against = "" if category.threshold is None else f", threshold {category.threshold:.4g}"
    sure = ""
    if category.integrated is not None and category.interval is not None:
        low, high = category.interval
        sure = f" ({category.integrated:.4f} averaged over the weights; 90% between {low:.4f} and {high:.4f})"
    return f"[bold]{escape(category.category)}[/bold]: {verdict}, probability {category.score:.4f}{sure}{against}"


def _bars(category: CategoryExplanation) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(justify="right")
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    rows: list[tuple[str, float, float | None]] = [("(before any word)", category.prior, None)]
    rows += [(t.term, t.contribution, t.deviation) for t in category.terms]
    finite = [abs(value) for _, value, _ in rows if abs(value) != float("inf")]
    largest = max([*finite, 1e-12])
    for name, value, deviation in rows:
        length = min(_BAR, round(_BAR * min(abs(value), largest) / largest))
        colour, bar = ("green", "█" * length) if value >= 0 else ("red", "█" * length)
        sure = "" if not deviation else f"± {deviation:.3f}"
        table.add_row(escape(name), f"[{colour}]{bar or '▏'}[/{colour}]", f"{value:+.3f}", sure)
    return table
