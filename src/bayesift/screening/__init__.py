"""Screening of a fixed pool, such as the records of a systematic review.

`ReviewQueue` ranks the pool and learns from every judgement; `RankDecay`, `Forecast` and `SampleCheck` tell when to
stop; `simulate_review` and `simulate_stopping` measure both on labelled pools.
"""

from bayesift.screening.agreement import Agreement, cohen_kappa
from bayesift.screening.duplicates import Duplicates, Match, find_duplicates, merge
from bayesift.screening.linkage import match_probability
from bayesift.screening.prisma import FlowDiagram, PrismaFlow
from bayesift.screening.project import (
    Event,
    Judgement,
    Project,
    ProjectSettings,
    Record,
    is_project,
    with_decisions,
)
from bayesift.screening.queue import ReviewQueue
from bayesift.screening.relevance import Part, Pool, RelevanceModel, RelevanceSettings, pool_vectorizer, pool_vectors
from bayesift.screening.review import Progress, Review
from bayesift.screening.simulation import (
    ReviewCurve,
    StoppedReview,
    random_start,
    recall_curves,
    simulate_review,
    simulate_stopping,
)
from bayesift.screening.stopping import (
    Forecast,
    RankDecay,
    RemainingRelevant,
    SampleCheck,
    allowed_missing,
    recall_p_value,
    remaining_relevant,
    sample_size,
)

__all__ = [
    "Agreement",
    "Duplicates",
    "Event",
    "FlowDiagram",
    "Forecast",
    "Judgement",
    "Match",
    "Part",
    "Pool",
    "PrismaFlow",
    "Progress",
    "Project",
    "ProjectSettings",
    "RankDecay",
    "Record",
    "RelevanceModel",
    "RelevanceSettings",
    "RemainingRelevant",
    "Review",
    "ReviewCurve",
    "ReviewQueue",
    "SampleCheck",
    "StoppedReview",
    "allowed_missing",
    "cohen_kappa",
    "find_duplicates",
    "is_project",
    "match_probability",
    "merge",
    "pool_vectorizer",
    "pool_vectors",
    "random_start",
    "recall_curves",
    "recall_p_value",
    "remaining_relevant",
    "sample_size",
    "simulate_review",
    "simulate_stopping",
    "with_decisions",
]
