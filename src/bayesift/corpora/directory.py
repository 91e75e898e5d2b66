"""The folder of the public corpora, and the files in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bayesift.errors import CorpusNotFoundError

VARIABLE = "BAYESIFT_DATA"


def data_directory(explicit: str | Path | None = None) -> Path:
    """Return the given directory, else `BAYESIFT_DATA`, else the user's cache directory."""
    if explicit is not None:
        return Path(explicit).expanduser()
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("bayesift")


def find(
    corpus: str,
    paths: Sequence[str],
    data_dir: str | Path | None = None,
    *,
    fetchable: bool = True,
) -> Path:
    """Find the first of some paths that exists in the data directory.

    The error names the first path and how to fetch it.
    """
    directory = data_directory(data_dir)
    for path in paths:
        if (directory / path).exists():
            return directory / path
    option = "" if data_dir is None else f" --data-dir {directory}"
    fetch = f", or run: bayesift datasets fetch {corpus}{option}" if fetchable else ""
    raise CorpusNotFoundError(f"{paths[0]} is not in {directory}; put it there{fetch}")
