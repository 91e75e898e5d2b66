"""Screening of a fixed pool, such as the records of a systematic review.

`ReviewQueue` ranks the pool and learns from every judgement; `FindsForecast`, `Forecast` and
`SampleCheck` tell when to stop; `simulate_review` and `stop_points` measure both on labelled pools.
"""

from bayesift.screening.agreement import Agreement, cohen_kappa
from bayesift.screening.duplicates import Duplicates, Match, find_duplicates, merge
from bayesift.screening.full_texts import FullTextFile, FullTextFiles
from bayesift.screening.highlights import Highlight, find_highlights
from bayesift.screening.hindsight import EarlierEnd, Hindsight, look_back
from bayesift.screening.linkage import match_probability
from bayesift.screening.prisma import FlowDiagram, PrismaFlow, StageCounts, methods_paragraph
from bayesift.screening.project import Project, is_project
from bayesift.screening.queue import ReviewQueue
from bayesift.screening.relevance import (
    Part,
    Pool,
    RelevanceModel,
    RelevanceSettings,
    pool_vectorizer,
    pool_vectors,
)
from bayesift.screening.review import Progress, RankedRecords, Review
from bayesift.screening.review_log import (
    Event,
    PersonalView,
    ProjectSettings,
    Record,
    ReviewerDecision,
    ReviewLog,
    ReviewNote,
    ReviewReading,
    ReviewTags,
    seen_by,
    with_decisions,
)
from bayesift.screening.simulation import (
    ReviewCurve,
    chao_rule,
    random_start,
    recall_curves,
    simulate_review,
    stop_points,
)
from bayesift.screening.stopping.finds import FindsForecast, StoppingEstimate
from bayesift.screening.stopping.remaining import (
    Forecast,
    RemainingRelevant,
    allowed_missing,
    remaining_relevant,
)
from bayesift.screening.stopping.rules import (
    STOPPING_RULES,
    CallaghanMuellerHansen,
    Chao,
    FindsRule,
    InARow,
    Knee,
    PointProcess,
    QuantileBinomial,
    Safe,
    SampleRule,
    StoppingRule,
    StopPoint,
)
from bayesift.screening.stopping.sampling import SampleCheck, recall_p_value, sample_size

__all__ = [
    "STOPPING_RULES",
    "Agreement",
    "CallaghanMuellerHansen",
    "Chao",
    "Duplicates",
    "EarlierEnd",
    "Event",
    "FindsForecast",
    "FindsRule",
    "FlowDiagram",
    "Forecast",
    "FullTextFile",
    "FullTextFiles",
    "Highlight",
    "Hindsight",
    "InARow",
    "Knee",
    "Match",
    "Part",
    "PersonalView",
    "PointProcess",
    "Pool",
    "PrismaFlow",
    "Progress",
    "Project",
    "ProjectSettings",
    "QuantileBinomial",
    "RankedRecords",
    "Record",
    "RelevanceModel",
    "RelevanceSettings",
    "RemainingRelevant",
    "Review",
    "ReviewCurve",
    "ReviewLog",
    "ReviewNote",
    "ReviewQueue",
    "ReviewReading",
    "ReviewTags",
    "ReviewerDecision",
    "Safe",
    "SampleCheck",
    "SampleRule",
    "StageCounts",
    "StopPoint",
    "StoppingEstimate",
    "StoppingRule",
    "allowed_missing",
    "chao_rule",
    "cohen_kappa",
    "find_duplicates",
    "find_highlights",
    "is_project",
    "look_back",
    "match_probability",
    "merge",
    "methods_paragraph",
    "pool_vectorizer",
    "pool_vectors",
    "random_start",
    "recall_curves",
    "recall_p_value",
    "remaining_relevant",
    "sample_size",
    "seen_by",
    "simulate_review",
    "stop_points",
    "with_decisions",
]
