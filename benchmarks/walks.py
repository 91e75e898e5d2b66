"""Two walks through the code: the files of bayesift that one posted judgement and one `bayesift fit` run through.

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
    """

    def __init__(self) -> None:
        self.functions: dict[str, set[str]] = {}
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
            self.functions.setdefault(file, set()).add(code.co_qualname)


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
            _posted(client, "/api/profiles", {"name": "grain", "query": _WORDS[0]})
            _posted(client, "/api/documents/batch", {"documents": documents})
            time.sleep(1.0)  # the service warms up in a thread of its own

            def judge(number: int) -> None:
                _posted(
                    client,
                    "/api/profiles/grain/judgements",
                    {"document": str(number), "relevant": True},
                )

            walk.second_call(judge)
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
    """Print both walks, file by file."""
    for name, walk in (
        ("POST a judgement", posted_judgement()),
        ("bayesift fit my.csv", fitted_classifier()),
    ):
        n_functions = sum(map(len, walk.functions.values()))
        print(f"{name}: {len(walk.functions)} files, {n_functions} functions")
        for file, functions in sorted(walk.functions.items()):
            print(f"    {file:40} {len(functions):3}  {', '.join(sorted(functions))[:140]}")
        print()


if __name__ == "__main__":
    main()
