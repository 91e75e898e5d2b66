import json
import shutil
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

from bayesift.cli.app import app
from tests.scorer.worlds import NEW_TEXTS, fitted


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "topics.zip"
    classifier = fitted("three", model="auto")
    classifier.save(path)
    return path, classifier


def run(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def test_export_writes_a_page(model, tmp_path):
    answer = run(model[0], "-o", tmp_path / "scorer.html", "--name", "Topics & more")
    assert answer.exit_code == 0, answer.output
    assert "<title>Topics &amp; more</title>" in (tmp_path / "scorer.html").read_text()


def test_the_script_answers_in_node(model, tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    path, classifier = model
    script = tmp_path / "scorer.js"
    assert run(path, "-o", script).exit_code == 0
    _, scores = classifier.decide(NEW_TEXTS)

    def node(*arguments, given):
        command = ["node", str(script), *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
        return done.stdout

    one = json.loads(node(given=NEW_TEXTS[0]))
    np.testing.assert_allclose(list(one["scores"].values()), scores[0], atol=1e-6)
    assert one["reasons"]["categories"][0]["category"] == one["categories"][0]
    lines = "".join(json.dumps(text) + "\n" for text in NEW_TEXTS)
    answers = [json.loads(line) for line in node("--lines", given=lines).splitlines()]
    found = [list(answer["scores"].values()) for answer in answers]
    np.testing.assert_allclose(found, scores, atol=1e-6)
    assert node("--lines", given='{"text": "wheat"}\n')


def test_the_script_is_a_module_too(model, tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    assert run(model[0], "-o", tmp_path / "scorer.js").exit_code == 0
    (tmp_path / "use.mjs").write_text(
        'import scorer from "./scorer.js";\nconsole.log(scorer.categories.join());\n'
    )
    done = subprocess.run(
        ["node", str(tmp_path / "use.mjs")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "crude,grain,money"


def test_what_cannot_be_exported_writes_nothing(tmp_path):
    fitted("three", model="jury").save(tmp_path / "jury.zip")
    answer = run(tmp_path / "jury.zip", "-o", tmp_path / "scorer.js")
    assert answer.exit_code != 0
    assert not (tmp_path / "scorer.js").exists()


def test_other_files_are_refused(model, tmp_path):
    answer = run(model[0], "-o", tmp_path / "scorer.py")
    assert answer.exit_code == 2
    assert ".html" in answer.output
