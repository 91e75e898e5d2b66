"""The systems of the online paper and how cells follow from them."""

from __future__ import annotations

from typing import Any

from bayesift.reproduce.experiment import Extent, Task
from bayesift.reproduce.online.measuring import measure_system

SYSTEMS = (
    *(f"SVM{words}-{kernel}" for words in "ab" for kernel in ("1", "2", "R1")),
    "Perceptron",
    *(f"GP-{kernel}" for kernel in ("1", "2", "R1")),
)
RULES = ("0.5", "MaxF1", "ExpectedF1")


def system_task(row: str, extent: Extent, **changes: Any) -> Task:
    """Fitting and measuring one system."""
    told = "".join(f", {name} {value}" for name, value in changes.items())
    label = f"online: {row}{told}"
    return Task.of(measure_system, label, corpora=("reuters",), row=row, **changes, **extent.settings)
