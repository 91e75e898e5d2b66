"""SMS Spam Collection v.1: text messages, spam or ham (Almeida and Hidalgo 2011)."""

from __future__ import annotations

import re
from pathlib import Path

from bayesift.datasets.archives import read_members
from bayesift.datasets.encodings import decode
from bayesift.datasets.loading import ProblemLog, find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document

PATHS = ("sms-spam/SMSSpamCollection", "sms-spam/smsspamcollection.zip", "smsspamcollection.zip")

# A tab, by the documentation; in some copies spaces.
_MESSAGE = re.compile(r"(ham|spam)(?:\t| +)(.*)")


def load_sms_spam(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load the 5,574 messages; the id of a message is its line number."""
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
