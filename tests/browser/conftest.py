"""A browser and a running service; tests are skipped with a reason where either cannot be had."""

import shutil

import pytest

from tests.browser.server import Server

PATIENCE = 120_000  # milliseconds; a loaded machine is slow, not wrong


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    api.expect.set_options(timeout=PATIENCE)
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium)
        yield running
        running.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One service for all tests; each has profiles of its own."""
    for package in ("fastapi", "sqlalchemy", "uvicorn", "prometheus_client"):
        pytest.importorskip(package, reason=f"{package} is not installed (bayesift[service])")
    running = Server(tmp_path_factory.mktemp("service") / "data")
    yield running
    if running.process.poll() is None:
        running.stop()


@pytest.fixture
def killable_server(server):
    """The same service for a test that kills it; afterwards it runs again."""
    yield server
    if server.process.poll() is not None:
        server.start()


@pytest.fixture
def visit(browser):
    """Open the page as somebody, in a context of its own.

    Afterwards no script may have failed or been refused.
    """
    from tests.browser.pages import go, sign_in

    contexts, troubles = [], []

    def open_page(server, token=None, place="#/", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        # Switching interception on under a loaded page lets a request through now and then: have it
        # on from the start.
        context.route("**/matches-nothing", lambda route: route.abort())
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "console",
            lambda message: "Security Policy" in message.text and troubles.append(message.text),
        )
        page.goto(server.url)
        sign_in(page, token or server.admin)
        go(page, place)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
