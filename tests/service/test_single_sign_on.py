"""Sign-in at an OpenID provider or by a proxy: who is let in, and every way that must not work."""

import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
import requests
from fastapi.testclient import TestClient

from bayesift.errors import DataError
from bayesift.service import Service, ServiceSettings
from bayesift.service.access import oidc
from bayesift.service.access.callers import PROXY
from bayesift.service.access.single_sign_on import SingleSignOn
from tests.servers import free_port
from tests.service.forge import ADDRESS, CLIENT, SECRET, forging, new_key
from tests.service.worlds import running

ROLES = {"staff": "reviewer", "leads": "admin"}


def by_openid(issuer, **more):
    return SingleSignOn(
        roles=ROLES, issuer=issuer, client_id=CLIENT, secret=SECRET, public_url=ADDRESS, **more
    )


@pytest.fixture
def forge():
    with forging() as provider:
        yield provider


@pytest.fixture
def service(tmp_path, forge):
    single = by_openid(forge.issuer)
    with running(tmp_path, single_sign_on=single, logins_per_minute=10**6) as running_service:
        yield running_service


def browser(service, **options):
    return TestClient(
        service.app,
        base_url=ADDRESS,
        follow_redirects=False,
        raise_server_exceptions=False,
        **options,
    )


def come_back(client, state, code):
    return client.get("/sign-in/callback", params={"state": state, "code": code})


def sign_in(client, forge, **claims):
    begun = client.get("/sign-in")
    assert begun.status_code == 303, begun.text
    return come_back(client, *forge.approve(begun.headers["location"], **claims))


def refused(answer, sentence, status=401):
    assert answer.status_code == status, answer.text
    assert sentence[1:] in answer.text  # which begins with a capital letter
    assert "bayesift_session" not in answer.headers.get("set-cookie", "")
    return True


INVALID = "the answer of the sign-in service is not valid"
EXPIRED = "this sign-in has expired or was begun in another browser"


def test_a_person_of_a_group_is_signed_in(service, forge):
    client = browser(service)
    begun = client.get("/sign-in")
    asked = parse_qs(urlsplit(begun.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{ADDRESS}/sign-in/callback"]
    cookie = begun.headers["set-cookie"].lower()
    for flag in ("httponly", "secure", "samesite=lax", "path=/sign-in", "max-age=600"):
        assert flag in cookie
    answer = come_back(client, *forge.approve(begun.headers["location"]))
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    for flag in ("httponly", "secure", "samesite=strict", "path=/;"):
        assert flag in answer.headers.get_list("set-cookie")[0].lower().replace(
            "path=/,", "path=/;"
        )
    session = client.get("/api/session").json()
    assert (session["user"], session["role"]) == ("zoe", "reviewer")
    assert client.post("/api/filters", json={"name": "grain"}).status_code == 403  # CSRF
    headers = {"X-CSRF-Token": session["csrf"]}
    made = client.post("/api/filters", json={"name": "grain", "query": "corn"}, headers=headers)
    assert made.status_code == 201
    assert client.delete("/api/session", headers=headers).status_code == 204
    assert client.get("/api/session").status_code == 401


FORGED = {
    "wrong issuer": {"claims": {"iss": "https://evil.example"}},
    "wrong audience": {"claims": {"aud": "another service"}},
    "an audience of two without the authorized party": {"claims": {"aud": [CLIENT, "other"]}},
    "another authorized party": {"claims": {"aud": [CLIENT, "other"], "azp": "other"}},
    "wrong nonce": {"claims": {"nonce": "of another sign-in"}},
    "no nonce": {"without": ["nonce"]},
    "no subject": {"without": ["sub"]},
    "no time": {"without": ["exp"]},
    "expired": {"claims": {"exp": 1_000_000_000}},
    "not yet valid": {"claims": {"nbf": 4_000_000_000}},
    "issued in the future": {"claims": {"iat": 4_000_000_000}},
    "another access token": {"claims": {"at_hash": "c29tZXRoaW5nIGVsc2U"}},
    "unsigned": {"header": {"alg": "none"}},
    "signed with the public key": {"header": {"alg": "HS256", "kid": "first"}},
    "signed by another key of the same name": {"key": "first"},
    "signed by a key that is not published": {"key": "second"},
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_token_is_refused(service, forge, what):
    change = dict(FORGED[what])
    if "key" in change:
        forge.header = {"alg": "RS256", "kid": change["key"]}
        change["key"] = new_key(change["key"])
    vars(forge).update(change)
    client = browser(service)
    assert refused(sign_in(client, forge), INVALID)
    assert client.get("/api/session").status_code == 401
    assert service.people.names == {"admin"}


def test_one_answer_signs_in_once(service, forge):
    """Neither the state nor the code is good for a second sign-in."""
    client = browser(service)
    begun = client.get("/sign-in")
    state, code = forge.approve(begun.headers["location"])
    cookie = client.cookies["bayesift_sign_in"]
    assert come_back(client, state, code).status_code == 303
    again = browser(service)
    again.cookies.set("bayesift_sign_in", cookie, domain="filter.example", path="/sign-in")
    assert refused(come_back(again, state, code), EXPIRED)
    fresh, _ = forge.approve(again.get("/sign-in").headers["location"])
    assert refused(come_back(again, fresh, code), INVALID)


def test_nobody_is_signed_in_by_the_link_of_somebody_else(service, forge):
    """Login CSRF: a link with state and code of the attacker, opened in another browser."""
    attacker, victim = browser(service), browser(service)
    state, code = forge.approve(attacker.get("/sign-in").headers["location"])
    assert refused(come_back(victim, state, code), EXPIRED)
    victim.get("/sign-in")  # has a cookie of its own now
    state, code = forge.approve(attacker.get("/sign-in").headers["location"])
    assert refused(come_back(victim, state, code), EXPIRED)
    assert refused(come_back(victim, "made up", code), EXPIRED)
    assert victim.get("/api/session").status_code == 401


def test_a_sign_in_ends_after_ten_minutes(tmp_path, forge, monkeypatch):
    with running(tmp_path, single_sign_on=by_openid(forge.issuer)) as service:
        client = browser(service)
        state, code = forge.approve(client.get("/sign-in").headers["location"])
        later = time.monotonic() + 601
        service.provider._clock = lambda: later
        assert refused(come_back(client, state, code), EXPIRED)


def test_a_refusal_of_the_provider_is_said(service, forge):
    client = browser(service)
    state, _ = forge.approve(client.get("/sign-in").headers["location"])
    answer = client.get(f"/sign-in/callback?state={state}&error=<script>")
    assert refused(answer, "the sign-in service did not sign you in")
    assert "<script>" not in answer.text


def test_a_role_follows_the_groups(service, forge):
    client = browser(service)
    assert sign_in(client, forge, groups=["staff", "leads"]).status_code == 303
    assert client.get("/api/session").json()["role"] == "admin"
    assert sign_in(browser(service), forge, groups=["staff"]).status_code == 303
    assert client.get("/api/session").json()["role"] == "reviewer"  # of open sessions too
    session = client.get("/api/session").json()
    token = client.post(
        "/api/tokens", json={"name": "job"}, headers={"X-CSRF-Token": session["csrf"]}
    ).json()["token"]
    program = browser(service, headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/filters").status_code == 200
    none = sign_in(browser(service), forge, groups=["guests"])
    assert refused(none, "none of your groups may use this service", 403)
    assert client.get("/api/session").status_code == 401
    assert program.get("/api/filters").status_code == 401
    assert service.people.of_name("zoe").role == "reader"
    assert sign_in(client, forge, groups="staff").status_code == 303  # one group as a text
    assert client.get("/api/session").json()["role"] == "reviewer"


def test_groups_are_asked_of_userinfo_where_the_token_has_none(service, forge):
    forge.without = ("groups",)
    forge.userinfo = {"sub": "person-1", "groups": ["leads"]}
    client = browser(service)
    assert sign_in(client, forge).status_code == 303
    assert client.get("/api/session").json()["role"] == "admin"
    forge.userinfo = {"sub": "person-2", "groups": ["leads"]}
    assert refused(sign_in(browser(service), forge), INVALID)


def test_a_name_or_an_address_of_mail_takes_over_nobody(service, forge):
    admin = TestClient(service.app, headers={"Authorization": f"Bearer {service.first_token}"})
    admin.post("/api/users", json={"name": "zoe", "role": "admin"})
    mail = {"email": "zoe@company.example", "email_verified": True}
    first, second = browser(service), browser(service)
    assert sign_in(first, forge, sub="1", **mail).status_code == 303
    assert sign_in(second, forge, sub="2", **mail).status_code == 303
    assert first.get("/api/session").json()["user"] == "zoe 2"
    assert second.get("/api/session").json()["user"] == "zoe 3"
    assert first.get("/api/session").json()["role"] == "reviewer"
    renamed = browser(service)
    assert sign_in(renamed, forge, sub="1", preferred_username="admin").status_code == 303
    assert renamed.get("/api/session").json()["user"] == "zoe 2"
    odd = browser(service)
    assert sign_in(odd, forge, sub="3", preferred_username="../\x00").status_code == 303
    assert odd.get("/api/session").json()["user"] == "person"


def test_who_is_known_outlives_a_restart(tmp_path, database, forge):
    for _ in range(2):
        single = by_openid(forge.issuer)
        with running(tmp_path, database, single_sign_on=single) as service:
            client = browser(service)
            assert sign_in(client, forge).status_code == 303
            assert client.get("/api/session").json()["user"] == "zoe"
            assert service.people.names == {"admin", "zoe"}


def test_local_people_still_sign_in(service):
    client = browser(service)
    answer = client.post("/api/session", json={"token": service.first_token})
    assert answer.status_code == 200
    assert client.get("/api/session/first").json()["single_sign_on"] is True


def test_new_keys_are_fetched_once_and_seldom(service, forge):
    assert sign_in(browser(service), forge).status_code == 303
    assert forge.seen.count("/jwks") == 1
    forge.key = new_key("second")
    forge.published = [*forge.published, forge.key]
    forge.header = {"alg": "RS256", "kid": "second"}
    assert sign_in(browser(service), forge).status_code == 303
    assert forge.seen.count("/jwks") == 2
    forge.header = {"alg": "RS256", "kid": "third"}
    for _ in range(3):
        assert refused(sign_in(browser(service), forge), INVALID)
    assert forge.seen.count("/jwks") == 2
    assert forge.seen.count("/.well-known/openid-configuration") == 1
    later = time.monotonic() + 3_601
    service.provider._clock = lambda: later
    forge.header = {"alg": "RS256", "kid": "second"}
    assert sign_in(browser(service), forge).status_code == 303
    assert forge.seen.count("/.well-known/openid-configuration") == 2


BROKEN = {
    "too large": ("/jwks", (200, b"[" * (2 << 20)), INVALID, 401),
    "not JSON": ("/.well-known/openid-configuration", (200, b"<html>"), None, None),
    "another issuer": (
        "/.well-known/openid-configuration",
        (200, {"issuer": "https://evil.example"}),
        INVALID,
        401,
    ),
    "a redirect": ("/jwks", (302, b""), "does not answer", 503),
    "an error": ("/.well-known/openid-configuration", (500, b""), "does not answer", 503),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_provider_is_one_sentence(service, forge, caplog, what):
    path, answer, sentence, status = BROKEN[what]
    forge.broken[path] = answer
    told = browser(service).get("/sign-in")
    assert told.status_code in (401, 503)
    assert sentence is None or refused(told, sentence, status)
    assert "OpenID provider" in caplog.text or "a sign-in was refused" in caplog.text
    assert SECRET not in caplog.text


def test_endpoints_without_tls_are_not_asked(service, forge):
    forge.configuration = lambda: {
        "issuer": forge.issuer,
        "jwks_uri": "http://192.0.2.1/jwks",
    }
    assert browser(service).get("/sign-in").status_code in (401, 422)


def test_a_provider_that_is_gone_holds_nobody_up(tmp_path, monkeypatch):
    monkeypatch.setattr(oidc, "_TIMEOUT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        single = by_openid(f"http://127.0.0.1:{silent.getsockname()[1]}")
        with running(tmp_path, single_sign_on=single) as service:
            answer = browser(service).get("/sign-in")
    assert refused(answer, "the sign-in service does not answer; try again later", 503)


def test_secrets_are_in_no_log_and_no_text_of_the_settings(service, forge, caplog):
    forge.broken["/token"] = (400, {"error": "invalid_client"})
    client = browser(service)
    state, code = forge.approve(client.get("/sign-in").headers["location"])
    assert refused(come_back(client, state, code), INVALID)
    assert "invalid_client" in caplog.text
    for secret in (SECRET, state, code, client.cookies["bayesift_sign_in"]):
        assert secret not in caplog.text
    assert SECRET not in repr(service.settings)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"issuer": "http://login.example"}, "is not an https:// address"),
        ({"issuer": "https://login.example", "public_url": "http://a.example"}, "https://"),
        ({"issuer": "https://login.example", "client_id": ""}, "client id"),
        ({"issuer": "https://login.example", "roles": {}}, "role of a group"),
        ({"issuer": "https://login.example", "user_header": "X-User"}, "not both"),
        ({}, "not both"),
        ({"user_header": "X-User"}, "--proxy"),
    ],
)
def test_settings_that_would_be_unsafe_are_refused_at_the_start(tmp_path, options, sentence):
    values = {"roles": ROLES, "client_id": CLIENT, "public_url": ADDRESS, **options}
    with pytest.raises(DataError, match=re.escape(sentence)):
        Service(ServiceSettings(folder=tmp_path, single_sign_on=SingleSignOn(**values)))
    assert not list(tmp_path.iterdir())


# A provider that a package brings.


@pytest.fixture(scope="module")
def mock_provider():
    """`oidc-provider-mock` of PyPI, in a process of its own."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    issuer = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                requests.get(f"{issuer}/jwks", timeout=5)
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        yield issuer
    finally:
        process.terminate()
        process.wait()


def test_a_person_signs_in_at_the_provider_of_a_package(tmp_path, mock_provider):
    claims = {"preferred_username": "vera", "groups": ["leads"]}
    requests.put(f"{mock_provider}/users/vera-1", json=claims, timeout=5).raise_for_status()
    with running(tmp_path, single_sign_on=by_openid(mock_provider)) as service:
        client = browser(service)
        there = client.get("/sign-in").headers["location"]
        back = requests.post(there, data={"sub": "vera-1"}, timeout=5, allow_redirects=False)
        assert back.status_code == 302, back.text
        address = back.headers["location"]
        assert address.startswith(f"{ADDRESS}/sign-in/callback")
        assert client.get(address).status_code == 303
        assert client.get("/api/session").json()["user"] == "vera"
        assert client.get("/api/session").json()["role"] == "admin"
        assert refused(client.get(address), EXPIRED)


@pytest.fixture(scope="module")
def certified_provider():
    """`oidc-provider` of npm, which is OpenID Certified; `make page` installs it."""
    root = Path(__file__).parents[2]
    if shutil.which("node") is None or not (root / "node_modules/oidc-provider").is_dir():
        pytest.skip("oidc-provider of npm is not installed")
    port = free_port()
    script = Path(__file__).with_name("provider.mjs")
    command = ["node", script, str(port), f"{ADDRESS}/sign-in/callback", SECRET]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def test_a_person_signs_in_at_a_certified_provider(tmp_path, certified_provider):
    with running(tmp_path, single_sign_on=by_openid(certified_provider)) as service:
        client = browser(service)
        there = client.get("/sign-in").headers["location"]
        with requests.Session() as person:
            answer = person.get(there, timeout=5)
            for said in ({"prompt": "login", "login": "vera"}, {"prompt": "consent"}):
                form = re.search('action="([^"]+)"', answer.text)[1]
                answer = person.post(form, data=said, timeout=5, allow_redirects=False)
                while not (there := answer.headers.get("location", ADDRESS)).startswith(
                    ADDRESS
                ):
                    there = urljoin(certified_provider, there)
                    answer = person.get(there, timeout=5, allow_redirects=False)
        assert client.get(answer.headers["location"]).status_code == 303
        session = client.get("/api/session").json()
        assert (session["user"], session["role"]) == ("vera", "admin")


# A proxy that names people.


@pytest.fixture
def proxied(tmp_path):
    single = SingleSignOn(ROLES, user_header="X-Forwarded-User", groups_header="X-Groups")
    with running(
        tmp_path, proxy="192.0.2.1", single_sign_on=single, logins_per_minute=10**6
    ) as running_service:
        yield running_service


def named(service, user, groups="staff", peer="192.0.2.1"):
    headers = {"X-Forwarded-User": user, "X-Groups": groups, "X-Forwarded-For": "198.51.100.7"}
    return browser(service, client=(peer, 5), headers=headers)


def test_whom_the_proxy_names_is_signed_in(proxied):
    client = named(proxied, "ann", "guests, leads")
    assert client.get("/api/session").status_code == 401  # no session yet
    assert client.get("/sign-in").headers["location"] == "/"
    assert client.get("/api/session").json()["user"] == "ann"
    assert client.get("/api/session").json()["role"] == "admin"
    other = named(proxied, "bob", "guests")
    assert refused(other.get("/sign-in"), "none of your groups", 403)
    with proxied.store.reading() as read:
        assert [(row.issuer, row.subject) for row in read.identities()] == [(PROXY, "ann")]


def test_a_session_ends_when_the_proxy_names_somebody_else(proxied):
    client = named(proxied, "ann")
    client.get("/sign-in")
    assert client.get("/api/session").status_code == 200
    assert client.get("/api/session", headers={"X-Forwarded-User": "bob"}).status_code == 401
    del client.headers["X-Forwarded-User"]
    assert client.get("/api/session").status_code == 401


@pytest.mark.parametrize("peer", ["198.51.100.7", "127.0.0.1", "192.0.2.10", "testclient"])
def test_a_header_of_anybody_else_is_dropped(proxied, peer):
    client = named(proxied, "ann", peer=peer)
    assert refused(client.get("/sign-in"), "the proxy in front names no person")
    assert proxied.people.names == {"admin"}
    inside = named(proxied, "ann")
    inside.get("/sign-in")
    stolen = named(proxied, "ann", peer=peer)
    stolen.cookies.update(inside.cookies)
    assert stolen.get("/api/session").status_code == 401


def test_two_headers_are_refused(proxied):
    headers = [
        ("X-Forwarded-User", "admin"),
        ("X-Forwarded-User", "ann"),
        ("X-Groups", "staff"),
    ]
    client = browser(proxied, client=("192.0.2.1", 5))
    assert refused(client.get("/sign-in", headers=headers), "the proxy names two people")


def test_a_name_of_the_proxy_takes_over_no_local_user(proxied):
    client = named(proxied, "admin", "staff")
    client.get("/sign-in")
    session = client.get("/api/session").json()
    assert (session["user"], session["role"]) == ("admin 2", "reviewer")
