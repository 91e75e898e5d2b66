"""`bayesift serve`: reviews and filters as a service with a web page.

`bayesift users`: who may use it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from typer import Argument, BadParameter, Exit, Option

from bayesift.cli.console import busy, counting, print_note, stdout, table
from bayesift.cli.options import Quiet, add_command, command_group
from bayesift.errors import DataError, require
from bayesift.files import check_writable

if TYPE_CHECKING:
    from bayesift.screening import Project
    from bayesift.service import Service
    from bayesift.service.access.single_sign_on import SingleSignOn
    from bayesift.service.db.backup import BackupFacts
    from bayesift.service.db.database import Store


_THIS_MACHINE = "127.0.0.1"
_M_ARENA_MAX = -8  # of malloc.h
_SECRET = "BAYESIFT_OIDC_SECRET"  # noqa: S105 - the name of a variable
_LOOPBACK = (_THIS_MACHINE, "localhost", "::1")


class Role(Enum):
    """What a person may do."""

    reader = "reader"
    reviewer = "reviewer"
    admin = "admin"


DataFolder = Annotated[Path, Option(help="Folder of the service.", file_okay=False)]
Database = Annotated[
    str | None,
    Option(
        help="postgresql://user@host/name; default: a SQLite file in the folder.",
        envvar="BAYESIFT_DATABASE",
    ),
]


@dataclass(frozen=True)
class SignOnOptions:
    """How people sign in who are known to an OpenID provider or to a proxy."""

    PANEL: ClassVar[str] = "Single sign-on"

    oidc_issuer: Annotated[
        str | None,
        Option(
            help="Address of an OpenID provider. The secret of the service there is read from "
            f"{_SECRET} of the environment.",
            envvar="BAYESIFT_OIDC_ISSUER",
        ),
    ] = None
    oidc_client_id: Annotated[
        str, Option(help="Name of the service there.", envvar="BAYESIFT_OIDC_CLIENT_ID")
    ] = ""
    oidc_scope: Annotated[
        str, Option(help="What is asked for; some providers tell groups only when asked.")
    ] = "openid profile"
    groups_claim: Annotated[str, Option(help="Claim that lists the groups of a person.")] = (
        "groups"
    )
    public_url: Annotated[
        str,
        Option(help="Address of the service in browsers.", envvar="BAYESIFT_PUBLIC_URL"),
    ] = ""
    user_header: Annotated[
        str | None,
        Option(help="Header by which the proxy names a person, instead of a provider."),
    ] = None
    groups_header: Annotated[
        str | None, Option(help="Header by which the proxy lists their groups, with commas.")
    ] = None
    role: Annotated[
        list[str] | None,
        Option(
            metavar="GROUP=ROLE",
            help="Role of a group: reader, reviewer or admin; several times. The group * is "
            "everyone. Who has none may not sign in.",
            show_default=False,
        ),
    ] = None

    def settings(self) -> SingleSignOn | None:
        """Return the settings of the service; None if people only sign in with tokens."""
        if self.oidc_issuer is None and self.user_header is None:
            if self.role:
                raise BadParameter(
                    "only with --oidc-issuer or --user-header", param_hint="--role"
                )
            return None
        from bayesift.service.access.single_sign_on import SingleSignOn

        return SingleSignOn(
            roles=dict(_group_role(given) for given in self.role or ()),
            issuer=self.oidc_issuer,
            client_id=self.oidc_client_id,
            secret=os.environ.get(_SECRET),
            public_url=self.public_url,
            scope=self.oidc_scope,
            groups_claim=self.groups_claim,
            user_header=self.user_header,
            groups_header=self.groups_header,
        )


def _group_role(given: str) -> tuple[str, Any]:
    group, _, role = given.rpartition("=")
    if not group or role not in Role.__members__:
        raise BadParameter(f"{given} is not GROUP=ROLE", param_hint="--role")
    return group, role


users = command_group(
    "users", "List the people of a service, add them, and give them new tokens."
)


def serve(
    data: DataFolder = Path("bayesift-data"),
    host: Annotated[
        str, Option(help="Address to listen on; leave TLS to a proxy in front.")
    ] = _THIS_MACHINE,
    port: Annotated[int, Option(help="Port to listen on.", min=1, max=65535)] = 8765,
    database: Database = None,
    workers: Annotated[
        int, Option(help="Threads that answer read requests, beside the writer.", min=1, max=64)
    ] = 8,
    proxy: Annotated[
        str | None,
        Option(
            help="Address of a proxy in front, or several with commas; only what they say of the "
            "caller is believed (X-Forwarded-For)."
        ),
    ] = None,
    single_sign_on: SignOnOptions = SignOnOptions(),
    shared: Annotated[
        bool,
        Option(
            "--shared",
            help="Make all users members of every filter and review, with their own roles.",
        ),
    ] = False,
    keep_documents: Annotated[
        int,
        Option(
            help="Documents whose texts are kept, the newest; what was learned of others stays.",
            min=0,
        ),
    ] = 1_000_000,
    demo: Annotated[
        bool,
        Option(
            "--demo", help="Fill a new folder with Python's documentation and two profiles."
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=FILE",
            help="A fitted model that answers over HTTP, or a folder of models; several times. A "
            "file that has changed is a new version.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        Option("--check", help="Only say what is wrong with the folder and its database."),
    ] = False,
    accept_loss: Annotated[
        int | None,
        Option(
            metavar="EVENT",
            help="Go on from an older database, whose last event this is.",
            min=0,
        ),
    ] = None,
) -> None:
    """Serve filters to browsers and programs.

    People train filters in the browser, programs use HTTP.
    """
    _require_packages()
    if check:
        _check(data, database)
        return
    from bayesift.service.db.database import open_store

    models = _named_models(model or [])
    known_elsewhere = single_sign_on.settings()
    if known_elsewhere is not None:
        known_elsewhere.check(proxy)
    _prepare_process()
    with _listen(host, port) as listener, ExitStack() as opened:
        with busy("opening the filter"):
            store = open_store(data, database, wait=False, accept_loss=accept_loss)
            opened.callback(store.close)
            # This import takes seconds, in which the file of the store is checked.
            from bayesift.service import Service, ServiceSettings, run
            from bayesift.service.models.shelf import add_file

            settings = ServiceSettings(
                folder=data,
                database=database,
                workers=workers,
                proxy=proxy,
                single_sign_on=known_elsewhere,
                shared=shared or demo,
                accept_loss=accept_loss,
                keep_documents=keep_documents,
            )
            service = Service(settings, store)
        with busy("loading models"):
            for name, path in models.items():
                add_file(service, name, path)
        _greet(service, host, port)
        if demo:
            _fill(service)
        run(service, host=host, port=port, listener=listener)


def _named_models(given: list[str]) -> dict[str, Path]:
    """Return the files of models by name: NAME=FILE, or the models of a folder by their names."""
    from bayesift.model_file import is_model_file

    found: dict[str, Path] = {}
    for each in given:
        name, is_named, path = each.partition("=")
        place = Path(path if is_named else name)
        if is_named or is_model_file(place):
            named = [(name if is_named else place.stem, place)]
        else:
            inside = sorted(place.iterdir()) if place.is_dir() else []
            named = [(model.stem, model) for model in inside if is_model_file(model)]
        if not named:
            raise BadParameter(f"{place} holds no model", param_hint="--model")
        for known, file in named:
            if known in found:
                raise BadParameter(f"two models are named {known}", param_hint="--model")
            found[known] = file
    return found


def _prepare_process() -> None:
    """Keep new files private, and let all threads share two heaps of the C library.

    By default there are up to eight heaps per core, and what is freed in one is not used by
    the others: after a million documents the service took a quarter more memory.
    """
    os.umask(0o077)
    with suppress(AttributeError, OSError):  # only the GNU library has it
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def _listen(host: str, port: int) -> socket.socket:
    """Bind an address, so that one that is taken is known before anything else is done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
        # Connections take this over; asyncio sets it only where a socket names its protocol.
        # Without it the body of an answer waits 40 ms for the caller to acknowledge its header.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.EADDRINUSE:
            reason = "another program uses it; name another one with --port"
        raise DataError(f"cannot listen on port {port} of {host}: {reason}") from error


def _check(data: Path, database: str | None) -> None:
    """Print what is wrong with the folder of a service, and end with 1 if anything is."""
    from bayesift.service.checking import check_service

    with busy("checking"):
        last, wrong = check_service(data, database)
    for sentence in wrong:
        print(sentence)
    if wrong:
        raise Exit(1)
    print(f"{data}: nothing is wrong, {last:,} events")


def _fill(service: Service) -> None:
    from bayesift.service.demo import fill

    with busy("filling the demo"):
        fill(service)


def _greet(service: Service, host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host else host
    if host not in _LOOPBACK and service.settings.proxy is None:
        print_note(
            f"bayesift: {shown} can be reached from other machines without encryption: anyone "
            "who listens reads tokens and texts. Put a proxy with TLS in front (--proxy), or leave "
            "out --host"
        )
    print_note(f"bayesift: http://{shown}:{port}/")
    if service.first_token is not None:
        if service.is_first_start:
            print_note(
                "bayesift: open the address on this machine within an hour to set up the first "
                "admin"
            )
        print(
            "bayesift: sign in with this token of the first admin; it is not shown "
            f"again:\n{service.first_token}"
        )
    sys.stdout.flush()


def serve_review(project: Project, reviewer: str, port: int) -> None:
    """Serve one review on a page of this machine; what people do is written to its project too."""
    _require_packages()
    from bayesift.service import Service, ServiceSettings, run
    from bayesift.service.reviews.mirrors import SERVICE_FOLDER, told

    _prepare_process()
    with _listen(_THIS_MACHINE, port) as listener:
        with busy("opening the review"):
            folder = project.folder / SERVICE_FOLDER
            service = Service(ServiceSettings(folder=folder, shared=True))
            token = _token(service, reviewer)
            merged = service.mirror(project, reviewer)
        for line in told(merged):
            print_note(f"bayesift: {line}")
        address = f"http://{_THIS_MACHINE}:{port}/#/token/{token}/review/{project.id}/screen"
        print(
            f"bayesift: open this address to screen as {reviewer}; Ctrl-C ends it\n{address}",
            flush=True,
        )
        if sys.stdout.isatty():
            webbrowser.open(address)
        run(service, host=_THIS_MACHINE, port=port, listener=listener)


def take_from_service(project: Project, reviewer: str) -> None:
    """Merge into a project what its own service has; say what could not be read or merged."""
    if not (project.folder / "service").is_dir() or find_spec("sqlalchemy") is None:
        return
    from bayesift.service.reviews.mirrors import merge_with_service, told

    try:
        for line in told(merge_with_service(project, reviewer)):
            print_note(f"bayesift: {line}")
    except DataError as error:
        print_note(f"bayesift: what the service of this project has is not read: {error}")


def _token(service: Service, reviewer: str) -> str:
    """Return a new token of a person; one whom the service does not know is added as an admin."""
    from bayesift.service.access.operations import add_user, reset_token

    known = service.people.has(reviewer)
    token: str = service.writer.submit(
        reviewer,
        lambda unit: (
            reset_token(unit.tx, reviewer) if known else add_user(unit.tx, reviewer, "admin")
        ),
    ).result()
    service.people.reload()
    return token


def _require_packages() -> None:
    for package in ("fastapi", "sqlalchemy", "uvicorn", "prometheus_client"):
        require(package, extra="service")


@contextmanager
def _store(data: Path, database: str | None) -> Iterator[Store]:
    """Open the store of a service that is not running."""
    _require_packages()
    from bayesift.service.db.database import FILE, open_store

    if database is None and not (data / FILE).is_file():
        raise DataError("is not the folder of a service; bayesift serve makes one", file=data)
    with open_store(data, database) as store:
        yield store


def backup(
    data: Annotated[Path, Argument(help="Folder of the service.", file_okay=False)],
    output: Annotated[
        Path, Option("--output", "-o", help="File to write; it is replaced when complete.")
    ],
    database: Database = None,
    quiet: Quiet = False,
) -> None:
    """Write all of a service to one file, also while it runs.

    The file holds what the service holds: texts, decisions, models, people and the hashes of
    their tokens. Keep it as safe.
    """
    _require_packages()
    from bayesift.service.db.backup import back_up

    check_writable(output)
    with counting("copying rows", None, quiet=quiet) as progress:
        facts = back_up(data, database, output, progress=progress)
    _print_copied(str(output), facts)


def restore(
    source: Annotated[
        Path, Argument(metavar="FILE", help="Written by bayesift backup.", exists=True)
    ],
    data: Annotated[Path, Option(help="Folder of the service, new or empty.")],
    database: Database = None,
    quiet: Quiet = False,
) -> None:
    """Make a service of a backup, in a new folder.

    A backup of a service with SQLite may be restored to PostgreSQL, and the other way round.
    Everything is compared with its digests; where anything is wrong, nothing is made.
    """
    _require_packages()
    from bayesift.service.db.backup import restore as make

    with counting("restoring rows", None, quiet=quiet) as progress:
        facts = make(source, data, database, progress=progress)
    _print_copied(str(data), facts)


def _print_copied(place: str, facts: BackupFacts) -> None:
    files = f" and {facts.n_files:,} files" if facts.n_files else ""
    print_note(f"{place}: {facts.n_events:,} events, {facts.n_rows:,} rows{files}")


def list_users(data: DataFolder = Path("bayesift-data"), database: Database = None) -> None:
    """List the people of a service."""
    with _store(data, database) as store, store.reading() as read:
        rows = table("name", "role", "since", numbers=False)
        for user in read.users():
            rows.add_row(user.name, user.role, user.at[:10])
    stdout().print(rows)


def add_person(
    name: Annotated[str, Argument(help="Name of the person.")],
    role: Annotated[Role, Option(help="What they may do.")] = Role.reviewer,
    data: DataFolder = Path("bayesift-data"),
    database: Database = None,
) -> None:
    """Add a person and print their token."""
    with _store(data, database) as store, store.writing() as tx:
        from bayesift.service.access.operations import add_user

        token = add_user(tx, name, role.value)
    _print_token(name, token)


def reset(
    name: Annotated[
        str, Argument(help="Name of the person; the first admin is called admin.")
    ] = "admin",
    data: DataFolder = Path("bayesift-data"),
    database: Database = None,
) -> None:
    """Print a new token for a person; the old one and open sessions end."""
    with _store(data, database) as store, store.writing() as tx:
        from bayesift.service.access.operations import reset_token

        token = reset_token(tx, name)
    _print_token(name, token)


def _print_token(name: str, token: str) -> None:
    print_note(f"bayesift: the token of {name}; it is not shown again:")
    print(token)


add_command(users, list_users, "users list", name="list")
add_command(
    users, add_person, "users add ann", "users add bob --role admin --data reviews", name="add"
)
add_command(users, reset, "users reset", "users reset ann --data reviews", name="reset")
