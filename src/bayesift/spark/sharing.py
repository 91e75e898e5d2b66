"""Models and matrices for executors: one safe file each, fetched and unpacked once.

Every process there maps it.

`SparkWorkers` solves the categories of a linear model on executors, for matrices that fit each of
them.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from bayesift.arrays import Array
from bayesift.classifier import TextClassifier
from bayesift.classifier.saving import classifier_of, content_of
from bayesift.model_file import ModelContent, load_model, save_model
from bayesift.models.linear.problem import LinearProblem, Solution
from bayesift.models.linear.solvers import Starts, solve_some
from bayesift.text import TermVectorizer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT_FILES = 2  # of each kind, by a process
_SERVED_FOLDERS = (
    ExitStack()
)  # folders of files that executors may ask the driver for until it ends
atexit.register(_SERVED_FOLDERS.close)
_VOCABULARY = "vocabulary"
_SENT_WITH_TASKS = (
    "importance",
    "balance",
    "link",
    "prior",
    "intercept",
    "terms",
    "tolerance",
    "max_iter",
)


def share(spark: SparkSession, content: ModelContent) -> str:
    """Let every executor fetch a model file when its first task comes.

    Returns its name, made of the content.
    """
    with ExitStack() as unserved:
        folder = Path(
            unserved.enter_context(tempfile.TemporaryDirectory(prefix="bayesift-model-"))
        )
        save_model(content, folder / "model.zip", compressed=False)
        name = f"bayesift-{_digest(folder / 'model.zip')}.zip"
        if not any(known.endswith(name) for known in spark.sparkContext.listFiles):
            spark.sparkContext.addFile(str((folder / "model.zip").rename(folder / name)))
            _SERVED_FOLDERS.enter_context(unserved.pop_all())
    return name


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:20]


def fetched(name: str) -> ModelContent:
    """Fetch the content of a shared file on an executor; its arrays lie in the file."""
    from pyspark import SparkFiles

    return load_model(unpacked(Path(SparkFiles.get(name))), mapped=True)


def unpacked(archive: Path) -> Path:
    """Unpack the folder of a zipped model, once per executor."""
    folder = archive.with_suffix(".model")
    if folder.exists():
        return folder
    temporary = Path(tempfile.mkdtemp(dir=archive.parent, prefix=f".{archive.stem}."))
    with zipfile.ZipFile(archive) as parts:
        parts.extractall(temporary)
    try:
        temporary.rename(folder)
    except OSError:
        # Another process was quicker.
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def shared_model(
    spark: SparkSession, classifier: TextClassifier
) -> Callable[[], TextClassifier]:
    """Share a classifier; the function gives it on an executor, loaded once per process."""
    return partial(_classifier, share(spark, content_of(classifier)))


def shared_vectorizer(
    spark: SparkSession, vectorizer: TermVectorizer
) -> Callable[[], TermVectorizer]:
    """Share a fitted vectorizer; the function gives it on an executor, loaded once per process."""
    parameters, arrays, terms = vectorizer.get_state()
    return partial(
        _vectorizer, share(spark, ModelContent(parameters, arrays, {_VOCABULARY: terms}))
    )


@lru_cache(maxsize=_KEPT_FILES)
def _classifier(name: str) -> TextClassifier:
    classifier: TextClassifier = classifier_of(TextClassifier, fetched(name))
    return classifier


@lru_cache(maxsize=_KEPT_FILES)
def _vectorizer(name: str) -> TermVectorizer:
    content = fetched(name)
    return TermVectorizer.from_state(content.header, content.arrays, content.lists[_VOCABULARY])


class SparkWorkers:
    """A solver of categories on executors; it replaces `n_jobs`.

    The matrix goes to each executor once, as a file that its processes map; what changes along a
    path or from fold to fold goes with the tasks.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._sent: tuple[Any, str] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> SparkWorkers:
        # Estimators are cloned with their parameters; there is one session.
        return self

    def solve(
        self, problem: LinearProblem, solver: str, tasks: list[tuple[list[int], Starts]]
    ) -> Iterable[list[Solution]]:
        """Solve each task, in order."""
        work = _Task(
            self._send(problem),
            {name: getattr(problem, name) for name in _SENT_WITH_TASKS},
            solver,
        )
        found: list[list[Solution]] = (
            self._spark.sparkContext.parallelize(tasks, len(tasks)).map(work).collect()
        )
        return found

    def _send(self, problem: LinearProblem) -> str:
        if self._sent is None or self._sent[0] is not problem.rows:
            self._sent = problem.rows, share(self._spark, matrix_content(problem))
        return self._sent[1]


@dataclass(frozen=True, eq=False)
class _Task:
    """Solves a task on an executor."""

    name: str
    rest: dict[str, Any]
    solver: str

    def __call__(self, task: tuple[list[int], Starts]) -> list[Solution]:
        problem = _matrix(self.name).varied(**self.rest)
        return solve_some(problem, self.solver, *task)


@lru_cache(maxsize=1)
def _matrix(name: str) -> LinearProblem:
    return problem_of(fetched(name))


def matrix_content(problem: LinearProblem) -> ModelContent:
    """Return documents and categories of a problem as the content of a file."""
    parts = {"rows": problem.rows, "columns": problem.columns, "members": problem.members}
    arrays = {
        f"{name}.{field}": getattr(matrix, field)
        for name, matrix in parts.items()
        for field in ("data", "indices", "indptr")
    }
    return ModelContent({"shape": [*problem.rows.shape, problem.members.shape[0]]}, arrays)


def problem_of(content: ModelContent) -> LinearProblem:
    """Return the problem of `matrix_content`; `varied` fills in all else."""
    n_documents, n_terms, n_categories = content.header["shape"]

    def parts(name: str) -> tuple[Array, ...]:
        return tuple(
            content.arrays[f"{name}.{field}"] for field in ("data", "indices", "indptr")
        )

    rows = sparse.csr_array(parts("rows"), shape=(n_documents, n_terms))
    members = sparse.csr_array(parts("members"), shape=(n_categories, n_documents))
    nothing: Any = None
    problem = LinearProblem(rows, members, np.ones(n_documents), nothing, nothing, np.zeros(3))
    problem.__dict__["columns"] = sparse.csc_array(
        parts("columns"), shape=(n_documents, n_terms)
    )
    return problem
