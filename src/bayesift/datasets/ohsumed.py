"""OHSUMED, first 20,000 documents of 1991: MEDLINE abstracts in 23 disease categories (Joachims 1998)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from bayesift.datasets.archives import read_members
from bayesift.datasets.directory import find
from bayesift.datasets.folders import SPLITS
from bayesift.datasets.problems import ProblemLog
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

PATHS = ("ohsumed-first-20000-docs.tar.gz", "ohsumed-first-20000-docs")


def load_ohsumed(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load OHSUMED-20000; a document that lies in the folders of several categories has them all.

    Parameters
    ----------
    data_dir : where the archive (or its folder) lies; see `data_directory`
    skip_bad : leave out a second copy that differs from the first, instead of refusing the archive

    Examples
    --------
    >>> load_ohsumed("no-such-folder")
    Traceback (most recent call last):
    bayesift.errors.CorpusNotFoundError: ohsumed-first-20000-docs.tar.gz is not in no-such-folder; \
put it there, or run: bayesift datasets fetch ohsumed --data-dir no-such-folder
    """
    path = find("ohsumed", PATHS, data_dir)
    log = ProblemLog(skip=skip_bad)
    documents: dict[str, Document] = {}
    for name, content in read_members(path):
        parts = PurePosixPath(name).parts
        if len(parts) < 3 or parts[-3] not in SPLITS:
            continue
        split, category = SPLITS[parts[-3]], parts[-2]
        document = Document(f"{split}/{parts[-1]}", content.decode("latin-1").strip(), split=split)
        known = documents.setdefault(document.id, document)
        if known.text != document.text:
            log.report("another document has this number", file=path / name)
        else:
            documents[document.id] = replace(known, categories=(*known.categories, category))
    if not documents:
        raise DataError("holds no OHSUMED documents (training/CATEGORY/NUMBER)", file=path)
    merged = tuple(replace(d, categories=tuple(sorted(d.categories))) for d in documents.values())
    categories = tuple(sorted({c for document in merged for c in document.categories}))
    return Corpus(merged, categories, name="ohsumed", problems=tuple(log.problems))
