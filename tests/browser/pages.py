"""What tests do on the page and ask of it, and what they ask of the server about it."""

from urllib.parse import quote

import pytest

api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = api.expect


def sign_in(page, token):
    page.get_by_label("Your token").fill(token)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()


def go(page, place):
    """Change the address and wait until its view is there."""
    settled = page.evaluate("place => { location.hash = place; return location.hash; }", place)
    expect(page.locator("main")).to_have_attribute("data-place", settled)


def queue_of(name):
    return f"#/filter/{quote(name)}/queue"


def heading(page):
    """The title of the document in front."""
    return page.locator(".paper h2")


def wait_saved(page):
    expect(page.locator("#saved")).to_have_text("✓ All saved")


def judged(server, name):
    """{document: (who, relevant)} as the server has it."""
    entries = server.ask("GET", f"filters/{name}/judgements")
    return {entry["document"]: (entry["user"], entry["relevant"]) for entry in entries}
