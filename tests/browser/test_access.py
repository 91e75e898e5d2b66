"""For everybody: names, landmarks, contrast, keys, phones, dark rooms."""

from pathlib import Path

import pytest

from tests.browser.models import topics_model
from tests.browser.pages import becomes_true, expect, go, heading, queue_of, wait_saved
from tests.service.test_reviews import ris

AUDIT = Path(__file__).with_name("audit.js").read_text(encoding="utf-8")
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
LONG = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 3


@pytest.fixture(scope="module")
def places(server):
    """Every view, with something in it: long words, a conflict, judgements, taught words."""
    server.filter(
        "full",
        query=f"wheat harvest and exports {LONG[:80]}",
        words={"tonnes": 1, "football": -1},
    )
    server.filter("empty")
    server.ask("PATCH", "filters/empty", {"paused": True})
    ids = server.feed("access", 12)
    text = f"Wheat harvest and exports {LONG}.\n\n- wheat\n- harvest"
    server.ask(
        "POST",
        "documents",
        {"id": f"long/{LONG[:150]}", "title": f"Wheat harvest exports {LONG}", "text": text},
    )
    other = server.person("Other")
    for number, id_ in enumerate(ids[:5]):
        server.ask(
            "POST", "filters/full/judgements", {"document": id_, "relevant": number != 2}
        )
    server.ask(
        "POST", "filters/full/judgements", {"document": ids[0], "relevant": False}, token=other
    )
    tabs = [
        f"#/filter/full/{tab}"
        for tab in (
            "queue",
            "overview",
            "words",
            "topics",
            "conflicts",
            "judgements",
            f"document/{ids[0]}",
        )
    ]
    pages = [
        "#/",
        "#/new",
        "#/add",
        "#/users",
        *tabs,
        "#/filter/empty/queue",
        "#/filter/empty/overview",
    ]
    server.send("models?name=topics", topics_model())
    pages += ["#/models", "#/model/topics"]
    return [*pages, "#/reviews", "#/new-review", *review_places(server, other)]


def review_places(server, other):
    """Every view of a review with decisions of two people, a conflict, a note and tags."""
    sent = server.send("uploads?name=a.ris", ris(0, 12))
    settings = {
        "query": f"wheat {LONG[:80]}",
        "criteria": "wheat\ncorn",
        "reasons": ["off topic"],
    }
    settings |= {"reviewers_per_record": 2, "full_texts": True}
    review_id = server.ask(
        "POST", "reviews", {"name": "full", "uploads": [sent["upload"]], "settings": settings}
    )["id"]
    for record, verdicts in (
        ("1", ("included", "excluded")),
        ("2", ("included", "included")),
        ("3", ("excluded",) * 2),
    ):
        for token, verdict in zip((None, other), verdicts, strict=True):
            body = {"record": record, "verdict": verdict}
            server.ask(
                "POST",
                f"reviews/{review_id}/decisions",
                body,
                **({"token": token} if token else {}),
            )
    server.ask("POST", f"reviews/{review_id}/records/1/notes", {"text": LONG})
    views = (
        "screen",
        "screen/full text",
        "records",
        "record/1",
        "conflicts",
        "numbers",
        "settings",
    )
    return [f"#/review/{review_id}/{view}" for view in views]


def settle(page):
    page.wait_for_load_state("networkidle") if page.url.count(
        "/filter/"
    ) == 0 else page.wait_for_timeout(300)


def scrolls_sideways(page):
    """Whether the page scrolls sideways after layout.

    Pictures follow a new width of the window with the next frames.
    """
    return not becomes_true(page, "document.documentElement.scrollWidth <= innerWidth")


def test_every_view_lacks_nothing(server, visit, places):
    """Each view is loaded once and audited light and dark, on a desktop and on a phone."""
    page = visit(server)
    lacks = {}
    for place in places:
        go(page, place)
        settle(page)
        for name, viewport in (("desktop", DESKTOP), ("phone", PHONE)):
            page.set_viewport_size(viewport)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                found = page.evaluate(AUDIT)
                if scrolls_sideways(page):
                    found.append("scrolls sideways")
                if found:
                    lacks[place, name, scheme] = found
    assert lacks == {}


def test_a_view_loaded_on_a_phone_in_the_dark_lacks_nothing(server, visit, places):
    page = visit(server, place=queue_of("full"), color_scheme="dark", viewport=PHONE)
    settle(page)
    assert page.evaluate(AUDIT) == []
    assert not scrolls_sideways(page)


def test_signing_in_lacks_nothing(server, visit):
    page = visit(server, viewport=PHONE)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Your token").wait_for()
    assert page.evaluate(AUDIT) == []


def test_the_audit_finds_what_is_wrong(server, visit):
    page = visit(server)
    page.evaluate("""() => {
        const main = document.querySelector("main"), make = tag => document.createElement(tag);
        const grey = make("p");
        grey.textContent = "hardly to be read";
        grey.style.color = "#999";
        grey.style.background = "#fff";
        main.append(grey, make("button"), make("img"), make("h4"));
        main.lastChild.textContent = "leap";
    }""")
    found = " ".join(page.evaluate(AUDIT))
    for trouble in ("contrast 2.85", "no name: button", "no alt: img", "heading leaps"):
        assert trouble in found


def test_light_and_dark_can_be_chosen(server, visit):
    page = visit(server, color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    for _ in range(2):
        page.get_by_role("button", name="Theme").click()
    dark = page.evaluate(paper)
    assert light != dark
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate(paper) == dark
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate(paper) == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(paper) == dark


def test_help_by_key_and_keys_that_can_be_off(server, visit, places):
    page = visit(server, place=queue_of("full"))
    first = heading(page).inner_text()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_contain_text("undo the last judgement")
    page.keyboard.press("r")
    dialog.get_by_label("Single-key shortcuts are on").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("n")
    expect(heading(page)).to_have_text(first)


def test_everything_is_reached_by_tab_and_focus_is_seen(server, visit, places):
    page = visit(server, place=queue_of("full"))
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate(
                "document.activeElement.getAttribute('aria-label') || "
                "document.activeElement.textContent.trim()"
            )
        )
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none" or page.evaluate("document.activeElement === document.body")
    assert {"Not relevant", "Relevant", "Evidence for", "Evidence against"} <= seen


def test_a_judgement_is_announced(server, visit, places):
    page = visit(server, place=queue_of("full"))
    expect(heading(page)).to_be_visible()
    page.keyboard.press("r")
    expect(page.locator("#speech")).to_contain_text("Judged relevant. Next: ")
    page.keyboard.press("u")
    expect(page.locator("#speech")).to_contain_text("Undone: ")
    wait_saved(page)


def test_judging_on_a_phone(server, visit, places):
    page = visit(server, place=queue_of("full"), viewport=PHONE, has_touch=True)
    first = heading(page).inner_text()
    page.get_by_role("button", name="Relevant", exact=True).tap()
    expect(heading(page)).not_to_have_text(first)
    page.get_by_role("button", name="Undo").tap()
    expect(heading(page)).to_have_text(first)
    wait_saved(page)
