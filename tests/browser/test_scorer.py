"""The page of a scorer, from the disk: it decides as Python does, and loads nothing."""

import numpy as np
import pytest

from bayesift import TextClassifier
from bayesift.export import write_scorer
from tests.browser.pages import expect
from tests.scorer.worlds import NEW_TEXTS, TOPICS, fitted, labelled

SIZES = {"wide": (1280, 800), "narrow": (390, 844)}


@pytest.fixture
def open_scorer(browser, tmp_path):
    """Open the page of a classifier; no script may fail, and nothing else may be asked for."""
    contexts, troubles = [], []

    def start(classifier, size="wide", scheme="light", name="Topics"):
        path = tmp_path / "scorer.html"
        write_scorer(classifier, path, name=name)
        width, height = SIZES[size]
        viewport = {"width": width, "height": height}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        asked = []
        page.goto(path.as_uri())
        page.asked = asked
        return page

    yield start
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.mark.parametrize("form", ["two", "three", "several"])
def test_scores_in_the_browser(open_scorer, form):
    classifier = fitted(form, model="auto")
    page = open_scorer(classifier)
    decisions, scores = classifier.decide(NEW_TEXTS)
    answers = page.evaluate("texts => texts.map(text => scorer.classify(text))", NEW_TEXTS)
    found = [[answer["scores"][name] for name in classifier.categories_] for answer in answers]
    np.testing.assert_allclose(found, scores, atol=1e-6)
    for answer, row in zip(answers, decisions, strict=True):
        assigned = [classifier.categories_[j] for j in np.flatnonzero(row)]
        assert answer["categories"] == assigned
    terms = page.evaluate("texts => texts.map(text => [...scorer.terms(text)])", NEW_TEXTS)
    for text, counts in zip(NEW_TEXTS, terms, strict=True):
        assert dict(counts) == classifier.vectorizer_.term_counts(text)
    assert page.asked == [page.url]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_a_text_is_explained(open_scorer, size, scheme):
    classifier = fitted("three", model="auto")
    page = open_scorer(classifier, size, scheme)
    expect(page.locator("#answer")).to_be_hidden()
    text = f"{NEW_TEXTS[0]} 原油 zzz"
    page.get_by_label("Text").fill(text)
    best = classifier.explain(text).categories[0]
    word = best.terms[0].term
    expect(page.locator("#categories .assigned")).to_contain_text(best.category)
    expect(page.locator("#reasons-of")).to_have_text(f"Reasons for {best.category}")
    expect(page.locator("mark", has_text=word)).to_be_visible()
    expect(page.locator("#reasons li", has_text=word)).to_contain_text(
        f"{best.terms[0].contribution:+.2f}".replace("-", "−")
    )
    expect(page.locator("#unseen")).to_contain_text("zzz")
    other = next(name for name in classifier.categories_ if name != best.category)
    page.locator("#categories button", has_text=other).click()
    expect(page.locator("#reasons-of")).to_have_text(f"Reasons for {other}")
    expect(page.locator("#decision")).to_contain_text("Not assigned")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= SIZES[size][0]
    assert page.asked == [page.url]


def test_text_is_never_markup(open_scorer):
    attack = "<img src=x onerror='window.hacked = 1'> wheat"
    texts, labels = labelled(TOPICS)
    names = {"grain": attack, "crude": "crude", "money": "money"}
    classifier = TextClassifier(model="naive-bayes")
    classifier.fit(texts, [names[label] for label in labels])
    page = open_scorer(classifier, name=attack)
    page.get_by_label("Text").fill(f"{attack} wheat corn barley")
    expect(page.locator("#categories")).to_contain_text("<img")
    expect(page.locator("#marked")).to_contain_text("<img")
    assert page.locator("img").count() == 0
    assert page.evaluate("window.hacked") is None


def test_columns_have_fields(open_scorer):
    texts, labels = labelled(TOPICS)
    rows = [
        {"text": text, "price": float(list(TOPICS).index(label))}
        for text, label in zip(texts, labels, strict=True)
    ]
    classifier = TextClassifier(model="logistic-gaussian", columns=["price"]).fit(rows, labels)
    page = open_scorer(classifier)
    page.get_by_label("Text").fill("wheat")
    page.get_by_label("price").fill("1,5")
    expect(page.locator("#reasons li", has_text="price")).to_be_visible()
    page.get_by_label("price").fill("much")
    expect(page.locator("#unseen")).to_contain_text("not a number")
