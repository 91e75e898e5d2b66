"""What notebooks show."""

from html.parser import HTMLParser

import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from bayesift import Corpus, Document, TextClassifier
from bayesift.classifier import evaluate

EVIL = "<script>alert(1)</script>\x07"
TEXTS = ["wheat corn", "corn exports", "crude oil", "oil tankers"]
LABELS = ["grain", "grain", EVIL, EVIL]


class Page(HTMLParser):
    """Tags that are open, all text, and the tags there are."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def __contains__(self, text):
        return text in " ".join(self.text)


@pytest.fixture
def classifier():
    return TextClassifier(model="naive-bayes").fit(TEXTS, LABELS)


def test_explanations_as_text(classifier):
    explanation = classifier.explain("corn oil silver", categories=["grain"])
    assert repr(explanation) == (
        "Explanation('grain' 0.5 not assigned: corn +1.10, oil -1.10; "
        "1 of 3 tokens are not known)"
    )
    assert classifier.explain(["corn oil silver"], categories=["grain"]) == [explanation]


def test_explanations(classifier):
    page = Page(classifier.explain(f"oil and {EVIL} corn")._repr_html_())
    assert page.tags <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert "<script>alert(1)</script>\N{REPLACEMENT CHARACTER}" in page
    for text in ("oil", "log odds", "before any term", "tokens are not terms of the model"):
        assert text in page
    html = classifier.explain("oil corn", categories=["grain"])._repr_html_()
    assert "left: 50%" in html
    assert "right: 50%" in html


def test_evaluations(classifier):
    documents = [
        Document(str(i), t, categories=(c,))
        for i, (t, c) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]
    documents.append(Document("new", "gold mine", categories=("gold",)))
    evaluation = evaluate(classifier, Corpus(tuple(documents), ("grain", EVIL, "gold")))
    page = Page(evaluation._repr_html_())
    assert "script" not in page.tags
    for text in (
        "5 documents, accuracy 0.8000",
        "micro average",
        "grain",
        "log loss",
        "does not know: 'gold' (1)",
    ):
        assert text in page


def test_classifiers(classifier):
    unfitted = TextClassifier()._repr_html_()
    assert 'class="bayesift"' not in unfitted
    assert "TextClassifier" in unfitted
    shown = classifier._repr_mimebundle_()["text/html"]
    assert shown[:200] == classifier._repr_html_()[:200]
    assert "NaiveBayesClassifier with 6 terms" in shown
    assert "one of 2 categories: &lt;script&gt;" in shown
    assert EVIL not in shown
    assert shown.count("TextClassifier") > 1  # scikit-learn's own diagram
    with sklearn.config_context(display="text"):
        assert not hasattr(classifier, "_repr_html_")
        assert "text/html" not in classifier._repr_mimebundle_()


def test_expected_quality_is_shown():
    texts = ["wheat corn", "corn exports", "crude oil", "oil tankers"] * 3
    classifier = TextClassifier().fit(texts, ["grain", "grain", "crude", "crude"] * 3)
    shown = classifier._repr_html_()
    assert str(classifier.expected_quality_) in shown
    assert "12 of 12 texts repeat others or nearly; repeats were held out together" in shown
    assert repr(classifier) == f"TextClassifier()  # expected {classifier.expected_quality_}"
    assert repr(clone(classifier)) == "TextClassifier()"
    # In a pipeline, scikit-learn writes the parameters alone.
    assert repr(make_pipeline(classifier)).endswith("TextClassifier())])")


def test_words_as_text(classifier):
    assert repr(classifier.top_terms(1)[1]) == "CategoryWords('grain': corn 0.60)"
