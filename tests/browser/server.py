"""A service as people start it: its own process, on loopback, SQLite in a folder or PostgreSQL."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import bayesift
from tests.servers import free_port

_COMMAND = [sys.executable, "-c", "from bayesift.cli import main; main()", "serve", "--shared"]
_SOURCE = str(Path(bayesift.__file__).parents[1])
_PATIENCE = 180.0


class Server:
    """Started on construction; `admin` is the token that the first start prints."""

    def __init__(self, folder, database=None):
        self.folder = folder
        self.database = database
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.admin = None
        self.start()

    def start(self):
        log = self.folder.with_suffix(".log")
        command = [*_COMMAND, "--data", str(self.folder), "--port", str(self.port)]
        command += ["--database", self.database] if self.database else []
        with log.open("ab") as output:
            environment = {**os.environ, "PYTHONPATH": _SOURCE, "OPENBLAS_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                command, stdout=output, stderr=output, env=environment
            )
        end = time.monotonic() + _PATIENCE
        while not self.is_up():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the service did not start:\n{log.read_text()}")
            time.sleep(0.1)
        if self.admin is None:
            self.admin = re.search(r"it is not shown again:\s+(\S+)", log.read_text())[1]

    def is_up(self):
        with suppress(OSError), urlopen(f"{self.url}healthz", timeout=2) as answer:
            return answer.status == 200
        return False

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=_PATIENCE)

    def ask(self, method, path, body=None, token=None):
        """Call the service as a program does."""
        headers = {
            "Authorization": f"Bearer {token or self.admin}",
            "Content-Type": "application/json",
        }
        content = None if body is None else json.dumps(body).encode()
        with urlopen(
            Request(f"{self.url}api/{quote(path)}", content, headers, method=method),
            timeout=_PATIENCE,
        ) as answer:
            return json.loads(answer.read() or "null")

    def send(self, path, content):
        """Send a file."""
        headers = {
            "Authorization": f"Bearer {self.admin}",
            "Content-Type": "application/octet-stream",
        }
        with urlopen(
            Request(f"{self.url}api/{path}", content, headers, method="POST"), timeout=_PATIENCE
        ) as answer:
            return json.loads(answer.read())

    def person(self, name, role="reviewer"):
        """The token of a new person."""
        return self.ask("POST", "users", {"name": name, "role": role})["token"]

    def filter(self, name, **definition):
        self.ask(
            "POST",
            "filters",
            {"name": name, "query": "wheat harvest and exports", "past": False, **definition},
        )

    def feed(self, prefix, n=8):
        """Documents about wheat, each a little different; gives their ids."""
        documents = [wheat(f"{prefix}-{number}", number) for number in range(n)]
        self.ask("POST", "documents/batch", {"documents": documents})
        return [document["id"] for document in documents]


PLACES = (
    "Kansas",
    "Odessa",
    "Rouen",
    "Rosario",
    "Alberta",
    "Punjab",
    "Queensland",
    "Saxony",
    "Volga",
    "Bahia",
)


def wheat(id_, number):
    place = PLACES[number % len(PLACES)]
    text = (
        f"The wheat harvest near {place} began. Exports of wheat may reach {number + 3} "
        f"million tonnes this season."
    )
    return {"id": id_, "title": f"Wheat harvest in {place} {number}", "text": text}
