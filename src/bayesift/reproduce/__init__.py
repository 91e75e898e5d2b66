"""The papers' tables and figures, and a leaderboard: run by name, paper beside ours."""

from bayesift.reproduce.catalogue import experiment, experiment_names
from bayesift.reproduce.experiment import Experiment, Extent, Task
from bayesift.reproduce.findings import Cell, Finding, flag_counts
from bayesift.reproduce.markdown import write_markdown
from bayesift.reproduce.page import findings_page
from bayesift.reproduce.printed import paper, printed_table
from bayesift.reproduce.run import Reproduction, reproduce

__all__ = [
    "Cell",
    "Experiment",
    "Extent",
    "Finding",
    "Reproduction",
    "Task",
    "experiment",
    "experiment_names",
    "findings_page",
    "flag_counts",
    "paper",
    "printed_table",
    "reproduce",
    "write_markdown",
]
