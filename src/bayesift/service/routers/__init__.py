"""The HTTP routes, one file per resource."""

from bayesift.service.routers import decisions, documents, insight, judgements, profiles, reviews, users

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
    reviews.uploads,
    reviews.router,
    reviews.screening,
    reviews.exports,
)

__all__ = ["ROUTERS"]
