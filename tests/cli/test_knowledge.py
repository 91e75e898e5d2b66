"""`fit --knowledge` and `--posterior`, and what `explain` and `inspect` make of them."""

import json

import pytest

from tests.cli.conftest import WORDS


def test_inspect_shows_knowledge_and_how_sure(run, model_with_knowledge):
    code, out, err = run("inspect", model_with_knowledge)
    assert (code, err) == (0, "")
    assert "knowledge of 2 categories: 3 words used, 1 not in the vocabulary" in out
    assert "±" in out
    facts = json.loads(run("inspect", model_with_knowledge, "--json")[1])
    assert facts["knowledge"]["words"] == {"grain": {"corn": 3.0, "maise": 2.0}}
    for row in facts["categories"]:
        assert len(row["weights"]) == len(row["deviations"]) == len(row["top_terms"])


def test_explain_shows_how_sure(run, model_with_knowledge):
    code, out, err = run("explain", model_with_knowledge, "corn prices")
    assert (code, err) == (0, "")
    assert "averaged over the weights; 90%" in " ".join(out.split())
    assert "±" in out
    explained = json.loads(run("explain", model_with_knowledge, "corn prices", "--json")[1])[
        "categories"
    ][0]
    assert explained["interval"][0] <= explained["score"] <= explained["interval"][1]
    assert explained["terms"][0]["deviation"] > 0


def test_models_without_it_stay_as_they_were(run, model):
    code, out, _ = run("explain", model, "corn")
    assert code == 0
    assert "±" not in out
    assert "averaged" not in out
    assert "±" not in run("inspect", model)[1]
    assert json.loads(run("inspect", model, "--json")[1])["knowledge"] is None


def test_quiet_says_nothing_of_missing_words(run, topics, write, tmp_path):
    arguments = ("fit", topics, "-o", tmp_path / "m", "--model", "logistic-gaussian", "-q")
    assert run(*arguments, "--knowledge", write("words.yaml", WORDS)) == (0, "", "")


@pytest.mark.parametrize(
    ("content", "learner", "code", "message"),
    [
        ("words: [", "logistic-laplace", 1, "words.yaml:1: not YAML"),
        (
            "words: {grain: {corn: much}}",
            "logistic-laplace",
            1,
            "words.yaml: category 'grain', word 'corn': not a",
        ),
        ("words: {grian: [corn]}", "logistic-laplace", 1, "knowledge of category 'grian'"),
        ("words: {grian: [corn]}", "logistic-laplace", 1, "did you mean 'grain'?"),
        (WORDS, "naive-bayes", 2, "has no prior of weights"),
        (
            WORDS,
            "probit-jeffreys",
            2,
            "knowledge needs a gaussian or a laplace prior, not a jeffreys one",
        ),
        (None, "logistic-laplace", 1, "cannot be read (No such file"),
    ],
)
def test_mistakes_get_one_line(run, topics, write, tmp_path, content, learner, code, message):
    words = tmp_path / "nothing.yaml" if content is None else write("words.yaml", content)
    found, out, err = run(
        "fit", topics, "-o", tmp_path / "m", "--model", learner, "--knowledge", words
    )
    assert (found, out, err.count("\n")) == (code, "", 1), err
    assert message in err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("learner", "message"),
    [("naive-bayes", "does not take it"), ("probit-jeffreys", "needs a log-concave prior")],
)
def test_only_models_with_a_posterior_keep_one(run, topics, tmp_path, learner, message):
    found, out, err = run(
        "fit", topics, "-o", tmp_path / "m", "--model", learner, "--posterior"
    )
    assert (found, out, err.count("\n")) == (2, "", 1), err
    assert message in err
