"""Model cards say what the model file holds."""

import hashlib

import numpy as np
import pytest

from bayesift import Corpus, DataError, Document, TextClassifier, model_card
from tests.classifier.commodities import LABELS, SETS, TEXTS
from tests.report.reading import read

EVIL = "<script>alert(1)</script> | *bold*"


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(0)
    words = {"grain": ["wheat", "corn", "oats"], "crude": ["oil", "tanker", "barrel"]}
    documents = []
    for k in range(60):
        label = ("grain", "crude")[k % 2]
        text = f"{rng.choice(words[label])} no{k} file{k} case{k}"
        documents.append(Document(str(k), text, categories=(label,)))
    corpus = Corpus(tuple(documents), ("crude", "grain"), name="commodities")
    return TextClassifier(embedder=None).fit_corpus(corpus)


@pytest.mark.parametrize("name", ["model.zip", "model"])
def test_the_card_of_a_file(classifier, name, tmp_path):
    classifier.save(tmp_path / name)
    card = model_card(tmp_path / name)
    facts = {fact.name: fact.value for fact in (*card.facts, *card.versions)}
    assert card.title == "Model card: model"
    assert facts["trained on"] == "commodities, 60 documents"
    assert classifier.corpus_["fingerprint"] in facts["fingerprint of these"]
    file = tmp_path / name if name.endswith("zip") else tmp_path / name / "model.json"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert facts[f"SHA-256 of {file.name}"] == digest
    assert {"bayesift", "numpy", "scipy", "scikit-learn"} <= facts.keys()
    quality = classifier.expected_quality_
    assert card.measures[0].value == quality.value
    assert (
        f"{quality.low:.3f} to {quality.high:.3f}, by 60 documents" in card.measures[0].meaning
    )
    (_, *rows) = card.categories
    for row, of in zip(rows, quality.of_categories(), strict=True):
        assert row == (row[0], "30", str(of.precision), str(of.recall))
    for written in (card.to_html(), card.to_markdown()):
        assert digest in written
        assert "Latin script" in written
        assert "--abstain 0.1" in written


def test_html_is_one_page_and_markdown_has_its_picture(classifier, tmp_path):
    card = model_card(classifier)
    card.save(tmp_path / "card.html")
    page = read((tmp_path / "card.html").read_text("utf-8"))
    sections = ("quality", "categories", "calibration", "words", "limits", "versions")
    assert [value for value in page.values("id") if value] == list(sections)
    assert not page.values("src")
    assert [path.name for path in tmp_path.iterdir()] == ["card.html"]
    card.save(tmp_path / "my card.md")
    text = (tmp_path / "my card.md").read_text("utf-8")
    assert "](my%20card-calibration.svg)" in text
    assert (tmp_path / "my card-calibration.svg").read_text("utf-8") == card.chart.to_svg()
    assert "corn" in text
    with pytest.raises(DataError, match=r"ends in \.html or \.md"):
        card.save(tmp_path / "card.pdf")


def limits_of(classifier):
    return " ".join(model_card(classifier).limits)


def test_limits_follow_the_model(classifier):
    limits = limits_of(classifier)
    assert "None of the 60 training texts repeats another." in limits
    assert "Few documents" not in limits
    assert "Change over time was not measured" in limits
    few = TextClassifier(embedder=None).fit(TEXTS * 2, [*LABELS, *LABELS[::-1]])
    limits = limits_of(few)
    assert "12 of 12 texts repeat others or nearly, 4 of them with different labels." in limits
    assert "Few documents: 2 of 2 categories have fewer than 30" in limits
    assert "crude (6), grain (6)" in limits
    several = limits_of(TextClassifier(model="naive-bayes").fit(TEXTS, SETS))
    assert "No documents were held out in training" in several
    assert "Every text gets one of the categories" not in several
    cyrillic = TextClassifier(model="naive-bayes").fit(
        ["привет мир", "hello world"], ["a", "b"]
    )
    assert "in Latin, Cyrillic script" in limits_of(cyrillic)


def test_change_over_time_is_told():
    texts = [f"{('corn', 'oil')[k % 2]} no{k} file{k} case{k}" for k in range(200)]
    labels = ["grain", "crude"] * 100
    # The last quarter has its labels the other way round.
    labels[150:] = labels[149:-1]
    classifier = TextClassifier(embedder=None).fit(texts, labels, times=np.arange(200))
    card = model_card(classifier)
    assert classifier.expected_quality_.later is not None
    assert card.measures[2].name == "accuracy, later"
    assert any(limit.startswith("Change over time: on the latest") for limit in card.limits)


def test_names_from_outside_are_shown_as_they_are():
    classifier = TextClassifier(embedder=None).fit(
        TEXTS, [EVIL if "oil" in t else "b" for t in TEXTS]
    )
    card = model_card(classifier)
    html = card.to_html()
    assert "<script>alert" not in html
    text = card.to_markdown()
    assert "<script>" not in text.replace("\\<", "&lt;")
    assert "| \\<script\\>alert(1)\\</script\\> \\| \\*bold\\* |" in text


def test_vectors_have_a_card():
    classifier = TextClassifier().fit(np.eye(6), LABELS)
    card = model_card(classifier)
    assert "numbers of a vector" in card.to_markdown()
    assert not any("script" in limit for limit in card.limits)
