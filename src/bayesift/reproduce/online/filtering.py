"""Streams played to the Bayesian perceptron, as in the batch-adaptive filtering of Chai, Ng & Chieu (2002)."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from bayesift.datasets import data_directory, load_trec9_topics

# From where they are, not from `bayesift.filtering`: a change of how pools are ranked makes no stream old.
from bayesift.filtering.profile import ProfileSettings
from bayesift.filtering.simulation import STRATEGIES, Simulation, Stream, simulate, stream_of
from bayesift.filtering.strategies import Strategy
from bayesift.filtering.tables import breakdown, measures, terms_curve
from bayesift.reproduce.corpora import corpus_part

Array = np.ndarray[Any, Any]
_RESAMPLES = 1000
_QUICK_TOPICS = 6


def play_stream(*, stream: str, gain: str, quick: bool, seed: int) -> dict[str, Any]:
    """Tables 4 and 5 and the words over relevant documents, by strategy; intervals resample topics."""
    played = _stream(stream, quick)
    settings = replace(ProfileSettings(), strategy=Strategy(gain=gain, seed=seed))  # type: ignore[arg-type]
    simulation = simulate(played, STRATEGIES if gain == "paper" else ["+ig"], settings=settings)
    result: dict[str, Any] = {"topics": len(played.topics), "documents": simulation.n_stream}
    for name, runs in simulation.runs.items():
        values = asdict(measures(simulation, name))
        intervals = _intervals(simulation, name, seed)
        result[name] = {measure: [value, *intervals.get(measure, (None, None))] for measure, value in values.items()}
        result[f"{name} why"] = asdict(breakdown(runs))
        result[f"{name} words"] = terms_curve(runs).tolist()
    return result


def has_trec9() -> bool:
    """Whether the whole collection of TREC-9 is in the data directory, and not only its sample."""
    places = ("ohsumed-trec9/t9.filtering.tar.gz", "t9.filtering.tar.gz", "ohsumed-trec9/ohsumed.88-91")
    return any((data_directory() / place).exists() for place in places)


def _stream(name: str, quick: bool) -> Stream:
    if name == "trec9":
        statements = {topic.number: f"{topic.title}\n{topic.description}" for topic in load_trec9_topics()}
        return stream_of(corpus_part("ohsumed-trec9", quick=False), statements=statements)
    corpus = corpus_part("ohsumed" if name == "ohsumed" else "reuters", quick=False)
    if name == "reuters, NEWID":
        undated = replace(corpus, documents=tuple(replace(document, date=None) for document in corpus))
        found = stream_of(undated, n_batch=2_025, relevant=(10, 150), relevant_in_batch=2)
    elif name == "reuters, dates":
        found = stream_of(corpus, n_batch=9_603, relevant=(10, 150))
    else:
        found = stream_of(corpus, relevant=(100, 350))
    return _fewer(found, _QUICK_TOPICS) if quick else found


def _fewer(stream: Stream, n_topics: int) -> Stream:
    labels, batch = (part.tocsc()[:, :n_topics].tocsr() for part in (stream.labels, stream.batch_labels))
    return replace(stream, labels=labels, batch_labels=batch, topics=stream.topics[:n_topics])


def _intervals(simulation: Simulation, strategy: str, seed: int) -> dict[str, tuple[float, float]]:
    """Bootstrap intervals of the measures that are means over topics."""
    each = _by_topic(simulation, strategy)
    n_topics = len(simulation.topics)
    drawn = np.random.default_rng(seed).integers(n_topics, size=(_RESAMPLES, n_topics))
    found = {}
    for name, values in each.items():
        lower, upper = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
        found[name] = (float(lower), float(upper))
    return found


def _by_topic(simulation: Simulation, strategy: str) -> dict[str, Array]:
    runs = simulation.runs[strategy]
    right, retrieved = (
        np.array(v, dtype=float) for v in zip(*((r.relevant.sum(), len(r.rows)) for r in runs), strict=True)
    )
    relevant = np.array([run.n_relevant for run in runs], dtype=float)
    return {
        "recall": 100 * right / np.maximum(relevant, 1),
        "precision": 100 * right / np.maximum(retrieved, 1),
        "t9p": 100 * right / np.maximum(retrieved, simulation.target),
        "utility": 3 * right - retrieved,
    }
