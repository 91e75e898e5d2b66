"""The streams of Tables 4 and 5 and of Figure 2."""

from __future__ import annotations

from bayesift.reproduce.experiment import Extent, Task
from bayesift.reproduce.online.filtering import has_trec9, play_stream

# our name of a stream: the corpus it needs, and what it is called in tables
STREAMS = {
    "reuters, NEWID": ("reuters", "Reuters"),
    "reuters, dates": ("reuters", "Reuters by date"),
    "ohsumed": ("ohsumed", "OHSUMED-20000"),
}
# the paper's names of strategies, in its order
STRATEGIES = {
    "Pptron+rel+ig": "+rel+ig",
    "Pptron+ig": "+ig",
    "Pptron+rnd": "+rnd",
    "Pptron+rel": "+rel",
    "Pptron": "plain",
}
NO_TREC9 = "the collection of TREC-9 (348,566 references) is not in the data directory"


def stream_task(stream: str, extent: Extent, gain: str = "paper") -> Task:
    """Playing a stream to all its topics by all strategies."""
    corpus = STREAMS[stream][0] if stream in STREAMS else "ohsumed-trec9"
    return Task.of(
        play_stream, f"online: filtering {stream}", corpora=(corpus,), stream=stream, gain=gain, **extent.settings
    )


def trec9_task(extent: Extent) -> Task | None:
    """The paper's own stream, if it is there."""
    return stream_task("trec9", extent) if has_trec9() and not extent.quick else None
