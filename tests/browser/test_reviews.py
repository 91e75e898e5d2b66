"""A review on the page, from a dropped file to an export.

Duplicates, keys, reasons, two reviewers and conflicts.
"""

import re

import pytest

from bayesift.references import read_references
from tests.browser.conftest import PATIENCE
from tests.browser.pages import becomes_true, expect, go
from tests.browser.server import Server, wheat
from tests.screening.test_full_texts import OTHER, PDF
from tests.servers import new_database
from tests.service.test_reviews import ris


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(request, server, tmp_path_factory):
    """The service of all tests, and one on PostgreSQL."""
    if request.param == "sqlite":
        yield server
        return
    database = new_database(request.getfixturevalue("postgres"))
    other = Server(tmp_path_factory.mktemp("postgresql") / "data", database)
    yield other
    other.stop()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pubmed.ris").write_bytes(ris(0, 20))
    (tmp_path / "scopus.ris").write_bytes(ris(15, 30))
    return [tmp_path / "pubmed.ris", tmp_path / "scopus.ris"]


def begin(page, files, name, *, double=False):
    go(page, "#/new-review")
    page.locator("#records").set_input_files(files)
    expect(page.locator(".upload")).to_have_count(len(files))
    expect(page.get_by_text("duplicates; ")).to_be_visible()
    page.get_by_label("Name of the review").fill(name)
    page.get_by_label("What are you looking for?").fill("wheat and corn harvest")
    page.get_by_label("Reasons to exclude").fill("off topic\nno data")
    if double:
        page.get_by_label("Two reviewers decide").check()
    page.get_by_role("button", name="Begin screening").click()
    expect(page.locator(".paper h2")).to_be_visible()
    return re.search(r"review/([0-9a-f]{16})", page.url)[1]


def title(page):
    return page.locator(".paper h2")


def decide(page, key):
    """Press a key and wait for the next record."""
    before = title(page).inner_text()
    page.keyboard.press(key)
    expect(title(page)).not_to_have_text(before)
    return before


def test_a_review_from_files_to_a_file(server, visit, files, tmp_path):
    page = visit(server)
    review = begin(page, files, "from files")
    expect(page.locator(".evidence")).to_contain_text("0 of 30 records")
    expect(page.locator(".evidence")).to_contain_text("Cannot tell yet what is left")
    included = decide(page, "i")
    assert "grain" in included
    decide(page, "m")
    before = title(page).inner_text()
    page.keyboard.press("r")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("2")
    expect(title(page)).not_to_have_text(before)
    expect(page.locator(".evidence")).to_contain_text(
        "3 of 30 records decided: 1 included, 1 maybe, 1 excluded"
    )
    page.keyboard.press("u")
    expect(title(page)).to_have_text(before)
    page.keyboard.press("n")
    page.get_by_role("dialog").get_by_label("Note").fill("look at the tables")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".note")).to_contain_text("look at the tables")
    page.keyboard.press("w")
    expect(page.locator(".paper mark").first).to_be_visible()
    page.keyboard.press("s")
    expect(title(page)).not_to_have_text(before)

    go(page, f"#/review/{review}/records")
    page.get_by_label("Search titles").fill("crude")
    expect(page.locator("main").get_by_text("10 records")).to_be_visible()
    page.get_by_label("Search titles").fill("")
    page.get_by_label("Status").select_option("included")
    expect(page.locator(".rows li")).to_have_count(1)
    page.get_by_role("link", name=included).click()
    expect(title(page)).to_have_text(included)
    page.get_by_role("button", name="Exclude", exact=True).click()
    expect(page.get_by_role("button", name="Exclude", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    page.get_by_role("button", name="Include").click()
    expect(page.get_by_role("button", name="Include")).to_have_attribute("aria-pressed", "true")

    go(page, f"#/review/{review}/numbers")
    expect(page.locator("img.flow")).to_be_visible()
    assert becomes_true(page, "document.querySelector('img.flow').naturalWidth > 100")
    page.get_by_role("button", name="Stop screening").click()
    page.get_by_label("Why do you stop here?").fill("time is over")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".methods")).to_contain_text("time is over")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download", exact=True).click()
    download.value.save_as(tmp_path / "out.ris")
    again = read_references(tmp_path / "out.ris")
    assert len(again) == 30
    assert sum(bool(reference.included) for reference in again) == 1
    assert sum(bool(reference.decisions) for reference in again) == 2


def test_two_blind_reviewers_resolve_a_conflict(server, visit, files):
    page = visit(server)
    review = begin(page, files, "two reviewers", double=True)
    mine = decide(page, "i")
    token = server.person("second")
    other = visit(server, token, f"#/review/{review}/screen")
    expect(title(other)).to_have_text(mine)
    expect(other.locator(".history li")).to_have_count(0)
    before = title(other).inner_text()
    other.keyboard.press("e")
    expect(title(other)).not_to_have_text(before)
    go(page, f"#/review/{review}/conflicts")
    expect(page.get_by_role("article")).to_contain_text(mine)
    expect(page.get_by_role("article")).to_contain_text("second")
    page.get_by_role("button", name="Include").click()
    expect(page.get_by_text("No conflicts")).to_be_visible()
    go(page, f"#/review/{review}/numbers")
    expect(page.locator("main")).to_contain_text("kappa")


def test_criteria_stay_in_view_and_words_are_highlighted(server, visit, files):
    page = visit(server)
    review = begin(page, files, "criteria")
    go(page, f"#/review/{review}/settings")
    page.get_by_label("Inclusion criteria").fill("\n".join(f"Criterion {n}" for n in range(40)))
    page.get_by_label("Words to highlight for inclusion").fill("grain, wheat*\nwinter corn")
    page.get_by_label("Words to highlight for exclusion").fill("harvest")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    go(page, f"#/review/{review}/screen")
    chosen = page.locator(".paper mark.chosen")
    expect(chosen.first).to_be_visible()
    sides = set(chosen.evaluate_all("marks => marks.map(mark => mark.className)"))
    assert sides <= {"chosen include", "chosen exclude"}
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator(".criteria")).to_be_in_viewport(ratio=0.5)
    scrolls = "box => box.scrollHeight > box.clientHeight && box.clientHeight < 500"
    assert page.locator(".criteria").evaluate(scrolls)
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(page.locator(".criteria")).not_to_have_attribute("open", "")
    page.locator(".criteria summary").click()
    expect(page.get_by_text("Criterion 39")).to_be_visible()


def test_a_pdf_is_attached_shown_and_replaced_only_after_a_question(
    server, visit, files, tmp_path
):
    (tmp_path / "one.pdf").write_bytes(PDF)
    (tmp_path / "two.pdf").write_bytes(OTHER)
    page = visit(server)
    review = begin(page, files, "full texts")
    page.keyboard.press("f")
    page.get_by_label("PDF of the full text").set_input_files(tmp_path / "one.pdf")
    link = page.get_by_role("link", name="PDF: one.pdf")
    expect(link).to_be_visible()
    content = page.request.get(server.url + link.get_attribute("href")).body()
    assert content == PDF
    record = record_of(page)
    other = visit(server, server.person("third"), f"#/review/{review}/record/{record}")
    other.get_by_role("button", name="Full text").click()
    place = other.get_by_label("Another PDF instead")
    place.set_input_files(tmp_path / "two.pdf")
    expect(other.locator(".notice")).to_contain_text("one.pdf, attached by admin")
    other.get_by_label("Replace or remove the file of admin").check()
    place.set_input_files(tmp_path / "two.pdf")
    expect(other.get_by_role("link", name="PDF: two.pdf")).to_be_visible()
    other.get_by_role("button", name="Full text").click()
    other.get_by_role("button", name="Remove the PDF").click()
    expect(other.get_by_role("link", name="PDF:")).to_have_count(0)


def test_a_review_says_where_it_could_have_stopped(server, visit, files):
    page = visit(server)
    review = begin(page, files, "look back")
    for key in ("i", "e"):
        decide(page, key)
    go(page, f"#/review/{review}/numbers")
    page.get_by_role("button", name="Look back").click()
    expect(page.get_by_text("This review is not finished: 28 of 30 records")).to_be_visible()
    expect(
        page.get_by_text("does not yet say stop after these 2 records").first
    ).to_be_visible()
    expect(page.locator(".methods")).to_contain_text("It ranks the records by a linear model")


def record_of(page):
    """The number of the record in front."""
    return re.search(r"Record (\d+)", page.locator(".paper .meta").inner_text())[1]


def test_duplicates_are_joined_by_hand_and_split_again(server, visit, files):
    page = visit(server)
    review = begin(page, files, "by hand")
    record = record_of(page)
    mine = title(page).inner_text()
    page.keyboard.press("d")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Search titles").fill("report crude")
    other = dialog.get_by_role("button", name=re.compile(r"Join record \d+")).first
    expect(dialog.locator(".found li").first).to_contain_text("crude")
    joined = re.search(r"\d+", other.get_attribute("aria-label"))[0]
    other.click()
    expect(page.locator(".history")).to_contain_text("Joined from")
    expect(title(page)).to_have_text(mine)
    assert server.ask("GET", f"reviews/{review}")["progress"]["records"] == 29
    go(page, f"#/review/{review}/record/{record}")
    page.get_by_role("button", name="Split").click()
    expect(page.get_by_role("button", name="Split")).to_have_count(0)
    assert server.ask("GET", f"reviews/{review}")["progress"]["records"] >= 30
    assert joined != record


def test_the_full_text_of_a_record_is_a_link_or_the_name_of_a_file(server, visit, files):
    page = visit(server)
    review = begin(page, files, "full texts")
    link = page.get_by_role("link", name="Full text", exact=True)
    for place in ("smith-2001.pdf", "https://example.org/smith.pdf"):
        page.keyboard.press("f")
        page.get_by_role("dialog").get_by_label("Full text", exact=True).fill(place)
        page.get_by_role("button", name="Save").click()
        shown = link if place.startswith("https") else page.get_by_text(f"Full text: {place}")
        expect(shown).to_be_visible()
        assert (
            server.ask("GET", f"reviews/{review}/records/{record_of(page)}")["full_text"]
            == place
        )
    expect(link).to_have_attribute("href", place)


def test_a_review_is_begun_from_another_one_and_from_documents(server, visit, files):
    page = visit(server)
    first = begin(page, files, "the first of two")
    decide(page, "i")
    go(page, "#/new-review")
    page.get_by_role("button", name="From a review").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Review").select_option(first)
    dialog.get_by_label("Records").select_option("included")
    dialog.get_by_label("With their decisions").check()
    dialog.get_by_role("button", name="Take them").click()
    expect(page.locator(".upload")).to_contain_text("1 record (review")
    server.ask(
        "POST", "documents/batch", {"documents": [wheat(f"taken-{n}", n) for n in range(3)]}
    )
    page.get_by_role("button", name="From added documents").click()
    dialog.get_by_label("Maximum number").fill("3")
    dialog.get_by_role("button", name="Take them").click()
    expect(page.locator(".upload").last).to_contain_text("3 records (documents")
    expect(page.get_by_text("4 to screen")).to_be_visible()
    page.get_by_role("button", name="Begin screening").click()
    expect(page.locator(".evidence")).to_contain_text("1 of 4 records decided: 1 included")


def test_a_file_that_is_none_is_refused_in_a_sentence(server, visit, tmp_path):
    page = visit(server, place="#/new-review")
    (tmp_path / "cat.ris").write_bytes(b"\x89PNG nothing to see")
    page.locator("#records").set_input_files(tmp_path / "cat.ris")
    expect(page.locator(".upload .error")).to_contain_text("Not read")
    expect(page.get_by_role("button", name="Begin screening")).to_be_disabled()


def test_a_review_is_deleted_and_restored(server, visit, files):
    page = visit(server)
    review = begin(page, files, "to be deleted")
    go(page, f"#/review/{review}/settings")
    page.get_by_role("button", name="Delete this review").click()
    page.get_by_role("button", name="Restore to be deleted").click()
    expect(page.get_by_role("link", name="to be deleted")).to_be_visible()


def test_the_first_admin_is_set_up_on_the_first_page(browser, tmp_path):
    fresh = Server(tmp_path / "fresh")
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    try:
        page = context.new_page()
        page.goto(fresh.url)
        page.get_by_label("Your name").fill("ann")
        page.get_by_role("button", name="Set up").click()
        token = page.locator(".token code").inner_text()
        page.get_by_role("button", name="I have kept it").click()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Your token").wait_for()
        expect(page.get_by_label("Your name")).to_have_count(0)
        assert [user["name"] for user in fresh.ask("GET", "users", token=token)] == ["ann"]
    finally:
        context.close()
        fresh.stop()
