"""Running the service: one process, ended gracefully."""

from __future__ import annotations

import logging
from typing import Any

import uvicorn

from bayesift.service.app import create_app
from bayesift.service.runtime import Service

_GRACE = 20  # seconds that open requests get when the service is told to end


class _Server(uvicorn.Server):
    """Lets streams of events end when the service is told to, so that it need not wait for them."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to end."""
        self._service.end_streams()
        super().handle_exit(sig, frame)


def run(service: Service, *, host: str, port: int) -> None:
    """Serve until told to stop (SIGTERM, SIGINT): requests are finished, a snapshot is taken.

    One process holds the filter, since what it learns is one sequence of events; its threads answer questions beside
    the writer.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        proxy_headers=True,
    )
    _Server(config, service).run()
