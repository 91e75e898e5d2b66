"""Enron-Spam 1: mail of one person and spam, in the order of the stream (Metsis et al. 2006)."""

from __future__ import annotations

import datetime
import re
from pathlib import Path, PurePosixPath

from bayesift.datasets.archives import read_members
from bayesift.datasets.loading import find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

PATHS = ("enron1.tar.gz", "enron1")

_NAME = re.compile(r"(\d+)\.(\d{4}-\d\d-\d\d)\.\w+\.(ham|spam)\.txt")


def load_enron(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load the 3,672 messages and 1,500 spam of enron1 by their number, which is the order of the stream.

    Dates do not give that order: those of the spam are later than those of all other mail.

    Parameters
    ----------
    data_dir : the data directory; see `data_directory`
    skip_bad : has no effect here; all loaders take it
    """
    path = find("enron1", PATHS, data_dir)
    messages = []
    for name, content in read_members(path):
        parts = _NAME.fullmatch(PurePosixPath(name).name)
        if parts is not None:
            number, date, category = parts.groups()
            sent = datetime.datetime.fromisoformat(date)
            document = Document(number, content.decode("latin-1"), categories=(category,), date=sent)
            messages.append((int(number), document))
    if not messages:
        raise DataError("holds no messages (enron1/ham/NUMBER.DATE.OWNER.ham.txt)", file=path)
    documents = tuple(document for _, document in sorted(messages, key=lambda message: message[0]))
    return Corpus(documents, ("ham", "spam"), name="enron1")
