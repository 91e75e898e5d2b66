"""Classifiers as MLflow models; skipped where MLflow is not installed."""

import numpy as np
import pytest

from bayesift import TextClassifier

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
pd = pytest.importorskip("pandas")

TEXTS = ["wheat and corn", "corn exports", "crude oil prices", "oil tankers"]
LABELS = ["grain", "grain", "crude", "crude"]

pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow itself


@pytest.fixture
def classifier():
    return TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)


def test_a_saved_model_gives_the_same_answers(classifier, tmp_path):
    from bayesift.mlflow import save_model

    save_model(classifier, tmp_path / "model")
    assert not list((tmp_path / "model").rglob("*.pkl"))
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    found = loaded.predict(pd.DataFrame({"text": TEXTS}))
    assert list(found["categories"]) == LABELS
    np.testing.assert_array_equal(
        found[list(classifier.categories_)], classifier.predict_proba(TEXTS)
    )
    unsure = loaded.predict(pd.DataFrame({"text": ["zorbly"]}), params={"abstain": 0.5})
    assert list(unsure["categories"]) == [""]


def test_a_logged_model_has_a_signature(classifier, tmp_path, monkeypatch):
    from bayesift.mlflow import log_model

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    mlflow.set_experiment("topics")
    with mlflow.start_run():
        told = log_model(classifier, "topics")
    signature = mlflow.models.get_model_info(told.model_uri).signature
    assert signature.inputs.input_names() == ["text"]
    assert signature.outputs.input_names() == ["categories", "crude", "grain"]


def test_a_wrong_table_is_refused(classifier, tmp_path):
    from bayesift.mlflow import save_model

    save_model(classifier, tmp_path / "model")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    with pytest.raises(Exception, match="text"):
        loaded.predict(pd.DataFrame({"body": TEXTS}))
