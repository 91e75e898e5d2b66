"""Short texts: questions of TREC, subjective and objective sentences, customer reviews."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from bayesift.corpora.directory import find
from bayesift.errors import DataError
from bayesift.records import Corpus, Document
from bayesift.tables.loading import ProblemLog, categories_of

QUESTIONS = {"train": "sentences/TREC.train", "test": "sentences/TREC.test"}
SUBJECTIVITY = {
    "objective": "sentences/subj.objective",
    "subjective": "sentences/subj.subjective",
}
REVIEWS = {"neg": "sentences/custrev.neg", "pos": "sentences/custrev.pos"}

_QUESTION = re.compile(r"([A-Z]+):([a-z]+) (.*)")


def load_trec_questions(
    data_dir: str | Path | None = None, *, fine: bool = False, skip_bad: bool = False
) -> Corpus:
    """Load 5,452 training and 500 test questions by kind of answer (Li and Roth 2002).

    Parameters
    ----------
    data_dir : the data directory; see `data_directory`
    fine : the 50 fine categories, such as "HUM:desc", each with its coarse one as parent, in place
        of the 6 coarse ones
    skip_bad : skip lines that are no questions and list them in `problems`, instead of refusing the
        file
    """
    name = "trec-questions-fine" if fine else "trec-questions"
    log = ProblemLog(skip=skip_bad)
    documents = []
    for split, file in QUESTIONS.items():
        path = find(name, [file], data_dir)
        for number, line in _read_lines(path):
            question = _QUESTION.fullmatch(line)
            if question is None:
                log.report(
                    "not a question: it should start with COARSE:fine and a space",
                    file=path,
                    line=number,
                )
                continue
            coarse, kind, text = question.groups()
            category = f"{coarse}:{kind}" if fine else coarse
            documents.append(
                Document(f"{split}/{number}", text.strip(), categories=(category,), split=split)
            )
    categories = categories_of(documents)
    parents = {category: category.partition(":")[0] for category in categories} if fine else {}
    return Corpus(
        tuple(documents), categories, name=name, parents=parents, problems=tuple(log.problems)
    )


def load_subjectivity(data_dir: str | Path | None = None, *, skip_bad: bool = False) -> Corpus:
    """Load 5,000 objective and 5,000 subjective sentences about films (Pang and Lee 2004)."""
    return _load_classes("subjectivity", SUBJECTIVITY, data_dir)


def load_customer_reviews(
    data_dir: str | Path | None = None, *, skip_bad: bool = False
) -> Corpus:
    """Load 1,368 negative and 2,407 positive sentences about products (Hu and Liu 2004).

    Four are blank.
    """
    return _load_classes("customer-reviews", REVIEWS, data_dir)


def _load_classes(name: str, files: dict[str, str], data_dir: str | Path | None) -> Corpus:
    """Load a file per category with a sentence per line."""
    documents = []
    for category, file in files.items():
        for number, line in _read_lines(find(name, [file], data_dir, fetchable=False)):
            documents.append(
                Document(f"{category}/{number}", line.strip(), categories=(category,))
            )
    return Corpus(tuple(documents), tuple(files), name=name)


def _read_lines(path: Path) -> Iterable[tuple[int, str]]:
    # In latin-1 every byte is a character, so that none can be bad; str.splitlines would also split
    # at NEL.
    content = path.read_bytes().decode("latin-1").removesuffix("\n")
    if not content:
        raise DataError("is empty", file=path)
    return enumerate((line.rstrip("\r") for line in content.split("\n")), 1)
