"""Classify a million short documents of a JSON lines file into another JSON lines file."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline

from bayesift.classifier import TextClassifier
from bayesift.cli.classify import classify
from bayesift.corpora import load_pydocs, load_sms_spam
from bayesift.records import Corpus
from benchmarks.corpora import if_present
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset

N_DOCUMENTS = 1_000_000
TOP = 3
_BATCH = 16_384


class _Work(NamedTuple):
    folder: Path
    model: Path
    documents: Path
    pipeline: Pipeline


def _prepare(corpus: Corpus) -> _Work:
    folder = Path(tempfile.mkdtemp(prefix="bayesift-benchmark-"))
    rng = random.Random(0)
    texts = [text[:200] for text in corpus.texts]
    with (folder / "documents.jsonl").open("w") as stream:
        for i in range(N_DOCUMENTS):
            stream.write(json.dumps({"id": f"document-{i}", "text": rng.choice(texts)}) + "\n")
    TextClassifier(model="naive-bayes").fit(corpus.texts, corpus.labels).save(
        folder / "model.zip"
    )
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB()).fit(
        corpus.texts, corpus.labels
    )
    return _Work(folder, folder / "model.zip", folder / "documents.jsonl", pipeline)


@if_present
def _messages() -> _Work:
    return _prepare(load_sms_spam())


def _ours(work: _Work) -> Path:
    output = work.folder / "ours.jsonl"
    classify(
        model=work.model, documents=str(work.documents), output=output, top=TOP, quiet=True
    )
    return output


def _scikit_learn(work: _Work) -> Path:
    """Do the same job with scikit-learn."""
    output = work.folder / "scikit-learn.jsonl"
    classes = work.pipeline.classes_
    with work.documents.open() as lines, output.open("w") as stream:
        for batch in _batches(lines):
            probabilities = work.pipeline.predict_proba([record["text"] for record in batch])
            best = np.argsort(-probabilities, axis=1)[:, :TOP]
            for record, row, p in zip(batch, best.tolist(), probabilities, strict=True):
                scores = {classes[j]: float(p[j]) for j in row}
                answer = {"id": record["id"], "categories": [classes[row[0]]], "scores": scores}
                stream.write(json.dumps(answer) + "\n")
    return output


def _batches(lines: Iterator[str]) -> Iterator[list[dict[str, Any]]]:
    while batch := [json.loads(line) for line in islice(lines, _BATCH)]:
        yield batch


def _check(results: dict[str, Path]) -> None:
    with results["bayesift"].open() as ours, results["scikit-learn pipeline"].open() as theirs:
        for a, b in islice(zip(ours, theirs, strict=True), 0, N_DOCUMENTS, 97):
            mine, other = json.loads(a), json.loads(b)
            assert mine["id"] == other["id"]
            for category, score in other["scores"].items():
                np.testing.assert_allclose(
                    mine["scores"][category], score, rtol=1e-4, atol=1e-6
                )


BENCHMARK = Benchmark(
    name="classify_throughput",
    objective="categories and the three highest probabilities of a million short documents, file "
    "to file, one process",
    datasets=[
        Dataset("SMS messages", _messages),
        Dataset("pydocs, 200 characters", lambda: _prepare(load_pydocs())),
    ],
    contenders=[
        Contender("bayesift", _ours),
        Contender("scikit-learn pipeline", _scikit_learn),
    ],
    comparisons=[
        Comparison("bayesift", "scikit-learn pipeline", asked=5),
        Comparison("bayesift", "scikit-learn pipeline", asked=5, clock="wall"),
    ],
    check=_check,
    repeats=3,
)
