"""The HTTP routes, one file per resource."""

from bayesift.service.routers import (
    decisions,
    documents,
    insight,
    judgements,
    profiles,
    reviews,
    uploads,
    users,
)

ROUTERS = (
    users.sessions,
    users.users,
    profiles.router,
    profiles.deleted,
    documents.router,
    decisions.router,
    judgements.router,
    insight.words,
    insight.insight,
    profiles.exports,
    uploads.router,
    reviews.router,
    reviews.screening,
    reviews.exports,
)

__all__ = ["ROUTERS"]
