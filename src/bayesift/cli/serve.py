"""`bayesift serve`: the filter as a service with a web page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesift.cli.corpora import busy
from bayesift.extras import require

if TYPE_CHECKING:
    from bayesift.service import Service


def serve(
    data: Annotated[Path, typer.Option(help="Folder the service lives in.", file_okay=False)] = Path("bayesift-data"),
    host: Annotated[str, typer.Option(help="Address to listen at; leave TLS to a proxy before it.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at.", min=1, max=65535)] = 8765,
    database: Annotated[
        str | None,
        typer.Option(
            help="postgresql://user@host/name; a SQLite file in the folder unless named.",
            envvar="BAYESIFT_DATABASE",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Threads that answer questions; one more learns. The process is one.", min=1, max=64)
    ] = 8,
    demo: Annotated[
        bool, typer.Option("--demo", help="Fill a new folder with Python's documentation and two profiles.")
    ] = False,
) -> None:
    """Serve the filter: people teach it in the browser, programs over HTTP."""
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
        print(f"bayesift: sign in with this token of the first admin; it is shown this once:\n{service.first_token}")
    sys.stdout.flush()
