"""Fitted models on the page: try a text, see the reasons, correct, choose a version."""

import csv
import io
import urllib.request

from tests.browser.models import topics_model
from tests.browser.pages import expect


def test_a_text_is_classified_as_it_is_typed_and_its_words_are_marked(server, visit):
    server.send("models?name=tried", topics_model())
    page = visit(server, place="#/model/tried")
    page.get_by_label("text", exact=True).fill("Wheat harvest, barley and qwertz")
    expect(page.get_by_role("heading", name="grain", exact=True)).to_be_visible()
    expect(page.get_by_text("of the words are not known")).to_contain_text("qwertz")
    expect(page.locator("mark.for").first).to_have_text("Wheat")
    page.get_by_label("text", exact=True).fill("crude oil tanker")
    expect(page.get_by_role("heading", name="crude", exact=True)).to_be_visible()


def test_a_correction_is_kept_as_a_label(server, visit):
    server.send("models?name=corrected", topics_model())
    page = visit(server, place="#/model/corrected")
    page.get_by_label("text", exact=True).fill("cargo of crude oil")
    page.get_by_label("Right category").select_option("ship")
    page.get_by_role("button", name="Keep as a label").click()
    expect(page.get_by_text("Kept as a label for the next fit.")).to_be_visible()
    request = urllib.request.Request(
        f"{server.url}api/models/corrected/corrections.csv",
        headers={"Authorization": f"Bearer {server.admin}"},
    )
    with urllib.request.urlopen(request) as answer:
        (row,) = csv.DictReader(io.StringIO(answer.read().decode()))
    assert (row["text"], row["categories"]) == ("cargo of crude oil", "ship")


def test_a_version_is_added_and_the_one_before_comes_back(server, visit):
    server.send("models?name=versions", topics_model())
    page = visit(server, place="#/model/versions")
    file = {"name": "new.zip", "mimeType": "application/zip", "buffer": topics_model("rocchio")}
    page.get_by_label("Add a version from a model file").set_input_files(file)
    expect(page.get_by_text("Version 2 of “versions” answers now.")).to_be_visible()
    page.get_by_role("button", name="Use this").click()
    expect(page.get_by_text("Version 1 answers now.")).to_be_visible()
    bad = {"name": "bad.zip", "mimeType": "application/zip", "buffer": b"nothing"}
    page.get_by_label("Add a version from a model file").set_input_files(bad)
    expect(page.get_by_text("“bad.zip” was not added")).to_be_visible()
