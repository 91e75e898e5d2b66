"""Compare exported scorers in node with Python, on all corpora of the data directory.

Of every document the terms are compared: words and pairs of words, and n-grams of characters. The
model `auto` is fitted to the training documents, or to three of four where there is no split. On
the others decisions and probabilities are compared. Needs node.

    python -m benchmarks.scorer
    python -m benchmarks.scorer sms-spam trec-questions
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesift import TextClassifier
from bayesift.corpora import load
from bayesift.corpora.directory import data_directory
from bayesift.export import write_scorer
from bayesift.models.ensemble import AutoClassifier
from bayesift.records import Corpus
from bayesift.tables.columns import Columns
from bayesift.text import TermVectorizer

_NAMED = (
    "pydocs",
    "sms-spam",
    "enron1",
    "trec-questions",
    "trec-questions-fine",
    "subjectivity",
    "customer-reviews",
    "ohsumed",
    "reuters-labelled",
    "20newsgroups",
)
_LANGUAGES = ("arabic", "english", "german", "italian")
_BUDGET = 15.0  # seconds of a fit: what is compared is the scorer, not the model
_VECTORIZERS = {
    "terms": TermVectorizer(ngram_range=(1, 2)),
    "spelling": TermVectorizer(analyzer="char_wb", ngram_range=(2, 5)),
}
# Terms are compared by a digest: those of a long document are many.
_DRIVER = """
const scorer = require(process.argv[1]);
const digest = terms => {
  const lines = [...terms].map(([term, count]) => `${term}\\t${count}`).sort();
  return require("node:crypto").createHash("sha1").update(lines.join("\\n")).digest("hex");
};
require("node:readline").createInterface({ input: process.stdin }).on("line", line => {
  const text = JSON.parse(line);
  const { categories, scores } = scorer.classify(text);
  const terms = process.argv[2] === "terms" && digest(scorer.terms(text));
  const spelling = process.argv[2] === "terms" && digest(scorer.spelling(text));
  console.log(JSON.stringify({ categories, scores: Object.values(scores), terms, spelling }));
});
"""

Labels = Any


class Documents(NamedTuple):
    """Texts and their labels, to learn from and held out."""

    texts: list[str]
    labels: list[Labels]
    held_out: list[str]


def _of_corpus(corpus: Corpus) -> Documents:
    if "train" in corpus.splits and "test" in corpus.splits:
        train = corpus.split("train")
        return Documents(train.texts, _labels(train), corpus.split("test").texts)
    return _every_fourth(corpus.texts, _labels(corpus))


def _labels(corpus: Corpus) -> list[Labels]:
    if corpus.is_single_label:
        return list(corpus.labels)
    rows = corpus.indicator
    return [
        [corpus.categories[column] for column in rows.indices[begin:end]]
        for begin, end in pairwise(rows.indptr)
    ]


def _every_fourth(texts: Sequence[str], labels: Sequence[Labels]) -> Documents:
    numbers = range(len(texts))
    learned = [number for number in numbers if number % 4]
    return Documents(
        [texts[number] for number in learned],
        [labels[number] for number in learned],
        list(texts[::4]),
    )


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _language(folder: Path, name: str) -> Documents:
    """Read short messages: a file of texts and one of labels for each part."""
    parts = {}
    for part in ("train", "val", "test"):
        texts = _lines(folder / f"{name}-{part}_text.txt")
        labels = _lines(folder / f"{name}-{part}_labels.txt")
        parts[part] = (texts[: len(labels)], labels)
    held_out = parts["val"][0] + parts["test"][0]
    return Documents(*parts["train"], held_out)


def _germeval(folder: Path) -> Documents:
    rows = [line.split("\t") for line in _lines(folder / "germeval2018.training.txt")]
    held_out = [line.split("\t")[0] for line in _lines(folder / "germeval2018.test.txt")]
    return Documents([row[0] for row in rows], [row[1] for row in rows], held_out)


def _subjects(folder: Path) -> Documents:
    """Read descriptions of links, each with one or more of 1,179 classes."""
    rows = [line.split("\t") for line in _lines(folder / "makupalat-train.tsv")]
    held_out = [
        line.split("\t")[0]
        for part in ("validate", "test")
        for line in _lines(folder / f"makupalat-{part}.tsv")
    ]
    return Documents([row[0] for row in rows], [row[1].split() for row in rows], held_out)


def _review(path: Path) -> Documents:
    columns = Columns(label="label_included")
    return _of_corpus(load(path, columns=columns))


def all_documents(folder: Path) -> Iterator[tuple[str, Callable[[], Documents]]]:
    """Yield the name of each corpus of a data directory, and a function that reads it."""
    for name in _NAMED:
        yield name, lambda name=name: _of_corpus(load(name, data_dir=folder))  # type: ignore[misc]
    for name in _LANGUAGES:
        yield f"tweets in {name.title()}", partial(_language, folder / "languages", name)
    yield "GermEval 2018", partial(_germeval, folder / "languages")
    yield "links in Finnish", partial(_subjects, folder / "subjects")
    for path in sorted((folder / "screening").glob("*.csv")):
        yield path.stem, partial(_review, path)


def _digest(counts: dict[str, int]) -> str:
    lines = [f"{term}\t{count}" for term, count in counts.items()]
    # JavaScript sorts by units of UTF-16.
    lines.sort(key=lambda line: line.encode("utf-16-be"))
    return hashlib.sha1("\n".join(lines).encode(), usedforsecurity=False).hexdigest()


def answers_of(classifier: TextClassifier, texts: Sequence[str], *what: str) -> list[Any]:
    """Return what a scorer of the classifier answers in node, an answer for each text."""
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "scorer.js"
        write_scorer(classifier, script)
        lines = "".join(json.dumps(text) + "\n" for text in texts)
        command = ["node", "-e", _DRIVER, str(script), *what]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def different_terms(texts: Sequence[str]) -> int:
    """Count the texts of which node and Python find other terms."""
    classifier = TextClassifier(
        model="logistic-gaussian",
        vectorizer=_VECTORIZERS["terms"],
        characters=_VECTORIZERS["spelling"],
    )
    classifier.fit(["corn and wheat", "crude oil", "corn", "oil"], ["a", "b", "a", "b"])
    n_different = 0
    for text, answer in zip(texts, answers_of(classifier, texts, "terms"), strict=True):
        n_different += any(
            answer[kind] != _digest(vectorizer.term_counts(text))
            for kind, vectorizer in _VECTORIZERS.items()
        )
    return n_different


def compare(documents: Documents) -> dict[str, Any]:
    """Fit, export and compare; return the row of a table."""
    classifier = TextClassifier(model=AutoClassifier(budget=_BUDGET), embedder=None)
    classifier.fit(documents.texts, documents.labels)
    decisions, probabilities = classifier.decide(documents.held_out)
    began = time.perf_counter()
    answers = answers_of(classifier, documents.held_out)
    seconds = time.perf_counter() - began
    found = np.array([answer["scores"] for answer in answers])
    names = classifier.categories_
    decided = [[name in answer["categories"] for name in names] for answer in answers]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "scorer.js"
        write_scorer(classifier, path)
        size = path.stat().st_size
    return {
        "categories": len(names),
        "blocks": " ".join(classifier.model_.kinds_),
        "texts": len(documents.texts) + len(documents.held_out),
        "other terms": different_terms(documents.texts + documents.held_out),
        "held out": len(documents.held_out),
        "other decisions": int(np.any(np.array(decided) != decisions, axis=1).sum()),
        "largest difference": f"{np.abs(found - probabilities).max():.1e}",
        "MB": f"{size / 1e6:.1f}",
        "ms a text": f"{1000 * seconds / len(documents.held_out):.1f}",
    }


def main(wanted: Sequence[str]) -> None:
    """Print the table."""
    is_first = True
    for name, read in all_documents(data_directory()):
        if wanted and name not in wanted:
            continue
        row = compare(read())
        if is_first:
            print("| corpus |", " | ".join(row), "|")
            print("|---" * (len(row) + 1) + "|", flush=True)
            is_first = False
        print(f"| {name} |", " | ".join(map(str, row.values())), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
