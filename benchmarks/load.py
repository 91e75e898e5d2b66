"""Measure the service under load for many minutes: delays, memory, descriptors, bytes on disk.

As `benchmarks/service.py`, but documents come at a steady rate and for as long as asked; the memory
of the server is noted at every so many documents.

    python -m benchmarks.load --minutes 20 --rate 1000
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service import (
    BATCH,
    FEEDERS,
    FILTER_PEOPLE,
    N_PEOPLE,
    N_PROFILES,
    N_RECORDS,
    N_REVIEWS,
    WORDS,
    _begin_review,
    _Caller,
    _judge_on,
    _person,
    _probe,
    _screen_on,
    _server,
    _summary,
    _World,
)

_TEXTS = 20_000  # invented once; documents repeat them under other ids
_NOTED_EVERY = 100_000


class Feed:
    """Bodies of documents at a steady rate, for some seconds."""

    def __init__(self, texts: list[str], rate: float, seconds: float) -> None:
        self._texts = texts
        self._pause = BATCH / rate
        self._seconds = seconds
        self._lock = threading.Lock()
        self._batches = itertools.count()
        self.start = 0.0
        self.sent = 0

    def bodies(self) -> Iterator[bytes]:
        """Yield bodies, each when its time has come."""
        while True:
            with self._lock:
                number = next(self._batches)
            due = self.start + number * self._pause
            if due > self.start + self._seconds:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            yield self._body(number)
            with self._lock:
                self.sent += BATCH

    def _body(self, number: int) -> bytes:
        documents = []
        for place in range(number * BATCH, (number + 1) * BATCH):
            documents.append({"id": f"d{place}", "text": self._texts[place % len(self._texts)]})
        return json.dumps({"documents": documents}).encode()


class Notes:
    """What the server takes, and how long people wait, noted at every so many documents."""

    def __init__(self, pid: int, feed: Feed, every: int, taken: dict[str, list[float]]) -> None:
        self._pid = pid
        self._feed = feed
        self._every = every
        self._taken = taken
        self._counted = dict.fromkeys(taken, 0)
        self.lines: list[tuple[int, float, int, float]] = []

    def follow(self, end: threading.Event) -> None:
        """Note until the end."""
        due = self._every
        while not end.wait(0.2):
            if self._feed.sent >= due:
                self.note()
                due += self._every
        self.note()

    def note(self) -> None:
        """Note the documents so far, the resident memory, the descriptors and the time.

        Beside them stand the p99 of judgements and decisions since the last note: one disturbance
        of the machine shows in one line, a service that becomes slower in all that follow.
        """
        resident = resident_megabytes(self._pid)
        descriptors = len(list(Path(f"/proc/{self._pid}/fd").iterdir()))
        seconds = time.perf_counter() - self._feed.start
        self.lines.append((self._feed.sent, resident, descriptors, seconds))
        waits = "  ".join(f"{name} {self._p99(name):4.0f} ms" for name in ("judge", "decide"))
        print(
            f"{self._feed.sent:>9,} documents  {resident:6.0f} MB  {descriptors:4} descriptors  "
            f"{seconds:6.0f} s  p99: {waits}",
            flush=True,
        )

    def _p99(self, name: str) -> float:
        """Return the p99 of the times since the last note."""
        times = self._taken[name][self._counted[name] :]
        self._counted[name] += len(times)
        return float(np.quantile(times, 0.99)) if times else 0.0


def resident_megabytes(pid: int) -> float:
    """Return the resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def run(minutes: float, rate: float, every: int) -> dict[str, Any]:
    """Measure everything and return it."""
    world = _World()
    feed = Feed([world.text(WORDS) for _ in range(_TEXTS)], rate, 60 * minutes)
    taken: dict[str, list[float]] = {"judge": [], "decide": [], "next": [], "health": []}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "load"
        with _server(folder) as (process, port, token, _):
            admin = _Caller(port, token)
            for number in range(N_PROFILES):
                definition = json.dumps(world.definition(number)).encode()
                admin.ask("POST", "/api/filters", definition)
            reviews = [_begin_review(admin, world, number) for number in range(N_REVIEWS)]
            people = [_Caller(port, _person(admin, number)) for number in range(N_PEOPLE)]
            end = threading.Event()
            notes = Notes(process.pid, feed, every, taken)
            shares = [range(place, N_PROFILES, FILTER_PEOPLE) for place in range(FILTER_PEOPLE)]
            working = [threading.Thread(target=notes.follow, args=(end,))]
            for caller, share in zip(people, shares, strict=False):
                arguments = (caller, share, taken, end)
                working.append(threading.Thread(target=_judge_on, args=arguments))
            for caller, review in zip(
                people[FILTER_PEOPLE:], itertools.cycle(reviews), strict=False
            ):
                working.append(
                    threading.Thread(target=_screen_on, args=(caller, review, taken, end))
                )
            probe = (_Caller(port, token), taken, end)
            working.append(threading.Thread(target=_probe, args=probe))
            feeders = []
            for _ in range(FEEDERS):
                caller = _Caller(port, token)
                feeders.append(threading.Thread(target=_send, args=(caller, feed)))
            feed.start = time.perf_counter()
            for thread in (*working, *feeders):
                thread.start()
            for thread in feeders:
                thread.join()
            seconds = time.perf_counter() - feed.start
            end.set()
            for thread in working:
                thread.join()
        # Closed: the log beside the database is merged into it.
        size = sum(file.stat().st_size for file in folder.glob("bayesift.sqlite*"))
    return {
        "documents": feed.sent,
        "documents_per_second": feed.sent / seconds,
        "bytes_per_document": size / max(feed.sent, 1),
        "notes": notes.lines,
        **{name: _summary(values) for name, values in taken.items()},
    }


def _send(caller: _Caller, feed: Feed) -> None:
    for body in feed.bodies():
        caller.ask("POST", "/api/documents/batch", body)


def rendered(measured: dict[str, Any]) -> list[str]:
    """Return the lines of a table."""
    first = next((note for note in measured["notes"] if note[0] >= _NOTED_EVERY), None)
    last = measured["notes"][-1]
    lines = [
        "| asked | got |",
        "|---|---|",
        f"| 1,000 documents/s, {N_PROFILES} filters, {N_REVIEWS} reviews of {N_RECORDS:,} "
        f"| {measured['documents_per_second']:,.0f} ({measured['documents']:,} documents) |",
    ]
    for name, most in (("judge", 100), ("decide", 100), ("next", 150)):
        times = measured[name]
        lines.append(
            f"| {name}: p99 under {most} ms | p99 {times['p99']:.0f} ms (p50 {times['p50']:.0f}, "
            f"most {times['most']:.0f}, {times['n']:,} times) |"
        )
    lines.append(f"| healthz under 1 s | most {measured['health']['most']:.0f} ms |")
    if first is not None:
        change = 100 * (last[1] / first[1] - 1)
        lines.append(
            f"| memory flat after 100,000 documents within 10% | {first[1]:.0f} MB, then "
            f"{last[1]:.0f} MB ({change:+.0f}%) |"
        )
        lines.append(f"| descriptors flat | {first[2]}, then {last[2]} |")
    lines.append(
        f"| bytes on disk a document, stated | {measured['bytes_per_document']:,.0f} |"
    )
    return lines


def main() -> None:
    """Read the options, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--rate", type=float, default=1_000, help="documents a second")
    parser.add_argument("--every", type=int, default=_NOTED_EVERY, help="documents per note")
    options = parser.parse_args()
    print("\n".join(rendered(run(options.minutes, options.rate, options.every))))


if __name__ == "__main__":
    main()
