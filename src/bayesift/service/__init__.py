"""The filter as a service: documents stream in, profiles retrieve, people judge in the browser.

`Service` holds the database, the filter and the writer; `create_app` makes the ASGI application;
`run` serves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesift.service.app import create_app, run
    from bayesift.service.runtime import Service, ServiceSettings

__all__ = ["Service", "ServiceSettings", "create_app", "run"]


def __getattr__(name: str) -> object:
    # Looked up on first use: `bayesift serve` opens the database before it imports the rest, which
    # takes seconds, in which the file is checked.
    if name not in __all__:
        raise AttributeError(f"module 'bayesift.service' has no attribute {name!r}")
    from bayesift.service import app, runtime

    return getattr(runtime if name.startswith("Service") else app, name)
