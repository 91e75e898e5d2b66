import socket

import pytest

from bayesift.cli import main, serve
from bayesift.cli.serve import _listen
from bayesift.errors import DataError
from bayesift.service import Service, ServiceSettings
from tests.servers import free_port


@pytest.fixture
def records(write):
    """A small file of references."""
    entries = "".join(
        f"TY  - JOUR\nTI  - Trial {k}\nAB  - Of drug {k}\nER  - \n" for k in range(3)
    )
    return write("records.ris", entries)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--database", "mysql://x/y"], "must be postgresql"),
        (["--database", "postgresql://127.0.0.1:1/x"], "the database cannot be opened"),
        (["--data", "/dev/null/nowhere"], "cannot be written"),
    ],
)
def test_what_cannot_be_opened_is_told_in_one_line(tmp_path, capsys, options, said):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--data", str(tmp_path), "--port", str(free_port()), *options])
    error = capsys.readouterr().err
    assert ended.value.code == 1
    assert said in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["serve", "screen"])
def test_a_port_that_is_taken_is_one_sentence_and_changes_nothing(
    tmp_path, capsys, command, records
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = {
            "serve": ["serve", "--data", str(tmp_path / "data")],
            "screen": ["screen", str(records), "-o", str(tmp_path / "review"), "-q", "--serve"],
        }
        with pytest.raises(SystemExit) as ended:
            main([*arguments[command], "--port", port])
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out) == (1, "")
    said = "another program uses it; name another one with --port"
    assert captured.err == f"bayesift: cannot listen on port {port} of 127.0.0.1: {said}\n"
    assert not (tmp_path / "data").exists()


def test_connections_send_the_body_of_an_answer_at_once():
    # Otherwise it waits until the caller acknowledges the header: 40 ms with every POST.
    with (
        _listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_an_address_of_another_machine_is_one_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--data", str(tmp_path / "data"), "--host", "203.0.113.1"])
    captured = capsys.readouterr()
    assert (ended.value.code, captured.out, captured.err.count("\n")) == (1, "", 1)
    assert "cannot listen on port 8765 of 203.0.113.1" in captured.err


def test_bad_use(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0"])
    assert ended.value.code == 2


def test_the_token_of_the_first_admin_is_printed_before_the_demo_is_filled(
    tmp_path, capsys, monkeypatch
):
    def broken(service):
        service.close()
        raise DataError("killed")

    monkeypatch.setattr(serve, "_fill", broken)
    with pytest.raises(SystemExit):
        main(["serve", "--data", str(tmp_path), "--port", str(free_port()), "--demo"])
    assert len(capsys.readouterr().out.split()[-1]) > 40


def test_people_are_listed_added_and_given_new_tokens(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["users", "list", "--data", str(tmp_path)])
    assert "is not the folder of a service" in capsys.readouterr().err
    Service(ServiceSettings(folder=tmp_path)).close()
    tokens = {}
    for name, command in (("ann", ["add", "ann"]), ("admin", ["reset"])):
        with pytest.raises(SystemExit):
            main(["users", *command, "--data", str(tmp_path)])
        tokens[name] = capsys.readouterr().out.strip()
    with pytest.raises(SystemExit):
        main(["users", "list", "--data", str(tmp_path)])
    assert "ann" in capsys.readouterr().out
    service = Service(ServiceSettings(folder=tmp_path))
    try:
        roles = {name: service.people.of_token(token).role for name, token in tokens.items()}
        with pytest.raises(SystemExit):
            main(["users", "list", "--data", str(tmp_path)])
    finally:
        service.close()
    assert roles == {"ann": "reviewer", "admin": "admin"}
    assert "another process" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        (["--host", "0.0.0.0"], True),
        (["--host", "0.0.0.0", "--proxy", "127.0.0.1"], False),
        ([], False),
    ],
)
def test_an_address_that_others_can_reach_is_warned_about(
    tmp_path, capsys, monkeypatch, options, warned
):
    monkeypatch.setattr("bayesift.service.run", lambda service, **_: service.close())
    arguments = ["serve", "--data", str(tmp_path), "--port", str(free_port())]
    with pytest.raises(SystemExit):
        main([*arguments, *options])
    assert (
        "Put a proxy with TLS in front" in capsys.readouterr().err.replace("\n", " ")
    ) is warned


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--user-header", "X-User", "--role", "*=reader"], "needs the addresses of its proxy"),
        (["--role", "*=reader"], "only with --oidc-issuer or --user-header"),
        (["--user-header", "X-User", "--role", "staff=owner"], "is not GROUP=ROLE"),
        (["--oidc-issuer", "http://login.example", "--role", "*=reader"], "is not an https://"),
    ],
)
def test_single_sign_on_that_would_be_unsafe_is_refused(tmp_path, capsys, options, sentence):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--data", str(tmp_path / "data"), *options])
    assert ended.value.code in (1, 2)
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "data").exists()


def test_single_sign_on_is_read_from_options_and_the_environment(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr("bayesift.service.run", lambda service, **_: given.append(service))
    monkeypatch.setenv("BAYESIFT_OIDC_SECRET", "a secret")
    monkeypatch.setenv("BAYESIFT_OIDC_ISSUER", "https://login.example")
    options = [
        "--oidc-client-id",
        "us",
        "--public-url",
        "https://us.example",
        "--role",
        "a=admin",
    ]
    with pytest.raises(SystemExit):
        main(["serve", "--data", str(tmp_path), "--port", str(free_port()), *options])
    given[0].close()
    single = given[0].settings.single_sign_on
    assert (single.issuer, single.client_id, single.secret) == (
        "https://login.example",
        "us",
        "a secret",
    )
    assert single.roles == {"a": "admin"}
