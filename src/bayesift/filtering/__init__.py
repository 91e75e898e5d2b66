"""Adaptive filtering of a stream of documents, learning from every judgement.

`FilterEngine` is the filter, `simulate` runs it on a labelled corpus, `create_filter` and
`open_filter` keep one in a folder, `FilterRun` reads and writes JSON lines. `bayesift.screening`
ranks a fixed pool.
"""

from bayesift.filtering.engine import Filter, FilterEngine
from bayesift.filtering.events import (
    Judged,
    MemoryLog,
    Paused,
    ProfileState,
    Retrieved,
    TakenBack,
    Taught,
)
from bayesift.filtering.profile import Profile, ProfileSettings
from bayesift.filtering.routing import ROUTERS, Routing, route, simulate_routing
from bayesift.filtering.running import FilterRun, engine_of
from bayesift.filtering.saving import OpenFilter, create_filter, open_filter, save_checkpoint
from bayesift.filtering.simulation import (
    STRATEGIES,
    Simulation,
    Stream,
    TopicRun,
    simulate,
    stream_of,
)
from bayesift.filtering.strategies import (
    LinearUtility,
    PrecisionFloor,
    RecallFloor,
    Strategy,
    TargetCount,
)
from bayesift.filtering.tables import (
    reading_figure,
    recall_figure,
    table_five,
    table_four,
    terms_figure,
    theta_figure,
)
from bayesift.filtering.vectors import DocumentVector, VectorSpace

__all__ = [
    "ROUTERS",
    "STRATEGIES",
    "DocumentVector",
    "Filter",
    "FilterEngine",
    "FilterRun",
    "Judged",
    "LinearUtility",
    "MemoryLog",
    "OpenFilter",
    "Paused",
    "PrecisionFloor",
    "Profile",
    "ProfileSettings",
    "ProfileState",
    "RecallFloor",
    "Retrieved",
    "Routing",
    "Simulation",
    "Strategy",
    "Stream",
    "TakenBack",
    "TargetCount",
    "Taught",
    "TopicRun",
    "VectorSpace",
    "create_filter",
    "engine_of",
    "open_filter",
    "reading_figure",
    "recall_figure",
    "route",
    "save_checkpoint",
    "simulate",
    "simulate_routing",
    "stream_of",
    "table_five",
    "table_four",
    "terms_figure",
    "theta_figure",
]
