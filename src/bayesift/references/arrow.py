"""Convert references to an Arrow table with everything they hold, and back.

It is the layout of Parquet and JSON lines that bayesift writes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

from bayesift.errors import DataError
from bayesift.references.reference import Decision, Reference

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES = tuple(field.name for field in dataclasses.fields(Reference))
_TUPLES = ("authors", "keywords", "notes", "labels")
# A table with these columns was written here.
OWN_COLUMNS = frozenset({"fields", "decisions", "format", "authors", "title"})


def schema() -> pa.Schema:
    """Return the columns of a table of references."""
    import pyarrow as pa

    texts = pa.list_(pa.string())
    pairs = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
    decisions = pa.list_(
        pa.struct([("verdict", pa.string()), ("reviewer", pa.string()), ("reasons", texts)])
    )
    kinds = {
        "year": pa.int32(),
        "line": pa.int32(),
        "decisions": decisions,
        "annotations": pairs,
        "fields": pairs,
    }
    kinds |= dict.fromkeys(_TUPLES, texts)
    return pa.schema([(name, kinds.get(name, pa.string())) for name in _NAMES])


def to_values(reference: Reference) -> dict[str, Any]:
    """Convert a reference to plain values.

    A value of `fields` that is not text is JSON after a NUL character.
    """
    values = {name: getattr(reference, name) for name in _NAMES}
    values["decisions"] = [
        {"verdict": d.verdict, "reviewer": d.reviewer, "reasons": list(d.reasons)}
        for d in reference.decisions
    ]
    values["annotations"] = [
        {"name": name, "value": value} for name, value in reference.annotations
    ]
    values["fields"] = [
        {"name": name, "value": _packed(value)} for name, value in reference.fields
    ]
    for name in _TUPLES:
        values[name] = list(values[name])
    return values


def from_values(values: Mapping[str, Any]) -> Reference:
    """Make a reference of what `to_values` returned."""
    parts = {name: values[name] for name in _NAMES if values.get(name) is not None}
    try:
        parts["decisions"] = tuple(
            Decision(d["verdict"], d["reviewer"] or "", tuple(d["reasons"] or ()))
            for d in parts.get("decisions", ())
        )
        parts["annotations"] = tuple(
            (pair["name"], pair["value"]) for pair in parts.get("annotations", ())
        )
        # A field often holds the text of the title or the abstract: one copy in memory is enough.
        known = {parts.get(name): parts.get(name) for name in ("title", "abstract")}
        parts["fields"] = tuple(
            (pair["name"], known.get(pair["value"]) or _unpacked(pair["value"]))
            for pair in parts.get("fields", ())
        )
        for name in _TUPLES:
            parts[name] = tuple(parts.get(name, ()))
    except (TypeError, KeyError, ValueError) as error:
        raise DataError(
            f"not a record as bayesift writes it ({type(error).__name__}: {error})"
        ) from error
    return Reference(**parts)


def references_to_table(references: Iterable[Reference]) -> pa.Table:
    """Convert references to an Arrow table that holds everything."""
    import pyarrow as pa

    columns: dict[str, list[Any]] = {name: [] for name in _NAMES}
    for reference in references:
        for name, value in to_values(reference).items():
            columns[name].append(value)
    return pa.table(columns, schema=schema())


def references_from_table(table: pa.Table) -> list[Reference]:
    """Make references of a table of `references_to_table`."""
    missing = [name for name in _NAMES if name not in table.column_names]
    if missing:
        raise DataError(f"not a table of references: no column {missing[0]!r}")
    return [
        from_values(values) for batch in table.to_batches(4096) for values in batch.to_pylist()
    ]


def _packed(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "\0" + json.dumps(value, ensure_ascii=False, default=str)


def _unpacked(value: str) -> Any:
    if value.startswith("\0"):
        return json.loads(value[1:])
    return value


def write_json_lines(references: Iterable[Reference], stream: IO[str]) -> None:
    """Write references as JSON lines that hold everything."""
    for reference in references:
        stream.write(json.dumps(to_values(reference), ensure_ascii=False) + "\n")


def write_parquet(references: Iterable[Reference], stream: IO[bytes]) -> None:
    """Write references as a Parquet file that holds everything."""
    from pyarrow import parquet

    parquet.write_table(references_to_table(references), stream, compression="zstd")
