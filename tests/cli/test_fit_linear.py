"""`bayesift fit` of linear models: the prior's scale and progress."""

import json

import pytest
from typer.testing import CliRunner

from bayesift.classifier import TextClassifier
from bayesift.cli.app import app


@pytest.fixture
def corpus(tmp_path):
    rows = [{"text": f"wheat corn {k}", "label": "grain"} for k in range(10)]
    rows += [{"text": f"oil barrel {k}", "label": "crude"} for k in range(10)]
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def fit(corpus, *options):
    return CliRunner().invoke(
        app, ["fit", str(corpus), "-o", str(corpus.parent / "model"), "-q", *options]
    )


@pytest.mark.parametrize(("given", "kept"), [("norm", "norm"), ("2.5", 2.5)])
def test_the_scale_of_the_prior_is_kept(corpus, given, kept):
    result = fit(corpus, "--model", "logistic-gaussian", "--prior-scale", given)
    assert result.exit_code == 0, result.output
    model = TextClassifier.load(corpus.parent / "model").model_
    assert model.prior_scale == kept
    assert model.progress is None


def test_an_unknown_scale_is_bad_use(corpus):
    result = fit(corpus, "--model", "logistic-laplace", "--prior-scale", "strong")
    assert result.exit_code == 2
    assert "strong" in result.output


def test_other_models_take_no_scale(corpus):
    result = fit(corpus, "--prior-scale", "norm")
    assert result.exit_code == 2
    assert "--prior-scale" in result.output
