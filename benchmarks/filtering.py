"""Measure what filter strategies retrieve from Reuters and OHSUMED, their speed and their memory.

The parameters are those of Chai, Ng & Chieu (2002); nothing is chosen on the streams.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesift.corpora import load_ohsumed, load_reuters
from bayesift.errors import CorpusNotFoundError
from bayesift.filtering import (
    FilterEngine,
    Profile,
    ProfileSettings,
    Simulation,
    Strategy,
    Stream,
    VectorSpace,
    simulate,
    stream_of,
    table_five,
    table_four,
)
from bayesift.filtering.profile import row_vector
from bayesift.filtering.tables import breakdown, measures
from bayesift.records import Corpus
from benchmarks.harness import machine

NAME = "filtering"
TERMS = 300
N_PROFILES = 50
N_JUDGEMENTS = 2_000

_MEMORY = """
import json
from pathlib import Path
import numpy as np
from scipy import sparse
from bayesift.filtering import FilterEngine, ProfileSettings, VectorSpace
from bayesift.filtering.vectors import DocumentVector

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

rng = np.random.default_rng(0)
space = VectorSpace(stemmer=None)
words = [f"word{i}" for i in range(20_000)]
X = space.learn_background(" ".join(rng.choice(words, 60)) for _ in range(1_000))
engine = FilterEngine(space)
settings = ProfileSettings(cut=0.0, max_terms=300, n_epochs=1)
for number in range(1_000):
    y = rng.random(X.shape[0]) < 0.05
    engine.add_profile(f"p{number}", batch=(X[:100], y[:100]), settings=settings)
for number in range(1_000):
    part = slice(X.indptr[number], X.indptr[number + 1])
    vector = DocumentVector(str(number), X.indices[part], X.data[part])
    engine.profiles[f"p{number}"].judge(vector, True)
terms = [profile.n_terms for profile in engine.profiles.values()]
print(json.dumps({"mib": peak(), "profiles": len(terms), "terms": min(terms)}))
"""


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything whose corpus is there."""
    measured: dict[str, Any] = {
        "benchmark": NAME,
        "command": f"python -m benchmarks {NAME}",
        "machine": machine(),
    }
    say(f"{NAME}: memory of a thousand profiles")
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY], capture_output=True, text=True, check=True
    )
    measured["memory"] = json.loads(done.stdout)
    reuters = _corpus(lambda: load_reuters(subset="modapte"))
    ohsumed = _corpus(load_ohsumed)
    simulations = {}
    if reuters is not None:
        trial = stream_of(
            _undated(reuters), n_batch=2_025, relevant=(10, 150), relevant_in_batch=2
        )
        measured |= _speeds(trial, say)
        measured["end_to_end"] = _end_to_end(reuters, trial.topics, say)
        simulations["Reuters, NEWID order, 2,025 in the batch phase"] = trial
        late = stream_of(reuters, n_batch=9_603, relevant=(10, 150))
        simulations["Reuters, date order, 9,603 in the batch phase"] = late
    if ohsumed is not None:
        simulations["OHSUMED-20000, train and test"] = stream_of(ohsumed, relevant=(100, 350))
    measured["simulations"] = {
        name: _simulated(name, stream, say) for name, stream in simulations.items()
    }
    return measured


def render(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the report."""
    lines = [
        "| asked | got |",
        "|---|---|",
        *(f"| {asked} | {got} |" for asked, got in _bars(measured)),
    ]
    for name, simulation in measured["simulations"].items():
        lines += [
            "",
            f"**{name}**: {simulation['n_topics']} topics, {simulation['n_stream']:,} documents.",
            "",
        ]
        lines += [
            *_markdown(simulation["table_four"]),
            "",
            *_markdown(simulation["table_five"]),
        ]
    return lines


def _bars(measured: dict[str, Any]) -> list[tuple[str, str]]:
    memory = measured["memory"]
    rows = [
        (
            "1,000 profiles of 300 terms: under 2 GB",
            f"{memory['mib'] / 1024:.2f} GB, peak of the process",
        )
    ]
    trial = next((s for n, s in measured["simulations"].items() if "NEWID" in n), None)
    if trial is not None:
        t9p = {name: part["t9p"] for name, part in trial["measures"].items()}
        rows = [
            (
                "T9P of +ig over plain: +3",
                f"{t9p['+ig'] - t9p['plain']:+.1f} ({t9p['plain']:.1f} to {t9p['+ig']:.1f})",
            ),
            (
                "T9P of plain over +rnd: +3",
                f"{t9p['plain'] - t9p['+rnd']:+.1f} (from {t9p['+rnd']:.1f})",
            ),
            (
                "relevant share of queried: above 20%",
                f"{100 * trial['queried_share']['+ig']:.1f}%",
            ),
            ("scanning, 300 terms: 1 M documents/s", _rates(measured["scanning"])),
            ("text, 50 profiles: 5,000 documents/s", _rates(measured["end_to_end"])),
            (
                "feedback: p99 under 5 ms",
                f"{measured['feedback']['p99']:.2f} ms (p50 {measured['feedback']['p50']:.2f})",
            ),
            *rows,
        ]
    return rows


def _rates(rates: dict[str, float]) -> str:
    return ", ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())


def _markdown(rows: list[list[str]]) -> list[str]:
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return [head, "|" + "---|" * len(rows[0]), *body]


def _corpus(load: Callable[[], Corpus]) -> Corpus | None:
    try:
        return load()
    except CorpusNotFoundError:
        return None


def _undated(corpus: Corpus) -> Corpus:
    return replace(corpus, documents=tuple(replace(document, date=None) for document in corpus))


def _simulated(name: str, stream: Stream, say: Callable[[str], None]) -> dict[str, Any]:
    say(f"{NAME}: {name}, {len(stream.topics)} topics")
    simulation: Simulation = simulate(stream)
    exact = replace(ProfileSettings(), strategy=Strategy(gain="exact"))
    by_gain = {"paper": simulation, "exact": simulate(stream, ["+ig"], settings=exact)}
    return {
        "n_topics": len(stream.topics),
        "n_stream": simulation.n_stream,
        "measures": {s: {"t9p": measures(simulation, s).t9p} for s in simulation.runs},
        "queried_share": {
            s: breakdown(runs).queried_share for s, runs in simulation.runs.items()
        },
        "gains": {gain: measures(made, "+ig").t9p for gain, made in by_gain.items()},
        "table_four": table_four(simulation),
        "table_five": table_five(simulation),
    }


def _speeds(stream: Stream, say: Callable[[str], None]) -> dict[str, Any]:
    """Return documents per CPU second of a profile of 300 terms, and milliseconds per judgement."""
    many = sparse.vstack([stream.documents] * 10, format="csr")
    many.indptr, many.indices = many.indptr.astype(np.int64), many.indices.astype(np.int32)
    rates = {}
    for name in ("plain", "+ig"):
        say(f"{NAME}: scanning {many.shape[0]:,} documents, {name}")
        rates[name] = float(
            np.median([_scanning_rate(_profile(stream, name), many) for _ in range(5)])
        )
    say(f"{NAME}: {N_JUDGEMENTS:,} judgements")
    return {"scanning": rates, "feedback": _feedback(_profile(stream, "+rel+ig"), stream)}


def _profile(stream: Stream, strategy: str) -> Profile:
    """Return a profile of 300 terms for a topic of medium size, rare words included."""
    settings = ProfileSettings(strategy=Strategy.of(strategy), cut=0.5, max_terms=TERMS)
    profile = Profile("middle", settings)
    profile.learn_batch(
        stream.batch, stream.batch_labels.toarray()[:, len(stream.topics) // 2] > 0
    )
    assert profile.n_terms == TERMS
    return profile


def _scanning_rate(profile: Profile, rows: sparse.csr_array) -> float:
    profile.scan(rows, rows.shape[0])
    start, row = time.process_time(), 0
    while (hit := profile.scan(rows, row)) is not None:
        row = hit.row + 1
    return float(rows.shape[0] / (time.process_time() - start))


def _feedback(profile: Profile, stream: Stream) -> dict[str, float]:
    labels = stream.labels.toarray()[:, len(stream.topics) // 2] > 0
    times = []
    for row in (
        np.random.default_rng(0).permutation(stream.documents.shape[0])[:N_JUDGEMENTS].tolist()
    ):
        vector = row_vector(stream.documents, row, str(row))
        start = time.process_time()
        profile.judge(vector, bool(labels[row]))
        times.append(1e3 * (time.process_time() - start))
    p50, p99 = np.percentile(times, [50, 99])
    return {"p50": float(p50), "p99": float(p99), "terms": profile.n_terms}


def _end_to_end(
    corpus: Corpus, topics: tuple[str, ...], say: Callable[[str], None]
) -> dict[str, float]:
    """Documents a CPU second from text with 50 profiles that learned a batch phase.

    Nothing is judged.
    """
    largest = [name for name, _ in corpus.category_counts().most_common() if name not in topics]
    names = [*topics, *largest][:N_PROFILES]
    documents, batch = corpus.documents[2_025:], corpus.documents[:2_025]
    rates = {}
    for strategy in ("plain", "+ig"):
        say(f"{NAME}: from text, {len(names)} profiles, {strategy}")
        engine = FilterEngine(VectorSpace())
        X = engine.space.learn_background(document.full_text for document in batch)
        for name in names:
            labels = np.array([name in document.categories for document in batch])
            engine.add_profile(
                name,
                batch=(X, labels),
                settings=ProfileSettings(strategy=Strategy.of(strategy)),
            )
        engine.observe_many(documents[:256])
        start = time.process_time()
        for begin in range(256, len(documents), 256):
            engine.observe_many(documents[begin : begin + 256])
        rates[strategy] = (len(documents) - 256) / (time.process_time() - start)
    return rates
