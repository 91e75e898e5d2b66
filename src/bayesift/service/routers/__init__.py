"""The routes, a file a resource."""

from bayesift.service.routers import (
    decisions,
    documents,
    exports,
    insight,
    judgements,
    profiles,
    session,
    status,
    users,
    words,
)

ROUTERS = tuple(
    module.router
    for module in (
        session,
        users,
        profiles,
        documents,
        decisions,
        judgements,
        words,
        insight,
        exports,
        status,
    )
)

__all__ = ["ROUTERS"]
