"""Whatever is sent: never an error of the server, never a lost event."""

import json
import random
import string

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.service.test_reviews import begin, ris, same_log
from tests.service.worlds import Clients, documents, is_whole, listening, running

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
OPTIONS = {"requests_per_second": 1e9, "burst": 10**9, "logins_per_minute": 10**9}


@schemathesis.serializer("application/x-ndjson", "application/zip")
def _as_it_is(context, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def fed(service):
    """Clients of a service with a filter, documents and a review."""
    clients = Clients(service)
    clients.ada.post("/api/filters", json={"name": "grain", "query": "wheat corn"})
    clients.ada.post("/api/documents/batch", json={"documents": documents(0, 30)})
    clients.review = begin(
        clients.ada, ("a.ris", ris(0, 12)), settings={"reviewers_per_record": 2}
    )["id"]
    return clients


@pytest.fixture(scope="module")
def lively(tmp_path_factory):
    with running(tmp_path_factory.mktemp("fuzzed"), **OPTIONS) as service:
        yield fed(service)
        assert is_whole(service)


def test_answers_keep_to_the_description(lively):
    headers = {"Authorization": lively.admin.headers["Authorization"]}
    with listening(lively.service) as address:
        description = schemathesis.openapi.from_url(f"{address}/openapi.json").exclude(
            path_regex="events$"
        )
        for operation in description.get_all_operations():

            @settings(
                max_examples=8,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.ok().as_strategy())
            def keeps_to_it(case):
                case.call_and_validate(headers=headers, checks=CHECKS, timeout=300)

            keeps_to_it()


def junk(rng, depth=0):
    """Any JSON, with a liking for what breaks things."""
    kind = rng.randrange(9 if depth < 3 else 7)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, rng.randrange(100)])
    if kind == 2:
        return rng.choice([0.5, -0.0, 1e308, float("nan"), float("inf"), -1e-320])
    if kind < 7:
        return text(rng)
    if kind == 7:
        return [junk(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {text(rng): junk(rng, depth + 1) for _ in range(rng.randrange(4))}


def text(rng):
    nasty = [
        "",
        "\x00",
        "\ud800",
        "\U0010ffff",
        "corn",
        "d1",
        "grain",
        "\r\n",
        "a" * 300,
        "../..",
        "%00",
        "' OR 1=1 --",
    ]
    return rng.choice([*nasty, "".join(rng.choices(string.printable, k=rng.randrange(12)))])


SHAPES = {
    ("POST", "/api/filters"): {
        "name": "p",
        "query": "wheat",
        "words": {"corn": 1},
        "strategy": "+ig",
    },
    ("POST", "/api/documents"): {"id": "x", "title": "t", "text": "wheat corn"},
    ("POST", "/api/documents/batch"): {
        "documents": [{"id": "y", "text": "wheat"}, {"id": "z", "text": "oil"}]
    },
    ("POST", "/api/documents/stream"): {"id": "w", "text": "wheat corn"},
    ("POST", "/api/filters/grain/judgements"): {"document": "d1", "relevant": True},
    ("POST", "/api/filters/grain/words"): {"word": "corn", "strength": 1},
    ("PATCH", "/api/filters/grain"): {"paused": False},
    ("POST", "/api/session"): {"token": "x"},
    ("POST", "/api/users"): {"name": "u", "role": "reader"},
    ("POST", "/api/filters/import"): {"model": "x"},
    ("POST", "/api/retention"): {"keep": 10},
    ("POST", "/api/reviews"): {
        "name": "r",
        "uploads": ["x"],
        "settings": {"query": "wheat", "reasons": ["a"]},
    },
    ("POST", "/api/uploads/preview"): {"uploads": ["x"]},
    ("POST", "/api/uploads/review"): {"review": "REVIEW", "only": ["open"], "decisions": True},
    ("POST", "/api/uploads/documents"): {
        "filter": "grain",
        "relevant": False,
        "limit": 5,
        "decisions": True,
    },
    ("PATCH", "/api/reviews/REVIEW"): {
        "name": "trade",
        "settings": {"criteria": "corn", "full_texts": True},
    },
    ("POST", "/api/reviews/REVIEW/decisions"): {
        "record": "1",
        "verdict": "maybe",
        "reasons": ["a"],
        "seconds": 2.5,
    },
    ("POST", "/api/reviews/REVIEW/resolutions"): {
        "record": "1",
        "verdict": "included",
        "stage": "full text",
    },
    ("POST", "/api/reviews/REVIEW/undo"): {},
    ("POST", "/api/reviews/REVIEW/words"): {"words": {"corn": 1}},
    ("POST", "/api/reviews/REVIEW/stop"): {"reason": "enough"},
    ("POST", "/api/reviews/REVIEW/records/1/notes"): {"text": "note"},
    ("PUT", "/api/reviews/REVIEW/records/2/tags"): {"tags": ["a", "b"]},
    ("PUT", "/api/reviews/REVIEW/records/2/full-text"): {"place": "a.pdf"},
    ("POST", "/api/reviews/REVIEW/records/1/join"): {"records": ["3"]},
    ("POST", "/api/reviews/REVIEW/records/1/split"): {},
}


def mutated(rng, body):
    """A body with something wrong, as bytes."""
    body = json.loads(json.dumps(body))
    place = body
    while isinstance(place, dict | list) and place:
        key = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
        if not isinstance(place[key], dict | list) or rng.random() < 0.3:
            place[key] = junk(rng)
            break
        place = place[key]
    if rng.random() < 0.1:
        body[text(rng)] = junk(rng)
    content = json.dumps(body if rng.random() < 0.9 else junk(rng)).encode(
        "utf-8", "surrogatepass"
    )
    if rng.random() < 0.1:
        content = bytearray(content or b"x")
        for _ in range(3):
            content[rng.randrange(len(content))] = rng.randrange(256)
    if rng.random() < 0.01:
        content = b"[" * 100_000
    return bytes(content)


def fuzz(clients, n, seed):
    rng = random.Random(seed)
    statuses = {}
    for _ in range(n):
        method, path = rng.choice(list(SHAPES))
        content = mutated(rng, SHAPES[method, path]).replace(b"REVIEW", clients.review.encode())
        path = path.replace("REVIEW", clients.review)
        answer = clients.admin.request(
            method, path, content=content, headers={"Content-Type": "application/json"}
        )
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (method, path, content[:500], answer.text)
    return statuses


def test_no_body_brings_it_down(lively):
    statuses = fuzz(lively, 500, seed=1)
    assert statuses.keys() >= {200, 422}
    assert is_whole(lively.service)
    assert same_log(lively.service, lively.review)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_bodies(tmp_path, database, part):
    with running(tmp_path, database, **OPTIONS) as service:
        clients = fed(service)
        print(fuzz(clients, 1_000, seed=100 + part))
        assert is_whole(service)
        assert same_log(service, clients.review)
