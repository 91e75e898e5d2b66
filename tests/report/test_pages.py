import base64
import hashlib
import re

import pytest

from bayesift.classifier import WordWeight
from bayesift.evaluation.scores import CategoryScores
from bayesift.report import (
    ComparisonContent,
    EvaluationContent,
    Measure,
    Mistake,
    Span,
    System,
    comparison_report,
    evaluation_report,
)
from tests.report.hostile import CURVE, SCRIPT, hostile_comparison, hostile_evaluation
from tests.report.reading import read

PAGES = {
    "evaluation": lambda: evaluation_report(hostile_evaluation()),
    "comparison": lambda: comparison_report(hostile_comparison()),
}


@pytest.fixture(scope="module", params=PAGES)
def page(request):
    return PAGES[request.param]()


def test_hostile_content_stays_text(page):
    reader = read(page)
    assert reader.tags.count("script") == 1
    assert not {"img", "iframe", "link", "object", "embed", "base", "form"} & set(reader.tags)
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert SCRIPT in reader.text
    page.encode("utf-8")


def test_nothing_is_loaded_and_the_policy_forbids_it(page):
    reader = read(page)
    assert not {"src", "srcset", "data", "action"} & {name for _, name, _ in reader.attributes}
    assert all(target.startswith("#") for target in reader.values("href"))
    assert not re.search(r"@import|url\(", page)
    assert any(value.startswith("default-src 'none'") for value in reader.values("content"))


def test_the_policy_allows_our_script_only(page):
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [value for value in read(page).values("content") if "script-src" in value]
    assert f"script-src 'sha256-{digest}'" in policy


def test_megabytes_of_text_make_no_megabytes_of_page(page):
    assert len(page) < 400_000


def test_contents_lead_somewhere(page):
    reader = read(page)
    targets = {target[1:] for target in reader.values("href")}
    assert targets
    assert targets <= set(reader.values("id"))


def test_pictures_have_names(page):
    reader = read(page)
    drawn = [value for tag, name, value in reader.attributes if tag == "svg" and name == "role"]
    hidden = [
        value
        for tag, name, value in reader.attributes
        if tag == "svg" and name == "aria-hidden"
    ]
    assert len(drawn) + len(hidden) == reader.tags.count("svg")
    assert reader.tags.count("title") == len(drawn) + 1


def test_what_is_missing_is_left_out():
    reader = read(evaluation_report(EvaluationContent("Nothing", (), (), ())))
    assert "section" not in reader.tags
    one = EvaluationContent("One", (), (), (), curves={"corn": CURVE})
    assert "Reliability" not in read(evaluation_report(one)).text


def test_categories_are_sorted_by_size():
    rows = tuple(
        CategoryScores(name, size, 1, 1, 1.0, 1.0, 1.0)
        for name, size in (("oats", 2), ("corn", 9), ("rye", 2))
    )
    text = read(evaluation_report(EvaluationContent("", (), (), rows))).text
    assert text.index("corn") < text.index("oats") < text.index("rye")


def mistake_text(**changes):
    mistake = {
        "document": "7",
        "category": "spam",
        "assigned": True,
        "truth": ("ham",),
        "decided": ("spam",),
        "confidence": 1.0,
        "excerpt": (Span("Free lunch"),),
    }
    content = EvaluationContent("", (), (), (), mistakes=(Mistake(**{**mistake, **changes}),))
    return read(evaluation_report(content)).text


def test_mistakes_are_described_in_sentences():
    assert "Assigned to spam, over 99.99% certain. It belongs to ham." in mistake_text()
    assert "Missed spam. It belongs to no category; the model assigned none." in mistake_text(
        assigned=False, truth=(), decided=(), confidence=None
    )
    several = mistake_text(
        decided=("spam", "work"), confidence=0.75, prior=-2.0, unseen_share=0.5
    )
    assert (
        "Wrongly assigned to spam, 75.0% certain. It belongs to ham; the model assigned spam work."
        in several
    )
    assert "Prior log odds: \N{MINUS SIGN}2.0. 50.0% of its words are new" in several


def test_only_informative_words_are_marked():
    spans = (
        Span("Free", 4.0),
        Span(" and "),
        Span("cheap", 1.0),
        Span(" "),
        Span("lunch", -0.5),
    )
    words = (WordWeight("free", 4.0), WordWeight("cheap", 1.0), WordWeight("lunch", -0.5))
    mistake = Mistake("7", "spam", True, ("ham",), ("spam",), 0.9, spans, words)
    reader = read(evaluation_report(EvaluationContent("", (), (), (), mistakes=(mistake,))))
    assert [
        value for tag, name, value in reader.attributes if (tag, name) == ("mark", "class")
    ] == [
        "for strong",
        "for",
    ]


def test_the_best_system_is_bold():
    systems = tuple(
        System(
            name,
            (Measure("F1", f1, "", headline=True), Measure("log loss", loss, "", rising=False)),
        )
        for name, f1, loss in (("a", 0.8, 0.4), ("b", 0.7, 0.3))
    )
    page = comparison_report(ComparisonContent("", (), systems))
    assert re.findall(r'class="numeric best">([\d.]+)<', page) == ["0.800", "0.300"]
    assert "Significance" not in page


def test_systems_without_probabilities_are_compared_with_others():
    with_loss = System(
        "naive-bayes",
        (Measure("accuracy", 0.8, ""), Measure("log loss", 0.4, "", rising=False)),
    )
    without = System("svm", (Measure("accuracy", 0.9, ""),))
    for systems in ((with_loss, without), (without, with_loss)):
        page = comparison_report(ComparisonContent("", (), systems))
        assert re.findall(r'class="numeric best">([\d.]+)<', page) == ["0.900", "0.400"]
        assert ">–</td>" in page
