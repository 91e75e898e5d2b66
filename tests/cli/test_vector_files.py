"""Vector files from fit to explain, by the numbers that the files have."""

import json

import pytest

from tests.cli.conftest import fit

# Terms 3 and 5 speak for 1, terms 9 and 11 for -1; 7 for neither.
TRAIN = "+1 3:1 7:1\n-1 9:1\n+1 3:1 5:1\n-1 7:1 11:1\n+1 5:2\n-1 9:1 11:2\n" * 4
TEST = "+1 3:1 5:1 40:2\n-1 9:2\n+1 5:1 7:1\n-1 11:1 41:1\n"


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """A model of a vector file."""
    folder = tmp_path_factory.mktemp("vectors")
    path = folder / "train.dat"
    path.write_text(TRAIN)
    _, err = fit(path, "-o", folder / "model.zip", "--model", "naive-bayes")
    assert err == ""  # labels that are numbers do not differ in hyphens
    return folder / "model.zip"


@pytest.mark.parametrize("name", ["a.svm", "a.dat", "a.libsvm", "a.t", "a9a"])
def test_terms_above_those_of_training_are_left_out_and_said(run, vectors, write, name):
    code, out, err = run("evaluate", vectors, write(name, TEST), "--json")
    assert code == 0, err
    assert json.loads(out)["accuracy"] == 1.0
    assert err == "terms that the model does not know, left out: 2\n"


def test_fewer_terms_than_in_training(run, vectors, write):
    code, out, _ = run("evaluate", vectors, write("a.svm", "+1 3:1\n-1 2:1\n"), "--json")
    assert (code, json.loads(out)["n_documents"]) == (0, 2)


def test_classify_with_and_without_labels(run, vectors, write):
    plain = "".join(line.partition(" ")[2] + "\n" for line in TEST.splitlines())
    answers = []
    for content in (TEST, plain):
        code, out, err = run("classify", vectors, write("new.dat", content))
        assert (code, err) == (0, "")
        answers.append([json.loads(line) for line in out.splitlines()])
    assert answers[0] == answers[1]
    assert [answer["categories"] for answer in answers[0]] == [["1"], ["-1"], ["1"], ["-1"]]
    assert [answer["id"] for answer in answers[0]] == ["1", "2", "3", "4"]


def test_inspect_and_explain_name_the_terms_of_the_file(run, vectors):
    code, out, _ = run("inspect", vectors, "--json", "--top", 2)
    top = {row["category"]: row["top_terms"] for row in json.loads(out)["categories"]}
    assert code == 0
    assert {name: set(terms) for name, terms in top.items()} == {
        "1": {"term 3", "term 5"},
        "-1": {"term 9", "term 11"},
    }
    code, out, _ = run("explain", vectors, "3:1 7:1 40:1", "--json")
    (category,) = json.loads(out)["categories"]
    assert (code, category["category"]) == (0, "1")
    assert [term["term"] for term in category["terms"]] == ["term 3", "term 7"]


@pytest.mark.parametrize(
    ("text", "said"), [("wheat rose", "not a term:weight pair: 'rose'"), ("7:1 3:1", "ascend")]
)
def test_explain_needs_a_vector(run, vectors, text, said):
    code, out, err = run("explain", vectors, text)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "give one such as '3:0.5 7:1'" in err
    assert said in err


def test_texts_and_vectors_are_not_mixed(run, vectors, model, corpus, write):
    code, _, err = run("classify", vectors, corpus)
    assert (code, err) == (1, "bayesift: the model was not trained on texts\n")
    code, _, err = run("classify", model, write("a.svm", TEST))
    assert (code, err) == (1, "bayesift: the model was not trained on vectors\n")


@pytest.mark.parametrize("text", ["open 9:30\n", "10:30\n12:45\n", "at 9:30 we met\n"])
def test_lines_with_times_are_texts(run, model, write, text):
    code, out, _ = run("classify", model, write("a.txt", text))
    assert (code, len(out.splitlines())) == (0, text.count("\n"))
