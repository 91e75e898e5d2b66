"""20 Newsgroups, sorted by date: Usenet articles of 1993 (Lang 1995; "bydate" by Rennie)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath
from typing import Literal

from bayesift.corpora.directory import find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.tables.archives import read_members

PATHS = ("20news-bydate.tar.gz", "20news-bydate")

Part = Literal["headers", "footers", "quotes"]

_QUOTED = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")


def load_newsgroups(
    data_dir: str | Path | None = None, *, remove: Collection[Part] = (), skip_bad: bool = False
) -> Corpus:
    """Load the 18,846 articles.

    Each prefix of a group's name (comp.sys, comp) is a parent category.

    Parameters
    ----------
    data_dir : the data directory; see `data_directory`
    remove : parts to strip, of "headers", "footers" and "quotes"; the rest may be empty
    skip_bad : has no effect here; all loaders take it
    """
    unknown = sorted(set(remove) - set(_STRIP))
    if unknown:
        raise ValueError(f"cannot remove {unknown[0]!r}; choose from {', '.join(_STRIP)}")
    path = find("20newsgroups", PATHS, data_dir)
    documents = []
    for name, content in read_members(path):
        parts = PurePosixPath(name).parts
        if len(parts) < 3 or not parts[-3].startswith("20news-bydate-"):
            continue
        split = parts[-3].removeprefix("20news-bydate-")
        group = parts[-2]
        number = parts[-1]
        text = strip_parts(content.decode("latin-1"), remove)
        documents.append(Document(f"{group}/{number}", text, categories=(group,), split=split))
    if not documents:
        raise DataError("holds no articles (20news-bydate-train/GROUP/NUMBER)", file=path)
    groups = sorted({document.categories[0] for document in documents})
    return Corpus(
        tuple(documents), tuple(groups), name="20newsgroups", parents=_parents(groups)
    )


def _parents(groups: list[str]) -> dict[str, str]:
    parents = {}
    for group in groups:
        child = group
        while "." in child:
            parents[child] = child.rpartition(".")[0]
            child = parents[child]
    return parents


def strip_parts(text: str, parts: Collection[Part]) -> str:
    r"""Strip the named parts, in the order headers, footers, quotes, by scikit-learn's rules."""
    for part, strip in _STRIP.items():
        if part in parts:
            text = strip(text)
    return text


def _strip_headers(text: str) -> str:
    """Remove everything up to the first blank line."""
    return text.partition("\n\n")[2]


def _strip_footer(text: str) -> str:
    """Remove a signature: what follows the last line that is blank or all dashes."""
    lines = text.strip().split("\n")
    for i in range(len(lines) - 1, 0, -1):
        if not lines[i].strip().strip("-"):
            return "\n".join(lines[:i])
    return text


def _strip_quotes(text: str) -> str:
    """Remove the lines that quote another article or introduce a quotation."""
    return "\n".join(line for line in text.split("\n") if not _QUOTED.search(line))


_STRIP: dict[Part, Callable[[str], str]] = {
    "headers": _strip_headers,
    "footers": _strip_footer,
    "quotes": _strip_quotes,
}
