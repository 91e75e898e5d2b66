"""What executors need of a model: one safe file, fetched once by each, unpacked once, mapped by every process there."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
import zipfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from bayesift.classifier import TextClassifier
from bayesift.classifier.saving import classifier_of, content_of
from bayesift.model_file import ModelContent, load_model, save_model
from bayesift.text import TermVectorizer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEPT = 2  # of each kind, by a process
_SERVED = ExitStack()  # folders of files that executors may ask the driver for until it ends
atexit.register(_SERVED.close)
_VOCABULARY = "vocabulary"


def share(spark: SparkSession, content: ModelContent) -> str:
    """Let every executor fetch a model file when its first task comes; gives the name to find it by.

    The name is made of the content: the same model is sent once.
    """
    with ExitStack() as unserved:
        folder = Path(unserved.enter_context(tempfile.TemporaryDirectory(prefix="bayesift-model-")))
        save_model(content, folder / "model.zip", compressed=False)
        name = f"bayesift-{_digest(folder / 'model.zip')}.zip"
        if not any(known.endswith(name) for known in spark.sparkContext.listFiles):
            spark.sparkContext.addFile(str((folder / "model.zip").rename(folder / name)))
            _SERVED.enter_context(unserved.pop_all())
    return name


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:20]


def fetched(name: str) -> ModelContent:
    """The content of a shared file, on an executor; its arrays lie in the file."""
    from pyspark import SparkFiles

    return load_model(unpacked(Path(SparkFiles.get(name))), mapped=True)


def unpacked(archive: Path) -> Path:
    """The folder of a zipped model, unpacked by whichever process comes first.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     TextClassifier().fit(["corn", "oil"], ["grain", "crude"]).save(f"{folder}/model.zip")
    ...     sorted(path.name for path in unpacked(Path(folder) / "model.zip").iterdir())
    ['arrays.safetensors', 'model.json', 'vocabulary.txt']
    """
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


@dataclass(frozen=True)
class SharedModel:
    """A classifier by the name of its shared file; called on an executor, it gives the classifier."""

    name: str

    def __call__(self) -> TextClassifier:
        """The classifier, loaded once a process."""
        return _classifier(self.name)


@dataclass(frozen=True)
class SharedVectorizer:
    """A fitted vectorizer by the name of its shared file; called on an executor, it gives the vectorizer."""

    name: str

    def __call__(self) -> TermVectorizer:
        """The vectorizer, loaded once a process."""
        return _vectorizer(self.name)


def shared_model(spark: SparkSession, classifier: TextClassifier) -> SharedModel:
    """A classifier for all executors."""
    return SharedModel(share(spark, content_of(classifier)))


def shared_vectorizer(spark: SparkSession, vectorizer: TermVectorizer) -> SharedVectorizer:
    """A fitted vectorizer for all executors."""
    parameters, arrays, terms = vectorizer.get_state()
    return SharedVectorizer(share(spark, ModelContent(parameters, arrays, {_VOCABULARY: terms})))


@lru_cache(maxsize=_KEPT)
def _classifier(name: str) -> TextClassifier:
    return classifier_of(TextClassifier, fetched(name))


@lru_cache(maxsize=_KEPT)
def _vectorizer(name: str) -> TermVectorizer:
    content = fetched(name)
    return TermVectorizer.from_state(content.header, content.arrays, content.lists[_VOCABULARY])
