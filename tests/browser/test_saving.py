"""A judgement or decision counts as saved when the server confirms it; others are sent again."""

import csv
import io
import json
import signal
from urllib.request import Request, urlopen

import pytest

from tests.browser.pages import expect, go, heading, judged, queue_of, sign_in, wait_saved
from tests.service.test_reviews import ris


def test_judgements_outlast_a_killed_server_in_two_browsers(killable_server, visit):
    killable_server.filter("kept")
    killable_server.feed("kept", 16)
    pages = [
        visit(killable_server, token, queue_of("kept"))
        for token in (killable_server.admin, killable_server.person("Ann of the kept"))
    ]
    for page in pages:
        page.keyboard.press("r")
        wait_saved(page)
    killable_server.stop(signal.SIGKILL)
    for page in pages:
        page.keyboard.press("n")
        expect(page.locator("#saved")).to_contain_text("1 change not saved yet")
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
        expect(page.locator(".queue li").nth(1)).to_contain_text("saving")
    killable_server.start()
    for page in pages:
        expect(page.locator("#saved")).to_have_text("✓ All saved")
        expect(page.locator(".banner")).to_have_count(0)
    users = [user for user, _ in judged(killable_server, "kept").values()]
    assert sorted(users) == ["Ann of the kept", "Ann of the kept", "admin", "admin"]


def begun(server, name, n=12):
    """A review of this test's own."""
    upload = server.send("uploads?name=a.ris", ris(0, n))["upload"]
    return server.ask("POST", "reviews", {"name": name, "uploads": [upload]})["id"]


def decided(server, review):
    """{record: verdicts of all its decisions} as the log of the server has them."""
    found = {}
    with urlopen(
        Request(
            f"{server.url}api/reviews/{review}/audit.csv",
            headers={"Authorization": f"Bearer {server.admin}"},
        )
    ) as answer:
        for row in csv.DictReader(io.StringIO(answer.read().decode())):
            if row["what"] == "decide":
                verdict = json.loads(row["details"])["verdict"]
                found.setdefault(row["record"], []).append(verdict)
    return found


def screening(review):
    return f"#/review/{review}/screen"


def test_decisions_outlast_a_killed_server_in_two_browsers(killable_server, visit):
    review = begun(killable_server, "kept decisions")
    tokens = (killable_server.admin, killable_server.person("Ann of the decisions"))
    pages = [visit(killable_server, token, screening(review)) for token in tokens]
    for page in pages:
        before = heading(page).inner_text()
        page.keyboard.press("i")
        expect(heading(page)).not_to_have_text(before)
        wait_saved(page)
    killable_server.stop(signal.SIGKILL)
    titles = []
    for page in pages:
        titles.append(heading(page).inner_text())
        page.keyboard.press("m")
        expect(page.locator("#saved")).to_contain_text("1 change not saved yet")
        expect(page.get_by_role("alert")).to_contain_text("decisions")
        expect(page.locator(".standing")).to_contain_text("You decided: maybe (not saved yet)")
        page.keyboard.press("e")
        expect(page.locator(".standing")).to_contain_text(
            "You decided: excluded (not saved yet)"
        )
    killable_server.start()
    for page, before in zip(pages, titles, strict=True):
        expect(page.locator("#saved")).to_have_text("✓ All saved")
        expect(page.locator(".banner")).to_have_count(0)
        expect(heading(page)).not_to_have_text(before)
    verdicts = sorted(decided(killable_server, review).values())
    assert verdicts == [["excluded"], ["excluded"], ["included"], ["included"]]


def test_an_unsent_decision_outlasts_a_reload(server, visit):
    review = begun(server, "reloaded decision")
    page = visit(server, place=screening(review))
    page.on("dialog", lambda dialog: dialog.accept())
    expect(heading(page)).to_be_visible()
    page.route("**/decisions", lambda route: route.abort())
    page.keyboard.press("i")
    expect(page.locator("#saved")).to_contain_text("not saved yet")
    page.unroute("**/decisions")
    page.reload()
    wait_saved(page)
    assert list(decided(server, review).values()) == [["included"]]


def test_a_decision_whose_answer_was_lost_is_not_decided_twice(server, visit):
    review = begun(server, "lost answer")
    page = visit(server, place=screening(review))
    expect(heading(page)).to_be_visible()
    sent = []

    def lose_the_answer(route):
        sent.append(route.fetch().status)
        route.abort()

    page.route("**/decisions", lose_the_answer, times=1)
    before = heading(page).inner_text()
    page.keyboard.press("i")
    expect(heading(page)).not_to_have_text(before)
    wait_saved(page)
    assert sent == [200]
    assert list(decided(server, review).values()) == [["included"]]


def test_a_decision_that_was_sent_is_not_withdrawn_in_the_browser(server, visit):
    review = begun(server, "withdrawn decision")
    page = visit(server, place=screening(review))
    expect(heading(page)).to_be_visible()
    page.route("**/decisions", lambda route: route.abort())
    page.keyboard.press("i")
    expect(page.locator(".standing")).to_contain_text("not saved yet")
    page.keyboard.press("u")
    expect(page.locator(".notice")).to_contain_text("being saved")
    before = heading(page).inner_text()
    page.unroute("**/decisions")
    expect(heading(page)).not_to_have_text(before)
    wait_saved(page)
    page.keyboard.press("u")
    expect(heading(page)).to_have_text(before)
    assert server.ask("GET", f"reviews/{review}")["progress"]["included"] == 0


def test_a_refused_decision_is_shown_as_not_saved(server, visit):
    review = begun(server, "refused decision")
    page = visit(server, place=screening(review))
    problem = '{"title": "Not as described", "status": 422, "detail": "this cannot be decided"}'
    page.route(
        "**/decisions",
        lambda route: route.fulfill(
            status=422, content_type="application/problem+json", body=problem
        ),
    )
    before = heading(page).inner_text()
    page.keyboard.press("i")
    expect(page.locator(".notice.failed")).to_contain_text("this cannot be decided")
    expect(page.locator(".notice.failed")).to_contain_text("Your decision on record")
    expect(heading(page)).to_have_text(before)
    expect(page.locator(".standing")).to_have_count(0)
    assert decided(server, review) == {}


def test_an_unsent_judgement_outlasts_a_reload(server, visit):
    server.filter("reload")
    server.feed("reload")
    page = visit(server, place=queue_of("reload"))
    page.on("dialog", lambda dialog: dialog.accept())
    page.route("**/judgements", lambda route: route.abort())
    page.keyboard.press("r")
    expect(page.locator("#saved")).to_contain_text("not saved yet")
    page.unroute("**/judgements")
    page.reload()
    wait_saved(page)
    assert [relevant for _, relevant in judged(server, "reload").values()] == [True]


def test_an_ended_session_asks_to_sign_in_and_then_saves(server, visit):
    server.filter("session")
    server.feed("session")
    page = visit(server, place=queue_of("session"))
    expect(heading(page)).to_be_visible()
    page.context.clear_cookies()
    page.keyboard.press("r")
    expect(page.get_by_label("Your token")).to_be_visible()
    sign_in(page, server.admin)
    wait_saved(page)
    assert len(judged(server, "session")) == 1
    expect(heading(page)).to_be_visible()


def test_signing_in_anew_on_another_page_loses_nothing(server, visit):
    server.filter("anew")
    server.feed("anew")
    page = visit(server, place=queue_of("anew"))
    expect(heading(page)).to_be_visible()
    other = page.context.new_page()
    other.goto(server.url)
    page.route(
        "**/*", lambda route: route.abort()
    )  # so that it does not see the moment between sign-out and sign-in
    other.get_by_role("button", name="Sign out").click()
    sign_in(other, server.admin)
    page.unroute("**/*")
    page.keyboard.press("r")
    wait_saved(page)
    assert [relevant for _, relevant in judged(server, "anew").values()] == [True]


def test_a_busy_server_is_given_time(server, visit):
    server.filter("busy")
    server.feed("busy")
    page = visit(server, place=queue_of("busy"))
    answers = []

    def refuse_once(route):
        answers.append(route.request.post_data_json)
        if len(answers) > 1:
            return route.continue_()
        problem = (
            '{"title": "Too much at once", "status": 429, "detail": "the service is busy"}'
        )
        return route.fulfill(
            status=429,
            headers={"Retry-After": "1"},
            content_type="application/problem+json",
            body=problem,
        )

    page.route("**/judgements", refuse_once)
    page.keyboard.press("n")
    expect(page.locator("#saved")).to_contain_text("the service is busy")
    wait_saved(page)
    assert len(answers) == 2
    assert [relevant for _, relevant in judged(server, "busy").values()] == [False]


def test_undo_of_what_was_never_sent_sends_nothing(server, visit):
    server.filter("unsent")
    server.feed("unsent")
    page = visit(server, place=queue_of("unsent"))
    expect(heading(page)).to_be_visible()
    sent = []
    page.route("**/judgements", lambda route: route.abort())
    page.keyboard.press("r")
    expect(page.locator("#saved")).to_contain_text("not saved yet")
    page.keyboard.press("n")
    page.keyboard.press("u")
    page.on(
        "request",
        lambda request: sent.append(request) if request.method in ("POST", "DELETE") else None,
    )
    page.unroute("**/judgements")
    wait_saved(page)
    assert {request.method for request in sent} == {"POST"}
    assert len({request.post_data for request in sent}) == 1
    assert [relevant for _, relevant in judged(server, "unsent").values()] == [True]


def test_a_refused_judgement_is_shown_as_not_saved(server, visit):
    server.filter("refused")
    server.feed("refused")
    page = visit(server, place=queue_of("refused"))
    problem = '{"title": "Not there", "status": 404, "detail": "no document of that name"}'
    page.route(
        "**/judgements",
        lambda route: route.fulfill(
            status=404, content_type="application/problem+json", body=problem
        ),
    )
    page.keyboard.press("r")
    expect(page.locator(".notice.failed")).to_contain_text("no document of that name")
    expect(page.locator(".queue li").first).to_contain_text("not saved")
    assert judged(server, "refused") == {}


@pytest.mark.parametrize(
    ("status", "words"), [(401, "not known"), (429, "Try again in 7 seconds")]
)
def test_signing_in_fails_with_a_sentence(server, visit, status, words):
    page = visit(server)
    page.get_by_role("button", name="Sign out").click()
    page.route(
        "**/api/session",
        lambda route: route.fulfill(status=status, headers={"Retry-After": "7"}, body="{}"),
    )
    page.get_by_label("Your token").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text=words)).to_be_visible()


def test_a_profile_that_is_gone_is_said_to_be_gone(server, visit):
    page = visit(server)
    go(page, "#/filter/never%20there/overview")
    expect(page.locator("main")).to_contain_text("This page cannot be shown")
    expect(page.locator("main")).to_contain_text("never there")
