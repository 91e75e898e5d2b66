"""Parts of the page that need no server, against Python's own answers."""

import json

import pytest

from tests.browser.conftest import PATIENCE
from tests.browser.server import Server

DOCUMENTS = """async ([name, text]) => {
    const { documentsOf } = await import("./static/views/filters/document_files.js");
    const found = [];
    for await (const one of documentsOf(new File([text], name))) found.push(one);
    return found;
}"""
CALL = "async ([file, name, ...given]) => (await import(`./static/${file}`))[name](...given)"
MARKED = """async ([text, words]) => {
    const { markedText } = await import("./static/highlight.js");
    const pair = mark => [mark.textContent, mark.className];
    const marks = node => [...node.querySelectorAll("mark")].map(pair);
    return markedText(text, words).map(node => [node.textContent, marks(node)]);
}"""


@pytest.fixture(scope="module")
def page(server: Server, browser):
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    opened.goto(server.url)
    yield opened
    context.close()


def test_files_become_documents_and_bad_lines_are_named(page):
    lines = [
        {"id": 7, "title": "One", "text": "first"},
        {"abstract": "second"},
        {"other": 1},
        [1],
    ]
    found = page.evaluate(
        DOCUMENTS, ["a.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n{broken"]
    )
    assert found[0] == {
        "document": {"id": "7", "title": "One", "text": "first", "source": "a.jsonl"}
    }
    assert found[1]["document"]["text"] == "second"
    assert [(one["line"], one["rejected"][:12]) for one in found[2:]] == [
        (3, "has none of "),
        (4, "is not an ob"),
        (6, "is not JSON"),
    ]


def test_documents_without_an_id_get_one_of_their_content(page):
    texts = ["wheat", "wheat ", "Wheat", "", "\x00", "wheat\nwheat", "a" * 5000, "a" * 5001]
    ids = [
        page.evaluate(CALL, ["views/filters/document_files.js", "fingerprint", text])
        for text in texts
    ]
    assert len(set(ids)) == len(texts)
    assert ids == [
        page.evaluate(CALL, ["views/filters/document_files.js", "fingerprint", text])
        for text in texts
    ]
    assert all(len(id_) == 24 for id_ in ids)


def test_wrapped_lines_flow_and_lists_stay(page):
    wrapped = (
        "The harvest began early this year and\nis expected to last until the end of\nOctober.\n\n"
        "A new paragraph follows here, which is\nwrapped alike."
    )
    flowing = page.evaluate(CALL, ["highlight.js", "paragraphs", wrapped])
    assert flowing == [part.replace("\n", " ") for part in wrapped.split("\n\n")]
    listed = (
        "We need:\n- wheat\n- corn\n- a very long line that tells of barley and of oats "
        "and of rye"
    )
    assert page.evaluate(CALL, ["highlight.js", "paragraphs", listed]) == [listed]


def test_words_are_marked_by_their_forms_and_weights(page):
    words = [
        {"word": "harvest", "weight": 2.0, "forms": ["harvest", "harvests"]},
        {"word": "wheat", "weight": 0.5, "forms": ["wheat"]},
        {"word": "ball", "weight": -1.2, "forms": ["ball"]},
        {"word": "season", "weight": 0.01, "forms": ["season"]},
    ]
    ((text, marks),) = page.evaluate(
        MARKED, ["Harvests of WHEAT, a ball; ballroom season.", words]
    )
    assert text == "Harvests of WHEAT, a ball; ballroom season."
    assert marks == [
        ["Harvests", "for level-3"],
        ["WHEAT", "for level-2"],
        ["ball", "against level-3"],
    ]


def test_characters_of_scripts_without_spaces_share_the_weights_of_their_ngrams(page):
    weights = {"小麦": 2.0, "小": 0.5, "球": -1.0, "ไทย": 1.5, "wheat": 1.0}
    words = [
        {"word": word, "weight": weight, "forms": [word]} for word, weight in weights.items()
    ]
    ((text, marks),) = page.evaluate(MARKED, ["Wheat小麦和球, ภาษาไทย!", words])
    assert text == "Wheat小麦和球, ภาษาไทย!"
    assert [mark for mark, _ in marks] == ["Wheat", "小", "麦", "球", "ไ", "ท", "ย"]
    assert [side.split()[0] for _, side in marks] == [
        "for",
        "for",
        "for",
        "against",
        "for",
        "for",
        "for",
    ]


def test_words_for_and_against_a_new_profile(page):
    strengths = page.evaluate(
        CALL,
        [
            "views/filters/new_filter.js",
            "wordStrengths",
            "Wheat, corn;",
            " football,constructor",
        ],
    )
    assert strengths == {"wheat": 1, "corn": 1, "football": -1, "constructor": -1}


@pytest.mark.parametrize(
    ("highest", "expected"),
    [(3, [0, 1, 2, 3]), (20, [0, 5, 10, 15, 20]), (47, [0, 20, 40]), (1000, [0, 500, 1000])],
)
def test_axes_have_round_numbers(page, highest, expected):
    assert page.evaluate(CALL, ["charts.js", "ticks", highest]) == expected
