"""Write references to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bayesift.datasets.references.formats import FORMATS, Format
from bayesift.datasets.references.reference import Reference
from bayesift.errors import RequestError
from bayesift.files import whole_file


def write_references(references: Iterable[Reference], path: str | Path, *, format: str | None = None) -> None:  # noqa: A002
    """Write references to a file, completely or not at all.

    A record that was read from the same format is written with all its fields as found, except for those that were
    changed since. A record of another format is written with the parts that the format can hold.

    Parameters
    ----------
    references : records
    path : the file; its suffix names the format
    format : name of the format, if the suffix does not say it
    """
    path = Path(path)
    form = FORMATS.get(format or "") or _by_suffix(path, format)
    if form.write is None:
        raise RequestError(f"{form.name} is only read; write .nbib, .ris or .csv")
    with whole_file(path, "wb" if form.binary else "w") as stream:
        form.write(references, stream)


def _by_suffix(path: Path, format: str | None) -> Format:  # noqa: A002
    found = [form for form in FORMATS.values() if path.suffix.lower() in form.suffixes and format is None]
    if not found:
        what = f"no format {format!r}" if format else f"{path.name}: its suffix names no format of records"
        known = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
        raise RequestError(f"{what}; there are: {', '.join(FORMATS) if format else known}")
    return found[0]
