"""A service to click in: Python's documentation, two profiles, a few judgements."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from bayesift.datasets import load_pydocs
from bayesift.service.live import Operation
from bayesift.service.operations import documents, judgements, profiles
from bayesift.service.people import digest
from bayesift.service.runtime import Service

_USER = "demo"
_PROFILES = {
    "logging": "log records, handlers, levels and formatters of logging",
    "email": "email messages, headers, addresses and MIME parts",
}
_JUDGED = 12
_EVERY = 3  # of the documents, in an order by lot, to be ready in seconds
_CHUNK = 100


def fill(service: Service) -> None:
    """Fill a service that holds nothing yet; the truth of a judgement is the module a document comes from."""
    if service.live.seq:
        return
    corpus = sorted(load_pydocs(), key=lambda document: digest(document.id))[::_EVERY]
    shown = [replace(document, title=document.id) for document in corpus if document.text.strip()]
    truth = {document.id: document.categories[0] for document in corpus}
    for name, query in _PROFILES.items():
        _do(service, partial(profiles.create, definition=_definition(name, query)))
    for start in range(0, len(shown), _CHUNK):
        part = shown[start : start + _CHUNK]
        _do(service, partial(documents.observe, documents=part))
    for name in _PROFILES:
        for document in list(service.live.engine.profiles[name].pending)[:_JUDGED]:
            relevant = truth[document] == name
            _do(service, partial(judgements.judge, profile=name, document=document, relevant=relevant))


def _definition(name: str, query: str) -> dict[str, Any]:
    return {"name": name, "query": query, "strategy": "+rel+ig", "settings": {"max_terms": 500}}


def _do(service: Service, operation: Operation) -> None:
    service.writer.submit(_USER, operation).result()
