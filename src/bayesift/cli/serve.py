"""`bayesift serve`: the filter as a service with a web page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from bayesift.cli.console import busy
from bayesift.errors import require

if TYPE_CHECKING:
    from bayesift.service import Service


def serve(
    data: Annotated[Path, Option(help="Folder of the service.", file_okay=False)] = Path("bayesift-data"),
    host: Annotated[str, Option(help="Address to listen on; leave TLS to a proxy in front.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on.", min=1, max=65535)] = 8765,
    database: Annotated[
        str | None,
        Option(help="postgresql://user@host/name; default: a SQLite file in the folder.", envvar="BAYESIFT_DATABASE"),
    ] = None,
    workers: Annotated[int, Option(help="Threads that answer read requests, beside the writer.", min=1, max=64)] = 8,
    demo: Annotated[
        bool, Option("--demo", help="Fill a new folder with Python's documentation and two profiles.")
    ] = False,
) -> None:
    """Serve filters to browsers and programs.

    People train filters in the browser, programs use HTTP.
    """
    for package in ("fastapi", "sqlalchemy", "uvicorn", "prometheus_client"):
        require(package, extra="service")
    from bayesift.service import Service, ServiceSettings, run

    with busy("opening the filter"):
        service = Service(ServiceSettings(folder=data, database=database, workers=workers))
    if demo:
        _fill(service)
    _greet(service, host, port)
    run(service, host=host, port=port)


def _fill(service: Service) -> None:
    from bayesift.service.demo import fill

    with busy("filling the demo"):
        fill(service)


def _greet(service: Service, host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host else host
    print(f"bayesift: http://{shown}:{port}/", file=sys.stderr)
    if service.first_token is not None:
        print(f"bayesift: sign in with this token of the first admin; it is not shown again:\n{service.first_token}")
    sys.stdout.flush()
