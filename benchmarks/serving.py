"""Classify short texts over HTTP: the service against a FastAPI script around scikit-learn.

Both serve logistic regression on tf-idf, fitted to the same SMS messages, with one process each, in
turns, asked by ten clients in threads of a third process that keep their connections open. First
the clients ask as fast as they are answered, then at a steady 200 requests per second.

    python -m benchmarks.serving
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bayesift import TextClassifier
from bayesift.corpora import load_sms_spam
from benchmarks.service import _Caller, _cpu_seconds, _person, _server

CLIENTS = 10
SECONDS = 10.0
RATE = 200.0
PORT = 8917
MODELS = ("logistic-gaussian", "auto")
_PEER = """
import joblib, sys, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

class Texts(BaseModel):
    texts: list[str]

pipeline = joblib.load(sys.argv[1])
app = FastAPI()

@app.post("/classify")
def classify(body: Texts) -> list[dict[str, float]]:
    found = pipeline.predict_proba(body.texts)
    return [dict(zip(pipeline.classes_, map(float, row))) for row in found]

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
"""

Headers = list[dict[str, str]]
Asked = tuple[int, list[http.client.HTTPConnection], str, Headers]


def messages() -> tuple[list[str], list[str]]:
    """Return the texts and labels of the messages."""
    corpus = load_sms_spam()
    labels = [document.categories[0] for document in corpus]
    return [document.full_text for document in corpus], labels


@contextmanager
def peer(
    folder: Path,
) -> Iterator[Asked]:
    """Serve a scikit-learn pipeline by a script; yield its process and how it is asked."""
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10, max_iter=1000))
    pipeline.fit(*messages())
    joblib.dump(pipeline, folder / "peer.joblib")
    script = folder / "peer.py"
    script.write_text(_PEER)
    command = [sys.executable, str(script), str(folder / "peer.joblib"), str(PORT)]
    process = subprocess.Popen(command)
    try:
        _wait(PORT)
        connections = [http.client.HTTPConnection("127.0.0.1", PORT) for _ in range(CLIENTS)]
        yield process.pid, connections, "/classify", [{} for _ in connections]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@contextmanager
def ours(folder: Path, model: str) -> Iterator[Asked]:
    """Serve a model of ours; yield the process of the service and how it is asked."""
    TextClassifier(model=model).fit(*messages()).save(folder / "ours.zip")
    with _server(folder / "service") as (process, port, token, _):
        admin = _Caller(port, token)
        admin.ask("POST", "/api/models?name=sms", (folder / "ours.zip").read_bytes())
        tokens = [_person(admin, number) for number in range(CLIENTS)]
        headers = [{"Authorization": f"Bearer {each}"} for each in tokens]
        connections = [http.client.HTTPConnection("127.0.0.1", port) for _ in range(CLIENTS)]
        yield process.pid, connections, "/api/models/sms/classify", headers


def _wait(port: int) -> None:
    while True:
        try:
            http.client.HTTPConnection("127.0.0.1", port, timeout=1).connect()
            return
        except OSError:
            time.sleep(0.1)


def ask_all(
    connections: list[http.client.HTTPConnection],
    path: str,
    headers: list[dict[str, str]],
    rate: float | None,
) -> list[float]:
    """Let all clients ask for some seconds; return the milliseconds of each request."""
    texts = itertools.cycle(messages()[0])
    lock = threading.Lock()
    begun = time.perf_counter()
    taken: list[float] = []
    numbers = itertools.count()

    def work(connection: http.client.HTTPConnection, header: dict[str, str]) -> None:
        while True:
            with lock:
                number = next(numbers)
                body = json.dumps({"texts": [next(texts)]})
            if rate is not None:
                time.sleep(max(0.0, begun + number / rate - time.perf_counter()))
            if time.perf_counter() > begun + SECONDS:
                return
            start = time.perf_counter()
            connection.request(
                "POST", path, body, {"Content-Type": "application/json", **header}
            )
            answer = connection.getresponse()
            content = answer.read()
            if answer.status == 429:
                time.sleep(float(answer.headers["Retry-After"]))
                continue
            assert answer.status == 200, content
            taken.append(1e3 * (time.perf_counter() - start))

    clients = [
        threading.Thread(target=work, args=each)
        for each in zip(connections, headers, strict=True)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return taken


def measure(name: str, served: Asked) -> None:
    """Print a line of the table."""
    pid, connections, path, headers = served
    ask_all(connections, path, headers, 50.0)  # warms up
    before = _cpu_seconds(pid)
    fast = ask_all(connections, path, headers, None)
    cpu = 1e3 * (_cpu_seconds(pid) - before) / len(fast)
    steady = ask_all(connections, path, headers, RATE)
    print(
        f"| {name} | {len(fast) / SECONDS:,.0f} | {cpu:.2f} | {np.quantile(fast, 0.99):.0f} | "
        f"{np.quantile(steady, 0.5):.1f} | {np.quantile(steady, 0.99):.1f} |",
        flush=True,
    )


def main() -> None:
    """Measure the peer and our models, and print the table."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print("| | requests/s | CPU ms each | p99 ms | at 200/s: p50 ms | p99 ms |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        with peer(Path(place)) as served:
            measure("FastAPI + scikit-learn", served)
        for model in MODELS:
            folder = Path(place) / model
            folder.mkdir()
            with ours(folder, model) as asked:
                measure(f"bayesift serve, {model}", asked)


if __name__ == "__main__":
    main()
