"""`bayesift card` and what `inspect` says of expected quality."""

import json

from bayesift.classifier import TextClassifier


def test_cards_are_html_or_markdown(run, model, tmp_path):
    code, out, err = run("card", model, "-o", tmp_path / "card.html")
    assert (code, out) == (0, "")
    assert "card.html" in err
    assert "Model card: model" in (tmp_path / "card.html").read_text("utf-8")
    assert run("card", model, "-o", tmp_path / "card.md")[0] == 0
    written = (tmp_path / "card.md").read_text("utf-8")
    assert (tmp_path / "card-calibration.svg").exists()
    code, out, _ = run("card", model, "--top", "2")
    assert code == 0
    assert out.startswith("# Model card: model")
    assert written.startswith("# Model card: model")


def test_cards_that_cannot_be_written_are_refused_before_any_work(run, model, tmp_path):
    code, out, err = run("card", model, "-o", tmp_path / "card.pdf")
    assert (code, out) == (2, "")
    assert "must end in .html or .md" in err
    code, out, err = run("card", tmp_path / "none.zip")
    assert (code, out) == (1, "")
    assert "none.zip: no such model" in err
    assert not list(tmp_path.iterdir())


def test_inspect_shows_the_quality_to_expect(run, model):
    quality = TextClassifier.load(model).expected_quality_
    _, out, _ = run("inspect", model)
    assert f"expected on new documents: {quality}" in " ".join(out.split())
    _, out, _ = run("inspect", model, "--json")
    found = json.loads(out)["expected_quality"]
    assert found["value"] == quality.value
    assert found["repeats"]["n_texts"] == 12
    assert found["later"] is None
