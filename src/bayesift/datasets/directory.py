"""Where corpora lie on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bayesift.errors import CorpusNotFoundError

VARIABLE = "BAYESIFT_DATA"


def data_directory(explicit: str | Path | None = None) -> Path:
    """Return the directory given, else that of `BAYESIFT_DATA`, else the user's cache directory.

    Examples
    --------
    >>> data_directory("corpora").as_posix()
    'corpora'
    """
    if explicit is not None:
        return Path(explicit).expanduser()
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("bayesift")


def find(corpus: str, paths: Sequence[str], data_dir: str | Path | None = None, *, fetchable: bool = True) -> Path:
    """Return the first of these paths that exists in the data directory.

    Parameters
    ----------
    corpus : the name to fetch it by
    paths : where it may lie, relative to the data directory; the first is the usual place
    data_dir : see `data_directory`
    fetchable : whether `bayesift datasets fetch` can bring it

    Examples
    --------
    >>> find("reuters", ["reuters21578.tar.gz"], "no-such-folder")
    Traceback (most recent call last):
    bayesift.errors.CorpusNotFoundError: reuters21578.tar.gz is not in no-such-folder; \
put it there, or run: bayesift datasets fetch reuters --data-dir no-such-folder
    """
    directory = data_directory(data_dir)
    for path in paths:
        if (directory / path).exists():
            return directory / path
    place = "" if data_dir is None else f" --data-dir {directory}"
    fetch = f", or run: bayesift datasets fetch {corpus}{place}" if fetchable else ""
    raise CorpusNotFoundError(f"{paths[0]} is not in {directory}; put it there{fetch}")
