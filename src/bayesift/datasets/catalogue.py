"""Every corpus by its name, and people's own by their path."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bayesift.datasets import (
    newsgroups,
    ohsumed,
    ohsumed_trec9,
    rcv1,
    reuters,
    rows,
    sms_spam,
    sources,
    svmlight,
)
from bayesift.datasets.columns import Columns
from bayesift.datasets.directory import data_directory
from bayesift.datasets.fetch import RemoteFile
from bayesift.datasets.folders import load_folder
from bayesift.datasets.lines import bare_suffix
from bayesift.datasets.pydocs import load_pydocs
from bayesift.datasets.screening import is_screening, load_review, load_screening
from bayesift.datasets.tables import load_table
from bayesift.errors import DataError
from bayesift.records import Corpus

ARCHIVES = (".tar", ".tgz", ".zip")


class RequestError(DataError):
    """Asked for a corpus or with an option that there is not."""


@dataclass(frozen=True)
class Entry:
    """A corpus that is known by name.

    Parameters
    ----------
    name : what to call it
    description : what it holds, in a line
    terms : what it may be used for
    loader : takes `data_dir` and `skip_bad`
    paths : where it may lie in the data directory; none when it needs no file
    files : what to fetch; none when it is not published
    """

    name: str
    description: str
    terms: str
    loader: Callable[..., Corpus]
    paths: tuple[str, ...] = ()
    files: tuple[RemoteFile, ...] = ()

    def is_present(self, data_dir: str | Path | None = None) -> bool:
        """Tell whether it can be loaded without fetching anything."""
        directory = data_directory(data_dir)
        return not self.paths or any((directory / path).exists() for path in self.paths)


def _load_pydocs(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    return load_pydocs()


def _review(name: str, description: str) -> Entry:
    file = sources.SCREENING[name]
    return Entry(name, description, "open", partial(load_review, name), (file.path,), (file,))


_ENTRIES = (
    Entry("pydocs", "docstrings of Python's standard library", "PSF licence", _load_pydocs),
    Entry(
        "reuters",
        "Reuters-21578: newswire of 1987, 90 topics",
        "Reuters, research only",
        reuters.load_reuters,
        reuters.PATHS,
        sources.REUTERS,
    ),
    Entry(
        "reuters-labelled",
        "of these, the 10,789 with one of the 90 topics",
        "Reuters, research only",
        partial(reuters.load_reuters, subset="labelled"),
        reuters.PATHS,
        sources.REUTERS,
    ),
    Entry(
        "20newsgroups",
        "20 Newsgroups by date: Usenet of 1993",
        "Usenet, research",
        newsgroups.load_newsgroups,
        newsgroups.PATHS,
        sources.NEWSGROUPS,
    ),
    Entry(
        "ohsumed",
        "OHSUMED-20000: abstracts, 23 diseases",
        "NLM, experimental use",
        ohsumed.load_ohsumed,
        ohsumed.PATHS,
        sources.OHSUMED,
    ),
    Entry(
        "ohsumed-trec9",
        "OHSUMED of TREC-9: MEDLINE 1987-91, 63 topics",
        "NLM, experimental use",
        ohsumed_trec9.load_ohsumed_trec9,
        ohsumed_trec9.PATHS,
        sources.OHSUMED_TREC9,
    ),
    Entry(
        "rcv1",
        "RCV1-v2: term vectors of newswire 1996-97",
        "cite Lewis et al. 2004",
        rcv1.load_rcv1,
        rcv1.train_paths("rcv1"),
        sources.RCV1,
    ),
    Entry(
        "rcv1-sample",
        "a part of RCV1-v2 in the same layout",
        "cite Lewis et al. 2004",
        partial(rcv1.load_rcv1, folder="rcv1-sample"),
        rcv1.train_paths("rcv1-sample"),
    ),
    Entry(
        "sms-spam",
        "SMS Spam Collection: text messages",
        "free, cite Almeida",
        sms_spam.load_sms_spam,
        sms_spam.PATHS,
        sources.SMS_SPAM,
    ),
    _review("screening-cohen-adhd", "screening of a review: drugs for ADHD"),
    _review("screening-cohen-triptans", "screening of a review: triptans"),
    _review("screening-kitchenham", "screening of a review: software engineering"),
    _review("screening-nagtegaal", "screening of a review: nudging in healthcare"),
)

CATALOGUE = {entry.name: entry for entry in _ENTRIES}


def find_entry(name: str) -> Entry:
    """Return the corpus of this name, or say which names are like it.

    Examples
    --------
    >>> find_entry("reuter")
    Traceback (most recent call last):
    bayesift.datasets.catalogue.RequestError: no corpus 'reuter'; did you mean reuters? \
See: bayesift datasets list
    """
    if name not in CATALOGUE:
        close = difflib.get_close_matches(name.lower(), CATALOGUE, n=2)
        hint = f"; did you mean {' or '.join(close)}? See" if close else "; see"
        raise RequestError(f"no corpus {name!r}{hint}: bayesift datasets list")
    return CATALOGUE[name]


def load(
    name_or_path: str | Path,
    *,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
) -> Corpus:
    """Load a corpus by its name, or people's own by the path of a table, vector file, archive or folder.

    Parameters
    ----------
    name_or_path : a name of the catalogue goes before a path
    data_dir : where the named ones lie; see `data_directory`
    columns, separator : for tables; see `load_table`
    encoding : for tables and folders; UTF-8 unless named
    skip_bad : leave out records that cannot be read and list them in `problems`, instead of refusing

    Examples
    --------
    >>> load("pydocs").is_single_label
    True
    """
    name = str(name_or_path)
    path = Path(name_or_path)
    if name in CATALOGUE:
        _refuse(name, columns=columns, separator=separator, encoding=encoding)
        return CATALOGUE[name].loader(data_dir=data_dir, skip_bad=skip_bad)
    suffix = bare_suffix(path)
    if not path.exists() and not suffix and path.name == name:
        find_entry(name)
    if not path.exists():
        raise DataError("there is no such file or folder", file=path)
    if path.is_dir() or suffix in ARCHIVES:
        _refuse("a folder", columns=columns, separator=separator)
        return load_folder(path, encoding=encoding or "utf-8", skip_bad=skip_bad)
    if suffix in svmlight.SUFFIXES:
        _refuse("a vector file", columns=columns, separator=separator, encoding=encoding)
        return svmlight.load_svmlight(path, skip_bad=skip_bad)
    if suffix not in rows.SUFFIXES:
        known = ", ".join((*rows.SUFFIXES, *svmlight.SUFFIXES, *ARCHIVES))
        raise DataError(f"unknown kind of file; its name must end in one of: {known}", file=path)
    if columns is None and separator is None and is_screening(path, encoding or "utf-8"):
        return load_screening(path, encoding=encoding or "utf-8", skip_bad=skip_bad)
    return load_table(path, columns=columns, separator=separator, encoding=encoding or "utf-8", skip_bad=skip_bad)


def _refuse(what: str, **options: object) -> None:
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise RequestError(f"{what} takes no {given[0]}; that is for people's own tables")
