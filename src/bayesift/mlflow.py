"""Classifiers as MLflow models: our own file inside, and no pickle.

`save_model` and `log_model` write what `mlflow.pyfunc.load_model` loads, with the extra `mlflow`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bayesift
from bayesift.classifier import Predictions, TextClassifier
from bayesift.errors import require

_MODEL = "model"
_TEXT = "text"
_CATEGORIES = "categories"


def save_model(classifier: TextClassifier, path: str | Path, **options: Any) -> None:
    """Write a classifier as an MLflow model to a new folder.

    Parameters
    ----------
    classifier : fitted
    path : of the folder
    options : further arguments of `mlflow.pyfunc.save_model`, such as `metadata`

    Examples
    --------
    >>> import bayesift.mlflow
    >>> bayesift.mlflow.save_model(classifier, "spam")  # doctest: +SKIP
    >>> mlflow.pyfunc.load_model("spam").predict(["Free entry!"])  # doctest: +SKIP
    """
    require("mlflow", extra="mlflow")
    import mlflow.pyfunc

    with tempfile.TemporaryDirectory() as place:
        mlflow.pyfunc.save_model(path=str(path), **_described(classifier, place), **options)


def log_model(classifier: TextClassifier, name: str, **options: Any) -> Any:
    """Log a classifier to the current run of MLflow; return what MLflow says of it.

    Parameters
    ----------
    classifier : fitted
    name : of the model
    options : further arguments of `mlflow.pyfunc.log_model`, such as `registered_model_name`
    """
    require("mlflow", extra="mlflow")
    import mlflow.pyfunc

    with tempfile.TemporaryDirectory() as place:
        return mlflow.pyfunc.log_model(name=name, **_described(classifier, place), **options)


class ServedClassifier:
    """What MLflow asks for predictions."""

    def __init__(self, classifier: TextClassifier) -> None:
        self.classifier = classifier

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> Any:
        """Return a DataFrame: the categories of texts, joined by semicolons, and all scores.

        Parameters
        ----------
        data : a table with the columns that the model was fitted to, or with the column "text"
        params : "abstain", as in `TextClassifier.predict`; below 0 it never abstains
        """
        pd = require("pandas", extra="mlflow")

        rate = float((params or {}).get("abstain", -1.0))
        texts = data
        if self.classifier.text_columns_ is None and _TEXT in getattr(data, "columns", ()):
            texts = data[_TEXT]
        abstain = rate if rate >= 0 else None
        found = Predictions.of(self.classifier, texts, abstain=abstain)
        joined = [";".join(names) for names in found.assigned().to_pylist()]
        columns: dict[str, Any] = {_CATEGORIES: joined}
        scores = np.empty_like(found.scores)
        np.put_along_axis(scores, found.best, found.scores, axis=1)
        for column, category in enumerate(found.categories):
            columns[category] = scores[:, column]
        return pd.DataFrame(columns)


def _load_pyfunc(path: str) -> ServedClassifier:
    """Load what `save_model` wrote; MLflow calls it."""
    return ServedClassifier(TextClassifier.load(path, mapped=True))


def _described(classifier: TextClassifier, place: str) -> dict[str, Any]:
    """Save a classifier to a temporary folder and return the arguments that describe it."""
    from mlflow.models import ModelSignature
    from mlflow.types.schema import ColSpec, ParamSchema, ParamSpec, Schema

    saved = Path(place) / _MODEL
    classifier.save(saved)
    inputs = [ColSpec("string", name) for name in classifier.text_columns_ or (_TEXT,)]
    outputs = [ColSpec("string", _CATEGORIES)]
    outputs += [ColSpec("double", name) for name in classifier.categories_]
    signature = ModelSignature(
        inputs=Schema(inputs),
        outputs=Schema(outputs),
        params=ParamSchema([ParamSpec("abstain", "double", -1.0)]),
    )
    return {
        "loader_module": "bayesift.mlflow",
        "data_path": str(saved),
        "signature": signature,
        "pip_requirements": _requirements(),
    }


def _requirements() -> Sequence[str]:
    return [f"bayesift[mlflow]=={bayesift.__version__}"]
