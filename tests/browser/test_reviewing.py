"""What reviewers do, by keys and by mouse, as the server's own answers confirm it."""

import json

import pytest

from tests.browser.pages import expect, go, heading, judged, queue_of, wait_saved
from tests.browser.server import wheat


@pytest.fixture
def full(server, request):
    """A profile of this test's own with eight documents waiting."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:60]
    server.filter(name)
    server.feed(name)
    return name


def test_create_feed_and_judge_by_keys(server, visit, tmp_path):
    page = visit(server, place="#/new")
    page.get_by_label("Name").fill("made in the browser")
    page.get_by_label("What are you looking for?").fill("wheat harvest and exports")
    page.get_by_label("Keywords for").fill("tonnes, season")
    page.get_by_label("Keywords against").fill("football")
    page.get_by_label("Also look at documents").uncheck()
    page.get_by_role("button", name="Create filter").click()
    expect(page.locator("main h1")).to_have_text("made in the browser")
    expect(page.locator(".paper")).to_contain_text("No documents were added yet")

    go(page, "#/add")
    page.get_by_role("textbox", name="Title").fill("Wheat harvest pasted")
    page.get_by_role("textbox", name="Text").fill(
        "A wheat harvest; exports of wheat in tonnes."
    )
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Added.")).to_be_visible()
    lines = tmp_path / "more.jsonl"
    lines.write_text(
        "".join(json.dumps(wheat(f"file-{n}", 1_000 + n)) + "\n" for n in range(120))
        + "no JSON\n"
    )
    page.locator("#files").set_input_files(lines)
    expect(page.locator(".upload")).to_contain_text(
        "Done · 120 added, 0 already known, 1 rejected"
    )
    expect(page.locator(".rejections")).to_contain_text("line 121 is not JSON")

    go(page, queue_of("made in the browser"))
    expect(heading(page)).to_be_visible()
    page.keyboard.press("r")
    expect(page.locator(".queue li").first).to_contain_text("✓ relevant")
    page.keyboard.press("n")
    wait_saved(page)
    said = judged(server, "made in the browser")
    assert sorted(relevant for _, relevant in said.values()) == [False, True]
    words = {
        word["word"]: word["strength"]
        for word in server.ask("GET", "filters/made in the browser/words")
    }
    assert words == {"tonnes": 1, "season": 1, "football": -1}


def test_next_previous_and_undo(server, visit, full):
    page = visit(server, place=queue_of(full))
    first = heading(page).inner_text()
    page.keyboard.press("j")
    expect(heading(page)).not_to_have_text(first)
    page.keyboard.press("k")
    expect(heading(page)).to_have_text(first)
    assert heading(page).evaluate("node => document.activeElement === node")
    page.keyboard.press("r")
    expect(heading(page)).not_to_have_text(first)
    wait_saved(page)
    assert len(judged(server, full)) == 1
    page.keyboard.press("u")
    expect(heading(page)).to_have_text(first)
    wait_saved(page)
    assert judged(server, full) == {}
    page.keyboard.press("n")
    wait_saved(page)
    assert [relevant for _, relevant in judged(server, full).values()] == [False]


def test_a_judgement_can_be_changed_and_taken_back_later(server, visit, full):
    page = visit(server, place=queue_of(full))
    page.keyboard.press("r")
    page.keyboard.press("k")
    page.get_by_role("button", name="Not relevant").click()
    wait_saved(page)
    assert [relevant for _, relevant in judged(server, full).values()] == [False]
    go(page, f"#/filter/{full}/judgements")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No judgements yet")).to_be_visible()
    assert judged(server, full) == {}


def test_buttons_do_what_keys_do(server, visit, full):
    page = visit(server, place=queue_of(full))
    page.get_by_role("button", name="Relevant", exact=True).click()
    page.get_by_role("button", name="Not relevant").click()
    wait_saved(page)
    assert sorted(relevant for _, relevant in judged(server, full).values()) == [False, True]
    page.get_by_role("button", name="Undo").click()
    wait_saved(page)
    assert [relevant for _, relevant in judged(server, full).values()] == [True]


def test_teach_a_word_by_typing_and_by_clicking(server, visit, full):
    page = visit(server, place=queue_of(full))
    page.keyboard.press("t")
    page.keyboard.type("tonnes")
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("“tonnes” is now evidence for")
    mark = page.locator(".text mark", has_text="wheat").first
    mark.click()
    page.get_by_role("dialog", name="Set a keyword").get_by_role(
        "button", name="against"
    ).click()
    expect(page.locator(".notice")).to_contain_text("“wheat” is now evidence against")
    taught = {
        word["word"]: word["strength"] for word in server.ask("GET", f"filters/{full}/words")
    }
    assert taught == {"tonnes": 1, "wheat": -1}
    expect(
        page.locator(".words", has_text="Against").get_by_text("wheat", exact=True)
    ).to_be_visible()
    go(page, f"#/filter/{full}/words")
    page.get_by_role("button", name="Remove the keyword wheat").click()
    expect(page.locator(".notice")).to_contain_text("not a keyword any more")
    assert [
        word["word"] for word in server.ask("GET", f"filters/{full}/words") if word["strength"]
    ] == ["tonnes"]


def test_teach_words_by_selecting(server, visit, full):
    page = visit(server, place=queue_of(full))
    page.locator(".text p").first.dblclick(position={"x": 60, "y": 12})
    bubble = page.get_by_role("dialog", name="Set a keyword")
    word = bubble.locator("strong").first.inner_text()
    bubble.get_by_role("button", name="for", exact=True).first.click()
    expect(page.locator(".notice")).to_contain_text(f"“{word}” is now evidence for")
    page.keyboard.press("Escape")
    expect(bubble).to_have_count(0)


def test_the_server_refuses_a_stop_word_and_the_page_says_so(server, visit, full):
    page = visit(server, place=queue_of(full))
    page.keyboard.press("t")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    expect(page.locator(".notice.failed")).to_contain_text("“the” was not saved")
    assert server.ask("GET", f"filters/{full}/words") == []


def test_two_reviewers_get_different_documents_and_see_conflicts(server, visit, full):
    ann, bob = (
        visit(server, server.person(f"{name}-{full}"), queue_of(full))
        for name in ("Ann", "Bob")
    )
    expect(ann.locator(".queue .title")).to_have_count(6)
    expect(bob.locator(".queue .title")).to_have_count(2)
    of_ann, of_bob = (
        set(page.locator(".queue .title").all_inner_texts()) for page in (ann, bob)
    )
    assert not of_ann & of_bob
    first = ann.locator(".queue .title").first.inner_text()
    ann.keyboard.press("r")
    wait_saved(ann)
    go(bob, f"#/filter/{full}/judgements")
    bob.get_by_role("link", name=first).click()
    expect(bob.locator(".standing")).to_contain_text(f"Ann-{full}")
    bob.get_by_role("button", name="Not relevant").click()
    expect(bob.locator(".notice.warn")).to_contain_text("judged this document differently")
    expect(ann.locator("[data-tab=conflicts] .number")).to_have_text("1")
    go(ann, f"#/filter/{full}/conflicts")
    expect(ann.locator(".stack .card")).to_contain_text(f"Ann-{full}: relevant")
    expect(ann.locator(".stack .card")).to_contain_text(f"Bob-{full}: not relevant")


def test_documents_that_arrive_are_shown_without_reloading(server, visit):
    server.filter("live")
    page = visit(server, place=queue_of("live"))
    expect(page.locator(".empty")).to_be_visible()
    server.feed("live", 2)
    expect(heading(page)).to_contain_text("Wheat harvest")
    expect(page.locator("[data-tab=queue] .number")).to_have_text("2")


def test_a_view_that_comes_late_does_not_stand_under_the_next_address(server, visit):
    page = visit(server, place="#/users")
    place = page.evaluate("""async () => {
        let answer;
        const fetched = window.fetch;
        window.fetch = () => new Promise(resolve => { answer = resolve; });
        location.hash = "#/";
        while (!answer) await new Promise(resolve => setTimeout(resolve, 10));
        window.fetch = fetched;
        // the hash's event is a task, the answer's view a chain of promises: the view is first
        location.hash = "#/new";
        answer({ ok: true, text: async () => "[]" });
        for (let turn = 0; turn < 1000; turn++) await null;
        return document.querySelector("main").dataset.place;
    }""")
    assert place == "#/users"
    expect(page.locator("main")).to_have_attribute("data-place", "#/new")
    expect(page.get_by_label("What are you looking for?")).to_be_visible()


def test_words_that_spoke_are_marked_by_weight(server, visit, full):
    page = visit(server, place=queue_of(full))
    entry = server.ask(
        "GET", f"filters/{full}/documents/{page.locator('.paper .id').inner_text()}"
    )
    forms = {form for word in entry["words"] for form in word["forms"] if word["weight"] > 0}
    assert {text.lower() for text in page.locator(".text mark.for").all_inner_texts()} <= forms
    assert "wheat" in forms
    expect(page.locator(".probability strong")).to_have_text(
        f"{round(100 * entry['probability'])}%"
    )
    expect(page.locator(".probability span").first).to_contain_text(
        f"{round(100 * entry['low'])}% to {round(100 * entry['high'])}%"
    )


def test_a_reader_looks_on(server, visit, full):
    page = visit(server, server.person(f"reader-{full}", "reader"), f"#/filter/{full}/overview")
    expect(page.get_by_role("link", name="Review", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    expect(page.get_by_role("link", name="Add documents")).to_have_count(0)


def test_every_tab_shows_something(server, visit, full):
    page = visit(server, place=queue_of(full))
    for key in "rrnrn":
        page.keyboard.press(key)
    wait_saved(page)
    for tab, text in {
        "Overview": "Learning curve",
        "Words": "Largest weights",
        "Topics": "document",
        "Conflicts": "No conflicts",
        "Judgements": "relevant",
    }.items():
        page.get_by_role("navigation", name="Filter").get_by_role("link", name=tab).click()
        expect(page.locator("main")).to_contain_text(text)
    go(page, f"#/filter/{full}/overview")
    with page.expect_download() as download:
        page.get_by_role("link", name="Judgements (CSV)").click()
    assert download.value.path().read_text(encoding="utf-8").count(full) == 5


def test_people_are_let_in_and_put_out(server, visit):
    page = visit(server, place="#/users")
    page.get_by_label("Name").fill("Carla")
    page.get_by_role("button", name="Add", exact=True).click()
    token = page.locator(".token code").inner_text()
    other = visit(server, token)
    expect(other.locator(".who")).to_contain_text("Carla")
    page.get_by_role("button", name="Remove Carla").click()
    page.get_by_role("button", name="Really remove?").click()
    expect(page.locator(".rows")).not_to_contain_text("Carla")
    go(other, "#/new")
    go(other, "#/")
    expect(other.get_by_label("Your token")).to_be_visible()


def test_a_profile_leaves_as_a_file_and_comes_back_under_another_name(server, visit, full):
    page = visit(server, place=f"#/filter/{full}/overview")
    with page.expect_download() as download:
        page.get_by_role("link", name="Filter (model file)").click()
    go(page, "#/")
    page.get_by_label("Import a filter").set_input_files(download.value.path())
    dialog = page.get_by_role("dialog", name="Import under another name")
    dialog.get_by_label("Name").fill(f"{full} again")
    dialog.get_by_role("button", name="Import").click()
    expect(page.locator(".notice")).to_contain_text(f"Imported “{full} again”")
    expect(page.locator(".cards")).to_contain_text(f"{full} again")


def test_a_profile_is_paused_and_deleted(server, visit, full):
    page = visit(server, place=f"#/filter/{full}/overview")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("h1 .tag")).to_have_text("paused")
    assert server.ask("GET", f"filters/{full}")["paused"]
    page.get_by_role("button", name="Delete …").click()
    page.get_by_label("Name of the filter").fill(full)
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("main h1")).to_have_text("Filters")
    assert full not in [profile["name"] for profile in server.ask("GET", "filters")]
