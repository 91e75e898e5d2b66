"""Whatever documents and people write is text: nothing of it runs, loads or becomes markup."""

from pathlib import Path
from urllib.parse import quote

import pytest

import bayesift
from tests.browser.pages import expect, go, wait_saved

ATTACKS = {
    "script": "<script>window.hacked = 1</script>",
    "image": "<img src=x onerror='window.hacked = 1'>",
    "vector": "<svg onload='window.hacked = 1'><a href='javascript:window.hacked = "
    "1'>wheat</a></svg>",
    "closing": "</textarea></title></style></script><iframe srcdoc='<script>parent.hacked = "
    "1</script>'>",
    "attribute": '" autofocus onfocus="window.hacked = 1" x=\'',
    "template": "${window.hacked = 1} {{constructor.constructor('window.hacked = 1')()}}",
    "direction": "\u202ewheat\u202d &lt;b&gt;",
}
PAGE = Path(bayesift.__file__).parent / "service" / "page"
NAME = "<img src=x onerror=window.hacked=1> \"'&"
MADE = (
    "main :is(script, img, iframe, style, [onload], [onerror], [onfocus], [onclick], "
    "[href^=javascript])"
)


@pytest.fixture(scope="module")
def attacked(server):
    server.filter(NAME, query=f"wheat harvest {ATTACKS['image']}")
    documents = [
        {
            "id": f"{kind}<b>&",
            "title": f"wheat harvest {attack}",
            "text": f"wheat harvest exports {attack} wheat",
        }
        for kind, attack in ATTACKS.items()
    ]
    server.ask("POST", "documents/batch", {"documents": documents})
    return server.person("<b onclick=hacked()>Mallory")


def encoded(page, view):
    return page.evaluate(
        "([name, view]) => `#/filter/${encodeURIComponent(name)}/${view}`", [NAME, view]
    )


def unharmed(page):
    assert page.evaluate("window.hacked") is None
    assert page.locator(MADE).count() == 0


def test_documents_are_shown_as_they_are_written(server, visit, attacked):
    page = visit(server, attacked)
    for kind, attack in ATTACKS.items():
        go(page, encoded(page, f"document/{quote(f'{kind}<b>&', safe='')}"))
        expect(page.locator(".paper h2")).to_have_text(f"wheat harvest {attack}")
        expect(page.locator(".text")).to_contain_text(attack)
        unharmed(page)


def test_hostile_documents_are_judged_and_taught(server, visit, attacked):
    page = visit(server, attacked)
    go(page, encoded(page, "queue"))
    expect(page.locator("main h1")).to_have_text(NAME)
    for key in "rn":
        expect(page.locator(".paper h2")).to_contain_text("wheat harvest")
        page.locator(".text mark").first.click()
        expect(page.get_by_role("dialog", name="Set a keyword")).to_be_visible()
        unharmed(page)
        page.keyboard.press(key)
    wait_saved(page)
    unharmed(page)


def test_every_view_survives_hostile_names_and_words(server, visit, attacked):
    page = visit(server, attacked)
    go(page, encoded(page, "words"))
    for word in ("onerror", "hacked"):
        page.get_by_label("Keyword", exact=True).fill(word)
        page.get_by_role("button", name="Evidence for", exact=True).click()
        expect(page.locator(".notice")).to_contain_text(f"“{word}”")
    for view in (
        "queue",
        "overview",
        "words",
        "topics",
        "conflicts",
        "judgements",
        "document/script%3Cb%3E%26",
    ):
        go(page, encoded(page, view))
        expect(page.locator("main h1")).to_have_text(NAME)
        page.wait_for_timeout(200)
        unharmed(page)
    for place in ("#/", "#/<img src=x onerror=window.hacked=1>", "#/filter/%E0%A4%A/queue"):
        go(page, place)
        unharmed(page)


def test_hostile_people_and_files(server, visit, attacked, tmp_path):
    page = visit(server, place="#/users")
    expect(page.locator(".people")).to_contain_text("<b onclick=hacked()>Mallory")
    unharmed(page)
    go(page, "#/add")
    file = tmp_path / "<img src=x onerror=window.hacked=1>.jsonl"
    file.write_text("<script>\n")
    page.locator("#files").set_input_files(file)
    expect(page.locator(".upload")).to_contain_text("1 rejected")
    unharmed(page)


def test_the_page_may_load_and_run_only_its_own_files(server, visit):
    page = visit(server)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.locator("main h1").wait_for()
    assert asked
    assert all(url.startswith(server.url) for url in asked)
    policy = page.request.get(server.url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_no_source_of_the_page_parses_strings_as_markup():
    for path in PAGE.rglob("*.js"):
        source = path.read_text(encoding="utf-8")
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "srcdoc",
            'setAttribute("style',
            "http://",
            "https://",
        ):
            assert way not in _without_known(source), f"{path.name} uses {way}"
    assert "<style" not in (PAGE / "index.html").read_text(encoding="utf-8")


def _without_known(source):
    """The source without the name of SVG and the two addresses that people may follow.

    The page loads nothing there.
    """
    for address in (
        "http://www.w3.org/2000/svg",
        "https://doi.org/",
        "https://pubmed.ncbi.nlm.nih.gov/",
    ):
        source = source.replace(address, "")
    return source
