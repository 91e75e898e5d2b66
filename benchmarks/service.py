"""Measure the service over HTTP: throughput, the delay of judgements, and the time to restart.

A real server (`bayesift serve`, SQLite in a new folder) and its callers share the machine. While
documents stream into 50 profiles, four people judge what these retrieved and six screen three
reviews. Documents are made up: words of Zipf's frequencies, half of the documents with words of one
profile among them.
"""

from __future__ import annotations

import http.client
import itertools
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesift.records import Document
from bayesift.service import Service, ServiceSettings
from bayesift.service.filters import operations
from benchmarks.harness import machine

NAME = "service"
N_PROFILES = 50
TERMS = 300
WORDS = 150
BATCH = 100
N_DOCUMENTS = 40_000
FEEDERS = 2
N_REVIEWS = 3
N_RECORDS = 5_000
N_PEOPLE = 10
FILTER_PEOPLE = 4  # the others screen reviews
SECONDS_PER_JUDGEMENT = 1.0  # of one person
RESTARTS = {200_000: 3, 1_000_000: 10}  # seconds that a restart may take, by events
TAIL = 49_000  # events after the last snapshot, nearly as many as there can be
_SHORT = 30  # words of the documents of the long log
_VOCABULARY = 20_000
_ASKED = {
    "judge": "judgement of a document: p99 under 100 ms",
    "decide": "decision on a record: p99 under 100 ms",
    "next": "next record: p99 under 150 ms",
    "health": "`/healthz`: no stall over 1 s",
}
_SERVE = "from bayesift.cli import main; main()"


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything."""
    measured: dict[str, Any] = {
        "benchmark": NAME,
        "command": f"python -m benchmarks {NAME}",
        "machine": machine(),
    }
    with tempfile.TemporaryDirectory() as folder:
        say(f"{NAME}: {N_DOCUMENTS:,} documents and judgements over HTTP")
        measured["load"] = _load(Path(folder) / "load")
    measured["restarts"] = []
    for n_events in RESTARTS:
        with tempfile.TemporaryDirectory() as folder:
            say(f"{NAME}: writing a log of {n_events:,} events")
            measured["restarts"].append(_restarts(Path(folder) / "long", n_events, say))
    return measured


def render(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the report."""
    load = measured["load"]
    rows = [
        (
            (
                f"{N_PROFILES} profiles of {TERMS} terms, ~{WORDS} words, batches of {BATCH}: "
                f"1,000 "
                f"documents/s"
            ),
            (
                f"**{load['documents_per_second']:,.0f}** documents/s; "
                f"{load['documents_per_cpu_second']:,.0f} a CPU second of the server; "
                f"{load['retrieved']:,} retrieved"
            ),
        ),
        *(
            (
                (
                    f"{what}, {N_PEOPLE} people at profiles and {N_REVIEWS} reviews of "
                    f"{N_RECORDS:,} "
                    f"records"
                ),
                (
                    f"p99 **{load[name]['p99']:.0f} ms** (p50 {load[name]['p50']:.0f}, most "
                    f"{load[name]['most']:.0f} ms, "
                    f"{load[name]['n']} times)"
                ),
            )
            for name, what in _ASKED.items()
        ),
        *map(_restart_row, measured["restarts"]),
    ]
    return ["| asked | got |", "|---|---|", *(f"| {asked} | {got} |" for asked, got in rows)]


def _restart_row(restart: dict[str, float]) -> tuple[str, str]:
    return (
        f"restart with {restart['events']:,} events: under {restart['asked']} s",
        (
            f"**{restart['killed']:.1f} s** ({restart['killed_cpu']:.1f} s CPU) after a kill, "
            f"{restart['tail']:,} events after the last snapshot; {restart['clean']:.1f} s "
            f"({restart['clean_cpu']:.1f} s CPU) after a shutdown"
        ),
    )


class _World:
    """Made-up documents and profiles."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        self.words = np.unique(
            ["".join(self._rng.choice(letters, 5)) for _ in range(_VOCABULARY)]
        )
        self._rng.shuffle(self.words)
        shares = 1.0 / np.arange(1, len(self.words) + 1)
        self._cumulated = np.cumsum(shares / shares.sum())
        rare = np.arange(200, len(self.words))
        self.topics = [
            self.words[self._rng.choice(rare, TERMS, replace=False)] for _ in range(N_PROFILES)
        ]

    def definition(self, number: int) -> dict[str, Any]:
        """Return a profile whose query has all its words."""
        query = " ".join(self.topics[number])
        return {
            "name": f"profile{number}",
            "query": query,
            "strategy": "+rel+ig",
            "max_terms": TERMS,
        }

    def text(self, n_words: int) -> str:
        """Words by lot; in half of the documents a quarter of them are those of a profile."""
        places = np.searchsorted(self._cumulated, self._rng.random(n_words))
        words = self.words[np.minimum(places, len(self.words) - 1)]
        if self._rng.random() < 0.5:
            topic = self.topics[self._rng.integers(N_PROFILES)]
            words[: n_words // 4] = self._rng.choice(topic, n_words // 4)
        return " ".join(words)


class _Up(NamedTuple):
    """Seconds until a server was healthy, by the clock and of its CPU."""

    wall: float
    cpu: float


class _Caller:
    """One connection that stays open."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Return the response, which must be a success; retry when the server asks for it."""
        while True:
            self._connection.request(method, path, body, self._headers)
            answer = self._connection.getresponse()
            content = answer.read()
            if answer.status < 300:
                return json.loads(content)
            if answer.status != 429:
                raise RuntimeError(f"{method} {path}: {answer.status} {content[:200]!r}")
            time.sleep(float(answer.headers["Retry-After"]))


@contextmanager
def _server(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int, str, _Up]]:
    """Start a server; yield the process, its port, the first admin's token and the startup time."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = time.perf_counter()
    arguments = [
        sys.executable,
        "-c",
        _SERVE,
        "serve",
        "--shared",
        "--data",
        str(folder),
        "--port",
        str(port),
    ]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            _await_health(process, port)
            up = _Up(time.perf_counter() - start, _cpu_seconds(process.pid))
            yield process, port, _token(folder, process), up
        finally:
            process.terminate()
            process.wait(60)


def _token(folder: Path, process: subprocess.Popen[str]) -> str:
    """Return the token that the server printed for a new folder, or the stored one."""
    file = folder / "token"
    if not file.exists():
        assert process.stdout is not None
        process.stdout.readline()
        file.write_text(process.stdout.readline().strip())
    return file.read_text()


def _await_health(process: subprocess.Popen[str], port: int) -> None:
    for _ in range(12_000):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError("the server did not start") from None
            time.sleep(0.01)
        finally:
            connection.close()


def _load(folder: Path) -> dict[str, Any]:
    """Send documents, judgements and decisions of ten people, and poll the health check.

    Two feeders send the documents.
    """
    world = _World()
    bodies = [
        json.dumps(
            {
                "documents": [
                    {"id": f"d{start + i}", "text": world.text(WORDS)} for i in range(BATCH)
                ]
            }
        ).encode()
        for start in range(0, N_DOCUMENTS, BATCH)
    ]
    taken: dict[str, list[float]] = {"judge": [], "decide": [], "next": [], "health": []}
    with _server(folder) as (process, port, token, _):
        admin = _Caller(port, token)
        for number in range(N_PROFILES):
            admin.ask("POST", "/api/filters", json.dumps(world.definition(number)).encode())
        admin.ask("POST", "/api/documents/batch", bodies[0])
        reviews = [_begin_review(admin, world, number) for number in range(N_REVIEWS)]
        end, waiting, lock = threading.Event(), iter(bodies[1:]), threading.Lock()
        people = [_Caller(port, _person(admin, number)) for number in range(N_PEOPLE)]
        shares = [range(place, N_PROFILES, FILTER_PEOPLE) for place in range(FILTER_PEOPLE)]
        working = [
            threading.Thread(target=_judge_on, args=(caller, share, taken, end))
            for caller, share in zip(people, shares, strict=False)
        ]
        working += [
            threading.Thread(target=_screen_on, args=(caller, review, taken, end))
            for caller, review in zip(
                people[FILTER_PEOPLE:], itertools.cycle(reviews), strict=False
            )
        ]
        working.append(threading.Thread(target=_probe, args=(_Caller(port, token), taken, end)))
        feeding = [
            threading.Thread(target=_feed, args=(_Caller(port, token), waiting, lock))
            for _ in range(FEEDERS)
        ]
        cpu, start = _cpu_seconds(process.pid), time.perf_counter()
        for thread in (*working, *feeding):
            thread.start()
        for thread in feeding:
            thread.join()
        seconds, cpu = time.perf_counter() - start, _cpu_seconds(process.pid) - cpu
        end.set()
        for thread in working:
            thread.join()
        listed = _Caller(port, token).ask(
            "GET", "/api/filters"
        )  # idle connections are closed by the server
    return {
        "documents_per_second": (N_DOCUMENTS - BATCH) / seconds,
        "documents_per_cpu_second": (N_DOCUMENTS - BATCH) / cpu,
        "retrieved": sum(profile["counters"]["retrieved"] for profile in listed),
        "fewest_terms": min(profile["n_terms"] for profile in listed),
        **{name: _summary(values) for name, values in taken.items()},
    }


def _summary(milliseconds: list[float]) -> dict[str, float]:
    p50, p99 = np.percentile(milliseconds, [50, 99])
    return {
        "p50": float(p50),
        "p99": float(p99),
        "most": max(milliseconds),
        "n": len(milliseconds),
    }


def _person(admin: _Caller, number: int) -> str:
    """Create a reviewer and return the token."""
    made = admin.ask(
        "POST",
        "/api/users",
        json.dumps({"name": f"person{number}", "role": "reviewer"}).encode(),
    )
    return str(made["token"])


def _begin_review(admin: _Caller, world: _World, number: int) -> str:
    """Create a review of invented records, and rank it once before the clock starts."""
    records = "".join(
        f"TY  - JOUR\nTI  - {world.text(10)}\nAB  - {world.text(WORDS)}\nER  - \n"
        for _ in range(N_RECORDS)
    )
    sent = admin.ask("POST", f"/api/uploads?name=records{number}.ris", records.encode())
    settings = {"query": " ".join(world.topics[number][:20])}
    body = {
        "name": f"review{number}",
        "uploads": [sent["upload"]],
        "settings": settings,
        "join_duplicates": False,
    }
    review = str(admin.ask("POST", "/api/reviews", json.dumps(body).encode())["id"])
    admin.ask("GET", f"/api/reviews/{review}/next")
    return review


def _feed(caller: _Caller, bodies: Iterator[bytes], lock: Any) -> None:
    while True:
        with lock:
            body = next(bodies, None)
        if body is None:
            return
        caller.ask("POST", "/api/documents/batch", body)


def _judge_on(
    caller: _Caller, profiles: range, taken: dict[str, list[float]], end: Any
) -> None:
    """Judge what some profiles retrieved, one of them after the other."""
    after = dict.fromkeys(profiles, 0)
    for number in itertools.cycle(profiles):
        path = f"/api/filters/profile{number}"
        found = caller.ask("GET", f"{path}/retrieved?after={after[number]}&limit=1")
        after[number] = found["next"]
        for retrieved in found["retrieved"]:
            body = json.dumps(
                {"document": retrieved["document"], "relevant": retrieved["probability"] > 0.5}
            ).encode()
            taken["judge"].append(
                _timed(partial(caller.ask, "POST", f"{path}/judgements", body))[0]
            )
        if end.wait(SECONDS_PER_JUDGEMENT):
            return


def _screen_on(caller: _Caller, review: str, taken: dict[str, list[float]], end: Any) -> None:
    """Decide on the records of a review as they come; every fifth is relevant."""
    for number in itertools.count():
        milliseconds, found = _timed(partial(caller.ask, "GET", f"/api/reviews/{review}/next"))
        taken["next"].append(milliseconds)
        caller.ask("GET", f"/api/reviews/{review}/gauge")
        verdict = "excluded" if number % 5 else "included"
        body = json.dumps(
            {"record": found["record"]["id"], "verdict": verdict, "seconds": 5}
        ).encode()
        taken["decide"].append(
            _timed(partial(caller.ask, "POST", f"/api/reviews/{review}/decisions", body))[0]
        )
        if end.wait(SECONDS_PER_JUDGEMENT):
            return


def _probe(caller: _Caller, taken: dict[str, list[float]], end: Any) -> None:
    while not end.wait(0.1):
        taken["health"].append(_timed(partial(caller.ask, "GET", "/healthz"))[0])


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of a call, and what it gave."""
    start = time.perf_counter()
    result = call()
    return 1e3 * (time.perf_counter() - start), result


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _restarts(folder: Path, n_events: int, say: Callable[[str], None]) -> dict[str, float]:
    world = _World(1)
    next_document = _write_log(folder, world, n_events - TAIL, 0)
    process = multiprocessing.get_context("fork").Process(
        target=_write_log_and_die, args=(folder, world, n_events, next_document)
    )
    process.start()
    process.join()
    seconds = []
    for name in ("after a kill", "after a shutdown"):
        say(f"{NAME}: restart {name}")
        with _server(folder) as (_, port, token, taken):
            events = _Caller(port, token).ask("GET", "/healthz")["events"]
            seconds.append(taken)
    killed, clean = seconds
    return {
        "events": events,
        "asked": RESTARTS[n_events],
        "tail": TAIL,
        "killed": killed.wall,
        "killed_cpu": killed.cpu,
        "clean": clean.wall,
        "clean_cpu": clean.cpu,
    }


def _write_log_and_die(folder: Path, world: _World, up_to: int, next_document: int) -> None:
    """Write a log in a process of its own, which is killed at the end: the WAL stays."""
    _write_log(folder, world, up_to, next_document, close=False)
    os.kill(os.getpid(), signal.SIGKILL)


def _write_log(
    folder: Path, world: _World, up_to: int, next_document: int, *, close: bool = True
) -> int:
    """Let a filter observe short documents until its log is so long."""
    service = Service(ServiceSettings(folder=folder, snapshot_every=10**9))
    if service.first_token is not None:
        (folder / "token").write_text(service.first_token)
        for number in range(N_PROFILES):
            definition = {**world.definition(number), "settings": {"max_terms": TERMS}}
            definition.pop("max_terms")
            service.writer.submit(
                "admin", partial(operations.create_filter, definition=definition)
            ).result()
    while service.live.seq < up_to:
        batch = [Document(f"d{next_document + i}", world.text(_SHORT)) for i in range(500)]
        next_document += len(batch)
        arrivals = operations.Arrivals.of(batch, service.live.engine.space)
        service.writer.submit("admin", partial(operations.observe, arrivals=arrivals)).result()
    if close:
        service.close()
    return next_document
