"""Learning from a reader's judgements: ranking of a fixed pool, and when to stop."""

from bayesift.filtering.forecast import Forecast
from bayesift.filtering.ranking import ReviewQueue, pool_vectorizer, pool_vectors
from bayesift.filtering.relevance import RelevanceModel, RelevanceSettings
from bayesift.filtering.reviews import ReviewCurve, StoppedReview, recall_curves, simulate_review, simulate_stopping
from bayesift.filtering.stopping import (
    RemainingRelevant,
    SampleCheck,
    allowed_missing,
    recall_p_value,
    remaining_relevant,
    sample_size,
)

__all__ = [
    "Forecast",
    "RelevanceModel",
    "RelevanceSettings",
    "RemainingRelevant",
    "ReviewCurve",
    "ReviewQueue",
    "SampleCheck",
    "StoppedReview",
    "allowed_missing",
    "pool_vectorizer",
    "pool_vectors",
    "recall_curves",
    "recall_p_value",
    "remaining_relevant",
    "sample_size",
    "simulate_review",
    "simulate_stopping",
]
