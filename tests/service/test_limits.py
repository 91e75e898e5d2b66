"""Roles and sizes are checked before a body is parsed."""

import asyncio
import gzip
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from bayesift.records import Document
from bayesift.service import ServiceSettings
from bayesift.service.app import OPEN_PATHS
from bayesift.service.filters.document_routes import _chunks
from tests.service.worlds import Clients, running
from tests.tables.test_limits import inflated


@pytest.mark.parametrize(
    "path", ["/api/documents/batch", "/api/documents/stream", "/api/uploads?name=a.ris"]
)
def test_a_reader_is_refused_before_the_body_is_read(clients, path):
    headers = {"Content-Type": "application/json", "Content-Length": "30000000"}
    answer = clients.reader.post(path, content=b"{", headers=headers)  # it is not even parsed
    assert answer.status_code == 403
    assert "needs the role reviewer; yours is reader" in answer.json()["detail"]


def test_no_byte_of_a_body_is_asked_for(clients):
    token = clients.reader.headers["authorization"].encode()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/documents/batch",
        "headers": [(b"authorization", token), (b"content-length", b"30000000")],
        "query_string": b"",
        "client": ("127.0.0.1", 1),
    }
    sent = []

    async def receive():
        raise AssertionError("the body is read")

    async def send(message):
        sent.append(message)

    # In a thread of its own: a browser test before this one leaves a loop that runs.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(clients.service.app(scope, receive, send))).result()
    assert sent[0]["status"] == 403


ASKING = {
    "/api/models/{name}/classify",
    "/api/models/{name}/classify.csv",
    "/api/models/{name}/explain",
}


def test_readers_are_refused_every_change_before_its_body_is_parsed(clients):
    """The description lists all routes, however they are registered."""
    paths = clients.anybody.get("/openapi.json").json()["paths"]
    changes = [
        (method, path.replace("{", "").replace("}", ""))
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "requestBody" in operation and path not in {*OPEN_PATHS, *ASKING, "/api/tokens"}
    ]
    answers = {
        (method, path): clients.reader.request(method, path, content=b"{").status_code
        for method, path in changes
    }
    assert len(answers) > 20
    assert set(answers.values()) == {403}, answers


def test_a_role_is_required_for_each_change(clients):
    assert clients.ada.post("/api/retention", content=b"{").status_code == 403
    assert clients.ada.post("/api/documents/batch", content=b"{").status_code == 422


@pytest.mark.parametrize(
    "part", ["{},", "[],", '"",', "1,", '{"id": "a", "text": "b"},', "[", '{"a":', '\\"']
)
def test_many_values_are_refused_at_once(clients, part):
    body = b'{"documents": [' + part.encode() * (1_100_000 // len(part)) + b"1]}"
    before = time.process_time()
    answer = clients.ada.post(
        "/api/documents/batch", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (413, 422)
    assert len(answer.json()["detail"]) < 300
    assert time.process_time() - before < 2


def test_many_values_are_named(clients):
    answer = clients.ada.post("/api/documents/batch", json={"documents": [{}] * 100_000})
    assert answer.status_code == 413
    assert answer.json()["detail"] == "the body has more than the 50,000 values allowed"


def test_text_with_many_signs_is_no_list_of_values(clients):
    document = {"id": "a", "text": '{[,"' * 100_000}
    assert clients.ada.post("/api/documents", json=document).json()["accepted"] == 1


def test_only_documents_and_files_are_large(tmp_path):
    with running(tmp_path, max_json=1_000) as service:
        clients = Clients(service)
        body = json.dumps({"name": "x" * 2_000})
        assert clients.ada.post("/api/reviews", content=body).status_code == 413
        document = {"id": "a", "text": "corn " * 1_000}
        assert clients.ada.post("/api/documents", json=document).status_code == 200


def test_a_transaction_is_limited_by_characters(tmp_path):
    settings = ServiceSettings(tmp_path, chunk=3, chunk_characters=100)
    sizes = [10, 10, 10, 10, 90, 20, 500, 1]
    documents = [Document(str(number), "x" * size) for number, size in enumerate(sizes)]
    parts = [
        [len(each.text) for each in documents[part]] for part in _chunks(documents, settings)
    ]
    assert parts == [[10, 10, 10], [10, 90], [20], [500], [1]]
    assert list(_chunks([], settings)) == []


def test_documents_of_several_transactions_are_all_added(tmp_path):
    with running(tmp_path, chunk_characters=50) as service:
        documents = [{"id": str(number), "text": "corn rose " * 4} for number in range(7)]
        answer = Clients(service).ada.post(
            "/api/documents/batch", json={"documents": documents}
        )
        assert answer.json()["accepted"] == 7


@pytest.mark.parametrize("name", ["a.parquet", "a.csv.gz", "a.csv.zst"])
def test_files_that_unpack_to_much_more_are_refused(clients, name):
    content = inflated()
    if not name.endswith("parquet"):
        kind = "gzip" if name.endswith("gz") else "zstd"
        content = pa.compress(bytes(450 * 1024 * 1024), codec=kind, asbytes=True)
    answer = clients.ada.post("/api/uploads", params={"name": name}, content=content)
    assert answer.status_code == 413
    assert "unpacks to more than the 419,430,400 bytes allowed" in answer.json()["detail"]


def test_a_compressed_table_is_read(clients):
    content = gzip.compress(b"title,abstract,year\ncorn,prices rose,2020\n")
    answer = clients.ada.post("/api/uploads", params={"name": "a.csv.gz"}, content=content)
    assert answer.status_code == 201
