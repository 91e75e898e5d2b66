"""`bayesift models`: the learners there are."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def models() -> None:
    """List the learners for `fit --model` and `compare --models`."""
    from bayesift.models import LEARNERS, is_storable

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("name", "what", "can be saved"):
        table.add_column(heading, overflow="fold")
    for learner in LEARNERS.values():
        table.add_row(learner.name, learner.description, "yes" if is_storable(learner.make()) else "no")
    Console(highlight=False).print(table)
