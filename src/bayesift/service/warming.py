"""What the first document and the first judgement would wait for, done while nobody waits."""

from __future__ import annotations

from bayesift.filtering import FilterEngine
from bayesift.records import Document


def warm_up() -> FilterEngine:
    """Let a filter that nobody uses see, be judged and explain, so that all kernels are loaded.

    Examples
    --------
    >>> warm_up().profiles["wheat"].counters.judged_relevant
    1
    """
    engine = FilterEngine()
    engine.add_profile("wheat", query="wheat harvest")
    documents = [Document(str(number), "wheat harvest and corn") for number in range(3)]
    engine.observe_many(documents)
    engine.judge("wheat", documents[0], True)
    engine.judge("wheat", documents[1], False)
    engine.observe(documents[2])
    return engine
