"""Compare one thread with two on the same work, by the wall clock of an idle machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesift.classifier import TextClassifier
from bayesift.cli.classify import classify
from bayesift.models.linear import GaussianPrior, LaplacePrior, SparseBayesClassifier
from bayesift.tables import load_table
from bayesift.text import TermVectorizer
from benchmarks.corpora import reuters_and_newsgroups
from benchmarks.harness import Benchmark, Comparison, Contender, Dataset
from benchmarks.linear import RATE, reuters
from benchmarks.linear_synthetic import corpus
from benchmarks.tables import write_pieces

_ROWS = 300_000  # that are classified
_SEED_ROWS = 30_000  # that are learned from


class Work(NamedTuple):
    """Something to do with a number of threads, and with what."""

    do: Callable[[Any, int], Any]
    data: Any


def _vectorize(texts: list[str], n_jobs: int, **options: Any) -> Any:
    return TermVectorizer(n_jobs=n_jobs, **options).fit_transform(texts)


def _fit(data: tuple[Any, Any], n_jobs: int, *, prior: Any, tol: float) -> Any:
    return SparseBayesClassifier(prior=prior, tol=tol, n_jobs=n_jobs).fit(*data).intercept_


def _classify(files: tuple[Path, Path], n_jobs: int) -> bytes:
    model, documents = files
    output = model.with_name(f"answers-{n_jobs}.csv")
    classify(model=model, documents=str(documents), output=output, jobs=n_jobs, quiet=True)
    return output.read_bytes()


def _files(learner: str) -> tuple[Path, Path] | None:
    """Return a model of pieces of documents, and a table of many more."""
    folder = Path(tempfile.mkdtemp(prefix="bayesift-benchmark-"))
    documents, seed = (write_pieces(folder / f"{n}.csv", n) for n in (_ROWS, _SEED_ROWS))
    if documents is None or seed is None:
        return None
    TextClassifier(model=learner).fit_corpus(load_table(seed)).save(folder / "model.zip")
    return folder / "model.zip", documents


def _some_categories() -> tuple[Any, Any]:
    X, Y = corpus()
    return X, sparse.csr_array(Y[:, ::10])


def _work(name: str, do: Callable[[Any, int], Any], load: Callable[[], Any]) -> Dataset:
    def made() -> Work | None:
        data = load()
        return None if data is None else Work(do, data)

    return Dataset(name, made)


_LAPLACE, _GAUSSIAN = LaplacePrior(gamma=RATE**2), GaussianPrior(variance=10.0)
_SHAPE = "shape of RCV1 (23,149 x 47,236), 11 categories"


def _check(results: dict[str, Any]) -> None:
    """Check that the number of threads does not change a bit of the output."""
    one, two = results["one thread"], results["two threads"]
    if sparse.issparse(one):
        one, two = one.data, two.data
    assert one == two if isinstance(one, bytes) else np.array_equal(one, two)


BENCHMARK = Benchmark(
    name="threads",
    objective="the same work by one thread and by two, same bits",
    datasets=[
        _work("vectorizer, Reuters-21578 + 20 Newsgroups", _vectorize, reuters_and_newsgroups),
        _work(
            "the same, stemmed", partial(_vectorize, stemmer="english"), reuters_and_newsgroups
        ),
        _work(
            "Laplace, Reuters-21578, 90 categories",
            partial(_fit, prior=_LAPLACE, tol=7e-3),
            reuters,
        ),
        _work(f"Laplace, {_SHAPE}", partial(_fit, prior=_LAPLACE, tol=7e-3), _some_categories),
        _work(
            "Gaussian, Reuters-21578, 90 categories",
            partial(_fit, prior=_GAUSSIAN, tol=2e-3),
            reuters,
        ),
        _work(
            f"Gaussian, {_SHAPE}", partial(_fit, prior=_GAUSSIAN, tol=2e-3), _some_categories
        ),
        _work(
            "classify 300,000 rows, logistic-gaussian",
            _classify,
            partial(_files, "logistic-gaussian"),
        ),
        _work("classify 300,000 rows, naive-bayes", _classify, partial(_files, "naive-bayes")),
    ],
    contenders=[
        Contender("one thread", lambda work: work.do(work.data, 1)),
        Contender("two threads", lambda work: work.do(work.data, 2)),
    ],
    comparisons=[Comparison("two threads", "one thread", asked=1.7, clock="wall")],
    check=_check,
    repeats=3,
)
