"""Operations on fitted models: add a version, go back to one, remove, correct an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bayesift.service.db.tables import CorrectionRow, ModelRow, Reading
from bayesift.service.errors import NotFoundError
from bayesift.service.live import UnitOfWork

ADDED = "model version added"
CHOSEN = "model version chosen"
REMOVED = "model removed"
CORRECTED = "answer corrected"


def versions(read: Reading, name: str) -> list[ModelRow]:
    """Return the versions of a model, oldest first."""
    found = [row for row in read.models() if row.name == name]
    if not found:
        raise NotFoundError(f"no model {name!r}")
    return found


def add_version(unit: UnitOfWork, name: str, content: str) -> ModelRow:
    """Add a version of a model, which answers from now on."""
    earlier = [row for row in unit.tx.models() if row.name == name]
    version = 1 + max((row.version for row in earlier), default=0)
    payload = {"model": name, "version": version, "content": content}
    seq = unit.record(ADDED, payload=payload)
    row = ModelRow(name, version, seq, unit.at, unit.user, content, False)
    unit.tx.add([row])
    return _choose(unit, [*earlier, row], version)


def choose_version(unit: UnitOfWork, name: str, version: int) -> ModelRow:
    """Let a version answer from now on."""
    found = versions(unit.tx, name)
    if version not in [row.version for row in found]:
        raise NotFoundError(f"the model {name!r} has no version {version}")
    unit.record(CHOSEN, payload={"model": name, "version": version})
    return _choose(unit, found, version)


def remove(unit: UnitOfWork, name: str) -> None:
    """Remove a model with all versions; corrections of its answers stay in the log."""
    versions(unit.tx, name)
    unit.record(REMOVED, payload={"model": name})
    unit.tx.drop(ModelRow, name=name)


def correct(
    unit: UnitOfWork,
    name: str,
    version: int,
    row: str | Mapping[str, Any],
    categories: Sequence[str],
) -> int:
    """Keep what the categories of a text should have been; return the number of the event."""
    values = {"text": row} if isinstance(row, str) else dict(row)
    payload = {
        "model": name,
        "version": version,
        "row": values,
        "categories": list(categories),
    }
    seq = unit.record(CORRECTED, payload=payload)
    unit.tx.add([CorrectionRow(seq, name)])
    return seq


def _choose(unit: UnitOfWork, rows: Sequence[ModelRow], version: int) -> ModelRow:
    for row in rows:
        is_chosen = row.version == version
        if row.current is not is_chosen:
            unit.tx.put(replace(row, current=is_chosen))
    return next(replace(row, current=True) for row in rows if row.version == version)
