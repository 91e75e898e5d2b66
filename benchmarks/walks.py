"""Three walks through the code: the files that a judgement, a decision and a fit run through.

    python -m benchmarks.walks

Every Python function that is called is recorded (`sys.setprofile`, in all threads); lambdas,
comprehensions and methods count for the file they stand in. Each walk is done twice and the second
call is measured, so that imports and compilation do not count.
"""

from __future__ import annotations

import contextlib
import csv
import io
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import bayesift

ROOT = Path(bayesift.__file__).parent
_WORDS = ("wheat corn harvest tonnes", "oil barrel crude opec")


class Walk:
    """The functions of bayesift that are called while it records.

    Attributes
    ----------
    functions : names of functions by the path of their file, relative to the package
    afterwards : those that a service runs in its threads for learning, after the answer
    """

    def __init__(self) -> None:
        self.functions: dict[str, set[str]] = {}
        self.afterwards: dict[str, set[str]] = {}
        self._recording = False
        self._prefix = f"{ROOT}/"

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch this thread and those that are started from now on."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def second_call(self, act: Callable[[int], None]) -> None:
        """Act twice, with 0 and 1; the second time is recorded."""
        act(0)
        self._recording = True
        act(1)
        self._recording = False

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if self._recording and event == "call" and code.co_filename.startswith(self._prefix):
            file = code.co_filename.removeprefix(self._prefix)
            is_learning = threading.current_thread().name.startswith("bayesift-learning")
            functions = self.afterwards if is_learning else self.functions
            functions.setdefault(file, set()).add(code.co_qualname)


def posted_judgement() -> Walk:
    """One judgement posted to the application of a service with SQLite."""
    from fastapi.testclient import TestClient

    from bayesift.service import Service, ServiceSettings, create_app

    walk = Walk()
    with tempfile.TemporaryDirectory() as folder, walk.watched():
        service = Service(ServiceSettings(folder=Path(folder)))
        with TestClient(
            create_app(service), headers={"Authorization": f"Bearer {service.first_token}"}
        ) as client:
            documents = [{"id": str(number), "text": _WORDS[0]} for number in range(4)]
            _posted(client, "/api/filters", {"name": "grain", "query": _WORDS[0]})
            _posted(client, "/api/documents/batch", {"documents": documents})
            time.sleep(1.0)  # the service warms up in a thread of its own

            def judge(number: int) -> None:
                _posted(
                    client,
                    "/api/filters/grain/judgements",
                    {"document": str(number), "relevant": True},
                )

            walk.second_call(judge)
    return walk


def posted_decision() -> Walk:
    """Post a decision on a record of a review to the application of a service with SQLite."""
    from fastapi.testclient import TestClient

    from bayesift.service import Service, ServiceSettings, create_app

    walk = Walk()
    with tempfile.TemporaryDirectory() as folder, walk.watched():
        service = Service(ServiceSettings(folder=Path(folder)))
        with TestClient(
            create_app(service), headers={"Authorization": f"Bearer {service.first_token}"}
        ) as client:
            records = [f"TY  - JOUR\nTI  - {_WORDS[n % 2]} {n}\nER  - \n" for n in range(8)]
            sent = client.post("/api/uploads?name=a.ris", content="\n".join(records).encode())
            body = {"name": "grain", "uploads": [sent.json()["upload"]]}
            review = client.post("/api/reviews", json=body).json()["id"]
            time.sleep(1.0)  # the service warms up in a thread of its own

            def decide(number: int) -> None:
                verdict = ("included", "excluded")[number]
                path = f"/api/reviews/{review}/decisions"
                _posted(client, path, {"record": str(number + 1), "verdict": verdict})
                time.sleep(1.0)  # the ranking learns after the answer

            walk.second_call(decide)
    return walk


def _posted(client: Any, path: str, body: dict[str, Any]) -> None:
    answer = client.post(path, json=body)
    if answer.status_code >= 300:
        raise RuntimeError(answer.text)


def fitted_classifier() -> Walk:
    """`bayesift fit my.csv` with the defaults of the command."""
    from bayesift.cli import main

    walk = Walk()
    with tempfile.TemporaryDirectory() as folder, walk.watched():
        table = Path(folder) / "my.csv"
        with table.open("w", newline="") as stream:
            rows = [
                (f"{_WORDS[number % 2]} note{number}", ("grain", "crude")[number % 2])
                for number in range(40)
            ]
            csv.writer(stream).writerows([("text", "label"), *rows])

        def fit(number: int) -> None:
            sys.argv = [
                "bayesift",
                "fit",
                str(table),
                "-o",
                str(Path(folder) / f"model{number}"),
                "--quiet",
            ]
            with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
                main()

        walk.second_call(fit)
    return walk


def main() -> None:
    """Print the walks, file by file."""
    for name, walk in (
        ("POST a judgement", posted_judgement()),
        ("POST a decision", posted_decision()),
        ("bayesift fit my.csv", fitted_classifier()),
    ):
        _print(name, walk.functions)
        if walk.afterwards:
            _print(f"{name}, learned after the answer", walk.afterwards)


def _print(name: str, files: dict[str, set[str]]) -> None:
    print(f"{name}: {len(files)} files, {sum(map(len, files.values()))} functions")
    for file, functions in sorted(files.items()):
        print(f"    {file:40} {len(functions):3}  {', '.join(sorted(functions))[:140]}")
    print()


if __name__ == "__main__":
    main()
