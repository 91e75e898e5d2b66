"""SMS Spam Collection v.1: text messages, spam or ham (Almeida and Hidalgo 2011)."""

from __future__ import annotations

import re
from pathlib import Path

from bayesift.datasets.archives import read_members
from bayesift.datasets.directory import find
from bayesift.datasets.lines import decode
from bayesift.datasets.problems import ProblemLog
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

PATHS = ("sms-spam/SMSSpamCollection", "sms-spam/smsspamcollection.zip", "smsspamcollection.zip")

# A tab by the book; copies are about in which some have become spaces.
_MESSAGE = re.compile(r"(ham|spam)(?:\t| +)(.*)")


def load_sms_spam(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load the SMS Spam Collection; a message's id is its line number.

    Parameters
    ----------
    data_dir : where the file (or its zip archive) lies; see `data_directory`
    skip_bad : leave out lines that are no messages and list them in `problems`, instead of refusing

    Examples
    --------
    >>> load_sms_spam("no-such-folder")
    Traceback (most recent call last):
    bayesift.errors.CorpusNotFoundError: sms-spam/SMSSpamCollection is not in no-such-folder; \
put it there, or run: bayesift datasets fetch sms-spam --data-dir no-such-folder
    """
    path = find("sms-spam", PATHS, data_dir)
    log = ProblemLog(skip=skip_bad)
    documents = []
    for number, line in enumerate(_read_content(path).split("\n"), 1):
        message = _MESSAGE.fullmatch(line.rstrip("\r"))
        if message is not None:
            documents.append(Document(str(number), message[2], categories=(message[1],)))
        elif line.strip():
            log.report("not a message: it should start with ham or spam and a tab", file=path, line=number)
    if not documents:
        raise DataError("holds no messages", file=path)
    return Corpus(tuple(documents), ("ham", "spam"), name="sms-spam", problems=tuple(log.problems))


def _read_content(path: Path) -> str:
    if path.suffix != ".zip":
        return decode(path.read_bytes(), "utf-8", file=path)
    for name, content in read_members(path, wanted=lambda name: name.endswith("SMSSpamCollection")):
        return decode(content, "utf-8", file=path / name)
    raise DataError("holds no SMSSpamCollection", file=path)
