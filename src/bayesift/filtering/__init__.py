"""Adaptive filtering: a stream of documents, profiles that learn from every judgement.

`FilterEngine` is the filter, `simulate` plays a labelled corpus to it, `create_filter` and `open_filter` keep one in a
folder, `FilterRun` puts it in a pipe.
"""

from bayesift.filtering.definitions import engine_of
from bayesift.filtering.engine import Decision, FilterEngine
from bayesift.filtering.events import EventLog, FileLog, Judged, MemoryLog, Retrieved, TakenBack
from bayesift.filtering.goals import Goal, LinearUtility, PrecisionFloor, RecallFloor, TargetCount
from bayesift.filtering.plots import recall_figure, terms_figure, theta_figure
from bayesift.filtering.profile import Profile, ProfileSettings
from bayesift.filtering.running import FilterRun
from bayesift.filtering.saving import OpenFilter, create_filter, open_filter, save_checkpoint
from bayesift.filtering.simulation import STRATEGIES, Simulation, Stream, TopicRun, play, simulate, stream_of
from bayesift.filtering.state import ProfileState, same_state
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
    "Goal",
    "Judged",
    "LinearUtility",
    "MemoryLog",
    "OpenFilter",
    "PrecisionFloor",
    "Profile",
    "ProfileSettings",
    "ProfileState",
    "RecallFloor",
    "Retrieved",
    "Simulation",
    "Strategy",
    "StrategyMeasures",
    "Stream",
    "TakenBack",
    "TargetCount",
    "TopicRun",
    "VectorBatch",
    "VectorSpace",
    "breakdown",
    "create_filter",
    "engine_of",
    "measures",
    "open_filter",
    "play",
    "recall_figure",
    "same_state",
    "save_checkpoint",
    "simulate",
    "stream_of",
    "table_five",
    "table_four",
    "terms_figure",
    "theta_figure",
]
