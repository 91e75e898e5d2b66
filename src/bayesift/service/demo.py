"""A service to try: Python's documentation, two filters, a few judgements."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bayesift.corpora import load_pydocs
from bayesift.service.access.callers import digest
from bayesift.service.filters import operations
from bayesift.service.live import Operation
from bayesift.service.runtime import Service

_USER = "demo"
_FILTERS = {
    "logging": "log records, handlers, levels and formatters of logging",
    "email": "email messages, headers, addresses and MIME parts",
}
_JUDGED = 12
_EVERY = 3  # of the documents, in a random order, to be ready in seconds
_CHUNK = 100


def fill(service: Service) -> None:
    """Fill a service that holds nothing yet.

    The truth of a judgement is the module a document comes from.
    """
    if service.live.seq:
        return
    corpus = sorted(load_pydocs(), key=lambda document: digest(document.id))[::_EVERY]
    shown = [
        replace(document, title=document.id) for document in corpus if document.text.strip()
    ]
    truth = {document.id: document.categories[0] for document in corpus}
    for name, query in _FILTERS.items():
        definition = {
            "name": name,
            "query": query,
            "strategy": "+rel+ig",
            "settings": {"max_terms": 500},
        }
        _do(service, partial(operations.create_filter, definition=definition))
    for start in range(0, len(shown), _CHUNK):
        part = shown[start : start + _CHUNK]
        arrivals = operations.Arrivals.of(part, service.live.engine.space)
        _do(service, partial(operations.observe, arrivals=arrivals))
    for name in _FILTERS:
        for document in list(service.live.engine.profiles[name].pending)[:_JUDGED]:
            relevant = truth[document] == name
            _do(
                service,
                partial(operations.judge, name=name, document=document, relevant=relevant),
            )


def _do(service: Service, operation: Operation) -> None:
    service.writer.submit(_USER, operation).result()
