"""What tests do on the page and ask of it, and what they ask of the server about it."""

import time
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


def becomes_true(page, expression, seconds=30.0):
    """Whether an expression becomes true within the time.

    Playwright's wait_for_function polls by `eval` inside the page, which the page's policy forbids:
    it fails whenever the first look is too early.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        if time.monotonic() > end:
            return False
        page.wait_for_timeout(50)
    return True


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
