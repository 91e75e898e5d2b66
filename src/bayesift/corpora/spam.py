"""Load the SMS Spam Collection (Almeida and Hidalgo 2011) and Enron-Spam 1 (Metsis 2006)."""

from __future__ import annotations

import datetime
import re
from pathlib import Path, PurePosixPath

from bayesift.corpora.directory import find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.tables.archives import read_members
from bayesift.tables.loading import ProblemLog, decode

SMS_SPAM_PATHS = (
    "sms-spam/SMSSpamCollection",
    "sms-spam/smsspamcollection.zip",
    "smsspamcollection.zip",
)

# A tab, by the documentation; in some copies spaces.
_MESSAGE = re.compile(r"(ham|spam)(?:\t| +)(.*)")


def load_sms_spam(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load the 5,574 messages; the id of a message is its line number."""
    path = find("sms-spam", SMS_SPAM_PATHS, data_dir)
    log = ProblemLog(skip=skip_bad)
    documents = []
    for number, line in enumerate(_read_content(path).split("\n"), 1):
        message = _MESSAGE.fullmatch(line.rstrip("\r"))
        if message is not None:
            documents.append(Document(str(number), message[2], categories=(message[1],)))
        elif line.strip():
            log.report(
                "not a message: it should start with ham or spam and a tab",
                file=path,
                line=number,
            )
    if not documents:
        raise DataError("holds no messages", file=path)
    return Corpus(
        tuple(documents), ("ham", "spam"), name="sms-spam", problems=tuple(log.problems)
    )


def _read_content(path: Path) -> str:
    if path.suffix != ".zip":
        return decode(path.read_bytes(), "utf-8", file=path)
    for name, content in read_members(
        path, wanted=lambda name: name.endswith("SMSSpamCollection")
    ):
        return decode(content, "utf-8", file=path / name)
    raise DataError("holds no SMSSpamCollection", file=path)


ENRON_PATHS = ("enron1.tar.gz", "enron1")

_NAME = re.compile(r"(\d+)\.(\d{4}-\d\d-\d\d)\.\w+\.(ham|spam)\.txt")


def load_enron(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load the 3,672 messages and 1,500 spam of enron1 by number, the order of the stream.

    Dates do not give that order: those of the spam are later than those of all other mail.

    Parameters
    ----------
    data_dir : the data directory; see `data_directory`
    skip_bad : has no effect here; all loaders take it
    """
    path = find("enron1", ENRON_PATHS, data_dir)
    messages = []
    for name, content in read_members(path):
        parts = _NAME.fullmatch(PurePosixPath(name).name)
        if parts is not None:
            number, date, category = parts.groups()
            sent = datetime.datetime.fromisoformat(date)
            document = Document(
                number, content.decode("latin-1"), categories=(category,), date=sent
            )
            messages.append((int(number), document))
    if not messages:
        raise DataError("holds no messages (enron1/ham/NUMBER.DATE.OWNER.ham.txt)", file=path)
    documents = tuple(
        document for _, document in sorted(messages, key=lambda message: message[0])
    )
    return Corpus(documents, ("ham", "spam"), name="enron1")
