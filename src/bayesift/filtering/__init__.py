"""Adaptive filtering: a stream of documents, or a fixed pool, and what is learned from every judgement.

`FilterEngine` is the filter, `simulate` plays a labelled corpus to it, `create_filter` and `open_filter` keep one in a
folder, `FilterRun` puts it in a pipe. `ReviewQueue` ranks a pool that is read to the end or until it is time to stop.
"""

from bayesift.filtering.decay import RankDecay
from bayesift.filtering.definitions import engine_of
from bayesift.filtering.engine import Decision, FilterEngine
from bayesift.filtering.events import EventLog, Judged, MemoryLog, Paused, Retrieved, TakenBack, Taught
from bayesift.filtering.forecast import Forecast
from bayesift.filtering.goals import Goal, LinearUtility, PrecisionFloor, RecallFloor, TargetCount
from bayesift.filtering.log_file import FileLog
from bayesift.filtering.output import OutputMark
from bayesift.filtering.plots import reading_figure, recall_figure, terms_figure, theta_figure
from bayesift.filtering.pool import Pool, pool_vectorizer, pool_vectors
from bayesift.filtering.profile import Profile, ProfileSettings
from bayesift.filtering.ranking import ReviewQueue
from bayesift.filtering.relevance import RelevanceModel, RelevanceSettings
from bayesift.filtering.reviews import (
    ReviewCurve,
    StoppedReview,
    random_start,
    recall_curves,
    simulate_review,
    simulate_stopping,
)
from bayesift.filtering.running import FilterRun
from bayesift.filtering.saving import OpenFilter, create_filter, open_filter, save_checkpoint
from bayesift.filtering.simulation import STRATEGIES, Simulation, Stream, TopicRun, play, simulate, stream_of
from bayesift.filtering.state import ProfileState, same_state
from bayesift.filtering.stopping import (
    RemainingRelevant,
    SampleCheck,
    allowed_missing,
    recall_p_value,
    remaining_relevant,
    sample_size,
)
from bayesift.filtering.strategies import Strategy
from bayesift.filtering.tables import Breakdown, StrategyMeasures, breakdown, measures, table_five, table_four
from bayesift.filtering.vectors import DocumentVector, VectorBatch, VectorSpace

__all__ = [
    "STRATEGIES",
    "Breakdown",
    "Decision",
    "DocumentVector",
    "EventLog",
    "FileLog",
    "FilterEngine",
    "FilterRun",
    "Forecast",
    "Goal",
    "Judged",
    "LinearUtility",
    "MemoryLog",
    "OpenFilter",
    "OutputMark",
    "Paused",
    "Pool",
    "PrecisionFloor",
    "Profile",
    "ProfileSettings",
    "ProfileState",
    "RankDecay",
    "RecallFloor",
    "RelevanceModel",
    "RelevanceSettings",
    "RemainingRelevant",
    "Retrieved",
    "ReviewCurve",
    "ReviewQueue",
    "SampleCheck",
    "Simulation",
    "StoppedReview",
    "Strategy",
    "StrategyMeasures",
    "Stream",
    "TakenBack",
    "TargetCount",
    "Taught",
    "TopicRun",
    "VectorBatch",
    "VectorSpace",
    "allowed_missing",
    "breakdown",
    "create_filter",
    "engine_of",
    "measures",
    "open_filter",
    "play",
    "pool_vectorizer",
    "pool_vectors",
    "random_start",
    "reading_figure",
    "recall_curves",
    "recall_figure",
    "recall_p_value",
    "remaining_relevant",
    "same_state",
    "sample_size",
    "save_checkpoint",
    "simulate",
    "simulate_review",
    "simulate_stopping",
    "stream_of",
    "table_five",
    "table_four",
    "terms_figure",
    "theta_figure",
]
